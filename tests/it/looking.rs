//! `check`, `list` and `explain`: what there is, and why.

use crate::contract;
use harness::{LiveHost, TestBot};
use serde_json::Value;

fn codes(value: &Value) -> Vec<&str> {
    value["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str()).collect()
}

fn names(value: &Value) -> Vec<&str> {
    value["items"].as_array().expect("a list").iter().filter_map(|i| i["qualified"].as_str()).collect()
}

/// A bot with one of everything.
fn full() -> TestBot {
    let bot = TestBot::new().echo();
    bot.put_tool("plugins/maps/tools/get-weather", "The weather of a place", "sunny");
    bot.put("plugins/maps/plugin.toml", "version = \"1.2.0\"\ndescription = \"Maps and weather\"\n");
    bot.put("skills/being-kind/SKILL.md", "---\ndescription: How to be kind\n---\nBe kind.\n");
    bot.put("prompt-sections/tone/SECTION.md", "---\ntitle: Tone\n---\nA secret sentence.\n");
    bot.put("tools/dice/main.sh", "#!/bin/sh\necho 4\n");
    bot.put(
        "tools/dice/tool.toml",
        "description = \"Roll a die\"\ncapabilities = []\npermissions = [\"role(trusted)\"]\nplatforms = [\"telegram\"]\n\
         run = { command = [\"./main.sh\"] }\n[command]\nname = \"roll\"\n",
    );
    bot
}

#[test]
fn an_empty_bot_is_good() {
    let bot = TestBot::new();
    let checked = contract::ran(&bot, &["check", "."], 0, "check");
    assert_eq!(checked["counts"]["error"], 0);
    assert!(!bot.at("data").exists(), "check writes nothing into the bot folder");
    let text = bot.run(&["check"]).exits(0).out;
    assert!(text.starts_with("good: 0 errors, 0 warnings"), "{text}");
    for kind in ["tools", "skills", "agents", "sections", "hooks", "commands", "plugins"] {
        contract::ran(&bot, &["list", kind], 0, &format!("list-{kind}"));
        bot.run(&["list", kind]).exits(0);
    }
}

#[test]
fn three_mistakes_are_three_findings() {
    let bot = TestBot::new();
    bot.put("bot.toml", "[access]\nalow_users = []\nmode = \"opn\"\n[agent]\nmax_iterations = \"ten\"\n");
    let checked = contract::ran(&bot, &["check"], 1, "check");
    let mut found = codes(&checked);
    found.sort_unstable();
    assert_eq!(found, ["bot::bad-value", "bot::unknown-key", "bot::wrong-type"]);
    let first = &checked["diagnostics"][0];
    assert_eq!((first["file"].as_str(), first["line"].as_u64()), (Some("bot.toml"), Some(2)));
    assert!(first["help"].is_string());
    let shown = bot.run(&["check"]).exits(1);
    assert!(shown.err.contains("bot.toml:2:1") && shown.err.contains("alow_users = []"), "{}", shown.err);
    assert!(shown.out.starts_with("refused: 3 errors"), "{}", shown.out);
    // the same findings refuse every other command
    contract::ran(&bot, &["list"], 1, "list-refused");
    contract::ran(&bot, &["ask", ".", "hi"], 1, "ask-refused");
}

#[test]
fn warnings_refuse_when_they_are_denied() {
    let bot = TestBot::new().echo();
    bot.put("bot.toml", "[access]\nmode = \"open\"\n[secrets]\nA_KEY = \"a-literal-secret\"\n");
    let checked = contract::ran(&bot, &["check"], 0, "check");
    assert_eq!(codes(&checked), ["bot::literal-secret"]);
    assert!(!checked.to_string().contains("a-literal-secret"));
    let denied = bot.run(&["check", "--deny-warnings", "--json"]).exits(1).json();
    assert_eq!(denied["ok"], false);
    contract::is("check", &denied);
    contract::ran(&bot, &["check", "--static"], 0, "check");
}

#[test]
fn lists_have_every_item() {
    let bot = full();
    let tools = contract::ran(&bot, &["list"], 0, "list-tools");
    for name in ["echo", "dice", "maps__get-weather", "discover", "load_tool", "load_skill", "ask_user"] {
        assert!(names(&tools).contains(&name), "{name} in {:?}", names(&tools));
    }
    assert!(tools["generation"].is_null() && tools["items"][0]["admitted"].is_null());
    assert!(tools["items"][0]["input_schema"].is_null());
    let with_schema = contract::ran(&bot, &["list", "--schema"], 0, "list-tools");
    assert!(with_schema["items"].as_array().expect("a list").iter().all(|i| i["input_schema"].is_object()));
    assert_eq!(names(&contract::ran(&bot, &["list", "skills"], 0, "list-skills")), ["being-kind"]);
    let sections = contract::ran(&bot, &["list", "sections"], 0, "list-sections");
    assert_eq!(names(&sections), ["tone"]);
    assert!(!sections.to_string().contains("secret sentence"), "never the text");
    let commands = contract::ran(&bot, &["list", "commands"], 0, "list-commands");
    assert!(names(&commands).contains(&"roll"), "{commands:#}");
    assert!(names(&contract::ran(&bot, &["list", "plugins"], 0, "list-plugins")).contains(&"maps"));
    let text = bot.run(&["list"]).exits(0).out;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("NAME "), "{text}");
    let column = lines[0].find("DESCRIPTION").expect("a column");
    assert!(lines[1..].iter().all(|l| l.as_bytes()[column - 1] == b' '), "aligned: {text}");
}

#[test]
fn a_subject_shows_admission() {
    let bot = full();
    bot.put("bot.toml", "[access]\nmode = \"open\"\ntrusted = [\"telegram:7\"]\n");
    let verdict = |subject: &[&str]| {
        let mut args = vec!["list", "tools"];
        args.extend(subject);
        let list = contract::ran(&bot, &args, 0, "list-tools");
        let dice = list["items"].as_array().expect("items").iter().find(|i| i["qualified"] == "dice").cloned();
        let dice = dice.expect("dice");
        (dice["admitted"].as_bool().expect("a verdict"), dice["reason"].as_str().map(str::to_string))
    };
    assert_eq!(verdict(&["--as", "telegram:7"]), (true, None));
    assert_eq!(verdict(&["--as", "telegram:8"]), (false, Some("admission::permit".into())));
    assert!(!verdict(&["--as", "ann"]).0);
    assert_eq!(verdict(&["--as", "telegram:8", "--role", "master"]), (true, None));
    for (subject, exit) in [("telegram:7", 0), ("telegram:8", 1), ("ann", 1)] {
        let explained = bot.run(&["explain", "dice", "--as", subject, "--json"]).exits(exit).json();
        contract::is("explain", &explained);
        assert_eq!(explained["admitted"], exit == 0);
        let checks: Vec<&str> =
            explained["checks"].as_array().expect("checks").iter().filter_map(|c| c["check"].as_str()).collect();
        let order = [
            "exists",
            "deny",
            "disabled",
            "hidden",
            "access",
            "platforms",
            "scopes",
            "permission",
            "group",
            "placement",
        ];
        assert_eq!(checks, order);
    }
    let text = bot.run(&["explain", "dice", "--as", "telegram:group:-100:user:8"]).exits(1).out;
    assert!(text.starts_with("dice   owner .   from disk   tools/dice/tool.toml\n"), "{text}");
    assert!(text.contains("\nas telegram:8 in group -100   host role user"), "{text}");
    assert!(text.contains("  permission 1 role(trusted)") && text.contains("FAIL"), "{text}");
    assert!(text.contains("\ndenied  admission::permit  role(trusted)\n"), "{text}");
    for name in ["skill:being-kind", "section:tone", "get-weather"] {
        bot.run(&["explain", name, "--as", "ann"]).exits(0);
    }
}

#[test]
fn unknown_and_ambiguous_names_are_exit_2() {
    let bot = full();
    bot.put_tool("plugins/maps/tools/echo", "Echo from the mountains", "echo");
    bot.put_tool("plugins/other/tools/get-weather", "Another weather", "rain");
    bot.put("plugins/other/plugin.toml", "version = \"1.0.0\"\ndescription = \"Other\"\n");
    let unknown = contract::ran(&bot, &["explain", "ecko", "--as", "ann"], 2, "explain-refused");
    assert!(unknown["diagnostics"].to_string().contains("echo"), "{unknown:#}");
    let ambiguous = contract::ran(&bot, &["explain", "get-weather", "--as", "ann"], 2, "explain-refused");
    let said = ambiguous["diagnostics"].to_string();
    assert!(said.contains("maps__get-weather") && said.contains("other__get-weather"), "{said}");
    let called = contract::ran(&bot, &["call", "get-weather", "{}"], 2, "call-refused");
    assert!(called["diagnostics"].to_string().contains("other__get-weather"), "{called:#}");
}

#[test]
fn a_view_comes_from_the_running_host_unless_disk_is_asked_for() {
    let bot = TestBot::new().echo();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let before = contract::ran(&bot, &["list"], 0, "list-tools");
    assert_eq!(before["generation"], 1);
    bot.put("tools/echo/tool.toml", "descripton = \"broken\"\n");
    assert_eq!(contract::ran(&bot, &["list"], 0, "list-tools"), before);
    let disk = contract::ran(&bot, &["list", "--disk"], 1, "list-refused");
    assert!(codes(&disk).contains(&"tool::unknown-key"), "{disk:#}");
    contract::ran(&bot, &["explain", "echo", "--as", "ann"], 0, "explain");
    contract::ran(&bot, &["explain", "echo", "--as", "ann", "--disk"], 1, "explain-refused");
    contract::ran(&bot, &["check"], 1, "check");
    assert_eq!(host.stop(), 0);
}
