//! What `understudy explain --code` knows: meaning and fix of every diagnostic code.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const TABLE: &str = include_str!("codes.toml");

/// Kinds of files that share the `K::` codes.
const KINDS: [&str; 12] =
    ["bot", "plugin", "tool", "skill", "agent", "section", "hook", "command", "mcp", "scenario", "subagent", "schema"];

/// One code explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodeDoc {
    /// The code.
    pub code: String,
    /// What it says.
    pub meaning: String,
    /// What to do.
    pub fix: String,
    /// A line that causes it.
    pub example: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    meaning: String,
    fix: String,
    example: Option<String>,
}

fn table() -> BTreeMap<String, Entry> {
    // a test reads the table, so that it cannot be empty in a build
    toml::from_str(TABLE).unwrap_or_default()
}

/// What a code means; `None` for a code that no build gives.
pub fn explain(code: &str) -> Option<CodeDoc> {
    let mut table = table();
    let entry = table.remove(code).or_else(|| {
        let (kind, name) = code.split_once("::")?;
        if KINDS.contains(&kind) { table.remove(&format!("K::{name}")) } else { None }
    })?;
    Some(CodeDoc { code: code.to_string(), meaning: entry.meaning, fix: entry.fix, example: entry.example })
}

/// All codes, `K::` for those that every kind of file has.
pub fn known() -> Vec<String> {
    table().into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn the_table_reads() {
        let table: BTreeMap<String, Entry> = toml::from_str(TABLE).unwrap();
        assert!(table.len() > 100);
        assert!(table.values().all(|e| e.meaning.ends_with('.') && e.fix.ends_with('.')));
    }

    #[test]
    fn shared_codes_are_explained_for_each_kind() {
        assert_eq!(explain("tool::unknown-key").unwrap().code, "tool::unknown-key");
        assert!(explain("bot::not-built").is_some());
        assert!(explain("tool::nonsense").is_none());
        assert!(explain("nonsense").is_none());
    }

    #[test]
    fn every_code_in_the_source_is_explained() {
        let pattern = regex::Regex::new("\"([a-z]+::[a-z0-9]+(?:-[a-z0-9]+)*)\"").unwrap();
        let mut missing = Vec::new();
        for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            // what only tests say is no code of the product
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
            for found in pattern.captures_iter(text) {
                if explain(&found[1]).is_none() {
                    missing.push(format!("{} in {}", &found[1], file.display()));
                }
            }
        }
        assert_eq!(missing, Vec::<String>::new(), "add them to config/codes.toml");
    }

    fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
        let mut out = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "tests" {
                    out.extend(sources(&path));
                }
            } else if name.ends_with(".rs") && !name.starts_with("tests") {
                out.push(path);
            }
        }
        out
    }
}
