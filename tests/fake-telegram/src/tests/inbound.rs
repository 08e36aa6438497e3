//! Updates: what is delivered, how it is confirmed, pushed and answered.

use super::client::SOON;
use super::{Client, GROUP, PERSON, SUPERGROUP};
use crate::{BotOptions, Forward, Media, Membership, Options, Person, PressButton, Say, Sender};
use serde_json::{Value, json};
use std::time::Duration;

fn kinds(updates: &[Value]) -> Vec<String> {
    updates.iter().map(|u| u.as_object().unwrap().keys().find(|k| *k != "update_id").unwrap().clone()).collect()
}

fn texts(updates: &[Value]) -> Vec<String> {
    let text = |u: &Value| u["message"]["text"].as_str().or(u["message"]["caption"].as_str()).map(str::to_owned);
    updates.iter().filter_map(text).collect()
}

#[tokio::test]
async fn updates_wait_until_a_later_offset_confirms_them() {
    let client = Client::start().await;
    client.server.say(Say::text("two")).unwrap();
    client.server.say(Say::text("three")).unwrap();
    assert_eq!(texts(&client.updates(0).await), ["hello", "two", "three"]);
    let all = client.updates(0).await;
    assert_eq!(all.len(), 3, "nothing is confirmed yet");
    let second = all[1]["update_id"].as_i64().unwrap();
    assert_eq!(texts(&client.updates(second + 1).await), ["three"]);
    assert_eq!(texts(&client.updates(0).await), ["three"], "confirmed ones are gone");
    client.server.say(Say::text("four")).unwrap();
    assert_eq!(texts(&client.updates(-1).await), ["four"]);
    assert_eq!(client.good("getUpdates", json!({"limit": 1})).await.as_array().unwrap().len(), 1);
    client.server.advance(Duration::from_secs(25 * 3600));
    assert_eq!(client.updates(0).await.len(), 0, "they are kept for a day");
}

#[tokio::test]
async fn a_poll_ends_with_the_first_update_or_its_time() {
    let client = Client::with(Options::default().unlimited().frozen()).await;
    let offset = client.updates(0).await[0]["update_id"].as_i64().unwrap() + 1;
    let polling = async |n: usize| {
        client
            .server
            .wait_for("a poll waits", SOON, |s| (s.calls("getUpdates").count() == n).then_some(()))
            .await
            .unwrap();
    };
    let (updates, ()) = tokio::join!(client.good("getUpdates", json!({"offset": offset, "timeout": 30})), async {
        polling(2).await;
        client.server.say(Say::text("now")).unwrap();
    });
    assert_eq!(texts(updates.as_array().unwrap()), ["now"]);
    let (updates, ()) = tokio::join!(client.good("getUpdates", json!({"offset": offset + 1, "timeout": 30})), async {
        polling(3).await;
        client.server.advance(Duration::from_secs(29));
        assert_eq!(client.server.look(|s| s.requests.back().unwrap().status), None, "it still waits");
        client.server.advance(Duration::from_secs(1));
    });
    assert_eq!(updates, json!([]));
}

#[tokio::test]
async fn a_second_poller_or_a_webhook_ends_the_first() {
    let client = Client::with(Options::default().unlimited().frozen()).await;
    let offset = client.updates(0).await[0]["update_id"].as_i64().unwrap() + 1;
    for ended_by in ["getUpdates", "setWebhook"] {
        let before = client.server.look(|s| s.requests.len());
        let ((status, body), ()) =
            tokio::join!(client.call("getUpdates", json!({"offset": offset, "timeout": 30})), async {
                let polls = |s: &crate::State| (s.requests.len() > before).then_some(());
                client.server.wait_for("a poll waits", SOON, polls).await.unwrap();
                client
                    .good(
                        ended_by,
                        json!({"url": "https://bot.example/hook"})
                            .as_object()
                            .filter(|_| ended_by == "setWebhook")
                            .cloned()
                            .unwrap_or_default()
                            .into(),
                    )
                    .await;
            });
        assert_eq!(status, 409, "{body}");
        assert!(body["description"].as_str().unwrap().starts_with("Conflict: terminated by "), "{body}");
    }
    let (status, body) = client.call("getUpdates", json!({})).await;
    assert_eq!(status, 409);
    assert!(body["description"].as_str().unwrap().contains("can't use getUpdates method while webhook is active"));
    client.good("deleteWebhook", json!({})).await;
    client.good("getUpdates", json!({})).await;
}

#[tokio::test]
async fn the_list_of_kinds_is_remembered() {
    let client = Client::start().await;
    let press = async || {
        let fields = json!({"chat_id": PERSON, "text": "?", "reply_markup": {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}});
        let id = client.good("sendMessage", fields).await["message_id"].as_i64().unwrap();
        let button = PressButton { chat: PERSON, message_id: id, button: "Yes".into(), ..PressButton::default() };
        client.server.press(button).unwrap()
    };
    client.good("getUpdates", json!({"allowed_updates": ["message"]})).await;
    assert_eq!(press().await.update, None);
    client.good("getUpdates", json!({})).await;
    assert_eq!(press().await.update, None, "leaving it out keeps the old list");
    client.good("getUpdates", json!({"allowed_updates": ["message", "callback_query"]})).await;
    assert!(press().await.update.is_some());
    client.good("getUpdates", json!({"allowed_updates": []})).await;
    assert!(press().await.update.is_some(), "an empty list is the usual one");
    assert!(client.bad("getUpdates", json!({"allowed_updates": ["thoughts"]})).await.contains("thoughts"));
}

#[tokio::test]
async fn privacy_mode_lets_only_what_is_meant_for_the_bot_through() {
    let client = Client::start().await;
    client.updates(0).await;
    let own =
        client.good("sendMessage", json!({"chat_id": GROUP, "text": "mine"})).await["message_id"].as_i64().unwrap();
    let group = |text: &str| Say::text(text).chat(GROUP);
    let unheard = [
        group("chatter"),
        group("@mybotX hi"),
        group("/x@Other"),
        group("name mybot"),
        Say { entities: Some(vec![json!({"type": "code", "offset": 0, "length": 6})]), ..group("@mybot") },
    ];
    let heard = [
        group("😀😀 @MyBot hi"),
        group("/x"),
        group("/x@mybot"),
        group("re").reply_to(own),
        group("look @mybot").media(Media::new("photo", 10)),
    ];
    for say in unheard {
        assert_eq!(client.server.say(say.clone()).unwrap().updates, Vec::<i64>::new(), "{}", say.text);
    }
    for say in heard {
        assert_eq!(client.server.say(say.clone()).unwrap().updates.len(), 1, "{}", say.text);
    }
    client.server.reads_all_group_messages(true);
    assert_eq!(client.server.say(group("chatter")).unwrap().updates.len(), 1);
    assert_eq!(client.good("getMe", json!({})).await["can_read_all_group_messages"], true);
    client.server.reads_all_group_messages(false);
    let bot = Person::new(712_345_678_901, "My bot");
    client.server.membership(GROUP, Membership::new(bot, "administrator", &[])).unwrap();
    assert_eq!(client.server.say(group("chatter")).unwrap().updates.len(), 1, "administrators hear everything");
}

#[tokio::test]
async fn two_bots_share_conversations_and_nothing_else() {
    let token = "812345678902:AAFakeTokenOfTheSecondBot_0000000000000";
    let second = BotOptions { token: token.into(), username: "second_bot".into(), ..BotOptions::default() };
    let options = Options { bots: vec![BotOptions::default(), second.clone()], ..Options::default().unlimited() };
    let client = Client::with(options).await;
    let other = client.as_bot(token);
    let group = |text: &str| Say::text(text).chat(GROUP);
    for say in [group("@mybot a"), group("@second_bot b"), group("@mybot @second_bot c")] {
        client.server.say(say).unwrap();
    }
    client.server.say(Say { to: Some(second.id()), ..Say::text("for the second") }).unwrap();
    assert_eq!(texts(&client.updates(0).await), ["hello", "@mybot a", "@mybot @second_bot c"]);
    let updates = other.updates(0).await;
    assert_eq!(texts(&updates), ["@second_bot b", "@mybot @second_bot c", "for the second"]);
    let number = updates[1]["message"]["message_id"].clone();
    assert_eq!(client.updates(0).await[2]["message"]["message_id"], number, "one message has one number");
    let sent = other.good("sendMessage", json!({"chat_id": GROUP, "text": "mine"})).await;
    let edit = json!({"chat_id": GROUP, "message_id": sent["message_id"], "text": "yours"});
    assert_eq!(client.bad("editMessageText", edit).await, "Bad Request: message can't be edited");
    assert_eq!(client.server.say(group("/start")).unwrap().updates.len(), 1, "a bare command is for who spoke last");
    assert_eq!(texts(&other.updates(-1).await), ["/start"]);
}

#[tokio::test]
async fn every_kind_of_message_has_the_real_shape() {
    let client = Client::start().await;
    client.server.reads_all_group_messages(true);
    let group = |text: &str| Say::text(text).chat(SUPERGROUP);
    let channel = -1_009_876_543_210;
    client.server.group(crate::Group::new(channel).channel()).unwrap();
    let title = || "News".to_owned();
    let mut all = vec![
        group("topic").thread(55),
        group("anon").sender(Sender::AnonymousAdmin),
        group("as channel").sender(Sender::Channel { id: channel, title: title() }),
        group("linked").sender(Sender::LinkedChannel { id: channel, title: title() }),
        Say { forward: Some(Forward::User(Person::new(9_000_000_000_009, "Bob"))), ..group("fw") },
        Say { forward: Some(Forward::Hidden("Eve".into())), ..group("fw") },
        Say { forward: Some(Forward::Channel { id: channel, title: title() }), ..group("fw") },
        Say::text("post").chat(channel),
        Say {
            extra: json!({"pinned_message": {"chat": {"id": 1, "type": "private"}, "message_id": 1, "date": 0}})
                .as_object()
                .unwrap()
                .clone(),
            ..group("")
        },
    ];
    for kind in ["photo", "document", "voice", "audio", "video", "animation", "video_note", "sticker"] {
        all.push(Say::text("").media(Media::new(kind, 2_000).album("77")));
    }
    for say in all {
        client.server.say(say).unwrap();
    }
    client.server.say(Say::text("changed").edit(1)).unwrap();
    client
        .server
        .membership(SUPERGROUP, Membership::new(Person::new(5_000_000_000_005, "New"), "member", &[]))
        .unwrap();
    client.server.membership(PERSON, Membership::new(Person::new(712_345_678_901, "My bot"), "kicked", &[])).unwrap();
    client.server.migrate(GROUP, -1_002_222_222_222, true);
    let updates = client.updates(0).await;
    let mut seen = kinds(&updates);
    seen.dedup();
    assert_eq!(seen, ["message", "channel_post", "message", "edited_message", "message", "my_chat_member", "message"]);
    let find = |text: &str| updates.iter().map(|u| &u["message"]).find(|m| m["text"] == text).unwrap();
    assert_eq!(find("topic")["reply_to_message"]["forum_topic_created"]["name"], "News");
    assert_eq!(
        (&find("anon")["from"]["id"], &find("anon")["sender_chat"]["id"]),
        (&json!(1_087_968_824), &json!(SUPERGROUP))
    );
    assert_eq!(find("as channel")["from"]["id"], 136_817_688);
    assert_eq!(
        (&find("linked")["from"]["id"], &find("linked")["is_automatic_forward"]),
        (&json!(777_000), &json!(true))
    );
    let moved: Vec<&Value> = updates
        .iter()
        .map(|u| &u["message"])
        .filter(|m| m.get("migrate_to_chat_id").is_some() || m.get("migrate_from_chat_id").is_some())
        .collect();
    assert_eq!(
        (&moved[0]["migrate_to_chat_id"], &moved[1]["migrate_from_chat_id"]),
        (&json!(-1_002_222_222_222_i64), &json!(GROUP))
    );
    let (status, body) = client.call("sendMessage", json!({"chat_id": GROUP, "text": "x"})).await;
    assert_eq!((status, &body["parameters"]["migrate_to_chat_id"]), (400, &json!(-1_002_222_222_222_i64)));
    client.good("sendMessage", json!({"chat_id": -1_002_222_222_222_i64, "text": "x"})).await;
}

#[tokio::test]
async fn a_press_is_answered_once_and_in_time() {
    let client = Client::start().await;
    let board = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]});
    let id =
        client.good("sendMessage", json!({"chat_id": PERSON, "text": "?", "reply_markup": board})).await["message_id"]
            .as_i64()
            .unwrap();
    let button = |button: &str, stale: bool| PressButton {
        chat: PERSON,
        message_id: id,
        button: button.into(),
        from: Person::new(9_000_000_000_009, "Bob"),
        stale,
    };
    assert!(client.server.press(button("No", false)).is_err());
    let first = client.server.press(button("Yes", false)).unwrap();
    let query = client.updates(-1).await.remove(0)["callback_query"].clone();
    assert_eq!(
        (&query["data"], &query["from"]["id"], &query["message"]["message_id"]),
        (&json!("y"), &json!(9_000_000_000_009_i64), &json!(id))
    );
    let answer = |id: &str, text: &str| json!({"callback_query_id": id, "text": text, "show_alert": true});
    assert!(
        client
            .bad("answerCallbackQuery", answer(&first.callback_id, &"x".repeat(201)))
            .await
            .contains("MESSAGE_TOO_LONG")
    );
    client.good("answerCallbackQuery", answer(&first.callback_id, "done")).await;
    assert!(client.bad("answerCallbackQuery", answer(&first.callback_id, "again")).await.contains("query is too old"));
    assert!(client.bad("answerCallbackQuery", answer("12", "")).await.contains("query is too old"));
    assert_eq!(client.violations().len(), 3);
    let answers = client.server.look(|s| s.press(&first.callback_id).unwrap().answers.clone());
    assert_eq!((answers.len(), answers[0].text.as_str(), answers[0].alert), (1, "done", true));
    let late = client.server.press(button("old-data", true)).unwrap();
    client.server.advance(Duration::from_secs(31));
    assert!(client.bad("answerCallbackQuery", answer(&late.callback_id, "")).await.contains("query is too old"));
    assert_eq!(client.violations().len(), 3, "who was down cannot answer in time");
}

#[tokio::test]
async fn members_and_their_rights_are_told() {
    let client = Client::start().await;
    let boss = Person::new(9_000_000_000_009, "Boss");
    client
        .server
        .membership(SUPERGROUP, Membership::new(boss.clone(), "administrator", &["can_restrict_members"]))
        .unwrap();
    let ask = |user: i64| json!({"chat_id": SUPERGROUP, "user_id": user});
    let member = client.good("getChatMember", ask(boss.id)).await;
    assert_eq!(
        (&member["status"], &member["can_restrict_members"], &member["can_delete_messages"]),
        (&json!("administrator"), &json!(true), &json!(false))
    );
    for status in ["creator", "member", "restricted", "kicked", "left"] {
        client.server.membership(SUPERGROUP, Membership::new(boss.clone(), status, &[])).unwrap();
        assert_eq!(client.good("getChatMember", ask(boss.id)).await["status"], status);
    }
    assert_eq!(client.good("getChatMember", ask(712_345_678_901)).await["user"]["username"], "mybot");
    assert_eq!(client.bad("getChatMember", ask(3)).await, "Bad Request: PARTICIPANT_ID_INVALID");
    client.good("getChat", json!({"chat_id": SUPERGROUP})).await;
    assert_eq!(client.good("getChatMemberCount", json!({"chat_id": SUPERGROUP})).await, 1);
    client.good("getChatAdministrators", json!({"chat_id": SUPERGROUP})).await;
    client.good("leaveChat", json!({"chat_id": SUPERGROUP})).await;
    assert_eq!(client.call("getChatMember", ask(boss.id)).await.0, 403);
}

#[tokio::test]
async fn a_bot_that_is_added_hears_of_it_and_one_that_is_removed_too() {
    let client = Client::start().await;
    let bot = |status: &str| Membership::new(Person::new(712_345_678_901, "My bot"), status, &[]);
    let offset = client.updates(0).await[0]["update_id"].as_i64().unwrap() + 1;
    let chat = -4_000_000_001;
    client.server.membership(chat, bot("member")).unwrap();
    client.server.membership(chat, bot("kicked")).unwrap();
    let updates = client.updates(offset).await;
    assert_eq!(kinds(&updates), ["my_chat_member", "message", "my_chat_member"]);
    let change = |n: usize| {
        let change = &updates[n]["my_chat_member"];
        (change["old_chat_member"]["status"].clone(), change["new_chat_member"]["status"].clone())
    };
    assert_eq!((change(0), change(2)), ((json!("left"), json!("member")), (json!("member"), json!("kicked"))));
    assert_eq!(updates[1]["message"]["new_chat_members"][0]["id"], 712_345_678_901_i64);
    assert_eq!(client.server.say(Say::text("@mybot still there?").chat(chat)).unwrap().updates, Vec::<i64>::new());
}

#[tokio::test]
async fn the_end_of_the_server_ends_its_connections() {
    let client = Client::start().await;
    let offset = client.updates(0).await[0]["update_id"].as_i64().unwrap() + 1;
    let server = &client.server;
    let path = format!("/bot{}/getUpdates?offset={offset}&timeout=50", crate::TOKEN);
    let wait = tokio::join!(client.send(&path, "", "".into()), async {
        server.wait_for("a poll waits", SOON, |s| (s.calls("getUpdates").count() == 2).then_some(())).await.unwrap();
        server.stop();
    });
    assert_eq!(wait.0, None);
    assert_eq!(client.send(&path, "", "".into()).await, None, "nobody listens any more");
}

#[tokio::test]
async fn command_lists_follow_the_rules() {
    let client = Client::start().await;
    let list = |name: &str, description: &str| json!({"commands": [{"command": name, "description": description}]});
    client.good("setMyCommands", list("todo_add", "Adds")).await;
    let mut german = list("hilfe", "Hilft");
    german["language_code"] = "de".into();
    client.good("setMyCommands", german).await;
    assert_eq!(client.good("getMyCommands", json!({})).await[0]["command"], "todo_add");
    assert_eq!(client.good("getMyCommands", json!({"language_code": "de"})).await[0]["command"], "hilfe");
    let many: Vec<Value> = (0..101).map(|n| json!({"command": format!("c{n}"), "description": "x"})).collect();
    let bad = [
        list("Todo", "x"),
        list("to-do", "x"),
        list("/todo", "x"),
        list("", "x"),
        list(&"x".repeat(33), "x"),
        list("todo", ""),
        list("todo", &"x".repeat(257)),
        json!({"commands": many}),
        json!({"commands": [], "scope": {"type": "chat"}}),
        json!({"commands": [], "language_code": "german"}),
    ];
    for (n, fields) in bad.iter().enumerate() {
        client.bad("setMyCommands", fields.clone()).await;
        assert_eq!(client.violations().len(), n + 1, "{fields}");
    }
    client.good("deleteMyCommands", json!({})).await;
    assert_eq!(client.good("getMyCommands", json!({})).await, json!([]));
    assert_eq!(client.server.look(|s| s.commands.len()), 3);
}
