//! Approvals on a running host: mode, capability, requester, place and answer, generated and compared.

use crate::channel::Channel;
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use harness::TestBot;
use host::app::{Host, HostOptions, StoreKind};
use host::journal::Journal;
use host::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, StopReason};
use host::store::{Key, Tree};
use host::task::SystemClock;
use plugin_sdk::{ConversationRef, Principal, Role, Scope};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Loads and calls the one tool that the message names.
struct Caller;

#[async_trait]
impl ModelClient for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let word = request.user_text.split_whitespace().last().unwrap_or_default().to_string();
        let call = |name: &str, arguments: Value| {
            let id = format!("c{}", request.step);
            ModelEvent::Call(ModelCall { id, name: name.into(), arguments: arguments.to_string() })
        };
        let events = match request.step {
            1 => vec![call("load_tool", json!({"name": word})), ModelEvent::Stop(StopReason::ToolUse)],
            2 => vec![call(&word, json!({})), ModelEvent::Stop(StopReason::ToolUse)],
            _ => vec![ModelEvent::Text("Done.".into()), ModelEvent::Stop(StopReason::End)],
        };
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Opinion {
    Allow,
    Ask,
    Deny,
}

const DECLARED: [&str; 4] = ["never", "on-risk", "once", "always"];
const CAPABILITIES: [(&str, Option<&str>); 6] = [
    ("none", None),
    ("pure", Some("[]")),
    ("read", Some("[\"read\"]")),
    ("write", Some("[\"write\"]")),
    ("execute", Some("[\"execute\"]")),
    ("network", Some("[\"network\"]")),
];
const MODES: [&str; 3] = ["allow", "confirm", "deny"];

/// The tables of the contract, written down once more.
fn decision(declared: &str, capability: &str, write: &str, execute: &str) -> Opinion {
    use Opinion::{Allow, Ask, Deny};
    let a = match (declared, capability) {
        ("never", _) | ("on-risk", "pure" | "read") => Allow,
        _ => Ask,
    };
    let mode = |m: &str| match m {
        "allow" => Allow,
        "confirm" => Ask,
        _ => Deny,
    };
    let b = match capability {
        "write" => mode(write),
        "execute" => mode(execute),
        _ => Allow,
    };
    a.max(b)
}

fn tool_name(declared: &str, capability: &str) -> String {
    format!("t-{declared}-{capability}")
}

fn bot() -> TestBot {
    let bot = TestBot::new();
    for declared in DECLARED {
        for (capability, list) in CAPABILITIES {
            let name = tool_name(declared, capability);
            let list = list.map(|l| format!("capabilities = {l}\n")).unwrap_or_default();
            bot.put(
                &format!("tools/{name}/tool.toml"),
                &format!(
                    "description = \"Does {name}\"\nrequires_approval = \"{declared}\"\n{list}\
                     run = {{ command = [\"sh\", \"./main.sh\"] }}\n[command]\nname = \"{name}\"\n"
                ),
            );
            bot.put(&format!("tools/{name}/main.sh"), &format!("cat >/dev/null\necho 'did {name}'\n"));
        }
    }
    bot
}

fn config(write: &str, execute: &str) -> String {
    format!(
        "[access]\nmode = \"open\"\nmasters = [\"telegram:m\"]\ntrusted = [\"telegram:t\", \"telegram:boss\"]\n\
         [approval]\nwrite_mode = \"{write}\"\nexecute_mode = \"{execute}\"\n\
         [limits]\ncards_per_principal = 100\nplaces_per_principal = 100\nmax_concurrent_turns = 100\n\
         turns_per_user_per_minute = 10000\n"
    )
}

fn person(user: &str) -> Principal {
    Principal::person("telegram", user, None)
}

fn place(scope: Scope, scene: String) -> ConversationRef {
    ConversationRef { platform: "telegram".into(), endpoint: "main".into(), scope, scene, parent: None, thread: None }
}

async fn start(bot: &TestBot) -> Arc<Host> {
    let options = HostOptions {
        store: StoreKind::Scratch,
        model: Some(Arc::new(Caller)),
        ..HostOptions::new(bot.path(), SystemClock::shared())
    };
    Arc::new(Host::start(options).await.expect("a host"))
}

/// What people do with a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    RequesterYes,
    RequesterNo,
    OtherYes,
    ApproverYes,
    ApproverNo,
}

struct Case<'a> {
    channel: &'a Channel,
    tool: &'a str,
    executes: bool,
    wanted: Opinion,
    requester: &'a str,
    scope: Scope,
    answer: Answer,
}

/// One call by its command, answered as the case says; compared with the tables.
async fn play(case: &Case<'_>, n: usize) {
    let scene = if case.scope == Scope::Private { format!("{}-{n}", case.requester) } else { format!("-{n}") };
    let here = place(case.scope, scene);
    let requester = person(case.requester);
    let approver = case.requester != "u";
    let about = format!("{} by {} in {:?}, {:?}", case.tool, case.requester, case.scope, case.answer);
    let id = case.channel.say(&requester, &here, &format!("/{}", case.tool));
    let card = case.channel.card_or_end(&id, &here, 0).await;
    let ran = |said: &str| said.contains(&format!("did {}", case.tool));
    // In private somebody who may not answer would be asked: then nobody is.
    let alone = case.scope == Scope::Private && case.executes && !approver;
    if case.wanted != Opinion::Ask || alone {
        assert!(!card, "{about}: {}", case.channel.said(&here));
        let said = case.channel.said(&here);
        assert_eq!(ran(&said), case.wanted == Opinion::Allow, "{about}: {said}");
        return;
    }
    assert!(card, "{about}: {}", case.channel.said(&here));
    let refused = "Only people allowed to approve can answer.";
    let requester_may = approver || case.scope == Scope::Private;
    let press = async |label: &str, by: &Principal| case.channel.press(label, by, &here).await;
    let boss = person("boss");
    let runs = match case.answer {
        Answer::RequesterYes => {
            let said = press("Allow once", &requester).await;
            assert_eq!(said == refused, !requester_may, "{about}: {said}");
            if !requester_may {
                assert!(press("Deny", &boss).await.contains("Declined"), "{about}");
            }
            requester_may
        }
        Answer::RequesterNo => {
            assert!(press("Deny", &requester).await.contains("Declined"), "{about}");
            false
        }
        Answer::OtherYes => {
            assert_eq!(press("Allow once", &person("nobody")).await, refused, "{about}");
            assert_eq!(press("Deny", &person("nobody")).await, refused, "{about}");
            assert!(press("Deny", &requester).await.contains("Declined"), "{about}");
            false
        }
        Answer::ApproverYes => {
            let (one, two) = tokio::join!(press("Allow once", &boss), press("Allow once", &boss));
            assert_eq!((one.as_str(), two.as_str()), ("Approved by telegram:boss.", "Approved by telegram:boss."));
            true
        }
        Answer::ApproverNo => {
            assert!(press("Deny", &boss).await.contains("Declined by telegram:boss"), "{about}");
            false
        }
    };
    case.channel.settled(&id).await;
    let said = case.channel.said(&here);
    assert_eq!(ran(&said), runs, "{about}: {said}");
    assert_eq!(said.matches("did t-").count(), usize::from(runs), "{about}: one run");
}

#[test]
fn the_matrix_of_modes_capabilities_people_places_and_answers() {
    let bot = bot();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        bot.put("bot.toml", &config("confirm", "confirm"));
        let host = start(&bot).await;
        let channel = Channel::new("telegram");
        let serving = channel.attach(&host);
        let answers =
            [Answer::RequesterYes, Answer::RequesterNo, Answer::OtherYes, Answer::ApproverYes, Answer::ApproverNo];
        let mut n = 0;
        let mut seen = [0; 3];
        let mut asked = BTreeSet::new();
        for write in MODES {
            for execute in MODES {
                bot.put("bot.toml", &config(write, execute));
                host.reload(host::reload::Trigger::Command).await.expect("a reload");
                let mut cases = Vec::new();
                for declared in DECLARED {
                    for (capability, _) in CAPABILITIES {
                        let wanted = decision(declared, capability, write, execute);
                        for requester in ["u", "t", "m"] {
                            for scope in [Scope::Private, Scope::Group] {
                                n += 1;
                                seen[wanted as usize] += 1;
                                // Every answer meets every other thing somewhere.
                                let answer = answers[(n + n / 7 + n / 36) % answers.len()];
                                if wanted == Opinion::Ask {
                                    asked.insert((capability, requester, scope.as_str(), format!("{answer:?}")));
                                }
                                cases.push((
                                    tool_name(declared, capability),
                                    capability,
                                    wanted,
                                    requester,
                                    scope,
                                    answer,
                                    n,
                                ));
                            }
                        }
                    }
                }
                stream::iter(cases)
                    .for_each_concurrent(8, |(tool, capability, wanted, requester, scope, answer, n)| {
                        let channel = Arc::clone(&channel);
                        async move {
                            let executes = capability == "execute";
                            let case =
                                Case { channel: &channel, tool: &tool, executes, wanted, requester, scope, answer };
                            play(&case, n).await;
                        }
                    })
                    .await;
            }
        }
        assert_eq!(n, 9 * 24 * 6);
        assert!(seen.iter().all(|s| *s > 100), "{seen:?}");
        assert_eq!(asked.len(), 6 * 3 * 2 * 5, "every answer of everybody in every place to every capability");
        host.shutdown().await;
        serving.abort();
    });
}

/// `ask --approve`, `call --approve`, the terminal and a second person say the same of each tool.
#[test]
fn beforehand_terminal_and_a_second_person_agree() {
    let bot = bot();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        bot.put("bot.toml", &config("confirm", "deny"));
        let host = start(&bot).await;
        let (telegram, console) = (Channel::new("telegram"), Channel::new("console"));
        let serving = [telegram.attach(&host), console.attach(&host)];
        let boss = person("boss");
        let ann = Principal::person("console", "ann", Some(Role::Master));
        let mut n = 0;
        for declared in DECLARED {
            for (capability, _) in CAPABILITIES {
                n += 1;
                let tool = tool_name(declared, capability);
                let wanted = decision(declared, capability, "confirm", "deny");
                let ask = async |approve: &[&str]| {
                    let (exit, said) = host.command("ask", json!({"text": tool, "approve": approve})).await;
                    let call =
                        said["tool_calls"].as_array().expect("calls").iter().find(|c| c["tool"] == tool.as_str());
                    (exit, call.expect("a call")["status"] == "completed")
                };
                assert_eq!(
                    ask(&[]).await,
                    (if wanted == Opinion::Ask { 7 } else { 0 }, wanted == Opinion::Allow),
                    "{tool}"
                );
                assert_eq!(ask(&[&tool]).await, (0, wanted != Opinion::Deny), "{tool}");
                let (_, called) = host.command("call", json!({"tool": tool, "input": {}, "approve": true})).await;
                assert_eq!(called["status"] == "completed", wanted != Opinion::Deny, "{called:#}");
                // The terminal.
                let mut here = place(Scope::Private, format!("c{n}"));
                here.platform = "console".into();
                let id = console.say(&ann, &here, &format!("/{tool}"));
                let card = console.card_or_end(&id, &here, 0).await;
                assert_eq!(card, wanted == Opinion::Ask, "{tool}: {}", console.said(&here));
                if card {
                    console.say(&ann, &here, "yes");
                    console.settled(&id).await;
                }
                assert_eq!(console.said(&here).contains("did "), wanted != Opinion::Deny, "{tool}");
                // A second person.
                let here = place(Scope::Group, format!("-{n}"));
                let id = telegram.say(&person("u"), &here, &format!("/{tool}"));
                let card = telegram.card_or_end(&id, &here, 0).await;
                assert_eq!(card, wanted == Opinion::Ask, "{tool}: {}", telegram.said(&here));
                if card {
                    telegram.press("Allow once", &boss, &here).await;
                    telegram.settled(&id).await;
                }
                assert_eq!(telegram.said(&here).contains("did "), wanted != Opinion::Deny, "{tool}");
            }
        }
        host.shutdown().await;
        serving.into_iter().for_each(|s| s.abort());
    });
}

async fn start_on(bot: &TestBot, store: &host::store::SharedStore) -> Arc<Host> {
    let options = HostOptions {
        store: StoreKind::Scratch,
        model: Some(Arc::new(Caller)),
        memory: Some(Arc::clone(store)),
        ..HostOptions::new(bot.path(), SystemClock::shared())
    };
    Arc::new(Host::start(options).await.expect("a host"))
}

/// The first host never hears of its end, as after `kill -9`; the second one finds what it left.
#[test]
fn a_card_that_waited_at_a_crash_runs_nothing_and_offers_to_ask_again_once() {
    let bot = bot();
    bot.put("bot.toml", &config("confirm", "confirm"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let store = host::store::in_memory(SystemClock::shared());
        let tool = tool_name("always", "pure");
        let here = place(Scope::Group, "-1".into());
        let (ann, boss) = (person("ann"), person("boss"));
        let first = start_on(&bot, &store).await;
        let before = Channel::new("telegram");
        let serving = before.attach(&first);
        let id = before.say(&ann, &here, &format!("please {tool}"));
        assert!(before.card_or_end(&id, &here, 0).await, "{}", before.said(&here));
        let old = before.with(|b| b.buttons.get("-1").cloned()).expect("buttons");
        serving.abort();

        let second = start_on(&bot, &store).await;
        let after = Channel::new("telegram");
        let serving = after.attach(&second);
        let edited = after.until(|b| b.edits.first().cloned()).await;
        assert!(edited.contains("I was restarted.") && edited.ends_with("Ask again"), "{edited}");
        let again = after.with(|b| b.buttons.get("-1").cloned()).expect("the new button");
        after.with(|b| b.buttons.get_mut("-1").map(|l| l.extend(old.clone())));
        let press = async |label: &str, by: &Principal| after.press(label, by, &here).await;
        assert_eq!(press("Allow once", &boss).await, "This button is no longer valid.");
        assert_eq!(press("Ask again", &boss).await, "Only the person who is asked can answer this.");
        assert_eq!(press("Ask again", &ann).await, "I answer it once more.");
        after.until(|b| b.said.get("-1")?.iter().any(|t| t.contains("May I run")).then_some(())).await;
        let new = after.with(|b| b.buttons.get("-1").cloned()).expect("the new card");
        assert_ne!(new.get("Allow once"), old.get("Allow once"));
        after.with(|b| b.buttons.get_mut("-1").map(|l| l.insert("Ask again".into(), again["Ask again"].clone())));
        assert_eq!(press("Ask again", &ann).await, "This button is no longer valid.");
        assert_eq!(press("Allow once", &boss).await, "Approved by telegram:boss.");
        after.until(|b| b.said.get("-1")?.iter().any(|t| t == "Done.").then_some(())).await;
        second.shutdown().await;
        // One new turn came of it, and it says which one it repeats.
        let journal = Journal::new(Arc::clone(&store), SystemClock::shared()).recent(1_000).await.expect("a journal");
        let lost: Vec<_> = journal.iter().filter(|r| r.kind == "question.lost").collect();
        let history = store.scan_prefix(Tree::History, &Key::new(), None, usize::MAX).await.expect("a history");
        let repeats: Vec<&Value> =
            history.iter().map(|(_, e)| &e["meta"]["retry_of"]).filter(|r| !r.is_null()).collect();
        assert_eq!((lost.len(), repeats), (1, vec![&json!(lost[0].turn_id)]), "{history:#?}");
        serving.abort();
    });
}

/// A script of the workspace belongs to what was approved.
#[test]
fn a_script_that_changes_after_the_card_does_not_run() {
    let bot = TestBot::new();
    bot.put(
        "tools/shell/tool.toml",
        "description = \"Runs the script\"\nrequires_approval = \"always\"\ncapabilities = []\n\
         run = { command = [\"sh\", \"script.sh\"], cwd = \"workspace\" }\n[command]\nname = \"shell\"\n",
    );
    bot.put("bot.toml", "[access]\nmode = \"open\"\n[workspace]\nscope = \"bot\"\n");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let host = start(&bot).await;
        let channel = Channel::new("telegram");
        let serving = channel.attach(&host);
        let (ann, here) = (person("ann"), place(Scope::Private, "ann".into()));
        let script = host.data_dir().join("workspace/script.sh");
        std::fs::create_dir_all(script.parent().expect("a folder")).expect("made");
        std::fs::write(&script, "cat >/dev/null; echo one\n").expect("written");
        let id = channel.say(&ann, &here, "/shell");
        assert!(channel.card_or_end(&id, &here, 0).await, "{}", channel.said(&here));
        std::fs::write(&script, "cat >/dev/null; echo two\n").expect("written");
        channel.press("Allow once", &ann, &here).await;
        channel.settled(&id).await;
        let said = channel.said(&here);
        assert!(said.contains("was changed after the question") && !said.contains("two\n"), "{said}");
        let id = channel.say(&ann, &here, "/shell");
        assert!(channel.card_or_end(&id, &here, 1).await, "asked again: {}", channel.said(&here));
        channel.press("Allow once", &ann, &here).await;
        channel.settled(&id).await;
        assert!(channel.said(&here).contains("two"), "{}", channel.said(&here));
        host.shutdown().await;
        serving.abort();
    });
}
