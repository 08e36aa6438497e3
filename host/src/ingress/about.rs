//! What a turn is begun with, as it is kept for the case that a crash breaks it off.

use super::arrive::{Arrived, Who};
use super::desk::Desk;
use crate::config::SessionScope;
use crate::endpoint::Endpoint;
use plugin_sdk::Message;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The former turn a turn stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Repeats {
    /// Its id.
    pub(super) retry_of: String,
    /// The host did that by itself, after a crash: it does so once.
    pub(super) rerun: bool,
}

/// Kept in the session's head while the turn runs, and with an offer to ask again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct About {
    /// The message.
    pub(super) message: Message,
    /// Kind of the connection it came over; `None`: a direct call, whose caller is gone after a crash.
    pub(super) over: Option<String>,
    /// The role came with the message.
    pub(super) given_role: bool,
    /// The turn it stands for.
    #[serde(flatten)]
    pub(super) repeats: Option<Repeats>,
}

impl About {
    /// As it is stored, secrets masked.
    pub(super) fn kept(desk: &Desk, who: &Who, over: Option<String>, repeats: Option<Repeats>) -> Value {
        let about = Self { message: who.message.clone(), over, given_role: who.given_role, repeats };
        // data and text only: nothing in it that JSON lacks
        let mut value = serde_json::to_value(&about).unwrap_or(Value::Null);
        desk.core.redactor.redact_value(&mut value);
        value
    }

    /// The same message once more, as if it had just come over `endpoint`: facts and access are those of today.
    pub(super) fn arrives(mut self, desk: &Desk, endpoint: &Arc<Endpoint>, scope: SessionScope) -> Arrived {
        if !self.given_role {
            self.message.principal.role = None;
        }
        self.message.principal.platform_roles.clear();
        let mut arrived = Arrived::new(desk, endpoint, self.message, scope);
        arrived.repeats = self.repeats;
        arrived
    }
}
