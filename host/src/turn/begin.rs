//! The start of a turn: the session opened, the person judged, the prompt composed.

use super::context::TurnContext;
use super::hands::Hands;
use super::history::{self, Viewer};
use super::room::Room;
use super::run::{End, Run, Steps, Tally, unopened};
use super::window::View;
use super::{FailCode, keep};
use crate::catalog::{Admitted, CatalogInput, Controller, Sight};
use crate::exec::Countdown;
use crate::prompt::{self, Prompt, PromptInput, PromptOverflow};
use crate::session::Transcript;
use crate::tools::{InTurn, Recall};
use serde_json::{Value, json};
use std::sync::Arc;

impl<'a> Run<'a> {
    /// Everything a turn fixes at its start: what this person may see, the prompt, the view.
    pub(super) async fn begin(cx: &'a TurnContext, countdown: Countdown) -> (Self, Option<End>) {
        let opened = keep::open(cx).await;
        let failed = opened.as_ref().err().map(|error| unopened(cx, error));
        let transcript = opened.ok();
        let past = transcript.as_ref().map(keep::past_of).unwrap_or_default();
        let snapshot = transcript.as_ref().map(|t| t.loaded().clone()).unwrap_or_default();
        let admitted = Admitted::judge(&cx.with.indexes, &cx.about.facts, &cx.calls.policy.read());
        let present = cx.about.facts.principal.id();
        let summary = transcript.as_ref().and_then(|t| t.summary()).map(|(text, upto)| (text.to_string(), upto));
        let viewer = Viewer {
            sight: Sight { indexes: &cx.with.indexes, admitted: &admitted, present: &present },
            present: &cx.about.facts.principal,
            scope: cx.about.facts.conversation.scope,
            retry_of: cx.about.ties.retry_of.as_deref(),
            upto: summary.as_ref().map_or(0, |(_, upto)| *upto),
        };
        let (mentioned, answered) = (history::mentioned(&past), history::has_answer(&past));
        let cut = transcript.as_ref().is_some_and(Transcript::is_cut);
        let view = View::new(viewer.view(past), summary.map(|(text, _)| text), cut);
        let catalog = Arc::new(Controller::new(CatalogInput {
            indexes: cx.with.indexes.clone(),
            admitted,
            bot: &cx.with.bot,
            snapshot: &snapshot,
            mentioned,
            agent: cx.with.agent,
            max_tools: cx.ports.model.max_tools(),
            can_ask: cx.ports.question.is_some(),
        }));
        let prompt = compose(cx, &catalog);
        let overflow = prompt.as_ref().err().map(|e| overflowed(cx, e));
        let tally = Tally::default();
        let run = Self {
            cx,
            hands: Hands::of(cx, in_turn(cx, &catalog, transcript.as_ref()), countdown, &tally.questions),
            catalog,
            prompt: prompt.unwrap_or_else(|e| no_prompt(&e)),
            view,
            tally,
            steps: Steps::default(),
            first_answer: !answered,
            transcript,
            room: Room::default(),
        };
        let agent = cx.agent().map(|a| &a.qualified);
        let started = json!({"session": cx.about.session, "model": cx.ports.model.name(), "agent": agent});
        keep::note(cx, "turn.started", started).await;
        (run, failed.or(overflow))
    }
}

/// What the host's own tools act on.
fn in_turn(cx: &TurnContext, catalog: &Arc<Controller>, transcript: Option<&Transcript>) -> Arc<InTurn> {
    let recall = transcript.map(|t| Recall {
        sessions: cx.ports.sessions.clone(),
        session: t.session().clone(),
        epoch: t.head().epoch,
        present: cx.about.facts.principal.id(),
    });
    Arc::new(InTurn { catalog: catalog.clone(), recall })
}

fn compose(cx: &TurnContext, catalog: &Controller) -> Result<Prompt, PromptOverflow> {
    prompt::build(&PromptInput {
        indexes: &cx.with.indexes,
        catalog,
        bot_name: &cx.with.bot_name,
        platform: &cx.about.facts.conversation.platform,
        profile: cx.about.profile,
        form: cx.with.bot.agent.deferred_tools.form,
        budget: cx.with.bot.agent.system_prompt_max_chars,
    })
}

fn overflowed(cx: &TurnContext, error: &PromptOverflow) -> End {
    let blocks: Vec<String> = error.blocks.iter().map(|b| format!("{} {}", b.id, b.chars)).collect();
    tracing::error!(turn = %cx.about.turn_id, %error, blocks = blocks.join(", "), "prompt overflow");
    End::Failed(FailCode::PromptOverflow, false)
}

/// What the report shows of a prompt that was never sent.
fn no_prompt(error: &PromptOverflow) -> Prompt {
    let blocks: Vec<Value> =
        error.blocks.iter().map(|b| json!({"id": b.id, "retention": "required", "chars": b.chars})).collect();
    let report = json!({"budget": error.budget, "total": error.total, "blocks": blocks});
    Prompt { text: String::new(), report, dropped: None }
}
