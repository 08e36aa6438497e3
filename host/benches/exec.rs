//! What a call costs beside its body: the phases of the executor, a long result, a command.

#![expect(clippy::expect_used, reason = "a bench that cannot start has nothing to report")]

use divan::{Bencher, black_box};
use host::exec::ToolExecutor;
use host::index::{Contribution, Source, ToolRegistry};
use host::loader::{Placement, RunCwd};
use host::runtime::command::{CommandPool, CommandSpec, HostEnv, bind};
use host::task::{SystemClock, Tasks};
use plugin_sdk::{Callable, Capability, OwnerPath, ToolDef, ToolExecutionContext, ToolResult, ToolUse};
use serde_json::{Map, Value, json};
use std::process::Stdio;
use std::sync::Arc;
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

struct Says(String);

#[async_trait::async_trait]
impl Callable for Says {
    async fn call(&self, _: Map<String, Value>, _: &ToolExecutionContext) -> ToolResult {
        ToolResult::text(self.0.clone())
    }
}

fn tool(name: &str, text: String) -> Contribution {
    let def = ToolDef::new("Reads the weather").capabilities([Capability::Read]).input_schema(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["city"],
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "default": 1}},
    }));
    Contribution {
        owner: OwnerPath::new("maps"),
        name: name.into(),
        placement: Placement::Plugin,
        source: Source::Folder,
        def,
        callable: Arc::new(Says(text)),
        runtime: "builtin",
        place: None,
        schema_pointer: "/input_schema".into(),
        code_digest: String::new(),
        config: Arc::default(),
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

fn executor() -> ToolExecutor {
    let mut registry = ToolRegistry::new();
    registry
        .register_many([tool("short", "sunny".into()), tool("long", "sunny ".repeat(20_000))])
        .expect("sound tools");
    ToolExecutor::new(registry.seal())
}

fn call(name: &str, n: usize) -> ToolUse {
    ToolUse::raw(format!("c{n}"), name, r#"{"city":"Paris"}"#)
}

#[divan::bench]
fn one_call(bencher: Bencher<'_, '_>) {
    let (rt, executor, dir) = (runtime(), executor(), tempfile::tempdir().expect("a folder"));
    let cx = ToolExecutionContext::new(dir.path());
    bencher.bench_local(|| rt.block_on(executor.execute_one(black_box(call("maps__short", 0)), &cx, None)));
}

#[divan::bench]
fn twenty_calls(bencher: Bencher<'_, '_>) {
    let (rt, executor, dir) = (runtime(), executor(), tempfile::tempdir().expect("a folder"));
    let cx = ToolExecutionContext::new(dir.path());
    let calls: Vec<ToolUse> = (0..20).map(|n| call("maps__short", n)).collect();
    bencher.bench_local(|| rt.block_on(executor.execute_many(black_box(calls.clone()), &cx)));
}

#[divan::bench]
fn saved_result(bencher: Bencher<'_, '_>) {
    let (rt, executor, dir) = (runtime(), executor(), tempfile::tempdir().expect("a folder"));
    let cx = ToolExecutionContext::new(dir.path());
    bencher.bench_local(|| rt.block_on(executor.execute_one(black_box(call("maps__long", 0)), &cx, None)));
}

/// The bar of a command call is 1.5 times this.
#[divan::bench]
fn spawn_true(bencher: Bencher<'_, '_>) {
    let rt = runtime();
    bencher.bench_local(|| {
        rt.block_on(async {
            let mut command = tokio::process::Command::new("/bin/true");
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().await.expect("it runs")
        })
    });
}

#[divan::bench]
fn command_true(bencher: Bencher<'_, '_>) {
    let (rt, dir) = (runtime(), tempfile::tempdir().expect("a folder"));
    let host_env = HostEnv { path: "/usr/bin:/bin".into(), timezone: "UTC".into() };
    let pool = Arc::new(CommandPool::new(8, SystemClock::shared(), dir.path(), Tasks::new(), host_env));
    let spec = CommandSpec {
        argv: vec!["/bin/true".into()],
        cwd: RunCwd::Tool,
        tool_dir: dir.path().to_path_buf(),
        plugin_dir: dir.path().to_path_buf(),
        owner: OwnerPath::root(),
        env: Vec::new(),
    };
    let tool = bind(spec, pool);
    let cx = ToolExecutionContext::new(dir.path());
    bencher.bench_local(|| rt.block_on(tool.call(Map::new(), &cx)));
}
