//! What a command answers: the same body from a running host and from one in this process.

use crate::out::{Failure, Out};
use crate::shapes;
use plugin_sdk::Diagnostic;
use serde_json::Value;

/// Exit code and full envelope of one command.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: u8,
    pub(crate) body: Value,
}

impl Answer {
    /// Its findings.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.body.get("diagnostics").and_then(|d| serde_json::from_value(d.clone()).ok()).unwrap_or_default()
    }

    /// Adds what was left out at the start.
    pub(crate) fn with_findings(mut self, of_start: &[Diagnostic]) -> Self {
        let left_out = of_start.iter().filter(|d| d.is_error()).filter_map(|d| serde_json::to_value(d).ok());
        if let Some(Value::Array(found)) = self.body.get_mut("diagnostics") {
            found.extend(left_out);
        }
        self
    }

    /// Prints the object, or the findings and the text that `text` makes of the body; gives the exit code.
    pub(crate) fn print(
        mut self,
        command: &str,
        out: &Out,
        text: impl FnOnce(&Value) -> String,
    ) -> Result<u8, Failure> {
        if out.json {
            shapes::complete(command, &mut self.body);
            out.stdout(&format!("{}\n", self.body))?;
        } else {
            out.report(&self.diagnostics());
            out.stdout(&text(&self.body))?;
        }
        Ok(self.exit)
    }
}
