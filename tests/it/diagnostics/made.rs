//! Findings about trees that are too large to write down.

use super::fixture::lines;
use harness::TestBot;
use std::time::{Duration, Instant};

const TOOL: &str = "description = \"A tool\"\nrun = { command = [\"cat\"] }\n";

fn found(bot: &TestBot) -> Vec<String> {
    lines(&bot.run(&["check", "--json"]).json(), &[])
}

#[test]
fn long_descriptions() {
    let bot = TestBot::new();
    let long = "word ".repeat(210);
    bot.put("tools/x/tool.toml", &format!("description = \"{long}\"\nrun = {{ command = [\"cat\"] }}\n"));
    bot.put("skills/s/SKILL.md", &format!("---\ndescription: {long}\n---\nText.\n"));
    let expected = [
        "warning skill::description-cut skills/s/SKILL.md:2:14 .",
        "warning tool::long-description tools/x/tool.toml:1:15 .",
    ];
    assert_eq!(found(&bot), expected);
    let longer = "word ".repeat(900);
    bot.put("tools/x/tool.toml", &format!("description = \"{longer}\"\nrun = {{ command = [\"cat\"] }}\n"));
    assert_eq!(found(&bot)[1], "error tool::bad-value tools/x/tool.toml:1:15 .");
}

#[test]
fn too_many_of_a_kind() {
    let bot = TestBot::new();
    for n in 10..31 {
        bot.put(&format!("tools/t{n}/tool.toml"), &format!("{TOOL}always_loaded = true\n"));
    }
    bot.put("skills/s/SKILL.md", "---\ndescription: A skill\n---\nText.\n");
    for n in 10..23 {
        bot.put(&format!("skills/s/tools/t{n}/tool.toml"), TOOL);
    }
    let expected = [
        "warning skill::too-many-tools skills/s/SKILL.md .",
        "warning tool::many-always-loaded tools/t30/tool.toml:3:17 .",
    ];
    assert_eq!(found(&bot), expected);
}

#[test]
fn schemas_over_the_limits() {
    let bot = TestBot::new();
    bot.put("tools/deep/tool.toml", &format!("{TOOL}input_schema = \"deep.json\"\n"));
    let mut deep = "{\"type\":\"string\"}".to_string();
    for _ in 0..40 {
        deep = format!("{{\"type\":\"object\",\"properties\":{{\"a\":{deep}}}}}");
    }
    bot.put("tools/deep/deep.json", &deep);
    bot.put("tools/long/tool.toml", &format!("{TOOL}input_schema = \"long.json\"\n"));
    let text = "x".repeat(70_000);
    bot.put("tools/long/long.json", &format!("{{\"type\":\"object\",\"description\":\"{text}\"}}"));
    let expected =
        ["error schema::too-big tools/deep/tool.toml:3:16 .", "error schema::too-big tools/long/tool.toml:3:16 ."];
    assert_eq!(found(&bot), expected);
}

#[test]
fn a_file_set_over_the_limit() {
    let bot = TestBot::new();
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    for n in 0..20_001 {
        let at = bot.at(&format!("plugins/p/lib/{}/{n}", n % 100));
        if n < 100 {
            std::fs::create_dir_all(at.parent().expect("a parent")).expect("a folder");
        }
        std::fs::write(at, "").expect("a file");
    }
    assert_eq!(found(&bot), ["error layout::too-big plugins/p p"]);
}

#[test]
fn a_large_dependency_folder_costs_nothing() {
    let bot = TestBot::new();
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    let time = |bot: &TestBot| {
        let start = Instant::now();
        bot.run(&["check", "--json"]).exits(0);
        start.elapsed()
    };
    let best = |bot: &TestBot| (0..5).map(|_| time(bot)).min().expect("a time");
    let before = best(&bot);
    for n in 0..3_000 {
        std::fs::create_dir_all(bot.at(&format!("plugins/p/node_modules/{}/{n}", n % 100))).expect("a folder");
        std::fs::create_dir_all(bot.at(&format!("node_modules/{}/{n}", n % 100))).expect("a folder");
    }
    let after = best(&bot);
    assert!(after < before * 2 + Duration::from_millis(500), "{before:?} before, {after:?} with 6,000 folders");
}

#[test]
fn a_pack_of_skills_names_its_broken_ones_and_loads_without_them() {
    let bot = TestBot::new();
    for n in 0..100 {
        let key = if n == 17 || n == 60 { "permision: [role(master)]\n" } else { "" };
        bot.put(&format!("skills/pack-{n}/SKILL.md"), &format!("---\ndescription: Skill {n}\n{key}---\nText.\n"));
    }
    let expected = [
        "error skill::unknown-key skills/pack-17/SKILL.md:3:1 .",
        "error skill::unknown-key skills/pack-60/SKILL.md:3:1 .",
    ];
    assert_eq!(found(&bot), expected);
    let refused = bot.run(&["check"]).exits(1);
    assert!(refused.err.contains("`[plugins] ignore`"), "{}", refused.err);
    bot.put("bot.toml", "[plugins]\nignore = [\"skills/pack-17/\", \"skills/pack-60/\"]\n");
    let checked = bot.run(&["check", "--json"]).exits(0).json();
    assert_eq!(checked["skills"].as_array().expect("skills").len(), 98);
}
