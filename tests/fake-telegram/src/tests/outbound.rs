//! Sending, files, edits, deletion, topics.

use super::client::form;
use super::{Client, GROUP, PERSON, SUPERGROUP};
use crate::{Group, Media, Membership, Options, Person, Say, Sizes, TOKEN, TopicChange};
use serde_json::{Value, json};

/// A name and its value.
type Pair<'a> = (&'a str, &'a str);
/// A field, a file name and its bytes.
type Part<'a> = (&'a str, &'a str, &'a [u8]);
/// A method, its fields and files, the status and a part of the description.
type Case<'a> = (&'a str, &'a [Pair<'a>], &'a [Part<'a>], u16, &'a str);

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10rest";

async fn upload(client: &Client, method: &str, fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> (u16, Value) {
    let (kind, body) = form(fields, files);
    let answer = client.send(&format!("/bot{TOKEN}/{method}"), &kind, body).await.unwrap();
    client.shaped(method, answer)
}

#[tokio::test]
async fn a_place_must_exist_and_let_the_bot_in() {
    let client = Client::start().await;
    let say = |chat: i64| json!({"chat_id": chat, "text": "x"});
    assert_eq!(client.bad("sendMessage", say(5)).await, "Bad Request: chat not found");
    assert_eq!(
        client.bad("sendMessage", json!({"chat_id": "@nobody", "text": "x"})).await,
        "Bad Request: chat not found"
    );
    client.server.person(Person::new(8_000_000_000_001, "Silent"));
    let cases = [
        (say(8_000_000_000_001), "Forbidden: bot can't initiate conversation with a user"),
        (say(PERSON), "Forbidden: bot was blocked by the user"),
        (say(GROUP), "Forbidden: bot was kicked from the group chat"),
        (say(SUPERGROUP), "Forbidden: bot is not a member of the supergroup chat"),
    ];
    client.server.person(Person { blocked: true, ..Person::default() });
    let bot = Person::new(712_345_678_901, "My bot");
    client.server.membership(GROUP, Membership::new(bot.clone(), "kicked", &[])).unwrap();
    client.server.membership(SUPERGROUP, Membership::new(bot, "left", &[])).unwrap();
    client.server.person(Person { blocked: true, ..Person::default() });
    for (fields, why) in cases {
        let (status, body) = client.call("sendMessage", fields).await;
        assert_eq!((status, body["description"].as_str()), (403, Some(why)));
    }
    client.server.say(Say::text("back again")).unwrap();
    client.good("sendMessage", say(PERSON)).await;
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn topics_are_kept_and_the_general_one_has_no_number() {
    let client = Client::start().await;
    let sent = client.good("sendMessage", json!({"chat_id": SUPERGROUP, "message_thread_id": 55, "text": "x"})).await;
    assert_eq!((&sent["message_thread_id"], &sent["is_topic_message"]), (&json!(55), &json!(true)));
    client.good("sendChatAction", json!({"chat_id": SUPERGROUP, "message_thread_id": 55, "action": "typing"})).await;
    client.good("sendMessage", json!({"chat_id": SUPERGROUP, "text": "general"})).await;
    for (chat, thread) in [(SUPERGROUP, 1), (SUPERGROUP, 56), (GROUP, 55), (PERSON, 55)] {
        let fields = json!({"chat_id": chat, "message_thread_id": thread, "text": "x"});
        assert_eq!(client.bad("sendMessage", fields).await, "Bad Request: message thread not found");
    }
    assert_eq!(client.violations().len(), 4);
    let threads: Vec<Option<i64>> = client.server.look(|s| s.sent(SUPERGROUP).map(|m| m.thread).collect());
    assert_eq!(threads, [Some(55), None]);
    assert_eq!(client.server.look(|s| (s.actions[0].thread, s.actions[0].action.clone())), (Some(55), "typing".into()));
    assert!(client.bad("sendChatAction", json!({"chat_id": PERSON, "action": "thinking"})).await.contains("action"));
    let admin = Membership::new(Person::new(712_345_678_901, "My bot"), "administrator", &["can_manage_topics"]);
    client.server.membership(SUPERGROUP, admin).unwrap();
    let topic = client.good("createForumTopic", json!({"chat_id": SUPERGROUP, "name": "New"})).await;
    let place = json!({"chat_id": SUPERGROUP, "message_thread_id": topic["message_thread_id"]});
    client.good("closeForumTopic", place.clone()).await;
    let mut fields = place.clone();
    fields["text"] = "x".into();
    assert_eq!(client.bad("sendMessage", fields.clone()).await, "Bad Request: TOPIC_CLOSED");
    client.good("deleteForumTopic", place).await;
    assert_eq!(client.bad("sendMessage", fields).await, "Bad Request: message thread not found");
    assert_eq!(client.violations().len(), 5, "a topic that was deleted is nobody's fault");
}

#[tokio::test]
async fn what_others_take_away_is_nobodys_fault() {
    let client = Client::start().await;
    client.server.delete(PERSON, 1).unwrap();
    let reply = json!({"chat_id": PERSON, "text": "x", "reply_parameters": {"message_id": 1}});
    assert_eq!(client.bad("sendMessage", reply).await, "Bad Request: message to be replied not found");
    let topic = |closed, deleted| TopicChange { chat: SUPERGROUP, thread: 55, name: String::new(), closed, deleted };
    let send = json!({"chat_id": SUPERGROUP, "message_thread_id": 55, "text": "x"});
    client.server.topic(topic(true, false)).unwrap();
    assert_eq!(client.bad("sendMessage", send.clone()).await, "Bad Request: TOPIC_CLOSED");
    client.server.topic(topic(false, true)).unwrap();
    assert_eq!(client.bad("sendMessage", send.clone()).await, "Bad Request: message thread not found");
    client.server.topic(topic(false, false)).unwrap();
    client.good("sendMessage", send).await;
    let channel = -1_009_876_543_210;
    let bot = Person::new(712_345_678_901, "My bot");
    client.server.group(Group::new(channel).channel()).unwrap();
    let post = json!({"chat_id": channel, "text": "x"});
    let sent = client.good("sendMessage", post.clone()).await;
    assert!(sent.get("from").is_none() && sent["sender_chat"]["id"] == channel, "{sent}");
    client.server.membership(channel, Membership::new(bot, "administrator", &[])).unwrap();
    assert_eq!(client.bad("sendMessage", post).await, "Bad Request: need administrator rights in the channel chat");
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_large_file_arrives_and_one_that_is_too_large_hears_why() {
    let sizes = Sizes { upload: 4 << 20, ..Sizes::default() };
    let client = Client::with(Options { sizes, ..Options::default().unlimited() }).await;
    let id = PERSON.to_string();
    for (size, wanted) in [(4 << 20, 200), ((4 << 20) + 1, 413), (8 << 20, 413)] {
        let bytes = vec![b'x'; size];
        let (status, body) =
            upload(&client, "sendDocument", &[("chat_id", &id)], &[("document", "a.bin", &bytes)]).await;
        assert_eq!(status, wanted, "{size}: {body}");
    }
    let file = client.server.look(|s| s.sent(PERSON).next().unwrap().message["document"].clone());
    assert_eq!(file["file_size"], 4 << 20);
}

#[tokio::test]
async fn replies_need_their_message() {
    let client = Client::start().await;
    let fields = |id: i64, allow: bool| json!({"chat_id": PERSON, "text": "x", "reply_parameters": {"message_id": id, "allow_sending_without_reply": allow}});
    assert_eq!(client.good("sendMessage", fields(1, false)).await["reply_to_message"]["text"], "hello");
    assert_eq!(client.bad("sendMessage", fields(999, false)).await, "Bad Request: message to be replied not found");
    assert!(client.good("sendMessage", fields(999, true)).await.get("reply_to_message").is_none());
    let quote = json!({"chat_id": PERSON, "text": "x", "reply_parameters": {"message_id": 1, "quote": "bye"}});
    assert_eq!(client.bad("sendMessage", quote).await, "Bad Request: QUOTE_TEXT_INVALID");
}

#[tokio::test]
async fn keyboards_are_checked() {
    let client = Client::start().await;
    let board = |rows: Value| json!({"chat_id": PERSON, "text": "?", "reply_markup": {"inline_keyboard": rows}});
    let data = |data: &str| json!({"text": "Yes", "callback_data": data});
    client.good("sendMessage", board(json!([[data(&"字".repeat(21)), data(&"x".repeat(64))]]))).await;
    let rows = [
        json!([[data(&"字".repeat(22))]]),
        json!([[data("")]]),
        json!([[{"text": "", "callback_data": "x"}]]),
        json!([[{"text": "Yes"}]]),
        json!([[{"text": "Yes", "callback_data": "x", "url": "https://e.x"}]]),
        json!([[{"text": "Yes", "url": "e.x"}]]),
        json!([[{"text": "Yes", "callback_data": "x", "style": "blue"}]]),
        json!([vec![data("x"); 9]]),
        Value::from(vec![json!(vec![data("x"); 8]); 13]),
    ];
    for (n, rows) in rows.iter().enumerate() {
        client.bad("sendMessage", board(rows.clone())).await;
        assert_eq!(client.violations().len(), n + 1, "{rows}");
    }
    client.good("sendMessage", board(json!([[{"text": "Go", "url": "https://e.x", "style": "primary"}]]))).await;
    let shown = client.server.state().sent(PERSON).next().unwrap().buttons();
    assert_eq!((shown[1].label.as_str(), shown[1].data.as_deref().map(str::len)), ("Yes", Some(64)));
}

#[tokio::test]
async fn edits_are_kept_and_equal_ones_refused() {
    let client = Client::start().await;
    let sent = client.good("sendMessage", json!({"chat_id": PERSON, "text": "one"})).await;
    let id = &sent["message_id"];
    let edit = |text: &str, rest: Value| {
        let mut fields = json!({"chat_id": PERSON, "message_id": id, "text": text});
        fields.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        fields
    };
    let why = client.bad("editMessageText", edit("one ", json!({}))).await;
    assert!(why.starts_with("Bad Request: message is not modified"), "{why}");
    let bold = json!({"entities": [{"type": "bold", "offset": 0, "length": 3}]});
    let edited = client.good("editMessageText", edit("one", bold)).await;
    assert!(edited["edit_date"].is_i64());
    let board = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]});
    client.good("editMessageReplyMarkup", json!({"chat_id": PERSON, "message_id": id, "reply_markup": board})).await;
    client.good("editMessageText", edit("two", json!({}))).await;
    assert!(client.bad("editMessageText", edit(&"x".repeat(4097), json!({}))).await.contains("too long"));
    client.server.look(|s| {
        let shown = s.sent(PERSON).next().unwrap();
        assert_eq!((shown.text(), shown.edits.len(), shown.buttons().len()), ("two", 3, 0));
        assert_eq!(shown.edits[0].before["text"], "one");
        assert_eq!(shown.edits[2].before["reply_markup"], board);
    });
    assert_eq!(
        client.bad("editMessageText", json!({"chat_id": PERSON, "message_id": 99, "text": "x"})).await,
        "Bad Request: message to edit not found"
    );
    assert_eq!(
        client.bad("editMessageText", json!({"chat_id": PERSON, "message_id": 1, "text": "x"})).await,
        "Bad Request: message can't be edited"
    );
}

#[tokio::test]
async fn deleting_needs_the_right_and_is_seen() {
    let client = Client::start().await;
    let theirs = client.server.say(Say::text("/x").chat(GROUP)).unwrap().message_id;
    let own = client.good("sendMessage", json!({"chat_id": GROUP, "text": "mine"})).await["message_id"].clone();
    let place = |id: &Value| json!({"chat_id": GROUP, "message_id": id});
    assert_eq!(client.bad("deleteMessage", place(&json!(theirs))).await, "Bad Request: message can't be deleted");
    client.good("deleteMessage", place(&own)).await;
    assert_eq!(client.bad("deleteMessage", place(&own)).await, "Bad Request: message to delete not found");
    assert!(
        client
            .bad("editMessageText", json!({"chat_id": GROUP, "message_id": own, "text": "x"}))
            .await
            .contains("not found")
    );
    let admin = Membership::new(Person::new(712_345_678_901, "My bot"), "administrator", &["can_delete_messages"]);
    client.server.membership(GROUP, admin).unwrap();
    client.good("deleteMessages", json!({"chat_id": GROUP, "message_ids": [theirs, 999]})).await;
    assert_eq!(client.server.look(|s| s.messages.iter().filter(|m| m.deleted_at_ms.is_some()).count()), 2);
}

#[tokio::test]
async fn reactions_are_of_the_known_ones() {
    let client = Client::start().await;
    let react =
        |emoji: &str| json!({"chat_id": PERSON, "message_id": 1, "reaction": [{"type": "emoji", "emoji": emoji}]});
    client.good("setMessageReaction", react("👀")).await;
    assert_eq!(client.bad("setMessageReaction", react("🥑")).await, "Bad Request: REACTION_INVALID");
    assert_eq!(
        client.server.look(|s| s.message(PERSON, 1).unwrap().reactions.clone()),
        json!([{"type": "emoji", "emoji": "👀"}])
    );
}

#[tokio::test]
async fn files_have_sizes_and_captions() {
    let sizes = Sizes { photo: 100, upload: 200, download: 150 };
    let client = Client::with(Options { sizes, ..Options::default().unlimited() }).await;
    let id = PERSON.to_string();
    let fields = [("chat_id", id.as_str()), ("caption", "see @mybot")];
    let (status, body) = upload(&client, "sendPhoto", &fields, &[("photo", "a.png", PNG)]).await;
    assert_eq!((status, &body["result"]["caption"]), (200, &json!("see @mybot")));
    assert_eq!(body["result"]["caption_entities"][0]["type"], "mention");
    let photo = body["result"]["photo"][1]["file_id"].as_str().unwrap().to_owned();
    let (status, body) = upload(
        &client,
        "sendDocument",
        &[("chat_id", &id), ("document", "attach://doc")],
        &[("doc", "n.txt", &[b'x'; 180])],
    )
    .await;
    assert_eq!((status, &body["result"]["document"]["file_name"]), (200, &json!("n.txt")));
    let big = body["result"]["document"]["file_id"].clone();
    assert_eq!(
        client.good("sendPhoto", json!({"chat_id": PERSON, "photo": photo})).await["photo"][1]["file_size"],
        PNG.len()
    );
    for (method, kind) in [
        ("sendVoice", "voice"),
        ("sendAudio", "audio"),
        ("sendVideo", "video"),
        ("sendAnimation", "animation"),
        ("sendSticker", "sticker"),
    ] {
        let (status, body) = upload(&client, method, &[("chat_id", &id)], &[(kind, "f.bin", b"data")]).await;
        assert_eq!(status, 200, "{method} {body}");
        assert!(body["result"][kind]["file_id"].is_string());
    }
    assert_eq!(client.violations(), Vec::<String>::new());
    let long = PNG.iter().copied().chain([0; 100]).collect::<Vec<u8>>();
    let thin = [&PNG[..16], b"\0\0\x10\0\0\0\0\x10"].concat();
    let caption = "x".repeat(1025);
    let cases: [Case<'_>; 8] = [
        ("sendPhoto", &fields, &[("photo", "a.png", &long)], 400, "too big for a photo"),
        ("sendPhoto", &fields, &[("photo", "a.png", &thin)], 400, "PHOTO_INVALID_DIMENSIONS"),
        ("sendPhoto", &fields, &[("photo", "a.txt", b"text")], 400, "IMAGE_PROCESS_FAILED"),
        ("sendDocument", &fields, &[("document", "a", &[0; 201])], 413, "Request Entity Too Large"),
        ("sendDocument", &fields, &[("document", "a", b"")], 400, "file must be non-empty"),
        (
            "sendDocument",
            &[("chat_id", &id), ("caption", &caption)],
            &[("document", "a", b"x")],
            400,
            "caption is too long",
        ),
        ("sendDocument", &fields, &[("document", "a", b"x"), ("extra", "b", b"y")], 400, "is used by no field"),
        ("sendDocument", &[("chat_id", &id), ("document", "attach://no")], &[], 400, "there is no file"),
    ];
    for (method, fields, files, wanted, part) in cases {
        let (status, body) = upload(&client, method, fields, files).await;
        assert_eq!(status, wanted, "{body}");
        assert!(body["description"].as_str().unwrap().contains(part), "{body}");
    }
    let file = client.good("getFile", json!({"file_id": photo})).await;
    let path = format!("/file/bot{TOKEN}/{}", file["file_path"].as_str().unwrap());
    assert_eq!(client.raw(&path, "", "".into()).await.unwrap(), (200, Some(PNG.into())));
    assert_eq!(client.bad("getFile", json!({"file_id": big})).await, "Bad Request: file is too big");
    client.server.advance(std::time::Duration::from_secs(3700));
    assert_eq!(client.raw(&path, "", "".into()).await.unwrap().0, 404, "the link is good for an hour");
}

#[tokio::test]
async fn albums_hold_two_to_ten_files_that_go_together() {
    let client = Client::start().await;
    let id = PERSON.to_string();
    let send = async |media: Value| {
        let media = media.to_string();
        upload(
            &client,
            "sendMediaGroup",
            &[("chat_id", &id), ("media", &media)],
            &[("a", "a.png", PNG), ("b", "b.png", PNG)],
        )
        .await
    };
    let photo = |name: &str| json!({"type": "photo", "media": format!("attach://{name}"), "caption": name});
    let (status, body) = send(json!([photo("a"), photo("b")])).await;
    assert_eq!(status, 200, "{body}");
    let list = body["result"].as_array().unwrap();
    assert_eq!((list.len(), &list[1]["caption"]), (2, &json!("b")));
    assert_eq!(list[0]["media_group_id"], list[1]["media_group_id"]);
    let mixed = json!([photo("a"), {"type": "document", "media": "attach://b"}]);
    assert!(send(mixed).await.1["description"].as_str().unwrap().contains("own kind"));
    let few = json!({"chat_id": PERSON, "media": [{"type": "photo", "media": "x"}]});
    assert!(client.bad("sendMediaGroup", few).await.contains("too few"));
}

#[tokio::test]
async fn what_was_there_can_be_forwarded_and_copied() {
    let client = Client::start().await;
    let said = client.server.say(Say::text("see").media(Media::new("photo", 50))).unwrap();
    let fields = json!({"chat_id": GROUP, "from_chat_id": PERSON, "message_id": said.message_id});
    let sent = client.good("forwardMessage", fields.clone()).await;
    assert_eq!((&sent["caption"], &sent["forward_origin"]["sender_user"]["id"]), (&json!("see"), &json!(PERSON)));
    client.good("copyMessage", fields).await;
    assert_eq!(client.server.look(|s| s.texts(GROUP)), ["see", "see"]);
}
