//! A request as the messages format has it: people and results are the user, roles alternate, each call's result
//! is in the very next message, and no block is blank.

use crate::model::remote::{Ids, Sending, is_shown, own_parts, placeholder, sendable_arguments, sendable_name};
use crate::model::{ModelCall, ModelMessage, ModelTool, Opaque, ToolChoice};
use plugin_sdk::{ContentBlock, ImageData};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

const MAX_ID: usize = 64;
/// Stands first when the view begins with an answer.
const BEFORE: &str = "[earlier messages not shown]";

/// The body. What stays the same from step to step stands first.
pub(super) fn body(sending: &Sending<'_>) -> Value {
    let config = &sending.model.config;
    let mut out = Map::new();
    out.insert("model".into(), json!(config.model));
    out.insert("max_tokens".into(), json!(config.max_output_tokens));
    out.insert("stream".into(), json!(true));
    if let Some(temperature) = config.temperature {
        out.insert("temperature".into(), json!(temperature));
    }
    let tools = tools(sending);
    let any = !tools.is_empty();
    if any {
        out.insert("tools".into(), Value::Array(tools));
    }
    let system = &sending.request.system;
    if !system.trim().is_empty() {
        out.insert("system".into(), json!([marked(json!({"type": "text", "text": &**system}))]));
    }
    out.insert("messages".into(), Value::Array(messages(sending)));
    if any && sending.request.tool_choice == ToolChoice::None {
        out.insert("tool_choice".into(), json!({"type": "none"}));
    }
    Value::Object(out)
}

/// The list; the cache reaches to the last tool that needs no finding.
fn tools(sending: &Sending<'_>) -> Vec<Value> {
    let listed = sending.tools.listed();
    let last = listed.iter().rposition(|(_, deferred)| !deferred);
    let written = listed.iter().enumerate().map(|(i, (tool, deferred))| {
        let mut value = Value::clone(&sending.model.tool(tool).value);
        if let (true, Some(map)) = (*deferred, value.as_object_mut()) {
            map.insert("defer_loading".into(), json!(true));
        }
        if Some(i) == last { marked(value) } else { value }
    });
    written.collect()
}

/// The block with the mark up to which the provider keeps what it read.
fn marked(mut block: Value) -> Value {
    if let Some(map) = block.as_object_mut() {
        map.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    block
}

fn messages(sending: &Sending<'_>) -> Vec<Value> {
    let mut writer = Writer::new(sending);
    for message in &sending.request.messages {
        match message {
            ModelMessage::User { text, images } => writer.user(text, images),
            ModelMessage::Assistant { text, calls, opaque } => writer.assistant(text, calls, opaque),
            ModelMessage::Tool { call_id, content, is_error, references, .. } => {
                writer.result(call_id, content, *is_error, references);
            }
        }
    }
    writer.go_on_from(sending.continued);
    writer.out.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

struct Writer<'a> {
    images: bool,
    maker: &'a str,
    /// Wire names of the tools of this request, by qualified name; `None` when results hold no references.
    offered: Option<HashMap<&'a str, &'a str>>,
    ids: Ids,
    out: Vec<(&'static str, Vec<Value>)>,
}

impl<'a> Writer<'a> {
    fn new(sending: &'a Sending<'a>) -> Self {
        let name = |(t, _): (&'a ModelTool, bool)| (&*t.qualified, &*t.wire);
        Self {
            images: sending.model.config.images,
            maker: &sending.model.maker,
            offered: sending.tools.deferral.then(|| sending.tools.listed().into_iter().map(name).collect()),
            ids: Ids::default(),
            out: Vec::new(),
        }
    }

    /// Adds blocks; those of one role in a row are one message.
    fn add(&mut self, role: &'static str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        if self.out.is_empty() && role == "assistant" {
            self.out.push(("user", vec![text_block(BEFORE)]));
        }
        match self.out.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => self.out.push((role, blocks)),
        }
    }

    fn user(&mut self, text: &str, images: &[ImageData]) {
        let blocks = images.iter().map(|i| self.image(i));
        let text = (!text.trim().is_empty()).then(|| text_block(text));
        self.add("user", text.into_iter().chain(blocks).collect());
    }

    fn image(&self, image: &ImageData) -> Value {
        if !is_shown(image, self.images) {
            return text_block(&placeholder(image));
        }
        json!({"type": "image", "source": {"type": "base64", "media_type": image.mime, "data": image.data}})
    }

    /// Text and calls, with what this maker signed in its old places.
    fn assistant(&mut self, text: &str, calls: &[ModelCall], opaque: &[Opaque]) {
        let mut own = own_parts(opaque, self.maker).into_iter().peekable();
        let mut blocks = Vec::new();
        let mut signed = |blocks: &mut Vec<Value>, parts: u32| {
            while let Some((_, part)) = own.next_if(|(after, _)| *after <= parts) {
                blocks.push(part);
            }
        };
        signed(&mut blocks, 0);
        let spoken = text.trim_end();
        if !spoken.is_empty() {
            blocks.push(text_block(spoken));
        }
        for (parts, call) in (1..).zip(calls) {
            signed(&mut blocks, parts);
            let input: Value = serde_json::from_str(&sendable_arguments(&call.arguments)).unwrap_or(json!({}));
            let id = self.ids.call(&call.id, MAX_ID);
            blocks.push(json!({"type": "tool_use", "id": id, "name": sendable_name(&call.name), "input": input}));
        }
        signed(&mut blocks, u32::MAX);
        let says = blocks.iter().any(|b| b.get("type").is_some_and(|t| t != "thinking" && t != "redacted_thinking"));
        if says {
            self.add("assistant", blocks);
        }
    }

    /// A result; one without its call is not sent.
    fn result(&mut self, call_id: &str, content: &[ContentBlock], is_error: bool, references: &[String]) {
        let Some(id) = self.ids.answered(call_id) else { return };
        let mut blocks: Vec<Value> = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text } if text.trim().is_empty() => {}
                ContentBlock::Text { text } => blocks.push(text_block(text)),
                ContentBlock::Image { image } => blocks.push(self.image(image)),
            }
        }
        for name in self.offered.iter().flat_map(|_| references) {
            blocks.push(self.reference(name));
        }
        if blocks.is_empty() {
            blocks.push(text_block("(no output)"));
        }
        let mut out = json!({"type": "tool_result", "tool_use_id": id, "content": blocks});
        if let (true, Some(map)) = (is_error, out.as_object_mut()) {
            map.insert("is_error".into(), json!(true));
        }
        self.add("user", vec![out]);
    }

    /// A tool that is no longer in the request is named in words: a reference to it would be refused.
    fn reference(&self, qualified: &str) -> Value {
        match self.offered.as_ref().and_then(|o| o.get(qualified)) {
            Some(wire) => json!({"type": "tool_reference", "tool_name": wire}),
            None => text_block(&format!("[tool {qualified}: no longer available]")),
        }
    }

    /// Marks the last words of a person or result, and adds what a paused answer has so far.
    fn go_on_from(&mut self, continued: &[Value]) {
        let last = self.out.iter_mut().rfind(|(role, _)| *role == "user");
        if let Some(block) = last.and_then(|(_, content)| content.last_mut()) {
            *block = marked(std::mem::take(block));
        }
        self.add("assistant", continued.to_vec());
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
