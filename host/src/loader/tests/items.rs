//! Agents, hooks and commands of folders.

use super::*;
use plugin_sdk::HookEventKind;

const AGENT: &str = r#"{ "name": "Reviewer", "version": "1.0.0", "description": "Checks a draft" }"#;
const RUN: &str = "run = { command = [\"cat\"] }\n";

/// A bot with the three texts of an agent and its manifest.
fn agent(name: &str, manifest: &str) -> Bot {
    let bot = Bot::new();
    for file in ["system", "boundaries", "conventions"] {
        bot.file(&format!("agents/{name}/{file}.md"), format!("The {file}.\n"));
    }
    bot.file(&format!("agents/{name}/agent.json"), manifest);
    bot
}

#[test]
fn an_agent_is_its_texts_in_order() {
    let bot = agent("rev", AGENT);
    bot.file("agents/rev/workflows/b.md", "B").file("agents/rev/workflows/a.txt", "A");
    bot.file("agents/rev/knowledge/k.csv", "a;b").file("agents/rev/knowledge/blank.md", " \n");
    bot.file("agents/rev/knowledge/x.pdf", "%PDF").file("agents/rev/knowledge/deep/y.md", "Y");
    let tree = bot.scan();
    let agent = &plugin(&tree, ".").agents[0];
    let files = |list: &[AgentText]| list.iter().map(|t| t.file.clone()).collect::<Vec<_>>();
    assert_eq!(files(&agent.entry_points), ["system.md", "boundaries.md", "conventions.md"]);
    assert_eq!(files(&agent.workflows), ["workflows/a.txt", "workflows/b.md"]);
    assert_eq!(files(&agent.knowledge), ["knowledge/k.csv"]);
    assert!(agent.platforms.is_empty() && agent.auto_select && agent.limits.steps().is_none());
    assert_eq!(
        bot.found(),
        ["layout::misplaced agents/rev/knowledge/deep", "layout::misplaced agents/rev/knowledge/x.pdf"]
    );
}

#[test]
fn a_folder_named_like_a_platform_serves_it() {
    for (name, written, expected) in [
        ("telegram", "", vec!["telegram"]),
        ("telegram", r#", "platforms": []"#, vec![]),
        ("web", r#", "platforms": ["discord"]"#, vec!["discord"]),
        ("guide", "", vec![]),
    ] {
        let manifest = AGENT.replace(" }", &format!("{written} }}"));
        let tree = agent(name, &manifest).scan();
        assert_eq!(plugin(&tree, ".").agents[0].platforms, expected, "{name}{written}");
    }
}

#[test]
fn what_is_wrong_with_an_agent() {
    let bot = agent(
        "rev",
        r#"{ "name": " ", "version": "one", "entry_points": ["system.md", "../x.md", "more.md"],
  "workspace": "/elsewhere", "max_iterations": 0, "effort": "huge", "plattforms": [] }"#,
    );
    bot.file("agents/rev/boundaries.md", "\n").file("agents/rev/System.md", "x").file("AGENTS.md", "Be kind.");
    std::fs::remove_file(bot.path("agents/rev/system.md")).unwrap();
    assert_eq!(
        bot.found(),
        [
            "agent::missing-key agents/rev/agent.json:1:1",
            "agent::bad-value agents/rev/agent.json:1:11",
            "agent::bad-value agents/rev/agent.json:1:27",
            "agent::bad-value agents/rev/agent.json:1:50",
            "agent::bad-value agents/rev/agent.json:1:50",
            "agent::bad-value agents/rev/agent.json:1:64",
            "agent::workspace agents/rev/agent.json:2:16",
            "agent::bad-value agents/rev/agent.json:2:48",
            "agent::bad-value agents/rev/agent.json:2:61",
            "agent::unknown-key agents/rev/agent.json:2:69",
            "agent::missing-file agents/rev/boundaries.md",
            "agent::conventions-detached agents/rev/conventions.md",
            "agent::missing-file agents/rev/more.md",
            "agent::missing-file agents/rev/system.md",
        ]
    );
    assert!(plugin(&bot.scan(), ".").agents.is_empty());
}

#[test]
fn a_workspace_lies_in_the_bots_or_holds_it() {
    for (path, fine) in [("reviews", true), ("..", true), ("a/../b", true), ("../other", false), ("/elsewhere", false)]
    {
        let bot = agent("rev", &AGENT.replace(" }", &format!(", \"workspace\": \"{path}\" }}")));
        assert_eq!(bot.found().is_empty(), fine, "{path}");
    }
}

#[test]
fn hooks_of_every_level() {
    let bot = agent("rev", AGENT);
    bot.file("skills/s/SKILL.md", SKILL).file("agents/rev/skills/s/SKILL.md", SKILL);
    let text = format!("events = [\"tool.before\", \"tool.after\"]\ntools = [\"maps__*\"]\n{RUN}");
    for place in ["hooks", "skills/s/hooks", "agents/rev/hooks", "agents/rev/skills/s/hooks"] {
        bot.file(&format!("{place}/audit/hook.toml"), &text);
    }
    let tree = bot.scan();
    let hooks = &plugin(&tree, ".").hooks;
    assert_eq!(bot.found(), [] as [&str; 0]);
    let mut names: Vec<String> = hooks.iter().map(|h| h.placement.local(&h.name)).collect();
    names.sort();
    assert_eq!(names, ["agent__rev__audit", "agent__rev__skill__s__audit", "audit", "skill__s__audit"]);
    let hook = &hooks[0];
    assert_eq!(hook.events, [HookEventKind::ToolBefore, HookEventKind::ToolAfter]);
    assert_eq!((hook.timeout_seconds, hook.order, hook.on_failure), (10.0, 50, OnFailure::Deny));
}

#[test]
fn what_is_wrong_with_a_hook() {
    let bot = Bot::with(&[
        ("hooks/a/hook.toml", "events = []\n"),
        (
            "hooks/b/hook.toml",
            "events = [\"run.started\", \"tool.befor\"]\ntimeout_seconds = 61\nrun = { command = [\"cat\"], cwd = \"tool\" }\n",
        ),
        (
            "hooks/c/hook.toml",
            "events = [\"run.started\"]\ntools = [\"x\"]\non_failure = \"deny\"\nrun = { command = [\"cat\"] }\n[options]\na = 1\n",
        ),
        ("hooks/d/hook.toml", "events = [\"tool.before\"]\nrun = { command = [\"sh\", \"audit.sh\"] }\n"),
        ("hooks/d/audit.sh", "exit 0\n"),
    ]);
    assert_eq!(
        bot.found(),
        [
            "hook::missing-key hooks/a/hook.toml:1:1",
            "hook::bad-value hooks/a/hook.toml:1:10",
            "hook::bad-value hooks/b/hook.toml:1:26",
            "hook::bad-value hooks/b/hook.toml:2:19",
            "hook::unknown-key hooks/b/hook.toml:3:28",
            "hook::tools-filter hooks/c/hook.toml:2:1",
            "hook::bad-value hooks/c/hook.toml:3:14",
            "hook::options-on-command hooks/c/hook.toml:5:2",
            "run::file-missing hooks/d/hook.toml:2:26",
        ]
    );
}

#[test]
fn commands_of_one_and_two_words() {
    let bot = Bot::with(&[
        (
            "commands/weather/command.toml",
            "description = \"Weather\"\ntool = \"get-weather\"\narguments = [{ name = \"city\", type = \"rest\" }]\n",
        ),
        ("commands/todo/add/command.toml", &format!("description = \"Adds\"\naliases = [\"Plus\"]\n{RUN}")),
        ("commands/todo/add/notes.txt", "x"),
    ]);
    let tree = bot.scan();
    assert_eq!(bot.found(), [] as [&str; 0]);
    let commands = &plugin(&tree, ".").commands;
    let add = commands.iter().find(|c| c.name == "todo/add").unwrap();
    assert_eq!((add.group.as_deref(), add.word.as_str()), (Some("todo"), "add"));
    assert_eq!(add.place.item, "command todo/add");
    assert!(matches!(add.target, CommandTarget::Run(_)));
    let weather = commands.iter().find(|c| c.name == "weather").unwrap();
    assert_eq!(weather.target, CommandTarget::Tool("get-weather".into()));
    assert_eq!(weather.gate.requires_approval, plugin_sdk::Approval::Never);
}

#[test]
fn what_is_wrong_with_a_command() {
    let bot = Bot::with(&[
        ("commands/a/command.toml", "description = \"A\"\n"),
        ("commands/b/command.toml", "description = \"B\"\ntool = \"x\"\nrun = { command = [\"cat\"] }\n"),
        (
            "commands/c/command.toml",
            "description = \"C\"\nname = \"two words\"\ntool = \"x\"\narguments = [\n  { name = \"a\", type = \"rest\", required = false },\n  { name = \"a\", type = \"int\" },\n  { name = \"b\", type = \"date\" },\n]\n",
        ),
        (
            "commands/d/command.toml",
            "description = \"D\"\ntool = \"x\"\narguments = [\n  { name = \"a\", type = \"rest\", required = false },\n  { name = \"a\", type = \"int\" },\n]\n",
        ),
        ("commands/Todo/add/command.toml", "description = \"T\"\ntool = \"x\"\nargument = \"x\"\n"),
    ]);
    assert_eq!(
        bot.found(),
        [
            "name::invalid commands/Todo",
            "command::unknown-key commands/Todo/add/command.toml:3:1",
            "command::target commands/a/command.toml:1:1",
            "command::target commands/b/command.toml:3:1",
            "command::bad-value commands/c/command.toml:2:8",
            "command::bad-value commands/c/command.toml:7:24",
            "command::bad-value commands/d/command.toml:4:24",
            "command::bad-value commands/d/command.toml:5:12",
            "command::bad-value commands/d/command.toml:5:12",
        ]
    );
}
