//! What the host tells an author or admin about a fault: code, place, message and help.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad a finding is. Only `Error` refuses a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Refuses the candidate, or that item at the start of the process.
    Error,
    /// Shown, never refuses.
    Warning,
    /// Shown for completeness.
    Info,
}

/// A place in a text: lines and columns count from 1, columns in Unicode scalars, the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

/// A second place that belongs to a diagnostic, such as the other of two equal names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Related {
    /// Path relative to the bot folder, with `/`.
    pub file: String,
    /// Line from 1, if the place is in a line.
    pub line: Option<u32>,
    /// Column from 1.
    pub column: Option<u32>,
    /// What this place has to do with it.
    pub message: String,
}

/// One finding. Every field is present in JSON; absent values are `null`.
// SHAPE: 08 §2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Diagnostic {
    /// Stable code, `group::name`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// Owner path of the plugin it is about (`.` is the root).
    pub owner: Option<String>,
    /// The item, e.g. `tool get-weather`.
    pub item: Option<String>,
    /// Path relative to the bot folder, with `/`.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
    /// Column from 1, in Unicode scalars.
    pub column: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Column after the last character.
    pub end_column: Option<u32>,
    /// One sentence, lower case, what is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Further places.
    pub related: Vec<Related>,
    /// The text of line `line`, for display only; values of secret keys are already masked.
    #[serde(skip)]
    pub source_line: Option<String>,
}

impl Diagnostic {
    fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity,
            owner: None,
            item: None,
            file: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            message: message.into(),
            help: None,
            related: Vec::new(),
            source_line: None,
        }
    }

    /// A finding that refuses.
    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A finding that is shown and never refuses.
    pub fn warning(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A remark.
    pub fn info(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Info, code, message)
    }

    /// Sets the owner path.
    #[must_use]
    pub fn owner(mut self, owner: impl fmt::Display) -> Self {
        self.owner = Some(owner.to_string());
        self
    }

    /// Sets the item, written as `KIND NAME`.
    #[must_use]
    pub fn item(mut self, item: impl Into<String>) -> Self {
        self.item = Some(item.into());
        self
    }

    /// Sets the file without a line.
    #[must_use]
    pub fn file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Sets the place inside the file.
    #[must_use]
    pub fn span(mut self, span: Span) -> Self {
        self.line = Some(span.line);
        self.column = Some(span.column);
        self.end_line = Some(span.end_line);
        self.end_column = Some(span.end_column);
        self
    }

    /// Sets the help sentence.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn related(mut self, file: impl Into<String>, span: Option<Span>, message: impl Into<String>) -> Self {
        self.related.push(Related {
            file: file.into(),
            line: span.map(|s| s.line),
            column: span.map(|s| s.column),
            message: message.into(),
        });
        self
    }

    /// Whether it refuses.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The order of every report: path, line, column, code.
    pub fn sort_key(&self) -> (&str, u32, u32, &str, &str) {
        (
            self.file.as_deref().unwrap_or(""),
            self.line.unwrap_or(0),
            self.column.unwrap_or(0),
            &self.code,
            &self.message,
        )
    }
}

/// Faults that refuse a call: a list that is never empty, printed one per line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// `None` when the list has no entry.
    pub fn new(list: Vec<Diagnostic>) -> Option<Self> {
        if list.is_empty() { None } else { Some(Self(list)) }
    }

    /// The findings.
    pub fn into_inner(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(value: Diagnostic) -> Self {
        Self(vec![value])
    }
}

impl std::ops::Deref for Diagnostics {
    type Target = [Diagnostic];
    fn deref(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {}", d.code, d.message)?;
            if let Some(file) = &d.file {
                write!(f, " ({file}")?;
                if let (Some(l), Some(c)) = (d.line, d.column) {
                    write!(f, ":{l}:{c}")?;
                }
                write!(f, ")")?;
            }
        }
        Ok(())
    }
}
