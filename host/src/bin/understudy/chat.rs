//! `chat`: this terminal as a channel of the bot.

use crate::attach;
use crate::cli::Chat;
use crate::client::Client;
use crate::out::{Failure, INCOMPLETE, NEEDS_APPROVAL, OK, Out, REFUSED};
use crate::place::{Setting, usable};
use crate::progress::{Step, during};
use crate::signals::Signals;
use adapter_console::Console;
use async_trait::async_trait;
use host::admission::Subject;
use host::app::{HostOptions, StoreKind};
use plugin_sdk::{
    Adapter, Connection, ConversationRef, Draft, Edit, Outgoing, OutgoingKind, Principal, Role, Send, SendError, Sent,
    Settled,
};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The endpoint every console connection belongs to.
const ENDPOINT: &str = "console/main";

pub(crate) async fn run(args: &Chat, setting: &Setting) -> Result<u8, Failure> {
    usable(&args.dir, false)?;
    if args.once.as_ref().is_some_and(|t| t.trim().is_empty()) {
        return Err(Failure::usage("the message is empty"));
    }
    let subject = who(args, setting)?;
    let place = subject.0.clone();
    let (console, seen) = connect(args, setting, subject).await?;
    let exit = match Client::find(&setting.data_of(&args.dir))? {
        Some(client) => {
            let key = format!("{ENDPOINT}/{}", run_id(setting));
            match attach::run(
                &client,
                (key, Console.info(), place),
                &console,
                (&mut Signals::listen()?, interactive(args, setting)),
            )
            .await
            {
                // the one message has its answer, however the host left after it
                Err(_) if args.once.is_some() && seen.is_settled() => OK,
                ended => ended?,
            }
        }
        None => in_process(args, setting, console, place).await?,
    };
    Ok(match exit {
        OK if args.once.is_some() => seen.exit(),
        OK if seen.is_refused() => REFUSED,
        exit => exit,
    })
}

/// Tells this run's connection and messages from those of others.
fn run_id(setting: &Setting) -> String {
    format!("{:x}-{}", setting.clock.now().timestamp_micros(), std::process::id())
}

/// A host of its own, without other endpoints, as long as the conversation lasts.
async fn in_process(
    args: &Chat,
    setting: &Setting,
    console: Connection,
    place: ConversationRef,
) -> Result<u8, Failure> {
    let mut signals = Signals::listen()?;
    let options = HostOptions { watch: true, socket: true, ..setting.host_options(&args.dir, StoreKind::Disk) };
    let host =
        during(&setting.out, &setting.clock, Step::only("preparing the bot folder"), setting.start(options)).await?;
    if args.once.is_none() {
        // Who may write from elsewhere does not matter to whoever sits at the console.
        let mut findings = host.warnings().to_vec();
        findings.retain(|d| d.code != "access::nobody-listed");
        setting.out.report(&findings);
    }
    let stop = Arc::clone(&console.receive);
    let mut events = host.events();
    let telling = async {
        while let Ok(event) = events.recv().await {
            if event["event"] == "reload" && event["data"]["outcome"] == "rejected" {
                refused_save(&setting.out, &event["data"]);
            }
        }
        std::future::pending::<()>().await;
    };
    tokio::pin!(telling);
    let talk = host.attach(ENDPOINT, Console.info(), console, Some(place));
    tokio::pin!(talk);
    let asked_to_end = tokio::select! {
        () = &mut talk => false,
        () = &mut telling => false,
        _ = signals.leaving(interactive(args, setting)) => true,
    };
    if asked_to_end {
        stop.stop().await;
    }
    tokio::select! {
        () = host.shutdown() => Ok(OK),
        caught = signals.ending() => Ok(caught.exit()),
    }
}

/// A save that was refused: the author who chats should not wonder why nothing changed.
fn refused_save(out: &Out, record: &Value) {
    let found: Vec<plugin_sdk::Diagnostic> = serde_json::from_value(record["diagnostics"].clone()).unwrap_or_default();
    let errors: Vec<_> = found.into_iter().filter(plugin_sdk::Diagnostic::is_error).collect();
    out.report(&errors);
    out.note("the change was refused; the version before it answers on");
}

/// Whether a person types into a line editor.
fn interactive(args: &Chat, setting: &Setting) -> bool {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    terminal && !setting.out.json && !args.plain && args.once.is_none()
}

/// Who types: the OS user as a master, or the subject asked for.
fn who(args: &Chat, setting: &Setting) -> Result<(ConversationRef, Principal), Failure> {
    let user = setting.os_user();
    let (text, role) = match &args.subject {
        Some(text) => (text.as_str(), None),
        None => (user.as_str(), Some(Role::Master)),
    };
    let subject = Subject::parse(text, None).map_err(|e| Failure::usage(e.to_string()))?;
    let principal = Principal::person(&subject.conversation.platform, &subject.user_id, role);
    Ok((subject.conversation, principal))
}

async fn connect(
    args: &Chat,
    setting: &Setting,
    (conversation, principal): (ConversationRef, Principal),
) -> Result<(Connection, Arc<Seen>), Failure> {
    let out = &setting.out;
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mode = match (out.json, terminal && !args.plain && args.once.is_none()) {
        (true, _) => "json",
        (false, true) => "terminal",
        (false, false) => "lines",
    };
    let config = json!({
        "mode": mode,
        "principal": principal,
        "conversation": conversation,
        "color": mode == "terminal" && out.color(true),
        "history": history(&setting.data_of(&args.dir)),
        "once": args.once,
        "commands": ["help", "start", "retry", "new", "stop", "tools", "skills", "why", "status", "reload"],
        "run_id": run_id(setting),
        "event_head": event_head(out),
    });
    let console = Console.connect(config).await.map_err(|e| Failure::refused(e.to_string()))?;
    let seen = Arc::new(Seen { send: console.send, edit: console.edit, end: Mutex::default() });
    let watched = Connection { send: seen.clone(), edit: seen.clone(), ..console };
    Ok((watched, seen))
}

/// What every JSON event of this program begins with.
fn event_head(out: &Out) -> Value {
    if out.json { crate::out::envelope("chat", true, &[], json!({})) } else { json!({}) }
}

fn history(data_dir: &Path) -> Value {
    json!(data_dir.join("console_history"))
}

/// How the conversation went, for the exit code.
#[derive(Default)]
struct End {
    outcome: Option<String>,
    asked: bool,
}

/// Looks at what passes to the console and changes nothing.
struct Seen {
    send: Arc<dyn Send>,
    edit: Arc<dyn Edit>,
    end: Mutex<End>,
}

impl Seen {
    fn note(&self, f: impl FnOnce(&mut End)) {
        f(&mut self.end.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether a message has come to its end.
    fn is_settled(&self) -> bool {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).outcome.is_some()
    }

    /// Whether the person spoken for is not let in.
    fn is_refused(&self) -> bool {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).outcome.as_deref() == Some("refused")
    }

    /// The exit code of `ask` for one message.
    fn exit(&self) -> u8 {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match end.outcome.as_deref() {
            // one message cannot answer what it is asked
            _ if end.asked => NEEDS_APPROVAL,
            Some("completed" | "handled") => OK,
            Some("refused") => REFUSED,
            _ => INCOMPLETE,
        }
    }
}

#[async_trait]
impl Send for Seen {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        if piece.kind == OutgoingKind::Question {
            self.note(|end| end.asked = true);
        }
        self.send.send(piece).await
    }
}

#[async_trait]
impl Edit for Seen {
    async fn draft(&self, draft: Draft) -> Result<(), SendError> {
        self.edit.draft(draft).await
    }

    async fn typing(&self, conversation: &ConversationRef, label: Option<&str>) -> Result<(), SendError> {
        self.edit.typing(conversation, label).await
    }

    async fn answer_button(&self, token: u64, text: &str) -> Result<(), SendError> {
        self.edit.answer_button(token, text).await
    }

    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        self.note(|end| end.outcome = Some(settled.outcome.clone()));
        self.edit.settled(settled).await
    }
}
