//! One REST request from its arrival to its answer: log, ban, token, faults, limits, handler.

use crate::fault::RestEffect;
use crate::limits::{Bucket, Limited, RateScope};
use crate::log::{Request, Violation, ViolationKind};
use crate::refusal::Refusal;
use crate::rest::{self, Call, Reply};
use crate::world::World;
use serde_json::Value;
use std::sync::Arc;

/// What is known of a request before its body is looked at.
pub(crate) struct Asked {
    pub(crate) call: Call,
    pub(crate) query: String,
    pub(crate) token: Option<String>,
    pub(crate) agent: bool,
    /// Why the body cannot be read.
    pub(crate) unread: Option<Refusal>,
}

/// An answer to write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settled {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Shown,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Nothing,
    Json(Value),
    Page(String),
}

impl Settled {
    fn page(status: u16, text: &str) -> Self {
        let body = format!("<html><head><title>{status}</title></head><body><h1>{text}</h1></body></html>");
        Self { status, headers: Vec::new(), body: Shown::Page(body) }
    }

    fn code(&self) -> u32 {
        let Shown::Json(body) = &self.body else { return 0 };
        let code = body.get("code").and_then(Value::as_u64).filter(|_| self.status >= 400);
        code.and_then(|n| u32::try_from(n).ok()).unwrap_or_default()
    }
}

/// The path as it is kept: an interaction's token is a secret.
fn shown_path(parts: &[&str]) -> String {
    let secret = match parts.first() {
        Some(&"webhooks") => Some(2),
        Some(&"interactions") => Some(2),
        _ => None,
    };
    let kept = parts.iter().enumerate().map(|(i, part)| if Some(i) == secret { ":token" } else { part });
    kept.collect::<Vec<_>>().join("/")
}

impl World {
    /// Notes a request; gives its number and the fault to play.
    pub(crate) fn arrive(&mut self, asked: &Asked) -> (usize, Option<RestEffect>) {
        let parts = asked.call.parts();
        let at_ms = self.now_ms();
        let bucket = Bucket::of(&asked.call.method, &parts);
        let effect = if self.buckets.blocked(&bucket, at_ms).is_some() {
            None
        } else {
            self.faults.take(&asked.call.method, &parts)
        };
        let number = self.log.requests.len() + 1;
        self.log.requests.push(Arc::new(Request {
            number,
            at_ms,
            method: asked.call.method.clone(),
            path: shown_path(&parts),
            query: asked.query.clone(),
            body: asked.call.body.json.clone(),
            files: asked.call.body.files.iter().map(|f| f.name.clone()).collect(),
            status: 0,
            code: 0,
            fault: effect.as_ref().map(|e| format!("{e:?}")),
        }));
        (number, effect)
    }

    /// Answers a request and notes the answer.
    pub(crate) fn settle(&mut self, number: usize, asked: &Asked, effect: Option<&RestEffect>) -> Settled {
        let now = self.now_ms();
        let settled = self.settled(number, asked, effect);
        if let Some(request) = self.log.requests.get_mut(number - 1).map(Arc::make_mut) {
            request.status = settled.status;
            request.code = settled.code();
        }
        let shared = settled.headers.iter().any(|(name, value)| *name == "x-ratelimit-scope" && value == "shared");
        if matches!(settled.status, 401 | 403 | 429) && !shared {
            self.log.invalid_ms.push(now);
        }
        settled
    }

    fn settled(&mut self, number: usize, asked: &Asked, effect: Option<&RestEffect>) -> Settled {
        let now = self.now_ms();
        let bucket = Bucket::of(&asked.call.method, &asked.call.parts());
        if self.log.banned(now) {
            return Settled::page(429, "error code: 1015");
        }
        if let Some(scripted) = effect.and_then(|effect| self.scripted(&bucket, effect)) {
            return scripted;
        }
        if !asked.agent {
            let refusal = Refusal::new(403, 40333, "internal network error");
            return self.refused(number, refusal);
        }
        if !asked.call.is_open() && asked.token.as_deref() != Some(self.options.token.as_str()) {
            return self.refused(number, Refusal::unauthorized());
        }
        let counted = self.options.rates;
        if let Err(limited) = self.buckets.take(&bucket, now, counted) {
            let mut settled = self.limited(number, &limited);
            if limited.scope != RateScope::Global {
                settled.headers.extend(self.buckets.headers(&bucket, now));
            }
            return settled;
        }
        let answer = match &asked.unread {
            Some(refusal) => Err(refusal.clone()),
            None => rest::answer(self, &asked.call),
        };
        let mut settled = match answer {
            Ok(Reply::Empty) => Settled { status: 204, headers: Vec::new(), body: Shown::Nothing },
            Ok(Reply::Json(status, body)) => Settled { status, headers: Vec::new(), body: Shown::Json(body) },
            Err(refusal) => self.refused(number, refusal),
        };
        settled.headers.extend(self.buckets.headers(&bucket, now));
        settled
    }

    fn scripted(&mut self, bucket: &Bucket, effect: &RestEffect) -> Option<Settled> {
        match effect {
            RestEffect::Status { status, message, html: true, .. } => Some(Settled::page(*status, message)),
            RestEffect::Status { status, code, message, .. } => {
                let body = Refusal::new(*status, *code, message).body();
                Some(Settled { status: *status, headers: Vec::new(), body: Shown::Json(body) })
            }
            RestEffect::UnknownInteraction => {
                let refusal = Refusal::unknown(10062);
                Some(Settled { status: 404, headers: Vec::new(), body: Shown::Json(refusal.body()) })
            }
            RestEffect::RateLimit { html: true, headers, retry_after_ms, .. } => {
                let mut page = Settled::page(429, "Too Many Requests");
                if *headers {
                    page.headers.push(("retry-after", retry_after_ms.div_ceil(1_000).to_string()));
                }
                Some(page)
            }
            RestEffect::RateLimit { retry_after_ms, scope, headers, .. } => {
                let now = self.now_ms();
                self.buckets.block(bucket, *scope, now + retry_after_ms);
                let limited = Limited { retry_ms: *retry_after_ms, scope: *scope, early: false };
                let mut shown = if *headers { limited.headers() } else { Vec::new() };
                if *headers && *scope != RateScope::Global {
                    shown.extend(self.buckets.headers(bucket, now));
                }
                Some(Settled { status: 429, headers: shown, body: Shown::Json(limited.body()) })
            }
            _ => None,
        }
    }

    fn limited(&mut self, number: usize, limited: &Limited) -> Settled {
        let kind = if limited.early { ViolationKind::Early } else { ViolationKind::Limited };
        let body = limited.body();
        let message = body.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.violation(number, kind, Refusal::new(429, 0, &message));
        Settled { status: 429, headers: limited.headers(), body: Shown::Json(body) }
    }

    fn refused(&mut self, number: usize, refusal: Refusal) -> Settled {
        let kind = if refusal.malformed() { ViolationKind::Malformed } else { ViolationKind::Refused };
        let settled = Settled { status: refusal.status, headers: Vec::new(), body: Shown::Json(refusal.body()) };
        self.violation(number, kind, refusal);
        settled
    }

    fn violation(&mut self, number: usize, kind: ViolationKind, refusal: Refusal) {
        let Some(request) = self.log.requests.get(number - 1) else { return };
        self.log.violations.push(Violation {
            kind,
            request: format!("{} {}", request.method, request.path),
            number,
            status: refusal.status,
            code: refusal.code,
            message: refusal.message,
            errors: refusal.errors.unwrap_or_default(),
            at_ms: self.clock.now_ms(),
        });
    }
}
