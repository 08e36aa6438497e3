//! Errors as the Bot API writes them.

use serde_json::{Value, json};

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) description: String,
    pub(crate) parameters: Option<Value>,
    /// A careful client never sends such a request: it is recorded as a violation.
    pub(crate) avoidable: bool,
}

impl Refusal {
    /// 400 for a request that is wrong in itself.
    pub(crate) fn wrong(text: impl AsRef<str>) -> Self {
        Self { avoidable: true, ..Self::bad(text) }
    }

    /// 400 that depends on what others did meanwhile.
    pub(crate) fn bad(text: impl AsRef<str>) -> Self {
        let description = format!("Bad Request: {}", text.as_ref());
        Self { code: 400, description, parameters: None, avoidable: false }
    }

    /// 403.
    pub(crate) fn forbidden(text: impl AsRef<str>) -> Self {
        Self { code: 403, ..Self::plain(403, format!("Forbidden: {}", text.as_ref())) }
    }

    /// Any status with its whole text.
    pub(crate) fn plain(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), parameters: None, avoidable: false }
    }

    /// 429.
    pub(crate) fn slow_down(seconds: i64) -> Self {
        let description = format!("Too Many Requests: retry after {seconds}");
        Self { code: 429, description, parameters: Some(json!({"retry_after": seconds})), avoidable: false }
    }

    /// 400 of a group that became a supergroup.
    pub(crate) fn migrated(to: i64) -> Self {
        let parameters = Some(json!({"migrate_to_chat_id": to}));
        Self { parameters, ..Self::bad("group chat was upgraded to a supergroup chat") }
    }

    /// Marks it as a violation.
    pub(crate) fn avoidable(self) -> Self {
        Self { avoidable: true, ..self }
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"ok": false, "error_code": self.code, "description": self.description});
        if let (Some(parameters), Some(map)) = (&self.parameters, body.as_object_mut()) {
            map.insert("parameters".into(), parameters.clone());
        }
        body
    }
}
