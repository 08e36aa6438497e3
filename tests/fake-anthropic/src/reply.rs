//! An answer as the events of a stream, one token each.

use fake_model::{Counts, Reply, Thinking, Turn, Usage};
use serde_json::{Value, json};

/// A block of an answer: how it opens, its deltas, how it looks when it is whole.
struct Block {
    index: usize,
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

/// Builds the answer of a turn; `number` makes ids differ between requests.
pub(crate) fn reply(turn: &Turn, model: &str, number: usize) -> Reply {
    let blocks = blocks(turn, number);
    let counts = counts(turn, &blocks);
    let calls = !turn.sent_calls().is_empty();
    let stop = turn.finish.clone().unwrap_or_else(|| if calls { "tool_use" } else { "end_turn" }.into());
    let content: Vec<Value> = blocks.iter().map(|b| b.whole.clone()).collect();
    let mut message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null
    });
    if let Some(counts) = &counts {
        message["usage"] = read(counts, 1);
    }
    let mut chunks = vec![event("message_start", json!({"message": message}))];
    if turn.noise {
        chunks.push(": hello\n\n".into());
        chunks.push(event("mood", json!({"mood": "good", "index": 0})));
    }
    chunks.extend(streamed(turn, &blocks));
    let mut end = json!({"delta": {"stop_reason": stop, "stop_sequence": null}});
    if let Some(counts) = &counts {
        end["usage"] = json!({"output_tokens": counts.output});
    }
    chunks.push(event("message_delta", end));
    chunks.push(event("message_stop", json!({})));
    let mut whole = message;
    whole["content"] = json!(content);
    whole["stop_reason"] = json!(stop);
    if let Some(counts) = &counts {
        whole["usage"] = read(counts, counts.output);
    }
    Reply { chunks, whole }
}

fn event(name: &str, body: Value) -> String {
    let mut data = json!({"type": name});
    if let (Some(data), Value::Object(body)) = (data.as_object_mut(), body) {
        data.extend(body);
    }
    format!("event: {name}\ndata: {data}\n\n")
}

/// What the model has read; the format counts the cached part apart.
fn read(counts: &Counts, output: u64) -> Value {
    json!({
        "input_tokens": counts.input.saturating_sub(counts.cached_read + counts.cached_write),
        "cache_creation_input_tokens": counts.cached_write,
        "cache_read_input_tokens": counts.cached_read,
        "output_tokens": output
    })
}

fn counts(turn: &Turn, blocks: &[Block]) -> Option<Counts> {
    match turn.usage {
        Usage::Off => None,
        Usage::Counts(counts) => Some(counts),
        Usage::On => {
            let output = blocks.iter().map(|b| b.deltas.len() as u64).sum();
            Some(Counts { input: 10, output, ..Counts::default() })
        }
    }
}

fn blocks(turn: &Turn, number: usize) -> Vec<Block> {
    let mut out = Vec::new();
    let next = |out: &Vec<Block>| if turn.same_index { 0 } else { out.len() };
    if let Some(thinking) = &turn.thinking {
        out.push(thought(next(&out), turn, thinking));
    }
    let text = turn.sent_text();
    if !text.is_empty() || (turn.overlap && !turn.calls.is_empty()) {
        let deltas = turn.pieces(&text).into_iter().map(|t| json!({"type": "text_delta", "text": t})).collect();
        let (start, whole) = (json!({"type": "text", "text": ""}), json!({"type": "text", "text": text}));
        out.push(Block { index: next(&out), start, deltas, whole });
    }
    for (i, call) in turn.sent_calls().iter().enumerate() {
        let id = call.id.clone().unwrap_or_else(|| format!("toolu_{number}x{i}"));
        let text = call.arguments_text(turn.escape);
        let parts = std::iter::once(String::new()).chain(turn.pieces(&text));
        let deltas = parts.map(|t| json!({"type": "input_json_delta", "partial_json": t})).collect();
        let mut start = json!({"type": "tool_use", "name": call.name});
        if !turn.no_ids {
            start["id"] = json!(id);
        }
        if !turn.bare_start {
            start["input"] = json!({});
        }
        let input: Value = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
        let whole = json!({"type": "tool_use", "id": id, "name": call.name, "input": input});
        out.push(Block { index: next(&out), start, deltas, whole });
    }
    out
}

fn thought(index: usize, turn: &Turn, thinking: &Thinking) -> Block {
    if let Some(data) = &thinking.redacted {
        let whole = json!({"type": "redacted_thinking", "data": data});
        return Block { index, start: whole.clone(), deltas: Vec::new(), whole };
    }
    let signature = thinking.signature.clone().unwrap_or_default();
    let start = json!({"type": "thinking", "thinking": "", "signature": ""});
    let said = turn.pieces(&thinking.text).into_iter().map(|t| json!({"type": "thinking_delta", "thinking": t}));
    let signed = std::iter::once(json!({"type": "signature_delta", "signature": signature}));
    let whole = json!({"type": "thinking", "thinking": thinking.text, "signature": signature});
    Block { index, start, deltas: said.chain(signed).collect(), whole }
}

/// The events of the blocks: one after the other, or as badly as the turn asks for.
fn streamed(turn: &Turn, blocks: &[Block]) -> Vec<String> {
    let start = |b: &Block| event("content_block_start", json!({"index": b.index, "content_block": b.start}));
    let stop = |b: &Block| event("content_block_stop", json!({"index": b.index}));
    let delta = |b: &Block, d: &Value| event("content_block_delta", json!({"index": b.index, "delta": d}));
    let mut out = Vec::new();
    if turn.overlap || turn.interleave {
        // all open at once; their parts in turn or one block after the other; all close at the end
        out.extend(blocks.iter().map(start));
        let longest = blocks.iter().map(|b| b.deltas.len()).max().unwrap_or_default();
        let turns = (0..longest).flat_map(|n| blocks.iter().filter_map(move |b| Some((b, b.deltas.get(n)?))));
        let rows = blocks.iter().flat_map(|b| b.deltas.iter().map(move |d| (b, d)));
        let order: Vec<(&Block, &Value)> = if turn.interleave { turns.collect() } else { rows.collect() };
        out.extend(order.into_iter().map(|(b, d)| delta(b, d)));
        out.extend(blocks.iter().map(stop));
    } else {
        for block in blocks {
            out.push(start(block));
            out.extend(block.deltas.iter().map(|d| delta(block, d)));
            out.push(stop(block));
        }
    }
    if !out.is_empty() {
        out.insert(1, event("ping", json!({})));
    }
    out
}
