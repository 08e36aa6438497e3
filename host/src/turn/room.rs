//! Room in the window before a request: old observations in short, then a summary, then the limit.

use super::model_step::{StepError, listen};
use super::run::{End, Run};
use super::{Budget, Silent, keep, reduce, summary};
use crate::model::Usage;
use plugin_sdk::ContextRetention;

/// Percent of the window that the limit leaves when no summary is written.
const LIMIT_PERCENT: u64 = 60;
/// Percent of the window above which old observations are shortened, and above which a fixed part is too large.
const HALF: u64 = 50;

/// What was done for room in this turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// A summary was tried: one that failed is tried again in the next turn.
    tried: bool,
    /// A summary was written.
    pub(super) summed_up: bool,
    floor_told: bool,
}

pub(super) fn percent(of: u64, percent: u64) -> u64 {
    of.saturating_mul(percent) / 100
}

impl Run<'_> {
    /// Makes the next request fit; `fixed` = prompt and tools, in tokens.
    pub(super) async fn make_room(&mut self, fixed: u64) -> Result<(), End> {
        let window = self.cx.ports.context_window;
        if !self.room.floor_told && fixed > percent(window, HALF) {
            self.room.floor_told = true;
            tracing::warn!(code = "prompt::floor", fixed, window, "prompt and tools fill more than half of the window");
        }
        self.place_skills();
        if self.view.tokens(fixed) > percent(window, HALF) {
            self.shorten_observations();
        }
        let room = percent(window, self.fill_percent());
        if self.view.tokens(fixed) > room && !self.room.tried {
            self.compact(room.saturating_sub(fixed) / 2).await?;
        }
        self.view.limit(fixed, room);
        Ok(())
    }

    fn fill_percent(&self) -> u64 {
        let compaction = &self.cx.with.bot.agent.compaction;
        let summed = compaction.enabled && summary::summarizer(self.cx).is_some();
        if summed { compaction.at_percent } else { LIMIT_PERCENT }
    }

    fn shorten_observations(&mut self) {
        if !self.cx.with.bot.agent.context_tools || !self.catalog.within_reach("context_read") {
            return;
        }
        let tools = &self.cx.with.indexes.tools;
        let observes = |name: &str| {
            tools.get(name).is_some_and(|t| t.def().options.context_retention == ContextRetention::Observation)
        };
        reduce::reduce(&mut self.view, observes);
    }

    /// Texts of loaded skills stand behind a summary, a quarter of the window in all.
    fn place_skills(&mut self) {
        if self.view.summed.is_some() {
            let room = usize::try_from(self.cx.ports.context_window).unwrap_or(usize::MAX);
            self.view.place_skills(&self.catalog.loaded_skills(), room);
        }
    }

    /// A provider's "too long": a summary when none was tried, else every earlier turn leaves. `false` when there
    /// is nothing left to take out.
    pub(super) async fn too_long(&mut self) -> Result<bool, End> {
        let first = !self.room.tried;
        if first {
            self.compact(0).await?;
        }
        Ok((first && self.room.summed_up) || self.view.drop_past())
    }

    /// Replaces older messages by a summary. A failure changes nothing. `most`: tokens that may stay.
    async fn compact(&mut self, most: u64) -> Result<(), End> {
        let config = &self.cx.with.bot.agent.compaction;
        let by = summary::summarizer(self.cx).filter(|_| config.enabled);
        let Some(by) = by.filter(|_| self.transcript.is_some()) else { return Ok(()) };
        let Some(plan) = summary::plan(&self.view, config.keep_tokens.min(most), config.keep_messages) else {
            return Ok(());
        };
        self.room.tried = true;
        let present = self.cx.about.facts.principal.id();
        let sight = self.catalog.sight(&present);
        let request = summary::request(self.cx, &self.view, plan, &sight, (&by, self.hands.cancel.clone()));
        let stop = self.cx.ports.stop.signal();
        let answer = match listen(&by.model, request, (stop, &self.hands.countdown), &Silent).await {
            Ok(answer) => answer,
            Err(StepError::Stopped) => return Err(End::Cancelled),
            Err(StepError::Time(_)) => return Err(End::Budget(Budget::Time, self.text_so_far(String::new()))),
            Err(StepError::Model(error)) => {
                tracing::warn!(turn = %self.cx.about.turn_id, %error, "no summary: the model failed");
                return Ok(());
            }
        };
        self.tally.usage.add(&answer.usage);
        self.spend(&answer.usage).await;
        match summary::judged(&answer, plan) {
            Some(text) => self.sum_up(plan, &text, &answer.usage).await,
            None => {
                tracing::warn!(turn = %self.cx.about.turn_id, "no summary: the answer cannot stand for the messages")
            }
        }
        Ok(())
    }

    async fn sum_up(&mut self, plan: summary::Plan, text: &str, usage: &Usage) {
        let Some(transcript) = self.transcript.as_mut() else { return };
        match transcript.summarize(summary::entry(self.cx, text, plan.upto), plan.upto).await {
            Ok(true) => {
                self.view.sum_up(plan.lines, text.to_string());
                self.room.summed_up = true;
                self.place_skills();
                keep::note(self.cx, "turn.step", plan.note(self.steps.step, usage)).await;
            }
            // reset meanwhile: the turn goes on with what it has
            Ok(false) => {}
            Err(error) => tracing::warn!(turn = %self.cx.about.turn_id, %error, "a summary was not stored"),
        }
    }
}
