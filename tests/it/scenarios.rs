//! Every folder `scenarios/AREA/CASE` is a bot with a scenario; the program's own runner plays it.

use crate::contract;
use harness::TestBot;
use std::path::{Path, PathBuf};

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(of).expect("a folder").flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    all.sort();
    all
}

#[test]
fn every_scenario_passes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut failures = Vec::new();
    let mut played = 0;
    for case in folders(&root).iter().flat_map(|area| folders(area)) {
        let name = case.strip_prefix(&root).expect("inside").display().to_string();
        let bot = TestBot::copy_of(&format!("tests/scenarios/{name}"));
        let ran = bot.run(&["test", ".", "--json"]);
        let said = ran.json();
        contract::is("test", &said);
        let good = ran.code == 0 && said["failed"] == 0 && said["passed"].as_u64().is_some_and(|n| n >= 1);
        played += 1;
        if !good {
            failures.push(format!("{name}: {:#}", said));
        }
    }
    assert!(failures.is_empty(), "{} of {played} failed\n{}", failures.len(), failures.join("\n"));
    assert!(played >= 8, "only {played} scenarios were found");
}

#[test]
fn a_failing_step_names_expected_and_got() {
    let bot = TestBot::new().echo();
    bot.put(
        "tests/wrong.toml",
        "description = \"wrong on purpose\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"hi\" }\n\
         [[step]]\nmodel_says = { text = \"hello\" }\n[[step]]\nexpect_reply = { equals = \"good evening\" }\n",
    );
    let failed = bot.run(&["test", "--json"]).exits(1).json();
    contract::is("test", &failed);
    let failure = &failed["cases"][0]["failure"];
    assert_eq!(failure["step"], "3 expect_reply");
    assert!(failure["expected"].to_string().contains("good evening"));
    assert!(failure["actual"].to_string().contains("hello"));
    let text = bot.run(&["test"]).exits(1).out;
    assert!(text.contains("expected") && text.contains("got") && text.contains("0 passed, 1 failed"), "{text}");
}

#[test]
fn unused_steps_and_unknown_keys_fail() {
    let bot = TestBot::new();
    bot.put(
        "tests/unused.toml",
        "description = \"one sentence too many\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"hi\" }\n\
         [[step]]\nmodel_says = { text = \"hello\" }\n[[step]]\nmodel_says = { text = \"never said\" }\n\
         [[step]]\nexpect_reply = { equals = \"hello\" }\n",
    );
    let unused = bot.run(&["test", "--json"]).exits(1).json();
    assert_eq!(unused["failed"], 1, "{unused:#}");
    bot.put(
        "tests/unused.toml",
        "description = \"typo\"\n[[step]]\nmesage = { from = \"console:ann\", text = \"hi\" }\n",
    );
    let typo = bot.run(&["test", "--json"]).exits(1).json();
    contract::is("test", &typo);
    assert!(typo.to_string().contains("mesage"), "{typo:#}");
}

#[test]
fn a_filter_chooses_files() {
    let bot = TestBot::new();
    for name in ["first", "second"] {
        bot.put(
            &format!("tests/{name}.toml"),
            "description = \"says hello\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"hi\" }\n\
             [[step]]\nmodel_says = { text = \"hello\" }\n[[step]]\nexpect_reply = { equals = \"hello\" }\n",
        );
    }
    let one = contract::ran(&bot, &["test", ".", "second"], 0, "test");
    assert_eq!(one["passed"], 1, "{one:#}");
    assert_eq!(contract::ran(&bot, &["test"], 0, "test")["passed"], 2);
    assert!(!bot.at("data").exists(), "a scenario never reaches the real data folder");
}

#[test]
fn a_faulty_scenario_file_never_stops_the_bot() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    let good = "description = \"greets\"\n[[step]]\nstart = true\n";
    bot.put("tests/good.toml", good);
    bot.put("tests/z.toml", "x y");
    std::fs::write(bot.at("tests/binary.toml"), b"a\xc3\x28\x00\xff").expect("a file");
    let checked = bot.run(&["check", "--json"]).exits(0).json();
    let said: Vec<_> = checked["diagnostics"].as_array().expect("diagnostics").iter().collect();
    for (file, code) in [("tests/z.toml", "scenario::syntax"), ("tests/binary.toml", "text::encoding")] {
        let found = said.iter().find(|d| d["file"] == file).unwrap_or_else(|| panic!("{file}: {checked:#}"));
        assert_eq!((&found["severity"], &found["code"]), (&"warning".into(), &code.into()), "{found:#}");
    }
    let host = harness::LiveHost::start(&bot);
    bot.put("tests/z.toml", "still = no toml =");
    let record = bot.run(&["reload", "--json"]).exits(0).json();
    assert_ne!(record["record"]["outcome"], "rejected", "{record:#}");
    assert_eq!(host.stop(), 0);
    let tested = bot.run(&["test", "--json"]).exits(1).json();
    contract::is("test", &tested);
    assert_eq!((&tested["failed"], &tested["passed"]), (&2.into(), &1.into()), "{tested:#}");
    let failed: Vec<_> =
        tested["cases"].as_array().expect("cases").iter().filter(|c| c["status"] == "failed").collect();
    assert_eq!((&failed[0]["path"], &failed[1]["path"]), (&"tests/binary.toml".into(), &"tests/z.toml".into()));
}

#[test]
fn a_broken_tree_is_not_tested_without_its_broken_parts() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    bot.put("tests/good.toml", "description = \"greets\"\n[[step]]\nstart = true\n");
    assert_eq!(bot.run(&["test", "--json"]).exits(0).json()["passed"], 1);
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescripton = \"P\"\n");
    let refused = bot.run(&["test", "--json"]).exits(1).json();
    contract::is("test", &refused);
    assert_eq!(refused["passed"], 0);
    let shown = bot.run(&["test"]).exits(1);
    assert!(
        shown.err.contains("plugin::unknown-key") && shown.err.contains("plugins/p/plugin.toml:2"),
        "{}",
        shown.err
    );
}

#[test]
fn a_broken_plugin_is_listed_as_failed_without_a_host() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescripton = \"P\"\n");
    bot.put("plugins/q/plugin.toml", "version = \"1.0.0\"\ndescription = \"Q\"\n");
    let listed = bot.run(&["list", "plugins", "--json"]).exits(0).json();
    contract::is("list-plugins", &listed);
    let states: Vec<_> =
        listed["items"].as_array().expect("items").iter().map(|i| (&i["qualified"], &i["state"])).collect();
    assert!(
        states.contains(&(&"p".into(), &"failed".into())) && states.contains(&(&"q".into(), &"active".into())),
        "{listed:#}"
    );
    assert_eq!(listed["diagnostics"][0]["file"], "plugins/p/plugin.toml", "{listed:#}");
    let shown = bot.run(&["list", "plugins"]).exits(0);
    assert!(shown.out.contains("failed") && shown.err.contains("plugin::unknown-key"), "{}{}", shown.out, shown.err);
}
