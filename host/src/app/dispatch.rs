//! The one command path: the local socket and the in-process host both end here.

use super::subject::SubjectArgs;
use crate::admission::{Facts, answered};
use crate::commands::{self, LIST_KINDS, NameFault, View};
use crate::index::NameError;
use crate::ingress::{self, AskOrder, CallOrder, Desk};
use crate::reload::{Outcome, ReloadHandle, ReloadOptions, Trigger};
use plugin_sdk::{Diagnostic, OwnerPath, ToolError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Exit codes of the contract.
mod exit {
    pub(super) const OK: u8 = 0;
    pub(super) const REFUSED: u8 = 1;
    pub(super) const USAGE: u8 = 2;
    pub(super) const TIMEOUT: u8 = 5;
    pub(super) const INCOMPLETE: u8 = 6;
    pub(super) const NEEDS_APPROVAL: u8 = 7;
    pub(super) const INTERNAL: u8 = 70;
}

/// `{schema, ok, diagnostics, …}`.
pub(super) fn envelope(command: &str, ok: bool, diagnostics: &[Diagnostic], body: Value) -> Value {
    let mut map = Map::new();
    map.insert("schema".into(), json!(format!("understudy.{command}/1")));
    map.insert("ok".into(), json!(ok));
    map.insert("diagnostics".into(), serde_json::to_value(diagnostics).unwrap_or_default());
    if let Value::Object(body) = body {
        map.extend(body);
    }
    Value::Object(map)
}

/// How a command ends.
struct Answer {
    exit: u8,
    body: Value,
    diagnostics: Vec<Diagnostic>,
}

impl Answer {
    fn ok(body: Value) -> Self {
        Self { exit: exit::OK, body, diagnostics: Vec::new() }
    }

    fn usage(message: impl Into<String>) -> Self {
        Self { exit: exit::USAGE, body: json!({}), diagnostics: vec![Diagnostic::error("cli::usage", message)] }
    }
}

/// Runs a command: exit code and whole body.
pub(super) async fn dispatch(desk: &Arc<Desk>, reload: &ReloadHandle, command: &str, args: Value) -> (u8, Value) {
    let answer = match command {
        "list" => list(desk, args),
        "explain" => explain(desk, args),
        "inventory" => inventory(desk, args),
        "call" => call(desk, args).await,
        "ask" => ask(desk, args).await,
        "reload" => self::reload(reload, args).await,
        "generations" => generations(desk, reload, args).await,
        "status" => Answer::ok(desk.overview.status().await),
        other => Answer::usage(format!("there is no command `{other}`")),
    };
    let mut body = envelope(command, answer.exit == exit::OK, &answer.diagnostics, answer.body);
    desk.core.redactor.redact_value(&mut body);
    (answer.exit, body)
}

fn read<T: DeserializeOwned>(args: Value) -> Result<T, Answer> {
    serde_json::from_value(args).map_err(|e| Answer::usage(e.to_string()))
}

/// The person something is done for, if that person is answered at all.
fn let_in(desk: &Desk, subject: Option<SubjectArgs>) -> Result<Facts, Answer> {
    let policy = desk.policy.read();
    let facts = subject.unwrap_or_default().facts(&policy).map_err(Answer::usage)?;
    match answered(&facts, &policy) {
        Ok(()) => Ok(facts),
        Err(denial) => {
            let message = format!("{} is not let in: {}", facts.principal.id(), denial.detail);
            let fault =
                Diagnostic::error(denial.reason, message).help("change `[access]` in bot.toml, or leave out --as");
            Err(Answer { exit: exit::REFUSED, body: json!({}), diagnostics: vec![fault] })
        }
    }
}

/// Runs `f` with a view of a fresh lease.
fn view<T>(desk: &Desk, f: impl FnOnce(&View<'_>) -> T) -> T {
    let lease = desk.publisher.lease();
    let contents = lease.contents();
    let policy = desk.policy.read();
    let texts = desk.texts(&contents.bot);
    f(&View {
        indexes: &contents.indexes,
        plugins: &contents.plugins,
        generation: desk.live.then(|| lease.number()),
        policy: &policy,
        texts: &texts,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    kind: String,
    #[serde(default)]
    subject: Option<SubjectArgs>,
    #[serde(default)]
    schema: bool,
}

fn list(desk: &Desk, args: Value) -> Answer {
    let args: ListArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    if !LIST_KINDS.contains(&args.kind.as_str()) {
        return Answer::usage(format!("unknown kind `{}`; kinds are {}", args.kind, LIST_KINDS.join(", ")));
    }
    let subject = args.subject.filter(SubjectArgs::is_given);
    let facts = match subject.map(|s| s.facts(&desk.policy.read())).transpose() {
        Ok(facts) => facts,
        Err(message) => return Answer::usage(message),
    };
    Answer::ok(view(desk, |v| commands::list(v, &args.kind, facts.as_ref(), args.schema)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InventoryArgs {
    /// `None` = the active one.
    generation: Option<u64>,
}

/// One side of a `diff`.
fn inventory(desk: &Desk, args: Value) -> Answer {
    let args: InventoryArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    let active = desk.publisher.published().active.number();
    let number = args.generation.unwrap_or(active);
    let Some(generation) = desk.publisher.living(number) else {
        let alive: Vec<String> = desk
            .publisher
            .list()
            .iter()
            .filter(|g| desk.publisher.living(g.number).is_some())
            .map(|g| g.number.to_string())
            .collect();
        let fault = Diagnostic::error("cli::no-generation", format!("generation {number} is no longer here"))
            .help(format!("still here: {}; its files are on disk at most as `disk`", alive.join(", ")));
        return Answer { exit: exit::REFUSED, body: json!({}), diagnostics: vec![fault] };
    };
    let contents = generation.contents();
    let view = View {
        indexes: &contents.indexes,
        plugins: &contents.plugins,
        generation: desk.live.then_some(number),
        policy: &desk.policy.read(),
        texts: &desk.texts(&contents.bot),
    };
    Answer::ok(commands::inventory(&view, &contents.bot))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainArgs {
    tool: String,
    #[serde(default)]
    subject: Option<SubjectArgs>,
}

fn explain(desk: &Desk, args: Value) -> Answer {
    let args: ExplainArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    let facts = match args.subject.unwrap_or_default().facts(&desk.policy.read()) {
        Ok(facts) => facts,
        Err(message) => return Answer::usage(message),
    };
    view(desk, |v| match commands::explain(v, &args.tool, &facts) {
        Ok(found) => {
            let exit = if found.admitted() { exit::OK } else { exit::REFUSED };
            Answer { exit, body: found.to_json(), diagnostics: Vec::new() }
        }
        Err(fault) => Answer { diagnostics: vec![name_diagnostic(&fault)], ..Answer::usage("") },
    })
}

fn name_diagnostic(fault: &NameFault) -> Diagnostic {
    let code = match fault {
        NameFault::Unknown { .. } => "cli::unknown-name",
        NameFault::Ambiguous { .. } => "cli::ambiguous-name",
    };
    Diagnostic::error(code, fault.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskArgs {
    text: String,
    #[serde(default)]
    subject: Option<SubjectArgs>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    approve: Vec<String>,
    #[serde(default)]
    timeout: Option<f64>,
}

fn seconds(value: Option<f64>) -> Result<Option<Duration>, Answer> {
    value
        .map(|s| Duration::try_from_secs_f64(s).ok().filter(|d| !d.is_zero()))
        .map(|d| d.ok_or_else(|| Answer::usage("--timeout takes a number of seconds above 0")))
        .transpose()
}

async fn ask(desk: &Arc<Desk>, args: Value) -> Answer {
    let (args, timeout) = match read::<AskArgs>(args).and_then(|a| Ok((seconds(a.timeout)?, a))) {
        Ok((timeout, args)) => (args, timeout),
        Err(answer) => return answer,
    };
    let facts = match let_in(desk, args.subject) {
        Ok(facts) => facts,
        Err(answer) => return answer,
    };
    if let Some(command) = ingress::command_in(desk, &args.text) {
        let message = format!("`{command}` is a chat command, and `ask` only asks the model");
        let fault = Diagnostic::error("cli::usage", message).help("`understudy chat --once TEXT` runs chat commands");
        return Answer { diagnostics: vec![fault], ..Answer::usage("") };
    }
    let order = AskOrder { text: args.text, facts, session: args.session, approve: args.approve, timeout };
    let answer = ingress::ask(desk, order).await;
    let report = &answer.report;
    let exit = match report.outcome {
        _ if answer.timed_out => exit::TIMEOUT,
        _ if answer.missed_approval => exit::NEEDS_APPROVAL,
        crate::turn::TurnOutcome::Completed => exit::OK,
        _ => exit::INCOMPLETE,
    };
    let body = json!({
        "turn_id": report.turn_id, "session_id": report.session_id, "generation": report.generation,
        "outcome": report.outcome.as_str(), "detail": report.outcome.detail(), "text": report.text,
        "segments": report.segments, "model": report.model, "tool_calls": report.tool_calls,
        "questions": report.questions,
        "usage": {
            "input_tokens": report.usage.input, "output_tokens": report.usage.output,
            "cached_tokens": report.usage.cached_read, "cost_usd": report.usage.cost_usd,
        },
        "duration_ms": report.duration_ms,
    });
    let overdue = timeout.filter(|_| answer.timed_out).map(|limit| overdue(limit, answer.waited));
    Answer { exit, body, diagnostics: overdue.into_iter().collect() }
}

/// The time of an `ask` was over.
fn overdue(limit: Duration, waited: bool) -> Diagnostic {
    let seconds = limit.as_secs_f64();
    Diagnostic::error(
        "cli::timeout",
        match waited {
            true => format!("after {seconds} s the message still waited for the turns before it; nothing ran"),
            false => format!("the turn was stopped after {seconds} s"),
        },
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallArgs {
    tool: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    subject: Option<SubjectArgs>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    approve: bool,
}

async fn call(desk: &Arc<Desk>, args: Value) -> Answer {
    let args: CallArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    let facts = match let_in(desk, args.subject) {
        Ok(facts) => facts,
        Err(answer) => return answer,
    };
    let order = CallOrder { tool: args.tool, input: args.input, facts, session: args.session, approve: args.approve };
    match ingress::call(desk, order).await {
        Ok((answer, missed)) => called(desk, &answer, missed),
        Err(NameError::Ambiguous { name, qualified }) => {
            let fault = NameFault::Ambiguous { name, qualified };
            Answer { diagnostics: vec![name_diagnostic(&fault)], ..Answer::usage("") }
        }
        Err(NameError::Unknown(e)) => {
            let fault = NameFault::Unknown { kind: "tool", name: e.name, nearest: e.nearest };
            Answer { diagnostics: vec![name_diagnostic(&fault)], ..Answer::usage("") }
        }
    }
}

fn called(desk: &Desk, answer: &ingress::CallAnswer, missed: bool) -> Answer {
    let result = &answer.result;
    let status = match (&answer.record, missed) {
        (_, true) => "needs_approval",
        (Some(record), _) => record.status.as_str(),
        (None, _) if result.is_error => "failed",
        (None, _) => "completed",
    };
    let exit = match status {
        "completed" => exit::OK,
        "needs_approval" => exit::NEEDS_APPROVAL,
        _ => exit::REFUSED,
    };
    let found = result.error.as_ref().and_then(|e| e.details.get("violations")?.as_array());
    let violations: Vec<Value> =
        found.into_iter().flatten().map(|v| json!({"path": v["path"], "message": v["message"]})).collect();
    let elapsed = result.stats.get("elapsed_ms").and_then(Value::as_f64).unwrap_or_default();
    let body = json!({
        "tool": answer.tool, "owner": answer.owner, "generation": desk.live.then_some(answer.generation),
        "status": status, "text": result.model_content(), "data": result.data,
        "error": result.error.as_ref().map(error_json), "violations": violations, "artifact": result.artifact,
        "duration_ms": elapsed,
    });
    Answer { exit, body, diagnostics: Vec::new() }
}

fn error_json(e: &ToolError) -> Value {
    json!({"code": e.code, "message": e.message, "help": e.help, "retryable": e.retryable, "details": e.details})
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReloadArgs {
    owners: Vec<String>,
    full: bool,
    force: bool,
    no_wait: bool,
    requested_by: Option<String>,
}

async fn reload(handle: &ReloadHandle, args: Value) -> Answer {
    let args: ReloadArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    let options = ReloadOptions {
        owners: args.owners.iter().map(|o| OwnerPath::new(o)).collect(),
        full: args.full,
        force: args.force,
        requested_by: args.requested_by,
    };
    let refused = |e: crate::reload::ReloadError| Answer {
        exit: exit::INTERNAL,
        body: json!({"record": null}),
        diagnostics: vec![Diagnostic::error("cli::failed", e.to_string())],
    };
    if args.no_wait {
        return handle.poke(Trigger::Command, options).map_or_else(refused, |()| Answer::ok(json!({"record": null})));
    }
    let record = match handle.request(Trigger::Command, options).await {
        Ok(record) => record,
        Err(e) => return refused(e),
    };
    let exit = if record.outcome == Outcome::Rejected { exit::REFUSED } else { exit::OK };
    Answer { exit, diagnostics: record.diagnostics.clone(), body: json!({"record": *record}) }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct GenerationsArgs {
    records: bool,
}

async fn generations(desk: &Desk, handle: &ReloadHandle, args: Value) -> Answer {
    let args: GenerationsArgs = match read(args) {
        Ok(args) => args,
        Err(answer) => return answer,
    };
    let active = desk.publisher.published().active.number();
    let mut body = json!({"active": active, "items": desk.publisher.list()});
    if args.records
        && let Value::Object(map) = &mut body
    {
        match handle.records(200).await {
            Ok(records) => map.insert("records".into(), json!(records)),
            Err(e) => {
                let fault = Diagnostic::error("cli::failed", e.to_string());
                return Answer { exit: exit::REFUSED, body, diagnostics: vec![fault] };
            }
        };
    }
    Answer::ok(body)
}
