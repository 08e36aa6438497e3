//! One stage: a host in a scratch world with a channel that a scenario speaks through.

use super::super::subject::SubjectArgs;
use super::super::{Host, HostOptions, StoreKind};
use super::channel::{Book, Channel, Delivered, Doors, info};
use super::copy_tree;
use crate::admission::{ADAPTER_KINDS, CONSOLE, can_access_tool};
use crate::config::{BOT_FILE, Env};
use crate::reload::Trigger;
use crate::scenario::{Edit, Heard, More, Press, Say, Stage, StageCall, StageFactory, StagePlan};
use crate::session::SessionKey;
use crate::store;
use crate::task::{ManualClock, SharedClock, blocking};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use plugin_sdk::{Addressed, Connection, ConversationRef, Delivery, Inbound, Message, Principal, Role, Scope, Segment};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::sync::mpsc;

/// When every scenario begins.
const START: &str = "2026-01-05T09:00:00Z";

/// Real time between two seconds of a host that ends.
const TICK: Duration = Duration::from_millis(20);
/// How long something that is expected may be on its way.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

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
            channels: None,
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

/// A stage.
struct Scene {
    options: HostOptions,
    clock: ManualClock,
    host: Option<Arc<Host>>,
    channels: Option<(Arc<Book>, Doors)>,
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

    /// Ends when every message is settled, or waits for the answer to a question that is shown.
    async fn quiet(&self) {
        let (Some((book, _)), Some(host)) = (&self.channels, &self.host) else { return };
        let questions = &host.desk().talk.questions;
        loop {
            let (heard, asked) = (book.changed.notified(), questions.changed());
            tokio::pin!(heard, asked);
            heard.as_mut().enable();
            asked.as_mut().enable();
            let scope = host.desk().publisher.published().active.contents().bot.agent.session_scope;
            let shown: HashSet<SessionKey> =
                questions.open().into_iter().filter(|q| !q.cards.is_empty()).map(|q| q.session).collect();
            let waits = |m: &Delivered| shown.contains(&SessionKey::of(&m.conversation, &m.principal, scope));
            if book.open().is_some_and(|open| open.iter().all(waits)) {
                return;
            }
            tokio::select! {
                () = heard => {}
                () = asked => {}
            }
        }
    }

    /// Ends when something wanted is there, or did not come for a while.
    async fn arrives(&self, wanted: More) {
        let (Some((book, _)), Some(host)) = (&self.channels, &self.host) else { return };
        let there = || match wanted {
            More::Reply => book.has_replies(),
            More::Call => host.desk().has_calls(),
        };
        let arrives = async {
            loop {
                let news = book.changed.notified();
                tokio::pin!(news);
                news.as_mut().enable();
                if there() {
                    return;
                }
                news.await;
            }
        };
        tokio::select! {
            () = arrives => {}
            () = self.limit.sleep(ON_ITS_WAY) => {}
        }
    }

    async fn stop(&mut self) -> Result<(), String> {
        self.channels = None;
        let Some(host) = self.host.take() else { return Ok(()) };
        // What still waits, for an answer too, ends with the host: its time passes by itself here.
        let ended = host.shutdown();
        tokio::pin!(ended);
        loop {
            tokio::select! {
                biased;
                () = &mut ended => return Ok(()),
                () = self.limit.sleep(TICK) => self.clock.advance(Duration::from_secs(1)),
            }
        }
    }

    async fn start(&mut self) -> Result<(), String> {
        let host = Arc::new(Host::start(self.options.clone()).await.map_err(|e| e.to_string())?);
        let book = Arc::new(Book::counting(Arc::clone(&self.sent)));
        let mut doors = Doors::new();
        for platform in ADAPTER_KINDS {
            let (door, deliveries) = mpsc::unbounded_channel();
            let deliveries = tokio::sync::Mutex::new(deliveries);
            let channel = Arc::new(Channel { book: Arc::clone(&book), deliveries });
            let connection = Connection {
                receive: channel.clone(),
                send: channel.clone(),
                edit: channel.clone(),
                lookup: channel.clone(),
            };
            let serving = Arc::clone(&host);
            host.desk().core.tasks.spawn("scenario channel", async move {
                serving.attach(platform, info(platform), connection, None).await;
            });
            doors.insert(platform.to_string(), door);
        }
        self.host = Some(host);
        self.channels = Some((book, doors));
        Ok(())
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
        let (book, doors) = self.channels.as_ref().ok_or("the bot is stopped")?;
        let n = book.next();
        let id = format!("m{n}");
        let message = self.message(say, &id)?;
        let delivered = Delivered { conversation: message.conversation.clone(), principal: message.principal.clone() };
        let door = door(doors, &message.conversation.platform)?;
        book.begin(&id, delivered);
        let delivery = Delivery { event_key: id, token: n, event: Inbound::Message(message) };
        door.send(delivery).map_err(|_| "the channel is closed".to_string())?;
        self.quiet().await;
        Ok(())
    }

    async fn press(&mut self, press: &Press) -> Result<(), String> {
        let (book, doors) = self.channels.as_ref().ok_or("the bot is stopped")?;
        let (platform, user) = press.by.split_once(':').ok_or("`by` is PLATFORM:ID")?;
        let Some(button) = book.button(&press.label, user, platform) else {
            return Err(format!("{} sees no button \"{}\"", press.by, press.label));
        };
        let n = book.next();
        let event = Inbound::Button {
            action: button.action,
            message_id: button.message_id,
            by: Principal::person(platform, user, None),
            conversation: button.conversation,
        };
        book.begin_press();
        let delivery = Delivery { event_key: format!("b{n}"), token: n, event };
        door(doors, platform)?.send(delivery).map_err(|_| "the channel is closed".to_string())?;
        self.quiet().await;
        Ok(())
    }

    async fn heard(&mut self, wanted: Option<More>) -> Heard {
        if let Some(wanted) = wanted {
            self.arrives(wanted).await;
        }
        let Some((book, _)) = &self.channels else { return Heard::default() };
        let replies = book.take_replies();
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
        if crate::admission::answered(&facts, &policy).is_err() {
            return Ok(Vec::new());
        }
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
        // What the time that passed sets off is awaited, but not for ever.
        tokio::select! {
            () = self.quiet() => {}
            () = self.limit.sleep(Duration::from_secs(5)) => {}
        }
    }

    async fn set_running(&mut self, on: bool) -> Result<(), String> {
        if on { self.start().await } else { self.stop().await }
    }
}

/// The way in of a platform; one without an adapter is played at the console.
fn door<'d>(doors: &'d Doors, platform: &str) -> Result<&'d mpsc::UnboundedSender<Delivery>, String> {
    doors.get(platform).or_else(|| doors.get(CONSOLE)).ok_or_else(|| "the bot has no channel".to_string())
}
