//! A whole turn over memory: a scripted model, real executor, real sessions.

use crate::admission::{Facts, LivePolicy, PolicyCell, PolicyInput};
use crate::config::{Redactor, Texts};
use crate::exec::{ArtifactIndex, Owners, ToolArtifactStore, ToolExecutor};
use crate::index::Tool;
use crate::journal::Journal;
use crate::model::{ModelCall, ModelClient, ModelError, ModelEvent, ModelRequest, StopReason, Usage};
use crate::session::{Ledger, SessionKey, Sessions};
use crate::store::{SharedStore, in_memory};
use crate::task::ManualClock;
use crate::tools::testing::World;
use crate::turn::{Answering, CallPorts, Incoming, Silent, Stop, Ties, TurnContext, TurnPorts, TurnReport, run};
use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use plugin_sdk::ports::Ask;
use plugin_sdk::{Addressed, EffectivePolicy, Message, OriginKind, OwnerPath, Segment};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One scripted step.
pub(super) enum Step {
    Says(Vec<ModelEvent>),
    Fails(ModelError),
    /// Never answers.
    Hangs,
}

pub(super) fn text(text: &str) -> Step {
    ending(vec![ModelEvent::Text(text.into())], StopReason::End)
}

pub(super) fn ending(mut events: Vec<ModelEvent>, stop: StopReason) -> Step {
    events.push(ModelEvent::Usage(Usage { input: 10, output: 2, ..Usage::default() }));
    events.push(ModelEvent::Stop(stop));
    Step::Says(events)
}

pub(super) fn calling(calls: &[(&str, &str, Value)]) -> Step {
    let call = |(id, name, args): &(&str, &str, Value)| {
        ModelEvent::Call(ModelCall { id: (*id).into(), name: (*name).into(), arguments: args.to_string() })
    };
    ending(calls.iter().map(call).collect(), StopReason::ToolUse)
}

pub(super) fn raw_call(id: &str, name: &str, arguments: &str) -> ModelEvent {
    ModelEvent::Call(ModelCall { id: id.into(), name: name.into(), arguments: arguments.into() })
}

/// What the scripted model says of itself.
#[derive(Clone, Copy)]
pub(super) struct Gifts {
    pub(super) catalog: bool,
    pub(super) images: bool,
    pub(super) max_tools: usize,
}

impl Default for Gifts {
    fn default() -> Self {
        Self { catalog: false, images: false, max_tools: usize::MAX }
    }
}

/// A model that follows its script and keeps what it was sent.
#[derive(Default)]
pub(super) struct Scripted {
    steps: Mutex<VecDeque<Step>>,
    pub(super) requests: Mutex<Vec<ModelRequest>>,
    name: Option<&'static str>,
    gifts: Gifts,
}

#[async_trait]
impl ModelClient for Scripted {
    fn name(&self) -> &str {
        self.name.unwrap_or("scripted")
    }

    fn wants_catalog(&self) -> bool {
        self.gifts.catalog
    }

    fn sees_images(&self) -> bool {
        self.gifts.images
    }

    fn max_tools(&self) -> usize {
        self.gifts.max_tools
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        self.requests.lock().unwrap().push(request);
        let step = self.steps.lock().unwrap().pop_front();
        match step {
            Some(Step::Says(events)) => Ok(futures::stream::iter(events.into_iter().map(Ok)).boxed()),
            Some(Step::Fails(error)) => Err(error),
            Some(Step::Hangs) => Ok(futures::stream::pending().boxed()),
            None => panic!("the script is used up"),
        }
    }
}

struct Free;

impl Owners for Free {
    fn policy(&self, _owner: &OwnerPath) -> EffectivePolicy {
        EffectivePolicy::default()
    }

    fn may_call(&self, _owner: &OwnerPath, _tool: &Tool) -> bool {
        true
    }
}

/// A world with its memory: several turns of several sessions.
pub(super) struct Table {
    pub(super) world: World,
    pub(super) store: SharedStore,
    pub(super) clock: ManualClock,
    dir: tempfile::TempDir,
    turns: Mutex<u32>,
    pub(super) window: u64,
    pub(super) question: Option<Arc<dyn Ask>>,
    pub(super) offline: bool,
    pub(super) gifts: Gifts,
}

impl Table {
    pub(super) fn new(world: World) -> Self {
        let clock = ManualClock::default();
        Self {
            store: in_memory(clock.shared()),
            clock,
            world,
            dir: tempfile::tempdir().unwrap(),
            turns: Mutex::new(0),
            window: 128_000,
            question: None,
            offline: false,
            gifts: Gifts::default(),
        }
    }

    pub(super) fn sessions(&self) -> Sessions {
        Sessions::new(self.store.clone(), self.clock.shared())
    }

    /// A turn in the session `key`, not started yet.
    pub(super) fn turn(&self, key: &str, facts: &Facts, said: &str, script: Vec<Step>) -> (TurnContext, Arc<Scripted>) {
        let number = {
            let mut turns = self.turns.lock().unwrap();
            *turns += 1;
            *turns
        };
        let name = self.offline.then_some("offline");
        let model = Arc::new(Scripted {
            steps: Mutex::new(script.into()),
            requests: Mutex::default(),
            name,
            gifts: self.gifts,
        });
        let indexes = self.world.build();
        let bot = Arc::new(self.world.bot.clone());
        let cx = TurnContext {
            with: Answering {
                agent: None,
                generation: 7,
                bot: bot.clone(),
                bot_name: "Test".into(),
                texts: Arc::new(Texts::new(bot.bot.language)),
                indexes: indexes.clone(),
                hold: Arc::new(()),
            },
            about: self.incoming(format!("t{number}"), key, facts, said),
            ports: TurnPorts {
                model: model.clone(),
                context_window: self.window,
                summarizer: None,
                sessions: self.sessions(),
                question: self.question.clone(),
                events: Arc::new(Silent),
                clock: self.clock.shared(),
                stop: Stop::new(),
                background: None,
                ledger: Ledger::new(self.store.clone(), self.clock.shared()),
                records: None,
            },
            calls: self.calls(
                key,
                &format!("t{number}"),
                ToolExecutor::with(indexes.tools.clone(), bot, self.clock.shared()),
            ),
        };
        (cx, model)
    }

    fn incoming(&self, turn_id: String, key: &str, facts: &Facts, said: &str) -> Incoming {
        Incoming {
            turn_id,
            origin: OriginKind::Message,
            message: Message {
                id: "m1".into(),
                conversation: facts.conversation.clone(),
                principal: facts.principal.clone(),
                segments: vec![Segment::plain(said)],
                sent_at: chrono::DateTime::UNIX_EPOCH,
                addressed: Addressed::Private,
                command: None,
                reply_to: None,
                album_id: None,
                edited: false,
            },
            earlier: Vec::new(),
            facts: facts.clone(),
            given_role: true,
            session: SessionKey::from_text(key),
            workspace_root: self.dir.path().to_path_buf(),
            help_text: "help".into(),
            profile: "interactive",
            images: vec![],
            ties: Ties { resume: json!({}), ..Ties::default() },
        }
    }

    fn calls(&self, key: &str, turn_id: &str, executor: ToolExecutor) -> CallPorts {
        let index = ArtifactIndex {
            store: self.store.clone(),
            clock: self.clock.shared(),
            session: ToolArtifactStore::folder_of(key),
            turn_id: turn_id.to_string(),
            room: Arc::default(),
        };
        let policy = LivePolicy::new(PolicyInput::from(&self.world.bot));
        CallPorts {
            executor,
            owners: Arc::new(Free),
            policy: Arc::new(PolicyCell::new(policy)),
            gates: crate::exec::Gates::default(),
            journal: Journal::new(self.store.clone(), self.clock.shared()),
            artifacts: ToolArtifactStore::of_session(self.dir.path(), index),
            data_dir: self.dir.path().to_path_buf(),
            redactor: Redactor::new(),
        }
    }

    /// Runs one turn to its end.
    pub(super) async fn run(&self, facts: &Facts, said: &str, script: Vec<Step>) -> (TurnReport, Vec<ModelRequest>) {
        self.run_in("telegram/main/private/-100", facts, said, script).await
    }

    pub(super) async fn run_in(
        &self,
        key: &str,
        facts: &Facts,
        said: &str,
        script: Vec<Step>,
    ) -> (TurnReport, Vec<ModelRequest>) {
        let (cx, model) = self.turn(key, facts, said, script);
        let report = run(cx).await;
        let requests = std::mem::take(&mut *model.requests.lock().unwrap());
        (report, requests)
    }

    pub(super) fn advance(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }
}

/// Names of the tools of a request that have an owner.
pub(super) fn plugin_tools(request: &ModelRequest) -> Vec<String> {
    request.tools.iter().map(|t| t.wire.to_string()).filter(|n| n.contains("__")).collect()
}

/// `code` of every call of a report, `-` when it had no error.
pub(super) fn codes(report: &TurnReport) -> Vec<String> {
    let code = |c: &crate::turn::CallReport| c.error.as_ref().map_or_else(|| "-".into(), |e| e.code.clone());
    report.tool_calls.iter().map(code).collect()
}
