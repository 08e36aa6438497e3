//! The names nearest to an unknown one.

use super::tool::Tool;
use crate::config::nearest;

/// At most `n` qualified names: close spellings of the qualified or local name first.
pub(super) fn names(tools: &[Tool], name: &str, n: usize) -> Vec<String> {
    where_names(tools, name, n, |_| true)
}

/// The same among the tools that pass.
pub(super) fn where_names(tools: &[Tool], name: &str, n: usize, pass: impl Fn(&Tool) -> bool) -> Vec<String> {
    let word = name.to_lowercase();
    let mut left: Vec<&Tool> = tools.iter().filter(|t| !t.def().options.hidden && pass(t)).collect();
    let mut out = Vec::new();
    while out.len() < n {
        let by_qualified = nearest(&word, left.iter().map(|t| &*t.qualified));
        let Some(hit) = by_qualified.or_else(|| nearest(&word, left.iter().map(|t| t.from.name.as_str()))) else {
            break;
        };
        let Some(at) = left.iter().position(|t| *t.qualified == *hit || t.from.name == hit) else { break };
        out.push(left.remove(at).qualified.to_string());
    }
    out
}
