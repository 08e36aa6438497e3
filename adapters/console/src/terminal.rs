//! The line editor of an interactive terminal.

use crate::state::State;
use crate::{ConsoleConfig, Input};
use plugin_sdk::AdapterError;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Cmd, Config, Context, Editor, Event, EventHandler, Helper, KeyCode, KeyEvent, Modifiers};
use rustyline::{highlight::Highlighter, hint::Hinter, validate};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Lines kept in the history file.
const HISTORY_LINES: usize = 1000;
/// Two Ctrl-C within this time at an empty prompt leave.
const LEAVE_WINDOW: Duration = Duration::from_millis(1500);

/// Tab completion of command words, and multi-line input by a trailing backslash.
struct Words {
    commands: Vec<String>,
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let start = line.get(..pos).unwrap_or(line);
        if !start.starts_with('/') || start.contains(' ') {
            return Ok((pos, Vec::new()));
        }
        let words = self.commands.iter().map(|c| format!("/{}", c.trim_start_matches('/')));
        let found = words.filter(|c| c.starts_with(start));
        Ok((0, found.map(|c| Pair { replacement: format!("{c} "), display: c }).collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl validate::Validator for Words {
    fn validate(&self, ctx: &mut validate::ValidationContext<'_>) -> rustyline::Result<validate::ValidationResult> {
        if ctx.input().ends_with('\\') {
            return Ok(validate::ValidationResult::Incomplete);
        }
        Ok(validate::ValidationResult::Valid(None))
    }
}

impl Helper for Words {}

fn editor(config: &ConsoleConfig) -> Result<Editor<Words, FileHistory>, AdapterError> {
    let fail = |e: ReadlineError| AdapterError::passing(format!("terminal: {e}"));
    let settings = Config::builder()
        .max_history_size(HISTORY_LINES)
        .map_err(fail)?
        .bracketed_paste(true)
        .auto_add_history(false)
        .build();
    let mut editor: Editor<Words, FileHistory> = Editor::with_config(settings).map_err(fail)?;
    editor.set_helper(Some(Words { commands: config.commands.clone() }));
    let alt_enter = Event::from(KeyEvent(KeyCode::Enter, Modifiers::ALT));
    editor.bind_sequence(alt_enter, EventHandler::Simple(Cmd::Newline));
    if let Some(history) = &config.history {
        // A missing or unreadable history is an empty one; typing must work all the same.
        drop(editor.load_history(history));
    }
    Ok(editor)
}

/// Starts the editor thread. It shows the prompt only while nothing runs or a question waits,
/// so that answers never mix with half-typed lines; Ctrl-C in between is a signal.
pub(crate) fn spawn(config: &ConsoleConfig, tx: UnboundedSender<Input>, state: Arc<State>) -> Result<(), AdapterError> {
    let mut editor = editor(config)?;
    let history = config.history.clone();
    let runtime = tokio::runtime::Handle::current();
    interrupts(tx.clone(), Arc::clone(&state));
    std::thread::spawn(move || {
        let mut last_interrupt: Option<Instant> = None;
        loop {
            runtime.block_on(state.wait_idle_or_question());
            match editor.readline("› ") {
                Ok(line) => {
                    last_interrupt = None;
                    let text = line.replace("\\\n", "\n");
                    if text.trim().is_empty() {
                        continue;
                    }
                    remember(&mut editor, &text, history.as_ref());
                    // The message counts as open at once, so that the prompt waits for its answer.
                    let before = state.opened();
                    if tx.send(Input::Line(text)).is_err() {
                        return;
                    }
                    runtime.block_on(state.wait_opened(before));
                }
                Err(ReadlineError::Interrupted) => {
                    if last_interrupt.is_some_and(|at| at.elapsed() < LEAVE_WINDOW) {
                        break;
                    }
                    last_interrupt = Some(Instant::now());
                }
                Err(_) => break,
            }
        }
        drop(tx.send(Input::End));
    });
    Ok(())
}

fn remember(editor: &mut Editor<Words, FileHistory>, text: &str, file: Option<&PathBuf>) {
    // Losing history is no reason to stop a chat.
    drop(editor.add_history_entry(text));
    if let Some(file) = file {
        drop(editor.save_history(file));
    }
}

/// Ctrl-C outside the editor stops the running turn.
fn interrupts(tx: UnboundedSender<Input>, state: Arc<State>) {
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            if state.busy() && tx.send(Input::Interrupt).is_err() {
                return;
            }
        }
    });
}
