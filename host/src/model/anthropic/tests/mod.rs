mod answers;
mod deferral;
mod failures;
mod requests;

use crate::model::openai::tests::{Bench, KEY, Outcome, request, tool};
use crate::model::{ModelCall, ModelEvent, ModelMessage, ModelRequest, Opaque, StopReason, ToolChoice};
use fake_anthropic::{Call, Counts, FakeAnthropic, Fault, Script, Thinking, Turn, Usage};
use plugin_sdk::{ContentBlock, ImageData};
use serde_json::{Value, json};

async fn bench(turns: Vec<Turn>) -> Bench {
    bench_with(turns, json!({})).await
}

/// A strict server with a script and a client of it; `more` are further keys of the model's configuration.
async fn bench_with(turns: Vec<Turn>, more: Value) -> Bench {
    let script = Script { key: Some(KEY.into()), turns, ..Script::default() };
    let (addr, server) = FakeAnthropic::start(script).await.unwrap();
    Bench::at("anthropic", addr, server, more)
}

fn result(id: &str, content: Vec<ContentBlock>) -> ModelMessage {
    ModelMessage::Tool {
        call_id: id.into(),
        tool: "t".into(),
        content,
        is_error: false,
        data: Value::Null,
        references: vec![],
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ModelCall {
    ModelCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn opaque(out: &Outcome) -> Vec<Opaque> {
    let part = |e: &ModelEvent| match e {
        ModelEvent::Opaque(o) => Some(o.clone()),
        _ => None,
    };
    out.events.iter().filter_map(part).collect()
}

/// The conversation after the calls of an answer, each with a result.
fn after(mut r: ModelRequest, out: &Outcome) -> ModelRequest {
    let calls = out.calls();
    r.messages.push(ModelMessage::Assistant { text: out.text(), calls: calls.clone(), opaque: opaque(out) });
    r.messages.extend(calls.iter().map(|c| result(&c.id, vec![ContentBlock::text("ok")])));
    r.step += 1;
    r
}
