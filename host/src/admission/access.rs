//! Access: is this person answered at all.

use super::platforms::CONSOLE;
use super::{Facts, LivePolicy};
use crate::config::AccessMode;
use plugin_sdk::{Role, Scope};

/// The answer of the access check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessVerdict {
    /// Answered.
    Granted,
    /// On `access.deny`: silence.
    Denied,
    /// Not listed. In private one sentence a day may be sent; groups get none.
    Stranger {
        /// Whether `access.stranger_reply` wants the sentence here.
        reply: bool,
    },
    /// Not listed, in private, and the mode is `pairing`: a code is offered.
    MayPair,
}

impl AccessVerdict {
    /// Whether the person is answered.
    pub fn is_granted(self) -> bool {
        self == AccessVerdict::Granted
    }
}

/// Judges one sender in one place; the role in the facts is not read, it is looked up.
pub fn access(facts: &Facts, policy: &LivePolicy) -> AccessVerdict {
    let place = &facts.conversation;
    let config = &policy.input.access;
    if place.platform == CONSOLE && facts.principal.platform == CONSOLE {
        return AccessVerdict::Granted;
    }
    let role = policy.role_of(&facts.principal, &place.endpoint_id());
    if role == Some(Role::Master) {
        return AccessVerdict::Granted;
    }
    if is_denied(facts, &config.deny) {
        return AccessVerdict::Denied;
    }
    let listed = match place.scope {
        Scope::Private => {
            let id = facts.principal.id();
            facts.principal.is_identified() && (config.users.contains(&id) || policy.is_paired(&id))
        }
        Scope::Group | Scope::Channel => scene_listed(facts, &config.groups),
    };
    if config.mode == AccessMode::Open || listed || role == Some(Role::Trusted) {
        return AccessVerdict::Granted;
    }
    let private = place.scope == Scope::Private;
    match config.mode {
        AccessMode::Pairing if private && facts.principal.is_identified() => AccessVerdict::MayPair,
        _ => AccessVerdict::Stranger { reply: private && config.stranger_reply },
    }
}

/// A deny names a person, a scene, or one thread of it.
fn is_denied(facts: &Facts, deny: &[String]) -> bool {
    let who = &facts.principal;
    let person = (!who.user_id.is_empty()).then(|| who.id());
    deny.iter().any(|d| person.as_deref() == Some(d.as_str())) || scene_entries(facts).any(|s| deny.contains(&s))
}

/// A scene listed in `groups`: itself, one of its threads, or `platform:*`. A thread counts as its scene.
fn scene_listed(facts: &Facts, groups: &[String]) -> bool {
    let any = format!("{}:*", facts.conversation.platform);
    groups.contains(&any) || scene_entries(facts).any(|s| groups.contains(&s))
}

fn scene_entries(facts: &Facts) -> impl Iterator<Item = String> + use<> {
    let place = &facts.conversation;
    let scene = format!("{}:{}", place.platform, place.scene);
    let thread = place.thread.as_ref().map(|t| format!("{scene}#{t}"));
    std::iter::once(scene).chain(thread)
}
