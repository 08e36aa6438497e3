//! `--as SUBJECT`: the text form of a person in a place.

use super::platforms::CONSOLE;
use super::{Facts, LivePolicy};
use plugin_sdk::{ConversationRef, Principal, Role, Scope};

/// Endpoint name when the subject names none.
const MAIN: &str = "main";

/// A person in a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Where.
    pub conversation: ConversationRef,
    /// Who, on that platform.
    pub user_id: String,
}

/// The text is no subject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// Something stands wrong; the forms are in the text.
    #[error("{0}; write PLATFORM[/ENDPOINT]:SCOPE:SCENE[#THREAD]:user:ID, PLATFORM:ID with --scope, or a console user")]
    Form(String),
    /// `--scope` has another value.
    #[error("unknown scope `{0}`; scopes are private, group, channel")]
    Scope(String),
    /// `--role` has another value.
    #[error("unknown role `{0}`; roles are master, trusted, user")]
    Role(String),
}

impl Subject {
    /// Reads the text; `scope` is `--scope` (default private).
    pub fn parse(text: &str, scope: Option<&str>) -> Result<Self, SubjectError> {
        let form = |why: &str| SubjectError::Form(format!("`{text}`: {why}"));
        let scope = match scope {
            Some(s) => s.parse().map_err(|()| SubjectError::Scope(s.into()))?,
            None => Scope::Private,
        };
        let Some((head, rest)) = text.split_once(':') else {
            return match text.trim().is_empty() {
                true => Err(form("no name")),
                false => Ok(Self::short(CONSOLE, MAIN, scope, text)),
            };
        };
        let (platform, endpoint) = head.split_once('/').unwrap_or((head, MAIN));
        if platform.is_empty() || endpoint.is_empty() {
            return Err(form("no platform"));
        }
        if let Some((place, user_id)) = rest.split_once(":user:") {
            let (scope, scene) = place.split_once(':').ok_or_else(|| form("no scene"))?;
            let scope = scope.parse().map_err(|()| SubjectError::Scope(scope.into()))?;
            return Self::full(platform, endpoint, scope, scene, user_id).ok_or_else(|| form("an empty part"));
        }
        match rest.is_empty() || rest.contains(':') {
            true => Err(form("no user id")),
            false => Ok(Self::short(platform, endpoint, scope, rest)),
        }
    }

    /// In private the person is the scene; elsewhere the scene is unknown.
    fn short(platform: &str, endpoint: &str, scope: Scope, user_id: &str) -> Self {
        let scene = if scope == Scope::Private { user_id } else { "" };
        let conversation = ConversationRef {
            platform: platform.into(),
            endpoint: endpoint.into(),
            scope,
            scene: scene.into(),
            parent: None,
            thread: None,
        };
        Self { conversation, user_id: user_id.into() }
    }

    fn full(platform: &str, endpoint: &str, scope: Scope, scene: &str, user_id: &str) -> Option<Self> {
        let (scene, thread) = match scene.split_once('#') {
            Some((s, t)) => (s, Some(t.to_string())),
            None => (scene, None),
        };
        if scene.is_empty() || user_id.is_empty() || thread.as_deref() == Some("") {
            return None;
        }
        let mut subject = Self::short(platform, endpoint, scope, user_id);
        subject.conversation.scene = scene.into();
        subject.conversation.thread = thread;
        Some(subject)
    }

    /// The facts: the role is the given one or the policy's; permissions not given are "not looked up".
    pub fn facts(&self, policy: &LivePolicy, role: Option<Role>, permissions: &[String]) -> Facts {
        let mut principal = Principal::person(&self.conversation.platform, &self.user_id, None);
        principal.role = role.or_else(|| policy.role_of(&principal, &self.conversation.endpoint_id()));
        principal.platform_roles = permissions.to_vec();
        Facts {
            conversation: self.conversation.clone(),
            principal,
            platform_permissions: (!permissions.is_empty()).then(|| Ok(permissions.to_vec())),
            attended: true,
        }
    }
}

/// A `--role` value.
pub fn parse_role(text: &str) -> Result<Role, SubjectError> {
    text.parse().map_err(|()| SubjectError::Role(text.into()))
}
