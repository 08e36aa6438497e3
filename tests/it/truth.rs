//! The truth table of admission: what explains, lists, offers and executes a tool says the same of each person.

use crate::people::{Dice, Made, Person};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use harness::{LiveHost, TestBot};
use host::app::{Host, HostOptions, StoreKind};
use host::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason};
use host::task::SystemClock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const TOOLS: usize = 40;
const PEOPLE: usize = 25;
/// Discovered, loaded and called in one turn: three calls each of at most fifty.
const AT_ONCE: usize = 16;

/// What a turn gave one person of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Turned {
    found: bool,
    loaded: bool,
    called: bool,
}

/// A model that looks for, loads and calls each word of the message, and keeps what came of it.
#[derive(Default)]
struct Tries(Mutex<BTreeMap<String, Turned>>);

impl Tries {
    fn calls(request: &ModelRequest) -> Vec<ModelCall> {
        let what = ["discover", "load_tool"];
        let call = |n: usize, word: &str| {
            let name = what.get(request.step as usize - 1).copied().unwrap_or(word);
            let arguments = match name {
                "discover" => json!({"query": word, "kind": "tool", "limit": 20}),
                "load_tool" => json!({"name": word}),
                _ => json!({}),
            };
            ModelCall { id: format!("c{}x{n}", request.step), name: name.into(), arguments: arguments.to_string() }
        };
        request.user_text.split_whitespace().enumerate().map(|(n, word)| call(n, word)).collect()
    }

    fn look(&self, request: &ModelRequest) {
        let words: Vec<&str> = request.user_text.split_whitespace().collect();
        let mut seen = self.0.lock().expect("a lock");
        for message in &request.messages {
            let ModelMessage::Tool { call_id, is_error, data, .. } = message else { continue };
            let (step, n) = call_id[1..].split_once('x').expect("an own id");
            let word = words[n.parse::<usize>().expect("a number")];
            let turned = seen.entry(word.to_string()).or_default();
            match step {
                "1" => {
                    let items = data["items"].as_array().expect("items");
                    turned.found = items.iter().any(|i| i["name"] == word);
                }
                "2" => turned.loaded = !is_error,
                _ => turned.called = !is_error,
            }
        }
    }
}

#[async_trait]
impl ModelClient for Tries {
    fn name(&self) -> &str {
        "tries"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let events = if request.step <= 3 {
            let calls = Self::calls(&request).into_iter().map(ModelEvent::Call);
            calls.chain([ModelEvent::Stop(StopReason::ToolUse)]).collect()
        } else {
            self.look(&request);
            vec![ModelEvent::Text("Done.".into()), ModelEvent::Stop(StopReason::End)]
        };
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }
}

/// The generated bot.
fn made() -> (TestBot, Vec<Made>, Vec<Person>) {
    let mut dice = Dice::new(0x5eed_cafe);
    let tools: Vec<Made> = (0..TOOLS).map(|n| Made::roll(n, &mut dice)).collect();
    let people = (0..PEOPLE).map(|_| Person::roll(&mut dice)).collect();
    let bot = TestBot::new();
    let off: Vec<&str> = tools.iter().filter(|t| t.off).map(|t| t.name.as_str()).collect();
    let (deny, disabled) = off.split_at(off.len() / 2);
    assert!(!deny.is_empty(), "both switches are tried");
    bot.put(
        "bot.toml",
        &format!(
            "[access]\nmode = \"open\"\nmasters = [\"telegram:7\"]\ntrusted = [\"telegram:42\"]\n[tools]\ndeny = {deny:?}\n\
             disabled = {disabled:?}\n[agent.deferred_tools]\nmax_loaded_per_session = 100\n"
        ),
    );
    for tool in &tools {
        bot.put(&format!("tools/{}/tool.toml", tool.name), &tool.manifest);
        bot.put(&format!("tools/{}/main.sh", tool.name), "#!/bin/sh\ncat >/dev/null\necho ran\n");
    }
    (bot, tools, people)
}

/// The arguments of a command line.
fn subject(p: &Person) -> Value {
    json!({"as": p.subject(), "scope": null, "role": p.role, "perms": p.perms})
}

/// What each way says of one person and each tool.
async fn compare(host: &Host, tries: &Tries, tools: &[Made], p: &Person) -> usize {
    let (exit, list) = host.command("list", json!({"kind": "tools", "subject": subject(p)})).await;
    assert_eq!(exit, 0, "{list:#}");
    tries.0.lock().expect("a lock").clear();
    for some in tools.chunks(AT_ONCE) {
        let words: Vec<&str> = some.iter().map(|t| t.name.as_str()).collect();
        let (exit, turn) = host.command("ask", json!({"text": words.join(" "), "subject": subject(p)})).await;
        assert_eq!(exit, 0, "{turn:#}");
    }
    let turned = tries.0.lock().expect("a lock").clone();
    let mut admitted = 0;
    for tool in tools {
        let wanted = tool.admits(p);
        let about = format!("{p:?}\n{tool:#?}");
        let (exit, why) = host.command("explain", json!({"tool": tool.name, "subject": subject(p)})).await;
        assert_eq!((&why["admitted"], exit), (&wanted.into(), u8::from(!wanted)), "explain {why:#}\n{about}");
        assert_eq!(why["exposure"].as_str(), Some(if tool.hidden { "by_name" } else { "listed" }));
        let item = list["items"].as_array().expect("items").iter().find(|i| i["qualified"] == tool.name.as_str());
        let item = item.unwrap_or_else(|| panic!("not listed\n{about}"));
        assert_eq!((&item["admitted"], &item["reason"]), (&wanted.into(), &why["reason"]), "list {item:#}\n{about}");
        let offered = wanted && !tool.hidden;
        let all = Turned { found: offered, loaded: offered, called: offered };
        assert_eq!(turned[&tool.name], all, "turn\n{about}");
        let (exit, call) = host.command("call", json!({"tool": tool.name, "input": {}, "subject": subject(p)})).await;
        assert_eq!(exit, u8::from(!wanted), "call {call:#}\n{about}");
        if !wanted {
            let error = (&call["error"]["code"], &call["error"]["details"]["reason"]);
            assert_eq!(error, (&"TOOL_NOT_ALLOWED".into(), &"not_admitted".into()), "{call:#}\n{about}");
        }
        admitted += usize::from(wanted);
    }
    admitted
}

#[test]
fn a_thousand_pairs_of_tool_and_person_agree_everywhere() {
    let (bot, tools, people) = made();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let tries = Arc::new(Tries::default());
        let options = HostOptions {
            store: StoreKind::Scratch,
            model: Some(tries.clone()),
            ..HostOptions::new(bot.path(), SystemClock::shared())
        };
        let host = Host::start(options).await.expect("a host");
        let mut admitted = 0;
        for p in &people {
            admitted += compare(&host, &tries, &tools, p).await;
        }
        host.shutdown().await;
        let pairs = tools.len() * people.len();
        assert_eq!(pairs, 1000);
        assert!(
            (pairs / 10..pairs * 9 / 10).contains(&admitted),
            "{admitted} of {pairs} are admitted: both must be seen"
        );
    });
}

/// Private tools: who is admitted is one thing, whether the model has them another. Calls by name know only the
/// first; a turn needs the agent too.
#[test]
fn private_tools_agree_with_what_unlocks_them() {
    let mut dice = Dice::new(0x0dd_ba11);
    let bot = TestBot::new();
    bot.put("bot.toml", "[access]\nmode = \"open\"\nmasters = [\"telegram:7\"]\ntrusted = [\"telegram:42\"]\n");
    for file in ["system", "boundaries", "conventions"] {
        bot.put(&format!("agents/helper/{file}.md"), "Be helpful.\n");
    }
    bot.put("agents/helper/agent.json", "{ \"name\": \"Helper\", \"version\": \"1.0.0\", \"description\": \"Helps\" }");
    let skill = "---\ndescription: Knows more\n---\nText.\n";
    bot.put("skills/more/SKILL.md", skill);
    bot.put("agents/helper/skills/more/SKILL.md", skill);
    let places = [
        ("agents/helper/tools", "agent__helper__", Some("helper"), None),
        ("skills/more/tools", "skill__more__", None, Some("more")),
        ("agents/helper/skills/more/tools", "agent__helper__skill__more__", Some("helper"), Some("more")),
    ];
    let mut tools = Vec::new();
    for n in 0..18 {
        let (folder, prefix, agent, skill) = places[n % places.len()];
        let made = Made::roll(n, &mut dice);
        bot.put(&format!("{folder}/{}/tool.toml", made.name), &made.manifest);
        bot.put(&format!("{folder}/{}/main.sh", made.name), "#!/bin/sh\ncat >/dev/null\necho ran\n");
        tools.push((made.private(prefix), agent, skill));
    }
    let people: Vec<Person> = (0..PEOPLE).map(|_| Person::roll(&mut dice)).collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let tries = Arc::new(Tries::default());
        let options = HostOptions {
            store: StoreKind::Scratch,
            model: Some(tries.clone()),
            ..HostOptions::new(bot.path(), SystemClock::shared())
        };
        let host = Host::start(options).await.expect("a host");
        let words: Vec<&str> = tools.iter().map(|(t, ..)| t.name.as_str()).collect();
        for p in &people {
            let mut turned = Vec::new();
            for head in ["", "@helper: "] {
                tries.0.lock().expect("a lock").clear();
                for some in words.chunks(AT_ONCE / 2) {
                    let text = format!("{head}{}", some.join(" "));
                    let (exit, turn) = host.command("ask", json!({"text": text, "subject": subject(p)})).await;
                    assert_eq!(exit, 0, "{turn:#}");
                }
                turned.push(tries.0.lock().expect("a lock").clone());
            }
            for (tool, agent, skill) in &tools {
                let wanted = tool.admits(p);
                let about = format!("{p:?}\n{tool:#?}");
                let (exit, why) = host.command("explain", json!({"tool": tool.name, "subject": subject(p)})).await;
                assert_eq!((&why["admitted"], exit), (&wanted.into(), u8::from(!wanted)), "explain {why:#}\n{about}");
                if !tool.hidden {
                    assert_eq!(why["exposure"], "private", "{about}");
                    assert_eq!(why["unlock"], json!({"agent": agent, "skill": skill}), "{about}");
                }
                assert_eq!(turned[0][&tool.name], Turned::default(), "without the agent\n{about}");
                let open = wanted && !tool.hidden && agent.is_some() && skill.is_none();
                let all = Turned { found: open, loaded: open, called: open };
                assert_eq!(turned[1][&tool.name], all, "with the agent\n{about}");
                let input = json!({"tool": tool.name, "input": {}, "subject": subject(p)});
                let (exit, call) = host.command("call", input).await;
                assert_eq!(exit, u8::from(!wanted), "call {call:#}\n{about}");
            }
        }
        host.shutdown().await;
    });
}

#[test]
fn the_program_says_the_same_with_its_exit_codes() {
    let (bot, tools, people) = made();
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    for (n, p) in people.iter().enumerate().take(20) {
        let tool = &tools[(n * 7) % tools.len()];
        let wanted = tool.admits(p);
        let subject = p.subject();
        let mut who = vec!["--as", &subject];
        who.extend(p.role.iter().flat_map(|r| ["--role", r]));
        who.extend(p.perms.iter().flat_map(|r| ["--perm", r]));
        let run = |head: &[&str]| bot.run(&[head, &who, &["--json"]].concat());
        let why = run(&["explain", &tool.name]).exits(i32::from(!wanted)).json();
        crate::contract::is("explain", &why);
        assert_eq!(why["admitted"], wanted, "{p:?}\n{tool:#?}");
        let called = run(&["call", &tool.name, "{}"]).exits(i32::from(!wanted)).json();
        assert_eq!(called["status"] == "completed", wanted, "{called:#}");
        let listed = run(&["list"]).exits(0).json();
        let items = listed["items"].as_array().expect("items");
        let named = |i: &&Value| i["qualified"] == tool.name.as_str();
        assert_eq!(items.iter().find(named).expect("the tool")["admitted"], wanted);
        // a message's role is the policy's own
        if p.role.is_none() && p.perms.is_empty() && p.platform != "console" {
            let said = bot.run_with(&["chat", "--as", &subject], "/tools\n").exits(0).out;
            for t in &tools {
                assert_eq!(said.contains(&format!("`{}`", t.name)), t.admits(p) && !t.hidden, "{p:?}\n{t:#?}\n{said}");
            }
        }
    }
    for bad in [
        &["explain", "no-such-tool", "--as", "telegram:1"][..],
        &["explain", "quux01", "--as", "telegram:"],
        &["explain", "quux01", "--as", "telegram:room:1:user:2"],
        &["explain", "quux01", "--as", "telegram:1", "--role", "admin"],
        &["explain", "quux01", "--as", "telegram:1", "--scope", "room"],
        &["call", "no-such-tool", "{}"],
    ] {
        bot.run(bad).exits(2);
    }
    assert_eq!(host.stop(), 0);
}
