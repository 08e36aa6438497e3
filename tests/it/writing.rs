//! `new` writes working examples and never overwrites.

use crate::contract;
use harness::TestBot;
use std::collections::BTreeMap;
use std::path::Path;

fn tree(dir: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            out.extend(tree(&path));
        } else {
            out.insert(path.display().to_string(), std::fs::read_to_string(&path).expect("text"));
        }
    }
    out
}

#[test]
fn every_kind_passes_check_and_test() {
    let home = TestBot::new();
    contract::ran(&home, &["new", "bot", "desk"], 0, "new");
    contract::ran(&home, &["check", "desk"], 0, "check");
    assert_eq!(contract::ran(&home, &["test", "desk"], 0, "test")["passed"], 1);
    let bot = TestBot::new().write("bot.toml", "[access]\nmasters = [\"telegram:1\"]\n");
    for (kind, name, place) in [
        ("tool", "hello", "."),
        ("plugin", "maps", "."),
        ("plugin", "inner", "plugins/maps"),
        ("tool", "second", "plugins/maps/plugins/inner"),
        ("skill", "being-kind", "."),
        ("skill", "being-kind", "plugins/maps"),
        ("section", "tone", "."),
    ] {
        let made = contract::ran(&bot, &["new", kind, name, "--in", place], 0, "new");
        assert!(!made["created"].as_array().expect("paths").is_empty() && made["next"].is_array());
        for path in made["created"].as_array().expect("paths") {
            assert!(bot.at(path.as_str().expect("a path")).is_file(), "{path}");
        }
        let checked = contract::ran(&bot, &["check", "--deny-warnings"], 0, "check");
        assert_eq!(checked["counts"]["error"], 0, "{kind} {name}");
    }
    let tested = contract::ran(&bot, &["test"], 0, "test");
    assert_eq!((&tested["passed"], &tested["failed"]), (&4.into(), &0.into()), "{tested:#}");
}

#[test]
fn nothing_is_overwritten() {
    let bot = TestBot::new();
    for args in [
        &["new", "bot", "desk"][..],
        &["new", "tool", "hello"],
        &["new", "plugin", "maps"],
        &["new", "skill", "kind"],
        &["new", "section", "tone"],
    ] {
        contract::ran(&bot, args, 0, "new");
        let before = tree(bot.path());
        let refused = contract::ran(&bot, args, 1, "new-refused");
        assert!(refused["diagnostics"][0]["message"].as_str().expect("text").contains("exist"));
        assert_eq!(tree(bot.path()), before);
    }
    // one file of several is enough, and then none is written
    std::fs::create_dir_all(bot.at("tools/other")).expect("a folder");
    bot.put("tools/other/main.sh", "mine");
    contract::ran(&bot, &["new", "tool", "other"], 1, "new-refused");
    assert!(!bot.at("tools/other/tool.toml").exists() && !bot.at("tests/other.toml").exists());
    assert_eq!(std::fs::read_to_string(bot.at("tools/other/main.sh")).expect("text"), "mine");
}

#[test]
fn illegal_names_and_places_are_wrong_usage() {
    let bot = TestBot::new();
    for name in ["../x", "a/b", "Weather", "", "-x", ".hidden", "two words"] {
        let refused = contract::ran(&bot, &["new", "tool", "--", name], 2, "new-refused");
        assert_eq!(refused["diagnostics"][0]["code"], "cli::usage", "{name}");
    }
    contract::ran(&bot, &["new", "hat", "x"], 2, "new-refused");
    contract::ran(&bot, &["new", "tool", "x", "--runtime", "wasm"], 2, "new-refused");
    std::fs::create_dir_all(bot.at("elsewhere")).expect("a folder");
    contract::ran(&bot, &["new", "tool", "x", "--in", "elsewhere"], 2, "new-refused");
    assert_eq!(tree(bot.path()).len(), 1, "nothing was written");
}
