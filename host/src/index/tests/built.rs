use super::*;
use crate::config::BotConfig;
use crate::loader::{Audience, Layer, Retention, SectionSource, SkillSource};
use plugin_sdk::Severity;

fn skill(owner: &str, name: &str, tools: &[&str]) -> SkillSource {
    let list: Vec<String> = tools.iter().map(|t| format!("\"{t}\"")).collect();
    let text = format!("description = \"d\"\ntools = [{}]\n", list.join(", "));
    SkillSource {
        name: name.into(),
        placement: Placement::Plugin,
        description: "Plan a trip".into(),
        body: "1. Ask.".into(),
        tools: tools.iter().map(|t| (*t).to_string()).collect(),
        audience: Audience::default(),
        keywords: vec!["旅行".into()],
        tags: Vec::new(),
        always: false,
        metadata: Map::new(),
        place: place(owner, &format!("skill {name}"), &format!("{owner}/skills/{name}/SKILL.md"), &text),
        workspace: false,
    }
}

fn section(owner: &str, name: &str, retention: Retention, body: &str) -> SectionSource {
    SectionSource {
        name: name.into(),
        title: "T".into(),
        layer: Layer::Context,
        order: 50,
        retention,
        max_chars: None,
        profiles: vec!["interactive".into()],
        platforms: Vec::new(),
        body: body.into(),
        place: place(
            owner,
            &format!("section {name}"),
            &format!("{owner}/{name}/SECTION.md"),
            "retention = \"x\"\nmax_chars = 1\n",
        ),
    }
}

struct Bot(BotConfig, Arc<Doc>);

fn bot(text: &str) -> Bot {
    let doc = Doc::parse_toml("bot", "bot.toml", text).unwrap();
    Bot(serde_json::from_value(doc.root.value()).unwrap(), Arc::new(doc))
}

fn parts(bot: &Bot) -> Parts<'_> {
    let host = [
        builtin("discover", "capabilities = []"),
        builtin("load_tool", "capabilities = []"),
        builtin("load_skill", "capabilities = [\"read\"]"),
        builtin("ask_user", "aliases = [\"ask_question\"]"),
    ];
    Parts {
        contributions: host.into_iter().chain([tool("maps", "get-weather", "")]).collect(),
        left_out: Vec::new(),
        inactive: Vec::new(),
        skills: Vec::new(),
        sections: Vec::new(),
        agents: Vec::new(),
        hooks: Vec::new(),
        commands: Vec::new(),
        agents_md: Vec::new(),
        bot: &bot.0,
        bot_doc: Some(bot.1.clone()),
    }
}

fn found(bot: &Bot, edit: impl FnOnce(&mut Parts<'_>)) -> Vec<String> {
    let mut parts = parts(bot);
    edit(&mut parts);
    let (indexes, found) = build(parts);
    assert_eq!(indexes.is_none(), found.iter().any(Diagnostic::is_error));
    places(&found)
}

#[test]
fn a_sound_tree_has_no_findings_and_a_fixed_order() {
    let bot = bot("");
    let built = |flip: bool| {
        let mut p = parts(&bot);
        p.skills = vec![skill("maps", "trip", &["get-weather", "ask_question"])];
        if flip {
            p.contributions.reverse();
        }
        let (indexes, found) = build(p);
        assert!(found.is_empty(), "{found:?}");
        indexes.unwrap()
    };
    let (one, other) = (built(false), built(true));
    let order = |i: &Indexes| i.tools.tools().iter().map(|t| t.wire.to_string()).collect::<Vec<_>>();
    assert_eq!(order(&one), order(&other));
    assert_eq!(order(&one), ["ask_user", "discover", "load_skill", "load_tool", "maps__get-weather"]);
    let always: Vec<bool> = one.tools.tools().iter().map(|t| t.always).collect();
    assert_eq!(always, [true, true, true, true, false]);
    let trip = one.skill("maps__trip").unwrap();
    let unlocks: Vec<&str> = trip.unlocks.iter().map(|id| &*one.tools.by_id(*id).unwrap().qualified).collect();
    assert_eq!(unlocks, ["maps__get-weather", "ask_user"]);
    let hits = one.ranking.search("旅行", |_| true, 5);
    assert_eq!(one.ranking.item(hits[0].0).unwrap().kind, ItemKind::Skill);
    assert_eq!(one.tools.get("ask_question").unwrap().id, one.tools.get("ask_user").unwrap().id);
}

#[test]
fn unknown_names_of_bot_toml() {
    let text = r#"[tools]
allow = ["maps__get-wether"]
deny = ["maps__get-weather", "nope"]
disabled = ["maps__left"]
[tools.override."maps__get-wether"]
approval = "deny"
[tools.override."mpc__time__*"]
approval = "deny"
[tools.override."maps__*"]
approval = "deny"
[tools.override."off__x"]
approval = "deny"
"#;
    let bot = bot(text);
    let mut p = parts(&bot);
    p.left_out = vec!["maps__left".into()];
    p.inactive = vec![OwnerPath::new("off")];
    let (indexes, found) = build(p);
    assert!(indexes.is_none());
    let at = |place: &str| format!("tools::unknown-name bot.toml:{place}");
    assert_eq!(places(&found), [at("2:10"), at("3:30"), at("5:17"), at("7:17"), at("11:17")]);
    assert_eq!(found[0].help.as_deref(), Some("did you mean `maps__get-weather`?"));
    let severity: Vec<Severity> = found.iter().map(|d| d.severity).collect();
    assert_eq!(severity[4], Severity::Warning);
    assert!(severity[..4].iter().all(|s| *s == Severity::Error));
}

#[test]
fn always_loaded_lists() {
    let b =
        bot("[agent.deferred_tools]\nalways_loaded_tools = [\"ask_user\", \"load_tool\", \"web_fetch\", \"gone\"]\n");
    assert_eq!(found(&b, |_| {}), ["tools::always-loaded-off bot.toml:2:49", "deferred::unknown-tool bot.toml:2:62"]);
    let unreachable = ["deferred::unreachable bot.toml:2:23"];
    assert_eq!(found(&bot("[agent.deferred_tools]\nalways_loaded_tools = [\"ask_user\"]\n"), |_| {}), unreachable);
    assert_eq!(found(&bot("[tools]\ndisabled = [\"load_tool\"]\n"), |_| {}), ["deferred::unreachable bot.toml"]);
    assert_eq!(found(&bot("[tools]\ndisabled = [\"load_tool\"]\nallow = [\"maps__get-weather\"]\n"), |_| {}), [""; 0]);
    let search = bot("[agent.deferred_tools]\nform = \"tool_search\"\nalways_loaded_tools = [\"discover\"]\n");
    assert_eq!(found(&search, |p| p.contributions.push(builtin("tool_search", ""))), [""; 0]);
}

#[test]
fn skills_and_what_they_unlock() {
    let b = bot("");
    let add = |s: SkillSource| move |p: &mut Parts<'_>| p.skills.push(s);
    assert_eq!(
        found(&b, add(skill("maps", "trip", &["get-weather", "gone"]))),
        ["skill::unknown-tool maps/skills/trip/SKILL.md:2:25"]
    );
    let left = |p: &mut Parts<'_>| {
        p.skills.push(skill("maps", "trip", &["left"]));
        p.left_out.push("maps__left".into());
    };
    assert_eq!(found(&b, left), [""; 0]);
    let mut permit = skill("maps", "trip", &[]);
    permit.audience.permissions = vec!["rol(master)".into()];
    assert_eq!(found(&b, add(permit)), ["permit::unknown maps/skills/trip/SKILL.md"]);
    let twice = |p: &mut Parts<'_>| p.skills = vec![skill("a__b", "c", &[]), skill("a/b", "c", &[])];
    assert_eq!(found(&b, twice), ["name::collision a__b/skills/c/SKILL.md"]);
}

#[test]
fn a_broken_workspace_skill_never_refuses() {
    let b = bot("[agent.skills]\nenabled = true\nrequire = [\"trip\", \"broken\"]\n");
    let workspace = |name: &str, tools: &[&str]| SkillSource { workspace: true, ..skill(".", name, tools) };
    let mut p = parts(&b);
    p.skills = vec![workspace("trip", &[]), workspace("broken", &["gone"])];
    let (_, all) = build(p);
    let required = "skill::required-missing bot.toml:3:20";
    assert_eq!(places(&all), ["skill::unknown-tool ./skills/broken/SKILL.md:2:10", required]);
    assert_eq!(all[0].severity, Severity::Warning);
}

#[test]
fn required_sections_that_cannot_fit() {
    let b = bot("[agent]\nsystem_prompt_max_chars = 100\n");
    let with = |list: Vec<SectionSource>| move |p: &mut Parts<'_>| p.sections = list;
    use Retention::Required;
    // "## T", a line break and the body: 95 + 5 = 100
    let exactly = section("a", "s", Required, &"x".repeat(95));
    assert_eq!(found(&b, with(vec![exactly.clone()])), [""; 0]);
    let more = section("a", "t", Required, "x");
    assert_eq!(
        found(&b, with(vec![exactly.clone(), more.clone()])),
        ["section::required-overflow a/s/SECTION.md:1:13"]
    );
    let mut elsewhere = (exactly, more);
    elsewhere.0.platforms = vec!["telegram".into()];
    elsewhere.1.platforms = vec!["discord".into()];
    assert_eq!(found(&b, with(vec![elsewhere.0, elsewhere.1])), [""; 0]);
}

#[test]
fn command_words() {
    let b = bot("");
    let with = |list: Vec<Contribution>| move |p: &mut Parts<'_>| p.contributions.extend(list);
    let reserved = tool("a", "x", "command = { name = \"Help\" }");
    assert_eq!(found(&b, with(vec![reserved])), ["command::reserved a/x/tool.toml:1:20"]);
    let (one, two) = (tool("a", "get-it", "command = {}"), tool("b", "y", "command = { aliases = [\"Get_It\"] }"));
    assert_eq!(found(&b, with(vec![one, two])), ["command::duplicate-name b/y/tool.toml:1:24"]);
    let mut p = parts(&b);
    p.contributions.push(tool("a", "get-it", "command = { aliases = [\"g\"] }"));
    let indexes = build(p).0.unwrap();
    assert_eq!(indexes.command("GET_IT").unwrap().qualified, "a__get-it");
    assert!(indexes.command("g").is_some() && indexes.command("h").is_none());
}
