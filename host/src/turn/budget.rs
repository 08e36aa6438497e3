//! What a day may cost: checked before each request, counted after each step.

use super::keep;
use super::run::{End, Run};
use super::{Budget, FailCode};
use crate::model::Usage;
use crate::session::Counts;
use crate::store::StoreError;
use serde_json::json;

/// Part of a personal budget at which its person is told, in hundredths.
const WARN_AT: u64 = 80;

impl Run<'_> {
    /// Whose day it is: the person's, or the conversation's of a sender nobody can tell apart.
    pub(super) fn payer(&self) -> String {
        let facts = &self.cx.about.facts;
        if facts.principal.is_identified() { facts.principal.id() } else { facts.conversation.to_string() }
    }

    /// Whether the next request may be made.
    pub(super) async fn afford(&self) -> Result<(), End> {
        let limits = &self.cx.with.bot.limits;
        let ledger = &self.cx.ports.ledger;
        let used = ledger.today(&self.payer()).await.map_err(|e| self.uncounted(&e))?;
        if limits.tokens_per_user_per_day > 0 && used.tokens() >= limits.tokens_per_user_per_day {
            let data = json!({"what": "tokens", "used": used.tokens(), "limit": limits.tokens_per_user_per_day});
            keep::note(self.cx, "access.budget", data).await;
            return Err(End::Budget(Budget::Tokens, self.text_so_far(String::new())));
        }
        if limits.usd_per_day > 0.0 {
            let cost = ledger.cost_today().await.map_err(|e| self.uncounted(&e))?;
            if cost >= limits.usd_per_day {
                let data = json!({"what": "cost", "used": cost, "limit": limits.usd_per_day});
                keep::note(self.cx, "access.budget", data).await;
                return Err(End::Budget(Budget::Cost, self.text_so_far(String::new())));
            }
        }
        Ok(())
    }

    /// Counts a step against the day.
    pub(super) async fn spend(&self, usage: &Usage) {
        let used = Counts {
            input: usage.input,
            output: usage.output,
            cached_read: usage.cached_read,
            cost_usd: usage.cost_usd,
            ..Counts::default()
        };
        if let Err(error) = self.cx.ports.ledger.add(&self.payer(), used).await {
            tracing::error!(turn = %self.cx.about.turn_id, %error, "what a step used is not counted");
        }
    }

    /// Counts the turn itself, and notes whether its person comes near the end of the day's tokens.
    pub(super) async fn reckon(&mut self) {
        let (ledger, payer) = (&self.cx.ports.ledger, self.payer());
        let limit = self.cx.with.bot.limits.tokens_per_user_per_day;
        let counted = ledger.add(&payer, Counts { turns: 1, ..Counts::default() }).await;
        let used = match counted {
            Ok(()) => ledger.today(&payer).await.unwrap_or_default(),
            Err(error) => {
                tracing::error!(turn = %self.cx.about.turn_id, %error, "a turn is not counted");
                return;
            }
        };
        let near = limit > 0 && used.tokens() < limit && used.tokens() >= limit.saturating_mul(WARN_AT).div_ceil(100);
        if near && ledger.warn(&payer).await.unwrap_or(false) {
            self.tally.near = Some(used.tokens().saturating_mul(100) / limit);
        }
    }

    fn uncounted(&self, error: &StoreError) -> End {
        tracing::error!(turn = %self.cx.about.turn_id, %error, "what was used today cannot be read");
        End::Failed(FailCode::JournalUnavailable, true)
    }
}
