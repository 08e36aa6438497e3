//! A strict Telegram Bot API server. It refuses what the real one refuses, keeps what bots did, and lets a script
//! write as people do and decide what goes wrong. See the README beside it.

mod answer;
mod asked;
mod clock;
mod facts;
mod half;
mod handle;
mod methods;
mod options;
mod play;
mod push;
mod refusal;
mod script;
mod server;
mod shape;
mod shared;
mod state;
mod text;
mod world;

pub use handle::{FakeTelegram, Late};
pub use options::{BotOptions, Options, Sizes, TOKEN, USERNAME};
pub use script::{Forward, Group, Media, Membership, PressButton, Pressed, Said, Say, Sender, TopicChange, Unplayable};
pub use state::{Answer, Button, ChatAction, CommandSet, Edit, Press, Recorded, Shown, State, Violation};
pub use world::{ChatKind, Fault, Person, Rule};

#[cfg(test)]
mod tests;
