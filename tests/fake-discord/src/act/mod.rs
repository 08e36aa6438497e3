//! What other people do: write, press, command, come and go.

mod interact;
mod places;
mod say;

use crate::id::Id;
use crate::model::{ChannelKind, Overwrite};
use crate::world::World;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

fn yes() -> bool {
    true
}

/// A file somebody sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaidFile {
    /// Name.
    pub name: String,
    /// Type as Discord tells it.
    #[serde(default = "octets")]
    pub mime: String,
    /// Content as text.
    #[serde(default)]
    pub text: String,
    /// Content as bytes; instead of `text`.
    #[serde(default)]
    pub bytes: Vec<u8>,
}

fn octets() -> String {
    "application/octet-stream".into()
}

/// Somebody writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// Who.
    pub user: Id,
    /// Where; left out: in the private conversation with the bot.
    #[serde(default)]
    pub channel: Option<Id>,
    /// Text; `<@id>` mentions.
    #[serde(default)]
    pub content: String,
    /// The message it answers.
    #[serde(default)]
    pub reply_to: Option<Id>,
    /// Whether the answered person is told.
    #[serde(default = "yes")]
    pub ping: bool,
    /// Files.
    #[serde(default)]
    pub files: Vec<SaidFile>,
    /// Embeds.
    #[serde(default)]
    pub embeds: Vec<Value>,
    /// Sends through a webhook under this name, not as the user.
    #[serde(default)]
    pub webhook: Option<String>,
    /// Discord's number of the type, for system messages: 6 pin, 7 join, 18 thread.
    #[serde(default)]
    pub kind: u8,
    /// The bot is sent it without its content, whatever its intents.
    #[serde(default)]
    pub without_content: bool,
}

impl Say {
    /// A text in a channel.
    pub fn new(user: Id, channel: Id, content: impl Into<String>) -> Self {
        Self { user, channel: Some(channel), content: content.into(), ping: true, ..Self::default() }
    }

    /// A private text to the bot.
    pub fn private(user: Id, content: impl Into<String>) -> Self {
        Self { user, content: content.into(), ping: true, ..Self::default() }
    }

    /// As an answer.
    pub fn reply_to(mut self, message: Id) -> Self {
        self.reply_to = Some(message);
        self
    }
}

/// Somebody uses a slash command that is registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slash {
    /// Who.
    pub user: Id,
    /// Where; left out: in the private conversation with the bot.
    #[serde(default)]
    pub channel: Option<Id>,
    /// Name with its group and subcommand: `todo add`.
    pub command: String,
    /// Options by name.
    #[serde(default)]
    pub options: Map<String, Value>,
}

impl Slash {
    /// A command without options.
    pub fn new(user: Id, channel: Id, command: impl Into<String>) -> Self {
        Self { user, channel: Some(channel), command: command.into(), options: Map::new() }
    }

    /// With an option.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options.insert(name.into(), value.into());
        self
    }
}

/// Somebody presses a button or chooses from a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Press {
    /// Who.
    pub user: Id,
    /// Where.
    pub channel: Id,
    /// The message it is on.
    pub message: Id,
    /// Which.
    pub custom_id: String,
    /// What was chosen.
    #[serde(default)]
    pub values: Vec<String>,
    /// The press was on its way when the button went: it need not be there any more.
    #[serde(default)]
    pub stale: bool,
}

/// An action. Each gives the id of what it made or changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Act {
    /// Writes.
    Say(Say),
    /// Changes a message.
    Edit(Edit),
    /// Deletes a message.
    Delete {
        /// Where.
        channel: Id,
        /// Which.
        message: Id,
    },
    /// Adds or takes a reaction.
    React {
        /// Who.
        user: Id,
        /// Where.
        channel: Id,
        /// Which.
        message: Id,
        /// The character, or `name:id`.
        emoji: String,
        /// Takes it instead.
        #[serde(default)]
        remove: bool,
    },
    /// Begins to type.
    Type {
        /// Who.
        user: Id,
        /// Where.
        channel: Id,
    },
    /// Uses a slash command.
    Slash(Slash),
    /// Presses a button.
    Press(Press),
    /// Joins a guild, with roles; somebody unknown is made. The bot itself joins the same way.
    Join {
        /// Where.
        guild: Id,
        /// Who.
        user: Id,
        /// Roles.
        #[serde(default)]
        roles: Vec<Id>,
    },
    /// Leaves a guild.
    Leave {
        /// Where.
        guild: Id,
        /// Who.
        user: Id,
    },
    /// Gives a member exactly these roles.
    SetRoles {
        /// Where.
        guild: Id,
        /// Who.
        user: Id,
        /// Roles.
        roles: Vec<Id>,
    },
    /// Makes an account.
    AddUser {
        /// Name.
        name: String,
        /// Whether it is a program.
        #[serde(default)]
        bot: bool,
    },
    /// Makes or changes a role.
    PutRole {
        /// Where.
        guild: Id,
        /// Which; left out: a new one. The guild's id is `@everyone`.
        #[serde(default)]
        role: Option<Id>,
        /// Name.
        name: String,
        /// Bits.
        permissions: u64,
        /// Whether anyone may ping it.
        #[serde(default)]
        mentionable: bool,
    },
    /// Makes a guild without the bot.
    AddGuild {
        /// Name.
        name: String,
        /// Owner.
        owner: Id,
        /// Level of boosts.
        #[serde(default)]
        premium_tier: u8,
    },
    /// Makes a channel.
    AddChannel {
        /// Where.
        guild: Id,
        /// Kind.
        kind: ChannelKind,
        /// Name.
        name: String,
    },
    /// Opens a thread or a post.
    AddThread {
        /// Who.
        user: Id,
        /// The channel or forum.
        parent: Id,
        /// Name.
        name: String,
    },
    /// Puts a thread to sleep or wakes it.
    Archive {
        /// Which.
        thread: Id,
        /// Whether it sleeps.
        archived: bool,
        /// Whether only moderators wake it.
        #[serde(default)]
        locked: bool,
    },
    /// Sets what roles and members may do in one channel.
    Permit {
        /// Where.
        channel: Id,
        /// All overwrites.
        overwrites: Vec<Overwrite>,
    },
    /// Refuses direct messages of bots, or takes them again.
    CloseDms {
        /// Who.
        user: Id,
        /// Whether they are refused.
        closed: bool,
    },
    /// Deletes a channel.
    DeleteChannel {
        /// Which.
        channel: Id,
    },
}

/// A change of a message by its author, or by Discord itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Where.
    pub channel: Id,
    /// Which.
    pub message: Id,
    /// New text.
    #[serde(default)]
    pub content: Option<String>,
    /// New embeds, as when Discord has looked at a link.
    #[serde(default)]
    pub embeds: Option<Vec<Value>>,
    /// Whether the person edited: without, `edited_timestamp` stays as it was.
    #[serde(default = "yes")]
    pub stamped: bool,
}

impl World {
    /// Does one action.
    pub(crate) fn act(&mut self, act: Act) -> Result<Id, String> {
        match act {
            Act::Say(say) => self.say(say),
            Act::Edit(edit) => self.rewrite(edit),
            Act::Delete { channel, message } => {
                self.message(channel, message).map_err(|r| r.message)?;
                self.erase(channel, message);
                Ok(message)
            }
            Act::React { user, channel, message, emoji, remove } => {
                self.message(channel, message).map_err(|r| r.message)?;
                self.reacts(user, (channel, message), &emoji, !remove);
                Ok(message)
            }
            Act::Type { user, channel } => {
                self.place(channel)?;
                self.types(user, channel);
                Ok(channel)
            }
            Act::Slash(slash) => self.slash(slash),
            Act::Press(press) => self.press(press),
            other => self.arrange(other),
        }
    }
}
