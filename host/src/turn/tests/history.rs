use super::fixture::{Table, calling, text};
use crate::model::{ModelMessage, ModelRequest};
use crate::session::{HistoryEntry, SessionKey, is_sendable};
use crate::tools::testing::{World, facts};
use crate::turn::run;
use async_trait::async_trait;
use plugin_sdk::{Callable, Role, Scope, ToolDef, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn world() -> World {
    World::new().shaped("db", "query", "Ask the books", |d| {
        d.options.always_loaded = true;
        d.options.permissions = vec!["role(master)".into()];
    })
}

fn texts(request: &ModelRequest) -> Vec<String> {
    request
        .messages
        .iter()
        .map(|m| match m {
            ModelMessage::User { text, .. } => format!("user {text}"),
            ModelMessage::Assistant { text, .. } => format!("assistant {text}"),
            ModelMessage::Tool { content, .. } => format!("tool {content:?}"),
        })
        .collect()
}

#[tokio::test]
async fn results_of_a_masters_tool_are_not_available_to_a_member() {
    let table = Table::new(world());
    let master = facts("1", Role::Master, Scope::Group);
    let member = facts("2", Role::User, Scope::Group);
    table
        .run(&master, "how much?", vec![calling(&[("a", "db__query", json!({"city": "s3cret"}))]), text("a lot")])
        .await;
    let (_, seen) = table.run(&member, "and?", vec![text("no")]).await;
    let lines = texts(&seen[0]);
    assert_eq!(lines[0], "user [1, telegram:1, master] (untrusted) how much?");
    assert!(lines[2].contains("[result of db__query: not available to this person]"), "{lines:#?}");
    assert!(lines[4].starts_with("user [host: it is ") && lines[4].ends_with("[2, telegram:2, member] and?"));
    assert!(!plugin_has(&seen[0]));
    let (_, own) = table.run(&master, "again", vec![text("ok")]).await;
    assert!(texts(&own[0])[2].contains("s3cret"));
}

fn plugin_has(request: &ModelRequest) -> bool {
    request.tools.iter().any(|t| &*t.wire == "db__query")
}

#[tokio::test]
async fn long_histories_leave_by_whole_turns_and_the_person_is_told_once() {
    let mut table = Table::new(World::new().configured(|b| b.agent.compaction.enabled = false));
    table.window = 4_000;
    let ann = facts("1", Role::User, Scope::Private);
    let mut told = 0;
    for n in 0..40 {
        let (report, requests) = table.run(&ann, &format!("{n} {}", "word ".repeat(100)), vec![text("noted")]).await;
        let request = &requests[0];
        assert!(is_sendable(&request.messages));
        let tools: u64 = request
            .tools
            .iter()
            .map(|t| {
                crate::model::estimate_tokens(&t.description) + crate::model::estimate_tokens(&t.schema.to_string())
            })
            .sum();
        let messages: u64 = request.messages.iter().map(crate::model::message_tokens).sum();
        let all = crate::model::estimate_tokens(&request.system) + tools + messages;
        assert!(all <= 2_400 + 10, "turn {n}: {all}");
        told += usize::from(report.text.contains("no longer fit"));
    }
    assert_eq!(told, 1);
    let whole = table.sessions().history(&SessionKey::from_text("telegram/main/private/-100")).await.unwrap();
    assert_eq!(whole.len(), 80);
}

#[tokio::test]
async fn five_hundred_long_messages_fit_into_sixty_percent() {
    let mut table = Table::new(World::new().configured(|b| b.agent.compaction.enabled = false));
    table.window = 16_000;
    let ann = facts("1", Role::User, Scope::Private);
    let key = SessionKey::from_text("telegram/main/private/-100");
    let mut transcript = table.sessions().begin(&key, "bulk", json!({}), 10).await.unwrap();
    let entries = (0..500).map(|n| {
        let message = match n % 2 {
            0 => json!({"role": "user", "text": format!("{n} {}", "问word".repeat(400))}),
            _ => json!({"role": "assistant", "text": "so ".repeat(700), "calls": []}),
        };
        HistoryEntry::new(format!("b{}", n / 2), chrono::DateTime::UNIX_EPOCH, Some("telegram:1".into()), message)
    });
    transcript.append(entries.collect()).await.unwrap();
    transcript.commit(crate::session::Commit::default()).await.unwrap();
    let mut told = 0;
    for n in 0..3 {
        let (report, requests) = table.run(&ann, &format!("{n}"), vec![text("noted")]).await;
        let request = &requests[0];
        assert!(is_sendable(&request.messages) && request.messages.len() > 4);
        let messages: u64 = request.messages.iter().map(crate::model::message_tokens).sum();
        assert!(messages + crate::model::estimate_tokens(&request.system) <= 9_600);
        assert!(texts(request)[0].contains("earlier messages not shown"));
        told += usize::from(report.text.contains("no longer fit"));
    }
    assert_eq!(told, 1);
}

#[tokio::test]
async fn a_tool_that_left_with_its_generation_is_gone_not_unknown() {
    let mut table = Table::new(World::new().shaped("lab", "old", "Old", |d| d.options.always_loaded = true));
    let ann = facts("1", Role::User, Scope::Private);
    table.run(&ann, "hi", vec![calling(&[("a", "lab__old", json!({}))]), text("ok")]).await;
    table.world = World::new();
    let (report, _) = table.run(&ann, "hi", vec![calling(&[("a", "lab__old", json!({}))]), text("ok")]).await;
    assert_eq!(report.tool_calls[0].error.as_ref().unwrap().details["reason"], "gone");
}

#[tokio::test]
async fn a_name_that_never_was_a_tool_stays_unknown() {
    let table = Table::new(World::new());
    let ann = facts("1", Role::User, Scope::Private);
    for _ in 0..2 {
        let script = vec![calling(&[("a", "nonsense", json!({}))]), text("ok")];
        let (report, _) = table.run(&ann, "hi", script).await;
        assert_eq!(report.tool_calls[0].error.as_ref().unwrap().code, "NOT_FOUND");
    }
}

#[tokio::test]
async fn a_retry_does_not_see_the_answer_it_replaces() {
    let table = Table::new(World::new().shaped("lab", "look", "Look", |d| d.options.always_loaded = true));
    let ann = facts("1", Role::User, Scope::Private);
    let key = "telegram/main/private/-100";
    table.run(&ann, "hi", vec![calling(&[("a", "lab__look", json!({}))]), text("the old answer")]).await;
    let (mut cx, model) = table.turn(key, &ann, "hi", vec![text("the new answer")]);
    cx.about.ties.retry_of = Some("t1".into());
    run(cx).await;
    let requests = model.requests.lock().unwrap();
    let lines = texts(&requests[0]);
    assert!(!lines.iter().any(|l| l.contains("the old answer")), "{lines:#?}");
    assert!(lines.iter().any(|l| l.starts_with("tool ")));
}

/// Ends the process, as far as the session can tell: nothing after it is ever polled again.
struct Dies(tokio::sync::mpsc::UnboundedSender<()>);

#[async_trait]
impl Callable for Dies {
    async fn call(&self, _input: Map<String, Value>, _cx: &ToolExecutionContext) -> ToolResult {
        self.0.send(()).unwrap();
        std::future::pending().await
    }
}

#[tokio::test]
async fn results_are_stored_while_later_calls_still_run() {
    let (died, mut dying) = tokio::sync::mpsc::unbounded_channel();
    let always = |about: &str| {
        let mut def = ToolDef::new(about).requires_approval(plugin_sdk::Approval::Never);
        def.options.always_loaded = true;
        def
    };
    let world = World::new()
        .shaped("lab", "look", "Look", |d| d.options.always_loaded = true)
        .running("lab", "die", always("Die").capabilities([plugin_sdk::Capability::Execute]), Arc::new(Dies(died)))
        .configured(|b| b.approval.execute_mode = crate::config::Mode::Allow);
    let table = Table::new(world);
    let ann = facts("1", Role::User, Scope::Private);
    let script = vec![calling(&[("a", "lab__look", json!({})), ("b", "lab__die", json!({}))])];
    let (cx, _) = table.turn("k", &ann, "hi", script);
    let mut turn = Box::pin(run(cx));
    tokio::select! {
        _ = &mut turn => panic!("it ended"),
        Some(()) = dying.recv() => {}
    }
    // one more poll takes what the first call left, and the second never ends
    assert!(futures::poll!(&mut turn).is_pending());
    drop(turn);
    let history = table.sessions().history(&SessionKey::from_text("k")).await.unwrap();
    let roles: Vec<&str> = history.iter().map(|e| e.role()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}

#[tokio::test]
async fn what_one_conversation_says_is_in_no_other() {
    let table = Table::new(World::new().skill("lab", "cook", &[], |s| s.body = "The recipe.".into()));
    let ann = facts("1", Role::User, Scope::Private);
    let script = vec![calling(&[("a", "load_skill", json!({"name": "cook"}))]), text("Zanzibar it is.")];
    table.run_in("telegram/main/private/1", &ann, "the word is zanzibar", script).await;
    let group = facts("1", Role::User, Scope::Group);
    for (key, who) in [
        ("telegram/main/group/-100", &group),
        ("telegram/main/group/-100/55", &group),
        ("telegram/main/private/2", &ann),
        ("telegram/main/private/1/7", &ann),
    ] {
        let (_, requests) = table.run_in(key, who, "what is the word?", vec![text("no idea")]).await;
        let sent = format!("{} {:?}", requests[0].system, requests[0].messages).to_lowercase();
        assert!(!sent.contains("zanzibar") && !sent.contains("the recipe"), "{key}: {sent}");
    }
    let (_, same) = table.run_in("telegram/main/private/1", &ann, "the word?", vec![text("zanzibar")]).await;
    assert!(format!("{:?}", same[0].messages).contains("zanzibar"), "its own conversation has it");
}

#[test]
fn what_was_loaded_since_a_count_weighs_too() {
    let mut view = crate::turn::window::View::new(Vec::new(), None, false);
    let line = |n, text: String| crate::turn::window::Line::new(n, ModelMessage::user(text));
    view.running.push(line(1, "hi".into()));
    view.limit(100, 10_000);
    view.count(5_000);
    assert_eq!(view.tokens(100), 5_000);
    view.running.push(line(2, "word".repeat(100)));
    assert_eq!((view.tokens(100), view.tokens(1_100), view.tokens(50)), (5_100, 6_100, 5_100));
}

/// Gives a picture of five mebibytes.
struct Picture;

#[async_trait]
impl Callable for Picture {
    async fn call(&self, _input: Map<String, Value>, _cx: &ToolExecutionContext) -> ToolResult {
        let image = plugin_sdk::ImageData { mime: "image/png".into(), data: "A".repeat(5 << 20) };
        ToolResult { content: vec![plugin_sdk::ContentBlock::Image { image }], ..ToolResult::text("") }
    }
}

#[tokio::test]
async fn pictures_of_a_whole_talk_never_make_a_request_too_large() {
    let mut def = ToolDef::new("Picture").requires_approval(plugin_sdk::Approval::Never).capabilities([]);
    def.options.always_loaded = true;
    let table = Table::new(World::new().running("lab", "draw", def, Arc::new(Picture)));
    let ann = facts("1", Role::User, Scope::Private);
    for n in 0..4 {
        let (_, requests) =
            table.run(&ann, "draw", vec![calling(&[("a", "lab__draw", json!({}))]), text("there")]).await;
        let blocks = requests[1].messages.iter().flat_map(|m| match m {
            ModelMessage::Tool { content, .. } => content.clone(),
            _ => Vec::new(),
        });
        let (mut sent, mut newest_is_sent) = (0, false);
        for block in blocks {
            newest_is_sent = matches!(block, plugin_sdk::ContentBlock::Image { .. });
            sent += usize::from(newest_is_sent);
        }
        assert_eq!((sent, newest_is_sent), ((n + 1).min(2), true), "after {n}");
    }
}
