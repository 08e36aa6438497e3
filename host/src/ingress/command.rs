//! Chat commands: the built-in ones, and a plugin's word that calls its tool.

use super::agent::Chosen;
use super::answer::{Said, with_view};
use super::approvals;
use super::arrive::Arrived;
use super::desk::Desk;
use super::direct::{NamedCall, by_name};
use super::turn_context::Way;
use crate::admission::{Declared, can_access_tool};
use crate::commands;
use crate::config::{BotConfig, Texts};
use crate::generation::Lease;
use crate::index::{CommandEntry, CommandInput};
use crate::loader::ArgumentKind;
use crate::route::{ArgumentFault, Builtin, read_arguments};
use crate::session::{Place, StopCause};
use crate::store::StoreError;
use crate::turn::{self, Compacted, Stop};
use plugin_sdk::{Approval, CancellationSignal, Role, Scope};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// A command of the control lane: at once, outside the queue, never by the model.
pub(super) async fn control(desk: &Arc<Desk>, arrived: &Arrived, builtin: Builtin, args: &str) -> Said {
    let lease = desk.publisher.lease();
    if builtin == Builtin::Stop {
        return stop(desk, arrived, &lease);
    }
    self::builtin(desk, (arrived, None), &lease, builtin, args).await
}

/// Whether this person may end what runs here: its own turn, or any as a trusted person.
pub(super) fn may_stop(desk: &Desk, arrived: &Arrived) -> bool {
    let trusted = arrived.who.facts.principal.role.is_some_and(|r| r.reaches(Role::Trusted));
    let runner = desk.talk.lanes.runner(&arrived.who.session);
    trusted || runner.is_none_or(|runner| runner == arrived.place_holder())
}

fn stop(desk: &Desk, arrived: &Arrived, lease: &Lease) -> Said {
    let texts = desk.texts(&lease.contents().bot);
    if !may_stop(desk, arrived) {
        return Said::notice(texts.get("stop-not-yours", &[]));
    }
    let stopped = desk.talk.lanes.stop(&arrived.who.session, StopCause::Person);
    // The turn itself says "Stopped."; only an idle session needs a sentence here.
    if stopped.running { Said::notice(String::new()) } else { Said::notice(texts.get("stop-idle", &[])) }
}

/// A built-in command in the leased generation.
pub(super) async fn builtin(
    desk: &Arc<Desk>,
    (arrived, place): (&Arrived, Option<&Arc<Place>>),
    lease: &Lease,
    builtin: Builtin,
    args: &str,
) -> Said {
    let facts = &arrived.who.facts;
    let bot = &lease.contents().bot;
    let texts = desk.texts(bot);
    match builtin {
        Builtin::Help => Said::answer(with_view(desk, lease, |v| commands::help(v, facts))),
        Builtin::Start => {
            let name = desk.bot_name(bot);
            let greeting = bot.bot.greeting.as_deref();
            Said::answer(with_view(desk, lease, |v| commands::start(v, facts, &name, greeting)))
        }
        // A retry that is a turn was taken out of the queue's way before: ingress knows the message.
        Builtin::Retry => Said::notice(texts.get("retry-none", &[])),
        Builtin::New => new_session(desk, arrived, lease).await,
        Builtin::Compact => compact(desk, (arrived, place), lease).await,
        Builtin::Stop => stop(desk, arrived, lease),
        Builtin::Tools | Builtin::Skills => {
            let loaded = desk.talk.sessions.loaded(&arrived.who.session).await.unwrap_or_default();
            let tools: Vec<String> = loaded.tools.iter().map(|t| t.qualified_name.clone()).collect();
            let skills: Vec<String> = loaded.skills.iter().map(|s| s.qualified_name.clone()).collect();
            Said::answer(with_view(desk, lease, |v| match builtin {
                Builtin::Tools => commands::tools(v, facts, &tools),
                _ => commands::skills(v, facts, &skills),
            }))
        }
        Builtin::Why => Said::answer(with_view(desk, lease, |v| commands::why(v, args, facts))),
        Builtin::Approvals => approvals::command(desk, arrived, &texts, args).await,
        Builtin::Status => {
            let status = desk.overview.status().await;
            Said::answer(with_view(desk, lease, |v| commands::status_text(v, &status, facts)))
        }
        masters if masters.is_masters() && facts.principal.role != Some(Role::Master) => {
            Said::notice(texts.get("command-denied", &[("name", masters.word())]))
        }
        Builtin::Usage => used(desk, arrived, bot, &texts).await,
        Builtin::Pair => pair(desk, arrived, args, &texts).await,
        Builtin::Reload => match desk.reload.request("chat", Some(facts.principal.id())).await {
            Ok(record) => Said::answer(commands::reloaded(&texts, &record)),
            Err(e) => Said::notice(e.message),
        },
    }
}

/// `/usage`: the person's own, masters also the whole.
async fn used(desk: &Desk, arrived: &Arrived, bot: &BotConfig, texts: &Texts) -> Said {
    let (ledger, who) = (&desk.talk.ledger, arrived.place_holder());
    let master = arrived.who.facts.principal.role == Some(Role::Master);
    let read = async {
        let (today, month) = (ledger.today(&who).await?, ledger.over(&who, 30).await?);
        let all = if master { Some(ledger.cost_today().await?) } else { None };
        Ok::<_, StoreError>(commands::Used { today, month, all })
    };
    match read.await {
        Ok(used) => Said::answer(commands::usage_text(texts, &used, &bot.limits)),
        Err(error) => {
            tracing::error!(%error, "what was used cannot be read");
            Said::notice(texts.get("store-degraded", &[]))
        }
    }
}

/// `/pair CODE`.
async fn pair(desk: &Desk, arrived: &Arrived, code: &str, texts: &Texts) -> Said {
    if code.is_empty() {
        return Said::notice(texts.get("command-usage", &[("usage", "/pair CODE")]));
    }
    match super::stranger::pair(desk, &arrived.who.facts.principal.id(), code).await {
        Ok(Some(id)) => Said::answer(texts.get("pair-done", &[("principal", &id)])),
        Ok(None) => Said::notice(texts.get("pair-unknown", &[])),
        Err(error) => {
            tracing::error!(%error, "a pairing was not stored");
            Said::notice(texts.get("store-degraded", &[]))
        }
    }
}

/// Whether a person may change the session for all who share it.
fn may_change_session(arrived: &Arrived) -> bool {
    let facts = &arrived.who.facts;
    let trusted = facts.principal.role.is_some_and(|r| r.reaches(Role::Trusted));
    facts.conversation.scope == Scope::Private || trusted
}

/// `/compact`: a summary takes the place of the older history.
async fn compact(desk: &Arc<Desk>, (arrived, place): (&Arrived, Option<&Arc<Place>>), lease: &Lease) -> Said {
    let texts = desk.texts(&lease.contents().bot);
    if !may_change_session(arrived) {
        return Said::notice(texts.get("command-denied", &[("name", "compact")]));
    }
    // it waits its turn like a message, so there is a place
    let Some(place) = place else { return Said::notice(String::new()) };
    let (stop, done) = (Stop::new(), CancellationSignal::new());
    super::answer::follow(desk, &stop, place, lease, &done);
    let way = Way::chat(desk, arrived, place, lease, &stop).await;
    let shown = Arc::clone(&way.shown);
    let cx = super::turn_context::build(desk, &arrived.who, lease, (way, stop), Chosen::default()).await;
    let compacted = turn::compact(&cx).await;
    done.request();
    shown.finished().await;
    Said::answer(match compacted {
        Compacted::Done => texts.get("compact-done", &[]),
        Compacted::Nothing => texts.get("compact-nothing", &[]),
        Compacted::Offline => texts.get("compact-offline", &[]),
        Compacted::Off => texts.get("compact-off", &[]),
        Compacted::Failed => texts.get("compact-failed", &[]),
    })
}

/// `/new`: stops the turn, archives the history, empties the loaded set.
async fn new_session(desk: &Desk, arrived: &Arrived, lease: &Lease) -> Said {
    let texts = desk.texts(&lease.contents().bot);
    if !may_change_session(arrived) {
        return Said::notice(texts.get("command-denied", &[("name", "new")]));
    }
    // What a turn stores after this belongs to the archived history.
    desk.talk.lanes.stop(&arrived.who.session, StopCause::Person);
    approvals::end_all(desk, &arrived.who.session, &arrived.who.facts.principal.id()).await;
    match desk.talk.sessions.reset(&arrived.who.session).await {
        Ok(_) => Said::answer(texts.get("new-started", &[])),
        Err(e) => {
            tracing::error!(error = %e, "a session was not reset");
            Said::notice(texts.get("store-degraded", &[]))
        }
    }
}

/// A slash word that nobody has.
pub(super) fn unknown(desk: &Desk, lease: &Lease, word: &str, nearest: Option<&str>) -> Said {
    let texts = desk.texts(&lease.contents().bot);
    Said::notice(match nearest {
        Some(nearest) => texts.get("command-unknown-near", &[("name", word), ("nearest", nearest)]),
        None => texts.get("command-unknown", &[("name", word)]),
    })
}

/// A plugin's command: its tool, called by name through every gate.
pub(super) async fn plugin(
    desk: &Arc<Desk>,
    arrived: &Arrived,
    lease: &Lease,
    place: &Arc<Place>,
    (n, args): (usize, String),
) -> Said {
    let texts = desk.texts(&lease.contents().bot);
    let Some(entry) = lease.contents().indexes.commands.get(n) else { return Said::notice(String::new()) };
    let refused = can_access_tool(&entry.guarded(), &arrived.who.facts, &desk.policy.read()).is_err();
    if refused {
        return Said::notice(texts.get("command-denied", &[("name", &entry.word)]));
    }
    let input = match input(entry, &args) {
        Ok(input) => input,
        Err(fault) => return Said::notice(misread(&texts, entry, &fault)),
    };
    let stop = Stop::new();
    let done = CancellationSignal::new();
    super::answer::follow(desk, &stop, place, lease, &done);
    let mut way = Way::chat(desk, arrived, place, lease, &stop).await;
    way.gates.command = asks_too(entry);
    let shown = Arc::clone(&way.shown);
    let call = NamedCall { tool: &entry.qualified, input, limit: entry.gate.timeout_seconds };
    let called = by_name(desk, &arrived.who, lease, way, &stop, call).await;
    done.request();
    shown.finished().await;
    let Some(error) = &called.result.error else { return Said::answer(called.result.model_content()) };
    match error.code.as_str() {
        "TOOL_NOT_ALLOWED" | "NOT_FOUND" => Said::notice(texts.get("command-denied", &[("name", &entry.word)])),
        "VALIDATION_ERROR" => Said::notice(format!("{}\n{}", usage(&texts, entry), error.message)),
        "CANCELLED" => Said::notice(texts.get("turn-stopped", &[])),
        "APPROVAL_REJECTED" => Said::notice(texts.get("call-not-run", &[])),
        _ => Said::notice(error.message.clone()),
    }
}

/// The rest of the line as arguments.
fn input(entry: &CommandEntry, args: &str) -> Result<Value, ArgumentFault> {
    let map = match &entry.input {
        CommandInput::Words(arguments) => read_arguments(arguments, args)?,
        CommandInput::Line(Some(argument)) if !args.is_empty() => Map::from_iter([(argument.clone(), json!(args))]),
        CommandInput::Line(_) => Map::new(),
    };
    Ok(Value::Object(map))
}

/// What the command asks for beside its tool.
fn asks_too(entry: &CommandEntry) -> Option<Declared> {
    let asks = entry.gate.asks;
    let source = || format!("requires_approval of /{}", entry.word);
    (asks != Approval::Never).then(|| Declared { approval: asks, source: source() })
}

fn usage(texts: &Texts, entry: &CommandEntry) -> String {
    let usage = format!("/{} {}", entry.word, entry.usage.as_deref().unwrap_or_default());
    texts.get("command-usage", &[("usage", usage.trim())])
}

/// What is wrong with a line, and how it is written.
fn misread(texts: &Texts, entry: &CommandEntry, fault: &ArgumentFault) -> String {
    let said = match fault {
        ArgumentFault::Missing(name) => texts.get("command-argument-missing", &[("name", name)]),
        ArgumentFault::TooMany(rest) => texts.get("command-argument-extra", &[("rest", rest)]),
        ArgumentFault::Unreadable { name, kind, word } => {
            let key = match kind {
                ArgumentKind::Bool => "command-argument-bool",
                ArgumentKind::Number => "command-argument-number",
                _ => "command-argument-int",
            };
            texts.get(key, &[("name", name), ("word", word)])
        }
    };
    format!("{said}\n{}", usage(texts, entry))
}
