use crate::catalog::{Controller, DiscoverKind, DiscoverQuery, ToolSearchQuery};
use crate::config::DeferredForm;
use crate::session::LoadedSnapshot;
use crate::tools::testing::{World, ann, facts};
use plugin_sdk::{Role, Scope};
use serde_json::Value;

fn world() -> World {
    World::new()
        .tool("maps", "get-weather", "Get the current weather for a city")
        .shaped("maps", "route", "Find the way between two places", |d| d.options.group = "maps".into())
        .shaped("mail", "send-mail", "Send an email message to a contact", |d| {
            d.options.permissions = vec!["role(trusted)".into()];
        })
        .shaped(".", "secret-door", "Open the weather door", |d| d.options.hidden = true)
        .skill("maps", "trip", &["get-weather"], |_| {})
}

fn names(data: &serde_json::Map<String, Value>) -> Vec<String> {
    let items = data["items"].as_array().cloned().unwrap_or_default();
    items.iter().map(|i| i["name"].as_str().unwrap_or_default().to_string()).collect()
}

fn look(c: &Controller, query: &str, kind: DiscoverKind, limit: usize) -> plugin_sdk::ToolResult {
    c.discover(&DiscoverQuery { query: query.into(), kind, mcp_server: None, limit: Some(limit) }).unwrap()
}

#[test]
fn an_empty_query_lists_by_name_skills_first() {
    let c = world().controller(&ann(), &LoadedSnapshot::default());
    let r = look(&c, "", DiscoverKind::All, 20);
    assert_eq!(names(&r.data), ["maps__trip", "context_read", "context_search", "maps__get-weather", "maps__route"]);
    assert_eq!(r.data["omitted"], 0);
    let r = look(&c, "", DiscoverKind::All, 1);
    assert_eq!(r.data["omitted"], 4);
}

#[test]
fn hits_are_lines_and_hidden_or_refused_tools_are_not_there() {
    let c = world().controller(&ann(), &LoadedSnapshot::default());
    let r = look(&c, "weather in paris", DiscoverKind::Tool, 5);
    assert_eq!(r.model_content(), "- [tool] maps__get-weather: Get the current weather for a city");
    assert_eq!(r.data["items"][0]["loaded"], false);
    assert_eq!(r.data["items"][0]["mcp_server"], Value::Null);
    assert!(names(&look(&c, "send email", DiscoverKind::All, 5).data).is_empty());
    let trusted = facts("1", Role::Trusted, Scope::Private);
    let c = world().controller(&trusted, &LoadedSnapshot::default());
    assert_eq!(names(&look(&c, "send email", DiscoverKind::All, 5).data), ["mail__send-mail"]);
}

#[test]
fn nothing_found_is_a_success_and_an_unknown_server_is_not() {
    let c = world().controller(&ann(), &LoadedSnapshot::default());
    let r = look(&c, "quarterly tax return", DiscoverKind::All, 5);
    assert!(!r.is_error && r.model_content().starts_with("Nothing found"));
    let e = c.discover(&DiscoverQuery { mcp_server: Some("time".into()), ..DiscoverQuery::default() }).unwrap_err();
    assert_eq!(e.code, "NOT_FOUND");
}

#[test]
fn tool_search_loads_its_hits_and_its_form_has_no_discover() {
    let world = world().configured(|b| b.agent.deferred_tools.form = DeferredForm::ToolSearch);
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    let list: Vec<String> = c.begin_step().iter().map(|t| t.wire.to_string()).collect();
    assert_eq!(list, ["ask_user", "tool_search", "load_skill"]);
    let ask = |queries: &[&str], groups: Option<Vec<String>>| {
        let queries = queries.iter().map(|q| q.to_string()).collect();
        c.tool_search(&ToolSearchQuery { queries, include_groups: groups }, "c1").unwrap()
    };
    let r = ask(&["weather in paris", "tell me a joke", "current weather"], None);
    let tools: Vec<&Value> = r.data["selections"].as_array().unwrap().iter().map(|s| &s["tool"]).collect();
    assert_eq!(tools, ["maps__get-weather".into(), Value::Null, "maps__get-weather".into()].iter().collect::<Vec<_>>());
    assert_eq!(r.data["tools"].as_array().unwrap().len(), 1);
    assert_eq!(r.model_content(), Value::Object(r.data.clone()).to_string());
    assert!(c.may_call("maps__get-weather").is_err());
    assert_eq!(c.begin_step().last().unwrap().wire.as_ref(), "maps__get-weather");
    assert!(c.may_call("maps__get-weather").is_ok());
    assert_eq!(ask(&["find the way"], Some(vec![])).data["selections"][0]["tool"], Value::Null);
    assert_eq!(ask(&["find the way"], Some(vec!["maps".into()])).data["selections"][0]["tool"], "maps__route");
}
