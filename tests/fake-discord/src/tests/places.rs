use super::*;
use crate::model::{ChannelKind, Overwrite};
use crate::permissions::bits;
use crate::seed::{ANN, BEN, BOT, DM_ANN, FORUM, GENERAL, GUILD, LOUNGE, MODERATORS, NEWS, POST, THREAD};

fn permit(world: &mut World, channel: Id, deny: u64) {
    let overwrites = vec![Overwrite { id: GUILD, member: false, allow: 0, deny }];
    world.act(Act::Permit { channel, overwrites }).unwrap();
}

#[test]
fn every_id_is_beyond_what_a_float_holds() {
    let mut w = world();
    let made = sent(&mut w, GENERAL, "x");
    for id in [BOT, ANN, GUILD, GENERAL, DM_ANN, MODERATORS, made] {
        assert!(id.0 > 1 << 53, "{id}");
    }
    assert_eq!(made.made_ms(), NOON);
    let shown = ask(&mut w, "GET", &format!("channels/{GENERAL}/messages/{made}"), Value::Null).1;
    assert_eq!(shown["id"], json!(made.to_string()));
}

#[test]
fn what_is_unknown_unseen_or_forbidden_says_so() {
    let mut w = world();
    assert_eq!(code(&send(&mut w, Id(5), json!({"content": "x"}))), (404, 10003));
    assert_eq!(ask(&mut w, "GET", "channels/x", Value::Null).0, 400);
    assert_eq!(code(&ask(&mut w, "GET", "guilds/5", Value::Null)), (404, 10004));
    assert_eq!(code(&send(&mut w, FORUM, json!({"content": "x"}))), (400, 50008));
    for channel in [GENERAL, NEWS, LOUNGE, THREAD, POST, DM_ANN] {
        sent(&mut w, channel, "x");
    }
    permit(&mut w, GENERAL, bits::VIEW_CHANNEL);
    assert_eq!(code(&send(&mut w, GENERAL, json!({"content": "x"}))), (403, 50001));
    assert_eq!(code(&send(&mut w, THREAD, json!({"content": "x"}))), (403, 50001), "a thread follows its channel");
    permit(&mut w, GENERAL, bits::SEND_MESSAGES);
    assert_eq!(code(&send(&mut w, GENERAL, json!({"content": "x"}))), (403, 50013));
    assert_eq!(code(&ask(&mut w, "POST", &format!("channels/{GENERAL}/typing"), Value::Null)), (403, 50013));
    sent(&mut w, THREAD, "writing in threads is another right");
    permit(&mut w, THREAD, 0);
    permit(&mut w, GENERAL, bits::READ_MESSAGE_HISTORY);
    assert_eq!(ask(&mut w, "GET", &format!("channels/{GENERAL}/messages"), Value::Null).1, json!([]));
    permit(&mut w, GENERAL, bits::ATTACH_FILES);
    let path = format!("channels/{GENERAL}/messages");
    assert_eq!(code(&ask_with(&mut w, "POST", &path, Value::Null, vec![file(0, 1)])), (403, 50013));
    w.act(Act::CloseDms { user: ANN, closed: true }).unwrap();
    assert_eq!(code(&send(&mut w, DM_ANN, json!({"content": "x"}))), (403, 50007));
    w.act(Act::Leave { guild: GUILD, user: BOT }).unwrap();
    assert_eq!(code(&send(&mut w, NEWS, json!({"content": "x"}))), (403, 50001));
}

#[test]
fn overwrites_are_computed_as_discord_does() {
    let mut w = world();
    let may = |w: &World, user: Id| w.may(user, &w.channels[&GENERAL]) & bits::SEND_MESSAGES != 0;
    w.act(Act::SetRoles { guild: GUILD, user: BOT, roles: vec![MODERATORS] }).unwrap();
    let overwrite = |id: Id, member: bool, allow: u64, deny: u64| Overwrite { id, member, allow, deny };
    let send = bits::SEND_MESSAGES;
    for (overwrites, expected) in [
        (vec![overwrite(GUILD, false, 0, send)], false),
        (vec![overwrite(GUILD, false, 0, send), overwrite(MODERATORS, false, send, 0)], true),
        (vec![overwrite(MODERATORS, false, send, 0), overwrite(BOT, true, 0, send)], false),
        (vec![overwrite(MODERATORS, false, 0, send), overwrite(BOT, true, send, 0)], true),
    ] {
        w.act(Act::Permit { channel: GENERAL, overwrites }).unwrap();
        assert_eq!(may(&w, BOT), expected);
        assert!(may(&w, ANN), "the owner may everything");
    }
}

#[test]
fn members_and_roles_are_looked_up() {
    let mut w = world();
    w.act(Act::SetRoles { guild: GUILD, user: BEN, roles: vec![MODERATORS] }).unwrap();
    let member = ask(&mut w, "GET", &format!("guilds/{GUILD}/members/{BEN}"), Value::Null).1;
    assert_eq!((member["user"]["username"].clone(), member["roles"].clone()), (json!("ben"), json!([MODERATORS])));
    w.act(Act::Leave { guild: GUILD, user: BEN }).unwrap();
    assert_eq!(code(&ask(&mut w, "GET", &format!("guilds/{GUILD}/members/{BEN}"), Value::Null)), (404, 10007));
    assert_eq!(code(&ask(&mut w, "GET", &format!("guilds/{GUILD}/members/7"), Value::Null)), (404, 10013));
    let roles = ask(&mut w, "GET", &format!("guilds/{GUILD}/roles"), Value::Null).1;
    assert_eq!(roles.as_array().unwrap().len(), 2);
    assert!(roles[0]["permissions"].is_string());
    let all = format!("guilds/{GUILD}/members?limit=10");
    assert_eq!(code(&ask(&mut w, "GET", &all, Value::Null)), (403, 50001), "the members intent is not granted");
}

#[test]
fn threads_posts_and_private_conversations_are_opened() {
    let mut w = world();
    let asked = say(&mut w, ANN, GENERAL, "topic?");
    let path = format!("channels/{GENERAL}/messages/{asked}/threads");
    assert_eq!(ask(&mut w, "POST", &path, json!({"name": ""})).0, 400);
    let (status, thread) = ask(&mut w, "POST", &path, json!({"name": "topic", "auto_archive_duration": 60}));
    assert_eq!((status, thread["id"].clone(), thread["parent_id"].clone()), (201, json!(asked), json!(GENERAL)));
    assert_eq!(code(&ask(&mut w, "POST", &path, json!({"name": "again"}))), (400, 160_004));
    let path = format!("channels/{FORUM}/threads");
    assert_eq!(faults(&ask(&mut w, "POST", &path, json!({"name": "post"}))), ["message:BASE_TYPE_REQUIRED"]);
    let post = ask(&mut w, "POST", &path, json!({"name": "post", "message": {"content": "first"}})).1;
    assert_eq!((post["type"].clone(), post["message"]["content"].clone()), (json!(11), json!("first")));
    let started = ask(&mut w, "POST", &format!("channels/{GENERAL}/threads"), json!({"name": "t", "type": 11})).1;
    sent(&mut w, Id::of(&started["id"]).unwrap(), "inside");
    let dm = ask(&mut w, "POST", "users/@me/channels", json!({"recipient_id": ANN})).1;
    assert_eq!(dm["id"], json!(DM_ANN));
    let new = ask(&mut w, "POST", "users/@me/channels", json!({"recipient_id": BEN.0})).1;
    assert_eq!((new["type"].clone(), new["recipients"][0]["username"].clone()), (json!(1), json!("ben")));
    assert_eq!(code(&ask(&mut w, "POST", "users/@me/channels", json!({"recipient_id": "9"}))), (400, 50033));
}

#[test]
fn a_sleeping_thread_wakes_by_a_message_only() {
    let mut w = world();
    let message = sent(&mut w, THREAD, "x");
    let path = format!("channels/{THREAD}/messages/{message}");
    let sleep = |w: &mut World, locked| w.act(Act::Archive { thread: THREAD, archived: true, locked }).unwrap();
    sleep(&mut w, false);
    assert_eq!(code(&ask(&mut w, "PATCH", &path, json!({"content": "y"}))), (400, 50083));
    assert_eq!(code(&ask(&mut w, "DELETE", &path, Value::Null)), (400, 50083));
    assert_eq!(code(&ask(&mut w, "PUT", &format!("{path}/reactions/👍/@me"), Value::Null)), (400, 50083));
    sent(&mut w, THREAD, "good morning");
    assert!(!w.channels[&THREAD].archived);
    sleep(&mut w, true);
    assert_eq!(code(&send(&mut w, THREAD, json!({"content": "x"}))), (400, 50083));
}

#[test]
fn reactions_and_typing_are_kept() {
    let mut w = world();
    let message = say(&mut w, ANN, GENERAL, "x");
    let path = format!("channels/{GENERAL}/messages/{message}/reactions");
    assert_eq!(code(&ask(&mut w, "PUT", &format!("{path}/thumbsup/@me"), Value::Null)), (400, 10014));
    assert_eq!(ask(&mut w, "PUT", &format!("{path}/👍/@me"), Value::Null).0, 204);
    assert_eq!(ask(&mut w, "PUT", &format!("{path}/👍/@me"), Value::Null).0, 204);
    assert_eq!(ask(&mut w, "GET", &format!("{path}/👍"), Value::Null).1.as_array().unwrap().len(), 1);
    assert_eq!(ask(&mut w, "DELETE", &format!("{path}/👍/@me"), Value::Null).0, 204);
    assert!(w.channels[&GENERAL].messages[&message].reactions.is_empty());
    permit(&mut w, GENERAL, bits::ADD_REACTIONS);
    assert_eq!(code(&ask(&mut w, "PUT", &format!("{path}/👍/@me"), Value::Null)), (403, 50013));
    pass(&w, 500);
    assert_eq!(ask(&mut w, "POST", &format!("channels/{GENERAL}/typing"), Value::Null).0, 204);
    assert_eq!(w.channels[&GENERAL].typing[0].at_ms, NOON + 500);
}

#[test]
fn a_stranger_writes_nowhere_and_nobody_writes_for_the_bot() {
    let mut w = world();
    let kind = ChannelKind::Text;
    let guild = w.act(Act::AddGuild { name: "Club".into(), owner: BEN, premium_tier: 0 }).unwrap();
    let hall = w.act(Act::AddChannel { guild, kind, name: "hall".into() }).unwrap();
    assert!(w.act(Act::Say(Say::new(ANN, hall, "x"))).unwrap_err().contains("not in the place"));
    assert!(w.act(Act::Say(Say::new(BEN, DM_ANN, "x"))).is_err());
    assert!(w.act(Act::Say(Say::new(BOT, GENERAL, "x"))).is_err());
    assert!(w.act(Act::Say(Say::new(ANN, GENERAL, " "))).is_err());
    assert_eq!(code(&send(&mut w, hall, json!({"content": "x"}))), (403, 50001));
}

#[test]
fn a_request_must_say_who_it_is() {
    let mut w = world();
    let mut anonymous = asked("GET", "users/@me", Value::Null);
    anonymous.token = None;
    assert_eq!(settle(&mut w, &anonymous).status, 401);
    let mut agentless = asked("GET", "users/@me", Value::Null);
    agentless.agent = false;
    assert_eq!(settle(&mut w, &agentless).status, 403);
    assert_eq!(ask(&mut w, "GET", "users/@me", Value::Null).1["username"], "mybot");
    assert_eq!(ask(&mut w, "GET", "nothing/here", Value::Null).0, 404);
    assert_eq!(w.log.invalid(NOON), 2);
}
