//! `call_tool`: a tool calls another through every gate.

use super::ports::{Offered, Refused};
use super::{Countdown, ToolExecutor};
use async_trait::async_trait;
use plugin_sdk::ports::CallTool;
use plugin_sdk::{OwnerPath, ToolExecutionContext, ToolResult, ToolUse};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The port of one running call.
pub(super) struct Nested {
    executor: ToolExecutor,
    /// The caller's context; the called tool gets its own owner's.
    cx: ToolExecutionContext,
    calls: AtomicU32,
}

impl Nested {
    pub(super) fn new(
        outer: &ToolExecutor,
        owner: OwnerPath,
        cx: ToolExecutionContext,
        within: Vec<Countdown>,
    ) -> Self {
        let by_name = ByOwner { executor: outer.clone(), owner };
        let mut executor = outer.callable(Arc::new(by_name));
        executor.nest.depth = outer.nest.depth.saturating_add(1);
        executor.nest.within = within;
        Self { executor, cx, calls: AtomicU32::new(0) }
    }
}

#[async_trait]
impl CallTool for Nested {
    async fn call_tool(&self, name: &str, input: Map<String, Value>) -> ToolResult {
        let n = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("{}.{n}", self.cx.call_id);
        self.executor.execute_one(ToolUse::new(id, name, Value::Object(input)), &self.cx, None).await
    }
}

/// Names a plugin may call: hidden tools too, but only those its permissions name.
struct ByOwner {
    executor: ToolExecutor,
    owner: OwnerPath,
}

impl Offered for ByOwner {
    fn may_call(&self, name: &str) -> Result<String, Refused> {
        let index = &self.executor.base.index;
        let Some(tool) = index.get(name) else { return Err(Refused::Unknown { nearest: index.nearest(name, 3) }) };
        let allowed = self.executor.turn.as_ref().is_none_or(|t| t.ports.owners.may_call(&self.owner, tool));
        if allowed { Ok(tool.qualified.to_string()) } else { Err(Refused::NotAdmitted(tool.qualified.to_string())) }
    }
}
