//! Batches: which calls of a step may overlap, and the plan a caller can look at first.

use super::ports::ApprovalRequest;
use super::state::{Ordinal, TurnState};
use super::{ToolExecutor, project};
use plugin_sdk::{ToolExecutionContext, ToolResult, ToolUse};
use std::ops::Range;

/// What would happen to a call now.
#[derive(Debug, Clone)]
pub enum PlannedState {
    /// It would run.
    Ready,
    /// It would be refused with this result.
    Refused(Box<ToolResult>),
    /// A person would be asked.
    NeedsPerson(Box<ApprovalRequest>),
}

/// One call of a plan.
#[derive(Debug, Clone)]
pub struct PlannedCall {
    /// The call.
    pub tool_use: ToolUse,
    /// What would happen.
    pub state: PlannedState,
}

/// The calls of a step, judged without any side effect.
#[derive(Debug, Clone)]
pub struct ToolBatchPlan {
    /// In input order.
    pub calls: Vec<PlannedCall>,
    /// Calls that run together, one after another; every call is in exactly one.
    pub windows: Vec<Range<usize>>,
    /// The first call that needs a person.
    pub first_gate: Option<usize>,
}

impl ToolExecutor {
    /// Phases 1 to 6 for every call: no question, no journal, no file, no count.
    pub fn prepare_many(&self, calls: Vec<ToolUse>, cx: &ToolExecutionContext) -> ToolBatchPlan {
        let places = self.next_places(calls.len());
        let windows = self.windows(&calls, &places, cx);
        let calls: Vec<PlannedCall> = calls
            .into_iter()
            .zip(places)
            .map(|(call, place)| PlannedCall { state: self.foresee(&call, place, cx), tool_use: call })
            .collect();
        let first_gate = calls.iter().position(|c| matches!(c.state, PlannedState::NeedsPerson(_)));
        ToolBatchPlan { calls, windows, first_gate }
    }

    fn next_places(&self, count: usize) -> Vec<Ordinal> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match &self.turn {
            Some(turn) => turn.state.next_places(count),
            None => TurnState::default().next_places(count),
        }
    }

    fn foresee(&self, call: &ToolUse, place: Ordinal, cx: &ToolExecutionContext) -> PlannedState {
        match self.examine(call, place, cx) {
            Ok(examined) if examined.needs_person() => {
                PlannedState::NeedsPerson(Box::new(self.request_of(&examined, &call.id, cx)))
            }
            Ok(_) => PlannedState::Ready,
            Err(stopped) => {
                let name = stopped.tool.map_or(call.name.as_str(), |t| &t.qualified);
                PlannedState::Refused(Box::new(project::refusal(stopped.error, &call.id, name)))
            }
        }
    }

    /// Adjacent calls that are ready, read-only and may overlap share a window; any other has its own.
    pub(super) fn windows(
        &self,
        calls: &[ToolUse],
        places: &[Ordinal],
        cx: &ToolExecutionContext,
    ) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut open = false;
        for (i, (call, place)) in calls.iter().zip(places).enumerate() {
            let overlaps = self.examine(call, *place, cx).is_ok_and(|e| {
                let def = e.tool.def();
                !e.needs_person() && def.is_read_only() && def.options.concurrency_safe
            });
            match windows.last_mut() {
                Some(last) if open && overlaps => last.end = i + 1,
                _ => windows.push(i..i + 1),
            }
            open = overlaps;
        }
        windows
    }
}
