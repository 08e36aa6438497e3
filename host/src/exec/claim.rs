//! Phases 9 and 14: a call is on record before its body runs, and settled afterwards.

use super::ToolExecutor;
use super::approve::Approved;
use super::examine::Examined;
use super::executor::TurnScope;
use super::state::CallRecord;
use crate::journal::{Event, JournalError};
use plugin_sdk::{ToolError, ToolExecutionContext};
use serde_json::{Value, json};

/// What else is recorded of an end.
pub(super) struct Facts<'a> {
    pub(super) args_hash: Option<&'a str>,
    /// What the body itself did, whatever became of its result.
    pub(super) body: &'static str,
    pub(super) stderr: Option<Value>,
    /// Whether it got as far as its body, or at least its claim.
    pub(super) started: bool,
}

/// Nothing ran.
pub(super) fn journal_error(error: &JournalError) -> ToolError {
    ToolError::new("JOURNAL_UNAVAILABLE", "the call could not be recorded, so it was not run")
        .detail("cause", error.to_string())
}

impl ToolExecutor {
    /// Phase 9: durable for everything that may have an effect.
    pub(super) async fn claim(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
        approved: &Approved,
    ) -> Result<(), ToolError> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let tool = examined.tool;
        if is_conversation(tool) {
            return Ok(());
        }
        let (reason, answered_by, record_id) = match approved {
            Approved::ByPolicy => ("policy", None, None),
            Approved::AutoMaster => ("auto_master", None, None),
            Approved::Given => ("given", None, None),
            Approved::ByGrant(id) => ("grant", None, Some(id.as_str())),
            Approved::By(who, id) => ("approved", Some(who.as_str()), Some(id.as_str())),
        };
        let data = json!({
            "call_id": call_id,
            "tool": &*tool.qualified,
            "owner": tool.owner(),
            "conversation": cx.origin.conversation.to_string(),
            "args_hash": examined.frozen.args_hash,
            "effect": "allow",
            "reason": reason,
            "answered_by": answered_by,
            "record_id": record_id,
            "read_only": tool.def().is_read_only(),
        });
        let durable = !tool.def().is_read_only();
        self.append(turn, "tool.started", cx, data, durable).await.map_err(|e| journal_error(&e))
    }

    /// Phase 14, and the event of every call that never ran.
    pub(super) async fn note_end(
        &self,
        turn: &TurnScope,
        record: &CallRecord,
        cx: &ToolExecutionContext,
        facts: Facts<'_>,
    ) {
        let code = record.error.as_ref().map(|e| e.code.as_str());
        let data = json!({
            "call_id": record.call_id,
            "tool": record.tool,
            "owner": record.owner,
            "conversation": cx.origin.conversation.to_string(),
            "args_hash": facts.args_hash,
            "effect": if facts.started { record.status.as_str() } else { "deny" },
            "reason": code,
            "body": facts.body,
            "elapsed_ms": record.duration_ms,
            "stderr": facts.stderr,
        });
        let kind = if facts.started { "tool.finished" } else { "tool.denied" };
        if let Err(error) = self.append(turn, kind, cx, data, false).await {
            // What the body did cannot be taken back: the result stands.
            tracing::error!(tool = %record.tool, call = %record.call_id, error = %error, "the end of a call is not journaled");
        }
    }

    pub(super) async fn append(
        &self,
        turn: &TurnScope,
        kind: &'static str,
        cx: &ToolExecutionContext,
        data: Value,
        durable: bool,
    ) -> Result<(), JournalError> {
        let event = Event::new(kind, data).of_turn(cx.generation, cx.turn_id.clone(), cx.principal.id());
        let journal = &turn.ports.journal;
        if durable {
            journal.append_durable(event).await?
        } else {
            journal.append(event).await?
        };
        Ok(())
    }
}

/// Host tools that only talk to a person or to the host itself: no claim, no deadline of the executor.
pub(super) fn is_conversation(tool: &crate::index::Tool) -> bool {
    tool.is_builtin() && matches!(&*tool.qualified, "ask_user" | "subagent" | "spawn_task")
}
