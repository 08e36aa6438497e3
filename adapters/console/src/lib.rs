//! The terminal channel: an interactive terminal, piped lines, or JSON events, one message at a time.
//!
//! The adapter translates keys and lines to messages and shows what comes back. It holds no session
//! state, no allow-list and no system text.

#![allow(
    clippy::disallowed_methods,
    reason = "an adapter has no rooms of the host: it reads its own time and starts its own two tasks"
)]

mod clean;
mod lines;
mod markdown;
mod screen;
mod state;
mod terminal;

use async_trait::async_trait;
use plugin_sdk::{
    Ability, Adapter, AdapterError, AdapterInfo, AdapterLimits, Addressed, Connection, ConversationRef, Delivery,
    Dialect, EditInterval, Inbound, Message, Principal, Receive, Segment, TextUnit,
};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::{Mutex, mpsc};

pub use clean::clean;
pub use markdown::render as render_markdown;

/// How the console talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Line editor, colours, spinner.
    Terminal,
    /// Each line of standard input is a message; answers end with a blank line.
    Lines,
    /// As `Lines`, with one JSON event per line on standard output.
    Json,
}

/// Configuration of the one console connection of a process.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleConfig {
    /// How it talks.
    pub mode: Mode,
    /// Who types.
    pub principal: Principal,
    /// Where.
    pub conversation: ConversationRef,
    /// Colours and rendered Markdown.
    pub color: bool,
    /// History file of the line editor.
    pub history: Option<PathBuf>,
    /// Send this one message instead of reading input.
    pub once: Option<String>,
    /// Command words offered by Tab.
    pub commands: Vec<String>,
    /// Makes message ids of this run unique.
    pub run_id: String,
    /// Keys every JSON event begins with.
    #[serde(default)]
    pub event_head: serde_json::Map<String, serde_json::Value>,
}

/// What a reader thread hands over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A message.
    Line(String),
    /// Ctrl-C while a turn runs.
    Interrupt,
    /// No more input.
    End,
}

/// The console adapter.
pub struct Console;

#[async_trait]
impl Adapter for Console {
    fn info(&self) -> AdapterInfo {
        AdapterInfo {
            kind: "console".into(),
            limits: AdapterLimits {
                edit_interval_ms: EditInterval::same(50),
                commands_max: 1000,
                idempotent_send: true,
                ..AdapterLimits::text(1 << 20, TextUnit::Chars)
            },
            abilities: vec![Ability::Edit, Ability::Typing, Ability::Commands, Ability::Reply, Ability::Stream],
            dialect: Dialect::Markdown,
        }
    }

    async fn connect(&self, config: serde_json::Value) -> Result<Connection, AdapterError> {
        let config: ConsoleConfig =
            serde_json::from_value(config).map_err(|e| AdapterError::passing(format!("console settings: {e}")))?;
        let state = Arc::new(state::State::default());
        let (tx, rx) = mpsc::unbounded_channel();
        match (&config.once, config.mode) {
            (Some(text), _) => lines::once(text.clone(), tx),
            (None, Mode::Terminal) => terminal::spawn(&config, tx, Arc::clone(&state))?,
            (None, _) => lines::spawn(tx),
        }
        let screen = Arc::new(screen::Screen::new(&config, Arc::clone(&state)));
        if config.mode == Mode::Terminal {
            screen::animate(&screen);
        }
        let reader = Arc::new(Reader { config, state, input: Mutex::new(rx), refused: AtomicU32::new(0) });
        Ok(Connection { receive: reader, send: screen.clone(), edit: screen.clone(), lookup: screen })
    }
}

/// Inbound half: gives the next message only when the one before is settled, or when it can answer a question.
struct Reader {
    config: ConsoleConfig,
    state: Arc<state::State>,
    input: Mutex<mpsc::UnboundedReceiver<Input>>,
    /// Questions that got "no" because the input was over.
    refused: AtomicU32,
}

/// So many questions get "no" after the end of the input. One that "no" does not answer is asked again, so then
/// the turn is stopped.
const REFUSALS: u32 = 3;

impl Reader {
    fn message(&self, text: String) -> Delivery {
        let (n, id) = self.state.begin(&self.config.run_id);
        let message = Message {
            id: id.clone(),
            conversation: self.config.conversation.clone(),
            principal: self.config.principal.clone(),
            segments: vec![Segment::plain(text)],
            sent_at: chrono::Utc::now(),
            addressed: Addressed::Private,
            command: None,
            reply_to: None,
            album_id: None,
            edited: false,
        };
        Delivery {
            event_key: format!("m/{}/{id}", self.config.conversation.scene),
            token: n,
            event: Inbound::Message(message),
        }
    }

    /// End of input: an open question gets "no", then the last turn is awaited.
    async fn at_end(&self) -> Option<Delivery> {
        if self.state.take_question() {
            let before = self.refused.fetch_add(1, Ordering::Relaxed);
            return Some(self.message(if before < REFUSALS { "no" } else { "/stop" }.into()));
        }
        self.state.wait_idle_or_question().await;
        if self.state.question_open() {
            return None;
        }
        Some(Delivery { event_key: "closed".into(), token: 0, event: Inbound::Closed })
    }
}

#[async_trait]
impl Receive for Reader {
    async fn next(&self) -> Option<Delivery> {
        let mut input = self.input.lock().await;
        loop {
            if self.config.mode != Mode::Terminal {
                tokio::select! {
                    () = self.state.wait_idle_or_question() => {}
                    () = self.state.stopped() => return None,
                }
            }
            let next = tokio::select! {
                next = input.recv() => next,
                () = self.state.stopped() => return None,
            };
            match next {
                Some(Input::Line(line)) if line.trim().is_empty() => {}
                Some(Input::Line(line)) => {
                    self.state.take_question();
                    return Some(self.message(line));
                }
                Some(Input::Interrupt) => return Some(self.message("/stop".into())),
                Some(Input::End) | None => loop {
                    if let Some(delivery) = self.at_end().await {
                        return Some(delivery);
                    }
                },
            }
        }
    }

    async fn accept(&self, _token: u64) {}

    async fn stop(&self) {
        self.state.stop();
    }
}

#[cfg(test)]
mod tests;
