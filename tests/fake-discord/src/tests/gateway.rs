use super::*;
use crate::act::{Edit, Slash};
use crate::fault::GatewayFault;
use crate::gateway::{Frame, intents};
use crate::seed::{ANN, BOT, DM_ANN, GENERAL, GUILD, OTHER_BOT};
use tokio::sync::mpsc::{self, UnboundedReceiver};

/// A connection, seen from the client.
struct Wire {
    number: u64,
    frames: UnboundedReceiver<Frame>,
}

/// What a client hears: `(operation, event, data)`, or a close as `(0, "close", code)`.
type Heard = (u64, String, Value);

impl Wire {
    fn open(w: &mut World) -> Self {
        let (out, frames) = mpsc::unbounded_channel();
        Self { number: w.line_opened(out, true), frames }
    }

    fn heard(&mut self) -> Vec<Heard> {
        let mut out = Vec::new();
        while let Ok(frame) = self.frames.try_recv() {
            out.push(match frame {
                Frame::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    (
                        frame["op"].as_u64().unwrap(),
                        frame["t"].as_str().unwrap_or_default().to_owned(),
                        frame["d"].clone(),
                    )
                }
                Frame::Close(code, _) => (0, "close".into(), json!(code)),
                Frame::Pause(ms) => (0, "pause".into(), json!(ms)),
                Frame::Cut => (0, "cut".into(), Value::Null),
            });
        }
        out
    }

    fn names(&mut self) -> Vec<String> {
        self.heard().into_iter().map(|(_, name, _)| name).collect()
    }

    fn tell(&self, w: &mut World, op: u64, d: Value) {
        w.heard(self.number, &json!({"op": op, "d": d}).to_string());
    }

    fn identify(&self, w: &mut World, intents: u64) {
        self.tell(w, 2, json!({"token": seed::TOKEN, "intents": intents, "properties": {}}));
    }

    /// The code it was closed with.
    fn closed(&mut self) -> Option<u64> {
        self.heard().into_iter().find(|(_, name, _)| name == "close").and_then(|(_, _, code)| code.as_u64())
    }
}

const USUAL: u64 = intents::GUILDS | intents::GUILD_MESSAGES | intents::DIRECT_MESSAGES | intents::MESSAGE_CONTENT;

fn connected(w: &mut World, intents: u64) -> (Wire, String) {
    let mut wire = Wire::open(w);
    wire.identify(w, intents);
    let heard = wire.heard();
    assert_eq!((heard[0].0, heard[1].1.as_str(), heard[2].1.as_str()), (10, "READY", "GUILD_CREATE"));
    let session = heard[1].2["session_id"].as_str().unwrap().to_owned();
    (wire, session)
}

#[test]
fn a_wrong_identify_is_closed_with_its_code() {
    let mut w = world();
    let identify = |extra: Value| {
        let mut body = json!({"token": seed::TOKEN, "intents": 1, "properties": {}});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        (2, body)
    };
    for ((op, d), code) in [
        (identify(json!({"token": "x"})), 4004),
        (identify(json!({"intents": 1 << 30})), 4013),
        (identify(json!({"intents": null})), 4013),
        (identify(json!({"intents": intents::GUILD_MEMBERS})), 4014),
        (identify(json!({"intents": intents::GUILD_PRESENCES})), 4014),
        (identify(json!({"shard": [1, 1]})), 4010),
        (identify(json!({"properties": null})), 4002),
        ((3, json!({})), 4003),
        ((99, json!({})), 4001),
    ] {
        let mut wire = Wire::open(&mut w);
        wire.tell(&mut w, op, d.clone());
        assert_eq!(wire.closed(), Some(code), "{op} {d}");
    }
    let mut wire = Wire::open(&mut w);
    w.heard(wire.number, "no json");
    assert_eq!(wire.closed(), Some(4002));
    let (mut wire, _) = connected(&mut w, 1);
    wire.identify(&mut w, 1);
    assert_eq!(wire.closed(), Some(4005));
    let (out, frames) = mpsc::unbounded_channel();
    let mut wire = Wire { number: w.line_opened(out, false), frames };
    assert_eq!(wire.closed(), Some(4012));
    assert_eq!(w.log.violations.len(), 12);
}

#[test]
fn heartbeats_are_acknowledged_until_the_script_stops_it() {
    let mut w = world();
    let (mut wire, _) = connected(&mut w, USUAL);
    wire.tell(&mut w, 1, json!(2));
    assert_eq!(wire.heard()[0].0, 11);
    w.load(GatewayFault::StopAcks { on: true }.into());
    wire.tell(&mut w, 1, json!(2));
    assert!(wire.heard().is_empty());
    w.load(GatewayFault::StopAcks { on: false }.into());
    wire.tell(&mut w, 1, json!(2));
    assert_eq!((wire.heard()[0].0, w.gateway.state().acks, w.gateway.state().heartbeats_ms.len()), (11, 2, 3));
    for _ in 0..120 {
        wire.tell(&mut w, 1, json!(2));
    }
    assert_eq!(wire.closed(), Some(4008));
}

#[test]
fn a_resume_brings_what_was_missed_and_repeats_what_is_scripted() {
    let mut w = world();
    let (wire, session) = connected(&mut w, USUAL);
    say(&mut w, ANN, GENERAL, "one");
    w.line_closed(wire.number, true, 1006, "");
    say(&mut w, ANN, GENERAL, "two");
    let resume = |seq: u64| json!({"token": seed::TOKEN, "session_id": session, "seq": seq});
    w.load(GatewayFault::Replay { last: 1 }.into());
    let mut again = Wire::open(&mut w);
    again.tell(&mut w, 6, resume(3));
    let heard = again.heard();
    let texts: Vec<&str> = heard.iter().filter_map(|h| h.2["content"].as_str()).collect();
    assert_eq!((texts, heard.last().unwrap().1.as_str()), (vec!["one", "two"], "RESUMED"));
    assert_eq!(w.gateway.state().resumes[0].replayed, Some(2));
    let mut future = Wire::open(&mut w);
    future.tell(&mut w, 6, resume(99));
    assert_eq!(future.closed(), Some(4007));
    let mut refused = Wire::open(&mut w);
    w.load(GatewayFault::RefuseResume { times: 1 }.into());
    refused.tell(&mut w, 6, resume(4));
    assert_eq!(refused.heard().last().unwrap(), &(9, String::new(), json!(false)));
    let (mut fresh, _) = {
        refused.identify(&mut w, USUAL);
        (refused, ())
    };
    assert_eq!(fresh.names(), ["READY", "GUILD_CREATE"], "nothing comes back to a fresh session");
}

#[test]
fn a_goodbye_ends_the_session_and_a_break_does_not() {
    for (code, kept) in [(1000, false), (1001, false), (4000, true), (1006, true)] {
        let mut w = world();
        let (wire, session) = connected(&mut w, USUAL);
        w.line_closed(wire.number, true, code, "");
        let mut again = Wire::open(&mut w);
        again.tell(&mut w, 6, json!({"token": seed::TOKEN, "session_id": session, "seq": 2}));
        assert_eq!(again.names().contains(&"RESUMED".to_owned()), kept, "{code}");
    }
}

#[test]
fn content_needs_the_intent_but_for_own_private_and_mentioning_messages() {
    let mut w = world();
    let (mut wire, _) = connected(&mut w, USUAL & !intents::MESSAGE_CONTENT);
    let mention = format!("<@{BOT}> three");
    say(&mut w, ANN, GENERAL, "one");
    say(&mut w, ANN, DM_ANN, "two");
    say(&mut w, ANN, GENERAL, &mention);
    let own = sent(&mut w, GENERAL, "four");
    w.act(Act::Say(Say::new(ANN, GENERAL, "five").reply_to(own))).unwrap();
    let quiet = Say { ping: false, ..Say::new(ANN, GENERAL, "six").reply_to(own) };
    w.act(Act::Say(quiet)).unwrap();
    let texts: Vec<String> = wire.heard().iter().map(|h| h.2["content"].as_str().unwrap_or("?").to_owned()).collect();
    assert_eq!(texts, ["", "two", mention.as_str(), "four", "five", ""]);
    let mut w = world();
    let (mut wire, _) = connected(&mut w, USUAL);
    w.load(GatewayFault::MissingContent { on: true }.into());
    say(&mut w, ANN, GENERAL, "hidden");
    let private = say(&mut w, ANN, DM_ANN, "private");
    let path = format!("channels/{DM_ANN}/messages/{private}");
    assert_eq!(ask(&mut w, "GET", &path, Value::Null).1["content"], "private");
    w.load(GatewayFault::MissingContent { on: false }.into());
    w.act(Act::Say(Say { without_content: true, ..Say::new(ANN, GENERAL, "hidden too") })).unwrap();
    let texts: Vec<Value> = wire.heard().iter().map(|h| h.2["content"].clone()).collect();
    assert_eq!(texts, ["", "private", ""]);
    w.options.message_content = false;
    let unread = say(&mut w, ANN, GENERAL, "unread");
    let path = format!("channels/{GENERAL}/messages/{unread}");
    assert_eq!(ask(&mut w, "GET", &path, Value::Null).1["content"], "");
}

#[test]
fn intents_choose_events_and_places_out_of_sight_are_silent() {
    let mut w = world();
    let (mut wire, _) = connected(&mut w, intents::GUILDS | intents::DIRECT_MESSAGES);
    say(&mut w, ANN, GENERAL, "x");
    let message = say(&mut w, ANN, DM_ANN, "x");
    w.act(Act::Type { user: ANN, channel: DM_ANN }).unwrap();
    w.act(Act::React { user: ANN, channel: DM_ANN, message, emoji: "👍".into(), remove: false }).unwrap();
    assert_eq!(wire.names(), ["MESSAGE_CREATE"]);
    let (mut wire, _) = connected(&mut w, USUAL | intents::GUILD_MESSAGE_REACTIONS | intents::GUILD_MESSAGE_TYPING);
    let message = say(&mut w, OTHER_BOT, GENERAL, "beep");
    w.act(Act::Type { user: ANN, channel: GENERAL }).unwrap();
    w.act(Act::React { user: ANN, channel: GENERAL, message, emoji: "👍".into(), remove: false }).unwrap();
    w.act(Act::Delete { channel: GENERAL, message }).unwrap();
    let heard = wire.heard();
    let names: Vec<&str> = heard.iter().map(|h| h.1.as_str()).collect();
    assert_eq!(names, ["MESSAGE_CREATE", "TYPING_START", "MESSAGE_REACTION_ADD", "MESSAGE_DELETE"]);
    assert_eq!((&heard[0].2["author"]["bot"], &heard[0].2["guild_id"]), (&json!(true), &json!(GUILD)));
    let overwrites = vec![crate::model::Overwrite { id: GUILD, member: false, allow: 0, deny: 1 << 10 }];
    w.act(Act::Permit { channel: GENERAL, overwrites }).unwrap();
    wire.names();
    say(&mut w, ANN, GENERAL, "secret");
    assert!(wire.names().is_empty());
}

#[test]
fn edits_webhooks_and_membership_look_as_discord_sends_them() {
    let mut w = world();
    let (mut wire, _) = connected(&mut w, USUAL);
    let message = say(&mut w, ANN, GENERAL, "https://example.org");
    let edit =
        Edit { channel: GENERAL, message, content: None, embeds: Some(vec![json!({"title": "t"})]), stamped: false };
    w.act(Act::Edit(edit.clone())).unwrap();
    w.act(Act::Edit(Edit { content: Some("new".into()), embeds: None, stamped: true, ..edit })).unwrap();
    let heard = wire.heard();
    assert!(heard[1].1 == "MESSAGE_UPDATE" && heard[1].2["edited_timestamp"].is_null());
    assert!(heard[2].2["edited_timestamp"].is_string() && heard[2].2["content"] == "new");
    w.act(Act::Say(Say { webhook: Some("Hook".into()), ..Say::new(ANN, GENERAL, "via") })).unwrap();
    let hook = wire.heard().remove(0).2;
    assert_eq!(
        (hook["webhook_id"].clone(), hook["author"]["username"].clone()),
        (hook["author"]["id"].clone(), json!("Hook"))
    );
    assert!(hook.get("member").is_none());
    w.act(Act::Leave { guild: GUILD, user: BOT }).unwrap();
    w.act(Act::Join { guild: GUILD, user: BOT, roles: Vec::new() }).unwrap();
    assert_eq!(wire.names(), ["GUILD_DELETE", "GUILD_CREATE"]);
}

#[test]
fn an_interaction_reaches_a_session_without_any_intent() {
    let mut w = world();
    let list = json!([{"name": "hi", "description": "d"}]);
    ask(&mut w, "PUT", &format!("applications/{BOT}/commands"), list);
    let mut wire = Wire::open(&mut w);
    wire.identify(&mut w, 0);
    assert_eq!(wire.names(), ["", "READY"]);
    let id = w.act(Act::Slash(Slash::new(ANN, GENERAL, "hi"))).unwrap();
    let event = wire.heard().remove(0);
    assert_eq!((event.1.as_str(), event.2["data"]["name"].as_str()), ("INTERACTION_CREATE", Some("hi")));
    assert!(!w.interactions[&id].lost);
    w.line_closed(wire.number, true, 1006, "");
    let id = w.act(Act::Slash(Slash::new(ANN, GENERAL, "hi"))).unwrap();
    assert!(w.interactions[&id].lost, "a session without a connection hears nothing");
}

#[test]
fn faults_strike_at_once_or_wait() {
    let mut w = world();
    let (mut wire, _) = connected(&mut w, USUAL);
    w.load(GatewayFault::Reconnect.into());
    w.load(GatewayFault::Close { code: 4000 }.into());
    w.load(GatewayFault::Cut.into());
    let heard = wire.heard();
    assert_eq!((heard[0].0, &heard[1].2, heard[2].1.as_str()), (7, &json!(4000), "cut"));
    w.load(GatewayFault::CloseOnIdentify { code: 4014, times: 0 }.into());
    for _ in 0..2 {
        let mut wire = Wire::open(&mut w);
        wire.identify(&mut w, USUAL);
        assert_eq!(wire.closed(), Some(4014));
    }
    assert_eq!(w.log.violations, [], "the script did it");
    w.faults = Default::default();
    w.load(GatewayFault::SlowBurst { guilds: 3, pause_ms: 10 }.into());
    let mut wire = Wire::open(&mut w);
    wire.identify(&mut w, USUAL);
    wire.tell(&mut w, 1, json!(1));
    let heard = wire.heard();
    let pauses = heard.iter().filter(|h| h.1 == "pause").count();
    let guilds = heard.iter().filter(|h| h.1 == "GUILD_CREATE").count();
    assert_eq!((pauses, guilds, heard.last().unwrap().0), (3, 4, 11), "the acknowledgement comes last");
    w.load(GatewayFault::InvalidSession { resumable: false }.into());
    wire.identify(&mut w, USUAL);
    let heard = wire.heard();
    assert_eq!((heard[0].0, heard[1].1.as_str()), (9, "READY"), "the same connection identifies anew");
    w.load(GatewayFault::Silent { times: 1 }.into());
    assert!(Wire::open(&mut w).heard().is_empty());
}

#[test]
fn members_are_listed_with_the_intent() {
    for (extra, listed) in [(0, 1), (intents::GUILD_MEMBERS, 4)] {
        let mut w = world_with(Options { members: true, ..Options::default() });
        let mut wire = Wire::open(&mut w);
        wire.identify(&mut w, USUAL | extra);
        assert_eq!(wire.heard()[2].2["members"].as_array().unwrap().len(), listed);
    }
}

#[test]
fn identifies_may_be_spaced() {
    let mut w = world_with(Options { identify_ms: 5_000, ..Options::default() });
    connected(&mut w, USUAL);
    let mut quick = Wire::open(&mut w);
    quick.identify(&mut w, USUAL);
    assert_eq!(quick.heard()[1].0, 9);
    pass(&w, 5_000);
    connected(&mut w, USUAL);
}
