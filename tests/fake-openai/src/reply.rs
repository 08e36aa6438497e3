//! An answer as chunks of a stream, one token each.

use fake_model::{Call, Counts, Reply, Turn, Usage, tokens};
use serde_json::{Value, json};

/// Builds the answer of a turn; `number` makes ids differ between requests.
pub(crate) fn reply(turn: &Turn, model: &str, number: usize, want_usage: bool) -> Reply {
    let text = turn.sent_text();
    let calls = turn.sent_calls();
    let finish = turn.finish.clone().unwrap_or_else(|| if calls.is_empty() { "stop" } else { "tool_calls" }.into());
    let writer = Writer { model, number, noise: turn.noise };
    let mut chunks = vec![writer.delta(json!({"role": "assistant", "content": null}), None)];
    chunks.extend(body(turn, &text, calls, number).into_iter().map(|delta| writer.delta(delta, None)));
    chunks.push(writer.delta(json!({}), Some(&finish)));
    let count = usage(turn, &text, calls);
    if let Some(count) = count.as_ref().filter(|_| want_usage) {
        chunks.push(writer.chunk(json!([]), Some(count)));
    }
    if turn.noise {
        chunks.insert(1, ": still thinking\n\nevent: mood\ndata: {\"mood\": \"good\", \"choices\": []}\n\n".into());
    }
    chunks.push("data: [DONE]\n\n".into());
    Reply { chunks, whole: whole(&writer, &text, calls, &finish, count) }
}

/// The deltas between the first and the last.
fn body(turn: &Turn, text: &str, calls: &[Call], number: usize) -> Vec<Value> {
    let thought = turn.thinking.as_ref().map(|t| turn.pieces(&t.text)).unwrap_or_default();
    let mut out: Vec<Value> = thought.into_iter().map(|t| json!({"reasoning_content": t})).collect();
    let mut spoken: Vec<Value> = turn.pieces(text).into_iter().map(|t| json!({"content": t})).collect();
    let mut called: Vec<Value> =
        fragments(turn, calls, number).into_iter().map(|f| json!({"tool_calls": [f]})).collect();
    if turn.overlap && !called.is_empty() {
        let half = spoken.split_off(spoken.len() / 2);
        let rest = called.split_off(1);
        out.extend(spoken.into_iter().chain(called).chain(half).chain(rest));
    } else {
        out.extend(spoken.into_iter().chain(called));
    }
    out
}

fn whole(writer: &Writer<'_>, text: &str, calls: &[Call], finish: &str, count: Option<Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { json!(text) }});
    if !calls.is_empty() {
        let list = calls.iter().enumerate().map(|(i, call)| {
            let function = json!({"name": call.name, "arguments": call.arguments_text(false)});
            with(json!({"id": id_of(call, writer.number, i), "type": "function", "function": function}), call)
        });
        message["tool_calls"] = list.collect();
    }
    let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
    let mut out = writer.frame("chat.completion", choices);
    if let Some(count) = count {
        out["usage"] = count;
    }
    out
}

struct Writer<'a> {
    model: &'a str,
    number: usize,
    noise: bool,
}

impl Writer<'_> {
    fn delta(&self, delta: Value, finish: Option<&str>) -> String {
        self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), None)
    }

    fn chunk(&self, choices: Value, usage: Option<&Value>) -> String {
        let mut out = self.frame("chat.completion.chunk", choices);
        if let Some(usage) = usage {
            out["usage"] = usage.clone();
        }
        format!("data: {out}\n\n")
    }

    fn frame(&self, object: &str, choices: Value) -> Value {
        let mut out = json!({
            "id": format!("chatcmpl-{}", self.number), "object": object, "created": 0,
            "model": self.model, "choices": choices
        });
        if self.noise {
            out["x_timing"] = json!({"queue": 0.1});
            out["system_fingerprint"] = Value::Null;
        }
        out
    }
}

pub(crate) fn id_of(call: &Call, number: usize, i: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("call_{number}x{i}"))
}

/// A call with its further keys.
fn with(mut value: Value, call: &Call) -> Value {
    if let Some(map) = value.as_object_mut() {
        map.extend(call.extra.clone());
    }
    value
}

fn fragments(turn: &Turn, calls: &[Call], number: usize) -> Vec<Value> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (i, call) in calls.iter().enumerate() {
        let index = if turn.same_index { 0 } else { i };
        let mut head = json!({"index": index, "type": "function", "function": {"name": call.name}});
        if !turn.bare_start {
            head["function"]["arguments"] = json!("");
        }
        if !turn.no_ids {
            head["id"] = json!(id_of(call, number, i));
        }
        let rest = turn.pieces(&call.arguments_text(turn.escape)).into_iter();
        let rest = rest.map(|t| json!({"index": index, "function": {"arguments": t}}));
        rows.push(std::iter::once(with(head, call)).chain(rest).collect());
    }
    if !turn.interleave {
        return rows.concat();
    }
    let longest = rows.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|n| rows.iter().filter_map(move |row| row.get(n).cloned())).collect()
}

fn usage(turn: &Turn, text: &str, calls: &[Call]) -> Option<Value> {
    let counts = match turn.usage {
        Usage::Off => return None,
        Usage::Counts(counts) => counts,
        Usage::On => {
            let written: usize = calls.iter().map(|c| 1 + tokens(&c.arguments_text(false)).len()).sum();
            Counts { input: 10, output: (tokens(text).len() + written) as u64, ..Counts::default() }
        }
    };
    Some(json!({
        "prompt_tokens": counts.input, "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cached_read},
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning}
    }))
}
