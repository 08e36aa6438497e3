use crate::catalog::{Controller, Refused};
use crate::session::LoadedSnapshot;
use crate::tools::testing::{World, ann};
use plugin_sdk::{ToolError, ToolResult};
use serde_json::{Value, json};
use std::collections::HashSet;

fn many(n: usize) -> World {
    (1..=n).fold(World::new(), |w, i| w.tool("lab", &format!("t{i:02}"), &format!("Tool number {i}")))
}

fn listed(c: &Controller) -> Vec<String> {
    c.begin_step().iter().map(|t| t.wire.to_string()).filter(|n| n.contains("__")).collect()
}

fn load(c: &Controller, name: &str) -> ToolResult {
    c.load_tool(name, "c").unwrap()
}

fn reason(e: ToolError) -> Value {
    assert_eq!(e.code, "TOOL_NOT_ALLOWED");
    e.details["reason"].clone()
}

#[test]
fn a_load_counts_from_the_next_step() {
    let c = many(2).controller(&ann(), &LoadedSnapshot::default());
    let first: Vec<String> = c.begin_step().iter().map(|t| t.wire.to_string()).collect();
    assert_eq!(first, ["ask_user", "discover", "load_tool", "load_skill"]);
    assert_eq!(load(&c, "t01").data, *json!({"loaded": "lab__t01", "evicted": []}).as_object().unwrap());
    assert!(matches!(c.may_call("lab__t01"), Err(Refused::NotLoaded(..))));
    assert_eq!(listed(&c), ["lab__t01"]);
    assert!(c.may_call("lab__t01").is_ok());
    assert!(load(&c, "lab__t01").model_content().starts_with("Already loaded"));
}

#[test]
fn the_thirteenth_load_evicts_the_least_recently_used_and_says_so() {
    let c = many(13).controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    (1..=12).for_each(|i| drop(load(&c, &format!("t{i:02}"))));
    c.begin_step();
    c.touch("lab__t01");
    let r = load(&c, "t13");
    assert_eq!(r.data["evicted"], json!(["lab__t02"]));
    assert!(r.model_content().contains("evicted: lab__t02; load it again when needed"));
    assert!(matches!(c.may_call("lab__t02"), Err(Refused::NotLoaded(..))));
    let list = listed(&c);
    assert_eq!(
        (list.len(), list.first().unwrap().as_str(), list.last().unwrap().as_str()),
        (12, "lab__t01", "lab__t13")
    );
    // always-loaded ones are not counted and never leave
    assert!(c.may_call("ask_user").is_ok());
}

#[test]
fn loads_of_the_step_in_progress_leave_last() {
    let world = many(4).configured(|b| b.agent.deferred_tools.max_loaded_per_session = 2);
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    load(&c, "t01");
    c.begin_step();
    load(&c, "t02");
    c.touch("lab__t01");
    assert_eq!(load(&c, "t03").data["evicted"], json!(["lab__t01"]));
}

#[test]
fn a_skill_larger_than_the_cap_loads_twelve_and_names_two() {
    let names: Vec<String> = (1..=14).map(|i| format!("t{i:02}")).collect();
    let tools: Vec<&str> = names.iter().map(String::as_str).collect();
    let c = many(14).skill("lab", "big", &tools, |_| {}).controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    let r = c.load_skill("big", "c").unwrap();
    assert_eq!(r.data["unlocked"].as_array().unwrap().len(), 12);
    let text = r.model_content();
    assert!(text.starts_with("Text of big.") && text.contains("lab__t13, lab__t14"), "{text}");
    assert_eq!(listed(&c).len(), 12);
}

#[test]
fn a_group_leaves_whole() {
    let world = many(3)
        .private("lab", "pair", "left")
        .private("lab", "pair", "right")
        .skill("lab", "pair", &[], |_| {})
        .configured(|b| b.agent.deferred_tools.max_loaded_per_session = 4);
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    assert!(matches!(c.may_call("lab__skill__pair__left"), Err(Refused::NotLoaded(..))));
    c.load_skill("pair", "c").unwrap();
    c.begin_step();
    assert!(c.may_call("lab__skill__pair__left").is_ok());
    load(&c, "t01");
    load(&c, "t02");
    let r = load(&c, "t03");
    assert_eq!(r.data["evicted"], json!(["lab__skill__pair__left", "lab__skill__pair__right", "lab__pair"]));
    assert_eq!(listed(&c), ["lab__t01", "lab__t02", "lab__t03"]);
}

#[test]
fn a_tool_in_two_groups_leaves_with_the_last() {
    let world = many(2)
        .skill("lab", "one", &["t01"], |_| {})
        .skill("lab", "two", &["t01", "t02"], |_| {})
        .configured(|b| b.agent.deferred_tools.max_skills_per_session = 1);
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    c.load_skill("one", "c").unwrap();
    let r = c.load_skill("two", "c").unwrap();
    assert_eq!(r.data["evicted"], json!(["lab__one"]));
    assert_eq!(listed(&c), ["lab__t01", "lab__t02"]);
}

#[test]
fn refusals_have_their_reason() {
    let world = many(1)
        .shaped(".", "ghost", "Hidden", |d| d.options.hidden = true)
        .shaped(".", "safe", "For masters", |d| d.options.permissions = vec!["role(master)".into()])
        .tool("a", "same", "One")
        .tool("b", "same", "Two")
        .skill("lab", "trip", &[], |_| {});
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    assert!(matches!(c.may_call("ghost"), Err(Refused::NotListed(_))));
    assert!(matches!(c.may_call("safe"), Err(Refused::NotAdmitted(_))));
    assert!(matches!(c.may_call("old-tool"), Err(Refused::Gone(_))));
    let Err(Refused::Unknown { nearest, .. }) = c.may_call("lab__t1") else { panic!("known") };
    assert_eq!(nearest, ["lab__t01"]);
    assert_eq!(reason(c.load_tool("safe", "c").unwrap_err()), "not_admitted");
    assert_eq!(reason(c.load_tool("old-tool", "c").unwrap_err()), "gone");
    assert_eq!(c.load_tool("ghost", "c").unwrap_err().code, "NOT_FOUND");
    let several = c.load_tool("same", "c").unwrap_err();
    assert_eq!(several.details["names"], json!(["a__same", "b__same"]));
    assert!(c.load_tool("trip", "c").unwrap_err().help.unwrap().contains("load_skill"));
    let missing = c.load_skill("trap", "c").unwrap_err();
    assert_eq!((missing.code.as_str(), missing.retryable), ("SKILL_NOT_FOUND", true));
}

#[test]
fn only_a_result_that_stays_good_changes_the_set() {
    let c = many(2).controller(&ann(), &LoadedSnapshot::default());
    c.begin_step();
    c.load_tool("t01", "bad").unwrap();
    c.load_tool("t02", "good").unwrap();
    c.settle(&HashSet::from(["bad".to_string()]));
    assert_eq!(listed(&c), ["lab__t02"]);
}

#[test]
fn everything_is_sent_below_the_limit_and_the_cap_is_off() {
    let world = many(14).configured(|b| b.agent.deferred_tools.load_all_below_chars = 100_000);
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    assert_eq!(listed(&c).len(), 14);
    assert!(c.may_call("lab__t14").is_ok());
    let world = many(14).configured(|b| b.agent.deferred_tools.load_all_below_chars = 10);
    assert_eq!(listed(&world.controller(&ann(), &LoadedSnapshot::default())).len(), 0);
}

#[test]
fn allowed_and_always_loaded_tools_follow_the_configured_ones() {
    let world = many(2).shaped("lab", "b-always", "Always here", |d| d.options.always_loaded = true).configured(|b| {
        b.tools.allow = Some(vec!["lab__t02".into()]);
        b.agent.deferred_tools.always_loaded_tools =
            Some(vec!["load_tool".into(), "lab__t01".into(), "discover".into()]);
    });
    let c = world.controller(&ann(), &LoadedSnapshot::default());
    let list: Vec<String> = c.begin_step().iter().map(|t| t.wire.to_string()).collect();
    assert_eq!(list, ["load_tool", "lab__t01", "discover", "lab__b-always", "lab__t02"]);
}

#[test]
fn an_always_skill_unlocks_its_tools_from_the_start() {
    let c = many(1)
        .private("lab", "house", "door")
        .skill("lab", "house", &["t01"], |s| s.always = true)
        .controller(&ann(), &LoadedSnapshot::default());
    assert_eq!(listed(&c), ["lab__skill__house__door", "lab__t01"]);
}
