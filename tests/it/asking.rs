//! What people see of cards and questions on a running host, who is heard, and what the journal keeps of it.

use crate::channel::Channel;
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use harness::TestBot;
use host::app::{Host, HostOptions, StoreKind};
use host::journal::{Journal, Record};
use host::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason};
use host::store::{Key, SharedStore, Tree, in_memory};
use host::task::ManualClock;
use plugin_sdk::{Addressed, ContentBlock, ConversationRef, ForwardEntry, Message, Principal, ReplyTo, Scope, Segment};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Says what a function of the request says.
pub(crate) struct Told<F>(pub(crate) F);

#[async_trait]
impl<F: Fn(&ModelRequest) -> Vec<ModelEvent> + Send + Sync> ModelClient for Told<F> {
    fn name(&self) -> &str {
        "told"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        Ok(stream::iter((self.0)(&request).into_iter().map(Ok)).boxed())
    }
}

pub(crate) fn text(text: impl Into<String>) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(text.into()), ModelEvent::Stop(StopReason::End)]
}

fn calls(of: impl IntoIterator<Item = (String, String, Value)>) -> Vec<ModelEvent> {
    let call = |(id, name, arguments): (String, String, Value)| {
        ModelEvent::Call(ModelCall { id, name, arguments: arguments.to_string() })
    };
    of.into_iter().map(call).chain([ModelEvent::Stop(StopReason::ToolUse)]).collect()
}

fn one(request: &ModelRequest, name: &str, arguments: Value) -> Vec<ModelEvent> {
    calls([(format!("c{}", request.step), name.to_string(), arguments)])
}

/// What the model is shown of the results of this turn.
fn results(request: &ModelRequest) -> Vec<String> {
    let since = request.messages.iter().rposition(|m| matches!(m, ModelMessage::User { .. })).unwrap_or(0);
    let shown = |m: &ModelMessage| {
        let ModelMessage::Tool { content, .. } = m else { return None };
        let texts = content.iter().filter_map(|c| match c {
            ContentBlock::Text { text } => Some(text.as_str()),
            ContentBlock::Image { .. } => None,
        });
        Some(texts.collect::<String>())
    };
    request.messages[since..].iter().filter_map(shown).collect()
}

fn last(request: &ModelRequest) -> String {
    results(request).pop().unwrap_or_default()
}

/// A running host with one platform.
pub(crate) struct Scene {
    pub(crate) host: Arc<Host>,
    pub(crate) channel: Arc<Channel>,
    pub(crate) clock: ManualClock,
    store: SharedStore,
    serving: tokio::task::JoinHandle<()>,
}

impl Scene {
    pub(crate) async fn open(bot: &TestBot, model: impl ModelClient + 'static) -> Self {
        let clock = ManualClock::default();
        let store = in_memory(clock.shared());
        let options = HostOptions {
            store: StoreKind::Scratch,
            model: Some(Arc::new(model)),
            memory: Some(Arc::clone(&store)),
            ..HostOptions::new(bot.path(), clock.shared())
        };
        let host = Arc::new(Host::start(options).await.expect("a host"));
        let channel = Channel::new("telegram");
        let serving = channel.attach(&host);
        Self { host, channel, clock, store, serving }
    }

    async fn until_said(&self, place: &ConversationRef, part: &str) {
        self.channel.until(|b| b.said.get(&place.scene)?.iter().any(|t| t.contains(part)).then_some(())).await;
    }

    /// Ends when so many questions know where their cards stand: from then on a reply to one is one to its question.
    async fn until_known(&self, count: usize) {
        let known = async || {
            let found = self.store.scan_prefix(Tree::Questions, &Key::new(), None, usize::MAX).await.expect("a store");
            found.iter().filter(|(_, q)| q["cards"].as_array().is_some_and(|c| !c.is_empty())).count()
        };
        while known().await < count {
            tokio::task::yield_now().await;
        }
    }

    /// Id of the newest message that holds a text.
    fn message_with(&self, place: &ConversationRef, part: &str) -> String {
        let at = self.channel.with(|b| b.said[&place.scene].iter().rposition(|t| t.contains(part)));
        format!("{}/{}", place.scene, at.expect("a message") + 1)
    }

    fn cards(&self, place: &ConversationRef) -> usize {
        self.channel
            .with(|b| b.said.get(&place.scene).map_or(0, |s| s.iter().filter(|t| t.contains("May I run")).count()))
    }

    async fn until_cards(&self, place: &ConversationRef, count: usize) {
        self.channel
            .until(|b| {
                let said = b.said.get(&place.scene)?;
                (said.iter().filter(|t| t.contains("May I run")).count() >= count).then_some(())
            })
            .await;
    }

    /// Lets time pass until a message whose card nobody answers is done.
    async fn expire(&self, id: &str) {
        while !self.channel.with(|b| b.settled.iter().any(|s| s == id)) {
            self.clock.advance(Duration::from_secs(60));
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn journal(&self) -> Vec<Record> {
        Journal::new(Arc::clone(&self.store), self.clock.shared()).recent(10_000).await.expect("a journal")
    }

    pub(crate) async fn end(self) {
        self.host.shutdown().await;
        self.serving.abort();
    }
}

pub(crate) fn person(user: &str) -> Principal {
    Principal::person("telegram", user, None)
}

pub(crate) fn place(scope: Scope, scene: &str) -> ConversationRef {
    ConversationRef {
        platform: "telegram".into(),
        endpoint: "main".into(),
        scope,
        scene: scene.into(),
        parent: None,
        thread: None,
    }
}

fn replying(to: &str) -> impl FnOnce(&mut Message) {
    let to = ReplyTo { message_id: to.to_string(), by_bot: true };
    move |m| {
        m.reply_to = Some(to);
        m.addressed = Addressed::None;
    }
}

fn unaddressed(m: &mut Message) {
    m.addressed = Addressed::None;
}

/// Asks the person about their own wish and says what came of it.
fn asker(request: &ModelRequest) -> Vec<ModelEvent> {
    let wish = request.user_text.clone();
    match (request.step, wish.strip_prefix("ask ")) {
        (1, Some(what)) => {
            let kind = if what.starts_with("bob") { "confirm" } else { "text" };
            one(request, "ask_user", json!({"question": format!("What about {what}?"), "type": kind}))
        }
        (_, Some(what)) => text(format!("{what} got {}", last(request))),
        _ => text(format!("heard {wish}")),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_in_one_group_each_answer_their_own_question() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"open\"\n[agent]\nsession_scope = \"user\"\n");
    let scene = Scene::open(&bot, Told(asker)).await;
    let (ann, bob, here) = (person("ann"), person("bob"), place(Scope::Group, "-100"));
    let of_ann = scene.channel.say(&ann, &here, "ask ann");
    scene.until_said(&here, "What about ann?").await;
    let of_bob = scene.channel.say(&bob, &here, "ask bob");
    scene.until_said(&here, "What about bob?").await;
    scene.until_known(2).await;
    let (card_of_ann, card_of_bob) =
        (scene.message_with(&here, "What about ann?"), scene.message_with(&here, "What about bob?"));
    // None of these counts: a plain word, a forwarded and an edited one, a reply to somebody else's question.
    scene.channel.tell(&bob, &here, "yes", unaddressed);
    scene.channel.tell(&ann, &here, "yes", |m| {
        m.reply_to = Some(ReplyTo { message_id: card_of_ann.clone(), by_bot: true });
        let entries = vec![ForwardEntry { name: "Bob".into(), text: "yes".into() }];
        m.segments.push(Segment::Forward { from: Some("Bob".into()), entries });
    });
    scene.channel.tell(&ann, &here, "yes", |m| {
        m.reply_to = Some(ReplyTo { message_id: card_of_ann.clone(), by_bot: true });
        m.edited = true;
    });
    scene.channel.tell(&bob, &here, "yes", replying(&card_of_ann));
    // Deliveries are heard in their order: when this answer counts, the others were judged.
    scene.channel.tell(&bob, &here, "yes", replying(&card_of_bob));
    scene.channel.settled(&of_bob).await;
    let said = scene.channel.said(&here);
    assert!(said.contains("bob got yes") && !said.contains("ann got"), "{said}");
    scene.channel.tell(&ann, &here, "取消", unaddressed);
    scene.channel.settled(&of_ann).await;
    let said = scene.channel.said(&here);
    assert!(said.contains("ann got") && said.contains("QUESTION_CANCELLED"), "{said}");
    // The words of `/stop` end the turn, not only its question.
    let again = scene.channel.say(&ann, &here, "ask ann once more");
    scene.until_said(&here, "What about ann once more?").await;
    scene.channel.tell(&ann, &here, "/stop", unaddressed);
    scene.channel.settled(&again).await;
    let said = scene.channel.said(&here);
    assert!(said.contains("Stopped.") && !said.contains("ann once more got"), "{said}");
    let journal = scene.journal().await;
    let of = |who: &str| -> Vec<String> {
        let own = journal.iter().filter(|r| r.principal.as_deref() == Some(who) && r.kind.starts_with("question."));
        own.map(|r| r.kind.clone()).collect()
    };
    assert_eq!(of("telegram:bob"), ["question.asked", "question.answered"]);
    let wanted = ["question.asked", "question.refused", "question.asked", "question.withdrawn"];
    assert_eq!(of("telegram:ann"), wanted);
    scene.end().await;
}

/// A tool that is asked about and gives back what it was sent.
fn put_note(bot: &TestBot) {
    bot.put(
        "tools/note/tool.toml",
        "description = \"Note it\"\nrequires_approval = \"always\"\ncapabilities = []\n\
         run = { command = [\"sed\", \"s/^/got /\"] }\n[input_schema]\ntype = \"object\"\n",
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_shows_hostile_arguments_on_one_line_and_the_body_gets_every_digit() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"open\"\n");
    put_note(&bot);
    let hostile = format!("{}x\r\n\u{202e}\u{200b}\u{2028}```\nowner: root\n- no reason\u{e0041}", " ".repeat(300));
    let arguments = json!({"id": 1_234_567_890_123_456_789_u64, "big": u64::MAX, "small": i64::MIN, "text": hostile});
    let sent = arguments.clone();
    let model = Told(move |request: &ModelRequest| match request.step {
        1 => one(request, "load_tool", json!({"name": "note"})),
        2 => one(request, "note", sent.clone()),
        _ => text(format!("It took {}", last(request))),
    });
    let scene = Scene::open(&bot, model).await;
    let (ann, here) = (person("ann"), place(Scope::Private, "ann"));
    let id = scene.channel.say(&ann, &here, "note it");
    scene.until_cards(&here, 1).await;
    let card = scene.channel.said(&here);
    let line = |key: &str| {
        let own: Vec<&str> = card.lines().filter(|l| l.starts_with(&format!("{key}:"))).collect();
        assert_eq!(own.len(), 1, "{key}: {card}");
        own[0].to_string()
    };
    let shown = line("text");
    let wanted = format!(
        "text: \"\u{27e8}{} spaces\u{27e9}x\\u000d\\u000a\\u202e\\u200b\\u2028\\u0060\\u0060\\u0060\\u000aowner: root\\u000a- no reason\\udb40\\udc41\"",
        300
    );
    assert_eq!(shown, wanted);
    assert_eq!(line("id"), "id: 1234567890123456789");
    assert_eq!(
        (line("big"), line("small")),
        ("big: 18446744073709551615".into(), "small: -9223372036854775808".into())
    );
    assert_eq!((line("owner"), card.matches("```").count()), ("owner: .".into(), 2), "{card}");
    assert!(!card.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}' || c == '\u{200b}'), "{card:?}");
    scene.channel.press("Allow once", &ann, &here).await;
    scene.channel.settled(&id).await;
    let said = scene.channel.said(&here);
    for digits in ["\"id\":1234567890123456789", "\"big\":18446744073709551615", "\"small\":-9223372036854775808"] {
        assert!(said.contains(digits), "{digits}: {said}");
    }
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_calls_ten_are_asked_about_one_at_a_time_and_stop_withdraws_the_open_card() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"open\"\n");
    put_note(&bot);
    let many = |request: &ModelRequest| match request.step {
        1 => one(request, "load_tool", json!({"name": "note"})),
        step @ 2..=4 => {
            let each = (0..16).map(|n| (format!("c{step}x{n}"), "note".to_string(), json!({"n": step * 100 + n})));
            calls(each)
        }
        _ => {
            let all = results(request);
            let limited = all.iter().filter(|r| r.contains("APPROVAL_LIMIT")).count();
            text(format!("{limited} of {} were too many", all.len() - 1))
        }
    };
    let scene = Scene::open(&bot, Told(many)).await;
    let (ann, here) = (person("ann"), place(Scope::Private, "ann"));
    let id = scene.channel.say(&ann, &here, "note it all");
    for n in 1..=10 {
        scene.until_cards(&here, n).await;
        let (_, status) = scene.host.command("status", json!({})).await;
        assert_eq!((scene.cards(&here), &status["approvals_pending"]), (n, &json!(1)), "one at a time");
        assert_eq!(scene.channel.press("Allow once", &ann, &here).await, "Approved by telegram:ann.");
    }
    scene.channel.settled(&id).await;
    assert!(scene.channel.said(&here).ends_with("38 of 48 were too many"), "{}", scene.channel.said(&here));
    assert_eq!(scene.cards(&here), 10);
    let id = scene.channel.say(&ann, &here, "once more");
    scene.until_cards(&here, 11).await;
    scene.channel.say(&ann, &here, "停止");
    scene.channel.settled(&id).await;
    scene.channel.until(|b| b.edits.iter().any(|e| e.contains("The turn was stopped: not run.")).then_some(())).await;
    let late = scene.channel.press("Allow once", &ann, &here).await;
    assert_eq!(late, "This button is no longer valid.");
    let journal = scene.journal().await;
    let count = |kind: &str| journal.iter().filter(|r| r.kind == kind).count();
    assert_eq!((count("question.asked"), count("question.answered"), count("question.withdrawn")), (11, 10, 1));
    let limited = journal.iter().filter(|r| r.kind == "tool.denied" && r.data["reason"] == "APPROVAL_LIMIT").count();
    assert_eq!(limited, 38);
    scene.end().await;
}

/// Tools of every kind of decision, each with its own chat command.
fn put_tools(bot: &TestBot) {
    let tools = [
        ("free", "never", "[\"write\"]", ""),
        ("asks", "always", "[]", ""),
        ("runs", "never", "[\"execute\"]", ""),
        ("jots", "once", "[]", ""),
        ("boss", "never", "[]", "permissions = [\"role(master)\"]\n"),
    ];
    for (name, approval, capabilities, more) in tools {
        bot.put(
            &format!("tools/{name}/tool.toml"),
            &format!(
                "description = \"Does {name}\"\nrequires_approval = \"{approval}\"\ncapabilities = {capabilities}\n\
                 {more}run = {{ command = [\"sh\", \"./main.sh\"] }}\n[command]\nname = \"{name}\"\n"
            ),
        );
        bot.put(&format!("tools/{name}/main.sh"), &format!("cat >/dev/null\necho 'did {name}'\n"));
    }
}

const DECISIONS: &str = "[access]\nmode = \"open\"\ntrusted = [\"telegram:boss\"]\ndeny = [\"telegram:66\"]\n\
    [approval]\nwrite_mode = \"allow\"\nexecute_mode = \"deny\"\n";

/// What must stand in an event of a decision about a call.
fn is_whole(record: &Record) {
    let data = &record.data;
    for key in ["call_id", "tool", "owner", "conversation", "args_hash", "effect", "reason"] {
        let absent = data.get(key).is_none();
        assert!(!absent, "{key} in {record:?}");
    }
    assert!(record.principal.is_some() && record.turn_id.is_some(), "{record:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_holds_every_decision_before_its_effect() {
    let bot = TestBot::new().write("bot.toml", DECISIONS);
    put_tools(&bot);
    let caller = |request: &ModelRequest| {
        let name = request.user_text.split_whitespace().last().unwrap_or_default().to_string();
        match request.step {
            1 => one(request, &name, json!({})),
            _ => text(format!("It said {}", last(request))),
        }
    };
    let scene = Scene::open(&bot, Told(caller)).await;
    let (ann, boss) = (person("ann"), person("boss"));
    let (group, chat) = (place(Scope::Group, "-100"), place(Scope::Private, "ann"));
    let say = async |who: &Principal, at: &ConversationRef, what: &str| {
        let id = scene.channel.say(who, at, what);
        scene.channel.settled(&id).await;
    };
    let asked = async |what: &str, cards: usize| {
        let id = scene.channel.say(&ann, &group, what);
        scene.until_cards(&group, cards).await;
        id
    };
    say(&person("66"), &place(Scope::Private, "66"), "let me in").await;
    say(&ann, &chat, "/free").await;
    say(&ann, &chat, "/runs").await;
    say(&ann, &chat, "please boss").await;
    let id = asked("/asks", 1).await;
    let refused = scene.channel.press("Allow once", &person("bystander"), &group).await;
    assert_eq!(refused, "Only people allowed to approve can answer.");
    scene.channel.press("Allow once", &boss, &group).await;
    scene.channel.settled(&id).await;
    let id = asked("/asks", 2).await;
    scene.channel.press("Deny", &boss, &group).await;
    scene.channel.settled(&id).await;
    let id = asked("/asks", 3).await;
    scene.expire(&id).await;
    let id = asked("/asks", 4).await;
    scene.channel.say(&ann, &group, "/stop");
    scene.channel.settled(&id).await;
    let id = asked("/jots", 5).await;
    assert_eq!(
        scene.channel.press("Allow for this session", &boss, &group).await,
        "Allowed for this session by telegram:boss."
    );
    scene.channel.settled(&id).await;
    say(&ann, &group, "/jots").await;
    say(&ann, &group, "/approvals revoke 1").await;
    let (exit, _) = scene.host.command("call", json!({"tool": "asks", "input": {}, "approve": false})).await;
    assert_eq!(exit, 7);
    let journal = scene.journal().await;
    let of = |kind: &str| -> Vec<&Record> { journal.iter().filter(|r| r.kind == kind).collect() };
    let reasons: Vec<&str> = of("tool.denied").iter().map(|r| r.data["reason"].as_str().expect("a code")).collect();
    let wanted = [
        "PERMISSION_ERROR",
        "TOOL_NOT_ALLOWED",
        "APPROVAL_REJECTED",
        "APPROVAL_EXPIRED",
        "CANCELLED",
        "APPROVAL_UNAVAILABLE",
    ];
    assert_eq!(reasons, wanted);
    let answers: Vec<(&str, &str)> = of("question.answered")
        .iter()
        .map(|r| (r.data["effect"].as_str().expect("an effect"), r.data["answered_by"].as_str().expect("somebody")))
        .collect();
    let by_boss = |effect| (effect, "telegram:boss");
    assert_eq!(answers, [by_boss("allow"), by_boss("deny"), by_boss("allow_session")]);
    assert_eq!(of("question.refused")[0].data["answered_by"], "telegram:bystander");
    for (kind, count) in [
        ("question.asked", 6),
        ("question.refused", 2),
        ("question.expired", 1),
        ("question.withdrawn", 1),
        ("grant.added", 1),
        ("grant.used", 1),
        ("grant.revoked", 1),
        ("access.refused", 1),
    ] {
        assert_eq!(of(kind).len(), count, "{kind}: {journal:#?}");
    }
    assert_eq!(of("access.refused")[0].principal.as_deref(), Some("telegram:66"));
    let started: Vec<(&str, &str)> = of("tool.started")
        .iter()
        .map(|r| (r.data["tool"].as_str().expect("a name"), r.data["reason"].as_str().expect("a reason")))
        .collect();
    let ran = [("free", "policy"), ("asks", "approved"), ("jots", "approved"), ("jots", "grant")];
    assert_eq!(started, ran);
    let decisions = journal.iter().filter(|r| r.kind.starts_with("tool.") || r.data.get("call_hash").is_some());
    decisions.for_each(is_whole);
    // A yes stands before the run it belongs to, and is about the very same call.
    for (at, run) in journal.iter().enumerate().filter(|(_, r)| r.data["reason"] == "approved") {
        let yes = journal[..at]
            .iter()
            .find(|r| r.kind == "question.answered" && r.data["record_id"] == run.data["record_id"]);
        let yes = yes.unwrap_or_else(|| panic!("{run:?}"));
        assert_eq!((&yes.data["args_hash"], &yes.data["call_id"]), (&run.data["args_hash"], &run.data["call_id"]));
    }
    scene.end().await;
}

/// Where everybody in a group has a session, whoever may approve still sees and ends what is allowed to others there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn approvers_see_and_revoke_what_is_allowed_in_the_whole_chat() {
    let config = "[access]\nmode = \"open\"\ntrusted = [\"telegram:boss\"]\n[agent]\nsession_scope = \"user\"\n";
    let bot = TestBot::new().write("bot.toml", config);
    put_tools(&bot);
    let scene = Scene::open(&bot, Told(|_: &ModelRequest| text("unused"))).await;
    let (ann, boss, here) = (person("ann"), person("boss"), place(Scope::Group, "-100"));
    let elsewhere = place(Scope::Group, "-200");
    let mut cards = 0;
    for (at, n) in [(&here, 1), (&elsewhere, 1)] {
        let id = scene.channel.say(&ann, at, "/jots");
        scene.until_cards(at, n).await;
        scene.channel.press("Allow for this session", &boss, at).await;
        scene.channel.settled(&id).await;
        cards += 1;
    }
    let ask = async |who: &Principal, what: &str| {
        let before = scene.channel.said(&here).len();
        let id = scene.channel.say(who, &here, what);
        scene.channel.settled(&id).await;
        scene.channel.said(&here)[before..].to_string()
    };
    let listed = ask(&boss, "/approvals").await;
    assert!(listed.contains("1. jots, asked by telegram:ann, allowed by telegram:boss"), "{listed}");
    assert!(!listed.contains("2. jots"), "another chat's are not listed: {listed}");
    assert!(ask(&person("bob"), "/approvals").await.contains("Nothing is allowed for this session."));
    assert!(ask(&person("bob"), "/approvals revoke 1").await.contains("no permission with this number"));
    assert!(ask(&ann, "/jots").await.contains("did jots"), "still allowed");
    assert!(ask(&boss, "/approvals revoke 1").await.contains("jots asks again from now on."));
    let id = scene.channel.say(&ann, &here, "/jots");
    scene.until_cards(&here, 2).await;
    scene.channel.press("Deny", &ann, &here).await;
    scene.channel.settled(&id).await;
    let id = scene.channel.say(&ann, &elsewhere, "/jots");
    scene.channel.settled(&id).await;
    assert_eq!((scene.cards(&elsewhere), cards), (1, 2), "the other chat's permission stands");
    scene.end().await;
}
