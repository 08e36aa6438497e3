//! What one attempt has given so far.

use super::assemble::Assembler;
use super::chunk::{self, Delta};
use super::failure::{ErrorBody, Fault, classify};
use super::text::TextBuffer;
use crate::config::ModelConfig;
use crate::model::{StopReason, Usage};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Answer {
    buffer: TextBuffer,
    pub(super) calls: Assembler,
    /// Visible text so far, for the estimate and for what a refusal means.
    pub(super) said: String,
    refused: bool,
    finish: Option<String>,
    done: bool,
    pub(super) usage: Option<Usage>,
}

impl Answer {
    /// Takes one event; gives the text to show.
    pub(super) fn take(&mut self, data: &str, secrets: &[&str]) -> Result<String, Fault> {
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

    fn delta(&mut self, delta: Delta) -> String {
        for fragment in delta.tool_calls.into_iter().flatten() {
            self.calls.push(fragment);
        }
        self.refused |= delta.refusal.is_some_and(|r| !r.0.is_empty());
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

    /// Nothing more needs to come.
    pub(super) fn ended(&self) -> bool {
        self.done
    }

    /// The model has finished; only the usage may follow.
    pub(super) fn finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether the end of the stream was the end of the answer.
    pub(super) fn whole(&self) -> bool {
        self.done || self.finish.is_some()
    }

    pub(super) fn stop(&self) -> StopReason {
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

/// The price of a step.
pub(super) fn cost(usage: &Usage, config: &ModelConfig) -> f64 {
    const PER: f64 = 1_000_000.0;
    let cached = usage.cached_read.min(usage.input);
    let price_cached = config.price_cached.unwrap_or(config.price_in);
    let parts = [
        (usage.input - cached) as f64 * config.price_in,
        cached as f64 * price_cached,
        usage.output as f64 * config.price_out,
    ];
    parts.iter().sum::<f64>() / PER
}
