//! Folder names: which are legal, the nearest legal one, and equality without case.

use plugin_sdk::Diagnostic;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Most characters of a name.
const MAX_CHARS: usize = 64;

/// The two rules for names of folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameRule {
    /// Letters and digits of any script, `-`, `_`.
    Plain,
    /// Lower-case ASCII words joined by single hyphens.
    Slug,
}

/// NFC form: the one in which names are compared and sorted.
pub(super) fn nfc(name: &str) -> String {
    if name.is_ascii() {
        return name.to_string();
    }
    name.nfc().collect()
}

/// Equal for names that some file system takes for one.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first: `ß` and `ss`, `ς` and `σ` meet there.
    let upper: String = name.nfc().flat_map(char::to_uppercase).collect();
    nfc(&upper.to_lowercase())
}

/// Whether a name may be used.
pub(super) fn is_legal(name: &str, rule: NameRule) -> bool {
    match rule {
        NameRule::Slug => {
            name.split('-').all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
        }
        NameRule::Plain => {
            let count = name.chars().count();
            (1..=MAX_CHARS).contains(&count)
                && name.chars().next().is_some_and(char::is_alphanumeric)
                && name.chars().all(is_plain)
                && nfc(name) == name
        }
    }
}

fn is_plain(c: char) -> bool {
    !c.is_ascii_uppercase() && (c.is_alphanumeric() || c == '-' || c == '_')
}

/// The legal name an author most likely meant; `fallback` when nothing is left.
pub(super) fn nearest_legal(name: &str, rule: NameRule, fallback: &str) -> String {
    let mut out = match rule {
        NameRule::Plain => plain_from(name),
        NameRule::Slug => slug_from(name),
    };
    if rule == NameRule::Plain {
        out = out.chars().take(MAX_CHARS).collect();
    }
    if is_legal(&out, rule) { out } else { fallback.to_string() }
}

fn plain_from(name: &str) -> String {
    let mut out = String::new();
    for c in name.nfc() {
        let c = c.to_ascii_lowercase();
        if is_plain(c) {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    let start = out.find(char::is_alphanumeric).unwrap_or(out.len());
    nfc(out[start..].trim_end_matches('-'))
}

fn slug_from(name: &str) -> String {
    let mut out = String::new();
    for c in name.nfkd().filter(|c| !is_combining_mark(*c)) {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_string()
}

/// The findings of one folder name; the caller adds owner, item and path.
pub(super) fn check(kind: &str, name: &str, rule: NameRule) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !is_legal(name, rule) {
        let says = match rule {
            NameRule::Plain => {
                "1 to 64 letters and digits of any script, `-` and `_`, first a letter or digit, no upper-case A-Z"
            }
            NameRule::Slug => "lower-case letters a-z and digits, in words joined by single `-`",
        };
        let nearest = nearest_legal(name, rule, kind);
        found.push(
            Diagnostic::error(
                "name::invalid",
                format!("`{name}` is no legal folder name of {} {kind}", if kind == "agent" { "an" } else { "a" }),
            )
            .help(format!("rename it to `{nearest}`; a name is {says}")),
        );
    }
    if name.contains("__") {
        found.push(
            Diagnostic::warning("name::double-underscore", format!("`{name}` contains `__`, which also joins names"))
                .help(format!("rename it to `{}`", name.replace("__", "_"))),
        );
    }
    found
}

/// A name with every byte that is not UTF-8 written `\xNN`.
pub(super) fn escaped(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    out
}
