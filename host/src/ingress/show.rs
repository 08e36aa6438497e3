//! What a running turn shows on its channel: drafts and progress. A slow channel never holds a turn.

use super::desk::Desk;
use crate::config::Redactor;
use crate::endpoint::Endpoint;
use crate::turn::{TurnEvent, TurnEvents};
use plugin_sdk::{Ability, ConversationRef, Draft, Scope};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Shows a turn; events are queued and the newest draft wins.
pub(super) struct Shown {
    events: Mutex<Option<mpsc::UnboundedSender<TurnEvent>>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

impl Shown {
    /// Shows nothing, for callers without a channel.
    pub(super) fn nothing() -> Arc<Self> {
        Arc::new(Self { events: Mutex::new(None), ended: Mutex::new(None) })
    }

    /// Shows on a connection that can edit; on another one nothing.
    pub(super) fn on(desk: &Desk, endpoint: &Arc<Endpoint>, conversation: &ConversationRef) -> Arc<Self> {
        let (events, queue) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let forward = Forward {
            endpoint: Arc::clone(endpoint),
            conversation: conversation.clone(),
            clock: Arc::clone(&desk.core.clock),
            redactor: Arc::clone(&desk.core.redactor),
        };
        desk.core.tasks.spawn("turn display", async move {
            forward.run(queue).await;
            if end.send(()).is_err() {
                tracing::trace!("nobody waits for the end of a display");
            }
        });
        Arc::new(Self { events: Mutex::new(Some(events)), ended: Mutex::new(Some(ended)) })
    }

    /// Ends when everything queued is shown.
    pub(super) async fn finished(&self) {
        drop(self.events.lock().unwrap_or_else(PoisonError::into_inner).take());
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            // A display that broke off has nothing more to show.
            drop(ended.await);
        }
    }
}

impl TurnEvents for Shown {
    fn show(&self, event: TurnEvent) {
        if let Some(events) = &*self.events.lock().unwrap_or_else(PoisonError::into_inner) {
            // The display ends before its turn only when the host ends.
            drop(events.send(event));
        }
    }
}

struct Forward {
    endpoint: Arc<Endpoint>,
    conversation: ConversationRef,
    clock: crate::task::SharedClock,
    redactor: Arc<Redactor>,
}

impl Forward {
    async fn run(&self, mut queue: mpsc::UnboundedReceiver<TurnEvent>) {
        let intervals = self.endpoint.info.limits.edit_interval_ms;
        let interval = Duration::from_millis(match self.conversation.scope {
            Scope::Private => intervals.private,
            Scope::Group | Scope::Channel => intervals.group,
        });
        while let Some(mut event) = queue.recv().await {
            // Of several drafts only the newest is worth an edit.
            while let (TurnEvent::Draft(_), Ok(next)) = (&event, queue.try_recv()) {
                event = next;
            }
            let drafted = matches!(event, TurnEvent::Draft(_));
            self.show(event).await;
            if drafted && !interval.is_zero() && !queue.is_closed() {
                self.clock.sleep(interval).await;
            }
        }
    }

    async fn show(&self, event: TurnEvent) {
        let edit = &self.endpoint.connection.edit;
        let can = |ability| self.endpoint.info.can(ability);
        let shown = match event {
            TurnEvent::Draft(text) if can(Ability::Stream) => {
                let text = self.redactor.redact_unfinished(&text);
                edit.draft(Draft { conversation: self.conversation.clone(), text }).await
            }
            TurnEvent::Progress(label) if can(Ability::Typing) => {
                edit.typing(&self.conversation, label.as_deref()).await
            }
            _ => Ok(()),
        };
        if let Err(e) = shown {
            tracing::debug!(error = %e, "a draft was not shown");
        }
    }
}
