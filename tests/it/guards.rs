//! A guard hook that is broken when the bot starts: nothing runs unguarded because of a mistake in its file.

use harness::{LiveHost, TestBot, command};
use serde_json::{Value, json};

const GUARD: &str = "events = [\"tool.before\"]\nrun = { command = [\"./deny.sh\"] }\n";

fn put_hook(bot: &TestBot, holder: &str, name: &str, manifest: &str) {
    let folder = format!("{holder}hooks/{name}");
    bot.put(&format!("{folder}/hook.toml"), manifest);
    bot.put(&format!("{folder}/deny.sh"), "#!/bin/sh\ncat >/dev/null\nprintf '{\"deny_reason\":\"guarded\"}'\n");
}

fn errors(answer: &Value) -> Vec<&str> {
    let found = answer["diagnostics"].as_array().expect("diagnostics").iter();
    found.filter(|d| d["severity"] == "error").filter_map(|d| d["code"].as_str()).collect()
}

fn call(bot: &TestBot, code: i32) -> Value {
    bot.run(&["call", "greet", "{}", "--json"]).exits(code).json()
}

#[test]
fn a_broken_guard_of_the_bot_refuses_the_start() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    put_hook(&bot, "", "guard", GUARD);
    assert_eq!(call(&bot, 1)["error"]["code"], "HOOK_REJECTED");
    let wrong = [
        GUARD.replace("events", "evnts"),
        GUARD.replace("tool.before", "tool.befor"),
        GUARD.replace("./deny.sh", "./absent.sh"),
        GUARD.replace("run", "rnu"),
        format!("{GUARD}timeout_seconds = 0\n"),
        "events = [".to_string(),
        "events = [\"run.started\", \"tool.before\"]\n".to_string(),
    ];
    for manifest in wrong {
        put_hook(&bot, "", "guard", &manifest);
        let refused = call(&bot, 1);
        assert!(!errors(&refused).is_empty() && refused["status"].is_null(), "{manifest}: {refused:#}");
        bot.run(&["run", "."]).exits(1);
    }
    // one that could have refused nothing is left out, and that is said
    put_hook(&bot, "", "guard", "events = [\"run.finished\"]\nrun = { command = [\"./absent.sh\"] }\n");
    let host = LiveHost::start(&bot);
    assert_eq!(command(&bot, "call", &json!({"tool": "greet", "input": {}})).1["text"], "hello");
    let said = bot.run(&["status"]).exits(0).out;
    assert!(said.contains("left-out  hook guard") && said.contains("without what is broken"), "{said}");
    let listed = bot.run(&["list", "plugins", "--json"]).exits(0).json();
    assert_eq!(listed["items"][0]["state"], "failed", "{listed:#}");
    assert_eq!(host.stop(), 0);
}

#[test]
fn an_agent_or_skill_is_not_offered_without_its_guard() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    for file in ["system", "boundaries", "conventions"] {
        bot.put(&format!("agents/a/{file}.md"), "Text.\n");
    }
    bot.put("agents/a/agent.json", "{ \"name\": \"A\", \"version\": \"1.0.0\", \"description\": \"An agent\" }\n");
    for skill in ["skills/s", "agents/a/skills/t"] {
        bot.put(&format!("{skill}/SKILL.md"), "---\ndescription: A skill\n---\nText.\n");
    }
    let offered = |bot: &TestBot| {
        let host = LiveHost::start(bot);
        let names = |kind: &str| -> Vec<String> {
            let (_, body) = command(bot, "list", &json!({"kind": kind}));
            let items = body["items"].as_array().expect("items").iter();
            items.filter_map(|i| i["qualified"].as_str().map(str::to_string)).collect()
        };
        let found = (names("agents"), names("skills"));
        assert_eq!(host.stop(), 0);
        found
    };
    let of = |agents: &[&str], skills: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_string()).collect::<Vec<_>>();
        (own(agents), own(skills))
    };
    let all = of(&["a"], &["agent__a__t", "s"]);
    assert_eq!(offered(&bot), all);
    let broken = GUARD.replace("events", "evnts");
    for (holder, left) in [
        ("agents/a/", of(&[], &["agent__a__t", "s"])),
        ("skills/s/", of(&["a"], &["agent__a__t"])),
        ("agents/a/skills/t/", of(&["a"], &["s"])),
    ] {
        put_hook(&bot, holder, "guard", &broken);
        assert_eq!(offered(&bot), left, "{holder}");
        put_hook(&bot, holder, "guard", GUARD);
        assert_eq!(offered(&bot), all, "{holder}");
    }
}

#[test]
fn a_plugin_is_not_left_out_with_a_guard_of_others() {
    let bot = TestBot::new().tool("tools/greet", "Greet somebody", "hello");
    bot.put("plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    bot.put_tool("plugins/p/tools/own", "Its own tool", "own");
    put_hook(&bot, "plugins/p/", "guard", GUARD);
    assert_eq!(call(&bot, 1)["error"]["code"], "HOOK_REJECTED");
    // the guard itself, then the plugin around it
    put_hook(&bot, "plugins/p/", "guard", &GUARD.replace("events", "evnts"));
    assert!(errors(&call(&bot, 1)).contains(&"hook::guard-left-out"));
    put_hook(&bot, "plugins/p/", "guard", GUARD);
    bot.put("plugins/p/tools/own/tool.toml", "descripton = 1\n");
    let refused = call(&bot, 1);
    assert!(errors(&refused).contains(&"hook::guard-left-out"), "{refused:#}");
    assert!(errors(&refused).contains(&"tool::unknown-key"), "the cause is said too: {refused:#}");
    // a guard of its own calls alone goes with them, and the word of the admin is enough
    put_hook(&bot, "plugins/p/", "guard", &format!("tools = [\"p__*\"]\n{GUARD}"));
    assert_eq!(call(&bot, 0)["text"], "hello");
    put_hook(&bot, "plugins/p/", "guard", GUARD);
    bot.put("bot.toml", "[plugins]\ndisabled = [\"p\"]\n");
    assert_eq!(call(&bot, 0)["text"], "hello");
}
