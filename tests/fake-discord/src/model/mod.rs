//! What there is: people, guilds, channels, messages, interactions, commands.

mod channel;
mod command;
mod guild;
mod interaction;
mod message;

pub use channel::{Channel, ChannelKind, Overwrite, Typing};
pub use command::{Command, CommandScope};
pub use guild::{Guild, Member, Role, User};
pub use interaction::{Answered, Interaction, InteractionKind};
pub use message::{Attachment, Mentions, Message, Reaction, Reference, Version, Via, flags};
