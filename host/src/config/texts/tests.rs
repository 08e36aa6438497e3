use super::*;
use fluent_bundle::FluentResource;
use std::collections::{BTreeMap, BTreeSet};

/// Keys of a file with the values each names.
fn keys(source: &str) -> BTreeMap<String, BTreeSet<String>> {
    let parsed = FluentResource::try_new(source.to_string());
    assert!(parsed.is_ok(), "{:?}", parsed.err().map(|(_, faults)| faults));
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut last = String::new();
    for line in source.lines() {
        if let Some((key, _)) = line.split_once(" =")
            && !line.starts_with([' ', '#'])
        {
            last = key.to_string();
            assert!(out.insert(last.clone(), BTreeSet::new()).is_none(), "{last} is written twice");
        }
        let names = line.split("{ $").skip(1).filter_map(|p| p.split([' ', '}']).next());
        out.entry(last.clone()).or_default().extend(names.map(str::to_string));
    }
    out.remove("");
    out
}

#[test]
fn every_language_has_the_same_keys_and_values() {
    assert_eq!(keys(ENGLISH), keys(CHINESE));
}

#[test]
fn texts_have_their_values() {
    let texts = Texts::new(Language::En);
    assert_eq!(texts.get("stop-idle", &[]), "Nothing is running.");
    assert_eq!(texts.get("command-unknown", &[("name", "x")]), "There is no command /x. /help lists them.");
    assert_eq!(texts.get("tools-title", &[("count", "1")]), "1 tool");
    assert_eq!(texts.get("tools-title", &[("count", "12")]), "12 tools");
    assert_eq!(
        texts.get("turn-failed-internal", &[("turn", "007")]),
        "Something went wrong inside. The admin can find it under 007."
    );
    assert_eq!(texts.get("no-such-key", &[]), "no-such-key");
    assert_eq!(Texts::new(Language::Zh).get("turn-stopped", &[]), "已停止。");
}
