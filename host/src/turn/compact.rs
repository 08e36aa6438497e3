//! `/compact`: the older history becomes a summary now, outside a turn.

use super::context::TurnContext;
use super::history::Viewer;
use super::model_step::listen;
use super::room::percent;
use super::window::View;
use super::{Silent, keep, summary};
use crate::catalog::{Admitted, Sight};
use crate::exec::Countdown;
use crate::session::SessionError;
use std::time::Duration;

/// What came of `/compact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compacted {
    /// A summary stands for the older messages.
    Done,
    /// Everything there is has to stay.
    Nothing,
    /// The built-in model writes no summary.
    Offline,
    /// `agent.compaction.enabled = false`.
    Off,
    /// No summary came; nothing changed.
    Failed,
}

/// Replaces the older history of a session by a summary.
pub async fn compact(cx: &TurnContext) -> Compacted {
    match summed_up(cx).await {
        Ok(compacted) => compacted,
        Err(error) => {
            tracing::error!(%error, "a session was not compacted");
            Compacted::Failed
        }
    }
}

async fn summed_up(cx: &TurnContext) -> Result<Compacted, SessionError> {
    let config = &cx.with.bot.agent.compaction;
    if !config.enabled {
        return Ok(Compacted::Off);
    }
    let Some(by) = summary::summarizer(cx) else { return Ok(Compacted::Offline) };
    let Some(mut transcript) = keep::look(cx).await? else { return Ok(Compacted::Nothing) };
    let admitted = Admitted::judge(&cx.with.indexes, &cx.about.facts, &cx.calls.policy.read());
    let present = cx.about.facts.principal.id();
    let sight = Sight { indexes: &cx.with.indexes, admitted: &admitted, present: &present };
    let old = transcript.summary().map(|(text, upto)| (text.to_string(), upto));
    let viewer = Viewer {
        sight,
        present: &cx.about.facts.principal,
        scope: cx.about.facts.conversation.scope,
        retry_of: None,
        upto: old.as_ref().map_or(0, |(_, upto)| *upto),
    };
    let past = viewer.view(keep::past_of(&transcript));
    let view = View::new(past, old.map(|(text, _)| text), false);
    // as much as a turn would keep in this window
    let most = percent(cx.ports.context_window, config.at_percent) / 2;
    let Some(plan) = summary::plan(&view, config.keep_tokens.min(most), config.keep_messages) else {
        return Ok(Compacted::Nothing);
    };
    let stop = cx.ports.stop.signal();
    let limit = Duration::try_from_secs_f64(cx.with.bot.agent.turn_timeout_seconds).unwrap_or(Duration::MAX);
    let countdown = Countdown::new(cx.ports.clock.clone(), limit);
    let request = summary::request(cx, &view, plan, &sight, (&by, stop.clone()));
    let answer = listen(&by.model, request, (stop, &countdown), &Silent).await.ok();
    let Some(answer) = answer else { return Ok(Compacted::Failed) };
    let Some(text) = summary::judged(&answer, plan) else { return Ok(Compacted::Failed) };
    let stored = transcript.summarize(summary::entry(cx, &text, plan.upto), plan.upto).await?;
    keep::note(cx, "turn.step", plan.note(0, &answer.usage)).await;
    Ok(if stored { Compacted::Done } else { Compacted::Nothing })
}
