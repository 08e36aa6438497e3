//! `[access]` and `[approval]`: what acts at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strangers are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessMode {
    /// Only who is listed.
    #[default]
    Allowlist,
    /// Everybody.
    Open,
    /// Strangers get a code.
    Pairing,
}

/// `[access]`: part of `LivePolicy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct AccessConfig {
    /// Mode.
    pub mode: AccessMode,
    /// `platform:id`.
    #[schemars(extend("uniqueItems" = true))]
    pub masters: Vec<String>,
    /// `platform:id`.
    #[schemars(extend("uniqueItems" = true))]
    pub trusted: Vec<String>,
    /// `platform:id`, private chats.
    #[schemars(extend("uniqueItems" = true))]
    pub users: Vec<String>,
    /// `platform:scene`, `platform:*`.
    #[schemars(extend("uniqueItems" = true))]
    pub groups: Vec<String>,
    /// Wins over all but masters.
    #[schemars(extend("uniqueItems" = true))]
    pub deny: Vec<String>,
    /// One sentence a day to private strangers.
    pub stranger_reply: bool,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            mode: AccessMode::Allowlist,
            masters: Vec::new(),
            trusted: Vec::new(),
            users: Vec::new(),
            groups: Vec::new(),
            deny: Vec::new(),
            stranger_reply: true,
        }
    }
}

/// A capability policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A person is asked.
    #[default]
    Confirm,
    /// Runs.
    Allow,
    /// Refused.
    Deny,
}

/// `[approval]`: part of `LivePolicy`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
// SHAPE: 08 §1
pub struct ApprovalConfig {
    /// Policy of writing tools.
    pub write_mode: Mode,
    /// Policy of executing tools.
    pub execute_mode: Mode,
    /// A master's own request is not asked about, in private and on the console only.
    pub auto_approve_master: bool,
    /// Permits of who may answer.
    #[schemars(extend("uniqueItems" = true))]
    pub approvers: Vec<String>,
    /// Seconds a question stays open.
    #[schemars(range(min = 10, max = 3600))]
    pub timeout_seconds: u64,
    /// Questions of one turn.
    #[schemars(range(min = 1))]
    pub max_per_turn: u32,
    /// Whether a group's member may say yes to a call of its own.
    pub requester_may_answer: RequesterMayAnswer,
    /// `platform:id` of people who get every card in private, if they pass `approvers`.
    #[schemars(extend("uniqueItems" = true))]
    pub notify: Vec<String>,
    /// Days after which an unused yes for a session is forgotten.
    #[schemars(range(min = 1, max = 3650))]
    pub remember_days: u64,
}

/// Who may say yes to its own call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequesterMayAnswer {
    /// In private the requester; in groups only if it passes `approvers`.
    #[default]
    ByPlace,
    /// The requester in groups too.
    Always,
}

impl Default for ApprovalConfig {
    fn default() -> Self {
        Self {
            write_mode: Mode::Confirm,
            execute_mode: Mode::Confirm,
            auto_approve_master: false,
            approvers: vec!["role(trusted)".into()],
            timeout_seconds: 180,
            max_per_turn: 10,
            requester_may_answer: RequesterMayAnswer::ByPlace,
            notify: Vec::new(),
            remember_days: 30,
        }
    }
}
