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
