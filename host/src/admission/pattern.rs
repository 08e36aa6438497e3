//! Names and globs over qualified names, as keys of `tools.override` are.

use globset::{Glob, GlobMatcher};

/// A key: an exact name, or a glob.
#[derive(Debug, Clone)]
pub struct NamePattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl NamePattern {
    /// A text with one of `* ? [ {` is a glob; one that does not compile fits only itself.
    pub fn new(text: &str) -> Self {
        let glob = text.contains(['*', '?', '[', '{']).then(|| Glob::new(text).ok()).flatten();
        Self { text: text.to_string(), glob: glob.map(|g| g.compile_matcher()) }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is no glob.
    pub fn is_exact(&self) -> bool {
        self.glob.is_none()
    }

    /// Whether it fits a name.
    pub fn fits(&self, name: &str) -> bool {
        match &self.glob {
            Some(g) => g.is_match(name),
            None => self.text == name,
        }
    }
}

/// The pattern that decides for a name: an exact one, else the longest glob (ties: byte order).
pub(super) fn best<'a, T>(patterns: &'a [(NamePattern, T)], names: &[String]) -> Option<(&'a NamePattern, &'a T)> {
    patterns
        .iter()
        .filter(|(p, _)| fits_any(p, names))
        .max_by(|(a, _), (b, _)| {
            let key = |p: &NamePattern| (p.is_exact(), p.text.chars().count());
            key(a).cmp(&key(b)).then_with(|| b.text.cmp(&a.text))
        })
        .map(|(p, t)| (p, t))
}

/// Exact patterns take the qualified name or an alias, globs the qualified name (the first) only.
pub(super) fn fits_any(pattern: &NamePattern, names: &[String]) -> bool {
    match pattern.is_exact() {
        true => names.iter().any(|n| pattern.fits(n)),
        false => names.first().is_some_and(|n| pattern.fits(n)),
    }
}
