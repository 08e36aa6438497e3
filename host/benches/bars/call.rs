//! What a call costs beside its body: the phases of the executor, a long result, a command.

use crate::measure::{each, pair};
use crate::table::{Bar, Probe, Table};
use crate::tools::tool;
use host::exec::ToolExecutor;
use host::index::ToolRegistry;
use host::loader::RunCwd;
use host::runtime::command::{CommandPool, CommandSpec, HostEnv, bind};
use host::task::{SystemClock, Tasks};
use plugin_sdk::{OwnerPath, ToolExecutionContext, ToolUse};
use serde_json::Map;
use std::hint::black_box;
use std::process::Stdio;
use std::sync::Arc;

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
