//! Inside the lane: lease → route → command or turn → what is said.

use super::agent::{self, Chosen};
use super::arrive::Arrived;
use super::command;
use super::desk::Desk;
use super::masters;
use super::turn_context::{self, Way};
use crate::commands::View;
use crate::generation::Lease;
use crate::route::{self, Route};
use crate::session::{Place, StopCause};
use crate::turn::{self, CancelledBy, Stop, TurnReport};
use plugin_sdk::{CancellationSignal, OutgoingKind, Segment};
use std::sync::Arc;

/// What a message comes to.
pub(super) struct Said {
    pub(super) kind: OutgoingKind,
    pub(super) segments: Vec<Segment>,
    pub(super) footer: Option<String>,
    pub(super) turn_id: Option<String>,
    pub(super) outcome: &'static str,
    pub(super) detail: Option<&'static str>,
}

impl Said {
    fn plain(kind: OutgoingKind, text: String) -> Self {
        let segments = if text.is_empty() { Vec::new() } else { vec![Segment::markdown(text)] };
        Self { kind, segments, footer: None, turn_id: None, outcome: "handled", detail: None }
    }

    /// The answer of a command.
    pub(super) fn answer(text: String) -> Self {
        Self::plain(OutgoingKind::Answer, text)
    }

    /// A sentence of the host.
    pub(super) fn notice(text: String) -> Self {
        Self::plain(OutgoingKind::Notice, text)
    }

    /// The answer of a turn.
    pub(super) fn of(report: TurnReport) -> Self {
        Self {
            kind: OutgoingKind::Answer,
            outcome: report.outcome.as_str(),
            detail: report.outcome.detail(),
            turn_id: Some(report.turn_id),
            footer: report.footer,
            segments: report.segments,
        }
    }
}

/// Answers one message with the one generation it leases here.
pub(super) async fn answer(desk: &Arc<Desk>, mut arrived: Arrived, place: &Arc<Place>) -> (Arrived, Said) {
    let lease = desk.publisher.lease();
    let tools = &lease.contents().indexes.tools;
    let needed = tools.rules().needs_lookup(&arrived.who.facts.conversation.platform);
    arrived.look_up(desk, needed).await;
    let said = match routed(&arrived.text, &lease) {
        Route::Builtin(builtin, args) => command::builtin(desk, (&arrived, Some(place)), &lease, builtin, &args).await,
        Route::Plugin(n, args) => command::plugin(desk, &arrived, &lease, place, (n, args)).await,
        Route::Unknown { word, nearest } => command::unknown(desk, &lease, &word, nearest.as_deref()),
        Route::Turn => match agent::choose(desk, &arrived.who, &lease) {
            Ok(chosen) => Said::of(run_turn(desk, &arrived, &lease, place, chosen).await),
            Err(sentence) => Said::notice(sentence),
        },
    };
    (arrived, said)
}

/// Where a text goes by its first word.
pub(super) fn routed(text: &str, lease: &Lease) -> Route {
    let commands = &lease.contents().indexes.commands;
    let words: Vec<(usize, &str)> =
        commands.iter().enumerate().flat_map(|(n, c)| c.words().map(move |w| (n, w))).collect();
    route::route(text, words.into_iter())
}

/// A view of the leased generation.
pub(super) fn with_view<T>(desk: &Desk, lease: &Lease, f: impl FnOnce(&View<'_>) -> T) -> T {
    let contents = lease.contents();
    let policy = desk.policy.read();
    let texts = desk.texts(&contents.bot);
    f(&View {
        indexes: &contents.indexes,
        plugins: &contents.plugins,
        generation: Some(lease.number()),
        policy: &policy,
        texts: &texts,
    })
}

async fn run_turn(
    desk: &Arc<Desk>,
    arrived: &Arrived,
    lease: &Lease,
    place: &Arc<Place>,
    chosen: Chosen,
) -> TurnReport {
    let stop = Stop::new();
    let done = CancellationSignal::new();
    follow(desk, &stop, place, lease, &done);
    let way = Way::chat(desk, arrived, place, lease, &stop).await;
    let events = Arc::clone(&way.shown);
    let cx = turn_context::build(desk, &arrived.who, lease, (way, stop), chosen).await;
    let report = turn::run(cx).await;
    done.request();
    events.finished().await;
    masters::hear(desk, &report, &arrived.place_holder(), &arrived.who.facts.conversation).await;
    desk.note_calls(&report.tool_calls);
    report
}

/// Passes the lane's and the lease's reasons to end on to the turn, until it is done.
pub(super) fn follow(desk: &Desk, stop: &Stop, place: &Arc<Place>, lease: &Lease, done: &CancellationSignal) {
    let overdue = CancellationSignal::new();
    lease.on_deadline(overdue.clone());
    let (stop, place, done) = (stop.clone(), Arc::downgrade(place), done.clone());
    let Some(ended) = place.upgrade().map(|p| p.cancellation()) else { return };
    desk.core.tasks.spawn("turn stop", async move {
        tokio::select! {
            () = ended.cancelled() => {
                let cause = place.upgrade().and_then(|p| p.stop_cause());
                stop.request(match cause {
                    Some(StopCause::Superseded) => CancelledBy::Superseded,
                    Some(StopCause::Shutdown) => CancelledBy::Shutdown,
                    Some(StopCause::LeaseDeadline) => CancelledBy::LeaseDeadline,
                    Some(StopCause::Person) | None => CancelledBy::Person,
                });
            }
            () = overdue.cancelled() => stop.request(CancelledBy::LeaseDeadline),
            () = done.cancelled() => {}
        }
    });
}
