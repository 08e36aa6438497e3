//! Calls without a channel: one question, one tool. The same gates, the same turn.

use super::about::About;
use super::agent;
use super::answer::follow;
use super::approve::Beforehand;
use super::arrive::Who;
use super::desk::Desk;
use super::masters;
use super::show::Shown;
use super::turn_context::{self, Way, call_ports, fresh_turn, workspace};
use crate::admission::Facts;
use crate::exec::{CallRecord, Countdown, Offered, Refused, TurnPorts};
use crate::generation::Lease;
use crate::index::{NameError, ToolIndex};
use crate::route::Route;
use crate::session::{LaneError, Place, SessionError, SessionKey, Ticket};
use crate::turn::{self, CancelledBy, Stop, TurnOutcome, TurnReport};
use plugin_sdk::{
    Addressed, CancellationSignal, Message, Origin, OriginKind, Segment, ToolExecutionContext, ToolResult, ToolUse,
};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One question.
pub struct AskOrder {
    /// The message.
    pub text: String,
    /// Who asks, where.
    pub facts: Facts,
    /// A session to keep; a fresh one that is removed otherwise.
    pub session: Option<String>,
    /// Tools whose question is answered yes.
    pub approve: Vec<String>,
    /// Ends the turn.
    pub timeout: Option<Duration>,
}

/// Its answer.
pub struct AskAnswer {
    /// The turn.
    pub report: TurnReport,
    /// A tool asked that was not allowed beforehand.
    pub missed_approval: bool,
    /// The time was over.
    pub timed_out: bool,
    /// It was over before the turn had its place: nothing ran.
    pub waited: bool,
}

/// One call.
pub struct CallOrder {
    /// Name, as the caller writes it.
    pub tool: String,
    /// Arguments.
    pub input: Value,
    /// Who calls, where.
    pub facts: Facts,
    /// A session to keep.
    pub session: Option<String>,
    /// Answers its question yes.
    pub approve: bool,
}

/// Its result.
pub struct CallAnswer {
    /// Qualified name.
    pub tool: String,
    /// Owner.
    pub owner: String,
    /// Generation that ran it.
    pub generation: u64,
    /// The result.
    pub result: ToolResult,
    /// How it ended.
    pub record: Option<CallRecord>,
}

/// Where the sessions of direct calls are.
const DIRECT: &str = "console/ask/private/";
/// What the scene of a fresh one begins with.
const ONCE: &str = "once-";

/// The session of a direct call: named ones are kept, others are fresh.
fn session_of(name: Option<&str>) -> (SessionKey, bool) {
    let scene = name.map_or_else(|| format!("{ONCE}{}", uuid::Uuid::now_v7().simple()), |n| format!("named-{n}"));
    let scene = scene.replace('%', "%25").replace('/', "%2F");
    (SessionKey::from_text(&format!("{DIRECT}{scene}")), name.is_some())
}

/// Whether it is the session of one direct call, removed with its end.
pub(super) fn is_fresh(session: &SessionKey) -> bool {
    session.as_str().strip_prefix(DIRECT).is_some_and(|scene| scene.starts_with(ONCE))
}

/// Removes what a direct call left that a crash broke off.
pub(super) async fn remove_fresh(desk: &Desk, session: &SessionKey) {
    forget(desk, &desk.publisher.lease(), session).await;
}

fn who(facts: Facts, session: SessionKey, text: &str, desk: &Desk) -> Who {
    let message = Message {
        id: String::new(),
        conversation: facts.conversation.clone(),
        principal: facts.principal.clone(),
        segments: vec![Segment::plain(text)],
        sent_at: desk.core.clock.now(),
        addressed: Addressed::Private,
        command: None,
        reply_to: None,
        album_id: None,
        edited: false,
    };
    let looked_up = desk.policy.read().role_of(&facts.principal, &facts.conversation.endpoint_id());
    let given_role = facts.principal.role != looked_up;
    Who { message, facts, session, given_role }
}

/// Removes what a fresh session left: history, files, artifacts.
async fn forget(desk: &Desk, lease: &Lease, session: &SessionKey) {
    if let Err(e) = desk.talk.sessions.remove(session).await {
        tracing::warn!(error = %e, "a fresh session was not removed");
    }
    if lease.contents().bot.workspace.scope == crate::config::WorkspaceScope::Session {
        let folder = workspace(desk, lease, session);
        let removed = crate::task::blocking("remove workspace", move || std::fs::remove_dir_all(folder)).await;
        if let Ok(Err(e)) = removed
            && e.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(error = %e, "a fresh workspace was not removed");
        }
    }
}

/// Asks one thing.
pub async fn ask(desk: &Arc<Desk>, order: AskOrder) -> AskAnswer {
    let (session, kept) = session_of(order.session.as_deref());
    let who = who(order.facts, session, &order.text, desk);
    let stop = Stop::new();
    let done = CancellationSignal::new();
    let timed_out = Arc::new(AtomicBool::new(false));
    if let Some(limit) = order.timeout {
        end_after(desk, &stop, &done, limit, Arc::clone(&timed_out));
    }
    let place = tokio::select! {
        biased;
        place = place(desk, &who.session, &stop) => place,
        () = stop.signal().cancelled() => return overdue(desk, &who.session),
    };
    let lease = desk.publisher.lease();
    let names = &lease.contents().indexes.tools;
    let allowed = order.approve.iter().map(|n| names.resolve(n).map_or(n.clone(), |t| t.qualified.to_string()));
    let approval = Arc::new(Beforehand::new(allowed.collect(), who.facts.principal.id()));
    follow_place(desk, &stop, place.as_ref(), &lease, &done);
    let way = Way {
        turn_id: fresh_turn(),
        origin: OriginKind::Http,
        question: None,
        gates: turn_context::gates(desk, &who, Some(approval.clone())).await,
        shown: Shown::nothing(),
        over: None,
        repeats: None,
        earlier: Vec::new(),
    };
    let report = match agent::choose(desk, &who, &lease) {
        Ok(chosen) => turn::run(turn_context::build(desk, &who, &lease, (way, stop), chosen).await).await,
        Err(sentence) => TurnReport::said(way.turn_id, who.session.to_string(), lease.number(), sentence),
    };
    done.request();
    drop(place);
    masters::hear(desk, &report, &who.facts.principal.id(), &who.facts.conversation).await;
    if !kept {
        forget(desk, &lease, &who.session).await;
    }
    let timed_out = timed_out.load(Ordering::SeqCst);
    AskAnswer { report, missed_approval: approval.missed(), timed_out, waited: false }
}

/// The time was over while other turns ran: this one never began.
fn overdue(desk: &Desk, session: &SessionKey) -> AskAnswer {
    let number = desk.publisher.published().active.number();
    let said = TurnReport::said(fresh_turn(), session.to_string(), number, String::new());
    let outcome = TurnOutcome::Cancelled { by: CancelledBy::Person };
    let report = TurnReport { outcome, segments: Vec::new(), ..said };
    AskAnswer { report, missed_approval: false, timed_out: true, waited: true }
}

/// The command word a text begins with, which is nothing for a model.
pub fn command_in(desk: &Desk, text: &str) -> Option<String> {
    let lease = desk.publisher.lease();
    match super::answer::routed(text, &lease) {
        Route::Turn => None,
        _ => text.split_whitespace().next().map(str::to_string),
    }
}

/// A place among the turns. Direct calls of one named session run one after another; a full lane runs beside it
/// rather than not at all. What would begin on a closing host ends before it begins.
async fn place(desk: &Desk, session: &SessionKey, stop: &Stop) -> Option<Arc<Place>> {
    let ticket = Ticket {
        number: desk.next_ticket(),
        session: session.clone(),
        principal: session.as_str().to_string(),
        supersede: false,
        message: Value::Null,
    };
    let waiting = desk.talk.lanes.submit(ticket).ok()?;
    match waiting.await {
        Ok(place) => return Some(Arc::new(place)),
        Err(LaneError::Closing) => stop.request(CancelledBy::Shutdown),
        Err(LaneError::Superseded) => stop.request(CancelledBy::Superseded),
    }
    None
}

/// Passes on why the lane or the lease wants the turn to end; one without a place ends with the host.
fn follow_place(desk: &Desk, stop: &Stop, place: Option<&Arc<Place>>, lease: &Lease, done: &CancellationSignal) {
    if let Some(place) = place {
        return follow(desk, stop, place, lease, done);
    }
    let overdue = CancellationSignal::new();
    lease.on_deadline(overdue.clone());
    let (stop, done, tasks) = (stop.clone(), done.clone(), desk.core.tasks.clone());
    desk.core.tasks.spawn("direct call end", async move {
        tokio::select! {
            () = overdue.cancelled() => stop.request(CancelledBy::LeaseDeadline),
            () = tasks.closing() => stop.request(CancelledBy::Shutdown),
            () = done.cancelled() => {}
        }
    });
}

/// Ends a direct turn at its time limit.
fn end_after(desk: &Desk, stop: &Stop, done: &CancellationSignal, limit: Duration, over: Arc<AtomicBool>) {
    let (stop, done, clock) = (stop.clone(), done.clone(), Arc::clone(&desk.core.clock));
    desk.core.tasks.spawn("direct call limit", async move {
        tokio::select! {
            () = clock.sleep(limit) => {
                over.store(true, Ordering::SeqCst);
                stop.request(CancelledBy::Person);
            }
            () = done.cancelled() => {}
        }
    });
}

/// Calls one tool; the error is the name's.
pub async fn call(desk: &Arc<Desk>, order: CallOrder) -> Result<(CallAnswer, bool), NameError> {
    let (session, kept) = session_of(order.session.as_deref());
    let stop = Stop::new();
    let place = place(desk, &session, &stop).await;
    let lease = desk.publisher.lease();
    let tool = lease.contents().indexes.tools.resolve(&order.tool)?;
    let (qualified, owner) = (tool.qualified.to_string(), tool.owner().to_string());
    let who = who(order.facts, session, "", desk);
    let allowed = if order.approve { vec![qualified.clone()] } else { Vec::new() };
    let approval = Arc::new(Beforehand::new(allowed, who.facts.principal.id()));
    let done = CancellationSignal::new();
    follow_place(desk, &stop, place.as_ref(), &lease, &done);
    let way = Way {
        turn_id: fresh_turn(),
        origin: OriginKind::Http,
        question: None,
        gates: turn_context::gates(desk, &who, Some(approval.clone())).await,
        shown: Shown::nothing(),
        over: None,
        repeats: None,
        earlier: Vec::new(),
    };
    let named = NamedCall { tool: &qualified, input: order.input, limit: None };
    let called = by_name(desk, &who, &lease, way, &stop, named).await;
    done.request();
    drop(place);
    if !kept {
        forget(desk, &lease, &who.session).await;
    }
    let generation = lease.number();
    let answer = CallAnswer { tool: qualified, owner, generation, result: called.result, record: called.record };
    Ok((answer, approval.missed()))
}

/// What a call by name gave.
pub(super) struct Called {
    pub(super) result: ToolResult,
    pub(super) record: Option<CallRecord>,
}

/// Every tool of the index by any name, hidden ones too: for people and code, never for a model.
struct AnyName(ToolIndex);

impl Offered for AnyName {
    fn may_call(&self, name: &str) -> Result<String, Refused> {
        match self.0.resolve(name) {
            Ok(tool) => Ok(tool.qualified.to_string()),
            Err(NameError::Unknown(e)) => Err(Refused::Unknown { nearest: e.nearest }),
            Err(NameError::Ambiguous { qualified, .. }) => Err(Refused::Unknown { nearest: qualified }),
        }
    }
}

/// A call by name.
pub(super) struct NamedCall<'a> {
    pub(super) tool: &'a str,
    pub(super) input: Value,
    /// Seconds, where the caller sets a limit of its own; the tool's holds too.
    pub(super) limit: Option<f64>,
}

/// The call goes on without its mark: only a crash would miss it.
fn noted(marked: Result<(), SessionError>) {
    if let Err(error) = marked {
        tracing::error!(%error, "a command is not noted as running");
    }
}

/// One call by name through the executor's phases.
pub(super) async fn by_name(
    desk: &Arc<Desk>,
    who: &Who,
    lease: &Lease,
    way: Way,
    stop: &Stop,
    call: NamedCall<'_>,
) -> Called {
    let bot = &lease.contents().bot;
    let turn_id = way.turn_id.clone();
    // A command in a chat leaves a person behind whom a crash must not leave without a word.
    let marked = way.over.is_some();
    if marked {
        let about = About::kept(desk, who, way.over.clone(), way.repeats.clone());
        noted(desk.talk.sessions.runs(&who.session, &turn_id, about).await);
    }
    let seconds = call.limit.unwrap_or(f64::INFINITY).min(bot.agent.turn_timeout_seconds);
    let ports = call_ports(desk, lease, (&who.session, &way.turn_id), way.gates);
    let limit = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let countdown = Countdown::new(Arc::clone(&desk.core.clock), limit);
    let hooks = ports.executor.turn_hooks(None);
    let executor = ports.executor.for_turn(TurnPorts {
        offered: Arc::new(AnyName(lease.contents().indexes.tools.clone())),
        owners: ports.owners,
        policy: ports.policy,
        facts: who.facts.clone(),
        given_role: who.given_role,
        gates: ports.gates,
        journal: ports.journal,
        artifacts: ports.artifacts,
        data_dir: ports.data_dir,
        countdown,
        redactor: ports.redactor,
        hooks,
    });
    let mut cx = ToolExecutionContext::new(workspace(desk, lease, &who.session));
    cx.generation = lease.number();
    cx.origin = Origin { kind: way.origin, conversation: who.facts.conversation.clone(), message_id: None };
    cx.principal = who.facts.principal.clone();
    cx.question = way.question;
    cx.turn_id = way.turn_id;
    cx.session_id = who.session.to_string();
    cx.cancellation = stop.signal().clone();
    let result = executor.execute_one(ToolUse::new("c1", call.tool, call.input), &cx, None).await;
    let record = executor.take_records().into_iter().next_back();
    if marked {
        noted(desk.talk.sessions.ran(&who.session, &turn_id).await);
    }
    Called { result, record }
}
