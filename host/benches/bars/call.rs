//! What a call costs beside its body: the phases of the executor, a long result, a command.

use crate::measure::{each, each_of, pair};
use crate::table::{Bar, Probe, Table};
use crate::tools::{Says, tool};
use host::admission::{Facts, LivePolicy, PolicyCell, PolicyInput};
use host::config::{BotConfig, Redactor};
use host::exec::{
    ArtifactIndex, Countdown, Gates, HookDispatcher, Offered, Owners, Refused, ToolArtifactStore, ToolExecutor,
    TurnPorts,
};
use host::index::{Contribution, Tool, ToolIndex, ToolRegistry};
use host::journal::Journal;
use host::loader::RunCwd;
use host::runtime::command::{CommandPool, CommandSpec, HostEnv, bind};
use host::store::in_memory;
use host::task::{SystemClock, Tasks};
use plugin_sdk::{Callable, Capability, EffectivePolicy, OwnerPath, ToolExecutionContext, ToolUse};
use serde_json::Map;
use std::hint::black_box;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

fn executor() -> ToolExecutor {
    let mut registry = ToolRegistry::new();
    let about = "Reads the weather";
    let tools = [tool("short", about, "sunny".into()), tool("long", about, "sunny ".repeat(20_000))];
    registry.register_many(tools).expect("sound tools");
    ToolExecutor::new(registry.seal())
}

fn call(name: &str, n: usize) -> ToolUse {
    ToolUse::raw(format!("c{n}"), name, r#"{"city":"Paris"}"#)
}

pub(crate) fn rows(table: &mut Table) {
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let (executor, dir) = (executor(), tempfile::tempdir().expect("a folder"));
    let cx = ToolExecutionContext::new(dir.path());
    let twenty: Vec<ToolUse> = (0..20).map(|n| call("maps__short", n)).collect();
    let (one, many) = pair(
        || rt.block_on(executor.execute_one(black_box(call("maps__short", 0)), &cx, None)),
        || rt.block_on(executor.execute_many(black_box(twenty.clone()), &cx)),
    );
    table.time("one call of an empty body, all phases", one, &[]);
    let probe = Probe { name: "one call", took: one };
    table.ratio("twenty reading calls of one step", many, probe, &[]);
    let saved = each(30, || rt.block_on(executor.execute_one(call("maps__long", 0), &cx, None))).median();
    table.time("a result of 120,000 characters, saved as a file", saved, &[]);
    in_turn(&rt, dir.path(), table);
    let (command, spawn) = commands(&rt, dir.path());
    let probe = Probe { name: "spawning /bin/true and waiting", took: spawn };
    table.ratio("a command call of /bin/true", command, probe, &[Bar::Times(1.5)]);
}

fn commands(rt: &tokio::runtime::Runtime, dir: &std::path::Path) -> (std::time::Duration, std::time::Duration) {
    let host_env = HostEnv { path: "/usr/bin:/bin".into(), timezone: "UTC".into() };
    let pool = Arc::new(CommandPool::new(8, SystemClock::shared(), dir, Tasks::new(), host_env));
    let spec = CommandSpec {
        argv: vec!["/bin/true".into()],
        cwd: RunCwd::Tool,
        tool_dir: dir.to_path_buf(),
        plugin_dir: dir.to_path_buf(),
        owner: OwnerPath::root(),
        env: Vec::new(),
    };
    let tool = bind(spec, pool);
    let cx = ToolExecutionContext::new(dir);
    pair(
        || rt.block_on(tool.call(Map::new(), &cx)),
        || {
            rt.block_on(async {
                let mut command = tokio::process::Command::new("/bin/true");
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                command.status().await.expect("it runs")
            })
        },
    )
}

/// Turns with limits, journal and hooks, as a bot has them; the store is in memory.
struct Bench {
    executor: ToolExecutor,
    index: ToolIndex,
    policy: Arc<PolicyCell>,
    journal: Journal,
    artifacts: ToolArtifactStore,
    redactor: Arc<Redactor>,
    cx: ToolExecutionContext,
}

struct Anything(ToolIndex);

impl Offered for Anything {
    fn may_call(&self, name: &str) -> Result<String, Refused> {
        let known = self.0.get(name).map(|t| t.qualified.to_string());
        known.ok_or(Refused::Unknown { nearest: Vec::new() })
    }
}

struct Nobody;

impl Owners for Nobody {
    fn policy(&self, _owner: &OwnerPath) -> EffectivePolicy {
        EffectivePolicy { filesystem: "none".into(), ..EffectivePolicy::default() }
    }

    fn may_call(&self, _owner: &OwnerPath, _tool: &Tool) -> bool {
        false
    }

    fn digest(&self, _owner: &OwnerPath) -> String {
        "d".into()
    }
}

impl Bench {
    fn new(dir: &std::path::Path) -> Self {
        let mut registry = ToolRegistry::new();
        let reads = tool("reads", "Reads the weather", "sunny".into());
        let mut writes: Contribution = tool("writes", "Keeps the weather", "kept".into());
        writes.def = writes.def.capabilities([Capability::Write]).requires_approval(plugin_sdk::Approval::Never);
        registry.register_many([reads, writes]).expect("sound tools");
        let index = registry.seal();
        let mut bot = BotConfig::default();
        bot.approval.write_mode = host::config::Mode::Allow;
        let clock = SystemClock::shared();
        let store = in_memory(Arc::clone(&clock));
        let records = ArtifactIndex {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            session: ToolArtifactStore::folder_of("bench"),
            turn_id: "t".into(),
            room: Arc::default(),
        };
        let mut cx = ToolExecutionContext::new(dir);
        cx.principal = plugin_sdk::Principal::person("telegram", "7", Some(plugin_sdk::Role::User));
        Self {
            policy: Arc::new(PolicyCell::new(LivePolicy::new(PolicyInput::from(&bot)))),
            executor: ToolExecutor::with(index.clone(), Arc::new(bot), Arc::clone(&clock)),
            index,
            journal: Journal::new(store, clock),
            artifacts: ToolArtifactStore::of_session(dir, records),
            redactor: Redactor::new(),
            cx,
        }
    }

    fn turn(&self) -> ToolExecutor {
        self.executor.for_turn(TurnPorts {
            offered: Arc::new(Anything(self.index.clone())),
            owners: Arc::new(Nobody),
            policy: Arc::clone(&self.policy),
            facts: Facts {
                conversation: self.cx.origin.conversation.clone(),
                principal: self.cx.principal.clone(),
                platform_permissions: None,
                attended: true,
            },
            given_role: true,
            gates: Gates { approval: None, grants: None, session: "bench".into(), command: None, member: None },
            journal: self.journal.clone(),
            artifacts: self.artifacts.clone(),
            data_dir: self.cx.workspace_root.clone(),
            countdown: Countdown::new(SystemClock::shared(), Duration::from_secs(120)),
            redactor: Arc::clone(&self.redactor),
            hooks: Arc::new(HookDispatcher::default()),
        })
    }
}

/// What every phase around a body costs, journal included; the body alone is taken off.
fn in_turn(rt: &tokio::runtime::Runtime, dir: &std::path::Path, table: &mut Table) {
    let bench = Bench::new(dir);
    let says = Says("sunny".into());
    let body = each(2_000, || rt.block_on(says.call(Map::new(), &bench.cx))).median();
    for name in ["reads", "writes"] {
        let input = |n| (bench.turn(), call(&format!("maps__{name}"), n));
        let called = each_of(4_000, input, |(turn, call)| rt.block_on(turn.execute_one(call, &bench.cx, None)));
        let over = called.median().saturating_sub(body);
        let what = format!("a call in a turn that {name}, over its body");
        table.time(&what, over, &[Bar::Time(Duration::from_micros(25))]);
    }
}
