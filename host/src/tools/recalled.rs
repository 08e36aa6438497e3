//! A stored entry as it may be read back.

use crate::catalog::{Sight, unseen};
use crate::session::{HistoryEntry, SUMMARY};
use serde_json::Value;

/// `message:N`, or block B of the result N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Message(u64),
    Result(u64, usize),
}

impl Part {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(':');
        let part = match (words.next()?, words.next()?, words.next()) {
            ("message", n, None) => Part::Message(n.parse().ok()?),
            ("result", n, Some(block)) => Part::Result(n.parse().ok()?, block.parse().ok()?),
            _ => return None,
        };
        words.next().is_none().then_some(part)
    }

    pub(super) fn n(self) -> u64 {
        match self {
            Part::Message(n) | Part::Result(n, _) => n,
        }
    }
}

/// One entry, judged for one person.
pub(super) struct Recalled<'a> {
    entry: &'a HistoryEntry,
    sight: &'a Sight<'a>,
    shown: bool,
}

impl<'a> Recalled<'a> {
    pub(super) fn of(entry: &'a HistoryEntry, sight: &'a Sight<'a>) -> Self {
        let data = entry.message.get("data").unwrap_or(&Value::Null);
        let author = entry.principal.as_deref().unwrap_or_default();
        let shown = entry.role() != "tool" || sight.sees(entry.tool.as_deref().unwrap_or_default(), data, author);
        Self { entry, sight, shown }
    }

    /// Whether the person may see it.
    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Who it is of: a person, the bot, a tool.
    pub(super) fn whose(&self) -> String {
        match self.entry.role() {
            "tool" => format!("result of {}", self.entry.tool.as_deref().unwrap_or("a tool")),
            "assistant" => "the bot".into(),
            SUMMARY => "summary".into(),
            _ => self.entry.principal.clone().unwrap_or_else(|| "somebody".into()),
        }
    }

    /// The text of a part; a message means all of an entry.
    pub(super) fn text(&self, part: Part) -> Option<String> {
        if !self.shown {
            return Some(unseen(self.entry.tool.as_deref().unwrap_or("a tool")));
        }
        match part {
            Part::Message(_) if self.entry.role() == "tool" => Some(self.blocks().join("\n")),
            Part::Message(_) => Some(self.written()),
            Part::Result(_, block) => {
                (self.entry.role() == "tool").then(|| self.blocks().get(block).cloned()).flatten()
            }
        }
    }

    /// First hit of a folded text, with what stands around it. A summary and what was read back say nothing new;
    /// calls are not searched.
    pub(super) fn find(&self, folded: &str, chars: usize) -> Option<(String, String)> {
        let n = self.entry.n;
        let hit = |text: &str| snippet(text, folded, chars);
        if !self.shown {
            // only the words that stand for it are searched
            return hit(&unseen(self.entry.tool.as_deref()?)).map(|s| (format!("result:{n}:0"), s));
        }
        let copies = matches!(self.entry.tool.as_deref(), Some("context_read" | "context_search"));
        if self.entry.role() == SUMMARY || copies {
            return None;
        }
        if self.entry.role() != "tool" {
            return hit(self.said()).map(|s| (format!("message:{n}"), s));
        }
        self.blocks().iter().enumerate().find_map(|(b, text)| hit(text).map(|s| (format!("result:{n}:{b}"), s)))
    }

    fn said(&self) -> &str {
        word(&self.entry.message, "text")
    }

    /// Words and calls. Arguments of a tool this person has not stay out, like its results.
    fn written(&self) -> String {
        let author = self.entry.principal.as_deref().unwrap_or_default();
        let calls = self.entry.message.get("calls").and_then(Value::as_array).into_iter().flatten();
        let lines = calls.map(|c| {
            let name = word(c, "name");
            let seen = self.sight.sees(name, &Value::Null, author);
            format!("[call of {name} {}]", if seen { word(c, "arguments") } else { "…" })
        });
        std::iter::once(self.said().to_string()).filter(|t| !t.is_empty()).chain(lines).collect::<Vec<_>>().join("\n")
    }

    fn blocks(&self) -> Vec<String> {
        let blocks = self.entry.message.get("content").and_then(Value::as_array).into_iter().flatten();
        let text = |b: &Value| match b.get("text").and_then(Value::as_str) {
            Some(text) => text.to_string(),
            None => "[image]".to_string(),
        };
        blocks.map(text).collect()
    }
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// At most `chars` characters around the first hit. Folding may change lengths, so places are counted in
/// characters of the folded text and taken as near enough.
fn snippet(text: &str, folded: &str, chars: usize) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(folded)?;
    let before = lower.get(..at).unwrap_or_default().chars().count();
    let lead = chars.saturating_sub(folded.chars().count()) / 3;
    let from = before.saturating_sub(lead);
    let total = text.chars().count();
    let from = if total.saturating_sub(from) < chars { total.saturating_sub(chars) } else { from };
    Some(text.chars().skip(from).take(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_of_two_forms() {
        assert_eq!(Part::parse("message:64"), Some(Part::Message(64)));
        assert_eq!(Part::parse("result:128:1"), Some(Part::Result(128, 1)));
        for bad in ["", "message", "message:x", "message:1:2", "result:1", "result:1:2:3", "other:1", "message:-1"] {
            assert_eq!(Part::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_snippet_holds_the_hit_and_is_bounded() {
        let text = format!("{}Needle{}", "x".repeat(1_000), "y".repeat(1_000));
        let hit = snippet(&text, "needle", 240).unwrap();
        assert!(hit.contains("Needle") && hit.chars().count() == 240);
        assert_eq!(snippet("short İ needle", "needle", 240).unwrap(), "short İ needle");
        assert_eq!(snippet("nothing", "needle", 240), None);
    }
}
