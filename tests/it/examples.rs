//! What ships must pass its own checks: the example bot and every first-party plugin.

use harness::TestBot;

#[test]
fn the_example_bot_is_clean_and_passes_its_scenarios() {
    let bot = TestBot::copy_of("examples/full-bot");
    let checked = bot.json(&["check", "."]);
    assert_eq!((&checked["counts"]["error"], &checked["counts"]["warning"]), (&0.into(), &0.into()), "{checked:#}");
    let tested = bot.json(&["test", "."]);
    assert_eq!(tested["failed"], 0, "{tested:#}");
    assert!(tested["passed"].as_u64() >= Some(5), "{tested:#}");
}

#[test]
fn the_example_bot_rolls_dice_through_discovery() {
    let bot = TestBot::copy_of("examples/full-bot");
    let answer = bot.json(&["ask", ".", "roll 2d6"]);
    let tools: Vec<&str> =
        answer["tool_calls"].as_array().into_iter().flatten().filter_map(|c| c["tool"].as_str()).collect();
    assert_eq!(tools, ["discover", "load_tool", "games__dice__roll"], "{answer:#}");
    let help = bot.run(&["ask", ".", "what can you do"]).exits(0);
    assert!(help.out.contains("convert-units"), "{}", help.out);
}

#[test]
fn the_example_bot_audits_each_call() {
    let bot = TestBot::copy_of("examples/full-bot");
    bot.run(&["chat", ".", "--once", "/house"]).exits(0);
    bot.run(&["chat", ".", "--once", "convert 5 miles to km"]).exits(0);
    let mut found = Vec::new();
    files(&bot.at("data"), &mut found);
    let log = found.iter().find(|p| p.ends_with("audit.log")).expect("the hook's file");
    let text = std::fs::read_to_string(log).expect("a log");
    assert!(text.contains(" house__status success ") && text.contains(" convert-units success "), "{text}");
}

#[test]
fn the_example_bot_asks_in_each_of_the_four_ways() {
    let bot = TestBot::copy_of("examples/full-bot");
    for (mode, tool) in [
        ("never", "house__status"),
        ("once", "house__set-lamp"),
        ("on-risk", "house__set-heating"),
        ("always", "house__open-door"),
    ] {
        let tools = bot.json(&["list", "tools"]);
        let items = tools["items"].as_array().expect("items");
        let entry = items.iter().find(|i| i["qualified"] == tool).unwrap_or_else(|| panic!("{tool}: {tools:#}"));
        assert_eq!(entry["requires_approval"], mode, "{entry:#}");
        let code = if mode == "never" { 0 } else { 7 };
        let input = match mode {
            "once" => r#"{"room": "hall", "percent": 50}"#,
            "on-risk" => r#"{"degrees": 21}"#,
            _ => "{}",
        };
        bot.run(&["call", tool, input]).exits(code);
    }
    let asked = bot.run_with(
        &["chat", ".", "--plain"],
        "/lamp hall 50\nsession\n/lamp kitchen 20\nopen the front door\nno\n/house\n",
    );
    assert!(asked.out.contains("kitchen is at 20 %") && asked.out.contains("door is locked"), "{}", asked.out);
    assert_eq!((asked.out + &asked.err).matches("May I run").count(), 2, "{}", asked.err);
}

fn files(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path),
        }
    }
}

#[test]
fn every_first_party_plugin_passes_in_a_bot_of_its_own() {
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let mut seen = 0;
    for entry in std::fs::read_dir(plugins).expect("the plugins folder").flatten().filter(|e| e.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let bot = TestBot::new();
        bot.put_copy(&format!("plugins/{name}"), &format!("plugins/{name}"));
        let checked = bot.json(&["check", "."]);
        assert_eq!(checked["ok"], true, "{checked:#}");
        let tested = bot.json(&["test", "."]);
        assert!(tested["failed"] == 0 && tested["passed"].as_u64() >= Some(1), "{name}: {tested:#}");
        seen += 1;
    }
    assert!(seen >= 1);
}
