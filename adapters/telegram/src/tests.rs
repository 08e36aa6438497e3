//! Updates as Telegram writes them, read by the adapter.

use super::*;
use plugin_sdk::{Addressed, Inbound, Message, Scope, Segment, SendError, SenderKind};
use serde_json::{Value, json};
use teloxide_core::types::{Update, UserId};

const TOKEN: &str = "424242:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn line() -> Line {
    let settings = Settings::read(json!({"name": "main", "token": TOKEN})).expect("settings");
    let account = address::Account { id: UserId(42), name: "MyBot".into() };
    Line { bot: settings.bot(REQUEST).expect("a client"), account, settings, presses: poll::Presses::default() }
}

fn event(update: &Value) -> Inbound {
    let text = update.to_string();
    let update: Update = serde_json::from_str(&text).expect("an update");
    inbound::delivery(&line(), update).event
}

/// A message of a supergroup, with keys replaced.
fn group(changes: Value) -> Value {
    let mut message = json!({
        "message_id": 5512, "date": 1_700_000_000,
        "chat": {"id": -1_002_345_678_901_234_i64, "type": "supergroup", "title": "G", "is_forum": true},
        "from": {"id": 7_012_345_678_901_u64, "is_bot": false, "first_name": "Ann"},
    });
    for (key, value) in changes.as_object().expect("an object") {
        message[key] = value.clone();
    }
    json!({"update_id": 10, "message": message})
}

fn message(changes: Value) -> Message {
    match event(&group(changes)) {
        Inbound::Message(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

fn entity(kind: &str, offset: usize, length: usize) -> Value {
    json!([{"type": kind, "offset": offset, "length": length}])
}

#[test]
fn a_mention_counts_only_as_an_entity_that_names_the_account() {
    let said = |text: &str, entities: Value| message(json!({"text": text, "entities": entities}));
    let hit = said("😀😀 @mybot hi", entity("mention", 5, 6));
    assert_eq!(
        (hit.addressed, hit.text().as_str()),
        (Addressed::Mention, "😀😀 @MyBot hi".replace("MyBot", "mybot").as_str())
    );
    let opens = said("@MyBot, hi", entity("mention", 0, 6));
    assert_eq!((opens.addressed, opens.text().as_str()), (Addressed::Mention, "hi"));
    for (text, entities) in [
        ("@mybotX hi", entity("mention", 0, 7)),
        ("`@mybot` hi", entity("code", 1, 6)),
        ("https://t.me/@mybot", entity("url", 0, 19)),
        ("@mybot hi", json!([])),
        // Into the middle of a pair, and behind the end.
        ("😀 @mybot", entity("mention", 1, 6)),
        ("@mybot", entity("mention", 3, 900)),
    ] {
        assert_eq!(said(text, entities).addressed, Addressed::None, "{text}");
    }
    let named = json!([{"type": "text_mention", "offset": 0, "length": 3,
        "user": {"id": 42, "is_bot": true, "first_name": "Bot"}}]);
    assert_eq!(said("Bot hi", named).addressed, Addressed::Mention);
    let caption = json!({"caption": "@mybot what is this?", "caption_entities": entity("mention", 0, 6),
        "photo": [{"file_id": "small", "file_unique_id": "s", "width": 10, "height": 10, "file_size": 1},
                  {"file_id": "large", "file_unique_id": "l", "width": 90, "height": 90, "file_size": 81_234}]});
    let caption = message(caption);
    assert_eq!((caption.addressed, caption.text().as_str()), (Addressed::Mention, "what is this?"));
    let Some(Segment::Image { media, .. }) = caption.segments.first() else { panic!("{caption:?}") };
    assert_eq!((&media.source, media.size), (&plugin_sdk::MediaSource::PlatformFile("large".into()), Some(81_234)));
}

#[test]
fn commands_are_for_the_bot_they_name() {
    let said = |text: &str, length: usize| message(json!({"text": text, "entities": entity("bot_command", 0, length)}));
    let start = said("/start@mybot  abc", 12);
    assert_eq!(start.addressed, Addressed::Command);
    assert_eq!(start.command.as_ref().map(|c| (c.name.as_str(), c.args.as_str())), Some(("start", "abc")));
    assert_eq!(start.text(), "/start  abc");
    let other = said("/status@Other", 13);
    assert_eq!((other.addressed, other.command), (Addressed::None, None));
    let inside = message(json!({"text": "see /status", "entities": entity("bot_command", 4, 7)}));
    assert_eq!((inside.addressed, inside.command), (Addressed::None, None));
}

#[test]
fn replies_count_but_not_to_the_opening_of_a_topic() {
    let bot = json!({"id": 42, "is_bot": true, "first_name": "Bot", "username": "MyBot"});
    let chat = group(json!({}))["message"]["chat"].clone();
    let answered = json!({"message_id": 9, "date": 1, "chat": chat, "from": bot, "text": "x".repeat(600)});
    let reply = message(json!({"text": "yes", "reply_to_message": answered}));
    assert_eq!((reply.addressed, reply.text().as_str()), (Addressed::Reply, "yes"));
    let Some(Segment::Reply { message_id, excerpt, .. }) = reply.segments.first() else { panic!("{reply:?}") };
    assert_eq!((message_id.as_str(), excerpt.as_ref().map(String::len)), ("9", Some(500)));
    let opening = json!({"message_id": 55, "date": 1, "chat": chat, "from": bot,
        "forum_topic_created": {"name": "T", "icon_color": 7_322_096}});
    let topic = json!({"text": "yes", "reply_to_message": opening, "message_thread_id": 55, "is_topic_message": true});
    let topic = message(topic);
    assert_eq!((topic.addressed, &topic.reply_to), (Addressed::None, &None));
    assert_eq!(topic.conversation.to_string(), "telegram/main/group/-1002345678901234/55");
    // The general topic, and a thread id without a topic, are the conversation itself.
    for general in [
        json!({"text": "x", "message_thread_id": 1, "is_topic_message": true}),
        json!({"text": "x", "message_thread_id": 55}),
    ] {
        assert_eq!(message(general).conversation.thread, None);
    }
}

#[test]
fn who_hides_behind_an_account_is_no_person() {
    let chat = group(json!({}))["message"]["chat"].clone();
    let kind = |changes: Value| message(changes).principal.sender;
    let hidden = json!({"id": 1_087_968_824_u64, "is_bot": true, "first_name": "Group"});
    assert_eq!(kind(json!({"text": "x", "from": hidden, "sender_chat": chat})), SenderKind::AnonymousAdmin);
    let channel = json!({"id": -1_009, "type": "channel", "title": "C"});
    let channel_bot = json!({"id": 136_817_688, "is_bot": true, "first_name": "Channel"});
    assert_eq!(kind(json!({"text": "x", "from": channel_bot, "sender_chat": channel})), SenderKind::Channel);
    let service = json!({"id": 777_000, "is_bot": false, "first_name": "Telegram"});
    assert_eq!(kind(json!({"text": "x", "from": service, "sender_chat": channel})), SenderKind::System);
    assert_eq!(kind(json!({"text": "x"})), SenderKind::User);
    let post = json!({"update_id": 1, "channel_post": {"message_id": 1, "date": 1, "chat": channel, "text": "hi"}});
    let Inbound::Message(post) = event(&post) else { panic!("no post") };
    assert_eq!((post.principal.sender, post.conversation.scope), (SenderKind::Channel, Scope::Channel));
}

#[test]
fn other_updates_become_their_events_or_are_ignored_by_name() {
    assert!(matches!(event(&json!({"update_id": 1, "from_the_future": {"x": 1}})), Inbound::Ignored { .. }));
    assert!(matches!(event(&json!({"update_id": 1, "message": {"some": "thing"}})), Inbound::Ignored { .. }));
    assert!(matches!(event(&group(json!({"new_chat_title": "T"}))), Inbound::Ignored { .. }));
    let own = json!({"text": "x", "from": {"id": 42, "is_bot": true, "first_name": "Bot"}});
    assert!(matches!(event(&group(own)), Inbound::Ignored { .. }));
    let moved = json!({"migrate_to_chat_id": -100_777});
    let Inbound::Migrated { from, to } = event(&group(moved)) else { panic!("no move") };
    assert_eq!((from.scene.as_str(), to.scene.as_str()), ("-1002345678901234", "-100777"));
    let mut edit = group(json!({"text": "/stop", "entities": entity("bot_command", 0, 5), "edit_date": 5}));
    edit["edited_message"] = edit["message"].take();
    edit.as_object_mut().expect("an object").remove("message");
    let Inbound::Edited(edited) = event(&edit) else { panic!("no edit") };
    assert_eq!((edited.edited, edited.command), (true, None));
    let forward = message(json!({"text": "@mybot yes", "entities": entity("mention", 0, 6),
        "forward_origin": {"type": "hidden_user", "date": 1, "sender_user_name": "Eve"}}));
    assert_eq!((forward.addressed, forward.text().as_str()), (Addressed::None, ""));
    let press = json!({"update_id": 3, "callback_query": {"id": "99", "chat_instance": "i", "data": "u1:x",
        "from": {"id": 7, "is_bot": false, "first_name": "Ann"},
        "message": group(json!({"text": "card", "message_thread_id": 55, "is_topic_message": true}))["message"]}});
    let Inbound::Button { action, by, conversation, .. } = event(&press) else { panic!("no press") };
    assert_eq!((action.as_str(), by.id().as_str()), ("u1:x", "telegram:7"));
    assert_eq!(conversation.thread.as_deref(), Some("55"));
}

#[test]
fn a_token_is_checked_and_never_shown() {
    for bad in [
        "",
        "my token",
        "424242:short",
        "\"424242:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"",
        "12345:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert!(!is_token(bad), "{bad}");
        let error = Settings::read(json!({"name": "main", "token": bad})).expect_err("refused");
        assert_eq!(error.code.as_deref(), Some("channel::bad-token"));
        assert!(bad.is_empty() || !format!("{error}{error:?}").contains(bad), "{error:?}");
    }
    assert!(is_token(TOKEN));
    let error = Settings::read(json!({"name": "main", "token": {"x": TOKEN}})).expect_err("refused");
    assert!(!format!("{error:?}").contains(TOKEN));
    assert!(!format!("{:?}", Settings::read(json!({"name": "main", "token": TOKEN}))).contains(TOKEN));
}

#[test]
fn refusals_are_typed_by_their_words() {
    use plugin_sdk::PieceField;
    use teloxide_core::{ApiError, RequestError};
    let typed = |words: &str| {
        let api: ApiError = serde_json::from_value(json!(words)).expect("an error");
        fault::sending(&RequestError::Api(api))
    };
    assert_eq!(
        typed(
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"
        ),
        SendError::NotModified
    );
    assert_eq!(typed("Bad Request: message is too long"), SendError::TooLong(4096));
    assert_eq!(typed("Bad Request: message caption is too long"), SendError::TooLong(1024));
    assert!(matches!(typed("Bad Request: can't parse entities: unsupported start tag"), SendError::Parse(_)));
    assert!(matches!(typed("Forbidden: bot was kicked from the supergroup chat"), SendError::Forbidden(_)));
    assert!(matches!(typed("Bad Request: chat not found"), SendError::Forbidden(_)));
    assert!(matches!(typed("Internal Server Error"), SendError::Transient(_)));
    assert!(matches!(typed("Bad Request: something new"), SendError::Permanent(_)));
    let field = |words: &str| match typed(words) {
        SendError::Field { field, .. } => Some(field),
        _ => None,
    };
    assert_eq!(field("Bad Request: message to be replied not found"), Some(PieceField::Reply));
    assert_eq!(field("Bad Request: message thread not found"), Some(PieceField::Thread));
    assert_eq!(field("Bad Request: IMAGE_PROCESS_FAILED"), Some(PieceField::Photo));
}
