//! The gateway: who is connected, and which events go to whom.

pub mod intents;
mod operations;
mod session;
mod socket;

pub(crate) use socket::serve;

use crate::fault::GatewayFault;
use crate::id::Id;
use crate::log::{Violation, ViolationKind};
use crate::model::{Channel, Message};
use crate::print;
use crate::seed;
use crate::world::World;
use serde::Serialize;
use serde_json::{Value, json};
use session::Session;
use std::collections::BTreeMap;
use tokio::sync::mpsc::UnboundedSender;

/// What a connection is told to do.
pub(crate) enum Frame {
    Text(String),
    /// Waits so many milliseconds of the server's clock; nothing overtakes it.
    Pause(u64),
    Close(u16, String),
    Cut,
}

/// An identify.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Identified {
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// Intents.
    pub intents: u64,
    /// The code it was closed with; `None` when it became a session.
    pub closed: Option<u16>,
}

/// A resume.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resumed {
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// The last number the client had.
    pub seq: u64,
    /// Events that were sent again; `None` when the session was invalid.
    pub replayed: Option<usize>,
}

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Closed {
    /// When, Unix milliseconds.
    pub at_ms: u64,
    /// Whether the client closed it.
    pub by_client: bool,
    /// Code; 1006 for a break.
    pub code: u16,
    /// Reason.
    pub reason: String,
}

/// What the gateway has seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GatewayState {
    /// Connections so far.
    pub connections: u64,
    /// Connections that have a session now.
    pub ready: usize,
    /// Identifies.
    pub identifies: Vec<Identified>,
    /// Resumes.
    pub resumes: Vec<Resumed>,
    /// Times of heartbeats, Unix milliseconds.
    pub heartbeats_ms: Vec<u64>,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Connections that ended.
    pub closes: Vec<Closed>,
}

struct Line {
    out: UnboundedSender<Frame>,
    session: Option<String>,
    /// Times of the frames of the last minute.
    frames_ms: Vec<u64>,
}

/// Connections and sessions.
#[derive(Default)]
pub(crate) struct Gateway {
    sessions: BTreeMap<String, Session>,
    lines: BTreeMap<u64, Line>,
    seen: GatewayState,
}

impl Gateway {
    pub(crate) fn state(&self) -> GatewayState {
        let ready = self.lines.values().filter(|l| l.session.is_some()).count();
        GatewayState { ready, ..self.seen.clone() }
    }

    fn send(&self, line: u64, frame: Frame) {
        if let Some(line) = self.lines.get(&line) {
            // a connection that has just ended hears nothing more
            let _ = line.out.send(frame);
        }
    }

    fn everyone(&self, frame: impl Fn() -> Frame) {
        for line in self.lines.values() {
            let _ = line.out.send(frame());
        }
    }

    /// Ends every connection.
    pub(crate) fn shut(&self) {
        self.everyone(|| Frame::Cut);
    }
}

impl World {
    /// Sends an event to every session with one of these intents; 0 needs none. Gives how many are connected to
    /// hear it.
    pub(crate) fn emit(&mut self, intent: u64, name: &str, data: &Value) -> usize {
        self.emit_by(name, |session| (intent == 0 || session.intents & intent != 0).then(|| data.clone()))
    }

    fn emit_by(&mut self, name: &str, view: impl Fn(&Session) -> Option<Value>) -> usize {
        let mut reached = 0;
        let Gateway { sessions, lines, .. } = &mut self.gateway;
        for session in sessions.values_mut() {
            let Some(data) = view(session) else { continue };
            let text = session.stamp(name, &data);
            if let Some(line) = session.line.and_then(|n| lines.get(&n)) {
                reached += 1;
                let _ = line.out.send(Frame::Text(text));
            }
        }
        reached
    }

    /// Whether the bot belongs to a place at all: events of other places never reach it.
    fn concerns_bot(&self, channel: &Channel) -> bool {
        self.may(seed::BOT, channel) & crate::permissions::bits::VIEW_CHANNEL != 0
    }

    /// MESSAGE_CREATE or MESSAGE_UPDATE.
    pub(crate) fn emit_message(&mut self, name: &str, channel: Id, message: Id) {
        let Some(place) = self.channels.get(&channel) else { return };
        let Some(of) = place.messages.get(&message) else { return };
        if !self.concerns_bot(place) || of.only_for.is_some() {
            return;
        }
        let whole = print::message_event(self, of);
        let mut bare = whole.clone();
        print::without_content(&mut bare);
        let direct = place.guild.is_none();
        let intent = if direct { intents::DIRECT_MESSAGES } else { intents::GUILD_MESSAGES };
        let exempt = self.always_readable(of);
        let missing = self.faults.missing_content || of.without_content;
        self.emit_by(name, |session| {
            let reads = session.intents & intents::MESSAGE_CONTENT != 0 && !missing;
            let shown = if exempt || reads { &whole } else { &bare };
            (session.intents & intent != 0).then(|| shown.clone())
        });
    }

    /// An event about a channel that only needs the intent of its kind: (guild, private).
    pub(crate) fn emit_in(&mut self, channel: Id, intents: (u64, u64), name: &str, mut data: Value) {
        let Some(place) = self.channels.get(&channel) else { return };
        if !self.concerns_bot(place) {
            return;
        }
        let guild = place.guild;
        data["channel_id"] = json!(channel);
        if let Some(guild) = guild {
            data["guild_id"] = json!(guild);
        }
        self.emit(if guild.is_some() { intents.0 } else { intents.1 }, name, &data);
    }

    /// Whether a message comes whole without the intent: the bot's own, a private one, one that mentions the bot.
    fn always_readable(&self, message: &Message) -> bool {
        let direct = self.channels.get(&message.channel).is_some_and(|c| c.guild.is_none());
        let own = message.author.id == seed::BOT;
        (own || direct || message.mentions.users.contains(&seed::BOT)) && (own || !message.without_content)
    }

    /// Whether a message's content is hidden from requests: the application lacks the intent.
    pub(crate) fn hides_content(&self, message: &Message) -> bool {
        let missing = !self.options.message_content || self.faults.missing_content || message.without_content;
        missing && !self.always_readable(message)
    }

    /// Plays a fault on every open connection.
    pub(crate) fn strike(&mut self, fault: &GatewayFault) {
        match fault {
            GatewayFault::Close { code } => {
                for line in self.gateway.lines.keys().copied().collect::<Vec<_>>() {
                    self.close(line, *code, "scripted");
                }
            }
            GatewayFault::Cut => self.gateway.everyone(|| Frame::Cut),
            GatewayFault::Reconnect => self.gateway.everyone(|| Frame::Text(r#"{"op":7,"d":null}"#.into())),
            GatewayFault::InvalidSession { resumable } => {
                if !resumable {
                    self.gateway.sessions.clear();
                }
                // the same connection may identify or resume next
                self.gateway.sessions.values_mut().for_each(|session| session.line = None);
                self.gateway.lines.values_mut().for_each(|line| line.session = None);
                self.gateway.everyone(|| Frame::Text(json!({"op": 9, "d": resumable}).to_string()));
            }
            _ => {}
        }
    }

    /// Closes a connection because of what came on it.
    fn refuse(&mut self, line: u64, code: u16, reason: &str, operation: &str) {
        let at_ms = self.now_ms();
        self.log.violations.push(Violation {
            kind: ViolationKind::Gateway,
            request: operation.into(),
            number: 0,
            status: code,
            code: u32::from(code),
            message: reason.into(),
            errors: Value::Null,
            at_ms,
        });
        self.close(line, code, reason);
    }

    fn close(&mut self, line: u64, code: u16, reason: &str) {
        self.gateway.send(line, Frame::Close(code, reason.into()));
    }
}

impl World {
    /// Loads a fault; one of the gateway may happen at once.
    pub(crate) fn load(&mut self, fault: crate::fault::Fault) {
        match fault {
            crate::fault::Fault::Rest(fault) => self.faults.load_rest(fault),
            crate::fault::Fault::Gateway(fault) => {
                if let Some(now) = self.faults.load_gateway(fault) {
                    self.strike(&now);
                }
            }
        }
    }
}
