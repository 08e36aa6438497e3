//! `check`: every finding, and one closing line.

use crate::cli::Check;
use crate::out::{Failure, OK, REFUSED};
use crate::place::{Setting, usable};
use crate::progress::{Step, during};
use crate::show::counted;
use host::app::{self, CheckOptions};
use plugin_sdk::Severity;

pub(crate) async fn run(args: &Check, setting: &Setting) -> Result<u8, Failure> {
    usable(&args.dir, false)?;
    let options = CheckOptions { bot_dir: args.dir.clone(), env: setting.env.clone(), clock: setting.clock.clone() };
    let work = app::check(options);
    let report = during(&setting.out, &setting.clock, Step::only("checking"), work).await;
    let report = report.map_err(|e| Failure::usage(e.to_string()))?;
    let count = |s: Severity| report.diagnostics.iter().filter(|d| d.severity == s).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let refused = errors > 0 || (args.deny_warnings && warnings > 0);
    let verdict = match (errors, refused) {
        (0, false) => "good",
        (0, true) => "refused: warnings are denied",
        _ => "refused",
    };
    let tools = report.body["tools"].as_array().map_or(0, Vec::len) as u64;
    let text = format!(
        "{verdict}: {}, {}, {} ({}, {})\n",
        counted(errors, "error"),
        counted(warnings, "warning"),
        counted(count(Severity::Info), "remark"),
        counted(report.body["plugins"].as_array().map_or(0, Vec::len) as u64, "plugin"),
        counted(tools, "tool"),
    );
    let exit = if refused { REFUSED } else { OK };
    setting.out.finish_with("check", report.body, &report.diagnostics, &text, exit)
}
