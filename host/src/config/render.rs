//! Findings for people: place, line, carets, owner, help. At most 200; the rest is counted.

use plugin_sdk::{Diagnostic, Severity};
use std::fmt::Write;

/// Findings shown.
const MAX_SHOWN: usize = 200;
/// Characters of a source line shown.
const MAX_LINE: usize = 160;
/// Characters before the fault in a longer line.
const BEFORE: usize = 60;

/// The findings in the order given, one block each.
pub fn human(diagnostics: &[Diagnostic], color: bool) -> String {
    let paint = Paint { color };
    let mut out = String::new();
    for (i, diagnostic) in diagnostics.iter().take(MAX_SHOWN).enumerate() {
        if i > 0 {
            out.push('\n');
        }
        // writing into a string cannot fail
        let _ = block(&mut out, diagnostic, &paint);
    }
    if let Some(rest) = diagnostics.len().checked_sub(MAX_SHOWN).filter(|r| *r > 0) {
        let _ = writeln!(out, "\n… and {rest} more (--json shows all)");
    }
    out
}

struct Paint {
    color: bool,
}

impl Paint {
    fn with(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }

    fn severity(&self, severity: Severity, text: &str) -> String {
        self.with(severity_color(severity), text)
    }

    fn frame(&self, text: &str) -> String {
        self.with("34", text)
    }
}

fn severity_color(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "1;31",
        Severity::Warning => "1;33",
        Severity::Info => "1;36",
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

fn block(out: &mut String, d: &Diagnostic, paint: &Paint) -> std::fmt::Result {
    let head = paint.severity(d.severity, &format!("{}[{}]", word(d.severity), d.code));
    writeln!(out, "{head}: {}", clean(&d.message))?;
    let line = d.line.map(|l| l.to_string());
    let gutter = " ".repeat(line.as_ref().map_or(1, String::len));
    if let Some(file) = &d.file {
        let mut place = clean(file);
        if let (Some(line), Some(column)) = (&line, d.column) {
            let _ = write!(place, ":{line}:{column}");
        }
        writeln!(out, "{gutter} {} {place}", paint.frame("-->"))?;
    }
    if let (Some(number), Some(text)) = (&line, &d.source_line) {
        let (shown, carets) = snippet(text, d);
        writeln!(out, " {} {}", paint.frame(&format!("{number} |")), shown)?;
        writeln!(out, " {} {}", paint.frame(&format!("{gutter} |")), paint.severity(d.severity, &carets))?;
    }
    let note = |out: &mut String, text: &str| writeln!(out, " {} {}", paint.frame(&format!("{gutter} =")), clean(text));
    if let Some(whose) = whose(d) {
        note(out, &whose)?;
    }
    for other in &d.related {
        let mut place = other.file.clone();
        if let (Some(line), Some(column)) = (other.line, other.column) {
            let _ = write!(place, ":{line}:{column}");
        }
        note(out, &format!("see: {place}: {}", other.message))?;
    }
    if let Some(help) = &d.help {
        note(out, &format!("help: {help}"))?;
    }
    Ok(())
}

/// `owner: maps, tool: get-weather`.
fn whose(d: &Diagnostic) -> Option<String> {
    let item = d.item.as_ref().map(|i| match i.split_once(' ') {
        Some((kind, name)) => format!("{kind}: {name}"),
        None => i.clone(),
    });
    match (&d.owner, item) {
        (Some(owner), Some(item)) => Some(format!("owner: {owner}, {item}")),
        (Some(owner), None) => Some(format!("owner: {owner}")),
        (None, item) => item,
    }
}

/// The part of a line around the fault, and the carets under it.
fn snippet(text: &str, d: &Diagnostic) -> (String, String) {
    let chars: Vec<char> = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let start = (d.column.unwrap_or(1) as usize).saturating_sub(1).min(chars.len().saturating_sub(1));
    let one_line = d.end_line.is_none() || d.end_line == d.line;
    let end = match d.end_column {
        Some(column) if one_line => (column as usize).saturating_sub(1).min(chars.len()),
        _ => chars.len(),
    };
    let from = if chars.len() > MAX_LINE { start.saturating_sub(BEFORE) } else { 0 };
    let until = chars.len().min(from + MAX_LINE);
    let mut shown: String = chars[from..until].iter().collect();
    let mut before: usize = chars[from..start.max(from)].iter().map(|c| width(*c)).sum();
    if from > 0 {
        shown.insert(0, '…');
        before += 1;
    }
    if until < chars.len() {
        shown.push('…');
    }
    let marked = chars.get(start..end.clamp(start, until)).unwrap_or_default();
    let carets: usize = marked.iter().map(|c| width(*c)).sum();
    (shown, format!("{}{}", " ".repeat(before), "^".repeat(carets.max(1))))
}

/// Columns of a terminal that a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Columns of a terminal: East Asian wide characters and emoji take two.
fn width(c: char) -> usize {
    let wide = matches!(u32::from(c),
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD);
    let none = matches!(u32::from(c), 0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F);
    if none { 0 } else { 1 + usize::from(wide) }
}

/// Nothing that comes from a file can steer the terminal.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{FFFD}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::doc::Doc;
    use plugin_sdk::Span;

    #[test]
    fn the_form_of_the_contract() {
        let text = "description = \"x\"\nrequire_approval = \"never\"\n";
        let file = "plugins/maps/tools/get-weather/tool.toml";
        let doc = Doc::parse_toml("tool", file, text).unwrap();
        let d = Diagnostic::error("tool::unknown-key", "unknown key `require_approval`")
            .owner("maps")
            .item("tool get-weather")
            .help("did you mean `requires_approval`?");
        let d = doc.diag_key(d, "/require_approval");
        assert_eq!(
            human(&[d], false),
            concat!(
                "error[tool::unknown-key]: unknown key `require_approval`\n",
                "  --> plugins/maps/tools/get-weather/tool.toml:2:1\n",
                " 2 | require_approval = \"never\"\n",
                "   | ^^^^^^^^^^^^^^^^\n",
                "   = owner: maps, tool: get-weather\n",
                "   = help: did you mean `requires_approval`?\n",
            )
        );
    }

    #[test]
    fn values_of_secret_lines_are_hidden() {
        let text = "[models.m]\napi_key = \"sk-1\"\nheaders = { X = \"sk-2\" }\nbase_url = \"http://u:p@h\"\nname = \"http://a\"\n[x.env]\nA = \"sk-3\"\nB = 5\n";
        let doc = Doc::parse_toml("bot", "bot.toml", text).unwrap();
        let mut shown = String::new();
        for pointer in
            ["/models/m/api_key", "/models/m/headers/X", "/models/m/base_url", "/models/m/name", "/x/env/A", "/x/env/B"]
        {
            shown.push_str(&human(&[doc.diag(Diagnostic::error("c::d", "m"), pointer)], false));
        }
        for hidden in ["sk-1", "sk-2", "sk-3", "u:p", "http", "= 5"] {
            assert!(!shown.contains(hidden), "{shown}");
        }
        assert!(shown.contains(" 2 | api_key = …\n   |           ^\n"), "{shown}");
        let broken = Doc::parse_toml("bot", "bot.toml", "api_key = \"sk-1\" x\nb = \"${A}\" y\nc = 1 1\n").unwrap_err();
        let shown = human(&broken, false);
        assert!(!shown.contains("sk-1") && !shown.contains("${A}") && shown.contains("c = 1 1"), "{shown}");
    }

    #[test]
    fn wide_and_long_lines() {
        let mut d =
            Diagnostic::error("a::b", "m").file("f").span(Span { line: 10, column: 5, end_line: 10, end_column: 7 });
        d.source_line = Some("a = 天气 x\u{1b}[31m".into());
        assert_eq!(
            human(&[d.clone()], false),
            "error[a::b]: m\n   --> f:10:5\n 10 | a = 天气 x [31m\n    |     ^^^^\n"
        );
        d.source_line = Some("x".repeat(500));
        d.column = Some(300);
        d.end_column = Some(302);
        let shown = human(&[d], false);
        assert!(shown.lines().all(|l| l.chars().count() < 175));
        assert!(shown.contains("^^\n"));
    }

    #[test]
    fn two_hundred_are_shown() {
        let many = vec![Diagnostic::warning("a::b", "m"); 203];
        let shown = human(&many, true);
        assert_eq!(shown.matches("a::b").count(), 200);
        assert!(shown.ends_with("… and 3 more (--json shows all)\n"));
    }
}
