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
