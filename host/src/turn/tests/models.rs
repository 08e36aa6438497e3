//! What a turn keeps for its model, and what it tells it.

use super::fixture::{Gifts, Table, calling, codes, ending, plugin_tools, raw_call, text};
use crate::model::{ModelEvent, ModelMessage, ModelRequest, Opaque, StopReason};
use crate::tools::testing::{World, ann};
use crate::turn::run;
use plugin_sdk::{ContentBlock, ImageData, MediaRef, MediaSource, Segment};
use serde_json::json;

fn world() -> World {
    World::new()
        .tool("maps", "get-weather", "Get the current weather for a city")
        .tool("maps", "route", "Find the way between two places")
        .tool("maps", "zoom", "Show a place larger")
}

fn part(after: u32) -> Opaque {
    Opaque { maker: "somebody".into(), after, data: "c2lnbmVk".into() }
}

fn opaque_of(request: &ModelRequest) -> Vec<Opaque> {
    let of = |m: &ModelMessage| match m {
        ModelMessage::Assistant { opaque, .. } => opaque.clone(),
        _ => vec![],
    };
    request.messages.iter().flat_map(of).collect()
}

#[tokio::test]
async fn what_the_maker_wants_back_stays_with_its_message() {
    let table = Table::new(world());
    let first = vec![
        ModelEvent::Opaque(part(0)),
        ModelEvent::Opaque(part(1)),
        raw_call("a", "load_tool", "{\"name\": \"route\"}"),
    ];
    let last = vec![ModelEvent::Opaque(part(0)), ModelEvent::Text("ok".into())];
    let script = vec![ending(first, StopReason::ToolUse), ending(last, StopReason::End)];
    let (_, requests) = table.run(&ann(), "go", script).await;
    assert_eq!(opaque_of(&requests[1]), [part(0), part(1)]);
    let (_, later) = table.run(&ann(), "and?", vec![text("x")]).await;
    assert_eq!(opaque_of(&later[0]), [part(0), part(1), part(0)]);
}

#[tokio::test]
async fn a_repeat_takes_its_parts_back() {
    let table = Table::new(world());
    let events = vec![
        ModelEvent::Text("half".into()),
        ModelEvent::Opaque(part(0)),
        ModelEvent::Restart,
        ModelEvent::Answering("spare".into()),
        ModelEvent::Text("whole".into()),
    ];
    let (report, _) = table.run(&ann(), "go", vec![ending(events, StopReason::End)]).await;
    assert_eq!((report.text.as_str(), report.model.as_str()), ("whole", "spare"));
    let (_, later) = table.run(&ann(), "and?", vec![text("x")]).await;
    assert!(opaque_of(&later[0]).is_empty());
}

#[tokio::test]
async fn loads_are_referred_to_by_the_host_alone() {
    let mut table = Table::new(world());
    table.gifts = Gifts { catalog: true, ..Gifts::default() };
    let script = vec![
        calling(&[("a", "load_tool", json!({"name": "route"})), ("b", "load_tool", json!({"name": "nothing"}))]),
        calling(&[("c", "maps__zoom", json!({})), ("d", "maps__route", json!({}))]),
        text("ok"),
    ];
    let (report, requests) = table.run(&ann(), "go", script).await;
    assert_eq!(codes(&report), ["-", "NOT_FOUND", "TOOL_NOT_ALLOWED", "-"], "to be found is not to be called");
    assert_eq!(report.tool_calls[2].error.as_ref().unwrap().details["reason"], "not_loaded");
    let referred = |r: &ModelRequest| -> Vec<Vec<String>> {
        let of = |m: &ModelMessage| match m {
            ModelMessage::Tool { references, .. } => Some(references.clone()),
            _ => None,
        };
        r.messages.iter().filter_map(of).collect()
    };
    assert_eq!(referred(&requests[1]), [vec!["maps__route".to_owned()], vec![]]);
    assert_eq!(referred(&requests[2])[2..], [vec![], Vec::<String>::new()]);
    let deferred = |r: &ModelRequest| r.deferred.iter().map(|t| t.qualified.to_string()).collect::<Vec<_>>();
    assert!(deferred(&requests[0]).iter().any(|n| n == "maps__route"));
    let rest = deferred(&requests[1]);
    assert!(rest.is_sorted() && rest.iter().any(|n| n == "maps__zoom") && !rest.iter().any(|n| n == "maps__route"));
    let (_, later) = table.run(&ann(), "and?", vec![text("x")]).await;
    assert_eq!(referred(&later[0])[0], ["maps__route"], "kept with the history");
    table.gifts = Gifts::default();
    let (_, plain) = table.run(&ann(), "and?", vec![text("x")]).await;
    assert!(plain[0].deferred.is_empty());
}

#[tokio::test]
async fn a_model_that_takes_few_tools_is_told_what_leaves() {
    let mut table = Table::new(world());
    let (_, requests) = table.run(&ann(), "hi", vec![text("x")]).await;
    let fixed = requests[0].tools.len();
    table.gifts = Gifts { max_tools: fixed + 1, ..Gifts::default() };
    let script = vec![
        calling(&[("a", "load_tool", json!({"name": "route"}))]),
        calling(&[("b", "load_tool", json!({"name": "zoom"}))]),
        calling(&[("c", "maps__route", json!({}))]),
        text("ok"),
    ];
    let (report, requests) = table.run(&ann(), "go", script).await;
    assert_eq!(plugin_tools(&requests[2]), ["maps__zoom"]);
    let ModelMessage::Tool { content, .. } = requests[2].messages.last().unwrap() else { panic!("no result") };
    assert!(format!("{content:?}").contains("evicted: maps__route; load it again when needed"), "{content:?}");
    assert_eq!(codes(&report), ["-", "-", "TOOL_NOT_ALLOWED"]);
}

#[tokio::test]
async fn a_call_of_a_tool_that_was_left_out_is_not_run() {
    let table = Table::new(world());
    let load = calling(&[("a", "load_tool", json!({"name": "route"}))]);
    let refused = vec![
        ModelEvent::ToolRefused("maps__route".into(), "bad schema".into()),
        ModelEvent::Restart,
        raw_call("b", "maps__route", "{}"),
    ];
    let script = vec![load, ending(refused, StopReason::ToolUse), text("ok")];
    let (report, _) = table.run(&ann(), "go", script).await;
    assert_eq!(codes(&report), ["-", "TOOL_NOT_ALLOWED"]);
    assert_eq!(report.tool_calls[1].error.as_ref().unwrap().details["reason"], "not_loaded");
    // another model was sent it
    let other = vec![
        ModelEvent::ToolRefused("maps__route".into(), "bad schema".into()),
        ModelEvent::Restart,
        ModelEvent::Answering("spare".into()),
        raw_call("c", "maps__route", "{}"),
    ];
    let (report, _) = table.run(&ann(), "go", vec![ending(other, StopReason::ToolUse), text("ok")]).await;
    assert_eq!(codes(&report), ["-"]);
}

#[tokio::test]
async fn images_of_a_message_go_along_and_a_blind_model_is_spoken_of() {
    for (images, seen) in [(1, true), (1, false), (0, true)] {
        let mut table = Table::new(world());
        table.gifts = Gifts { images: seen, ..Gifts::default() };
        let (mut cx, model) = table.turn("telegram/main/private/-100", &ann(), "look", vec![text("nice")]);
        let source = MediaSource::PlatformFile("f1".into());
        let media =
            MediaRef { source, mime: "image/png".into(), name: Some("cat.png".into()), size: Some(9), sha256: None };
        cx.about.message.segments.push(Segment::Image { media, caption: Some("my cat".into()) });
        let data = ImageData { mime: "image/png".into(), data: "AAAA".into() };
        cx.about.images = vec![data.clone(); images];
        let report = run(cx).await;
        let requests = model.requests.lock().unwrap();
        let Some(ModelMessage::User { text, images: sent }) = requests[0].messages.last() else { panic!("no message") };
        assert_eq!((sent.len(), text.contains("[image cat.png")), (images, images == 0), "{text}");
        assert!(text.contains("look") && text.contains("my cat"));
        assert_eq!(report.text == "nice", images == 1 && seen, "{}", report.text);
    }
}

#[test]
fn histories_of_before_are_read() {
    let read = |value| serde_json::from_value::<ModelMessage>(value).unwrap();
    assert_eq!(read(json!({"role": "user", "text": "hi"})), ModelMessage::user("hi"));
    assert_eq!(read(json!({"role": "assistant", "text": "a", "calls": []})), ModelMessage::assistant("a", vec![]));
    let old = json!({"role": "tool", "call_id": "c", "tool": "t", "content": [{"type": "text", "text": "x"}],
        "is_error": false});
    let ModelMessage::Tool { content, references, .. } = read(old) else { panic!("no result") };
    assert_eq!((content, references), (vec![ContentBlock::text("x")], vec![]));
    assert_eq!(serde_json::to_value(ModelMessage::user("hi")).unwrap(), json!({"role": "user", "text": "hi"}));
}
