//! Long polling. The next offset leaves only when everything before it was accepted, so Telegram keeps what the host
//! did not take.

use crate::inbound::delivery;
use crate::{Line, fault};
use async_trait::async_trait;
use plugin_sdk::{AdapterError, Delivery, Inbound, Receive};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use teloxide_core::Bot;
use teloxide_core::payloads::GetUpdatesSetters;
use teloxide_core::prelude::Requester;
use teloxide_core::types::{AllowedUpdate, CallbackQueryId, Update};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// So long Telegram waits for an update before it answers with none.
const POLL_SECONDS: u32 = 30;
/// A poll that takes longer does not come back.
pub(crate) const DEADLINE: Duration = Duration::from_secs(45);

/// Named on every call: Telegram remembers the last list, whoever sent it.
const ALLOWED: [AllowedUpdate; 6] = [
    AllowedUpdate::Message,
    AllowedUpdate::EditedMessage,
    AllowedUpdate::ChannelPost,
    AllowedUpdate::EditedChannelPost,
    AllowedUpdate::CallbackQuery,
    AllowedUpdate::MyChatMember,
];

/// Ids of presses that wait for their answer, by the token of their delivery. The oldest leave.
#[derive(Default)]
pub(crate) struct Presses {
    open: Mutex<VecDeque<(u64, CallbackQueryId)>>,
}

impl Presses {
    const KEPT: usize = 1000;

    pub(crate) fn note(&self, token: u64, id: CallbackQueryId) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back((token, id));
        if open.len() > Self::KEPT {
            open.pop_front();
        }
    }

    /// The press of a delivery; each is given once, because each is answered once.
    pub(crate) fn take(&self, token: u64) -> Option<CallbackQueryId> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let at = open.iter().position(|(of, _)| *of == token)?;
        open.remove(at).map(|(_, id)| id)
    }
}

#[derive(Default)]
struct State {
    /// Fetched, not yet given to the host.
    waiting: VecDeque<Update>,
    /// Given to the host, not yet accepted.
    open: BTreeSet<u64>,
    /// What the next poll confirms. Empty after a poll that brought nothing: by then all is confirmed, and ids may
    /// begin anew below the last one.
    offset: Option<i32>,
}

/// The receiving part.
pub(crate) struct Poller {
    bot: Bot,
    line: Arc<Line>,
    state: Mutex<State>,
    accepted: Notify,
    stopped: CancellationToken,
    /// Held by the one poll that runs.
    polling: tokio::sync::Mutex<()>,
}

impl Poller {
    pub(crate) fn new(bot: Bot, line: Arc<Line>) -> Self {
        Self {
            bot,
            line,
            state: Mutex::default(),
            accepted: Notify::new(),
            stopped: CancellationToken::new(),
            polling: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next fetched update, given out.
    fn take(&self) -> Option<Delivery> {
        let mut state = self.state();
        let update = state.waiting.pop_front()?;
        state.open.insert(u64::from(update.id.0));
        drop(state);
        Some(delivery(&self.line, update))
    }

    /// Until everything given out is accepted.
    async fn all_accepted(&self) {
        loop {
            let accepted = self.accepted.notified();
            if self.state().open.is_empty() {
                return;
            }
            accepted.await;
        }
    }

    async fn poll(&self) -> Result<(), AdapterError> {
        let _one = self.polling.lock().await;
        let mut request = self.bot.get_updates().timeout(POLL_SECONDS).allowed_updates(ALLOWED);
        if let Some(offset) = self.state().offset {
            request = request.offset(offset);
        }
        let updates = match tokio::time::timeout(DEADLINE, request).await {
            Ok(answer) => answer.map_err(|e| fault::connecting(&e))?,
            Err(_) => return Err(AdapterError::passing("a poll did not come back")),
        };
        let mut state = self.state();
        state.offset = updates.last().and_then(|u| i32::try_from(u.id.0).ok()?.checked_add(1));
        state.waiting.extend(updates);
        Ok(())
    }
}

#[async_trait]
impl Receive for Poller {
    async fn next(&self) -> Option<Delivery> {
        loop {
            if self.stopped.is_cancelled() {
                return None;
            }
            if let Some(delivery) = self.take() {
                return Some(delivery);
            }
            tokio::select! {
                () = self.all_accepted() => {}
                () = self.stopped.cancelled() => return None,
            }
            let polled = tokio::select! {
                polled = self.poll() => polled,
                () = self.stopped.cancelled() => return None,
            };
            if let Err(error) = polled {
                return Some(Delivery { event_key: "lost".into(), token: 0, event: Inbound::Lost(error) });
            }
        }
    }

    async fn accept(&self, token: u64) {
        self.state().open.remove(&token);
        self.accepted.notify_waiters();
    }

    async fn stop(&self) {
        self.stopped.cancel();
        // The poll that ran is given up by then.
        drop(self.polling.lock().await);
    }
}
