//! The house rules that a compiler does not know: sizes, names, room cards, shape marks.
//! Exemptions live in one list that starts empty; an entry that is no longer needed fails too.

mod measure;

use measure::{Finding, Source};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// `RULE PATH[:ITEM]` of findings that are allowed. Keep it empty.
const EXEMPT: &[&str] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && name != "data" {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = root();
    let mut files = Vec::new();
    for top in ["plugin-sdk", "host", "adapters", "plugins", "tests"] {
        rust_files(&root.join(top), &mut files);
    }
    files.sort();
    assert!(files.len() > 50, "the tree was not found below {}", root.display());
    files.iter().map(|path| Source::read(&root, path)).collect()
}

#[test]
fn the_tree_keeps_the_house_rules() {
    let findings: Vec<Finding> = sources().iter().flat_map(measure::all).collect();
    let exempt: BTreeSet<&str> = EXEMPT.iter().copied().collect();
    let keys: BTreeSet<String> = findings.iter().map(Finding::key).collect();
    let new: Vec<String> = findings.iter().filter(|f| !exempt.contains(f.key().as_str())).map(Finding::line).collect();
    let stale: Vec<&str> = exempt.iter().filter(|e| !keys.contains(**e)).copied().collect();
    assert!(new.is_empty(), "house rules broken:\n{}", new.join("\n"));
    assert!(stale.is_empty(), "exemptions no longer needed: {stale:?}");
}

#[test]
fn a_broken_rule_is_found() {
    let long = format!("fn f() {{\n{}}}\n", "    work();\n".repeat(90));
    for (text, rule) in [
        (long.as_str(), "long-function"),
        ("struct ChatManager;", "name"),
        ("fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8) {}", "arguments"),
        ("trait T { fn a(); fn b(); fn c(); fn d(); fn e(); fn f(); fn g(); fn h(); fn i(); }", "wide-trait"),
        (
            "struct S { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8 }",
            "wide-struct",
        ),
        ("fn current() {}", "name"),
    ] {
        let source = Source::from_text("host/src/x/y.rs", text);
        let rules: Vec<String> = measure::all(&source).iter().map(|f| f.rule.to_string()).collect();
        assert!(rules.iter().any(|r| r == rule), "{rule} not found in {text}: {rules:?}");
    }
    let marked = "// SHAPE: 08 §1\nstruct S { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8 }";
    assert!(measure::all(&Source::from_text("host/src/x/y.rs", marked)).is_empty());
}

#[test]
fn every_root_file_is_there() {
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "clippy.toml",
        "rustfmt.toml",
        "deny.toml",
        "rust-toolchain.toml",
        ".ci/run",
    ] {
        assert!(root().join(file).is_file(), "{file} is missing");
    }
}
