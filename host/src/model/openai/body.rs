//! A request as the chat completions format has it.

use crate::model::remote::{Sending, is_shown, own_parts, placeholder, sendable_arguments, sendable_id, sendable_name};
use crate::model::{ModelCall, ModelMessage, ToolChoice};
use plugin_sdk::{ContentBlock, ImageData};
use serde_json::{Map, Value, json};

const MAX_ID: usize = 40;

/// The body. What stays the same from step to step stands first, so that a provider's cache can use it.
pub(super) fn body(sending: &Sending<'_>) -> Value {
    let config = &sending.model.config;
    let mut out = Map::new();
    out.insert("model".into(), json!(config.model));
    out.insert("stream".into(), json!(true));
    out.insert("stream_options".into(), json!({"include_usage": true}));
    // Compatible servers know the older name only.
    let limit = if config.base_url.is_none() { "max_completion_tokens" } else { "max_tokens" };
    out.insert(limit.into(), json!(config.max_output_tokens));
    if let Some(temperature) = config.temperature {
        out.insert("temperature".into(), json!(temperature));
    }
    let tools = &sending.tools.sent;
    if !tools.is_empty() {
        let wire: Vec<Value> = tools.iter().map(|t| Value::clone(&sending.model.tool(t).value)).collect();
        out.insert("tools".into(), Value::Array(wire));
    }
    out.insert("messages".into(), Value::Array(messages(sending)));
    if !tools.is_empty() && sending.request.tool_choice == ToolChoice::None {
        out.insert("tool_choice".into(), json!("none"));
    }
    Value::Object(out)
}

fn messages(sending: &Sending<'_>) -> Vec<Value> {
    let request = sending.request;
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": &*request.system}));
    }
    let mut writer = Writer { images: sending.model.config.images, maker: &sending.model.maker, waiting: Vec::new() };
    for message in &request.messages {
        if !matches!(message, ModelMessage::Tool { .. }) {
            out.extend(writer.images_of_results());
        }
        out.extend(writer.message(message));
    }
    out.extend(writer.images_of_results());
    out
}

struct Writer<'a> {
    images: bool,
    maker: &'a str,
    /// Images of the results so far: a result is text only, so they follow all of them.
    waiting: Vec<Value>,
}

impl Writer<'_> {
    fn images_of_results(&mut self) -> Option<Value> {
        if self.waiting.is_empty() {
            return None;
        }
        let mut content = vec![json!({"type": "text", "text": "[images of the results above]"})];
        content.append(&mut self.waiting);
        Some(json!({"role": "user", "content": content}))
    }

    /// One message; blank ones are not sent.
    fn message(&mut self, message: &ModelMessage) -> Option<Value> {
        match message {
            ModelMessage::User { text, images } => Some(json!({"role": "user", "content": self.user(text, images)?})),
            ModelMessage::Assistant { text, calls, opaque } => {
                let content = if text.trim().is_empty() { Value::Null } else { json!(text) };
                if calls.is_empty() && content.is_null() {
                    return None;
                }
                let own = own_parts(opaque, self.maker);
                let signature =
                    |n: u32| own.iter().find(|(after, _)| *after == n).and_then(|(_, part)| part.as_object());
                let mut out = Map::new();
                out.insert("role".into(), json!("assistant"));
                out.insert("content".into(), content);
                if !calls.is_empty() {
                    let calls: Vec<Value> = (1..).zip(calls).map(|(n, c)| call(c, signature(n))).collect();
                    out.insert("tool_calls".into(), Value::Array(calls));
                }
                out.extend(signature(0).cloned().unwrap_or_default());
                Some(Value::Object(out))
            }
            ModelMessage::Tool { call_id, content, .. } => {
                let content = self.result(content);
                Some(json!({"role": "tool", "tool_call_id": sendable_id(call_id, MAX_ID), "content": content}))
            }
        }
    }

    /// Text alone stays a plain text.
    fn user(&self, text: &str, images: &[ImageData]) -> Option<Value> {
        let (shown, hidden): (Vec<_>, Vec<_>) = images.iter().partition(|i| is_shown(i, self.images));
        let words = Some(text.to_owned()).into_iter().chain(hidden.into_iter().map(placeholder));
        let words: Vec<String> = words.filter(|t| !t.trim().is_empty()).collect();
        let words = words.join("\n");
        if shown.is_empty() {
            return (!words.is_empty()).then(|| json!(words));
        }
        let text = (!words.is_empty()).then(|| json!({"type": "text", "text": words}));
        Some(Value::Array(text.into_iter().chain(shown.into_iter().map(image)).collect()))
    }

    fn result(&mut self, content: &[ContentBlock]) -> String {
        let mut parts: Vec<String> = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text } if text.trim().is_empty() => {}
                ContentBlock::Text { text } => parts.push(text.clone()),
                ContentBlock::Image { image: data } if is_shown(data, self.images) => {
                    self.waiting.push(image(data));
                    parts.push("[image: in the next message]".into());
                }
                ContentBlock::Image { image } => parts.push(placeholder(image)),
            }
        }
        if parts.is_empty() { "(no output)".into() } else { parts.join("\n") }
    }
}

fn image(image: &ImageData) -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:{};base64,{}", image.mime, image.data)}})
}

/// A call, with what its maker signed it with.
fn call(call: &ModelCall, signature: Option<&Map<String, Value>>) -> Value {
    let function = json!({"name": sendable_name(&call.name), "arguments": sendable_arguments(&call.arguments)});
    let mut out = Map::new();
    out.insert("id".into(), json!(sendable_id(&call.id, MAX_ID)));
    out.insert("type".into(), json!("function"));
    out.insert("function".into(), function);
    out.extend(signature.cloned().unwrap_or_default());
    Value::Object(out)
}
