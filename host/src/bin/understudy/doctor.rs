//! `doctor`: one line per check, and what to do about it.

use crate::cli::Doctor;
use crate::out::{Failure, OK, REFUSED};
use crate::place::{Setting, usable};
use crate::progress::{Step, during};
use crate::show::clean;
use host::app::{self, DoctorOptions, Health};
use serde_json::json;

pub(crate) async fn run(args: &Doctor, setting: &Setting) -> Result<u8, Failure> {
    usable(&args.dir, false)?;
    let work = app::doctor(DoctorOptions {
        bot_dir: args.dir.clone(),
        data_dir: setting.data_dir.clone(),
        env: setting.env.clone(),
        clock: setting.clock.clone(),
        online: args.online,
    });
    let checks = during(&setting.out, &setting.clock, Step::only("looking"), work).await;
    let checks = checks.map_err(|e| Failure::usage(e.to_string()))?;
    let exit = if checks.iter().any(|c| c.status == "fail") { REFUSED } else { OK };
    let text: String = checks.iter().map(line).collect();
    setting.out.finish_with("doctor", json!({"checks": checks}), &[], &text, exit)
}

fn line(check: &Health) -> String {
    let help = check.help.as_ref().map(|h| format!("      help: {}\n", clean(h))).unwrap_or_default();
    format!("{}  {}: {}\n{help}", check.status, check.id, clean(&check.message))
}
