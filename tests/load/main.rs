//! Sixty-four turns at once over two hundred reloads, a third of them broken. A program of its own, since it
//! counts what the whole process holds.

use harness::{TestBot, children, open_files};
use host::app::{Host, HostOptions, StoreKind};
use host::reload::{Outcome, Trigger};
use host::task::SystemClock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const TURNS: usize = 64;
const RELOADS: usize = 200;

/// Places for all; generations may wait for their turns without holding reloads up.
const BOT: &str = "[limits]\nmax_concurrent_turns = 64\ncommand_parallel = 64\n[reload]\nmax_retired = 100\n\
    [agent.deferred_tools]\nload_all_below_chars = 100000\n";

/// The tool takes its time, so that a turn lives through several reloads and most turns stand in their call.
fn save(bot: &TestBot, words: &str) {
    bot.put("tools/stamp/main.sh", &format!("#!/bin/sh\ncat >/dev/null\nsleep 1\nprintf %s '{words}'\n"));
    let manifest = "description = \"Say the stamp\"\ncapabilities = []\nrun = { command = [\"./main.sh\"] }\n";
    bot.put("tools/stamp/tool.toml", manifest);
}

async fn ask(host: &Host, n: usize) -> (u8, Value) {
    host.command("ask", json!({"text": format!("say the stamp, please ({n})")})).await
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Looks again until it holds.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_turn_fails_over_two_hundred_reloads() {
    let bot = TestBot::new().write("bot.toml", BOT);
    save(&bot, "stamp 0.");
    let mut options = HostOptions::new(bot.path(), SystemClock::shared());
    options.store = StoreKind::Scratch;
    let host = Arc::new(Host::start(options).await.expect("a host"));
    for n in 0..4 {
        assert_eq!(ask(&host, n).await.0, 0);
    }
    let me = std::process::id();
    until("no program runs", || children(me).is_empty()).await;
    let (files, alive) = (open_files(me), tasks());

    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (mut most, mut alive_at_once) = (0, 0);
    let askers: Vec<_> = (0..TURNS)
        .map(|n| {
            let (host, stop, done) = (Arc::clone(&host), Arc::clone(&stop), Arc::clone(&done));
            tokio::spawn(async move {
                let mut answers = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    answers.push(ask(&host, n).await);
                    done.fetch_add(1, Ordering::SeqCst);
                }
                answers
            })
        })
        .collect();
    let started = Instant::now();
    let mut stamps = BTreeMap::from([(1u64, "stamp 0.".to_owned())]);
    for n in 1..=RELOADS {
        let seen = done.load(Ordering::SeqCst);
        until("somebody is answered between two reloads", || done.load(Ordering::SeqCst) > seen).await;
        let words = format!("stamp {n}.");
        match n % 3 {
            0 => bot.put("tools/stamp/tool.toml", "descripton = \"broken\"\n"),
            _ => save(&bot, &words),
        }
        let record = host.reload(Trigger::Command).await.expect("a record");
        match record.to {
            Some(to) => drop(stamps.insert(to, words)),
            None => assert_eq!((n % 3, record.outcome), (0, Outcome::Rejected), "{record:#?}"),
        }
        if n % 20 == 0 {
            let running = host.command("status", json!({})).await.1["turns"]["running"].as_u64().expect("a number");
            most = most.max(usize::try_from(running).expect("few"));
        }
        alive_at_once = alive_at_once.max(host.counts().living);
    }
    stop.store(true, Ordering::SeqCst);
    let mut answers = Vec::new();
    for asker in askers {
        answers.extend(asker.await.expect("an asker"));
    }
    let turns = answers.len();
    eprintln!("{turns} turns over {RELOADS} reloads in {:?}, {alive_at_once} generations at once", started.elapsed());

    let failed: Vec<&Value> = answers.iter().filter(|(exit, _)| *exit != 0).map(|(_, body)| body).collect();
    assert!(failed.is_empty(), "{} turns failed, first {:#}", failed.len(), failed[0]);
    for (_, answer) in &answers {
        let stamp = &stamps[&answer["generation"].as_u64().expect("a number")];
        assert!(answer["text"].as_str().is_some_and(|t| t.contains(stamp)), "{stamp}: {answer:#}");
    }
    let published = (RELOADS - RELOADS / 3 + 1) as u64;
    assert_eq!(stamps.keys().copied().collect::<Vec<_>>(), (1..=published).collect::<Vec<_>>());
    assert_eq!(most, TURNS, "so many turns ran at once");

    until("every retired generation is disposed", || host.counts().living == 1).await;
    let counts = host.counts();
    assert_eq!((counts.published, counts.disposed, counts.quarantined), (published, published - 1, 0));
    until("no program runs", || children(me).is_empty()).await;
    until("tasks are back", || tasks() <= alive).await;
    until("files are closed", || open_files(me) <= files).await;
    eprintln!("files {files} -> {}, tasks {alive} -> {}", open_files(me), tasks());
    host.shutdown().await;
    assert_eq!(host.counts().living, 0);
    until("tasks have ended", || tasks() == 0).await;
}
