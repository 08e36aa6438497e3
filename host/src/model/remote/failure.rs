//! What a failed exchange means: repeat it, give up, or it was our own fault.

use crate::net::{NetError, scrub};
use chrono::{DateTime, Utc};
use serde_json::Value;
use std::time::Duration;

const MAX_REASON: usize = 200;
/// A provider that asks for more is left alone.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// One failed attempt. Reasons are short and hold no secret, no address and no page of a provider's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::model) enum Fault {
    /// A repeat may help; `wait` is what the provider asked for.
    Transient { reason: String, wait: Option<Duration> },
    /// It asked for a longer pause than a turn has.
    Busy { reason: String },
    /// Key, account, model id or address are refused.
    Down { reason: String },
    /// Our request is wrong.
    Rejected { reason: String, param: Option<String> },
    /// The request has too many bytes.
    TooLarge { reason: String },
    /// The conversation does not fit.
    TooLong,
    /// The provider's filter stopped it.
    Filtered,
    /// The turn was stopped.
    Cancelled,
}

impl Fault {
    pub(in crate::model) fn transient(reason: impl Into<String>) -> Self {
        Fault::Transient { reason: reason.into(), wait: None }
    }
}

impl From<NetError> for Fault {
    fn from(e: NetError) -> Self {
        match e {
            NetError::Request(_) | NetError::Setup(_) => Fault::Down { reason: e.to_string() },
            NetError::Connect(_) | NetError::Broken(_) | NetError::TooLarge { .. } => Fault::transient(e.to_string()),
        }
    }
}

/// The error object of a body, as far as there is one.
#[derive(Debug, Default)]
pub(in crate::model) struct ErrorBody {
    message: String,
    code: String,
    param: Option<String>,
}

impl ErrorBody {
    /// Reads `{"error": {…}}`, `{"error": "…"}` and `{"message": "…"}`; anything else gives nothing.
    pub(super) fn read(body: &[u8]) -> Self {
        serde_json::from_slice::<Value>(body).map(|v| Self::of(v.get("error").unwrap_or(&v))).unwrap_or_default()
    }

    pub(in crate::model) fn of(error: &Value) -> Self {
        let text = |key: &str| match error.get(key) {
            Some(Value::String(s)) => Some(s.clone()),
            Some(Value::Number(n)) => Some(n.to_string()),
            _ => None,
        };
        let message = error.as_str().map(str::to_owned).or_else(|| text("message")).or_else(|| text("detail"));
        Self {
            message: message.unwrap_or_default(),
            code: text("code").or_else(|| text("type")).unwrap_or_default(),
            param: text("param"),
        }
    }

    /// Status of an error inside a stream: its code or its name when that says one, else a server's fault.
    pub(in crate::model) fn status(&self) -> u16 {
        match self.code.as_str() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            code => code.parse().ok().filter(|s| (400..600).contains(s)).unwrap_or(500),
        }
    }

    fn too_long(&self) -> bool {
        let text = self.message.to_lowercase();
        let said = [
            "context length",
            "context window",
            "context size",
            "maximum context",
            "too many tokens",
            "prompt is too long",
            "input is too long",
            "reduce the length",
            "maximum prompt length",
        ];
        self.code == "context_length_exceeded" || said.iter().any(|s| text.contains(s))
    }
}

/// The class of an answer that is no success.
pub(in crate::model) fn classify(
    status: u16,
    body: &ErrorBody,
    retry_after: Option<Duration>,
    secrets: &[&str],
) -> Fault {
    match status {
        429 => match retry_after {
            Some(wait) if wait > LONGEST_WAIT => Fault::Busy { reason: "HTTP 429: asks for a long pause".into() },
            wait => Fault::Transient { reason: "HTTP 429".into(), wait },
        },
        408 | 409 | 500.. => Fault::transient(format!("HTTP {status}")),
        400 | 413 | 422 => rejected(status, body, secrets),
        // The texts of these tend to repeat a part of the key.
        401 | 403 => Fault::Down { reason: format!("HTTP {status}: the key is refused") },
        402 => Fault::Down { reason: "HTTP 402: payment is due".into() },
        404 => Fault::Down { reason: "HTTP 404: no such model or address".into() },
        300..=399 => Fault::Down { reason: format!("HTTP {status}: a redirect, which is not followed") },
        _ => Fault::Down { reason: format!("HTTP {status}") },
    }
}

fn rejected(status: u16, body: &ErrorBody, secrets: &[&str]) -> Fault {
    if body.too_long() {
        return Fault::TooLong;
    }
    if body.code == "content_filter" {
        return Fault::Filtered;
    }
    let said = scrub(&body.message, secrets, MAX_REASON);
    let reason = if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") };
    if status == 413 { Fault::TooLarge { reason } } else { Fault::Rejected { reason, param: body.param.clone() } }
}

/// `Retry-After` as a pause: seconds or a date.
pub(in crate::model) fn retry_after(header: &str, now: DateTime<Utc>) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = DateTime::parse_from_rfc2822(header).ok()?;
    Some((at.with_timezone(&Utc) - now).to_std().unwrap_or(Duration::ZERO))
}

/// Which of the tools sent a refusal names, when it is exactly one.
pub(in crate::model) fn named_tool<'a>(reason: &str, param: Option<&str>, sent: &[&'a str]) -> Option<&'a str> {
    let by_index = param.and_then(tool_index).or_else(|| tool_index(reason));
    if let Some(name) = by_index.and_then(|i| sent.get(i)) {
        return Some(name);
    }
    let mut named = sent.iter().filter(|name| mentions(reason, name));
    let first = named.next()?;
    named.next().is_none().then_some(*first)
}

/// The number in `tools[3]` or `tools.3`.
fn tool_index(text: &str) -> Option<usize> {
    let after = text.split("tools").skip(1).find_map(|t| t.strip_prefix(['[', '.']))?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A name in quotes, or right after `function` or `tool`: many names are also ordinary words.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        let quote = before.chars().next_back().filter(|c| matches!(c, '\'' | '"' | '`'));
        if quote.is_some() {
            return after.starts_with(['\'', '"', '`']);
        }
        let part_of_word = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'));
        let before = before.trim_end_matches([' ', ':']).to_lowercase();
        !part_of_word && (before.ends_with("function") || before.ends_with("tool"))
    })
}
