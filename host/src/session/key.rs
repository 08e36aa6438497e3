//! The address of a session.

use crate::config::SessionScope;
use plugin_sdk::{ConversationRef, Principal, Scope};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;

/// `platform/endpoint/scope/scene[/thread][/user]`, each part percent-encoded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionKey(Arc<str>);

impl SessionKey {
    /// The session a message of `principal` in `conversation` belongs to. With one session per person, a
    /// sender nobody can tell apart shares that of the conversation.
    pub fn of(conversation: &ConversationRef, principal: &Principal, scope: SessionScope) -> Self {
        let mut text = conversation.to_string();
        let own = scope == SessionScope::User && conversation.scope != Scope::Private && principal.is_identified();
        if own {
            text.push('/');
            text.push_str(&encode(&principal.user_id));
        }
        Self(text.into())
    }

    /// From its text form, as it is stored and printed.
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// Text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Name of the session's folder below the workspace root: one chat cannot guess another's path into its own.
    pub fn folder_name(&self) -> String {
        let digest = Sha256::digest(self.0.as_bytes());
        let mut name = String::from("s-");
        for byte in digest.iter().take(8) {
            name.push_str(&format!("{byte:02x}"));
        }
        name
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The same encoding as a conversation's own parts have.
fn encode(part: &str) -> String {
    part.replace('%', "%25").replace('/', "%2F")
}
