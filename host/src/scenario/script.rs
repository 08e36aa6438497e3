//! The scripted model: says what the file says, loads what it needs first, and is the offline model otherwise.

use super::file::ModelSays;
use crate::model::{
    ModelCall, ModelClient, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolChoice, Usage,
};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What one request looked like.
#[derive(Debug, Clone, Default)]
pub struct SeenRequest {
    /// Qualified names of the tools sent.
    pub tools: Vec<String>,
    /// System prompt and messages as text.
    pub text: String,
}

#[derive(Default)]
struct State {
    script: VecDeque<ModelSays>,
    seen: VecDeque<SeenRequest>,
    calls: u64,
}

/// A model client that follows a script.
pub struct Scripted {
    fallback: Arc<dyn ModelClient>,
    state: Mutex<State>,
}

impl Scripted {
    /// Falls back to `fallback` whenever the script has nothing to say.
    pub fn new(fallback: Arc<dyn ModelClient>) -> Self {
        Self { fallback, state: Mutex::default() }
    }

    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what it says next.
    pub fn add(&self, says: ModelSays) {
        self.with(|s| s.script.push_back(says));
    }

    /// The oldest request not looked at.
    pub fn next_request(&self) -> Option<SeenRequest> {
        self.with(|s| s.seen.pop_front())
    }

    /// Forgets requests not looked at.
    pub fn forget_requests(&self) {
        self.with(|s| s.seen.clear());
    }

    /// What was never said.
    pub fn left(&self) -> usize {
        self.with(|s| s.script.len())
    }

    /// The next events by the script; `None` when it has nothing to say.
    fn scripted(&self, request: &ModelRequest) -> Option<Vec<ModelEvent>> {
        if request.tool_choice == ToolChoice::None {
            // The last step that is allowed: what it says is said, calls have no place any more.
            return self.with(|s| {
                let says = s.script.pop_front()?;
                Some(events(s, &says.text, Vec::new()))
            });
        }
        let sent = |name: &str| request.tools.iter().find(|t| &*t.qualified == name).map(|t| t.wire.to_string());
        let can_load = request.tools.iter().any(|t| &*t.wire == "load_tool");
        self.with(|s| {
            let says = s.script.front()?;
            let tried = |name: &str| {
                request.messages.iter().any(|m| {
                    matches!(m, ModelMessage::Assistant { calls, .. }
                        if calls.iter().any(|c| c.name == "load_tool" && c.arguments.contains(&format!("\"{name}\""))))
                })
            };
            let missing: Vec<&str> =
                says.calls.iter().map(|c| c.tool.as_str()).filter(|n| sent(n).is_none() && !tried(n)).collect();
            let mut calls: Vec<(String, String)> = Vec::new();
            if can_load && !missing.is_empty() {
                calls.extend(missing.iter().map(|n| ("load_tool".to_string(), json!({"name": n}).to_string())));
                return Some(events(s, "", calls));
            }
            let says = s.script.pop_front()?;
            for call in &says.calls {
                let name = sent(&call.tool).unwrap_or_else(|| call.tool.clone());
                calls.push((name, serde_json::Value::Object(call.arguments.clone()).to_string()));
            }
            Some(events(s, &says.text, calls))
        })
    }
}

fn events(state: &mut State, text: &str, calls: Vec<(String, String)>) -> Vec<ModelEvent> {
    let mut out = Vec::new();
    if !text.is_empty() {
        out.push(ModelEvent::Text(text.to_string()));
    }
    let stop = if calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
    for (name, arguments) in calls {
        state.calls += 1;
        out.push(ModelEvent::Call(ModelCall { id: format!("s{}", state.calls), name, arguments }));
    }
    out.push(ModelEvent::Usage(Usage { estimated: true, ..Usage::default() }));
    out.push(ModelEvent::Stop(stop));
    out
}

fn seen(request: &ModelRequest) -> SeenRequest {
    let mut text = request.system.to_string();
    for m in &request.messages {
        text.push('\n');
        match m {
            ModelMessage::User { text: t, .. } | ModelMessage::Assistant { text: t, .. } => text.push_str(t),
            ModelMessage::Tool { content, .. } => {
                for block in content {
                    if let plugin_sdk::ContentBlock::Text { text: t } = block {
                        text.push_str(t);
                    }
                }
            }
        }
    }
    SeenRequest { tools: request.tools.iter().map(|t| t.qualified.to_string()).collect(), text }
}

#[async_trait]
impl ModelClient for Scripted {
    /// Not the fallback's name: what the host adds to the answers of the offline model is no part of a scenario.
    fn name(&self) -> &str {
        "scenario"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        self.with(|s| s.seen.push_back(seen(&request)));
        match self.scripted(&request) {
            Some(events) => Ok(stream::iter(events.into_iter().map(Ok)).boxed()),
            None => self.fallback.complete(request).await,
        }
    }
}
