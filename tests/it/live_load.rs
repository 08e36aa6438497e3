//! Many turns over many reloads on the real program. The larger measure, inside one process, is `tests/load`.

use harness::{LiveHost, TestBot, children, command, open_files, wait_for};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(30);
const ASKERS: usize = 16;
const RELOADS: usize = 45;

fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

fn living(bot: &TestBot) -> Vec<Value> {
    let (_, body) = command(bot, "generations", &json!({}));
    body["items"].as_array().expect("items").iter().filter(|g| g["state"] != "disposed").cloned().collect()
}

#[test]
fn no_turn_fails_over_reloads() {
    let bot = TestBot::new().tool("tools/stamp", "Say the stamp", "stamp 0.");
    bot.put("bot.toml", "[limits]\nmax_concurrent_turns = 16\n");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let ask = |n: usize| command(&bot, "ask", &json!({"text": format!("say the stamp, please ({n})")}));
    (0..ASKERS).for_each(|n| assert_eq!(ask(n).0, 0));
    let (files, workers) = (open_files(host.pid()), threads(host.pid()));
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let stamps = Mutex::new(BTreeMap::from([(1u64, "stamp 0.".to_owned())]));
    let answers = Mutex::new(Vec::new());
    let started = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..ASKERS {
            let (ask, stop, done, answers) = (&ask, &stop, &done, &answers);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let answer = ask(n);
                    done.fetch_add(1, Ordering::SeqCst);
                    answers.lock().expect("answers").push(answer);
                }
            });
        }
        for n in 1..=RELOADS {
            // between two reloads somebody is answered
            let seen = done.load(Ordering::SeqCst);
            wait_for("an answer", SOON, || (done.load(Ordering::SeqCst) > seen).then_some(()));
            let words = format!("stamp {n}.");
            match n % 3 {
                0 => bot.put("tools/stamp/tool.toml", "descripton = \"broken\"\n"),
                _ => bot.put_tool("tools/stamp", "Say the stamp", &words),
            }
            let (_, body) = command(&bot, "reload", &json!({}));
            match body["record"]["to"].as_u64() {
                Some(to) => drop(stamps.lock().expect("stamps").insert(to, words)),
                None => assert_eq!((n % 3, &body["record"]["outcome"]), (0, &"rejected".into()), "{body:#}"),
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    let (answers, stamps) = (answers.into_inner().expect("answers"), stamps.into_inner().expect("stamps"));
    eprintln!("{} turns over {RELOADS} reloads in {:?}", answers.len(), started.elapsed());
    for (exit, answer) in &answers {
        assert_eq!((*exit, &answer["outcome"]), (0, &"completed".into()), "{answer:#}");
        let stamp = stamps.get(&answer["generation"].as_u64().expect("a number")).expect("a published number");
        assert!(answer["text"].as_str().is_some_and(|t| t.contains(stamp)), "{stamp}: {answer:#}");
    }
    assert_eq!(stamps.len(), 1 + RELOADS - RELOADS / 3);
    assert_eq!(stamps.keys().copied().collect::<Vec<_>>(), (1..=stamps.len() as u64).collect::<Vec<_>>());
    wait_for("one generation lives", SOON, || (living(&bot).len() == 1).then_some(()));
    let after = wait_for("files are closed", SOON, || Some(open_files(host.pid())).filter(|n| *n <= files + 1));
    assert!(children(host.pid()).is_empty());
    eprintln!("files {files} -> {after}, threads {workers} -> {}", threads(host.pid()));
    let (_, body) = command(&bot, "generations", &json!({"records": true}));
    let records = body["records"].as_array().expect("records");
    let published = records.iter().filter(|r| r["outcome"] == "published").count();
    let disposed = records.iter().filter(|r| !r["disposed_at"].is_null()).count();
    assert_eq!((published, disposed), (stamps.len(), stamps.len() - 1));
    assert!(records.iter().all(|r| r["turns_cancelled"] == 0 && r["quarantined"] == json!([])));
    assert_eq!(host.stop(), 0);
}
