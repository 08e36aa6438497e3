//! An answer as chunks of a stream, one token each.

use crate::script::{Call, Turn, Usage};
use serde_json::{Value, json};

const TOKEN: usize = 4;

/// An answer ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// The events of the stream, without the last one.
    pub(crate) chunks: Vec<String>,
    /// The same as one answer.
    pub(crate) whole: Value,
}

/// Builds the answer of a turn; `number` makes ids differ between requests.
pub(crate) fn reply(turn: &Turn, model: &str, number: usize, want_usage: bool) -> Reply {
    let text = text_of(turn);
    let calls: &[Call] = if turn.calls_as_text { &[] } else { &turn.calls };
    let finish = turn.finish.clone().unwrap_or_else(|| if calls.is_empty() { "stop" } else { "tool_calls" }.into());
    let writer = Writer { model, number };
    let mut chunks = vec![writer.delta(json!({"role": "assistant", "content": null}), None)];
    for token in tokens(&text) {
        chunks.push(writer.delta(json!({"content": token}), None));
    }
    chunks.extend(fragments(turn, calls, number).into_iter().map(|f| writer.delta(json!({"tool_calls": [f]}), None)));
    chunks.push(writer.delta(json!({}), Some(&finish)));
    let count = usage(&text, calls);
    if want_usage && turn.usage == Usage::On {
        chunks.push(writer.chunk(json!([]), Some(&count)));
    }
    Reply { chunks, whole: whole(&writer, &text, calls, &finish, turn, &count) }
}

fn text_of(turn: &Turn) -> String {
    let mut text = turn.text.clone().unwrap_or_default();
    if turn.calls_as_text {
        for call in &turn.calls {
            text.push_str(&json!({"name": call.name, "arguments": call.arguments}).to_string());
        }
    }
    text
}

fn whole(writer: &Writer<'_>, text: &str, calls: &[Call], finish: &str, turn: &Turn, count: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { json!(text) }});
    if !calls.is_empty() {
        let list = calls.iter().enumerate().map(|(i, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments_text()});
            json!({"id": id_of(call, writer.number, i), "type": "function", "function": function})
        });
        if let Some(map) = message.as_object_mut() {
            map.insert("tool_calls".into(), list.collect());
        }
    }
    let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
    let mut out = writer.frame("chat.completion", choices);
    if turn.usage == Usage::On
        && let Some(map) = out.as_object_mut()
    {
        map.insert("usage".into(), count.clone());
    }
    out
}

struct Writer<'a> {
    model: &'a str,
    number: usize,
}

impl Writer<'_> {
    fn delta(&self, delta: Value, finish: Option<&str>) -> String {
        self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), None)
    }

    fn chunk(&self, choices: Value, usage: Option<&Value>) -> String {
        let mut out = self.frame("chat.completion.chunk", choices);
        if let (Some(usage), Some(map)) = (usage, out.as_object_mut()) {
            map.insert("usage".into(), usage.clone());
        }
        format!("data: {out}\n\n")
    }

    fn frame(&self, object: &str, choices: Value) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.number), "object": object, "created": 0,
            "model": self.model, "choices": choices
        })
    }
}

fn id_of(call: &Call, number: usize, i: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("call_{number}x{i}"))
}

fn fragments(turn: &Turn, calls: &[Call], number: usize) -> Vec<Value> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (i, call) in calls.iter().enumerate() {
        let index = if turn.same_index { 0 } else { i };
        let mut head = json!({"index": index, "type": "function", "function": {"name": call.name, "arguments": ""}});
        if let Some(map) = head.as_object_mut().filter(|_| !turn.no_ids) {
            map.insert("id".into(), json!(id_of(call, number, i)));
        }
        let rest = tokens(&call.arguments_text()).into_iter();
        let rest = rest.map(|t| json!({"index": index, "function": {"arguments": t}}));
        rows.push(std::iter::once(head).chain(rest).collect());
    }
    if !turn.interleave {
        return rows.concat();
    }
    let longest = rows.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|n| rows.iter().filter_map(move |row| row.get(n).cloned())).collect()
}

/// Pieces of a few characters, as tokens are.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(TOKEN).map(|c| c.iter().collect()).collect()
}

fn usage(text: &str, calls: &[Call]) -> Value {
    let written = tokens(text).len() + calls.iter().map(|c| 1 + tokens(&c.arguments_text()).len()).sum::<usize>();
    json!({"prompt_tokens": 10, "completion_tokens": written, "total_tokens": 10 + written})
}
