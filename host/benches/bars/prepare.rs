//! A preparation against its floor, and one edit in a small and a large tree.

use crate::measure::{Samples, each, each_of};
use crate::table::{Bar, Probe, Table};
use crate::tree;
use host::admission::PolicyCell;
use host::candidate::{Base, Candidate, PrepareRequest, Workshop, WorkshopSetup};
use host::config::{Env, Redactor};
use host::runtime::command::{CommandPool, HostEnv};
use host::task::{SystemClock, Tasks};
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A bot folder with what prepares it.
pub(crate) struct World {
    bot: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl World {
    pub(crate) fn new(tools: usize) -> Self {
        let bot = tree::bot("[agent]\nmax_iterations = 5\n", tools);
        Self { bot, runtime: tokio::runtime::Runtime::new().expect("a runtime") }
    }

    pub(crate) fn workshop(&self, data: &Path) -> Arc<Workshop> {
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

    pub(crate) fn prepare(&self, shop: &Arc<Workshop>, base: Option<&Candidate>) -> Candidate {
        let base = base.map(|c| Base { contents: c.contents.clone(), failed: c.failed.clone() });
        let request = PrepareRequest { base, ..PrepareRequest::default() };
        match self.runtime.block_on(shop.prepare(request)) {
            Ok(candidate) => candidate,
            Err(rejected) => panic!("{:#?}", rejected.diagnostics()),
        }
    }

    /// Everything new: read, copied, bound, indexed.
    fn whole(&self) -> Samples {
        let folder = |_| tempfile::tempdir().expect("a folder");
        each_of(5, folder, |data| (self.prepare(&self.workshop(data.path()), None), data))
    }

    /// The floor: the same files walked, read, parsed, and their schemas compiled.
    fn floor(&self) -> Samples {
        each(5, || walk_parse_compile(self.bot.path()))
    }

    /// One `tool.toml` edited, everything else carried over.
    fn edits(&self, count: usize) -> Samples {
        let data = tempfile::tempdir().expect("a folder");
        let shop = self.workshop(data.path());
        let first = self.prepare(&shop, None);
        let edit = |n: usize| {
            let text = tree::manifest(&format!("edit {n}"));
            fs::write(self.bot.path().join(tree::EDITED), text).expect("a file");
        };
        each_of(count, edit, |()| self.prepare(&shop, Some(&first)))
    }
}

fn walk_parse_compile(bot: &Path) -> Vec<jsonschema::Validator> {
    let mut open = vec![bot.to_path_buf()];
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
                black_box(fs::read(path).expect("a file"));
            }
        }
    }
    compiled
}

pub(crate) fn rows(table: &mut Table) {
    let worlds = [10, 100, 1000].map(|tools| (tools, World::new(tools)));
    for (tools, world) in &worlds {
        let (whole, floor) = (world.whole().median(), world.floor().median());
        let probe = Probe { name: "the same files walked, parsed, compiled", took: floor };
        table.ratio(&format!("{tools} tools, everything new"), whole, probe, &[]);
    }
    let small = worlds[0].1.edits(30).median();
    let large = worlds[2].1.edits(30).median();
    table.time("one edit, 10 tools in 1 plugin", small, &[]);
    let probe = Probe { name: "the same edit among 10 tools", took: small };
    let bars = [Bar::Time(Duration::from_millis(40)), Bar::Times(4.0)];
    table.ratio("one edit, 1,000 tools in 100 plugins", large, probe, &bars);
}
