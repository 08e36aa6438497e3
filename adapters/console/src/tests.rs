use super::*;
use plugin_sdk::{Edit, Scope, Settled};

fn config(once: Option<&str>) -> serde_json::Value {
    serde_json::json!({
        "mode": "json",
        "principal": Principal::person("console", "ann", None),
        "conversation": place(),
        "color": false, "history": null, "once": once, "commands": [], "run_id": "r1",
    })
}

fn place() -> ConversationRef {
    ConversationRef {
        platform: "console".into(),
        endpoint: "local".into(),
        scope: Scope::Private,
        scene: "ann".into(),
        parent: None,
        thread: None,
    }
}

fn text_of(delivery: &Delivery) -> (String, String) {
    match &delivery.event {
        Inbound::Message(m) => (m.id.clone(), m.text()),
        other => panic!("not a message: {other:?}"),
    }
}

async fn settle(edit: &std::sync::Arc<dyn Edit>, id: &str) {
    let settled = Settled {
        conversation: place(),
        message_id: id.into(),
        turn_id: None,
        outcome: "completed".into(),
        detail: None,
    };
    edit.settled(settled).await.unwrap();
}

#[tokio::test]
async fn once_sends_one_message_and_closes_after_it_is_settled() {
    let c = Console.connect(config(Some("hello"))).await.unwrap();
    let (id, text) = text_of(&c.receive.next().await.unwrap());
    assert_eq!(text, "hello");
    let waiting = tokio::spawn({
        let receive = c.receive.clone();
        async move { receive.next().await }
    });
    settle(&c.edit, &id).await;
    assert!(matches!(waiting.await.unwrap().unwrap().event, Inbound::Closed));
}

#[tokio::test]
async fn end_of_input_answers_an_open_question_with_no() {
    let c = Console.connect(config(Some("delete all"))).await.unwrap();
    let (first, _) = text_of(&c.receive.next().await.unwrap());
    let piece = plugin_sdk::Outgoing {
        kind: plugin_sdk::OutgoingKind::Question,
        conversation: place(),
        segments: vec![Segment::plain("sure?")],
        entities: vec![],
        reply_to: None,
        idempotency_key: "q".into(),
    };
    c.send.send(piece).await.unwrap();
    let (second, text) = text_of(&c.receive.next().await.unwrap());
    assert_eq!(text, "no");
    settle(&c.edit, &second).await;
    settle(&c.edit, &first).await;
    assert!(matches!(c.receive.next().await.unwrap().event, Inbound::Closed));
}

#[tokio::test]
async fn a_question_that_no_does_not_answer_ends_with_the_turn() {
    let c = Console.connect(config(Some("dim the lamp"))).await.unwrap();
    let (first, _) = text_of(&c.receive.next().await.unwrap());
    let mut said = Vec::new();
    for n in 0..4 {
        let piece = plugin_sdk::Outgoing {
            kind: plugin_sdk::OutgoingKind::Question,
            conversation: place(),
            segments: vec![Segment::plain("which room?")],
            entities: vec![],
            reply_to: None,
            idempotency_key: format!("q{n}"),
        };
        c.send.send(piece).await.unwrap();
        let (id, text) = text_of(&c.receive.next().await.unwrap());
        said.push(text);
        settle(&c.edit, &id).await;
    }
    assert_eq!(said, ["no", "no", "no", "/stop"]);
    settle(&c.edit, &first).await;
    assert!(matches!(c.receive.next().await.unwrap().event, Inbound::Closed));
}

#[tokio::test]
async fn stop_ends_the_stream() {
    let c = Console.connect(config(Some("x"))).await.unwrap();
    c.receive.next().await.unwrap();
    c.receive.stop().await;
    assert!(c.receive.next().await.is_none());
}

#[test]
fn nothing_untrusted_steers_the_terminal() {
    assert_eq!(clean("a\x1b[2Jb\u{202E}c\r\nd\te\u{7}"), "a[2Jbc\nd\te");
}

#[test]
fn a_growing_text_is_stable_up_to_the_last_blank_line_outside_a_fence() {
    assert_eq!(markdown::stable_end("one\n\ntwo"), 5);
    assert_eq!(markdown::stable_end("```\na\n\nb"), 0);
    assert_eq!(markdown::stable_end("one"), 0);
}

#[test]
fn markdown_is_rendered_and_never_lost() {
    let out = render_markdown("# T\n\n- a\n- **b**\n\n| x | y |\n|---|---|\n| 1 | 22 |\n\n<b>raw</b>");
    for part in ["T", "• a", "b", "22", "<b>raw</b>"] {
        assert!(out.contains(part), "{part} missing in {out:?}");
    }
    assert_eq!(render_markdown("&"), "&");
}
