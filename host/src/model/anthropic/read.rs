//! The events of a message, block by block. Blocks may overlap, and an index may come again: then it is another
//! block.

use crate::model::remote::{
    Answer, ErrorBody, Fault, MAX_CALLS, MAX_HELD, Piece, RawCall, Reader, Reading, TextBuffer, classify, joined,
};
use crate::model::{StopReason, Usage};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Most blocks of one answer.
const MAX_BLOCKS: usize = 4096;

/// Reads events, and whole messages.
#[derive(Debug, Default)]
pub(super) struct MessageReader {
    blocks: Vec<Block>,
    by_index: HashMap<u64, usize>,
    said: String,
    stop: Option<String>,
    ended: bool,
    /// Bytes beside the text.
    held: usize,
    calls: usize,
    counts: Counts,
}

#[derive(Debug)]
enum Block {
    Text {
        buffer: TextBuffer,
        all: String,
    },
    Call {
        id: String,
        name: String,
        given: Option<Value>,
        written: Vec<u8>,
    },
    /// Kept as it came: signed reasoning and whatever else the provider wants back.
    Other {
        start: Map<String, Value>,
        pieces: HashMap<String, Vec<u8>>,
    },
}

/// What the provider counted; later events replace earlier ones.
#[derive(Debug, Default)]
struct Counts {
    input: Option<u64>,
    cached_read: Option<u64>,
    cached_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    index: Option<u64>,
    content_block: Option<Map<String, Value>>,
    delta: Option<Delta>,
    message: Option<Value>,
    usage: Option<Value>,
    error: Option<Value>,
    // of a message that is not a stream
    content: Option<Vec<Value>>,
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    #[serde(rename = "type")]
    kind: String,
    text: Option<Piece>,
    partial_json: Option<Piece>,
    thinking: Option<Piece>,
    signature: Option<Piece>,
    data: Option<Piece>,
    citation: Option<Value>,
    stop_reason: Option<String>,
}

impl Reader for MessageReader {
    fn take(&mut self, data: &str, secrets: &[&str]) -> Result<String, Fault> {
        let Ok(event) = serde_json::from_slice::<Event>(data.as_bytes()) else {
            return Err(Fault::transient("an unreadable event"));
        };
        if let Some(error) = event.error.as_ref().filter(|e| !e.is_null()) {
            let body = ErrorBody::of(error);
            return Err(classify(body.status(), &body, None, secrets));
        }
        match event.kind.as_str() {
            "message_start" => self.counts.take(event.message.as_ref().and_then(|m| m.get("usage"))),
            "content_block_start" => {
                let start = event.content_block.unwrap_or_default();
                self.held += data.len();
                self.bound();
                return Ok(self.start(event.index.unwrap_or_default(), start));
            }
            "content_block_delta" => {
                let delta = event.delta.unwrap_or_default();
                self.hold(&delta);
                return Ok(self.delta(event.index.unwrap_or_default(), delta));
            }
            "content_block_stop" => return Ok(self.close(event.index.unwrap_or_default())),
            "message_delta" => {
                self.counts.take(event.usage.as_ref());
                self.stop = event.delta.and_then(|d| d.stop_reason).or(self.stop.take());
            }
            "message_stop" => self.ended = true,
            "message" => return Ok(self.whole(event)),
            _ => {}
        }
        Ok(String::new())
    }

    fn reading(&self) -> Reading {
        match (self.ended, &self.stop) {
            (true, _) => Reading::Ended,
            (false, Some(_)) => Reading::Finished,
            (false, None) => Reading::Open,
        }
    }

    fn answer(self: Box<Self>, step: u32, taken: &dyn Fn(&str) -> bool) -> Answer {
        let stop = self.reason();
        let paused = (self.stop.as_deref() == Some("pause_turn")).then(|| self.content());
        let (said, usage) = (self.said, self.counts.usage());
        let mut calls: Vec<RawCall> = Vec::new();
        let mut opaque = Vec::new();
        let mut parts = 0;
        for block in self.blocks {
            match block {
                Block::Text { all, .. } => parts = parts.max(u32::from(!all.trim().is_empty())),
                Block::Call { id, name, given, written } => {
                    let own = !id.is_empty() && !taken(&id) && calls.iter().all(|c| c.id != id);
                    let id = if own { id } else { format!("call_{step}_{}", calls.len() + 1) };
                    let arguments = arguments(given, &written);
                    calls.push(RawCall { id, name, arguments });
                    parts = 1 + u32::try_from(calls.len()).unwrap_or(u32::MAX - 1);
                }
                other @ Block::Other { .. } => opaque.push((parts, other.value())),
            }
        }
        Answer { said, calls, opaque, stop: Some(stop), paused, usage }
    }
}

impl MessageReader {
    fn start(&mut self, index: u64, start: Map<String, Value>) -> String {
        if self.blocks.len() >= MAX_BLOCKS {
            return String::new();
        }
        let text = |key: &str| start.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.by_index.insert(index, self.blocks.len());
        let kind = text("type");
        self.calls += usize::from(kind == "tool_use");
        let mut shown = String::new();
        self.blocks.push(match kind.as_str() {
            "text" => {
                shown = text("text");
                Block::Text { buffer: TextBuffer::default(), all: shown.clone() }
            }
            "tool_use" => Block::Call {
                id: text("id"),
                name: text("name"),
                given: start.get("input").cloned(),
                written: Vec::new(),
            },
            _ => Block::Other { start, pieces: HashMap::new() },
        });
        self.said.push_str(&shown);
        shown
    }

    fn delta(&mut self, index: u64, delta: Delta) -> String {
        let at = match self.by_index.get(&index) {
            Some(at) => *at,
            // text without the event that opens its block is still text
            None if delta.kind == "text_delta" => {
                self.start(index, Map::from_iter([("type".to_owned(), json!("text"))]));
                self.blocks.len().saturating_sub(1)
            }
            None => return String::new(),
        };
        match self.blocks.get_mut(at) {
            Some(Block::Text { buffer, all }) => {
                let shown = delta.text.map(|piece| buffer.push(&piece)).unwrap_or_default();
                all.push_str(&shown);
                self.said.push_str(&shown);
                shown
            }
            Some(Block::Call { written, .. }) => {
                written.extend(delta.partial_json.unwrap_or_default().0);
                String::new()
            }
            Some(Block::Other { start, pieces }) => {
                let parts = [
                    ("text", delta.text),
                    ("thinking", delta.thinking),
                    ("signature", delta.signature),
                    ("data", delta.data),
                    ("input", delta.partial_json),
                ];
                for (key, piece) in parts {
                    if let Some(piece) = piece {
                        pieces.entry(key.to_owned()).or_default().extend(piece.0);
                    }
                }
                if let Some(citation) = delta.citation {
                    let list = start.entry("citations").or_insert_with(|| json!([]));
                    if let Some(list) = list.as_array_mut() {
                        list.push(citation);
                    }
                }
                String::new()
            }
            None => String::new(),
        }
    }

    fn hold(&mut self, delta: &Delta) {
        let parts = [&delta.partial_json, &delta.thinking, &delta.signature, &delta.data];
        self.held += parts.into_iter().flatten().map(|p| p.0.len() + 1).sum::<usize>();
        self.bound();
    }

    /// Ends an answer that is written without an end, as if it were cut by length.
    fn bound(&mut self) {
        if self.held > MAX_HELD || self.calls > MAX_CALLS {
            (self.stop, self.ended) = (Some("max_tokens".into()), true);
        }
    }

    fn close(&mut self, index: u64) -> String {
        let at = self.by_index.get(&index).copied();
        let Some(Block::Text { buffer, all }) = at.and_then(|at| self.blocks.get_mut(at)) else {
            return String::new();
        };
        let rest = buffer.finish();
        all.push_str(&rest);
        self.said.push_str(&rest);
        rest
    }

    /// A message in one piece: some servers do not stream.
    fn whole(&mut self, event: Event) -> String {
        let mut shown = String::new();
        for (index, block) in (0..).zip(event.content.into_iter().flatten()) {
            if let Value::Object(start) = block {
                shown.push_str(&self.start(index, start));
            }
        }
        self.counts.take(event.usage.as_ref());
        self.stop = event.stop_reason;
        self.ended = self.stop.is_some();
        shown
    }

    fn reason(&self) -> StopReason {
        let calls = self.blocks.iter().any(|b| matches!(b, Block::Call { .. }));
        match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("refusal") => StopReason::Refusal,
            _ if calls => StopReason::ToolUse,
            _ => StopReason::End,
        }
    }

    /// The whole content as it goes back when the answer only paused.
    fn content(&self) -> Vec<Value> {
        let blocks = self.blocks.iter().filter(|b| !matches!(b, Block::Text { all, .. } if all.trim().is_empty()));
        let mut content: Vec<Value> = blocks.map(Block::value).collect();
        if let Some(Value::String(text)) = content.last_mut().and_then(|b| b.get_mut("text")) {
            text.truncate(text.trim_end().len());
        }
        content
    }
}

impl Block {
    fn value(&self) -> Value {
        match self {
            Block::Text { all, .. } => json!({"type": "text", "text": all}),
            Block::Call { id, name, given, written } => {
                let input: Value = serde_json::from_str(&arguments(given.clone(), written)).unwrap_or(json!({}));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
            Block::Other { start, pieces } => {
                let mut out = start.clone();
                for (key, bytes) in pieces {
                    let text = joined(bytes);
                    let value =
                        if key == "input" { serde_json::from_str(&text).unwrap_or(json!({})) } else { json!(text) };
                    out.insert(key.clone(), value);
                }
                Value::Object(out)
            }
        }
    }
}

/// What the call's fragments say, else what came with its start.
fn arguments(given: Option<Value>, written: &[u8]) -> String {
    match given {
        Some(Value::String(text)) if written.is_empty() => text,
        Some(given) if written.is_empty() && !given.is_null() => given.to_string(),
        _ => joined(written),
    }
}

impl Counts {
    fn take(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
        self.input = number("/input_tokens").or(self.input);
        self.cached_read = number("/cache_read_input_tokens").or(self.cached_read);
        self.cached_write = number("/cache_creation_input_tokens").or(self.cached_write);
        self.output = number("/output_tokens").or(self.output);
        self.reasoning = number("/output_tokens_details/thinking_tokens").or(self.reasoning);
    }

    /// The format counts what a cache gave and took apart; here it is part of the input.
    fn usage(&self) -> Option<Usage> {
        let (cached_read, cached_write) = (self.cached_read.unwrap_or_default(), self.cached_write.unwrap_or_default());
        Some(Usage {
            input: self.input?.saturating_add(cached_read).saturating_add(cached_write),
            output: self.output.unwrap_or_default(),
            cached_read,
            cached_write,
            reasoning: self.reasoning.unwrap_or_default(),
            ..Usage::default()
        })
    }
}
