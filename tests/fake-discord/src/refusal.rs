//! How Discord says no.

use serde_json::{Value, json};

/// An error answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: u32,
    pub(crate) message: String,
    pub(crate) errors: Option<Value>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: u32, message: &str) -> Self {
        Self { status, code, message: message.into(), errors: None }
    }

    /// An id that names nothing; `code` says what was looked for.
    pub(crate) fn unknown(code: u32) -> Self {
        let what = match code {
            10002 => "Unknown Application",
            10003 => "Unknown Channel",
            10004 => "Unknown Guild",
            10007 => "Unknown Member",
            10008 => "Unknown Message",
            10013 => "Unknown User",
            10014 => "Unknown Emoji",
            10015 => "Unknown Webhook",
            10062 => "Unknown interaction",
            10063 => "Unknown application command",
            _ => "404: Not Found",
        };
        Self::new(404, code, what)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, 0, "401: Unauthorized")
    }

    pub(crate) fn access() -> Self {
        Self::new(403, 50001, "Missing Access")
    }

    pub(crate) fn permission() -> Self {
        Self::new(403, 50013, "Missing Permissions")
    }

    pub(crate) fn empty_message() -> Self {
        Self::new(400, 50006, "Cannot send an empty message")
    }

    /// One wrong field, at a path like `components.0`.
    pub(crate) fn field(at: &str, code: &str, message: &str) -> Self {
        let mut form = crate::form::FormErrors::default();
        form.add(at, code, message);
        form.refusal()
    }

    /// Whether the request itself was wrong, not what it met.
    pub(crate) fn malformed(&self) -> bool {
        matches!(self.code, 50035 | 50006 | 50109 | 40005) || (self.status == 401 && self.code == 0)
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"message": self.message, "code": self.code});
        if let Some(errors) = &self.errors {
            body["errors"] = errors.clone();
        }
        body
    }
}
