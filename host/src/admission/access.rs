//! Access: is this person answered at all.

use super::platforms::CONSOLE;
use super::{Denial, Facts, LivePolicy};
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

/// Platforms whose people come by a token or from the host itself: `[access]` says nothing about them.
const BY_TOKEN: [&str; 6] = ["web", "mcp", "http", "schedule", "plugin", "program"];

/// Whether somebody is answered at all, for commands that look or act in a person's name; the words say why not.
pub fn answered(facts: &Facts, policy: &LivePolicy) -> Result<(), Denial> {
    let place = &facts.conversation;
    if BY_TOKEN.contains(&place.platform.as_str()) {
        return Ok(());
    }
    let verdict = access(facts, policy);
    if verdict.is_granted() {
        return Ok(());
    }
    let who = facts.principal.id();
    let detail = match verdict {
        AccessVerdict::Denied => {
            let deny = &policy.input.access.deny;
            let entry = deny.iter().find(|d| **d == who || scene_entries(facts).any(|s| s == **d));
            format!("access.deny has `{}`", entry.unwrap_or(&who))
        }
        _ if place.scope == Scope::Private => format!("{who} is not in access.users, trusted or masters"),
        _ => format!("{}:{} is not in access.groups, nor {who} trusted", place.platform, place.scene),
    };
    Err(Denial { reason: "access::refused", detail })
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
