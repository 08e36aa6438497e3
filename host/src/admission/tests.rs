//! Tests of the room.

mod access;
mod answering;
mod approvals;
mod compiled;
mod explained;
mod permits;

use super::*;
use plugin_sdk::{ConversationRef, Principal, Role, Scope, SenderKind};

/// A person in a place: `telegram/main:group:-100#9`, user id.
fn facts(place: &str, user: &str, role: Option<Role>) -> Facts {
    let (endpoint, rest) = place.split_once(':').unwrap();
    let (platform, name) = endpoint.split_once('/').unwrap_or((endpoint, "main"));
    let (scope, scene) = rest.split_once(':').unwrap();
    let (scene, thread) = scene.split_once('#').map_or((scene, None), |(s, t)| (s, Some(t.to_string())));
    Facts {
        conversation: ConversationRef {
            platform: platform.into(),
            endpoint: name.into(),
            scope: scope.parse().unwrap(),
            scene: scene.into(),
            parent: None,
            thread,
        },
        principal: Principal::person(platform, user, role),
        platform_permissions: None,
        attended: true,
    }
}

fn with_sender(mut facts: Facts, sender: SenderKind) -> Facts {
    facts.principal.sender = sender;
    facts
}

fn holding(mut facts: Facts, permissions: &[&str]) -> Facts {
    facts.platform_permissions = Some(Ok(permissions.iter().map(|p| (*p).to_string()).collect()));
    facts
}

fn rules(platforms: &[&str], scopes: &[Scope], permissions: &[&str]) -> Rules {
    let texts = |l: &[&str]| l.iter().map(|s| (*s).to_string()).collect();
    Rules { platforms: texts(platforms), scopes: scopes.to_vec(), permissions: texts(permissions) }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_string()).collect()
}
