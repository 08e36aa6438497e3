use super::fixture::{Step, Table, calling, text};
use crate::model::{ModelMessage, ModelRequest};
use crate::tools::testing::{World, facts};
use async_trait::async_trait;
use plugin_sdk::{
    Approval, Callable, ContentBlock, ContextRetention, Role, Scope, ToolDef, ToolError, ToolExecutionContext,
    ToolResult,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Says its word many times over; fails when told to.
struct Wordy;

#[async_trait]
impl Callable for Wordy {
    async fn call(&self, input: Map<String, Value>, _cx: &ToolExecutionContext) -> ToolResult {
        let word = input["word"].as_str().unwrap_or("x").repeat(1_500);
        match input.contains_key("fail") {
            true => ToolResult::error(ToolError::new("BROKEN", word)),
            false => ToolResult::text(format!("BEGIN{word}END")),
        }
    }
}

fn world(tools: bool) -> World {
    let def = |retention| {
        let mut def = ToolDef::new("Words").requires_approval(Approval::Never).capabilities([]);
        def.input_schema = json!({"type": "object", "properties": {"word": {"type": "string"}, "fail": {}}});
        def.options.always_loaded = true;
        def.options.context_retention = retention;
        def
    };
    World::new()
        .running("lab", "observe", def(ContextRetention::Observation), Arc::new(Wordy))
        .running("lab", "keep", def(ContextRetention::Keep), Arc::new(Wordy))
        .configured(|b| b.agent.context_tools = tools)
}

fn step(name: &str, word: &str) -> Step {
    calling(&[("a", name, json!({"word": word}))])
}

/// What the results of a request say, in order.
fn results(request: &ModelRequest) -> Vec<String> {
    let of = |m: &ModelMessage| match m {
        ModelMessage::Tool { content, .. } => content.iter().find_map(|b| match b {
            ContentBlock::Text { text } => Some(text.clone()),
            ContentBlock::Image { .. } => None,
        }),
        _ => None,
    };
    request.messages.iter().filter_map(of).collect()
}

/// One turn of many results, then a second whose first request is looked at.
async fn seen(tools: bool, window: u64) -> Vec<String> {
    let mut table = Table::new(world(tools));
    table.window = window;
    let ann = facts("1", Role::User, Scope::Private);
    let failing = calling(&[("a", "lab__observe", json!({"word": "f", "fail": true}))]);
    let script = vec![
        step("lab__observe", "a"),
        step("lab__observe", "b"),
        failing,
        step("lab__keep", "k"),
        step("lab__observe", "c"),
        step("lab__observe", "a"),
        text("done"),
    ];
    table.run(&ann, "work", script).await;
    let (_, requests) = table.run(&ann, "and?", vec![text("ok")]).await;
    results(&requests[0])
}

#[tokio::test]
async fn old_observations_become_two_ends_or_a_pointer() {
    let seen = seen(true, 5_000).await;
    assert!(seen[0].starts_with("[the same text as result:"), "{}", seen[0]);
    assert!(
        seen[1].starts_with("BEGINb") && seen[1].ends_with("bEND") && seen[1].contains("context_read with ref result:")
    );
    let ends: Vec<&str> = seen[1].split('\n').collect();
    assert_eq!((ends[0].chars().count(), ends[2].chars().count()), (384, 128));
    assert!(seen[2].contains(&"f".repeat(1_500)), "an error stays");
    assert!(seen[3].contains(&"k".repeat(1_500)), "what is to be kept stays");
    assert!(seen[4].contains(&"c".repeat(1_500)) && seen[5].contains(&"a".repeat(1_500)), "the last two steps stay");
}

#[tokio::test]
async fn nothing_is_shortened_below_half_of_the_window_or_without_a_way_back() {
    for (tools, window) in [(true, 128_000), (false, 5_000)] {
        let seen = seen(tools, window).await;
        assert!(seen[0].contains(&"a".repeat(1_500)) && seen[1].contains(&"b".repeat(1_500)), "{tools} {window}");
    }
}
