//! From a delivered message to who speaks where: facts, session, text.

use super::about::Repeats;
use super::desk::Desk;
use crate::admission::{CONSOLE, Facts};
use crate::config::SessionScope;
use crate::endpoint::Endpoint;
use crate::session::SessionKey;
use plugin_sdk::Message;
use std::sync::Arc;

/// A message, its facts and its session.
#[derive(Clone)]
pub(super) struct Who {
    pub(super) message: Message,
    pub(super) facts: Facts,
    pub(super) session: SessionKey,
    /// The role was given with it and is not looked up again.
    pub(super) given_role: bool,
}

/// What came over a connection.
pub(super) struct Arrived {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) who: Who,
    pub(super) text: String,
    /// The former turn whose message this is.
    pub(super) repeats: Option<Repeats>,
}

impl Arrived {
    /// Facts of a message. The role comes from the policy; only the console, whose person holds the data folder,
    /// may bring one with it.
    pub(super) fn new(desk: &Desk, endpoint: &Arc<Endpoint>, mut message: Message, scope: SessionScope) -> Self {
        let policy = desk.policy.read();
        let given = message.principal.role.filter(|_| endpoint.info.kind == CONSOLE);
        message.principal.role =
            given.or_else(|| policy.role_of(&message.principal, &message.conversation.endpoint_id()));
        let facts = Facts {
            conversation: message.conversation.clone(),
            principal: message.principal.clone(),
            platform_permissions: None,
            attended: true,
        };
        let session = SessionKey::of(&message.conversation, &message.principal, scope);
        let text = message.text();
        let who = Who { message, facts, session, given_role: given.is_some() };
        Self { endpoint: Arc::clone(endpoint), who, text, repeats: None }
    }

    /// Whether this message came over the console, whoever it speaks for.
    pub(super) fn over_console(&self) -> bool {
        self.endpoint.info.kind == CONSOLE
    }

    /// Looks up platform permissions, once, when the generation asks for them here.
    pub(super) async fn look_up(&mut self, desk: &Desk, needed: bool) {
        if !needed || self.endpoint.info.kind != self.who.facts.conversation.platform {
            return;
        }
        let message = &self.who.message;
        let found = desk.talk.lookups.held(&self.endpoint, &message.conversation, &message.principal.user_id).await;
        if let Ok(permissions) = &found {
            self.who.facts.principal.platform_roles.clone_from(permissions);
        }
        self.who.facts.platform_permissions = Some(found);
    }

    /// Whose turn places it takes: the person, or the conversation of a sender nobody can tell apart.
    pub(super) fn place_holder(&self) -> String {
        match self.who.facts.principal.is_identified() {
            true => self.who.facts.principal.id(),
            false => self.who.facts.conversation.to_string(),
        }
    }
}
