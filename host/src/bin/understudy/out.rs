//! How results leave the process: one JSON object or text on stdout, diagnostics on stderr, an exit code.

use host::config::render;
use plugin_sdk::{Diagnostic, Severity};
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Write};

/// Done.
pub const OK: u8 = 0;
/// Refused or failed.
pub const REFUSED: u8 = 1;
/// Wrong usage.
pub const USAGE: u8 = 2;
/// No running host.
pub const NO_HOST: u8 = 3;
/// Token or role refused.
pub const FORBIDDEN: u8 = 4;
/// Timed out.
pub const TIMEOUT: u8 = 5;
/// The turn did not complete.
pub const INCOMPLETE: u8 = 6;
/// Needs approval and nobody to ask.
pub const NEEDS_APPROVAL: u8 = 7;
/// Internal error.
pub const INTERNAL: u8 = 70;

/// Why a command ends early.
#[derive(Debug)]
pub struct Failure {
    pub exit: u8,
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    fn with(exit: u8, code: &str, message: impl Into<String>) -> Self {
        Self { exit, diagnostics: vec![Diagnostic::error(code, message)] }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::with(USAGE, "cli::usage", message)
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::with(REFUSED, "cli::failed", message)
    }

    pub fn no_host(message: impl Into<String>) -> Self {
        Self::with(NO_HOST, "cli::no-host", message)
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::with(FORBIDDEN, "cli::forbidden", message)
    }

    pub fn protocol(message: impl Into<String>) -> Self {
        Self::with(REFUSED, "cli::protocol", message)
    }

    pub fn timeout(message: impl Into<String>) -> Self {
        Self::with(TIMEOUT, "cli::timeout", message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::with(INTERNAL, "cli::internal", message)
    }

    pub fn diagnostics(exit: u8, diagnostics: Vec<Diagnostic>) -> Self {
        Self { exit, diagnostics }
    }
}

/// The output side of one command.
pub struct Out {
    pub json: bool,
    pub quiet: bool,
}

impl Out {
    pub fn color(&self, stream_is_terminal: bool) -> bool {
        stream_is_terminal && !host::config::no_color()
    }

    /// Prints the result; the exit code is 0, or 1 with an error among the diagnostics.
    pub fn finish(&self, command: &str, body: Value, diagnostics: &[Diagnostic], text: &str) -> Result<u8, Failure> {
        let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
        self.finish_with(command, body, diagnostics, text, if failed { REFUSED } else { OK })
    }

    /// Prints the result with a given exit code.
    pub fn finish_with(
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
    pub fn report(&self, diagnostics: &[Diagnostic]) {
        if !diagnostics.is_empty() {
            let text = render::human(diagnostics, self.color(std::io::stderr().is_terminal()));
            self.stderr(&text);
        }
    }

    /// A progress or side line on stderr.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.stderr(&format!("{text}\n"));
        }
    }

    fn stderr(&self, text: &str) {
        // Nobody reads a closed stderr; the result on stdout still counts.
        drop(std::io::stderr().lock().write_all(text.as_bytes()));
    }

    pub fn stdout(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            // `understudy list | head` is no error.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => Err(Failure::refused(format!("standard output: {e}"))),
        }
    }

    /// Reports a failure and gives its exit code.
    pub fn fail(&self, command: &str, failure: &Failure) -> u8 {
        if self.json {
            let body = json!({});
            drop(self.stdout(&format!("{}\n", envelope(command, false, &failure.diagnostics, body))));
        } else {
            self.report(&failure.diagnostics);
        }
        failure.exit
    }
}

/// `{schema, ok, diagnostics, …body}`.
pub fn envelope(command: &str, ok: bool, diagnostics: &[Diagnostic], body: Value) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), Value::String(format!("understudy.{command}/1")));
    map.insert("ok".into(), Value::Bool(ok));
    map.insert("diagnostics".into(), serde_json::to_value(diagnostics).unwrap_or_default());
    if let Value::Object(body) = body {
        map.extend(body);
    }
    Value::Object(map)
}
