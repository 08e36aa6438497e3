//! What one attempt has given so far.

use super::assemble::Assembler;
use super::chunk::{self, Delta};
use crate::model::remote::{Answer, ErrorBody, Fault, Reader, Reading, TextBuffer, classify};
use crate::model::{StopReason, Usage};
use serde_json::{Value, json};

/// Reads chunks, and whole completions.
#[derive(Debug, Default)]
pub(super) struct ChatReader {
    buffer: TextBuffer,
    calls: Assembler,
    /// Visible text so far, for the estimate and for what a refusal means.
    said: String,
    /// What the maker wants back with the message.
    extra: Option<Value>,
    refused: bool,
    finish: Option<String>,
    done: bool,
    usage: Option<Usage>,
}

impl Reader for ChatReader {
    fn take(&mut self, data: &str, secrets: &[&str]) -> Result<String, Fault> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(self.show(|b| b.finish()));
        }
        let Some(chunk) = chunk::parse(data) else { return Err(Fault::transient("an unreadable event")) };
        if let Some(error) = chunk.error.filter(|e| !e.is_null()) {
            let body = ErrorBody::of(&error);
            return Err(classify(body.status(), &body, None, secrets));
        }
        if let Some(usage) = chunk.usage.as_ref().and_then(usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = chunk.choices.and_then(|c| c.into_iter().next()) else { return Ok(String::new()) };
        let mut text = String::new();
        if let Some(delta) = choice.delta.or(choice.message) {
            text = self.delta(delta);
        }
        if let Some(reason) = choice.finish_reason {
            self.finish = Some(reason);
            text.push_str(&self.show(|b| b.finish()));
        }
        Ok(text)
    }

    fn reading(&self) -> Reading {
        match (self.done, &self.finish) {
            (true, _) => Reading::Ended,
            (false, Some(_)) => Reading::Finished,
            (false, None) => Reading::Open,
        }
    }

    fn answer(self: Box<Self>, step: u32, taken: &dyn Fn(&str) -> bool) -> Answer {
        let stop = self.stop();
        let message = self.extra.clone().map(|e| (0, e));
        let signed = message.into_iter().chain(self.calls.signatures());
        let opaque = signed.map(|(after, extra)| (after, json!({"extra_content": extra}))).collect();
        let calls = self.calls.finish(step, taken);
        Answer { said: self.said, calls, opaque, stop: Some(stop), paused: None, usage: self.usage }
    }
}

impl ChatReader {
    fn delta(&mut self, delta: Delta) -> String {
        for fragment in delta.tool_calls.into_iter().flatten() {
            self.calls.push(fragment);
        }
        if self.calls.is_over() {
            (self.finish, self.done) = (Some("length".into()), true);
        }
        self.refused |= delta.refusal.is_some_and(|r| !r.0.is_empty());
        if delta.extra_content.is_some() {
            self.extra = delta.extra_content;
        }
        match delta.content {
            Some(piece) => self.show(|b| b.push(&piece)),
            None => String::new(),
        }
    }

    fn show(&mut self, take: impl FnOnce(&mut TextBuffer) -> String) -> String {
        let text = take(&mut self.buffer);
        self.said.push_str(&text);
        text
    }

    fn stop(&self) -> StopReason {
        match self.finish.as_deref() {
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter" | "refusal") => StopReason::Refusal,
            _ if !self.calls.is_empty() => StopReason::ToolUse,
            _ if self.refused && self.said.trim().is_empty() => StopReason::Refusal,
            _ => StopReason::End,
        }
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    Some(Usage {
        input: number("/prompt_tokens")?,
        output: number("/completion_tokens").unwrap_or_default(),
        cached_read: number("/prompt_tokens_details/cached_tokens").unwrap_or_default(),
        reasoning: number("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
        ..Usage::default()
    })
}
