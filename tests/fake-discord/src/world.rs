//! Everything the server knows, and the ways to look something up in it.

use crate::clock::Clock;
use crate::fault::Faults;
use crate::gateway::Gateway;
use crate::id::{Id, Mint};
use crate::limits::Buckets;
use crate::log::Log;
use crate::model::{Channel, Command, CommandScope, Guild, Interaction, Message, User};
use crate::options::Options;
use crate::permissions::{self, bits};
use crate::refusal::Refusal;
use crate::seed;
use axum::body::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where commands are changed in bulk, kept for tests that count it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Overwritten {
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// Where.
    pub scope: CommandScope,
    /// Names afterwards.
    pub names: Vec<String>,
}

/// The commands of the application.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Commands {
    /// All of them.
    pub registered: Vec<Command>,
    /// Each bulk overwrite.
    pub overwrites: Vec<Overwritten>,
    /// How many were made, per place, for the limit of a day.
    #[serde(skip)]
    pub(crate) made_ms: Vec<(CommandScope, u64)>,
}

/// A file that can be fetched.
pub(crate) struct Stored {
    pub(crate) mime: String,
    pub(crate) bytes: Bytes,
}

pub(crate) struct World {
    pub(crate) options: Options,
    pub(crate) clock: Arc<Clock>,
    /// `127.0.0.1:port`.
    pub(crate) address: String,
    pub(crate) users: BTreeMap<Id, User>,
    pub(crate) guilds: BTreeMap<Id, Guild>,
    pub(crate) channels: BTreeMap<Id, Channel>,
    pub(crate) commands: Commands,
    pub(crate) interactions: BTreeMap<Id, Interaction>,
    pub(crate) files: BTreeMap<Id, Stored>,
    pub(crate) faults: Faults,
    pub(crate) buckets: Buckets,
    pub(crate) gateway: Gateway,
    pub(crate) log: Log,
    mint: Mint,
}

impl World {
    pub(crate) fn new(options: Options, clock: Arc<Clock>, address: String) -> Self {
        let mut world = Self {
            options,
            clock,
            address,
            users: BTreeMap::new(),
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            commands: Commands::default(),
            interactions: BTreeMap::new(),
            files: BTreeMap::new(),
            faults: Faults::default(),
            buckets: Buckets::default(),
            gateway: Gateway::default(),
            log: Log::default(),
            mint: Mint::default(),
        };
        seed::fill(&mut world);
        world
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(crate) fn new_id(&mut self) -> Id {
        self.mint.next(self.clock.now_ms())
    }

    pub(crate) fn bot(&self) -> User {
        self.users.get(&seed::BOT).cloned().unwrap_or_else(|| seed::user(seed::BOT, "mybot", true))
    }

    /// A guild the bot is in.
    pub(crate) fn joined(&self, id: Id) -> Result<&Guild, Refusal> {
        let guild = self.guilds.get(&id).ok_or_else(|| Refusal::unknown(10004))?;
        if guild.members.contains_key(&seed::BOT) { Ok(guild) } else { Err(Refusal::access()) }
    }

    /// Guilds the bot is in.
    pub(crate) fn home(&self) -> impl Iterator<Item = &Guild> {
        self.guilds.values().filter(|g| g.members.contains_key(&seed::BOT))
    }

    /// What somebody may do in a channel.
    pub(crate) fn may(&self, user: Id, channel: &Channel) -> u64 {
        let Some(guild) = channel.guild else { return bits::ALL };
        let parent = channel.kind.is_thread().then_some(channel.parent).flatten();
        let ruling = parent.and_then(|id| self.channels.get(&id)).unwrap_or(channel);
        let Some(guild) = self.guilds.get(&guild) else { return 0 };
        guild.members.get(&user).map_or(0, |member| permissions::within(guild, member, ruling))
    }

    /// A channel the bot sees.
    pub(crate) fn seen(&self, id: Id) -> Result<&Channel, Refusal> {
        let channel = self.channels.get(&id).ok_or_else(|| Refusal::unknown(10003))?;
        if self.may(seed::BOT, channel) & bits::VIEW_CHANNEL == 0 {
            return Err(Refusal::access());
        }
        Ok(channel)
    }

    /// A channel in which the bot may do this.
    pub(crate) fn allowed(&self, id: Id, bit: u64) -> Result<&Channel, Refusal> {
        let channel = self.seen(id)?;
        if self.may(seed::BOT, channel) & bit == bit { Ok(channel) } else { Err(Refusal::permission()) }
    }

    /// A message that everybody in the channel sees.
    pub(crate) fn message(&self, channel: Id, message: Id) -> Result<&Message, Refusal> {
        let found = self.channels.get(&channel).and_then(|c| c.messages.get(&message));
        found.map(Arc::as_ref).filter(|m| m.is_public()).ok_or_else(|| Refusal::unknown(10008))
    }

    pub(crate) fn message_mut(&mut self, channel: Id, message: Id) -> Option<&mut Message> {
        self.channels.get_mut(&channel)?.messages.get_mut(&message).map(Arc::make_mut)
    }

    /// Largest file in a channel.
    pub(crate) fn upload_max(&self, channel: Id) -> usize {
        let guild = self.channels.get(&channel).and_then(|c| c.guild).and_then(|id| self.guilds.get(&id));
        guild.map_or(10 << 20, Guild::upload_max)
    }

    pub(crate) fn dm_with(&self, user: Id) -> Option<Id> {
        self.channels.values().find(|c| c.recipient == Some(user)).map(|c| c.id)
    }
}
