//! What goes wrong, and when.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fault with its occasion. Calls are counted from the moment the rule is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Method, `*` for any, `file` for a download, in any case.
    pub method: String,
    /// The first call it meets, from 1.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many calls it meets from there; 0 is all.
    #[serde(default = "one")]
    pub times: u64,
    /// Only calls to this conversation.
    #[serde(default)]
    pub chat: Option<i64>,
    /// Only calls with entities or a `parse_mode`.
    #[serde(default)]
    pub formatted: bool,
    /// Only calls whose text or caption holds this.
    #[serde(default)]
    pub text: Option<String>,
    /// What happens.
    pub fault: Fault,
}

fn one() -> u64 {
    1
}

/// What happens to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// Too many requests (429). With `hold`, the default, every further call to that conversation is refused until
    /// then, and is a violation.
    TooMany {
        /// Seconds to wait.
        seconds: i64,
        /// Whether the conversation is held.
        #[serde(default = "yes")]
        hold: bool,
    },
    /// 409, another poller.
    Conflict,
    /// 400, the markup cannot be parsed.
    Parse,
    /// 403.
    Forbidden {
        /// Text after `Forbidden: `.
        #[serde(default = "blocked")]
        description: String,
    },
    /// The group becomes a supergroup just before this call, which is refused with the new id.
    Migrate {
        /// New id.
        to: i64,
    },
    /// Any error.
    Status {
        /// Status.
        status: u16,
        /// Whole text of the error.
        #[serde(default)]
        description: String,
        /// A page of a proxy instead of JSON.
        #[serde(default)]
        html: bool,
    },
    /// Nothing is done and nothing is answered.
    Never,
    /// It is done, but nothing is answered.
    AppliedThenNever,
    /// The connection is closed without an answer, nothing is done.
    Close,
    /// It is done, then the connection is closed without an answer.
    AppliedThenClose,
    /// It is done, but answered only after so many seconds of the server's clock.
    Late {
        /// Seconds.
        seconds: i64,
    },
    /// This result, whatever was asked; for methods the server does not simulate.
    Answer {
        /// `result` of the answer.
        result: Value,
    },
    /// Bytes that are no JSON, with status 200.
    Garbage,
    /// Half of the file, then the connection is closed; of a download only.
    CutFile,
}

fn yes() -> bool {
    true
}

fn blocked() -> String {
    "bot was blocked by the user".into()
}

impl Fault {
    /// A rule for the next call of a method.
    pub fn once(self, method: impl Into<String>) -> Rule {
        let method = method.into();
        Rule { method, nth: 1, times: 1, chat: None, formatted: false, text: None, fault: self }
    }

    /// A rule for every call of a method.
    pub fn always(self, method: impl Into<String>) -> Rule {
        Rule { times: 0, ..self.once(method) }
    }

    /// 429 that holds the conversation.
    pub fn too_many(seconds: i64) -> Self {
        Fault::TooMany { seconds, hold: true }
    }

    /// Its name in the record of requests.
    pub fn name(&self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v["kind"].as_str().map(str::to_owned)).unwrap_or_default()
    }
}

impl Rule {
    /// From the n-th call on.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        Self { nth, ..self }
    }

    /// For so many calls.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times, ..self }
    }

    /// Only in one conversation.
    #[must_use]
    pub fn chat(self, chat: i64) -> Self {
        Self { chat: Some(chat), ..self }
    }

    /// Only for formatted texts.
    #[must_use]
    pub fn formatted(self) -> Self {
        Self { formatted: true, ..self }
    }

    /// Only for texts that hold this.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }
}

/// A rule and how many calls it has seen.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Armed {
    pub(crate) rule: Rule,
    pub(crate) seen: u64,
}

impl Armed {
    pub(crate) fn new(rule: Rule) -> Self {
        Self { rule, seen: 0 }
    }

    /// Counts a call that fits; true when the fault is due.
    fn due(&mut self, method: &str, fields: &Value) -> bool {
        let rule = &self.rule;
        let text = fields.get("text").or_else(|| fields.get("caption")).and_then(Value::as_str).unwrap_or_default();
        let marked = ["entities", "caption_entities", "parse_mode"].iter().any(|f| {
            fields.get(f).is_some_and(|v| v.as_array().is_none_or(|l| !l.is_empty()) && v.as_str() != Some("[]"))
        });
        let chat = fields.get("chat_id").and_then(|c| c.as_i64().or_else(|| c.as_str()?.parse().ok()));
        let fits = (rule.method == "*" || rule.method.eq_ignore_ascii_case(method))
            && rule.chat.is_none_or(|wanted| chat == Some(wanted))
            && (!rule.formatted || marked)
            && rule.text.as_ref().is_none_or(|part| text.contains(part));
        if !fits {
            return false;
        }
        self.seen += 1;
        self.seen >= rule.nth && (rule.times == 0 || self.seen < rule.nth + rule.times)
    }

    fn spent(&self) -> bool {
        self.rule.times != 0 && self.seen + 1 >= self.rule.nth + self.rule.times
    }
}

/// The fault of a call: of all rules that count it, the first that is due.
pub(super) fn due(faults: &mut Vec<Armed>, method: &str, fields: &Value) -> Option<Fault> {
    let mut out = None;
    for armed in faults.iter_mut() {
        if armed.due(method, fields) && out.is_none() {
            out = Some(armed.rule.fault.clone());
        }
    }
    faults.retain(|armed| !armed.spent());
    out
}
