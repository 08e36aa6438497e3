//! Whole turns, from delivery to settled, with a model that takes no time; and a save that becomes live meanwhile.

use crate::channel::{Pong, Rig};
use crate::measure::Samples;
use crate::table::{Probe, Table};
use crate::tree;
use futures::StreamExt;
use host::app::StoreKind;
use host::config::Language;
use host::model::{ModelClient, ModelRequest, ToolChoice};
use host::store::{Key, Op, OpenOptions, SharedStore, Tree, in_memory, open};
use host::task::SystemClock;
use plugin_sdk::CancellationSignal;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Turns of one row.
const TURNS: usize = 384;
const AT_ONCE: [usize; 3] = [1, 16, 64];
const CONFIG: &str = "[limits]\nmax_concurrent_turns = 64\n";

/// What every bot must do: ask the model, keep two records durably.
struct Echo {
    store: SharedStore,
    _data: tempfile::TempDir,
}

impl Echo {
    fn new(kind: StoreKind) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let clock = SystemClock::shared();
        let store = match kind {
            StoreKind::Scratch => in_memory(clock),
            StoreKind::Disk => {
                let data_dir = data.path().to_path_buf();
                open(OpenOptions { data_dir, flush_every_ms: 500, cache_mb: 64, clock }).expect("a store").store
            }
        };
        Self { store, _data: data }
    }

    async fn ask(&self, n: usize) {
        let request = ModelRequest {
            system: "You are a bot.".into(),
            messages: Vec::new(),
            tools: Vec::new(),
            deferred: vec![],
            tool_choice: ToolChoice::Auto,
            step: 1,
            user_text: "ping".into(),
            help_text: "".into(),
            language: Language::En,
            cancellation: CancellationSignal::new(),
        };
        let events = Pong(Duration::ZERO).complete(request).await.expect("an answer").count().await;
        let put =
            |part| Op::put(Tree::History, Key::new().u64(n as u64).u64(part), json!({"text": "pong", "n": events}));
        self.store.batch(vec![put(0), put(1)]).await.expect("kept");
        self.store.barrier().await.expect("durable");
    }
}

/// `TURNS` of them, so many at once: time per turn, and how long each took.
async fn load<F>(at_once: usize, ask: impl Fn(usize, usize) -> F) -> (Duration, Samples)
where
    F: Future<Output = ()> + Send + 'static,
{
    let begun = Instant::now();
    let each = TURNS / at_once;
    let workers: Vec<_> = (0..at_once)
        .map(|who| {
            let turns: Vec<F> = (0..each).map(|n| ask(who, n)).collect();
            tokio::spawn(async move {
                let mut took = Vec::new();
                for turn in turns {
                    let start = Instant::now();
                    turn.await;
                    took.push(start.elapsed());
                }
                took
            })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.expect("a worker"));
    }
    (begun.elapsed() / (each * at_once) as u32, Samples::new(all))
}

async fn turns(rig: &Arc<Rig>, at_once: usize) -> (Duration, Samples) {
    load(at_once, |who, _| {
        let rig = Arc::clone(rig);
        async move { rig.ask(who).await }
    })
    .await
}

async fn echoes(echo: &Arc<Echo>, at_once: usize) -> Duration {
    let asked = load(at_once, |who, n| {
        let echo = Arc::clone(echo);
        async move { echo.ask(who * TURNS + n).await }
    });
    asked.await.0
}

/// A save until the record that says it is published.
async fn saves(rig: &Rig, bot: &Path, count: usize, mark: &str) -> Samples {
    let mut took = Vec::new();
    for n in 0..count {
        let mut events = rig.host.events();
        let start = Instant::now();
        std::fs::write(bot.join(tree::EDITED), tree::manifest(&format!("{mark} {n}"))).expect("a file");
        loop {
            let event = events.recv().await.expect("events");
            let outcome = event["data"]["outcome"].as_str().unwrap_or_default();
            assert_ne!(outcome, "rejected", "{event:#}");
            if event["event"] == "reload" && outcome == "published" {
                break;
            }
        }
        took.push(start.elapsed());
    }
    Samples::new(took)
}

async fn save_under_load(table: &mut Table) {
    let bot = tree::bot(CONFIG, 100);
    let rig = Rig::start(bot.path(), StoreKind::Disk, true, Duration::from_millis(100)).await;
    let quiet = saves(&rig, bot.path(), 8, "quiet").await;
    let stop = Arc::new(AtomicBool::new(false));
    let busy = (0..64).map(|who| {
        let (rig, stop) = (Arc::clone(&rig), Arc::clone(&stop));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                rig.ask(who).await;
            }
        })
    });
    let busy: Vec<_> = busy.collect();
    let loaded = saves(&rig, bot.path(), 8, "busy").await;
    stop.store(true, Ordering::Relaxed);
    for worker in busy {
        worker.await.expect("no turn failed");
    }
    let probe = Probe { name: "the same save without turns (200 ms of it settle)", took: quiet.median() };
    table.ratio("save → live, 64 turns of 100 ms running", loaded.median(), probe, &[]);
    rig.stop().await;
}

pub(crate) fn rows(table: &mut Table) {
    let rt = tokio::runtime::Runtime::new().expect("a runtime");
    rt.block_on(async {
        for (store, name) in [(StoreKind::Scratch, "memory"), (StoreKind::Disk, "sled")] {
            let echo = Arc::new(Echo::new(store));
            for tools in [10, 1_000] {
                let bot = tree::bot(CONFIG, tools);
                let rig = Rig::start(bot.path(), store, false, Duration::ZERO).await;
                turns(&rig, 16).await;
                for at_once in AT_ONCE {
                    let took = echoes(&echo, at_once).await;
                    let (per_turn, each) = turns(&rig, at_once).await;
                    let probe = Probe { name: "model and two durable records", took };
                    table.ratio(&format!("{name}, {tools} tools, {at_once} at once, per turn"), per_turn, probe, &[]);
                    if at_once == 64 {
                        table.time(
                            &format!("{name}, {tools} tools, 64 at once, p99 of one answer"),
                            each.quantile(0.99),
                            &[],
                        );
                    }
                }
                rig.stop().await;
            }
        }
        save_under_load(table).await;
    });
}
