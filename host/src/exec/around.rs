//! Phases 8 to 12 of a claimed call: breaker and hooks around the wrapped body.

use super::ToolExecutor;
use super::body::Ran;
use super::breaker::Pass;
use super::examine::Examined;
use super::hooks::{HookDispatcher, HookScene};
use plugin_sdk::{BodyStatus, HookEventKind, HookPayload, ToolError, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value};
use std::sync::Arc;

impl ToolExecutor {
    /// The breaker's part of phase 8.
    pub(super) fn pass(&self, examined: &Examined<'_>) -> Result<Option<Pass>, ToolError> {
        let breaker = self.base.fittings.breaker.as_ref();
        breaker.map(|b| b.admit(examined.tool, self.base.clock.monotonic())).transpose()
    }

    /// Phases 10 and 11, and what the breaker learns.
    pub(super) async fn run_guarded(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
        pass: Option<Pass>,
    ) -> Result<Ran, ToolError> {
        self.can_run(examined.tool)?;
        self.hooks_before(examined, call_id, cx).await?;
        if cx.cancellation.requested() {
            return Err(super::executor::cancelled());
        }
        if let Some(files) = examined.approved_files.get() {
            self.files_unchanged(examined, files, cx).await?;
        }
        let ran = self.run_wrapped(examined, call_id, cx).await;
        if let (Some(pass), Some(body)) = (pass, &ran.body) {
            pass.note(body.health.clone(), self.base.clock.monotonic());
        }
        Ok(ran)
    }

    fn hooks(&self) -> Option<&HookDispatcher> {
        match &self.turn {
            Some(turn) => Some(&turn.ports.hooks),
            None => self.base.fittings.hooks.as_deref(),
        }
    }

    /// New each time a waiting turn continues.
    pub fn activation(&self) -> String {
        let waits = self.turn.as_ref().map_or(0, |t| t.ports.countdown.waits());
        format!("a{}", u64::from(waits) + 1)
    }

    fn scene(&self, cx: &ToolExecutionContext) -> HookScene {
        HookScene::of(cx, self.activation(), Arc::clone(&self.base.clock))
    }

    async fn hooks_before(
        &self,
        examined: &Examined<'_>,
        call_id: &str,
        cx: &ToolExecutionContext,
    ) -> Result<(), ToolError> {
        let name = &*examined.tool.qualified;
        let Some(hooks) = self.hooks().filter(|h| h.concerns(HookEventKind::ToolBefore, Some(name))) else {
            return Ok(());
        };
        let payload = HookPayload::ToolBefore {
            call_id: call_id.to_string(),
            tool_name: name.to_string(),
            arguments: examined.frozen.arguments.clone(),
        };
        hooks.before(&self.scene(cx), name, &payload).await
    }

    /// Phase 12: only for a body that ran to a known result in a turn that goes on.
    pub(super) async fn hooks_after(
        &self,
        result: &ToolResult,
        body_failed: bool,
        arguments: &Map<String, Value>,
        cx: &ToolExecutionContext,
    ) -> Vec<String> {
        let name = result.tool_name.as_str();
        let Some(hooks) = self.hooks().filter(|h| h.concerns(HookEventKind::ToolAfter, Some(name))) else {
            return Vec::new();
        };
        if cx.cancellation.requested() {
            return Vec::new();
        }
        let payload = HookPayload::ToolAfter {
            call_id: result.tool_use_id.clone(),
            tool_name: name.to_string(),
            arguments: arguments.clone(),
            result: Box::new(result.clone()),
            body_status: if body_failed { BodyStatus::Error } else { BodyStatus::Success },
        };
        hooks.after(&self.scene(cx), name, &payload).await
    }
}
