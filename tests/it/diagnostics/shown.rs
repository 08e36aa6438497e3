//! The rest of "must be shown" of the plugin chapter: schemas, names, odd files, private copies.

use super::fixture::{self, lines};
use crate::contract;
use harness::TestBot;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const TOOL: &str = "description = \"A tool\"\nrun = { command = [\"cat\"] }\n";
const OPEN: &str = "[access]\nmode = \"open\"\n";

fn schema(bot: &TestBot, kind: &str) -> jsonschema::Validator {
    let schema = bot.run(&["schema", kind, "--json"]).exits(0).json();
    jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{kind}: {e}"))
}

fn toml(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).expect("TOML")).expect("JSON")
}

/// The examples of the chapters.
fn examples() -> Vec<(&'static str, Value)> {
    let plugin = r#"
        version = "1.2.0"
        description = "Places, routes and weather"
        sdk = "^1.0"
        requires = ["geo-index"]
        native = { library = "maps" }
        depends = [{ plugin = "geo", version = "^2" }]
        permissions = { http = ["api.maps.example"], secrets = ["MAPS_KEY"], filesystem = "data" }
        [config.schema]
        type = "object"
        additionalProperties = false
        [config.schema.properties]
        units = { enum = ["metric", "imperial"], default = "metric" }
        agent_tools_enabled = { type = "boolean", default = false }
    "#;
    let tool = r#"
        description = "Current weather for a city"
        requires_approval = "never"
        capabilities = ["network"]
        tags = ["forecast"]
        preset = { units = "${config.units}" }
        run = { command = ["python3", "main.py"] }
        when = { config = { agent_tools_enabled = true } }
        command = { name = "weather", argument = "city" }
        [input]
        city = { type = "string", minLength = 1, description = "City name" }
        days = { type = "integer", minimum = 1, maximum = 7, default = 1 }
        units = "string"
    "#;
    let skill = json!({
        "description": "Plan a day trip; asks for the city, checks weather and opening hours",
        "tools": ["get-weather"], "keywords": ["trip", "旅行"],
    });
    let section = json!({"title": "House terms", "order": 70});
    let bot = r#"
        [bot]
        name = "desk"
        [models.default]
        provider = "openai"
        model = "gpt-4.1-mini"
        api_key = "${OPENAI_API_KEY}"
        [access]
        masters = ["telegram:7012345678901"]
        [plugins.config."games/dice"]
        sides = 20
        [tools.override."mcp__time__*"]
        requires_approval = "never"
    "#;
    let scenario = r#"
        description = "a greeting"
        [[step]]
        message = { from = "console:ann", text = "hi" }
    "#;
    let agent = json!({
        "name": "Reviewer", "version": "1.0.0", "description": "Checks a draft against the house rules",
        "trigger_rules": { "keywords": ["review"], "file_patterns": ["*.md"] }, "tools": ["get-weather"],
    });
    let hook = r#"
        events = ["tool.before"]
        tools = ["maps__*"]
        run = { command = ["./audit.sh"] }
    "#;
    let command = r#"
        description = "Weather for a city"
        tool = "get-weather"
        arguments = [{ name = "city", type = "rest" }]
    "#;
    vec![
        ("agent", agent),
        ("hook", toml(hook)),
        ("command", toml(command)),
        ("plugin", toml(plugin)),
        ("tool", toml(tool)),
        ("skill", skill),
        ("section", section),
        ("bot", toml(bot)),
        ("scenario", toml(scenario)),
    ]
}

#[test]
fn every_schema_accepts_the_examples() {
    let bot = TestBot::new();
    for (kind, example) in examples() {
        let faults: Vec<String> =
            schema(&bot, kind).iter_errors(&example).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{kind}: {faults:?}");
    }
}

#[test]
fn every_schema_refuses_the_unknown_key_fixtures() {
    let bot = TestBot::new();
    let mut seen = 0;
    for kind in ["bot", "plugin", "tool", "section", "agent", "hook", "command", "scenario"] {
        let schema = schema(&bot, kind);
        for case in fixture::all().iter().filter(|c| c.codes().contains(&format!("{kind}::unknown-key"))) {
            // which adapters there are is known to the build, not to the format
            let Some(text) = case.text_of(kind).filter(|_| case.name != "bot/unknown-adapter") else { continue };
            let value = match kind {
                "agent" => serde_json::from_str(text).expect("JSON"),
                "section" => json!({"titel": "Tone", "layer": "rule", "order": "high"}),
                _ => match toml::from_str::<toml::Table>(text.trim_start_matches('\u{feff}')) {
                    Ok(table) => serde_json::to_value(table).expect("JSON"),
                    Err(_) => continue,
                },
            };
            // a disabled plugin's problems are warnings, its file is as wrong
            assert!(!schema.is_valid(&value), "{}: the schema accepts it", case.name);
            seen += 1;
        }
    }
    assert!(seen >= 6, "only {seen} fixtures");
}

#[test]
fn an_empty_bot_checks_and_answers() {
    let bot = TestBot::new();
    let checked = contract::ran(&bot, &["check"], 0, "check");
    assert_eq!(checked["counts"]["error"], 0);
    for _ in 0..2 {
        let answered = contract::ran(&bot, &["ask", ".", "hi"], 0, "ask");
        assert_eq!((answered["outcome"].as_str(), answered["model"].as_str()), (Some("completed"), Some("offline")));
    }
}

#[test]
fn check_runs_no_plugin_code() {
    let bot = TestBot::new();
    bot.put("bot.toml", OPEN);
    bot.put("tools/x/tool.toml", "description = \"A tool\"\nrun = { command = [\"./main.sh\"] }\ncommand = {}\n");
    let marker = bot.at("ran");
    bot.put("tools/x/main.sh", &format!("#!/bin/sh\ntouch '{}'\necho done\n", marker.display()));
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    bot.put("plugins/p/tools/y/tool.toml", "description = \"A tool\"\nrun = { command = [\"./main.sh\"] }\n");
    bot.put("plugins/p/tools/y/main.sh", &format!("#!/bin/sh\ntouch '{}'\n", marker.display()));
    bot.put("tests/a.toml", "description = \"a\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"/x\" }\n");
    for args in
        [&["check"][..], &["check", "--static"], &["list", "--disk"], &["explain", "x", "--as", "ann", "--disk"]]
    {
        bot.run(args).exits(0);
        assert!(!marker.exists(), "{args:?} ran a tool");
    }
    bot.run(&["call", "x", "{}", "--approve"]).exits(0);
    assert!(marker.exists(), "the script does leave the mark");
    assert!(std::fs::read_dir(bot.path()).expect("a folder").flatten().all(|e| e.file_name() != "__pycache__"));
}

#[test]
fn wire_names_are_those_of_the_chapter_in_any_order() {
    let long = "a".repeat(60);
    let names = ["maps/get-weather", "./2048", "天气/查询"];
    let wires = |reverse: bool| {
        let bot = TestBot::new();
        bot.put("bot.toml", OPEN);
        let mut all: Vec<(String, String)> =
            names.iter().filter_map(|n| n.split_once('/')).map(|(o, t)| (o.to_string(), t.to_string())).collect();
        all.push(("games".into(), long.clone()));
        all.push(("w".into(), format!("{}-x", "b".repeat(60))));
        all.push(("w".into(), format!("{}-y", "b".repeat(60))));
        if reverse {
            all.reverse();
        }
        for (owner, tool) in &all {
            let base = if owner == "." { String::new() } else { format!("plugins/{owner}/") };
            if owner != "." {
                bot.put(&format!("{base}plugin.toml"), "version = \"1.0.0\"\ndescription = \"P\"\n");
            }
            bot.put(&format!("{base}tools/{tool}/tool.toml"), TOOL);
        }
        let list = contract::ran(&bot, &["list", "tools"], 0, "list-tools");
        let wire = |item: &Value| (item["qualified"].as_str().unwrap_or("").to_string(), item["wire"].clone());
        list["items"].as_array().expect("items").iter().map(wire).collect::<std::collections::BTreeMap<_, _>>()
    };
    let wire = wires(false);
    assert_eq!(wire["maps__get-weather"], "maps__get-weather");
    assert_eq!(wire["2048"], "_2048__bfa0ec8bdf");
    assert_eq!(wire["天气__查询"], "________d379893394");
    assert_eq!(wire[&format!("games__{long}")], format!("games__{}__2a1304659d", "a".repeat(45)).as_str());
    let two: Vec<&Value> = wire.iter().filter(|(q, _)| q.starts_with("w__")).map(|(_, w)| w).collect();
    assert_ne!(two[0], two[1]);
    assert!(wire.values().all(|w| w.as_str().expect("a name").len() <= 64));
    assert_eq!(wire, wires(true));
}

#[test]
fn names_join_owner_and_placement() {
    let bot = TestBot::new();
    bot.put("bot.toml", OPEN);
    bot.put("tools/near/tool.toml", TOOL);
    bot.put("plugins/games/plugin.toml", "version = \"1.0.0\"\ndescription = \"Games\"\n");
    bot.put("plugins/games/plugins/dice/plugin.toml", "version = \"1.0.0\"\ndescription = \"Dice\"\n");
    bot.put("plugins/games/plugins/dice/tools/roll/tool.toml", TOOL);
    bot.put("skills/trip/SKILL.md", "---\ndescription: A trip\n---\nText.\n");
    bot.put("skills/trip/tools/check-result/tool.toml", TOOL);
    bot.put("skills/stay/SKILL.md", "---\ndescription: A stay\n---\nText.\n");
    bot.put("skills/stay/tools/check-result/tool.toml", TOOL);
    assert_eq!(lines(&bot.run(&["check", "--json"]).json(), &[]), Vec::<String>::new());
    let list = contract::ran(&bot, &["list", "tools"], 0, "list-tools");
    let item = |name: &str| list["items"].as_array().expect("items").iter().find(|i| i["qualified"] == name).cloned();
    assert_eq!(item("games__dice__roll").expect("a tool")["owner"], "games/dice");
    assert_eq!(item("near").expect("a tool")["owner"], ".");
    assert_eq!(item("skill__trip__check-result").expect("a private tool")["placement"], "skill");
    // a local name of two tools is a question back, with both names
    let asked = bot.run(&["explain", "check-result", "--as", "ann"]).exits(2);
    assert!(asked.err.contains("skill__trip__check-result") && asked.err.contains("skill__stay__check-result"));
    // private tools are in no catalog and no request until their skill is loaded
    let scenario = "description = \"private until loaded\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"hi\" }\n\
        [[step]]\nexpect_catalog = { as = \"console:ann\", exclude = [\"skill__trip__check-result\"] }\n\
        [[step]]\nmodel_says = { calls = [{ tool = \"load_skill\", arguments = { name = \"trip\" } }] }\n\
        [[step]]\nmodel_says = { text = \"Done.\" }\n\
        [[step]]\nexpect_request = { tools_exclude = [\"skill__trip__check-result\", \"skill__stay__check-result\"] }\n\
        [[step]]\nexpect_request = { tools_include = [\"skill__trip__check-result\"], tools_exclude = [\"skill__stay__check-result\"] }\n";
    bot.put("tests/private.toml", scenario);
    bot.run(&["test"]).exits(0);
    bot.put("skills/stay/tools/check-result/tool.toml", "description = \"x\"\n");
    assert_eq!(
        lines(&bot.run(&["check", "--json"]).exits(1).json(), &[]),
        ["error tool::no-run skills/stay/tools/check-result/tool.toml:1:1 ."]
    );
}

#[test]
fn texts_of_other_editors_load_whole() {
    let bot = TestBot::new();
    bot.put("bot.toml", "\u{feff}[access]\r\nmode = \"open\"\r\n");
    bot.put("skills/bom/SKILL.md", "\u{feff}---\r\ndescription: Use it: now\r\n---\r\nLine one.\r\nLine two.\r\n");
    bot.put("skills/end/SKILL.md", "---\ndescription: \"Ends: here\"\n---");
    bot.put("skills/old/SKILL.md", "---\rdescription: Old lines\r---\rText.\r");
    let found = lines(&bot.run(&["check", "--json"]).json(), &[]);
    let expected =
        ["warning text::unquoted-colon skills/bom/SKILL.md:2:14 .", "error skill::bad-value skills/end/SKILL.md:3:1 ."];
    assert_eq!(found, expected);
    bot.put("skills/end/SKILL.md", "---\ndescription: \"Ends: here\"\n---\nText");
    let list = contract::ran(&bot, &["list", "skills"], 0, "list-skills");
    let text = list.to_string();
    assert!(text.contains("Use it: now") && text.contains("Ends: here") && text.contains("Old lines"), "{text}");
    let scenario = "description = \"the whole text\"\n[[step]]\nmessage = { from = \"console:ann\", text = \"hi\" }\n\
        [[step]]\nmodel_says = { calls = [{ tool = \"load_skill\", arguments = { name = \"bom\" } }] }\n\
        [[step]]\nmodel_says = { text = \"Done.\" }\n[[step]]\nexpect_request = { tools_include = [\"load_skill\"] }\n\
        [[step]]\nexpect_request = { text_contains = \"Line one.\\nLine two.\" }\n";
    bot.put("tests/read.toml", scenario);
    bot.run(&["test"]).exits(0);
}

#[test]
fn links_inside_are_followed_and_outside_are_absent() {
    let bot = TestBot::new();
    bot.put("bot.toml", OPEN);
    bot.put("shared/real/tool.toml", TOOL);
    std::fs::create_dir_all(bot.at("tools")).expect("a folder");
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, bot.at(at)).expect("a link");
    link("../shared/real", "tools/inside");
    link("/etc", "tools/outside");
    link("../tools", "tools/loop");
    link("nowhere", "tools/dangling");
    let found = lines(&bot.run(&["check", "--json"]).exits(0).json(), &[]);
    let expected = [
        "info layout::symlink-dangling tools/dangling .",
        "warning layout::symlink-loop tools/loop .",
        "warning layout::symlink-outside tools/outside .",
    ];
    assert_eq!(found, expected);
    let list = contract::ran(&bot, &["list", "tools"], 0, "list-tools").to_string();
    assert!(list.contains("\"inside\"") && !list.contains("\"outside\""));
}

#[test]
fn a_condition_follows_the_configuration() {
    let bot = TestBot::new();
    let plugin = "version = \"1.0.0\"\ndescription = \"P\"\n[config.schema]\ntype = \"object\"\n\
        properties.on = { type = \"boolean\", default = false }\nproperties.units = { type = \"string\", default = \"metric\" }\n";
    bot.put("plugins/p/plugin.toml", plugin);
    bot.put_tool("plugins/p/tools/x", "A tool", "sunny");
    let tool = "description = \"A tool\"\nrequires_approval = \"never\"\ncapabilities = []\n\
        run = { command = [\"./main.sh\"] }\nwhen = { config = { on = true } }\npreset = { units = \"${config.units}\" }\n\
        [input]\ncity = \"string\"\nunits = \"string\"\n";
    bot.put("plugins/p/tools/x/tool.toml", tool);
    bot.put("bot.toml", OPEN);
    assert_eq!(
        lines(&bot.run(&["check", "--json"]).exits(0).json(), &[]),
        ["info tool::left-out plugins/p/tools/x/tool.toml:5:8 p"]
    );
    bot.run(&["call", "p__x", "{\"city\":\"Rome\"}"]).exits(2);
    bot.put("bot.toml", &format!("{OPEN}[plugins.config.p]\non = true\n"));
    let list = contract::ran(&bot, &["list", "tools", "--schema"], 0, "list-tools");
    let tool = list["items"].as_array().expect("items").iter().find(|i| i["qualified"] == "p__x").expect("p__x");
    let properties = tool["input_schema"]["properties"].as_object().expect("properties");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["city"]);
    bot.run(&["call", "p__x", "{\"city\":\"Rome\"}"]).exits(0);
    let refused = bot.run(&["call", "p__x", "{\"city\":\"Rome\",\"units\":\"imperial\"}", "--json"]);
    assert!(refused.out.contains("VALIDATION_ERROR"), "{}", refused.out);
}

#[test]
fn switches_are_independent_and_restore_the_same() {
    let bot = TestBot::new();
    bot.put("bot.toml", OPEN);
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    bot.put_tool("plugins/p/tools/x", "A tool", "x");
    bot.put_tool("plugins/p/tools/y", "A tool", "y");
    bot.put("plugins/p/plugins/q/plugin.toml", "version = \"1.0.0\"\ndescription = \"Q\"\n");
    bot.put_tool("plugins/p/plugins/q/tools/z", "A tool", "z");
    let tools = || contract::ran(&bot, &["list", "tools", "--schema"], 0, "list-tools")["items"].clone();
    let whole = tools();
    bot.put("bot.toml", &format!("{OPEN}[plugins]\ndisabled = [\"p\"]\n"));
    let without = tools().to_string();
    assert!(!without.contains("p__x") && !without.contains("p__q__z"), "a plugin and what lies in it");
    bot.put("bot.toml", OPEN);
    assert_eq!(tools(), whole);
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\nenabled = false\n");
    assert!(!tools().to_string().contains("p__x"), "the plugin's own switch");
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    bot.put("bot.toml", &format!("{OPEN}[tools]\ndisabled = [\"p__y\"]\n"));
    bot.run(&["explain", "p__y", "--as", "ann"]).exits(1);
    bot.put("bot.toml", &format!("{OPEN}[tools]\ndisabled = [\"p__y\"]\n[plugins]\ndisabled = [\"p\"]\n"));
    let found = lines(&bot.run(&["check", "--json"]).exits(0).json(), &[]);
    assert_eq!(found, ["warning tools::unknown-name bot.toml:4:13 ."]);
}

/// Every file below a folder.
fn files(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(t) if t.is_dir() => {
                out.push(entry.path());
                files(&entry.path(), out);
            }
            Ok(t) if t.is_file() => out.push(entry.path()),
            _ => {}
        }
    }
}

#[test]
fn copies_are_private_and_hold_no_foreign_byte() {
    let bot = TestBot::new().echo();
    bot.put("bot.toml", "[access]\nmode = \"open\"\n[plugins]\ninclude = [\"**\"]\n[telemetry]\nlog_file = \"logs/bot.log\"\n[secrets]\nT_file = \"secrets/t\"\n");
    bot.put("secrets/t", "token-bytes-of-this-test\n");
    std::fs::set_permissions(bot.at("secrets/t"), std::fs::Permissions::from_mode(0o600)).expect("a mode");
    bot.put("logs/bot.log", "log-bytes-of-this-test\n");
    bot.put(".env", "A_VARIABLE=env-bytes-of-this-test\n");
    let host = harness::LiveHost::start(&bot);
    let mut found = Vec::new();
    files(&bot.at("data"), &mut found);
    for private in ["data", "data/store"] {
        let mode = std::fs::metadata(bot.at(private)).expect("a folder").permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{private}");
    }
    assert!(found.iter().any(|f| f.ends_with("tools/echo/tool.toml")), "the copy is there: {found:#?}");
    for path in found.iter().filter(|p| !p.starts_with(bot.at("data/store"))) {
        let mode = std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
        if path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(path).expect("a readable file");
        for foreign in ["token-bytes-of-this-test", "log-bytes-of-this-test", "env-bytes-of-this-test"] {
            let hit = bytes.windows(foreign.len()).any(|w| w == foreign.as_bytes());
            assert!(!hit, "{foreign} is in {}", path.display());
        }
        let copied = path.components().any(|c| c.as_os_str() == "tools");
        if copied {
            let is_program = path.extension().is_some_and(|e| e == "sh");
            assert_eq!(mode, if is_program { 0o500 } else { 0o400 }, "{}", path.display());
        }
    }
    assert_eq!(host.stop(), 0);
}
