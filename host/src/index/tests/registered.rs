use super::*;
use proptest::prelude::*;

#[test]
fn collisions_name_both_owners_and_files() {
    let found = refused([tool("a", "b__c", ""), tool("a/b", "c", "")]);
    assert_eq!(places(&found), ["name::collision a/b/c/tool.toml"]);
    let d = &found[0];
    assert!(d.message.contains("`b__c` of owner `a`") && d.message.contains("`c` of owner `a/b`"), "{}", d.message);
    assert_eq!(d.related[0].file, "a/b__c/tool.toml");
    let agent = tool_at(".", "t", Placement::Agent("x".into()), "");
    assert_eq!(refused([agent, tool("agent/x", "t", "")])[0].code, "name::collision");
    let alias = tool("a", "d", "aliases = [\"b__c\"]");
    assert_eq!(places(&refused([tool("a/b", "c", ""), alias])), ["name::collision a/d/tool.toml:1:12"]);
}

#[test]
fn duplicates_and_reserved_names() {
    assert_eq!(refused([tool("a", "x", ""), tool("a", "y", "aliases = [\"x\"]")])[0].code, "tool::duplicate-name");
    assert_eq!(refused([tool("a", "x", "aliases = [\"x\"]")])[0].code, "tool::duplicate-name");
    assert_eq!(refused([tool("a", "x", ""), tool("a", "x", "")])[0].code, "tool::duplicate-name");
    for name in RESERVED {
        assert_eq!(refused([tool(".", name, "")])[0].code, "tool::reserved-name", "{name}");
    }
    assert_eq!(
        places(&refused([tool(".", "q", "aliases = [\"ask_question\"]")])),
        ["tool::reserved-name ./q/tool.toml:1:12"]
    );
    registry([tool("a", "read_file", ""), builtin("ask_user", "aliases = [\"ask_question\"]")]);
    // equal local names in different placements are legal
    let check = |p| tool_at(".", "check-result", p, "");
    let index =
        registry([check(Placement::Agent("rev".into())), check(Placement::AgentSkill("rev".into(), "audit".into()))])
            .seal();
    let both = ["agent__rev__check-result", "agent__rev__skill__audit__check-result"].map(String::from).to_vec();
    assert_eq!(
        index.resolve("check-result").unwrap_err(),
        NameError::Ambiguous { name: "check-result".into(), qualified: both }
    );
    assert_eq!(&*index.resolve("skill__audit__check-result").map_or("none".into(), |t| t.qualified.clone()), "none");
}

#[test]
fn faults_of_one_tool_stand_where_they_are() {
    let text = r#"permissions = ["rol(master)"]
preset = { unit = "metric", days = "two" }
command = { argument = "days" }
[[examples]]
input = { city = 5 }
[input_schema]
type = "object"
required = ["city"]
[input_schema.properties]
city = { type = "string" }
units = { type = "string" }
days = { type = "integer" }
"#;
    let mut found = refused([tool("maps", "get-weather", text)]);
    found.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let at = |code: &str, place: &str| format!("{code} maps/get-weather/tool.toml:{place}");
    assert_eq!(
        places(&found),
        [
            at("permit::unknown", "1:16"),
            at("tool::preset-unknown", "2:12"),
            at("tool::preset-invalid", "2:36"),
            at("tool::command-arguments", "3:1"),
            at("tool::command-arguments", "3:24"),
            at("tool::bad-example", "5:18"),
        ]
    );
    assert!(found.iter().all(|d| d.owner.as_deref() == Some("maps") && d.item.as_deref() == Some("tool get-weather")));
    assert_eq!(found[1].help.as_deref(), Some("did you mean `units`?"));
    let short = "[input]\ncity = { type = \"strng\" }\n";
    let mut bad = tool("maps", "w", short);
    bad.schema_pointer = "/input".into();
    bad.def.input_schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "strng"}}});
    assert_eq!(places(&refused([bad])), ["tool::bad-value maps/w/tool.toml:2:17"]);
}

#[test]
fn a_chat_command_needs_what_it_can_fill() {
    let with = |command: &str, input: &str| {
        tool("a", "x", &format!("command = {command}\n[input_schema]\ntype = \"object\"\n{input}"))
    };
    let city = "required = [\"city\"]\nproperties = { city = { type = \"string\" } }\n";
    registry([with("{ argument = \"city\" }", city)]);
    registry([with("{}", "")]);
    assert_eq!(refused([with("{}", city)])[0].code, "tool::command-arguments");
    assert_eq!(
        refused([with("{ argument = \"cty\" }", "properties = { city = { type = \"string\" } }\n")])[0].code,
        "tool::command-arguments"
    );
}

#[test]
fn all_or_none() {
    let mut r = registry([tool(".", "a", "")]);
    let error =
        r.register_many([tool(".", "b", ""), tool(".", "c", ""), tool(".", "d", "aliases = [\"a\"]")]).unwrap_err();
    assert_eq!(error.len(), 1);
    assert!(error[0].message.contains("`a`"));
    assert_eq!(r.view(ViewFilter::default()).available_tools().len(), 1);
    r.register_many([tool(".", "b", ""), tool(".", "d", "")]).unwrap();
    let missing = r.get("bb").unwrap_err();
    assert_eq!(missing.nearest, ["b"]);
    assert_eq!(r.seal().tools().len(), 3);
}

#[test]
fn views_by_filter() {
    let index = registry([
        tool(".", "add", "group = \"math\"\ntags = [\"sum\"]"),
        tool(".", "half", "group = \"math\"\nalways_loaded = true"),
        tool(".", "deep", "group = \"math/more\""),
        tool(".", "other", ""),
        tool(".", "secret", "hidden = true\ngroup = \"math\""),
    ])
    .seal();
    let view = index.view(ViewFilter::default().include_groups(["math"]).allow(["other"]).deny(["deep", "nope"]));
    let names = |l: Vec<&Tool>| l.iter().map(|t| t.qualified.to_string()).collect::<Vec<_>>();
    assert_eq!(names(view.available_tools()), ["add", "half", "other"]);
    assert_eq!(names(view.active_tools()), ["half", "other"]);
    assert_eq!(view.unknown_names(), ["nope"]);
    assert_eq!(names(view.search_deferred("sum", SearchOptions::default()).unwrap()), ["add"]);
    assert!(view.get("deep").is_ok() && view.get("secret").is_ok());
    assert_eq!(view.specs_for(&["add"]).unwrap()[0].name, "add");
    assert!(view.specs_for(&["ad"]).unwrap_err().nearest.contains(&"add".to_string()));
    assert_eq!(view.search_deferred(" ", SearchOptions::default()).unwrap_err().code, "VALIDATION_ERROR");
    let none = SearchOptions { include_groups: Some(Vec::new()), ..SearchOptions::default() };
    assert!(view.search_deferred("sum", none).unwrap().is_empty());
    drop(index);
    assert_eq!(view.active_specs().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn a_view_is_equal_before_and_after_sealing(
        tools in proptest::collection::vec((0..3usize, any::<bool>(), any::<bool>(), 0..4usize), 1..8),
        groups in proptest::option::of(proptest::collection::vec(0..3usize, 0..3)),
        allow in proptest::option::of(proptest::collection::vec(0..8usize, 0..3)),
        deny in proptest::option::of(proptest::collection::vec(0..8usize, 0..3)),
    ) {
        const GROUPS: [&str; 3] = ["core", "math", "math/more"];
        const WORDS: [&str; 4] = ["weather city", "send mail", "向量 检索", "draw a card"];
        let tools = tools.iter().enumerate().map(|(i, (g, always, hidden, w))| {
            let text = format!("group = \"{}\"\nalways_loaded = {always}\nhidden = {hidden}\ndescription = \"{}\"", GROUPS[*g], WORDS[*w]);
            tool("maps", &format!("t{i}"), &text)
        });
        let registry = registry(tools);
        let names = |l: &Vec<usize>| l.iter().map(|i| format!("maps__t{i}")).collect::<Vec<_>>();
        let mut filter = ViewFilter::default();
        if let Some(g) = &groups { filter = filter.include_groups(g.iter().map(|i| GROUPS[*i])); }
        if let Some(a) = &allow { filter = filter.allow(names(a)); }
        if let Some(d) = &deny { filter = filter.deny(names(d)); }
        let seen = |v: &ToolView<'_>| {
            let q = |l: Vec<&Tool>| l.iter().map(|t| t.qualified.to_string()).collect::<Vec<_>>();
            let hits: Vec<_> = WORDS.iter().map(|w| q(v.search_deferred(w, SearchOptions::default()).unwrap())).collect();
            (q(v.available_tools()), q(v.active_tools()), v.active_specs(), hits)
        };
        let before = seen(&registry.view(filter.clone()));
        prop_assert_eq!(before, seen(&registry.clone().seal().view(filter)));
    }
}
