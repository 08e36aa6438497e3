mod assembling;
mod failures;
mod requests;

use crate::config::{Language, ModelConfig};
use crate::model::RemoteModel;
use crate::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelMessage, ModelRequest, ModelTool, ToolChoice};
use crate::net::Http;
use crate::task::ManualClock;
use fake_openai::{FakeOpenAi, Handle, Script, Turn};
use futures::StreamExt;
use plugin_sdk::CancellationSignal;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Longer than any pause between attempts, shorter than any deadline.
const PAUSE: Duration = Duration::from_millis(4900);
pub(in crate::model) const KEY: &str = "sk-test-1234567890";

pub(in crate::model) struct Bench {
    pub(in crate::model) clock: ManualClock,
    pub(in crate::model) model: RemoteModel,
    pub(in crate::model) server: Handle,
}

pub(in crate::model) async fn bench(turns: Vec<Turn>) -> Bench {
    bench_with(turns, json!({})).await
}

/// A server with a script and a client of it; `more` are further keys of the model's configuration.
pub(in crate::model) async fn bench_with(turns: Vec<Turn>, more: Value) -> Bench {
    let script = Script { key: Some(KEY.into()), turns, ..Script::default() };
    let (addr, server) = FakeOpenAi::start(script).await.unwrap();
    Bench::at("openai", addr, server, more)
}

impl Bench {
    /// A client of a server that runs already.
    pub(in crate::model) fn at(provider: &str, addr: SocketAddr, server: Handle, more: Value) -> Self {
        let mut config =
            json!({"provider": provider, "model": "m", "base_url": format!("http://{addr}/v1"), "api_key": KEY});
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let config: ModelConfig = serde_json::from_value(config).unwrap();
        let clock = ManualClock::default();
        let model = RemoteModel::new(&config, &Http::new(clock.shared()).unwrap());
        Self { clock, model, server }
    }

    /// Runs a step; pauses shorter than `skip` pass at once, long ones when another request has arrived.
    pub(in crate::model) async fn run_skipping(&self, request: ModelRequest, skip: Duration) -> Outcome {
        let step = async {
            let mut events = Vec::new();
            let mut stream = match self.model.complete(request).await {
                Ok(stream) => stream,
                Err(e) => return (events, Some(e)),
            };
            while let Some(event) = stream.next().await {
                match event {
                    Ok(event) => events.push(event),
                    Err(e) => return (events, Some(e)),
                }
            }
            (events, None)
        };
        let time = async {
            let mut waited_for = 0;
            loop {
                tokio::task::yield_now().await;
                let Some(due) = self.clock.next_due().filter(|due| *due < skip) else { continue };
                let arrived = self.server.requests().len();
                if due < PAUSE || arrived > waited_for {
                    self.clock.advance(due);
                    waited_for = if due < PAUSE { waited_for } else { arrived };
                }
            }
        };
        let (events, error) = tokio::select! { out = step => out, () = time => unreachable!() };
        Outcome { events, error }
    }

    pub(in crate::model) async fn run(&self, request: ModelRequest) -> Outcome {
        self.run_skipping(request, PAUSE).await
    }
}

pub(in crate::model) struct Outcome {
    pub(in crate::model) events: Vec<ModelEvent>,
    pub(in crate::model) error: Option<ModelError>,
}

impl Outcome {
    /// Text after the last restart.
    pub(in crate::model) fn text(&self) -> String {
        let last = self.events.iter().rposition(|e| *e == ModelEvent::Restart).map_or(0, |i| i + 1);
        self.events[last..]
            .iter()
            .map(|e| match e {
                ModelEvent::Text(t) => t.as_str(),
                _ => "",
            })
            .collect()
    }

    pub(in crate::model) fn calls(&self) -> Vec<ModelCall> {
        let call = |e: &ModelEvent| match e {
            ModelEvent::Call(c) => Some(c.clone()),
            _ => None,
        };
        self.events.iter().filter_map(call).collect()
    }

    pub(in crate::model) fn restarts(&self) -> usize {
        self.events.iter().filter(|e| **e == ModelEvent::Restart).count()
    }

    pub(in crate::model) fn stopped(&self) -> Option<crate::model::StopReason> {
        self.events.iter().find_map(|e| match e {
            ModelEvent::Stop(s) => Some(*s),
            _ => None,
        })
    }

    pub(in crate::model) fn usage(&self) -> crate::model::Usage {
        let usage = |e: &ModelEvent| match e {
            ModelEvent::Usage(u) => Some(*u),
            _ => None,
        };
        self.events.iter().find_map(usage).unwrap()
    }
}

pub(in crate::model) fn request(tools: &[&str]) -> ModelRequest {
    ModelRequest {
        system: "You help.".into(),
        messages: vec![ModelMessage::user("hi")],
        tools: tools.iter().map(|name| tool(name)).collect(),
        deferred: vec![],
        tool_choice: ToolChoice::Auto,
        step: 1,
        user_text: "hi".into(),
        help_text: "help".into(),
        language: Language::En,
        cancellation: CancellationSignal::new(),
    }
}

pub(in crate::model) fn tool(name: &str) -> ModelTool {
    ModelTool {
        wire: name.into(),
        qualified: name.into(),
        description: "Does it.".into(),
        schema: Arc::new(json!({"type": "object", "properties": {"city": {"type": "string"}}})),
        words: Arc::new([]),
        meta: false,
        loaded: false,
    }
}

/// The `data` line of a chunk with this delta.
pub(in crate::model) fn delta(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n")
}

pub(in crate::model) fn end(finish: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{finish}\"}}]}}\n\ndata: [DONE]\n\n")
}
