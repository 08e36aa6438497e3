//! No code without a fixture, or a reason why it cannot have one here.

use super::fixture;
use std::collections::BTreeSet;

/// Kinds of files of this build that share the `K::` codes.
const KINDS: [&str; 9] = ["bot", "plugin", "tool", "skill", "section", "agent", "hook", "command", "scenario"];

/// Codes that `check` gives and that Rust code has to make a tree for: `made.rs`.
const MADE: [&str; 6] = [
    "tool::long-description",
    "tool::many-always-loaded",
    "skill::too-many-tools",
    "skill::description-cut",
    "schema::too-big",
    "layout::too-big",
];

/// Codes that no `check` of this build gives, each with the reason.
const ELSEWHERE: [(&str, &[&str]); 9] = [
    ("a start says it: `check` refuses the cause itself", &["hook::guard-left-out"]),
    (
        "needs a published generation before it",
        &[
            "bot::emptied",
            "plugin::permission-widened",
            "reload::held",
            "reload::waiting-for-drain",
            "reload::endpoint-restart",
            "reload::restart-required",
            "seal::not-bound",
            "seal::base-changed",
            "seal::not-recorded",
            "generation::not-kept",
            "lease::deadline",
        ],
    ),
    (
        "a live host says it",
        &[
            "reload::unstable-input",
            "reload::copy-failed",
            "reload::prepare-timeout",
            "reload::watch-degraded",
            "watch::never-settles",
            "run::wrote-into-copy",
            "task::failed",
            "dispose::failed",
            "dispose::timeout",
            "session::repaired",
            "model::down",
            "model::no-deferral",
            "model::tool-refused",
            "prompt::floor",
            "candidate::forbidden",
            "gate::failed",
            "gate::timeout",
            "exec::unavailable",
        ],
    ),
    (
        "the reason of a denial, shown by `explain`",
        &[
            "access::refused",
            "admission::disabled",
            "admission::platform",
            "admission::scope",
            "admission::unknown-permit",
            "admission::lookup-failed",
            "admission::permit",
        ],
    ),
    (
        "the store says it when a host starts",
        &[
            "store::locked",
            "store::not-writable",
            "store::foreign-folder",
            "store::noexec",
            "store::newer",
            "store::corrupt",
            "store::disk-full",
            "store::bad-record",
            "store::newest-lost",
            "store::failed",
        ],
    ),
    (
        "the command line says it",
        &[
            "cli::usage",
            "cli::failed",
            "cli::no-host",
            "cli::no-generation",
            "cli::forbidden",
            "cli::protocol",
            "cli::timeout",
            "cli::internal",
            "cli::unknown-name",
            "cli::ambiguous-name",
        ],
    ),
    (
        "belongs to channels",
        &[
            "channel::dead-letter",
            "channel::unreachable",
            "outbox::failed",
            "outbox::unknown",
            "console::listen",
            "console::open-listen",
        ],
    ),
    (
        "belongs to native code, components and `setup`, which this build lacks",
        &["tool::no-such-function", "setup::failed", "setup::timeout", "setup::panic", "setup::sealed"],
    ),
    (
        "belongs to settings or folders that this build refuses as not built",
        &["bot::limit-widens", "tools::missing-part"],
    ),
];

#[test]
fn every_code_has_a_fixture_or_a_reason() {
    let covered: BTreeSet<String> = fixture::all().iter().flat_map(fixture::Case::codes).collect();
    let made: BTreeSet<String> = MADE.iter().map(|c| (*c).to_string()).collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE.iter().flat_map(|(_, l)| l.iter()).map(|c| (*c).to_string()).collect();
    let known: BTreeSet<String> = host::config::codes::known().into_iter().collect();
    let shared = |code: &str| known.contains(&format!("K::{}", code.rsplit("::").next().unwrap_or_default()));
    let mut open = Vec::new();
    for code in &known {
        match code.strip_prefix("K::") {
            Some(_) => {}
            None if covered.contains(code) || made.contains(code) || elsewhere.contains(code) => {}
            None => open.push(code.clone()),
        }
    }
    for kind in KINDS {
        for name in ["syntax", "unknown-key", "missing-key", "wrong-type", "bad-value"] {
            let code = format!("{kind}::{name}");
            // front matter that cannot be parsed is `text::yaml`
            let is_front_matter = matches!(kind, "skill" | "section") && name == "syntax";
            if !covered.contains(&code) && !is_front_matter {
                open.push(code);
            }
        }
    }
    assert_eq!(open, Vec::<String>::new(), "no fixture and no reason");
    let both: Vec<&String> = elsewhere.intersection(&covered).collect();
    assert_eq!(both, Vec::<&String>::new(), "a fixture gives them");
    let unknown = |codes: &BTreeSet<String>| -> Vec<String> {
        codes.iter().filter(|c| !known.contains(*c) && !shared(c)).cloned().collect()
    };
    assert_eq!(unknown(&covered), Vec::<String>::new(), "not explained");
    assert_eq!(unknown(&elsewhere), Vec::<String>::new(), "no such code any more");
}

#[test]
fn every_code_is_explained() {
    let bot = harness::TestBot::new();
    for code in host::config::codes::known() {
        let asked = code.replace("K::", "tool::");
        let value = bot.run(&["explain", "--code", &asked, "--json"]).exits(0).json();
        assert_eq!(value["code"], asked.as_str());
        for key in ["meaning", "fix"] {
            assert!(value[key].as_str().is_some_and(|t| !t.is_empty()), "{asked} without {key}");
        }
    }
    bot.run(&["explain", "--code", "tool::nonsense"]).exits(2);
}
