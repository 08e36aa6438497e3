//! The executor against host-side bodies, a memory store and a clock moved by hand.

mod approvals;
mod artifacts;
mod bare;
mod batches;
mod breaker;
mod calls;
mod codes;
mod ends;
mod exactly;
mod hooks;
mod recorded;
mod wrappers;
mod remembered;

use super::*;
use crate::admission::{Facts, LivePolicy, PolicyCell, PolicyInput};
use crate::config::{BotConfig, Redactor};
use crate::index::{Contribution, Source, Tool, ToolIndex, ToolRegistry};
use crate::journal::Journal;
use crate::loader::Placement;
use crate::store::{SharedStore, in_memory};
use crate::task::ManualClock;
use async_trait::async_trait;
use futures::future::BoxFuture;
use plugin_sdk::{
    Callable, Capability, EffectivePolicy, OwnerPath, Principal, ToolDef, ToolError, ToolExecutionContext, ToolResult,
    ToolUse,
};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Body = Arc<dyn Fn(Map<String, Value>, ToolExecutionContext) -> BoxFuture<'static, ToolResult> + Send + Sync>;

struct Scripted(Body);

#[async_trait]
impl Callable for Scripted {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        (self.0)(input, cx.clone()).await
    }
}

fn body<F, R>(f: F) -> Body
where
    F: Fn(Map<String, Value>, ToolExecutionContext) -> R + Send + Sync + 'static,
    R: Future<Output = ToolResult> + Send + 'static,
{
    Arc::new(move |input, cx| Box::pin(f(input, cx)))
}

/// A body that gives its arguments back.
fn echo() -> Body {
    body(|input, _| async move { ToolResult::text(Value::Object(input).to_string()) })
}

/// A definition that never asks: reads only.
fn reads() -> ToolDef {
    ToolDef::new("Reads something").capabilities([Capability::Read]).input_schema(json!({"type": "object"}))
}

/// A definition with an effect that does not ask either (`approval.write_mode = "allow"` in the bot below).
fn writes() -> ToolDef {
    ToolDef::new("Writes something")
        .capabilities([Capability::Write])
        .requires_approval(plugin_sdk::Approval::Never)
        .input_schema(json!({"type": "object"}))
}

/// A definition that asks every time.
fn asks() -> ToolDef {
    reads().requires_approval(plugin_sdk::Approval::Always)
}

fn contribution(owner: &str, name: &str, source: Source, def: ToolDef, body: Body) -> Contribution {
    Contribution {
        owner: OwnerPath::new(owner),
        name: name.into(),
        placement: Placement::Plugin,
        source,
        def,
        callable: Arc::new(Scripted(body)),
        runtime: "builtin",
        place: None,
        schema_pointer: "/input_schema".into(),
        code_digest: "d".into(),
        config: Arc::default(),
    }
}

/// What the model was sent: everything but hidden tools, minus what a test takes away.
struct Sent {
    index: ToolIndex,
    not_loaded: Vec<&'static str>,
    gone: Vec<&'static str>,
}

impl Offered for Sent {
    fn may_call(&self, name: &str) -> Result<String, Refused> {
        if self.gone.contains(&name) {
            return Err(Refused::Gone(name.into()));
        }
        let Some(tool) = self.index.get(name) else {
            return Err(Refused::Unknown { nearest: self.index.nearest(name, 3) });
        };
        let qualified = tool.qualified.to_string();
        if tool.def().options.hidden {
            Err(Refused::NotListed(qualified))
        } else if self.not_loaded.contains(&&*qualified) {
            Err(Refused::NotLoaded(qualified))
        } else {
            Ok(qualified)
        }
    }
}

struct Anything;

impl Owners for Anything {
    fn policy(&self, _owner: &OwnerPath) -> EffectivePolicy {
        EffectivePolicy { filesystem: "data".into(), ..EffectivePolicy::default() }
    }

    fn may_call(&self, owner: &OwnerPath, tool: &Tool) -> bool {
        tool.owner() == owner || !tool.qualified.contains("private")
    }
}

/// Gives scripted answers and keeps what it was asked.
#[derive(Default)]
struct Person {
    answers: Mutex<Vec<ApprovalAnswer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
    dropped: Mutex<Vec<String>>,
    /// Runs while the question is open.
    meanwhile: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Person {
    fn says(answers: impl IntoIterator<Item = ApprovalAnswer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() }
    }
}

#[async_trait]
impl ApprovalPort for Person {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        self.asked.lock().unwrap().push(request);
        if let Some(f) = &self.meanwhile {
            f();
        }
        let next = {
            let mut answers = self.answers.lock().unwrap();
            if answers.is_empty() { None } else { Some(answers.remove(0)) }
        };
        match next {
            Some(answer) => answer,
            None => futures::future::pending().await,
        }
    }

    async fn grant_dropped(&self, tool: &str) {
        self.dropped.lock().unwrap().push(tool.to_string());
    }
}

/// A turn and everything around it.
struct World {
    dir: tempfile::TempDir,
    clock: ManualClock,
    store: SharedStore,
    journal: Journal,
    policy: Arc<PolicyCell>,
    redactor: Arc<Redactor>,
    bot: BotConfig,
    facts: Facts,
    given_role: bool,
    tools: Vec<Contribution>,
    not_loaded: Vec<&'static str>,
    gone: Vec<&'static str>,
    person: Option<Arc<dyn ApprovalPort>>,
    grants: Option<crate::session::SessionGrants>,
    member: Option<Arc<dyn Membership>>,
    cx: ToolExecutionContext,
    hooks: Arc<HookDispatcher>,
    room: Arc<ArtifactRoom>,
    fit: Option<Fit>,
}

/// Changes the executor of a world before its turn begins.
type Fit = Box<dyn Fn(ToolExecutor) -> ToolExecutor + Send + Sync>;

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ws")).unwrap();
        let clock = ManualClock::default();
        let store = in_memory(clock.shared());
        let mut bot = BotConfig::default();
        bot.approval.write_mode = crate::config::Mode::Allow;
        let mut cx = ToolExecutionContext::new(dir.path().join("ws"));
        cx.turn_id = "t1".into();
        cx.generation = 7;
        cx.origin.conversation.platform = "telegram".into();
        cx.principal = Principal::person("telegram", "7", Some(plugin_sdk::Role::User));
        let facts = Facts {
            conversation: cx.origin.conversation.clone(),
            principal: cx.principal.clone(),
            platform_permissions: None,
            attended: true,
        };
        Self {
            journal: Journal::new(Arc::clone(&store), clock.shared()),
            policy: Arc::new(PolicyCell::new(LivePolicy::new(PolicyInput::from(&bot)))),
            redactor: Redactor::new(),
            tools: Vec::new(),
            not_loaded: Vec::new(),
            gone: Vec::new(),
            person: None,
            grants: None,
            member: None,
            dir,
            clock,
            store,
            bot,
            facts,
            given_role: false,
            cx,
            hooks: Arc::default(),
            room: Arc::default(),
            fit: None,
        }
    }

    fn tool(mut self, name: &str, def: ToolDef, body: Body) -> Self {
        self.tools.push(contribution(".", name, Source::Folder, def, body));
        self
    }

    fn owned(mut self, owner: &str, name: &str, def: ToolDef, body: Body) -> Self {
        self.tools.push(contribution(owner, name, Source::Folder, def, body));
        self
    }

    fn person(mut self, person: &Arc<Person>) -> Self {
        self.person = Some(Arc::clone(person) as Arc<dyn ApprovalPort>);
        self
    }

    fn set_policy(&self, change: impl FnOnce(&mut PolicyInput)) {
        let mut input = self.policy.read().input().clone();
        change(&mut input);
        self.policy.replace(LivePolicy::new(input));
    }

    fn index(&self) -> ToolIndex {
        let mut registry = ToolRegistry::new();
        registry.register_many(self.tools.clone()).unwrap();
        registry.seal()
    }

    fn ports(&self, index: &ToolIndex) -> TurnPorts {
        let session = ArtifactIndex {
            store: Arc::clone(&self.store),
            clock: self.clock.shared(),
            session: ToolArtifactStore::folder_of("telegram/main/group/-100"),
            turn_id: "t1".into(),
            room: Arc::clone(&self.room),
        };
        TurnPorts {
            offered: Arc::new(Sent {
                index: index.clone(),
                not_loaded: self.not_loaded.clone(),
                gone: self.gone.clone(),
            }),
            owners: Arc::new(Anything),
            policy: Arc::clone(&self.policy),
            facts: self.facts.clone(),
            given_role: self.given_role,
            gates: Gates {
                approval: self.person.clone(),
                grants: self.grants.clone(),
                session: "s".into(),
                command: None,
                member: self.member.clone(),
            },
            journal: self.journal.clone(),
            artifacts: ToolArtifactStore::of_session(self.dir.path(), session),
            data_dir: self.dir.path().to_path_buf(),
            countdown: Countdown::new(self.clock.shared(), Duration::from_secs(120)),
            redactor: Arc::clone(&self.redactor),
            hooks: Arc::clone(&self.hooks),
        }
    }

    fn turn(&self) -> ToolExecutor {
        let index = self.index();
        let ports = self.ports(&index);
        let bare = ToolExecutor::with(index, Arc::new(self.bot.clone()), self.clock.shared());
        self.fit.as_ref().map_or(bare.clone(), |fit| fit(bare)).for_turn(ports)
    }

    /// One call in a turn of its own.
    async fn call(&self, name: &str, input: Value) -> ToolResult {
        self.turn().execute_one(ToolUse::new("c1", name, input), &self.cx, None).await
    }

    /// Kinds and data of the journal, oldest first.
    async fn events(&self) -> Vec<(String, Value)> {
        self.journal.recent(100).await.unwrap().into_iter().map(|r| (r.kind, r.data)).collect()
    }

    async fn kinds(&self) -> Vec<String> {
        self.events().await.into_iter().map(|(kind, _)| kind).collect()
    }
}

fn code(result: &ToolResult) -> &str {
    result.error.as_ref().map_or("", |e| e.code.as_str())
}

fn error(result: &ToolResult) -> &ToolError {
    result.error.as_ref().unwrap_or_else(|| panic!("no error: {result:?}"))
}

/// Lets everything that is ready run.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
