//! The Telegram channel: updates become messages, pieces become requests.
//!
//! The adapter translates and nothing else. It keeps no session, no allow-list and no system text; it neither waits,
//! nor repeats, nor splits. What it cannot do it says with a typed error, and the host decides.

#![allow(
    clippy::disallowed_methods,
    reason = "an adapter has no rooms of the host: the deadline of a request is its own"
)]

mod address;
mod edit;
mod fault;
mod inbound;
mod info;
mod lookup;
mod media;
mod place;
mod poll;
mod segments;
mod send;
mod sender;
mod settings;

use async_trait::async_trait;
use plugin_sdk::{Adapter, AdapterError, AdapterInfo, Connection};
use std::sync::Arc;
use std::time::Duration;
use teloxide_core::Bot;
use teloxide_core::prelude::Requester;

pub use settings::{Settings, is_token};

/// Longest wait for one request that is no poll.
const REQUEST: Duration = Duration::from_secs(25);

/// The Telegram adapter.
pub struct Telegram;

/// What all four parts of a connection share.
pub(crate) struct Line {
    pub(crate) bot: Bot,
    /// The account: its id and its name without `@`.
    pub(crate) account: address::Account,
    pub(crate) settings: Settings,
    pub(crate) presses: poll::Presses,
}

#[async_trait]
impl Adapter for Telegram {
    fn info(&self) -> AdapterInfo {
        info::info()
    }

    /// Checks the token, asks Telegram who it belongs to, and turns to polling. Nothing is dropped by that.
    async fn connect(&self, config: serde_json::Value) -> Result<Connection, AdapterError> {
        let settings = Settings::read(config)?;
        let bot = settings.bot(REQUEST)?;
        let me = bot.get_me().await.map_err(|e| fault::connecting(&e))?;
        bot.delete_webhook().await.map_err(|e| fault::connecting(&e))?;
        let account = address::Account { id: me.user.id, name: me.username().to_string() };
        let poller = settings.bot(poll::DEADLINE)?;
        let line = Arc::new(Line { bot, account, settings, presses: poll::Presses::default() });
        let receive = Arc::new(poll::Poller::new(poller, Arc::clone(&line)));
        Ok(Connection { receive, send: line.clone(), edit: line.clone(), lookup: line })
    }
}

#[cfg(test)]
mod tests;
