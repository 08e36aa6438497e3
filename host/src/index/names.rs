//! Qualified names, wire names and what is reserved.

use super::canonical::sha256_hex;
use std::collections::{HashMap, HashSet};

/// Longest plain wire name.
const PLAIN: usize = 64;
/// Characters kept in front of the digest.
const KEPT: usize = 52;
/// Hex digits of the digest.
const DIGEST: usize = 10;

/// Names of the host's own tools and their aliases: no root tool may take one, even while it is off.
pub const RESERVED: [&str; 32] = [
    "ask_question",
    "ask_user",
    "context_read",
    "context_search",
    "discover",
    "edit_file",
    "exec_command",
    "get_goal",
    "grep_search",
    "list_files",
    "load_skill",
    "load_tool",
    "memory_fetch",
    "memory_search",
    "memory_write",
    "publish_artifact",
    "read_file",
    "remind",
    "report_goal",
    "run_python",
    "schedule_add",
    "schedule_list",
    "schedule_pause",
    "schedule_preview",
    "schedule_remove",
    "schedule_resume",
    "spawn_task",
    "subagent",
    "tool_search",
    "web_fetch",
    "web_search",
    "write_file",
];

/// Whether a qualified name is one of the host's.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.binary_search(&name).is_ok()
}

/// Whether a qualified name can be a wire name as it is.
pub fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= PLAIN
        && bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// The digest form: the first 52 sanitised characters, `__`, 10 hex digits of the SHA-256 of the qualified name.
pub fn digest_form(qualified: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut out: String = qualified.chars().map(clean).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    out.truncate(KEPT);
    out.push_str("__");
    out.push_str(&sha256_hex(qualified)[..DIGEST]);
    out
}

/// Wire names of a generation, in the order of the (distinct) qualified names.
pub fn wire_names<'a>(qualified: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let digests: HashSet<String> = qualified.clone().filter(|q| !is_plain(q)).map(digest_form).collect();
    let mut count: HashMap<&str, usize> = HashMap::new();
    for q in qualified.clone().filter(|q| is_plain(q)) {
        *count.entry(q).or_default() += 1;
    }
    // a plain name that is shared, with a plain or a digest one, is nobody's
    let keeps = |q: &str| is_plain(q) && count.get(q) == Some(&1) && !digests.contains(q);
    qualified.map(|q| if keeps(q) { q.to_string() } else { digest_form(q) }).collect()
}
