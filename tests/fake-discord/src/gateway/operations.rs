//! What a client says: identify, resume, heartbeat, and the rest.

use super::{Closed, Frame, Identified, Line, Resumed, intents};
use crate::gateway::session::Session;
use crate::id::Id;
use crate::print;
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// Frames a client may send in a minute.
const FRAMES: usize = 120;
/// Bytes of a frame of a client.
const FRAME_MAX: usize = 4096;

impl World {
    /// A connection begins. Gives its number.
    pub(crate) fn line_opened(&mut self, out: UnboundedSender<Frame>, version_ok: bool) -> u64 {
        self.gateway.seen.connections += 1;
        let number = self.gateway.seen.connections;
        self.gateway.lines.insert(number, Line { out, session: None, frames_ms: Vec::new() });
        if !version_ok {
            self.refuse(number, 4012, "Invalid API version", "connect");
        } else if !self.faults.silent.take() {
            let interval = self.options.heartbeat_ms;
            let hello = json!({"op": 10, "d": {"heartbeat_interval": interval, "_trace": []}, "s": null, "t": null});
            self.gateway.send(number, Frame::Text(hello.to_string()));
        }
        number
    }

    /// A connection has ended. Only a client's own goodbye ends the session too.
    pub(crate) fn line_closed(&mut self, number: u64, by_client: bool, code: u16, reason: &str) {
        let Some(line) = self.gateway.lines.remove(&number) else { return };
        if let Some(id) = line.session {
            let goodbye = by_client && matches!(code, 1000 | 1001);
            // these codes say that the session is over
            let over = !by_client && matches!(code, 1000 | 1001 | 4004 | 4007 | 4009 | 4010..=4014);
            if goodbye || over {
                self.gateway.sessions.remove(&id);
            } else if let Some(session) = self.gateway.sessions.get_mut(&id)
                && session.line == Some(number)
            {
                session.line = None;
            }
        }
        let at_ms = self.now_ms();
        self.gateway.seen.closes.push(Closed { at_ms, by_client, code, reason: reason.into() });
    }

    /// No heartbeat came in time.
    pub(crate) fn line_timed_out(&mut self, number: u64) {
        self.refuse(number, 4009, "Session timed out", "heartbeat");
    }

    /// A frame of a client; says whether it was a heartbeat.
    pub(crate) fn heard(&mut self, number: u64, text: &str) -> bool {
        let now = self.now_ms();
        let Some(line) = self.gateway.lines.get_mut(&number) else { return false };
        line.frames_ms.retain(|at| at + 60_000 > now);
        line.frames_ms.push(now);
        let (known, many) = (line.session.is_some(), line.frames_ms.len() > FRAMES);
        let frame: Value = match text.len() {
            0..=FRAME_MAX => serde_json::from_str(text).unwrap_or_default(),
            _ => Value::Null,
        };
        let operation = frame.get("op").and_then(Value::as_u64);
        let data = frame.get("d").cloned().unwrap_or_default();
        match operation {
            _ if many => self.refuse(number, 4008, "Rate limited", "frame"),
            None => self.refuse(number, 4002, "Error while decoding payload", "frame"),
            Some(1) => self.heartbeat(number),
            Some(2) if known => self.refuse(number, 4005, "Already authenticated", "identify"),
            Some(2) => self.identify(number, &data),
            Some(6) if known => self.refuse(number, 4005, "Already authenticated", "resume"),
            Some(6) => self.resume(number, &data),
            Some(3 | 4 | 8 | 31) if !known => self.refuse(number, 4003, "Not authenticated", "frame"),
            Some(3 | 4 | 31) => {}
            Some(8) => self.member_chunk(number, &data),
            Some(_) => self.refuse(number, 4001, "Unknown opcode", "frame"),
        }
        operation == Some(1)
    }

    fn heartbeat(&mut self, number: u64) {
        let now = self.now_ms();
        self.gateway.seen.heartbeats_ms.push(now);
        if !self.faults.stop_acks {
            self.gateway.seen.acks += 1;
            self.gateway.send(number, Frame::Text(r#"{"op":11,"d":null,"s":null,"t":null}"#.into()));
        }
    }

    fn token_fits(&self, data: &Value) -> bool {
        let sent = data.get("token").and_then(Value::as_str).unwrap_or_default();
        sent.trim_start_matches("Bot ") == self.options.token
    }

    fn identify(&mut self, number: u64, data: &Value) {
        let at_ms = self.now_ms();
        let intents = data.get("intents").and_then(Value::as_u64);
        let properties = data.get("properties").is_some_and(Value::is_object);
        let last_ms = self.gateway.seen.identifies.last().map(|i| i.at_ms);
        let refused = match intents {
            _ if !self.token_fits(data) => Some((4004, "Authentication failed.")),
            None => Some((4013, "Invalid intent(s).")),
            _ if !properties => Some((4002, "Error while decoding payload")),
            Some(asked) if asked & !intents::VALID != 0 => Some((4013, "Invalid intent(s).")),
            Some(asked) if asked & self.withheld() != 0 => Some((4014, "Disallowed intent(s).")),
            _ if !shard_fits(data) => Some((4010, "Invalid shard.")),
            _ => None,
        };
        let scripted = self.faults.close_on_identify.as_mut().filter(|_| refused.is_none());
        let scripted = scripted.and_then(|(code, charges)| charges.take().then_some(*code));
        let intents = intents.unwrap_or_default();
        let closed = refused.map(|(code, _)| code).or(scripted);
        self.gateway.seen.identifies.push(Identified { at_ms, intents, closed });
        if let Some((code, reason)) = refused {
            return self.refuse(number, code, reason, "identify");
        }
        if let Some(code) = scripted {
            return self.close(number, code, "scripted");
        }
        if last_ms.is_some_and(|last| at_ms < last + self.options.identify_ms) {
            return self.gateway.send(number, Frame::Text(r#"{"op":9,"d":false}"#.into()));
        }
        self.begin(number, intents, data.get("shard").cloned());
    }

    /// Privileged intents the portal does not grant.
    fn withheld(&self) -> u64 {
        let options = &self.options;
        let not = |granted: bool, bit: u64| if granted { 0 } else { bit };
        not(options.message_content, intents::MESSAGE_CONTENT)
            | not(options.members, intents::GUILD_MEMBERS)
            | not(options.presences, intents::GUILD_PRESENCES)
    }

    fn begin(&mut self, number: u64, intents: u64, shard: Option<Value>) {
        let id = format!("{:032x}", u128::from(self.new_id().0) << 32 | u128::from(number));
        let mut session = Session::new(intents, number);
        let guilds: Vec<Id> = self.home().map(|g| g.id).collect();
        let unavailable: Vec<Value> = guilds.iter().map(|id| json!({"id": id, "unavailable": true})).collect();
        let mut ready = json!({
            "v": 10, "user": print::me(self), "guilds": unavailable, "session_id": id, "session_type": "normal",
            "resume_gateway_url": self.gateway_url(), "application": {"id": seed::APPLICATION, "flags": 0},
            "private_channels": [], "relationships": [], "presences": [], "user_settings": {}
        });
        if let Some(shard) = shard {
            ready["shard"] = shard;
        }
        let mut frames = vec![Frame::Text(session.stamp("READY", &ready))];
        if intents & intents::GUILDS != 0 {
            let all = intents & intents::GUILD_MEMBERS != 0;
            let known: Vec<Value> = self.home().map(|g| print::whole_guild(self, g, all)).collect();
            frames.extend(known.iter().map(|g| Frame::Text(session.stamp("GUILD_CREATE", g))));
            if let Some((count, pause_ms)) = self.faults.burst.take() {
                for i in 0..count {
                    let ballast = seed::guild(self.new_id(), &format!("Ballast {i}"), seed::ANN);
                    let text = session.stamp("GUILD_CREATE", &print::whole_guild(self, &ballast, false));
                    frames.extend([Frame::Pause(pause_ms), Frame::Text(text)]);
                }
            }
        }
        for frame in frames {
            self.gateway.send(number, frame);
        }
        self.attach(number, &id);
        self.gateway.sessions.insert(id, session);
    }

    fn attach(&mut self, number: u64, id: &str) {
        if let Some(line) = self.gateway.lines.get_mut(&number) {
            line.session = Some(id.to_owned());
        }
    }

    fn resume(&mut self, number: u64, data: &Value) {
        let at_ms = self.now_ms();
        if !self.token_fits(data) {
            return self.refuse(number, 4004, "Authentication failed.", "resume");
        }
        let id = data.get("session_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let seq = data.get("seq").and_then(Value::as_u64).unwrap_or_default();
        let known = self.gateway.sessions.get(&id).map(|s| s.seq);
        if known.is_some_and(|last| seq > last) {
            return self.refuse(number, 4007, "Invalid seq", "resume");
        }
        let refused = self.faults.refuse_resume.take();
        let session = self.gateway.sessions.get_mut(&id).filter(|_| !refused);
        let again = self.faults.replay;
        let Some((session, frames)) = session.and_then(|s| s.after(seq, again).map(|frames| (s, frames))) else {
            self.gateway.sessions.remove(&id);
            self.gateway.seen.resumes.push(Resumed { at_ms, seq, replayed: None });
            return self.gateway.send(number, Frame::Text(r#"{"op":9,"d":false}"#.into()));
        };
        self.faults.replay = 0;
        let former = session.line.replace(number);
        let resumed = session.stamp("RESUMED", &json!({"_trace": []}));
        if let Some(former) = former.filter(|former| *former != number) {
            if let Some(line) = self.gateway.lines.get_mut(&former) {
                line.session = None;
            }
            self.gateway.send(former, Frame::Close(4000, "resumed elsewhere".into()));
        }
        self.gateway.seen.resumes.push(Resumed { at_ms, seq, replayed: Some(frames.len()) });
        for text in frames.into_iter().chain([resumed]) {
            self.gateway.send(number, Frame::Text(text));
        }
        self.attach(number, &id);
    }

    /// Operation 8: members by id, or by the beginning of their name.
    fn member_chunk(&mut self, number: u64, data: &Value) {
        let guild = data.get("guild_id").and_then(Id::of).and_then(|id| self.joined(id).ok());
        let Some(guild) = guild else { return };
        let ids: Vec<Id> = data
            .get("user_ids")
            .map(|ids| {
                ids.as_array()
                    .map_or_else(|| Id::of(ids).into_iter().collect(), |l| l.iter().filter_map(Id::of).collect())
            })
            .unwrap_or_default();
        let query = data.get("query").and_then(Value::as_str);
        let named = |id: Id| self.users.get(&id).is_some_and(|u| query.is_some_and(|q| u.name.starts_with(q)));
        let found = guild.members.values().filter(|m| ids.contains(&m.user) || named(m.user));
        let members: Vec<Value> = found.map(|m| print::member(self, m)).collect();
        let missing: Vec<Id> = ids.iter().filter(|id| !guild.members.contains_key(id)).copied().collect();
        let chunk = json!({"guild_id": guild.id, "members": members, "not_found": missing, "chunk_index": 0,
            "chunk_count": 1, "nonce": data.get("nonce")});
        let id = self.gateway.lines.get(&number).and_then(|l| l.session.clone());
        if let Some(session) = id.and_then(|id| self.gateway.sessions.get_mut(&id)) {
            let text = session.stamp("GUILD_MEMBERS_CHUNK", &chunk);
            self.gateway.send(number, Frame::Text(text));
        }
    }

    pub(crate) fn gateway_url(&self) -> String {
        format!("ws://{}/gateway", self.address)
    }
}

fn shard_fits(data: &Value) -> bool {
    match data.get("shard").filter(|s| !s.is_null()) {
        None => true,
        Some(shard) => {
            let at = |i: usize| shard.get(i).and_then(Value::as_u64);
            matches!((at(0), at(1)), (Some(id), Some(count)) if id < count)
        }
    }
}
