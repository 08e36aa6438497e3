//! What is found of a turn that broke off at each point.

use crate::journal::{Event, Journal, Record};
use crate::session::{HistoryEntry, is_sendable};
use crate::store::in_memory;
use crate::task::ManualClock;
use crate::turn::{Broken, Remains};
use chrono::DateTime;
use serde_json::{Value, json};

fn entry(message: Value) -> HistoryEntry {
    let mut entry = HistoryEntry::new("t1", DateTime::UNIX_EPOCH, Some("telegram:42".into()), message);
    entry.meta = json!({"name": "Ann", "role": "user"});
    entry
}

fn asked(calls: &[(&str, &str)]) -> HistoryEntry {
    let calls: Vec<Value> = calls.iter().map(|(id, name)| json!({"id": id, "name": name, "arguments": "{}"})).collect();
    entry(json!({"role": "assistant", "text": "", "calls": calls}))
}

fn answered(id: &str) -> HistoryEntry {
    entry(json!({"role": "tool", "call_id": id, "tool": "x", "content": [], "is_error": false, "data": {}}))
}

fn started(id: &str, tool: &str, read_only: bool) -> Event {
    Event::new("tool.started", json!({"call_id": id, "tool": tool, "read_only": read_only})).of_turn(1, "t1", "")
}

fn finished(id: &str, body: &str) -> Event {
    Event::new("tool.finished", json!({"call_id": id, "body": body})).of_turn(1, "t1", "")
}

async fn found(history: &[HistoryEntry], events: Vec<Event>, asked: bool) -> (Broken, Vec<String>) {
    let clock = ManualClock::default();
    let journal = Journal::new(in_memory(clock.shared()), clock.shared());
    let mut records: Vec<Record> = Vec::new();
    for event in events {
        records.push(journal.append(event).await.unwrap());
    }
    let broken = Broken::of(Remains { history, journal: &records, asked }, DateTime::UNIX_EPOCH);
    let mut whole: Vec<Value> = history.iter().map(|e| e.message.clone()).collect();
    whole.extend(broken.entries.iter().map(|e| e.message.clone()));
    assert!(is_sendable(&whole), "paired: {whole:?}");
    let codes = broken.entries.iter().map(|e| e.meta["code"].as_str().unwrap().to_string()).collect();
    (broken, codes)
}

#[tokio::test]
async fn reading_runs_again_and_effects_do_not() {
    let word = entry(json!({"role": "user", "text": "do it"}));
    let (none, codes) = found(&[], Vec::new(), false).await;
    assert!(none.is_harmless() && codes.is_empty(), "nothing was done yet");

    let reading = [word.clone(), asked(&[("a", "look"), ("b", "look")]), answered("a")];
    let (read, codes) = found(&reading, vec![started("a", "look", true), started("b", "look", true)], false).await;
    assert!(read.is_harmless());
    assert_eq!(codes, ["CANCELLED"]);

    let writing = [word.clone(), asked(&[("a", "w"), ("b", "w"), ("c", "w")]), answered("a")];
    let events = vec![started("a", "put", false), finished("a", "success"), started("b", "set", false)];
    let (wrote, codes) = found(&writing, events, false).await;
    assert!(!wrote.is_harmless());
    assert_eq!(codes, ["OUTCOME_UNKNOWN", "CANCELLED"], "the third was never begun");
    assert_eq!((wrote.effects, wrote.unknown), (vec!["put".to_string(), "set".into()], vec!["set".to_string()]));

    let (asking, codes) = found(&[word, asked(&[("a", "w")])], Vec::new(), true).await;
    assert!(!asking.is_harmless(), "a person was asked");
    assert_eq!(codes, ["CANCELLED"], "not begun");
}

#[tokio::test]
async fn what_a_hook_refused_had_no_effect_and_an_inner_call_counts() {
    let calls = [asked(&[("a", "w")])];
    let refused = vec![started("a", "put", false), finished("a", "none")];
    let (broken, codes) = found(&calls, refused, false).await;
    assert!(broken.is_harmless());
    assert_eq!(codes, ["CANCELLED"]);

    let inner = vec![started("a", "look", true), started("a.1", "put", false), finished("a.1", "success")];
    let (broken, codes) = found(&calls, inner, false).await;
    assert_eq!(broken.effects, ["put"]);
    assert!(broken.unknown.is_empty(), "it is known to have ended");
    assert_eq!(codes, ["CANCELLED"], "the outer one only reads");
}

#[tokio::test]
async fn a_lost_result_is_unknown_and_steps_are_summed() {
    let step = |n: u64| {
        let usage =
            json!({"input": n, "output": 1, "cached_read": 0, "reasoning": 0, "estimated": false, "cost_usd": 0.5});
        Event::new("turn.step", json!({"step": n, "usage": usage})).of_turn(1, "t1", "")
    };
    let ended = vec![step(10), started("a", "put", false), finished("a", "success"), step(20)];
    let (broken, codes) = found(&[asked(&[("a", "w")])], ended, false).await;
    assert_eq!(codes, ["OUTCOME_UNKNOWN"]);
    assert!(broken.unknown.is_empty());
    assert_eq!((broken.usage.input, broken.usage.output), (30, 2));
    assert!((broken.usage.cost_usd - 1.0).abs() < 1e-9);
    assert_eq!(broken.entries[0].message["tool"], "put", "under the name the journal knows");
}
