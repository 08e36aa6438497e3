//! A copy of what the server knows, to look at.

use crate::fault::RestFault;
use crate::gateway::GatewayState;
use crate::id::Id;
use crate::limits::fits;
use crate::log::{Request, Violation};
use crate::model::{Channel, Interaction, Message};
use crate::seed;
use crate::world::{Commands, World};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The state at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// The server's time, Unix milliseconds.
    pub now_ms: u64,
    /// Every channel with its messages, edits, deletions, reactions and typing.
    pub conversations: BTreeMap<Id, Channel>,
    /// Commands.
    pub commands: Commands,
    /// Interactions with their answers.
    pub interactions: BTreeMap<Id, Interaction>,
    /// Interactions whose person sees "did not respond".
    pub failed: Vec<Id>,
    /// Requests, oldest first.
    pub requests: Vec<Arc<Request>>,
    /// How many of the last ten minutes were answered 401, 403 or 429; Discord bans at 10,000.
    pub invalid_requests: usize,
    /// Gateway.
    pub gateway: GatewayState,
    /// What a real server would have refused.
    pub violations: Vec<Violation>,
    /// REST faults that were not played yet.
    pub faults: Vec<RestFault>,
}

impl State {
    pub(crate) fn of(world: &World) -> Self {
        let now_ms = world.now_ms();
        Self {
            now_ms,
            conversations: world.channels.clone(),
            commands: world.commands.clone(),
            interactions: world.interactions.clone(),
            failed: world.interactions.values().filter(|i| i.failed(now_ms)).map(|i| i.id).collect(),
            requests: world.log.requests.clone(),
            invalid_requests: world.log.invalid(now_ms),
            gateway: world.gateway.state(),
            violations: world.log.violations.clone(),
            faults: world.faults.waiting().to_vec(),
        }
    }

    /// What the bot sent to a channel, deleted messages too, oldest first.
    pub fn sent(&self, channel: Id) -> Vec<&Message> {
        let all = self.conversations.get(&channel).into_iter().flat_map(|c| c.messages.values());
        all.map(Arc::as_ref).filter(|m| m.author.id == seed::BOT).collect()
    }

    /// A message, wherever it is.
    pub fn message(&self, id: Id) -> Option<&Message> {
        self.conversations.values().find_map(|c| c.messages.get(&id)).map(Arc::as_ref)
    }

    /// When somebody typed in a channel, Unix milliseconds.
    pub fn typed(&self, channel: Id, user: Id) -> Vec<u64> {
        let all = self.conversations.get(&channel).into_iter().flat_map(|c| &c.typing);
        all.filter(|t| t.user == user).map(|t| t.at_ms).collect()
    }

    /// Requests like `POST channels/*/messages`; `*` is one part, a last `**` all that follow.
    pub fn asked(&self, pattern: &str) -> Vec<&Request> {
        let (method, path) = pattern.split_once(' ').unwrap_or(("*", pattern));
        let fitting = |r: &&Request| {
            let parts: Vec<&str> = r.path.split('/').filter(|p| !p.is_empty()).collect();
            (method == "*" || r.method == method) && fits(path, &parts)
        };
        self.requests.iter().map(Arc::as_ref).filter(fitting).collect()
    }
}
