//! Folders of agents, hooks and chat commands, from outside: made, listed, explained, chosen, refused.

use crate::contract;
use harness::TestBot;
use serde_json::{Value, json};

/// Puts an agent with its three texts; `more` are further keys of its manifest.
fn agent(bot: &TestBot, folder: &str, more: &str) {
    for file in ["system", "boundaries", "conventions"] {
        bot.put(&format!("{folder}/{file}.md"), &format!("The {file} of {folder}.\n"));
    }
    let text =
        format!("{{ \"name\": \"X\", \"version\": \"1.0.0\", \"description\": \"The one of {folder}\"{more} }}\n");
    bot.put(&format!("{folder}/agent.json"), &text);
}

fn plugin(bot: &TestBot, owner: &str) {
    bot.put(&format!("plugins/{owner}/plugin.toml"), "version = \"1.0.0\"\ndescription = \"A plugin\"\n");
}

fn names(value: &Value) -> Vec<&str> {
    value["items"].as_array().expect("items").iter().filter_map(|i| i["qualified"].as_str()).collect()
}

/// The codes of a `check`, without the remark that a bot without `[access]` always has.
fn codes(bot: &TestBot) -> Vec<String> {
    let checked: Value = serde_json::from_str(&bot.run(&["check", "--json"]).out).expect("JSON");
    let all = checked["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str());
    all.filter(|c| *c != "access::nobody-listed").map(str::to_string).collect()
}

#[test]
fn what_new_writes_passes_check_and_test() {
    let bot = TestBot::new();
    plugin(&bot, "maps");
    for dir in [".", "plugins/maps"] {
        for (kind, name) in [("agent", "guide"), ("hook", "audit"), ("command", "say"), ("command", "todo/add")] {
            let name = if dir == "." { name.to_string() } else { name.replace("say", "tell").replace("todo", "list") };
            let made = bot.run(&["new", kind, &name, "--in", dir, "--json"]).exits(0).json();
            contract::is("new", &made);
            bot.run(&["new", kind, &name, "--in", dir]).exits(1);
        }
    }
    bot.run(&["new", "command", "help"]).exits(2);
    bot.run(&["new", "agent", "Über_Guide"]).exits(2);
    let checked = bot.run(&["check", "--json"]).exits(0).json();
    contract::is("check", &checked);
    assert_eq!(checked["counts"]["warning"], 0, "{checked:#}");
    assert_eq!(checked["agents"], json!(["guide", "maps__guide"]));
    assert_eq!(checked["hooks"], json!(["audit", "maps__audit"]));
    assert_eq!(checked["commands"], json!(["list add", "say", "tell", "todo add"]));
    let tested = bot.run(&["test", "--json"]).json();
    assert_eq!((&tested["failed"], &tested["passed"]), (&json!(0), &json!(8)), "{tested:#}");
}

#[test]
fn lists_have_the_shapes_of_the_contract() {
    let bot = TestBot::new().echo();
    bot.put("bot.toml", "[access]\nmode = \"open\"\n");
    agent(&bot, "agents/telegram", ", \"tools\": [\"echo\"], \"scopes\": [\"private\"]");
    bot.put("agents/telegram/skills/s/SKILL.md", "---\ndescription: A skill\n---\nText.\n");
    let run = "run = { command = [\"cat\"] }\n";
    bot.put("hooks/last/hook.toml", &format!("events = [\"tool.before\"]\norder = 1\n{run}"));
    bot.put("hooks/first/hook.toml", &format!("events = [\"run.started\"]\norder = 90\n{run}"));
    bot.put("agents/telegram/hooks/own/hook.toml", &format!("events = [\"tool.after\"]\ntools = [\"echo\"]\n{run}"));
    bot.put("commands/todo/add/command.toml", &format!("description = \"Adds\"\naliases = [\"plus\"]\n{run}"));
    for kind in ["agents", "hooks", "commands"] {
        let listed = bot.run(&["list", kind, "--json"]).exits(0).json();
        contract::is(&format!("list-{kind}"), &listed);
        let first = &listed["items"][0];
        match kind {
            "agents" => {
                assert_eq!(first["platforms"], json!(["telegram"]));
                assert_eq!(first["tools"], json!(["echo"]));
                assert_eq!(first["skills"], json!(["agent__telegram__s"]));
                assert_eq!(first["auto_select"], true);
            }
            "hooks" => {
                assert_eq!(names(&listed), ["first", "last", "agent__telegram__own"], "in the order they run");
                let level = |n: usize| listed["items"][n]["level"].clone();
                assert_eq!((level(0), level(2)), (json!("host"), json!("agent")));
            }
            _ => {
                assert_eq!(names(&listed), ["todo add"]);
                assert_eq!(first["aliases"], json!(["todo plus"]));
                assert_eq!(first["tool"], "command__todo__add");
            }
        }
        assert!(!bot.run(&["list", kind]).exits(0).out.trim().is_empty());
    }
    let why = |subject: &str, code: i32| {
        bot.run(&["explain", "agent:telegram", "--as", subject, "--json"]).exits(code).json()
    };
    let denied = why("console:ann", 1);
    contract::is("explain", &denied);
    assert_eq!((&denied["admitted"], &denied["reason"]), (&json!(false), &json!("admission::platform")));
    assert_eq!(why("telegram:7", 0)["admitted"], true);
    assert_eq!(why("telegram:group:-1:user:7", 1)["reason"], "admission::scope");
    bot.run(&["explain", "agent:telegramm", "--as", "console:ann"]).exits(2);
}

#[test]
fn one_name_in_an_agent_and_again_in_its_skill_is_no_fault() {
    let bot = TestBot::new();
    agent(&bot, "agents/rev", "");
    let tool = "description = \"Checks\"\nrun = { command = [\"cat\"] }\n";
    let hook = "events = [\"tool.before\"]\nrun = { command = [\"cat\"] }\n";
    bot.put("agents/rev/skills/deep/SKILL.md", "---\ndescription: A skill\n---\nText.\n");
    for place in ["agents/rev", "agents/rev/skills/deep"] {
        bot.put(&format!("{place}/tools/check-result/tool.toml"), tool);
        bot.put(&format!("{place}/hooks/audit/hook.toml"), hook);
    }
    assert_eq!(codes(&bot), [] as [&str; 0]);
    let hooks = bot.run(&["list", "hooks", "--json"]).exits(0).json();
    assert_eq!(names(&hooks), ["agent__rev__audit", "agent__rev__skill__deep__audit"]);
    let both = bot.run(&["explain", "check-result", "--as", "console:ann"]).exits(2);
    for name in ["agent__rev__check-result", "agent__rev__skill__deep__check-result"] {
        assert!(format!("{}{}", both.out, both.err).contains(name), "{}{}", both.out, both.err);
    }
    // an error in a private one refuses the whole
    bot.put("agents/rev/skills/deep/tools/check-result/tool.toml", "description = 1\n");
    assert!(codes(&bot).contains(&"tool::wrong-type".to_string()));
    bot.run(&["check"]).exits(1);
}

#[test]
fn two_agents_of_one_platform_are_refused_and_each_way_out_works() {
    let made = || {
        let bot = TestBot::new();
        plugin(&bot, "maps");
        agent(&bot, "agents/telegram", "");
        agent(&bot, "plugins/maps/agents/guide", ", \"platforms\": [\"telegram\"]");
        bot
    };
    let bot = made();
    assert_eq!(codes(&bot), ["agent::platform-conflict"]);
    let said = bot.run(&["check"]).exits(1);
    for file in ["agents/telegram/agent.json", "plugins/maps/agents/guide/agent.json"] {
        assert!(said.err.contains(file), "{}", said.err);
    }
    let bot = made();
    agent(&bot, "plugins/maps/agents/guide", ", \"platforms\": [\"telegram\"], \"auto_select\": false");
    assert_eq!(codes(&bot), [] as [&str; 0]);
    for choice in ["./telegram", "maps/guide"] {
        let bot = made();
        bot.put("bot.toml", &format!("[access]\nmode = \"open\"\n[agent.platform_agents]\ntelegram = \"{choice}\"\n"));
        assert_eq!(codes(&bot), [] as [&str; 0]);
        let system =
            if choice == "./telegram" { "The system of agents/telegram" } else { "The system of plugins/maps" };
        bot.put(
            "tests/who.toml",
            &format!(
                "description = \"{choice} answers\"\n[[step]]\nmessage = {{ from = \"telegram:7\", text = \"hi\" }}\n\
                 [[step]]\nmodel_says = {{ text = \"Hi.\" }}\n[[step]]\nexpect_request = {{ text_contains = \"{system}\" }}\n"
            ),
        );
        bot.run(&["test"]).exits(0);
    }
}

#[test]
fn a_name_that_several_have_is_answered_with_their_full_names() {
    let bot = TestBot::new();
    for owner in ["maps", "games"] {
        plugin(&bot, owner);
        agent(&bot, &format!("plugins/{owner}/agents/guide"), "");
    }
    let asked = |text: &str| bot.run(&["ask", ".", text, "--json"]).exits(0).json();
    let answer = asked("@guide where am I?");
    contract::is("ask", &answer);
    assert_eq!(answer["text"], "Several agents are called guide. Write one of these: @games__guide, @maps__guide.");
    assert_eq!(answer["tool_calls"], json!([]));
    for one in ["@maps__guide hello", "@maps/guide: hello", "@MAPS/Guide：hello"] {
        assert!(!asked(one)["text"].as_str().expect("a text").contains("Several"), "{one}");
    }
}

#[test]
fn an_agent_has_its_own_model_and_steps() {
    let bot = TestBot::new().echo();
    bot.put(
        "bot.toml",
        "[models.default]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1\"\nretries = 0\n",
    );
    agent(&bot, "agents/plain", ", \"model\": \"offline\"");
    agent(&bot, "agents/hasty", ", \"provider\": \"offline\", \"effort\": \"low\", \"max_iterations\": 1");
    let asked = |text: &str| bot.run(&["ask", ".", text, "--json"]).json();
    let answer = asked("@plain: echo hello world");
    assert_eq!((&answer["model"], &answer["outcome"]), (&json!("offline"), &json!("completed")), "{answer:#}");
    assert!(answer["text"].as_str().expect("a text").contains("hello world"), "{answer:#}");
    let called: Vec<&str> =
        answer["tool_calls"].as_array().expect("calls").iter().filter_map(|c| c["tool"].as_str()).collect();
    assert_eq!(called, ["discover", "load_tool", "echo"]);
    assert_eq!(asked("echo hello")["outcome"], "failed", "the bot's own model is not there");
    assert_eq!(asked("@hasty echo hello")["tool_calls"], json!([]), "one step is the last, and it has no tools");
}

#[test]
fn a_hidden_tool_runs_through_a_command_after_the_same_approval() {
    let bot = TestBot::new();
    bot.put(
        "tools/wipe/tool.toml",
        "description = \"Wipe the list\"\nhidden = true\ncapabilities = []\nrequires_approval = \"always\"\n\
         run = { command = [\"./main.sh\"] }\n[input]\nwhat = \"string\"\n",
    );
    bot.put("tools/wipe/main.sh", "#!/bin/sh\ncat >/dev/null\ntouch \"$HOME/wiped\"\necho 'did wipe'\n");
    bot.put(
        "commands/wipe/command.toml",
        "description = \"Wipes\"\ntool = \"wipe\"\narguments = [{ name = \"what\", type = \"text\" }]\n",
    );
    // one that never asks by itself, behind a command that does
    bot.put("tools/ring/tool.toml", "description = \"Ring\"\ncapabilities = []\nrequires_approval = \"never\"\nrun = { command = [\"./main.sh\"] }\n");
    bot.put("tools/ring/main.sh", "#!/bin/sh\ncat >/dev/null\necho 'did ring'\n");
    bot.put("commands/bell/command.toml", "description = \"Rings\"\ntool = \"ring\"\nrequires_approval = \"always\"\n");
    let chat = |lines: &str| bot.run_with(&["chat"], lines).exits(0);
    let no = chat("/wipe list\nno\n");
    assert!(no.err.contains("May I run `wipe`?") && !no.out.contains("did wipe"), "{} {}", no.out, no.err);
    let yes = chat("/wipe list\nyes\n");
    assert!(yes.err.contains("May I run `wipe`?") && yes.out.contains("did wipe"), "{} {}", yes.out, yes.err);
    let no = chat("/bell\nno\n");
    assert!(no.err.contains("May I run `ring`?") && !no.out.contains("did ring"), "{} {}", no.out, no.err);
    let usage = chat("/wipe\n");
    assert!(format!("{}{}", usage.out, usage.err).contains("Usage: /wipe <what>"), "{} {}", usage.out, usage.err);
}
