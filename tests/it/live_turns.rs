//! One turn of several steps while the files change: in-process, with a model that does as the test says.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use harness::TestBot;
use host::app::{Host, HostOptions, StoreKind};
use host::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, StopReason};
use host::reload::{Outcome, Trigger};
use host::task::SystemClock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};

/// Says when a step begins, and takes each step's answer from the test.
struct Told {
    begins: mpsc::UnboundedSender<u32>,
    answers: Mutex<mpsc::UnboundedReceiver<Vec<ModelEvent>>>,
}

#[async_trait]
impl ModelClient for Told {
    fn name(&self) -> &str {
        "told"
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        self.begins.send(request.step).expect("a test");
        let answer = self.answers.lock().await.recv().await.expect("an answer");
        Ok(futures::stream::iter(answer.into_iter().map(Ok)).boxed())
    }
}

/// A host whose model is told what to say.
struct World {
    bot: TestBot,
    host: Arc<Host>,
    begins: mpsc::UnboundedReceiver<u32>,
    say: mpsc::UnboundedSender<Vec<ModelEvent>>,
}

fn call(tool: &str) -> Vec<ModelEvent> {
    let call = ModelCall { id: String::new(), name: tool.into(), arguments: "{}".into() };
    vec![ModelEvent::Call(call), ModelEvent::Stop(StopReason::ToolUse)]
}

fn text(words: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(words.into()), ModelEvent::Stop(StopReason::End)]
}

impl World {
    async fn new() -> Self {
        let bot = TestBot::new().tool("tools/stamp", "Say the stamp", "old");
        bot.put("bot.toml", "[agent.deferred_tools]\nload_all_below_chars = 100000\n");
        let (begins_to, begins) = mpsc::unbounded_channel();
        let (say, answers) = mpsc::unbounded_channel();
        let mut options = HostOptions::new(bot.path(), SystemClock::shared());
        options.store = StoreKind::Scratch;
        options.model = Some(Arc::new(Told { begins: begins_to, answers: Mutex::new(answers) }));
        let host = Arc::new(Host::start(options).await.expect("a host"));
        Self { bot, host, begins, say }
    }

    fn ask(&self, subject: &str) -> tokio::task::JoinHandle<Value> {
        let (host, args) = (Arc::clone(&self.host), json!({"text": "go", "subject": {"as": subject}}));
        tokio::spawn(async move { host.command("ask", args).await.1 })
    }

    async fn step(&mut self, number: u32) {
        let begun = tokio::time::timeout(Duration::from_secs(30), self.begins.recv()).await.expect("in time");
        assert_eq!(begun, Some(number));
    }

    fn say(&self, answer: Vec<ModelEvent>) {
        self.say.send(answer).expect("a model");
    }
}

fn calls(answer: &Value) -> Vec<(String, String)> {
    let word = |c: &Value, at: &str| c[at].as_str().unwrap_or_default().to_owned();
    let list = answer["tool_calls"].as_array().expect("calls");
    list.iter().map(|c| (word(c, "tool"), word(c, "status"))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_steps_run_on_one_generation() {
    let mut world = World::new().await;
    let turn = world.ask("ann");
    world.step(1).await;
    world.say(call("stamp"));
    world.step(2).await;
    world.bot.put_tool("tools/stamp", "Say the stamp", "new");
    world.bot.put_tool("tools/fresh", "A tool that was not there", "fresh");
    let record = world.host.reload(Trigger::Command).await.expect("a record");
    assert_eq!((record.outcome, record.to), (Outcome::Published, Some(2)));
    assert_eq!((world.host.counts().living, world.host.counts().disposed), (2, 0));
    world.say(call("fresh"));
    world.step(3).await;
    world.say(call("stamp"));
    world.step(4).await;
    world.say(text("done"));
    let answer = turn.await.expect("an answer");
    assert_eq!((&answer["generation"], &answer["outcome"]), (&1.into(), &"completed".into()), "{answer:#}");
    let made: Vec<_> = calls(&answer);
    assert_eq!(made[0], ("stamp".to_owned(), "completed".to_owned()));
    assert_ne!(made[1].1, "completed", "a tool of the next generation: {answer:#}");
    assert_eq!(made[2], ("stamp".to_owned(), "completed".to_owned()));
    let next = world.ask("ann");
    world.step(1).await;
    world.say(call("fresh"));
    world.step(2).await;
    world.say(text("done"));
    let next = next.await.expect("an answer");
    assert_eq!((&next["generation"], &calls(&next)[0].1), (&2.into(), &"completed".to_owned()), "{next:#}");
    while world.host.counts().living > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!((world.host.counts().published, world.host.counts().disposed), (2, 1));
    world.host.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_persons_running_turn_calls_no_tool_any_more() {
    let mut world = World::new().await;
    world.bot.put("bot.toml", "[access]\nmode = \"open\"\n[agent.deferred_tools]\nload_all_below_chars = 100000\n");
    world.host.reload(Trigger::Command).await.expect("a record");
    let turn = world.ask("telegram:private:7:user:7");
    world.step(1).await;
    world.say(call("stamp"));
    world.step(2).await;
    let deny = "[access]\nmode = \"open\"\ndeny = [\"telegram:7\"]\n[agent.deferred_tools]\n\
        load_all_below_chars = 100000\n";
    world.bot.put("bot.toml", deny);
    world.bot.put("tools/stamp/tool.toml", "description = \"half");
    let record = world.host.reload(Trigger::Command).await.expect("a record");
    assert_eq!((record.outcome, record.policy_applied), (Outcome::Rejected, true));
    world.say(call("stamp"));
    world.step(3).await;
    world.say(text("done"));
    let answer = turn.await.expect("an answer");
    let made = calls(&answer);
    assert_eq!(made[0].1, "completed", "{answer:#}");
    assert_eq!(made[1].1, "denied", "{answer:#}");
    world.host.shutdown().await;
}
