//! What a walk leaves out: fixed names, `plugins.ignore`, and paths that belong to nobody.

use crate::config::doc::Doc;
use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use plugin_sdk::Diagnostic;
use std::path::{Path, PathBuf};

/// Folders of dependencies: shared with the generation's copy, never walked.
const DEPENDENCIES: [&str; 3] = ["node_modules", "venv", ".venv"];
const NAMES: [&str; 7] = ["node_modules", "target", "__pycache__", "venv", ".venv", "coverage", "4913"];
const ENDS: [&str; 6] = ["~", ".swp", ".swx", ".tmp", ".part", ".crdownload"];

/// Whether a name is left out everywhere.
pub(super) fn is_ignored_name(name: &str) -> bool {
    name.starts_with('.')
        || NAMES.contains(&name)
        || ENDS.iter().any(|end| name.ends_with(end))
        || (name.len() > 1 && name.starts_with('#') && name.ends_with('#'))
}

pub(super) fn is_dependency_folder(name: &str) -> bool {
    DEPENDENCIES.contains(&name)
}

/// Ignore rules of one scan.
#[derive(Debug)]
pub(super) struct Rules {
    globs: Gitignore,
    never: Vec<PathBuf>,
}

impl Rules {
    /// From `plugins.ignore`; a glob that cannot be read is a finding in `bot.toml`.
    pub(super) fn new(ignore: &[String], never: Vec<PathBuf>, bot_doc: Option<&Doc>) -> (Self, Vec<Diagnostic>) {
        let mut builder = GitignoreBuilder::new("");
        let mut found = Vec::new();
        for (n, line) in ignore.iter().enumerate() {
            if let Err(e) = builder.add_line(None, line) {
                let d = Diagnostic::error("bot::bad-value", format!("`{line}` is no ignore rule: {e}"));
                found.push(in_bot(bot_doc, d, &format!("/plugins/ignore/{n}")));
            }
        }
        let globs = builder.build().unwrap_or_else(|_| Gitignore::empty());
        (Self { globs, never }, found)
    }

    /// Whether `plugins.ignore` leaves it out; `shown` is relative to the bot folder.
    pub(super) fn ignores(&self, shown: &str, is_dir: bool) -> bool {
        let path = shown.trim_start_matches("../").trim_start_matches('/');
        !self.globs.is_empty() && self.globs.matched(path, is_dir).is_ignore()
    }

    /// Secrets, logs, data and workspace: no part of a plugin even when a glob names them.
    pub(super) fn never(&self, real: &Path) -> bool {
        real.file_name().is_some_and(|n| n == ".env") || self.never.iter().any(|n| real.starts_with(n))
    }
}

/// Attaches the place of a pointer in `bot.toml`.
pub(super) fn in_bot(doc: Option<&Doc>, diagnostic: Diagnostic, pointer: &str) -> Diagnostic {
    match doc {
        Some(doc) => doc.diag(diagnostic, pointer),
        None => diagnostic.file("bot.toml"),
    }
}

/// Further globs of a file set.
#[derive(Debug, Default)]
pub(super) struct Include {
    globs: Vec<IncludeGlob>,
}

#[derive(Debug)]
struct IncludeGlob {
    whole: GlobMatcher,
    /// One matcher per path part; `None` from the first `**` on.
    parts: Vec<Option<GlobMatcher>>,
}

impl Include {
    /// Compiles the list; the error is position and message of a glob that cannot be read.
    pub(super) fn new(list: &[String]) -> (Self, Vec<(usize, String)>) {
        let mut include = Self::default();
        let mut bad = Vec::new();
        for (n, glob) in list.iter().enumerate() {
            match IncludeGlob::new(glob.trim_start_matches("./")) {
                Ok(glob) => include.globs.push(glob),
                Err(e) => bad.push((n, format!("`{glob}` is no glob: {}", e.kind()))),
            }
        }
        (include, bad)
    }

    /// Whether a file belongs to it.
    pub(super) fn has(&self, rel: &str) -> bool {
        self.globs.iter().any(|g| g.whole.is_match(rel))
    }

    /// Whether a file below this folder may belong to it.
    pub(super) fn reaches_into(&self, rel: &str) -> bool {
        self.globs.iter().any(|g| {
            for (n, name) in rel.split('/').enumerate() {
                match g.parts.get(n) {
                    Some(None) => return true,
                    Some(Some(part)) if part.is_match(name) => {}
                    _ => return false,
                }
            }
            g.parts.len() > rel.split('/').count()
        })
    }
}

impl IncludeGlob {
    fn new(glob: &str) -> Result<Self, globset::Error> {
        let compile = |text: &str| GlobBuilder::new(text).literal_separator(true).build().map(|g| g.compile_matcher());
        let whole = compile(glob)?;
        let mut parts = Vec::new();
        for part in glob.split('/') {
            if part.contains("**") || part.contains(['{', '}', '[', ']']) {
                parts.push(None);
                break;
            }
            parts.push(Some(compile(part)?));
        }
        Ok(Self { whole, parts })
    }
}
