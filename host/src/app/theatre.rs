//! The worlds of `understudy test`: the host's own construction over a memory store and a manual clock.

mod channel;
mod stage;

use super::check::{CheckOptions, check};
use super::places::{self, DirFault};
use crate::config::{BOT_FILE, Env, LoadInput, load_bot};
use crate::loader::{ScanOptions, Scanner, TestSource};
use crate::model::ModelClient;
use crate::model::offline::Offline;
use crate::scenario::{self, ScenarioFile};
use crate::task::SharedClock;
use plugin_sdk::Diagnostic;
use serde_json::{Value, json};
use stage::Theatre;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// One file may take this long.
const FILE_LIMIT: Duration = Duration::from_secs(10);

/// What the files came to.
pub struct TestReport {
    /// Keys of `test --json` beside the envelope.
    pub body: Value,
    /// Faults of the bot that kept every file from running.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that failed.
    pub failed: usize,
}

/// A scenario file of the tree.
type Case = TestSource;

/// Runs the scenario files whose path holds `filter`.
pub async fn test(dir: &Path, filter: Option<&str>, env: Env, clock: SharedClock) -> Result<TestReport, DirFault> {
    let bot_dir = places::bot_dir(dir)?;
    // A broken tree would be played without its broken parts, and pass.
    let options = CheckOptions { bot_dir: bot_dir.clone(), env: env.clone(), clock: Arc::clone(&clock) };
    let mut diagnostics = check(options).await?.diagnostics;
    if diagnostics.iter().any(Diagnostic::is_error) {
        let body = json!({"passed": 0, "failed": 0, "skipped": 0, "cases": []});
        return Ok(TestReport { body, diagnostics, failed: 0 });
    }
    let cases = match cases(&bot_dir, &env) {
        Ok(cases) => {
            diagnostics.clear();
            cases
        }
        Err(found) => {
            diagnostics = found;
            Vec::new()
        }
    };
    let offline: Arc<dyn ModelClient> = Arc::new(Offline::new());
    let theatre = Theatre { env, limit_clock: Arc::clone(&clock) };
    let mut results = Vec::new();
    let mut skipped = 0;
    for case in cases {
        if filter.is_some_and(|f| !case.path.contains(f)) {
            skipped += 1;
            continue;
        }
        results.push(one(&case, &bot_dir, &offline, &theatre, &clock).await);
    }
    let failed = results.iter().filter(|r| r["status"] == "failed").count();
    let passed = results.len() - failed;
    let body = json!({"passed": passed, "failed": failed, "skipped": skipped, "cases": results});
    Ok(TestReport { body, diagnostics, failed })
}

/// Scenario files of the bot and its enabled plugins, by path; faults of the configuration.
fn cases(bot_dir: &Path, env: &Env) -> Result<Vec<Case>, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(bot_dir.join(BOT_FILE)).ok();
    let loaded = load_bot(LoadInput { bot_dir, text: text.as_deref(), env });
    let Some(bot) = loaded.config else { return Err(loaded.diagnostics) };
    let data_dir = bot_dir.join(&bot.bot.data_dir);
    let options = ScanOptions {
        bot_dir,
        data_dir: &data_dir,
        bot: &bot,
        bot_doc: loaded.doc.clone(),
        never: loaded.secret_sources.clone(),
        workspace_skills: None,
        full: true,
    };
    let tree = Scanner::new().scan(&options).map_err(|unstable| vec![unstable.diagnostic()])?;
    let running = tree.plugins.into_iter().filter(|p| p.enabled).flat_map(|p| p.tests);
    let mut cases: Vec<Case> = running.collect();
    cases.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(cases)
}

async fn one(
    case: &Case,
    bot_dir: &Path,
    offline: &Arc<dyn ModelClient>,
    theatre: &Theatre,
    clock: &SharedClock,
) -> Value {
    let started = clock.monotonic();
    let parsed = match &case.fault {
        Some(fault) => Err(vec![fault.clone()]),
        None => scenario::parse(&case.path, &case.text),
    };
    let (name, failure) = match parsed {
        Err(faults) => (case.path.clone(), Some(unreadable(&faults))),
        Ok(file) => (file.description.clone(), play(&file, bot_dir, offline, theatre, clock).await),
    };
    let took = clock.monotonic().saturating_sub(started).as_millis();
    json!({
        "name": name, "path": case.path, "status": if failure.is_some() { "failed" } else { "passed" },
        "duration_ms": u64::try_from(took).unwrap_or(u64::MAX), "failure": failure,
    })
}

fn unreadable(faults: &[Diagnostic]) -> Value {
    let shown: Vec<String> = faults
        .iter()
        .map(|d| format!("{}:{} {} {}", d.line.unwrap_or(0), d.column.unwrap_or(0), d.code, d.message))
        .collect();
    json!({"step": "file", "expected": "a scenario file", "actual": "it cannot be read", "message": shown.join("; ")})
}

async fn play(
    file: &ScenarioFile,
    bot_dir: &Path,
    offline: &Arc<dyn ModelClient>,
    theatre: &Theatre,
    clock: &SharedClock,
) -> Option<Value> {
    let run = scenario::run(file, bot_dir, Arc::clone(offline), theatre);
    let over = json!({"step": "file", "expected": "an end within 10 s", "actual": "none", "message": "gate::timeout"});
    tokio::select! {
        done = run => {
            let failure = done.err()?;
            Some(json!({"step": failure.step, "expected": failure.expected, "actual": failure.actual,
                "message": failure.message}))
        }
        () = clock.sleep(FILE_LIMIT) => Some(over),
    }
}

/// Copies a bot folder without its data, hidden files and dependency folders.
fn copy_tree(from: &Path, to: &Path, skip: &[PathBuf]) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_string_lossy().starts_with('.');
        if hidden || name == "node_modules" || name == "target" || skip.contains(&path) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&path, &to.join(name), skip)?;
        } else if kind.is_file() {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
