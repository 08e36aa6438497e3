use crate::session::LoadedSnapshot;
use crate::tools::testing::{World, facts};
use plugin_sdk::{Role, Scope};
use serde_json::json;

fn world(schema: serde_json::Value) -> World {
    World::new().shaped("lab", "open", "Open to all", |d| d.input_schema = schema).shaped(
        "lab",
        "closed",
        "For trusted people",
        |d| d.options.permissions = vec!["role(trusted)".into()],
    )
}

fn plain() -> serde_json::Value {
    json!({"type": "object", "properties": {}})
}

fn wires(c: &crate::catalog::Controller) -> Vec<String> {
    c.begin_step().iter().map(|t| t.wire.to_string()).filter(|n| n.contains("__")).collect()
}

#[test]
fn another_persons_turn_neither_shows_nor_drops_what_a_member_loaded() {
    let (ann, bo) = (facts("1", Role::Trusted, Scope::Group), facts("2", Role::User, Scope::Group));
    let world = world(plain());
    let c = world.controller(&ann, &LoadedSnapshot::default());
    c.begin_step();
    c.load_tool("closed", "c").unwrap();
    let stored = LoadedSnapshot::default().merged(&c.snapshot().0, &c.snapshot().1);

    let c = world.controller(&bo, &stored);
    assert!(wires(&c).is_empty());
    c.load_tool("open", "c").unwrap();
    let (turn, dropped) = c.snapshot();
    assert!(dropped.is_empty());
    let stored = stored.merged(&turn, &dropped);

    let c = world.controller(&ann, &stored);
    assert_eq!(wires(&c), ["lab__closed", "lab__open"]);
    assert!(c.notices().is_empty());
}

#[test]
fn a_changed_schema_and_a_tool_that_is_gone_drop_with_a_notice() {
    let ann = facts("1", Role::Trusted, Scope::Private);
    let c = world(plain()).controller(&ann, &LoadedSnapshot::default());
    c.begin_step();
    c.load_tool("open", "c").unwrap();
    c.load_tool("closed", "c").unwrap();
    let (stored, _) = c.snapshot();

    let changed = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let next = World::new().shaped("lab", "open", "Open to all", |d| d.input_schema = changed);
    let c = next.controller(&ann, &stored);
    assert_eq!(c.notices().len(), 2);
    assert!(c.notices().iter().any(|n| n.contains("lab__open changed")));
    assert!(c.notices().iter().any(|n| n.contains("lab__closed is no longer available")));
    let (turn, dropped) = c.snapshot();
    assert!(stored.merged(&turn, &dropped).tools.is_empty());
}

#[test]
fn a_skill_that_is_gone_locks_its_tools() {
    let ann = facts("1", Role::User, Scope::Private);
    let with = World::new().tool("lab", "open", "Open").skill("lab", "trip", &["open"], |_| {});
    let c = with.controller(&ann, &LoadedSnapshot::default());
    c.begin_step();
    c.load_skill("trip", "c").unwrap();
    let (stored, _) = c.snapshot();
    assert_eq!(wires(&with.controller(&ann, &stored)), ["lab__open"]);
    let without = World::new().tool("lab", "open", "Open");
    let c = without.controller(&ann, &stored);
    assert!(wires(&c).is_empty());
    assert!(c.notices()[0].contains("lab__trip"));
}

#[test]
fn sessions_do_not_see_each_others_loads() {
    let ann = facts("1", Role::User, Scope::Private);
    let world = world(plain());
    let indexes = world.build();
    let one = world.controller_of(indexes.clone(), &ann, &LoadedSnapshot::default());
    let two = world.controller_of(indexes, &ann, &LoadedSnapshot::default());
    one.begin_step();
    one.load_tool("open", "c").unwrap();
    assert_eq!(wires(&one), ["lab__open"]);
    assert!(wires(&two).is_empty());
}

#[test]
fn a_change_is_for_those_to_hear_who_may_use_the_tool() {
    let (ann, bo) = (facts("1", Role::Trusted, Scope::Group), facts("2", Role::User, Scope::Group));
    let closed = |schema: serde_json::Value| {
        World::new().shaped("lab", "closed", "For trusted people", |d| {
            d.options.permissions = vec!["role(trusted)".into()];
            d.input_schema = schema;
        })
    };
    let c = closed(plain()).controller(&ann, &LoadedSnapshot::default());
    c.begin_step();
    c.load_tool("closed", "c").unwrap();
    let (stored, _) = c.snapshot();
    let changed = closed(json!({"type": "object", "properties": {"x": {"type": "string"}}}));
    let c = changed.controller(&bo, &stored);
    assert!(c.notices().is_empty());
    let (turn, dropped) = c.snapshot();
    let stored = stored.merged(&turn, &dropped);
    let c = changed.controller(&ann, &stored);
    assert!(c.notices()[0].contains("lab__closed changed"));
    assert!(wires(&c).is_empty());
}

#[test]
fn an_always_skill_that_changed_comes_back_without_a_word() {
    let ann = facts("1", Role::User, Scope::Private);
    let with = |text: &str| {
        World::new().tool("lab", "open", "Open").skill("lab", "house", &["open"], |s| {
            s.always = true;
            s.body = text.into();
        })
    };
    let (stored, _) = with("one").controller(&ann, &LoadedSnapshot::default()).snapshot();
    let c = with("two").controller(&ann, &stored);
    assert!(c.notices().is_empty());
    assert_eq!(wires(&c), ["lab__open"]);
}
