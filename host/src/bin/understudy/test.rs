//! `test`: the scenario files of a bot, one line per case.

use crate::cli::Test;
use crate::out::{Failure, OK, REFUSED};
use crate::place::{Setting, usable};
use crate::progress::{Step, during};
use crate::show::{clean_lines, items, millis, word};
use host::app;
use plugin_sdk::Diagnostic;
use serde_json::Value;

pub(crate) async fn run(args: &Test, setting: &Setting) -> Result<u8, Failure> {
    usable(&args.dir, false)?;
    let work = app::test(&args.dir, args.filter.as_deref(), setting.env.clone(), setting.clock.clone());
    let report = during(&setting.out, &setting.clock, Step::only("running scenarios"), work).await;
    let report = report.map_err(|e| Failure::usage(e.to_string()))?;
    let body = report.body;
    let found = report.diagnostics;
    let failed = body["failed"].as_u64().unwrap_or(0) > 0 || found.iter().any(Diagnostic::is_error);
    let exit = if failed { REFUSED } else { OK };
    let nothing = !failed && args.filter.is_some() && body["passed"] == 0 && body["failed"] == 0;
    if nothing {
        let filter = args.filter.as_deref().unwrap_or_default();
        return Err(Failure::refused(format!("no scenario file has `{filter}` in its path")));
    }
    let text = text_of(&body);
    setting.out.finish_with("test", body, &found, &text, exit)
}

fn text_of(body: &Value) -> String {
    let mut out = String::new();
    for case in items(&body["cases"]) {
        let (status, path, name) = (word(&case["status"]), word(&case["path"]), word(&case["name"]));
        out.push_str(&format!("{status:<8} {path}  {name} ({} ms)\n", millis(&case["duration_ms"])));
        let failure = &case["failure"];
        if failure.is_object() {
            out.push_str(&format!("  step {}: {}\n", word(&failure["step"]), word(&failure["message"])));
            out.push_str(&indented("expected", &failure["expected"]));
            out.push_str(&indented("got", &failure["actual"]));
        }
    }
    let counts = ["passed", "failed", "skipped"].map(|k| format!("{} {k}", word(&body[k])));
    out.push_str(&format!("{}\n", counts.join(", ")));
    out
}

fn indented(label: &str, value: &Value) -> String {
    let text = clean_lines(&word(value));
    format!("  {label:<8}  {}\n", text.trim_end().replace('\n', "\n            "))
}
