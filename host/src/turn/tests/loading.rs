use super::fixture::{Table, calling, codes, plugin_tools, text};
use crate::loader::{Layer, Retention, SectionSource};
use crate::tools::testing::{World, ann, place};
use crate::turn::TurnOutcome;
use serde_json::json;

fn world() -> World {
    World::new()
        .tool("maps", "get-weather", "Get the current weather for a city")
        .tool("maps", "route", "Find the way between two places")
        .agents_md(".", "Be kind.")
        .agents_md("maps", "Maps are old.")
}

#[tokio::test]
async fn discover_then_load_then_call() {
    let table = Table::new(world());
    let script = vec![
        calling(&[("a", "discover", json!({"query": "weather in Paris"}))]),
        calling(&[("b", "load_tool", json!({"name": "get-weather"}))]),
        calling(&[("c", "maps__get-weather", json!({"city": "Paris"}))]),
        text("Sunny."),
    ];
    let (report, requests) = table.run(&ann(), "weather in Paris?", script).await;
    assert_eq!(report.outcome, TurnOutcome::Completed);
    assert_eq!(report.text, "Sunny.");
    assert_eq!(codes(&report), ["-", "-", "-"]);
    assert_eq!(report.tool_calls[2].arguments, json!({"city": "Paris"}));
    assert_eq!(report.tool_calls[2].owner.as_deref(), Some("maps"));
    assert_eq!(report.usage.input, 40);
    let sent: Vec<Vec<String>> = requests.iter().map(plugin_tools).collect();
    assert_eq!(sent, [vec![], vec![], vec!["maps__get-weather".to_string()], vec!["maps__get-weather".into()]]);
}

#[tokio::test]
async fn a_call_in_the_batch_of_its_load_is_not_loaded() {
    let table = Table::new(world());
    let script =
        vec![calling(&[("a", "load_tool", json!({"name": "route"})), ("b", "maps__route", json!({}))]), text("no")];
    let (report, _) = table.run(&ann(), "go", script).await;
    assert_eq!(codes(&report), ["-", "TOOL_NOT_ALLOWED"]);
    let error = report.tool_calls[1].error.as_ref().unwrap();
    assert_eq!((error.details["reason"].as_str(), error.retryable), (Some("not_loaded"), true));
}

#[tokio::test]
async fn a_load_lasts_for_the_session_and_no_other_sees_it() {
    let table = Table::new(world());
    let script = || vec![calling(&[("a", "load_tool", json!({"name": "route"}))]), text("ok")];
    table.run_in("one", &ann(), "load", script()).await;
    let (_, again) = table.run_in("one", &ann(), "hi", vec![text("ok")]).await;
    let (_, other) = table.run_in("two", &ann(), "hi", vec![text("ok")]).await;
    assert_eq!(plugin_tools(&again[0]), ["maps__route"]);
    assert!(plugin_tools(&other[0]).is_empty());
}

#[tokio::test]
async fn ten_turns_have_the_same_bytes_before_the_history() {
    let table = Table::new(world());
    table.run(&ann(), "load", vec![calling(&[("a", "load_tool", json!({"name": "route"}))]), text("ok")]).await;
    let mut prefixes = Vec::new();
    for n in 0..10 {
        table.advance(3600);
        let (_, requests) = table.run(&ann(), &format!("message {n}"), vec![text("ok")]).await;
        let tools: Vec<String> = requests[0]
            .tools
            .iter()
            .map(|t| format!("{} {} {} {:?}", t.wire, t.description, t.schema, t.words))
            .collect();
        prefixes.push(format!("{}\n{}", requests[0].system, tools.join("\n")));
    }
    prefixes.dedup();
    assert_eq!(prefixes.len(), 1, "{prefixes:#?}");
    assert!(prefixes[0].contains("Be kind.") && prefixes[0].contains("Maps are old."));
    assert!(!prefixes[0].contains("telegram"));
}

#[tokio::test]
async fn an_always_skill_and_the_sections_of_this_profile_are_in_the_prompt() {
    let section = |name: &str, profiles: &[&str], platforms: &[&str]| SectionSource {
        name: name.into(),
        title: format!("Title {name}"),
        layer: Layer::Context,
        order: 50,
        retention: Retention::Preferred,
        max_chars: None,
        profiles: profiles.iter().map(|p| p.to_string()).collect(),
        platforms: platforms.iter().map(|p| p.to_string()).collect(),
        body: "text".into(),
        place: place(".", name),
    };
    let world = world()
        .private("maps", "house", "door")
        .skill("maps", "house", &[], |s| s.always = true)
        .skill("maps", "trip", &["route"], |_| {})
        .section(section("here", &["interactive"], &[]))
        .section(section("night", &["schedule"], &[]))
        .section(section("console-only", &["interactive"], &["console"]));
    let (report, requests) = Table::new(world).run(&ann(), "hi", vec![text("ok")]).await;
    let system = &requests[0].system;
    assert!(system.contains("Text of house.") && system.contains("Title here"));
    assert!(!system.contains("Title night") && !system.contains("console-only"));
    assert!(system.contains("- maps__trip: how to trip") && system.contains("- maps: 2"));
    assert_eq!(plugin_tools(&requests[0]), ["maps__skill__house__door"]);
    assert_eq!(report.prompt["total"], system.chars().count());
}
