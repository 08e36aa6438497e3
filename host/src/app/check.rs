//! `check`: everything prepare finds, in a throw-away candidate.

use super::places::{self, DirFault};
use crate::candidate::{Candidate, OwnedTest, PrepareRequest, Rule, Workshop};
use crate::commands::{self, View, plugin_json};
use crate::config::{Env, Texts};
use crate::scenario;
use crate::task::{SharedClock, Tasks};
use plugin_sdk::{Diagnostic, Severity};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What to check.
pub struct CheckOptions {
    /// Bot folder.
    pub bot_dir: PathBuf,
    /// Variables.
    pub env: Env,
    /// Time.
    pub clock: SharedClock,
}

/// What was found.
pub struct CheckReport {
    /// Every finding, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Keys of `check --json` beside the envelope.
    pub body: Value,
}

/// Checks a bot folder. Command tools have no code that prepare would run, so nothing of a plugin runs here.
pub async fn check(options: CheckOptions) -> Result<CheckReport, DirFault> {
    let bot_dir = places::bot_dir(&options.bot_dir)?;
    let started = options.clock.monotonic();
    let tasks = Tasks::new();
    let fault = |why: String| DirFault { path: bot_dir.display().to_string(), why };
    let shop = Workshop::throw_away(
        &bot_dir,
        options.env,
        Arc::new(crate::tools::builtins),
        Arc::clone(&options.clock),
        &tasks,
    )
    .map_err(|e| fault(e.to_string()))?;
    let request = PrepareRequest { rule: Rule::Strict, ..PrepareRequest::default() };
    let verdict = shop.prepare(request).await;
    let took = || options.clock.monotonic().saturating_sub(started).as_millis();
    let report = match verdict {
        Ok(candidate) => {
            let diagnostics = with_scenarios(candidate.report.diagnostics.clone(), &candidate.tests);
            let body = passed(&candidate, &diagnostics, took());
            shop.discard(candidate).await;
            CheckReport { diagnostics, body }
        }
        Err(rejected) => {
            let diagnostics = with_scenarios(rejected.diagnostics().to_vec(), &rejected.tests);
            let plugins: Vec<Value> = rejected.plugins.iter().map(plugin_json).collect();
            let body = body(&diagnostics, json!({"plugins": plugins}), &rejected.report.digest, took());
            CheckReport { diagnostics, body }
        }
    };
    tasks.close(Duration::from_secs(1)).await;
    Ok(report)
}

/// A broken scenario stops no bot, here as in a running host: it is a warning, and a failed case of `test`.
fn with_scenarios(mut found: Vec<Diagnostic>, tests: &[OwnedTest]) -> Vec<Diagnostic> {
    for (owner, test) in tests.iter().filter(|(_, test)| test.fault.is_none()) {
        if let Err(faults) = scenario::parse(&test.path, &test.text) {
            found.extend(faults.into_iter().map(|d| Diagnostic { severity: Severity::Warning, ..d.owner(owner) }));
        }
    }
    found.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    found
}

fn count(diagnostics: &[Diagnostic], severity: Severity) -> usize {
    diagnostics.iter().filter(|d| d.severity == severity).count()
}

/// The keys in contract order; what `found` lacks is empty.
fn body(diagnostics: &[Diagnostic], found: Value, digest: &str, took: u128) -> Value {
    let part = |key: &str| found.get(key).cloned().unwrap_or(json!([]));
    json!({
        "counts": {
            "error": count(diagnostics, Severity::Error), "warning": count(diagnostics, Severity::Warning),
            "info": count(diagnostics, Severity::Info),
        },
        "plugins": part("plugins"), "tools": part("tools"), "skills": part("skills"), "agents": part("agents"),
        "sections": part("sections"), "hooks": part("hooks"), "commands": part("commands"), "mcp_servers": [],
        "digest": digest, "restart_keys": [], "duration_ms": u64::try_from(took).unwrap_or(u64::MAX),
    })
}

fn passed(candidate: &Candidate, diagnostics: &[Diagnostic], took: u128) -> Value {
    let contents = &candidate.contents;
    let texts = Texts::shared(contents.bot.bot.language);
    let policy = crate::admission::LivePolicy::new((&*contents.bot).into());
    let view = View {
        indexes: &contents.indexes,
        plugins: &contents.plugins,
        generation: None,
        policy: &policy,
        texts: &texts,
    };
    let items = |kind: &str| {
        let list = commands::list(&view, kind, None, false);
        list["items"].as_array().cloned().unwrap_or_default()
    };
    let tools: Vec<Value> = items("tools")
        .iter()
        .map(|t| {
            json!({
                "qualified": t["qualified"], "wire": t["wire"], "owner": t["owner"], "local": t["local"],
                "placement": t["placement"], "source": t["source"], "hidden": t["visibility"] == "hidden",
                "left_out": false,
            })
        })
        .collect();
    let plugins: Vec<Value> = contents.plugins.iter().map(plugin_json).collect();
    let names = |kind: &str| items(kind).iter().map(|i| i["qualified"].clone()).collect::<Vec<_>>();
    let found = json!({
        "plugins": plugins, "tools": tools, "skills": names("skills"), "sections": names("sections"),
        "agents": names("agents"), "hooks": names("hooks"), "commands": names("commands"),
    });
    body(diagnostics, found, &contents.digest, took)
}
