//! One stage: a host in a scratch world with a channel that a scenario speaks through.

use super::super::subject::SubjectArgs;
use super::super::{Host, HostOptions, StoreKind};
use super::copy_tree;
use crate::admission::{CONSOLE, can_access_tool};
use crate::config::{BOT_FILE, Env};
use crate::reload::Trigger;
use crate::scenario::{Edit, Heard, Say, Stage, StageCall, StageFactory, StagePlan};
use crate::store;
use crate::task::{ManualClock, SharedClock, blocking};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use plugin_sdk::{
    Ability, AdapterInfo, AdapterLimits, Addressed, Connection, ConversationRef, Delivery, Dialect, Draft, Inbound,
    Lookup, MediaRef, Message, Outgoing, Principal, Receive, Role, Scope, Segment, SendError, Sent, Settled,
    TextFormat, TextUnit,
};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// When every scenario begins.
const START: &str = "2026-01-05T09:00:00Z";

/// Builds stages.
pub(super) struct Theatre {
    pub(super) env: Env,
    /// Real time, for waits that must end.
    pub(super) limit_clock: SharedClock,
}

#[async_trait]
impl StageFactory for Theatre {
    async fn build(&self, plan: StagePlan) -> Result<Box<dyn Stage>, String> {
        let copy = tempfile::Builder::new().prefix("scenario-").tempdir().map_err(|e| e.to_string())?;
        let bot_dir = if plan.edits || !plan.overlay.is_empty() {
            let (from, to) = (plan.bot_dir.clone(), copy.path().join("bot"));
            let skip = vec![super::places::data_dir(&plan.bot_dir, None, &self.env)];
            let target = to.clone();
            blocking("copy bot", move || copy_tree(&from, &target, &skip))
                .await
                .map_err(|e| e.to_string())?
                .map_err(|e| format!("the bot folder cannot be copied: {e}"))?;
            overlay(&to, &plan.overlay)?;
            to
        } else {
            plan.bot_dir.clone()
        };
        let clock = ManualClock::new(START.parse::<DateTime<Utc>>().unwrap_or(DateTime::UNIX_EPOCH));
        let mut options = HostOptions::new(bot_dir, clock.shared());
        options.env = self.env.clone();
        options.store = StoreKind::Scratch;
        options.model = Some(plan.model);
        options.memory = Some(store::in_memory(clock.shared()));
        let mut scene = Scene {
            options,
            clock,
            host: None,
            channel: None,
            sent: Arc::default(),
            _copy: copy,
            limit: Arc::clone(&self.limit_clock),
        };
        scene.start().await?;
        Ok(Box::new(scene))
    }
}

/// Merges further keys into `bot.toml` of the copy.
fn overlay(bot_dir: &Path, keys: &Map<String, Value>) -> Result<(), String> {
    if keys.is_empty() {
        return Ok(());
    }
    let file = bot_dir.join(BOT_FILE);
    let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
    let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
    let extra = toml::Table::try_from(keys).map_err(|e| e.to_string())?;
    merge(&mut table, extra);
    std::fs::write(file, table.to_string()).map_err(|e| e.to_string())
}

fn merge(into: &mut toml::Table, extra: toml::Table) {
    for (key, value) in extra {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// What the channel has heard and what is still open.
#[derive(Default)]
struct Books {
    replies: Vec<String>,
    open: HashSet<String>,
    question: bool,
}

/// The scenario's channel.
pub(super) struct Channel {
    books: Mutex<Books>,
    changed: Notify,
    deliveries: tokio::sync::Mutex<mpsc::UnboundedReceiver<Delivery>>,
    sent: Arc<AtomicU64>,
}

impl Channel {
    fn with<T>(&self, f: impl FnOnce(&mut Books) -> T) -> T {
        let out = f(&mut self.books.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_waiters();
        out
    }

    /// Ends when nothing is open, or a question waits.
    async fn quiet(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            let quiet = {
                let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
                books.open.is_empty() || books.question
            };
            if quiet {
                return;
            }
            changed.await;
        }
    }
}

#[async_trait]
impl Receive for Channel {
    async fn next(&self) -> Option<Delivery> {
        self.deliveries.lock().await.recv().await
    }
    async fn accept(&self, _token: u64) {}
    async fn stop(&self) {}
}

#[async_trait]
impl plugin_sdk::Send for Channel {
    async fn send(&self, piece: Outgoing) -> Result<Sent, SendError> {
        let mut text = String::new();
        for segment in &piece.segments {
            match segment {
                // The host's own footer stands behind the answer as plain text; a scenario is told the answer alone.
                Segment::Text { format: TextFormat::Plain, .. } if !text.is_empty() => {}
                Segment::Text { text: t, .. } => text.push_str(t),
                _ => {}
            }
        }
        let question = piece.kind == plugin_sdk::OutgoingKind::Question;
        self.with(|b| {
            b.replies.push(text);
            b.question |= question;
        });
        Ok(Sent { message_id: self.sent.fetch_add(1, Ordering::Relaxed).to_string() })
    }
}

#[async_trait]
impl plugin_sdk::Edit for Channel {
    async fn draft(&self, _draft: Draft) -> Result<(), SendError> {
        Ok(())
    }
    async fn typing(&self, _conversation: &ConversationRef, _label: Option<&str>) -> Result<(), SendError> {
        Ok(())
    }
    async fn answer_button(&self, _token: u64, _text: &str) -> Result<(), SendError> {
        Ok(())
    }
    async fn settled(&self, settled: Settled) -> Result<(), SendError> {
        self.with(|b| {
            b.open.remove(&settled.message_id);
            b.question &= !b.open.is_empty();
        });
        Ok(())
    }
}

#[async_trait]
impl Lookup for Channel {
    async fn member(&self, _conversation: &ConversationRef, _user_id: &str) -> Result<Vec<String>, SendError> {
        Ok(vec!["owner".into(), "admin".into()])
    }
    async fn download(&self, _media: &MediaRef) -> Result<Vec<u8>, SendError> {
        Ok(Vec::new())
    }
    async fn set_commands(&self, _commands: &[(String, String)]) -> Result<(), SendError> {
        Ok(())
    }
    async fn probe(&self) -> Result<(), SendError> {
        Ok(())
    }
}

/// The channel counts as the console, so that approvals and foreign subjects can be played.
fn info() -> AdapterInfo {
    let limits = AdapterLimits {
        text_max: 1 << 20,
        text_unit: TextUnit::Chars,
        edit_interval_ms: 0,
        commands_max: 100,
        idempotent_send: true,
    };
    AdapterInfo { kind: CONSOLE.into(), limits, abilities: vec![Ability::Reply], dialect: Dialect::Markdown }
}

/// A stage.
struct Scene {
    options: HostOptions,
    clock: ManualClock,
    host: Option<Arc<Host>>,
    channel: Option<(Arc<Channel>, mpsc::UnboundedSender<Delivery>)>,
    /// Numbers of messages, over all starts: an id that comes twice is a repeat.
    sent: Arc<AtomicU64>,
    _copy: tempfile::TempDir,
    limit: SharedClock,
}

impl Scene {
    fn host(&self) -> Result<&Arc<Host>, String> {
        self.host.as_ref().ok_or_else(|| "the bot is stopped".to_string())
    }

    fn file(&self, relative: &str) -> Result<PathBuf, String> {
        let path = Path::new(relative);
        let inside = path.components().all(|c| matches!(c, Component::Normal(_)));
        if inside { Ok(self.options.bot_dir.join(path)) } else { Err(format!("{relative} leaves the bot folder")) }
    }

    fn message(&self, say: &Say, id: &str) -> Result<Message, String> {
        let (platform, user) = say.from.split_once(':').ok_or("`from` is PLATFORM:ID")?;
        // Whoever speaks at the console is its master; everybody else is what the policy says.
        let role = (platform == CONSOLE).then_some(Role::Master);
        let scope = say.scope.unwrap_or(Scope::Private);
        Ok(Message {
            id: id.to_string(),
            conversation: ConversationRef {
                platform: platform.into(),
                endpoint: "main".into(),
                scope,
                scene: say.scene.clone().unwrap_or_else(|| user.to_string()),
                parent: None,
                thread: say.thread.clone(),
            },
            principal: Principal::person(platform, user, role),
            segments: vec![Segment::plain(say.text.clone())],
            sent_at: self.clock.shared().now(),
            addressed: if scope == Scope::Private { Addressed::Private } else { Addressed::Mention },
            command: None,
            reply_to: None,
            album_id: None,
            edited: false,
        })
    }
}

#[async_trait]
impl Stage for Scene {
    async fn say(&mut self, say: &Say) -> Result<(), String> {
        let (channel, deliver) = self.channel.clone().ok_or("the bot is stopped")?;
        let n = channel.sent.fetch_add(1, Ordering::Relaxed);
        let id = format!("m{n}");
        let message = self.message(say, &id)?;
        channel.with(|b| {
            b.question = false;
            b.open.insert(id.clone());
        });
        let delivery = Delivery { event_key: id, token: n, event: Inbound::Message(message) };
        deliver.send(delivery).map_err(|_| "the channel is closed".to_string())?;
        channel.quiet().await;
        Ok(())
    }

    async fn heard(&mut self) -> Heard {
        let Some((channel, _)) = &self.channel else { return Heard::default() };
        let replies = channel.with(|b| std::mem::take(&mut b.replies));
        let calls = match &self.host {
            Some(host) => host.desk().take_calls(),
            None => Vec::new(),
        };
        let calls = calls
            .into_iter()
            .map(|c| StageCall {
                tool: c.tool,
                arguments: c.arguments,
                status: c.status,
                error: c.error.map(|e| e.code),
            })
            .collect();
        Heard { replies, calls }
    }

    async fn catalog(&mut self, subject: &str) -> Result<Vec<String>, String> {
        let desk = self.host()?.desk();
        let policy = desk.policy.read();
        let args = SubjectArgs { subject: Some(subject.to_string()), ..SubjectArgs::default() };
        let facts = args.facts(&policy)?;
        let lease = desk.publisher.lease();
        let tools = lease.contents().indexes.tools.tools();
        let offered = tools.iter().filter(|t| {
            t.exposure() == crate::admission::Exposure::Listed && can_access_tool(&t.guarded(), &facts, &policy).is_ok()
        });
        Ok(offered.map(|t| t.qualified.to_string()).collect())
    }

    async fn edit(&mut self, edit: &Edit) -> Result<(), String> {
        let path = self.file(&edit.file)?;
        let fail = |e: std::io::Error| format!("{}: {e}", edit.file);
        match (&edit.write, &edit.replace, edit.remove) {
            (Some(text), None, false) => {
                if let Some(parent) = path.parent() {
                    std::fs::create_dir_all(parent).map_err(fail)?;
                }
                std::fs::write(&path, text).map_err(fail)
            }
            (None, Some([old, new]), false) => {
                let text = std::fs::read_to_string(&path).map_err(fail)?;
                if !text.contains(old.as_str()) {
                    return Err(format!("{} does not hold {old:?}", edit.file));
                }
                std::fs::write(&path, text.replace(old.as_str(), new)).map_err(fail)
            }
            (None, None, true) if path.is_dir() => std::fs::remove_dir_all(&path).map_err(fail),
            (None, None, true) => std::fs::remove_file(&path).map_err(fail),
            _ => Err("an edit has exactly one of write, replace, remove".into()),
        }
    }

    async fn reload(&mut self) -> Result<Value, String> {
        let record = self.host()?.reload(Trigger::Command).await.map_err(|e| e.to_string())?;
        Ok(json!(*record))
    }

    async fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
        if let Some((channel, _)) = &self.channel {
            // What the time that passed sets off is awaited, but not for ever.
            tokio::select! {
                () = channel.quiet() => {}
                () = self.limit.sleep(Duration::from_secs(5)) => {}
            }
        }
    }

    async fn stop(&mut self) -> Result<(), String> {
        self.channel = None;
        let Some(host) = self.host.take() else { return Ok(()) };
        host.shutdown().await;
        Ok(())
    }

    async fn start(&mut self) -> Result<(), String> {
        let host = Arc::new(Host::start(self.options.clone()).await.map_err(|e| e.to_string())?);
        let (deliver, deliveries) = mpsc::unbounded_channel();
        let channel = Arc::new(Channel {
            books: Mutex::default(),
            changed: Notify::new(),
            deliveries: tokio::sync::Mutex::new(deliveries),
            sent: Arc::clone(&self.sent),
        });
        let connection = Connection {
            receive: channel.clone(),
            send: channel.clone(),
            edit: channel.clone(),
            lookup: channel.clone(),
        };
        let serving = Arc::clone(&host);
        host.desk().core.tasks.spawn("scenario channel", async move {
            serving.attach("scenario", info(), connection, None).await;
        });
        self.host = Some(host);
        self.channel = Some((channel, deliver));
        Ok(())
    }
}
