//! What the console shows: answers, growing drafts, questions, a busy line, JSON events.

use crate::state::State;
use crate::{ConsoleConfig, Mode, clean, markdown};
use async_trait::async_trait;
use plugin_sdk::{
    ConversationRef, Draft, Edit, Lookup, MediaRef, Outgoing, OutgoingKind, Segment, Send, SendError, Sent, Settled,
    Unsupported,
};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Frames of the busy line.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Keys of a JSON event.
const EVENT_KEYS: [&str; 7] = ["event", "kind", "text", "segments", "turn_id", "outcome", "detail"];

#[derive(Default)]
struct View {
    /// Bytes of the present draft that are on the screen.
    shown: usize,
    /// Text of the present draft.
    draft: String,
    /// Label of the busy line; `None` = no line.
    busy: Option<String>,
    frame: usize,
}

/// Outbound half.
pub(crate) struct Screen {
    mode: Mode,
    color: bool,
    event_head: Map<String, Value>,
    state: Arc<State>,
    view: Mutex<View>,
    sent: AtomicU64,
}

impl Screen {
    pub(crate) fn new(config: &ConsoleConfig, state: Arc<State>) -> Self {
        Self {
            mode: config.mode,
            color: config.color,
            event_head: config.event_head.clone(),
            state,
            view: Mutex::default(),
            sent: AtomicU64::new(0),
        }
    }

    /// One line with every key of an event; what does not belong to it is `null`.
    fn event(&self, value: &Value) -> Result<(), SendError> {
        let mut line = self.event_head.clone();
        for key in EVENT_KEYS {
            line.insert(key.into(), value[key].clone());
        }
        self.write(&format!("{}\n", Value::Object(line)))
    }

    fn write(&self, text: &str) -> Result<(), SendError> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|e| SendError::Permanent(format!("standard output: {e}")))
    }

    fn rendered(&self, text: &str) -> String {
        let text = clean(text);
        match (self.mode, self.color) {
            (Mode::Terminal, true) => markdown::render(&text),
            (Mode::Terminal, false) => markdown::without_styles(&markdown::render(&text)),
            _ => text,
        }
    }

    fn clear_busy(&self, view: &mut View) -> Result<(), SendError> {
        if view.busy.take().is_some() { self.write("\r\x1b[2K") } else { Ok(()) }
    }

    /// Shows the part of an answer that the draft has not shown yet.
    fn answer(&self, text: &str) -> Result<(), SendError> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        self.clear_busy(&mut view)?;
        let shown = if text.starts_with(&view.draft[..view.shown]) { view.shown } else { 0 };
        *view = View::default();
        drop(view);
        let rest = text.get(shown..).unwrap_or(text).trim_matches('\n');
        if rest.is_empty() { self.write("\n") } else { self.write(&format!("{}\n\n", self.rendered(rest))) }
    }

    /// Shows it before it counts as open: the prompt for the answer comes below its text.
    fn question(&self, text: &str) -> Result<(), SendError> {
        let text = self.rendered(text);
        if self.mode == Mode::Terminal {
            let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            self.clear_busy(&mut view)?;
            self.write(&format!("{text}\n"))?;
        } else {
            let mut err = std::io::stderr().lock();
            writeln!(err, "{text}").map_err(|e| SendError::Permanent(format!("standard error: {e}")))?;
        }
        self.state.open_question();
        Ok(())
    }

    fn grow(&self, draft: &Draft) -> Result<(), SendError> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if !draft.text.starts_with(&view.draft[..view.shown]) {
            view.shown = 0;
        }
        view.draft.clone_from(&draft.text);
        let end = markdown::stable_end(&draft.text);
        if end > view.shown {
            let part = draft.text[view.shown..end].trim_matches('\n').to_string();
            view.shown = end;
            self.clear_busy(&mut view)?;
            drop(view);
            return self.write(&format!("{}\n\n", self.rendered(&part)));
        }
        Ok(())
    }

    fn tick(&self) -> Result<(), SendError> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state.question_open() {
            // The prompt stands in this row now.
            view.busy = None;
            return Ok(());
        }
        if !self.state.busy() {
            return self.clear_busy(&mut view);
        }
        view.frame = (view.frame + 1) % SPINNER.len();
        if let Some(label) = view.busy.clone() {
            return self.write(&format!("\r\x1b[2K\x1b[2m{} {}\x1b[0m", SPINNER[view.frame], clean(&label)));
        }
        Ok(())
    }
}

/// Redraws the busy line while the screen lives.
pub(crate) fn animate(screen: &Arc<Screen>) {
    let weak = Arc::downgrade(screen);
    tokio::spawn(async move {
        let mut interval = tokio::time::interval(Duration::from_millis(100));
        loop {
            interval.tick().await;
            match weak.upgrade() {
                Some(screen) if screen.tick().is_ok() => {}
                _ => return,
            }
        }
    });
}

/// Text of a piece: text segments, then its buttons as `[1] Label`.
fn piece_text(segments: &[Segment]) -> String {
    let mut out = String::new();
    for segment in segments {
        match segment {
            Segment::Text { text, .. } => out.push_str(text),
            Segment::Keyboard { rows } => {
                let labels = rows.iter().flatten().enumerate().map(|(i, b)| format!("[{}] {}", i + 1, b.label));
                out.push('\n');
                out.push_str(&labels.collect::<Vec<_>>().join("  "));
            }
            Segment::Image { media, caption }
            | Segment::Audio { media, caption }
            | Segment::Video { media, caption }
            | Segment::File { media, caption } => {
                out.push_str(&format!("\n[file: {}]", media.name.as_deref().unwrap_or("unnamed")));
                out.push_str(caption.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }
    out
}

#[async_trait]
impl Send for Screen {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let id = self.sent.fetch_add(1, Ordering::Relaxed).to_string();
        let text = piece_text(&piece.segments);
        if self.mode == Mode::Json {
            if piece.kind == OutgoingKind::Question {
                self.state.open_question();
            }
            let event = if piece.kind == OutgoingKind::Question { "question" } else { "message" };
            let kind = piece.kind;
            self.event(&json!({"event": event, "kind": kind, "text": text, "segments": piece.segments}))?;
        } else if piece.kind == OutgoingKind::Question {
            self.question(&text)?;
        } else {
            self.answer(&text)?;
        }
        Ok(Sent { message_id: id })
    }
}

#[async_trait]
impl Edit for Screen {
    async fn draft(&self, draft: Draft) -> Result<(), SendError> {
        match self.mode {
            Mode::Json => self.event(&json!({"event": "draft", "text": draft.text})),
            Mode::Terminal => self.grow(&draft),
            Mode::Lines => Ok(()),
        }
    }

    async fn typing(&self, _conversation: &ConversationRef, label: Option<&str>) -> Result<(), SendError> {
        match self.mode {
            Mode::Json => match label {
                Some(label) => self.event(&json!({"event": "progress", "text": label})),
                None => Ok(()),
            },
            Mode::Terminal => {
                let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
                if self.state.question_open() {
                    return Ok(());
                }
                view.busy = Some(label.unwrap_or("…").to_string());
                Ok(())
            }
            Mode::Lines => Ok(()),
        }
    }

    async fn answer_button(&self, _token: u64, _text: &str) -> Result<(), SendError> {
        Err(Unsupported { op: "answer_button" }.into())
    }

    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        if self.mode == Mode::Json {
            self.event(&json!({"event": "outcome", "turn_id": settled.turn_id, "outcome": settled.outcome,
                "detail": settled.detail}))?;
        }
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        self.clear_busy(&mut view)?;
        *view = View::default();
        drop(view);
        self.state.settle(&settled.message_id);
        Ok(())
    }
}

#[async_trait]
impl Lookup for Screen {
    /// Whoever sits at the console owns it.
    async fn member(&self, _conversation: &ConversationRef, _user_id: &str) -> Result<Vec<String>, SendError> {
        Ok(vec!["owner".into(), "admin".into()])
    }

    async fn download(&self, _media: &MediaRef, _max: u64) -> Result<Vec<u8>, SendError> {
        Err(Unsupported { op: "download" }.into())
    }

    async fn set_commands(&self, _language: Option<&str>, _commands: &[(String, String)]) -> Result<(), SendError> {
        Ok(())
    }

    async fn probe(&self) -> Result<(), SendError> {
        Ok(())
    }
}
