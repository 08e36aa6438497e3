//! Each fault of a bot folder, introduced under a running host: refused, everything answers on, the repair is live.

use crate::contract;
use harness::{LiveHost, TestBot, command};
use serde_json::json;

const PLUGIN: &str = "version = \"1.0.0\"\ndescription = \"Another\"\n";
const RUN: &str = "run = { command = [\"./main.sh\"] }\n";

/// File, its broken text, and a code that must be among the findings.
fn faults() -> Vec<(&'static str, String, &'static str)> {
    let tool = "tools/say/tool.toml";
    let plugin = "plugins/other/plugin.toml";
    vec![
        (tool, "description = \"half".into(), "tool::syntax"),
        (tool, String::new(), "tool::missing-key"),
        (tool, format!("descripton = \"typo\"\n{RUN}"), "tool::unknown-key"),
        (tool, format!("description = 7\n{RUN}"), "tool::wrong-type"),
        (tool, "description = \"Say\"\nrun = { command = [\"./nothing.sh\"] }\n".into(), "run::"),
        (tool, format!("description = \"Say\"\npermissions = [\"nobody(x)\"]\n{RUN}"), "permit::unknown"),
        (tool, format!("description = \"Say\"\n{RUN}[input]\nx = {{ type = \"strange\" }}\n"), ""),
        (plugin, "version = ".into(), "plugin::syntax"),
        (plugin, "description = \"no version\"\n".into(), "plugin::missing-key"),
        (plugin, format!("{PLUGIN}dependencies = [\"nobody\"]\n"), ""),
        ("skills/tidy/SKILL.md", "no front matter\n".into(), "text::"),
        ("skills/tidy/SKILL.md", "---\nname: [\n---\ntext\n".into(), "text::"),
        ("prompt-sections/tone/SECTION.md", "---\nlayr: 1\n---\ntext\n".into(), ""),
        ("bot.toml", "[acess]\n".into(), "bot::unknown-key"),
        ("bot.toml", "[bot\n".into(), "bot::syntax"),
        ("bot.toml", "[limits]\nmax_concurrent_turns = \"many\"\n".into(), "bot::wrong-type"),
        ("bot.toml", "[bot]\nname = \"${NO_SUCH_VARIABLE}\"\n".into(), "bot::missing-variable"),
        ("bot.toml", String::new(), "bot::emptied"),
    ]
}

#[test]
fn every_fault_is_refused_and_every_repair_is_live() {
    let bot = TestBot::new().echo().write("bot.toml", "[bot]\nname = \"desk\"\n");
    bot.put("plugins/other/plugin.toml", PLUGIN);
    bot.put_tool("plugins/other/tools/tell", "Tell something", "told");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let good = |n: usize| {
        bot.put("bot.toml", "[bot]\nname = \"desk\"\n");
        bot.put("plugins/other/plugin.toml", PLUGIN);
        bot.put_tool("tools/say", "Say something", &format!("repair {n}"));
        for folder in ["skills", "prompt-sections"] {
            drop(std::fs::remove_dir_all(bot.at(folder)));
        }
        contract::ran(&bot, &["reload"], 0, "reload")["record"].clone()
    };
    assert_eq!(good(0)["to"], 2);
    for (n, (file, text, code)) in faults().into_iter().enumerate() {
        let before = bot.run(&["list", "--json"]).exits(0).out;
        bot.put(file, &text);
        let refused = bot.run(&["reload", "--json"]);
        assert_eq!(refused.code, 1, "{file}: {text}\n{refused:?}");
        let refused = refused.json();
        contract::is("reload", &refused);
        let record = &refused["record"];
        assert_eq!(record["outcome"], "rejected");
        assert!(record["to"].is_null());
        let errors: Vec<_> = record["diagnostics"]
            .as_array()
            .expect("findings")
            .iter()
            .filter(|d| d["severity"] == "error" && d["code"].as_str().is_some_and(|c| c.starts_with(code)))
            .cloned()
            .collect();
        assert!(errors.iter().any(|d| d["file"] == file), "{file}: {text}: {:#}", record["diagnostics"]);
        assert_eq!(bot.run(&["list", "--json"]).exits(0).out, before, "{file}: {text}");
        for (tool, input, words) in [
            ("say", json!({}), format!("repair {n}")),
            ("tell", json!({}), "told".into()),
            ("echo", json!({"message": "x"}), "echo: x".into()),
        ] {
            let (_, called) = command(&bot, "call", &json!({"tool": tool, "input": input}));
            assert_eq!((&called["text"], &called["generation"]), (&words.into(), &(n + 2).into()), "{file}: {text}");
        }
        let repaired = good(n + 1);
        assert_eq!((&repaired["outcome"], &repaired["to"]), (&"published".into(), &(n + 3).into()), "{repaired:#}");
    }
    assert_eq!(contract::ran(&bot, &["status"], 0, "status")["pid"], host.pid());
    assert_eq!(host.stop(), 0);
}

#[test]
fn a_manifest_that_is_no_text_is_refused() {
    let bot = TestBot::new().tool("tools/say", "Say something", "fine");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    std::fs::write(bot.at("tools/say/tool.toml"), [0xff, 0xfe, 0x00, 0x41]).expect("a file");
    let refused = bot.run(&["reload", "--json"]).exits(1).json();
    assert_eq!(refused["record"]["outcome"], "rejected");
    assert_eq!(contract::ran(&bot, &["call", "say", "{}"], 0, "call")["text"], "fine");
    assert_eq!(host.stop(), 0);
}
