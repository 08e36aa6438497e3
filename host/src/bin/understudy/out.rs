//! How results leave the process: one JSON object or text on stdout, diagnostics on stderr, an exit code.

use crate::shapes;
use crate::signals::Caught;
use host::config::render;
use plugin_sdk::{Diagnostic, Severity};
use serde_json::{Map, Value};
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Done.
pub(crate) const OK: u8 = 0;
/// Refused or failed.
pub(crate) const REFUSED: u8 = 1;
/// Wrong usage.
pub(crate) const USAGE: u8 = 2;
/// No running host.
pub(crate) const NO_HOST: u8 = 3;
/// Token or role refused.
pub(crate) const FORBIDDEN: u8 = 4;
/// Timed out.
pub(crate) const TIMEOUT: u8 = 5;
/// The turn did not complete.
pub(crate) const INCOMPLETE: u8 = 6;
/// Needs approval and nobody to ask.
pub(crate) const NEEDS_APPROVAL: u8 = 7;
/// Internal error.
pub(crate) const INTERNAL: u8 = 70;

/// Why a command ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: u8,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    fn with(exit: u8, code: &str, message: impl Into<String>) -> Self {
        Self { exit, diagnostics: vec![Diagnostic::error(code, message)] }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::with(USAGE, "cli::usage", message)
    }

    pub(crate) fn usage_with(message: impl Into<String>, help: impl Into<String>) -> Self {
        let help: String = help.into();
        let found = Diagnostic::error("cli::usage", message);
        let found = if help.is_empty() { found } else { found.help(help) };
        Self { exit: USAGE, diagnostics: vec![found] }
    }

    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::with(REFUSED, "cli::failed", message)
    }

    pub(crate) fn no_host(message: impl Into<String>) -> Self {
        Self::with(NO_HOST, "cli::no-host", message)
    }

    pub(crate) fn not_running(data_dir: &Path) -> Self {
        let message = format!("not running: no host uses the data folder {}", data_dir.display());
        let found = Diagnostic::error("cli::no-host", message).help("start one with `understudy run DIR`");
        Self { exit: NO_HOST, diagnostics: vec![found] }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::with(FORBIDDEN, "cli::forbidden", message)
    }

    pub(crate) fn protocol(message: impl Into<String>) -> Self {
        Self::with(REFUSED, "cli::protocol", message)
    }

    pub(crate) fn timeout(message: impl Into<String>) -> Self {
        Self::with(TIMEOUT, "cli::timeout", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::with(INTERNAL, "cli::internal", message)
    }

    pub(crate) fn interrupted(by: Caught) -> Self {
        Self::with(by.exit(), "cli::failed", "interrupted by a signal")
    }

    pub(crate) fn diagnostics(exit: u8, diagnostics: Vec<Diagnostic>) -> Self {
        Self { exit, diagnostics }
    }
}

/// The output side of one command.
pub(crate) struct Out {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Out {
    pub(crate) fn color(&self, stream_is_terminal: bool) -> bool {
        stream_is_terminal && !host::config::no_color()
    }

    /// Prints the result; the exit code is 0, or 1 with an error among the diagnostics.
    pub(crate) fn finish(
        &self,
        command: &str,
        body: Value,
        diagnostics: &[Diagnostic],
        text: &str,
    ) -> Result<u8, Failure> {
        let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
        self.finish_with(command, body, diagnostics, text, if failed { REFUSED } else { OK })
    }

    /// Prints the result with a given exit code.
    pub(crate) fn finish_with(
        &self,
        command: &str,
        body: Value,
        diagnostics: &[Diagnostic],
        text: &str,
        exit: u8,
    ) -> Result<u8, Failure> {
        if self.json {
            self.stdout(&format!("{}\n", envelope(command, exit == OK, diagnostics, body)))?;
        } else {
            self.report(diagnostics);
            self.stdout(text)?;
        }
        Ok(exit)
    }

    /// Shows diagnostics on stderr.
    pub(crate) fn report(&self, diagnostics: &[Diagnostic]) {
        if !diagnostics.is_empty() {
            let text = render::human(diagnostics, self.color(std::io::stderr().is_terminal()));
            self.stderr(&text);
        }
    }

    /// A progress or side line on stderr.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.stderr(&format!("{text}\n"));
        }
    }

    /// A line on stderr that belongs to the result.
    pub(crate) fn say(&self, text: &str) {
        self.stderr(&format!("{}\n", crate::show::clean(text)));
    }

    /// Draws the progress line anew on a terminal, else writes it as a line of its own.
    pub(crate) fn redraw(&self, line: &str, terminal: bool) {
        if terminal { self.stderr(&format!("\r\x1b[2K{line}")) } else { self.stderr(&format!("{line}\n")) }
    }

    fn stderr(&self, text: &str) {
        // Nobody reads a closed stderr; the result on stdout still counts.
        drop(std::io::stderr().lock().write_all(text.as_bytes()));
    }

    pub(crate) fn stdout(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            // `understudy list | head` is no error.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => Err(Failure::refused(format!("standard output: {e}"))),
        }
    }

    /// Reports a failure and gives its exit code.
    pub(crate) fn fail(&self, command: &str, failure: &Failure) -> u8 {
        if self.json {
            let body = shapes::nothing(command);
            drop(self.stdout(&format!("{}\n", envelope(command, false, &failure.diagnostics, body))));
        } else {
            self.report(&failure.diagnostics);
        }
        failure.exit
    }
}

/// `{schema, ok, diagnostics, …body}`.
pub(crate) fn envelope(command: &str, ok: bool, diagnostics: &[Diagnostic], body: Value) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), Value::String(format!("understudy.{command}/1")));
    map.insert("ok".into(), Value::Bool(ok));
    map.insert("diagnostics".into(), serde_json::to_value(diagnostics).unwrap_or_default());
    if let Value::Object(body) = body {
        map.extend(body);
    }
    Value::Object(map)
}
