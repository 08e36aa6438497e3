//! A preparation against its floor (walk, parse and compile the same files), and one edit in a small and a
//! large tree. Run: `cargo bench -p host --bench reload`.

#![expect(clippy::expect_used, clippy::panic, reason = "without its tree a bench has nothing to measure")]

use host::admission::PolicyCell;
use host::candidate::{Base, Candidate, PrepareRequest, Workshop, WorkshopSetup};
use host::config::{Env, Redactor};
use host::runtime::command::{CommandPool, HostEnv};
use host::task::{SystemClock, Tasks};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Tools of one plugin.
const PER_PLUGIN: usize = 10;

fn main() {
    divan::main();
}

struct World {
    bot: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

fn tool(description: &str) -> String {
    format!(
        "description = \"{description}\"\ncapabilities = [\"read\"]\ntags = [\"bench\"]\nrun = {{ command = [\"./main.sh\"] }}\n\
         [input]\ncity = {{ type = \"string\", minLength = 1, description = \"City name\" }}\n\
         days = {{ type = \"integer\", minimum = 1, maximum = 7, default = 1 }}\n"
    )
}

impl World {
    fn new(tools: usize) -> Self {
        let bot = tempfile::tempdir().expect("a folder");
        fs::write(bot.path().join("bot.toml"), "[agent]\nmax_iterations = 5\n").expect("a file");
        for n in 0..tools {
            let plugin = bot.path().join(format!("plugins/p{:03}", n / PER_PLUGIN));
            let folder = plugin.join(format!("tools/t{n:04}"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(plugin.join("plugin.toml"), "version = \"1.0.0\"\ndescription = \"bench\"\n").expect("a file");
            fs::write(folder.join("tool.toml"), tool(&format!("tool number {n}"))).expect("a file");
            fs::write(folder.join("main.sh"), "#!/bin/sh\necho '{}'\n").expect("a file");
            fs::set_permissions(folder.join("main.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        // A hash is trusted only some time after the file was written.
        std::thread::sleep(Duration::from_millis(150));
        Self { bot, runtime: tokio::runtime::Runtime::new().expect("a runtime") }
    }

    fn workshop(&self, data: &Path) -> Arc<Workshop> {
        let clock = SystemClock::shared();
        let host_env = HostEnv { path: "/bin:/usr/bin".into(), timezone: "UTC".into() };
        let pool = Arc::new(CommandPool::new(4, clock.clone(), data, Tasks::new(), host_env));
        let made = Workshop::new(WorkshopSetup {
            bot_dir: self.bot.path().to_path_buf(),
            data_dir: data.to_path_buf(),
            env: Env::of([("HOME", "/")]),
            builtins: Arc::new(|_| Vec::new()),
            pool,
            policy: Arc::new(PolicyCell::default()),
            redactor: Redactor::new(),
            clock,
        });
        made.expect("a workshop")
    }

    fn prepare(&self, shop: &Arc<Workshop>, base: Option<&Candidate>) -> Candidate {
        let base = base.map(|c| Base { contents: c.contents.clone(), failed: c.failed.clone() });
        let request = PrepareRequest { base, ..PrepareRequest::default() };
        match self.runtime.block_on(shop.prepare(request)) {
            Ok(candidate) => candidate,
            Err(rejected) => panic!("{:#?}", rejected.diagnostics()),
        }
    }
}

/// Everything new: read, copied, bound, indexed.
#[divan::bench(args = [10, 100, 1000], sample_count = 5, sample_size = 1)]
fn prepare_all(bencher: divan::Bencher<'_, '_>, tools: usize) {
    let world = World::new(tools);
    bencher
        .with_inputs(|| tempfile::tempdir().expect("a folder"))
        .bench_local_values(|data| (world.prepare(&world.workshop(data.path()), None), data));
}

/// The floor: the same files walked, read, parsed, and their schemas compiled.
#[divan::bench(args = [10, 100, 1000], sample_count = 5, sample_size = 1)]
fn walk_parse_compile(bencher: divan::Bencher<'_, '_>, tools: usize) {
    let world = World::new(tools);
    bencher.bench_local(|| {
        let mut open = vec![world.bot.path().to_path_buf()];
        let mut compiled = Vec::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|e| e == "toml") {
                    let text = fs::read_to_string(&path).expect("a text");
                    let value: toml::Value = toml::from_str(&text).expect("TOML");
                    if let Some(input) = value.get("input") {
                        let properties = serde_json::to_value(input).expect("JSON");
                        let schema = serde_json::json!({"type": "object", "properties": properties});
                        compiled.push(jsonschema::validator_for(&schema).expect("a schema"));
                    }
                } else {
                    divan::black_box(fs::read(path).expect("a file"));
                }
            }
        }
        compiled
    });
}

/// One `tool.toml` edited. Target: 40 ms at 1,000 tools, and at most four times the time at 10.
#[divan::bench(args = [10, 1000], sample_count = 20, sample_size = 1)]
fn one_edit(bencher: divan::Bencher<'_, '_>, tools: usize) {
    let world = World::new(tools);
    let data = tempfile::tempdir().expect("a folder");
    let shop = world.workshop(data.path());
    let first = world.prepare(&shop, None);
    let edited = world.bot.path().join("plugins/p000/tools/t0003/tool.toml");
    let mut n = 0;
    bencher
        .with_inputs(|| {
            n += 1;
            fs::write(&edited, tool(&format!("edit {n}"))).expect("a file");
        })
        .bench_local_values(|()| world.prepare(&shop, Some(&first)));
}
