//! Approvals and chat commands, as a piped `chat` and `ask` show them.

use crate::contract;
use harness::TestBot;
use serde_json::Value;

/// A tool that asks, a chat command, a command for masters, a hidden one.
fn bot() -> TestBot {
    let bot = TestBot::new().echo();
    bot.put("bot.toml", "[bot]\nname = \"desk\"\n[access]\nmode = \"open\"\n");
    let tool = |name: &str, lines: &str| {
        let text = format!("description = \"The {name} tool\"\n{lines}\nrun = {{ command = [\"./main.sh\"] }}\n");
        bot.put(&format!("tools/{name}/main.sh"), &format!("#!/bin/sh\ncat >/dev/null\necho 'did {name}'\n"));
        text
    };
    let mut manifests = vec![
        ("erase", tool("erase", "capabilities = [\"write\"]")),
        ("boss", tool("boss", "capabilities = []\npermissions = [\"role(master)\"]")),
        ("secretly", tool("secretly", "capabilities = []\nhidden = true")),
    ];
    for (name, text) in &mut manifests {
        text.push_str(&format!("[command]\nname = \"{name}\"\n"));
    }
    manifests.push(("shout", tool("shout", "capabilities = []\nrequires_approval = \"never\"")));
    for (name, text) in manifests {
        bot.put(&format!("tools/{name}/tool.toml"), &text);
    }
    bot.put(
        "tools/shout/tool.toml",
        "description = \"Say it loudly\"\ncapabilities = []\nrun = { command = [\"./main.sh\"] }\n\
         [input]\ntext = { type = \"string\", minLength = 2 }\n[command]\nname = \"shout\"\naliases = [\"yell\"]\n\
         argument = \"text\"\nusage = \"TEXT\"\n",
    );
    bot.put("tools/shout/main.sh", "#!/bin/sh\nsed -n 's/.*\"text\":\"\\([^\"]*\\)\".*/\\1!/p'\n");
    bot.put("skills/being-kind/SKILL.md", "---\nname: being-kind\ndescription: How to be kind\n---\nBe kind.\n");
    bot
}

/// What each line of a piped chat is answered with.
fn chat(bot: &TestBot, more: &[&str], lines: &[&str]) -> (Vec<String>, String) {
    let mut args = vec!["chat"];
    args.extend(more);
    let mut input = lines.join("\n");
    input.push('\n');
    let ran = bot.run_with(&args, &input).exits(0);
    let answers = ran.out.trim_end().split("\n\n").map(|a| a.trim().to_owned()).collect();
    (answers, ran.err)
}

/// The one answer of one line.
fn one(bot: &TestBot, more: &[&str], line: &str) -> String {
    let (answers, err) = chat(bot, more, &[line]);
    format!("{}\n{err}", answers.join("\n\n"))
}

#[test]
fn a_writing_tool_asks_and_nobody_is_there() {
    let bot = bot();
    let asked = bot.run(&["ask", ".", "erase", "--json"]).exits(7).json();
    contract::is("ask", &asked);
    let last = asked["tool_calls"].as_array().and_then(|c| c.last()).expect("a call");
    assert_eq!((&last["tool"], &last["status"]), (&"erase".into(), &"denied".into()));
    assert_eq!(last["error"]["code"], "APPROVAL_UNAVAILABLE");
    assert!(!last["error"]["message"].as_str().expect("text").contains("declined"), "{last:#}");
    assert!(asked["text"].as_str().is_some_and(|t| !t.contains("did erase")));
    let plain = bot.run(&["ask", ".", "erase"]).exits(7);
    assert!(plain.err.contains("--approve erase") || plain.out.contains("--approve erase"), "{plain:?}");
    let approved = contract::ran(&bot, &["ask", ".", "erase", "--approve", "erase"], 0, "ask");
    assert!(approved["text"].as_str().expect("text").contains("did erase"));
    assert_eq!(approved["questions"][0]["answer"], "yes", "{approved:#}");
    bot.run(&["ask", ".", "erase", "--approve", "echo"]).exits(7);
}

#[test]
fn a_piped_chat_is_asked_on_stderr_and_answers_with_its_next_line() {
    let bot = bot();
    let (answers, err) = chat(&bot, &[], &["erase", "yes", "echo \"after\""]);
    assert!(answers.iter().any(|a| a.contains("did erase")), "{answers:?}");
    assert!(answers.last().is_some_and(|a| a.contains("echo: after")), "{answers:?}");
    assert!(err.contains("May I run `erase`?") && !answers.concat().contains("May I run"), "{err}");
    for no in ["no", "nonsense\nno"] {
        let (answers, err) = chat(&bot, &[], &["/new", "erase", no]);
        assert!(!answers.concat().contains("did erase"), "{answers:?}");
        assert!(err.contains("May I run"), "{err}");
    }
    let (answers, _) = chat(&bot, &[], &["/new", "erase"]);
    assert!(!answers.concat().contains("did erase"), "the end of input is no: {answers:?}");
    let lines = bot.run_with(&["chat", "--json"], "/new\nerase\nyes\n").exits(0).out;
    let events: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    events.iter().for_each(|e| contract::is("chat", e));
    assert!(events.iter().any(|e| e["event"] == "question"), "{lines}");
    assert!(lines.contains("did erase"), "{lines}");
}

#[test]
fn built_in_commands_as_master() {
    let bot = bot();
    let help = one(&bot, &[], "/help");
    for word in
        ["/new", "/stop", "/tools", "/skills", "/why", "/status", "/reload", "/start", "/erase", "/boss", "/shout TEXT"]
    {
        assert!(help.contains(word), "{word}: {help}");
    }
    for capability in ["Echo a message back", "The erase tool", "How to be kind"] {
        assert!(help.contains(capability), "{capability}: {help}");
    }
    assert!(!help.contains("The secretly tool") || help.contains("/secretly"), "{help}");
    assert!(one(&bot, &[], "/start").contains("desk"));
    let tools = one(&bot, &[], "/tools");
    assert!(tools.contains("echo") && tools.contains("boss") && !tools.contains("secretly"), "{tools}");
    assert!(one(&bot, &[], "/skills").contains("being-kind"));
    assert!(one(&bot, &[], "/why boss").contains("You may use boss"));
    let status = one(&bot, &[], "/status");
    assert!(status.contains("I am up.") && status.contains("Generation ") && status.contains("offline"), "{status}");
    assert!(one(&bot, &[], "/stop").contains("Nothing is running."));
    assert!(one(&bot, &[], "/reload").contains("Nothing has changed"));
    assert!(one(&bot, &[], "/new").contains("A new conversation starts here."));
    assert!(one(&bot, &[], "/HELP").contains("/new"), "case does not matter");
}

#[test]
fn built_in_commands_as_somebody_else() {
    let bot = bot();
    let as_ann = ["--as", "telegram:42"];
    let help = one(&bot, &as_ann, "/help");
    assert!(help.contains("Echo a message back") && help.contains("/shout TEXT"), "{help}");
    assert!(!help.contains("boss") && !help.contains("/reload"), "{help}");
    let tools = one(&bot, &as_ann, "/tools");
    assert!(tools.contains("echo") && !tools.contains("boss") && !tools.contains("secretly"), "{tools}");
    let why = one(&bot, &as_ann, "/why boss");
    assert!(why.contains("You may not use boss") && why.contains("role(master)"), "{why}");
    let (hidden, _) = chat(&bot, &as_ann, &["/why secretly"]);
    let (unknown, _) = chat(&bot, &as_ann, &["/why xyzzyx"]);
    assert_eq!(hidden[0].replace("secretly", "N"), unknown[0].replace("xyzzyx", "N"), "hidden and unknown look alike");
    assert!(one(&bot, &as_ann, "/reload").contains("You may not use /reload."));
    assert!(one(&bot, &as_ann, "/boss").contains("You may not use /boss."));
    let status = one(&bot, &as_ann, "/status");
    assert!(status.contains("I am up.") && !status.contains("Generation"), "{status}");
    assert!(one(&bot, &as_ann, "/new").contains("A new conversation"), "a private chat is one's own");
    let group = ["--as", "telegram:group:-100:user:42"];
    assert!(one(&bot, &group, "/new").contains("You may not use /new."));
}

#[test]
fn ask_gives_no_command_to_the_model() {
    let bot = bot();
    for text in ["/help", "/shout hello", "/hepl"] {
        let said = contract::ran(&bot, &["ask", ".", text], 2, "ask-refused");
        assert_eq!(said["diagnostics"][0]["code"], "cli::usage", "{said:#}");
        assert!(
            said["diagnostics"][0]["message"].as_str().is_some_and(|m| m.contains("is a chat command")),
            "{said:#}"
        );
    }
    bot.run(&["ask", ".", "1/2 of what?"]).exits(0);
}

#[test]
fn the_person_at_the_console_is_not_rate_limited() {
    let bot = bot();
    let lines: Vec<String> = (0..30).map(|n| format!("echo \"line {n}\"")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (answers, _) = chat(&bot, &[], &lines);
    for n in 0..30 {
        assert!(answers.iter().any(|a| a.contains(&format!("echo: line {n}"))), "line {n}: {answers:?}");
    }
}

#[test]
fn nobody_speaks_for_a_person_who_is_not_let_in() {
    let bot = bot();
    bot.put("bot.toml", "[access]\nusers = [\"telegram:42\", \"telegram:43\"]\ndeny = [\"telegram:43\"]\n");
    for (who, why) in [("telegram:43", "access.deny has `telegram:43`"), ("telegram:44", "is not in access.users")] {
        let explained = contract::ran(&bot, &["explain", "echo", "--as", who], 1, "explain");
        assert_eq!((&explained["admitted"], &explained["reason"]), (&false.into(), &"access::refused".into()));
        let text = bot.run(&["explain", "echo", "--as", who, "--role", "master"]).exits(1).out;
        assert!(text.contains("  access ") && text.contains("FAIL") && text.contains(why), "{text}");
        let listed = contract::ran(&bot, &["list", "tools", "--as", who], 0, "list-tools");
        assert!(listed["items"].as_array().expect("items").iter().all(|i| i["admitted"] == false), "{listed:#}");
        let asked = contract::ran(&bot, &["ask", ".", "echo \"hi\"", "--as", who], 1, "ask-refused");
        assert_eq!(asked["diagnostics"][0]["code"], "access::refused", "{asked:#}");
        let called = contract::ran(&bot, &["call", "echo", "{\"text\":\"hi\"}", "--as", who], 1, "call-refused");
        assert_eq!(called["diagnostics"][0]["code"], "access::refused", "{called:#}");
        for args in [&["chat", "--as", who, "--once", "/help"][..], &["chat", "--as", who]] {
            let said = bot.run_with(args, "/help\n").exits(1);
            let all = format!("{}{}", said.out, said.err);
            assert!(all.contains(&format!("{who} is not let in")) && !all.contains("/tools"), "{all}");
        }
    }
    let text = bot.run(&["explain", "echo", "--as", "telegram:42"]).exits(0).out;
    assert!(text.contains("  access       allowlist             pass"), "{text}");
    bot.run(&["ask", ".", "echo \"hi\"", "--as", "telegram:42"]).exits(0);
    bot.run(&["explain", "echo", "--as", "ann"]).exits(0);
    bot.run(&["explain", "echo", "--as", "ann", "--role", "none"]).exits(2);
}

#[test]
fn an_unknown_command_gets_a_sentence_and_no_turn() {
    let bot = bot();
    let said = one(&bot, &[], "/hepl");
    assert!(said.contains("There is no command /hepl. Did you mean /help?"), "{said}");
    let said = one(&bot, &[], "/quite-another-thing");
    assert!(
        said.contains("There is no command /quite_another_thing.") || said.contains("/quite-another-thing"),
        "{said}"
    );
    let once = bot.run(&["chat", "--once", "/hepl"]);
    assert!(once.out.contains("Did you mean /help?") || once.err.contains("Did you mean /help?"), "{once:?}");
}

#[test]
fn a_tools_own_command_runs_through_the_same_gates() {
    let bot = bot();
    assert!(one(&bot, &[], "/shout good  day").contains("good  day!"));
    assert!(one(&bot, &[], "/yell twice").contains("twice!"), "an alias");
    let usage = one(&bot, &[], "/shout");
    assert!(usage.contains("Usage: /shout TEXT"), "{usage}");
    assert!(one(&bot, &[], "/shout x").contains("Usage: /shout TEXT"), "the schema holds");
    let (answers, err) = chat(&bot, &[], &["/erase", "yes"]);
    assert!(answers.concat().contains("did erase") && err.contains("May I run `erase`?"), "{answers:?} {err}");
    let (answers, _) = chat(&bot, &[], &["/erase", "no"]);
    assert!(!answers.concat().contains("did erase"), "{answers:?}");
    assert!(one(&bot, &[], "/secretly").contains("did secretly"), "hidden ones run by name");
    assert!(one(&bot, &[], "/boss").contains("did boss"));
}

#[test]
fn new_forgets_what_was_said_and_loaded() {
    let bot = bot();
    let (answers, _) = chat(&bot, &[], &["echo \"one\"", "/tools", "/new", "/tools"]);
    assert!(answers.iter().any(|a| a.contains("`echo` (loaded)")), "{answers:?}");
    assert!(!answers.last().expect("an answer").contains("(loaded)"), "{answers:?}");
}

#[test]
fn commands_beside_an_open_question() {
    let bot = bot();
    let (answers, err) = chat(&bot, &[], &["/erase", "/help"]);
    assert!(answers.concat().contains("/erase") && !answers.concat().contains("did erase"), "{answers:?}");
    assert_eq!(err.matches("May I run `erase`?").count(), 2, "it is shown again below the other answer: {err}");
    let (answers, _) = chat(&bot, &[], &["/erase", "/status", "yes"]);
    assert!(answers.concat().contains("did erase"), "{answers:?}");
    let (answers, _) = chat(&bot, &[], &["/erase", "no"]);
    assert_eq!(answers, ["I did not run it."]);
    let (answers, _) = chat(&bot, &[], &["/erase", "/stop", "echo \"after\""]);
    assert_eq!((answers[0].as_str(), answers[1].contains("echo: after")), ("Stopped.", true), "{answers:?}");
    let (answers, err) = chat(&bot, &[], &["erase", "/new", "/tools"]);
    assert!(answers.iter().any(|a| a == "Stopped.") && !answers.concat().contains("did erase"), "{answers:?}");
    assert!(!answers.concat().contains("(loaded)"), "what the stopped turn had loaded is archived: {answers:?} {err}");
}

#[test]
fn who_may_say_yes() {
    let bot = bot();
    bot.put("bot.toml", "[access]\nmode = \"open\"\ntrusted = [\"telegram:7\"]\n");
    bot.put("tools/exec/main.sh", "#!/bin/sh\ncat >/dev/null\necho 'did exec'\n");
    bot.put(
        "tools/exec/tool.toml",
        "description = \"Execute it\"\ncapabilities = [\"execute\"]\nrun = { command = [\"./main.sh\"] }\n\
         [command]\nname = \"exec\"\n",
    );
    let group = |user: &str| format!("telegram:group:-100:user:{user}");
    for (who, line, runs) in [
        ("telegram:42".to_string(), "/erase", true),
        ("telegram:42".to_string(), "/exec", false),
        ("telegram:7".to_string(), "/exec", true),
        (group("42"), "/erase", false),
        (group("7"), "/erase", true),
        (group("7"), "/exec", true),
    ] {
        let (answers, err) = chat(&bot, &["--as", &who], &[line, "yes"]);
        let did = format!("did {}", &line[1..]);
        assert_eq!(answers.concat().contains(&did), runs, "{who} {line}: {answers:?} {err}");
        if !runs {
            assert!(answers[0].contains("Only people allowed to approve can answer"), "{who} {line}: {answers:?}");
        }
    }
}
