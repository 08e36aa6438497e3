use super::*;
use crate::config::SessionScope;
use crate::store::{self, Key, Op, SharedStore, StoreError, Tree};
use crate::task::{Clock, ManualClock};
use plugin_sdk::{ConversationRef, Principal, Scope};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::Duration;

fn conversation(scope: Scope, thread: Option<&str>) -> ConversationRef {
    ConversationRef {
        platform: "telegram".into(),
        endpoint: "main".into(),
        scope,
        scene: "-1/0%".into(),
        parent: None,
        thread: thread.map(str::to_owned),
    }
}

#[test]
fn keys_follow_the_conversation_and_the_scope() {
    let ann = Principal::person("telegram", "7/8", None);
    let group = conversation(Scope::Group, Some("5"));
    let shared = SessionKey::of(&group, &ann, SessionScope::Conversation);
    assert_eq!(shared.as_str(), "telegram/main/group/-1%2F0%25/5");
    let own = SessionKey::of(&group, &ann, SessionScope::User);
    assert_eq!(own.as_str(), "telegram/main/group/-1%2F0%25/5/7%2F8");
    let nobody = Principal::system("telegram");
    assert_eq!(SessionKey::of(&group, &nobody, SessionScope::User), shared);
    let private = conversation(Scope::Private, None);
    let key = SessionKey::of(&private, &ann, SessionScope::User);
    assert_eq!(key.as_str(), "telegram/main/private/-1%2F0%25");
    assert!(key.folder_name().starts_with("s-") && key.folder_name().len() == 18);
    assert_ne!(key.folder_name(), shared.folder_name());
}

// ---- repair

fn user(text: &str) -> Value {
    json!({"role": "user", "text": text})
}

fn assistant(text: &str, calls: &[&str]) -> Value {
    let calls: Vec<_> = calls.iter().map(|id| json!({"id": id, "name": "maps__get", "arguments": "{}"})).collect();
    json!({"role": "assistant", "text": text, "calls": calls})
}

fn result(id: &str) -> Value {
    let content = json!([{"type": "text", "text": "ok"}]);
    json!({"role": "tool", "call_id": id, "tool": "maps__get", "content": content, "is_error": false, "data": 1})
}

#[test]
fn repair_answers_open_calls_and_drops_orphans() {
    let broken = vec![
        result("x"),
        user("hi"),
        assistant("", &["a", "b", "c"]),
        result("b"),
        user("meanwhile"),
        result("a"),
        result("a"),
        assistant("  ", &[]),
        user(" "),
        assistant("done", &[]),
        result("c"),
    ];
    let (fixed, done) = repair(broken);
    assert_eq!(done, Repaired { interrupted: 1, orphans: 3, blank: 2, moved: 1 });
    assert!(is_sendable(&fixed));
    let ids: Vec<_> = fixed.iter().filter_map(Paired::answers).collect();
    assert_eq!(ids, ["b", "a", "c"]);
    assert_eq!(fixed[2], result("b"));
    assert_eq!(fixed[4]["content"][0]["text"], "interrupted");
    assert_eq!(fixed[5], user("meanwhile"));
}

fn turn() -> impl Strategy<Value = Vec<Value>> {
    let step = prop::collection::vec(0usize..4, 0..4);
    (1usize..4, prop::collection::vec(step, 0..4), any::<bool>()).prop_map(|(users, steps, answered)| {
        let mut out: Vec<Value> = (0..users).map(|n| user(&format!("m{n}"))).collect();
        for (s, order) in steps.into_iter().enumerate() {
            // Ids come again in every turn, and twice within one step they do not.
            let ids: Vec<String> = (0..order.len()).map(|n| format!("call_{s}_{n}")).collect();
            let refs: Vec<&str> = ids.iter().map(String::as_str).collect();
            out.push(assistant("working", &refs));
            let mut results: Vec<_> = ids.iter().zip(&order).collect();
            results.sort_by_key(|(_, at)| **at);
            out.extend(results.into_iter().map(|(id, _)| result(id)));
        }
        if answered {
            out.push(assistant("answer", &[]));
        }
        out
    })
}

proptest! {
    #[test]
    fn every_prefix_of_a_transcript_is_sendable_after_repair(turns in prop::collection::vec(turn(), 1..4)) {
        let whole: Vec<Value> = turns.concat();
        let (same, done) = repair(whole.clone());
        prop_assert!(done.is_nothing());
        prop_assert_eq!(&same, &whole);
        for cut in 0..=whole.len() {
            let (fixed, done) = repair(whole[..cut].to_vec());
            prop_assert!(is_sendable(&fixed));
            prop_assert_eq!(fixed.len(), cut + done.interrupted);
            prop_assert_eq!(&fixed[..cut], &whole[..cut]);
            let (tail, _) = repair(whole[cut..].to_vec());
            prop_assert!(is_sendable(&tail));
        }
    }

    #[test]
    fn repair_of_anything_is_sendable_and_final(
        picks in prop::collection::vec((0usize..4, 0usize..3, 0usize..3), 0..30)
    ) {
        let ids = ["a", "b", "c"];
        let messages: Vec<Value> = picks.into_iter().map(|(kind, x, y)| match kind {
            0 => user("hello"),
            1 => assistant("", &ids[x.min(y)..x.max(y)]),
            2 => result(ids[x]),
            _ => json!({"odd": x}),
        }).collect();
        let (fixed, _) = repair(messages);
        prop_assert!(is_sendable(&fixed));
        let (again, done) = repair(fixed.clone());
        prop_assert!(done.is_nothing());
        prop_assert_eq!(again, fixed);
    }
}

// ---- snapshot

fn tool(name: &str, stamp: u64) -> StoredTool {
    StoredTool { qualified_name: name.into(), schema_hash: "h".into(), stamp, via: Via::Direct }
}

#[test]
fn snapshots_merge_by_higher_stamp() {
    let stored =
        LoadedSnapshot { counter: 9, tools: vec![tool("a", 3), tool("b", 9), tool("of-ann", 2)], skills: vec![] };
    let turn = LoadedSnapshot { counter: 8, tools: vec![tool("a", 5), tool("b", 4), tool("c", 8)], skills: vec![] };
    let gone = |name: &str, stamp| Dropped { qualified_name: name.into(), stamp };
    let merged = stored.merged(&turn, &[gone("c", 3), gone("of-ann", 1)]);
    assert_eq!(merged.counter, 9);
    assert_eq!(merged.tools, [tool("a", 5), tool("b", 9), tool("of-ann", 2), tool("c", 8)]);
    let merged = stored.merged(&LoadedSnapshot::default(), &[gone("a", 3), gone("b", 8)]);
    assert_eq!(merged.tools, [tool("b", 9), tool("of-ann", 2)]);
}

// ---- sessions

struct World {
    store: SharedStore,
    clock: ManualClock,
    sessions: Sessions,
    key: SessionKey,
}

fn world() -> World {
    let clock = ManualClock::default();
    let store = store::in_memory(clock.shared());
    let sessions = Sessions::new(store.clone(), clock.shared());
    World { store, clock, sessions, key: SessionKey::from_text("console/main/private/c") }
}

impl World {
    fn entry(&self, turn: &str, message: Value) -> HistoryEntry {
        HistoryEntry::new(turn, self.clock.now(), Some("console:1".into()), message)
    }
}

#[tokio::test]
async fn a_turn_is_kept_whole_and_a_broken_one_is_repaired_for_good() {
    let w = world();
    let mut first = w.sessions.begin(&w.key, "t1", json!({"inbox": 1}), 1000).await.unwrap();
    assert!(first.history().is_empty());
    first.append(vec![w.entry("t1", user("hi"))]).await.unwrap();
    assert_eq!(w.sessions.interrupted().await.unwrap()[0].running.as_ref().unwrap().about, json!({"inbox": 1}));
    let mut flags = Map::new();
    flags.insert("footer".into(), json!(true));
    let end = Commit {
        entries: vec![w.entry("t1", assistant("hello", &[]))],
        loaded: Some(LoadedSnapshot { counter: 1, tools: vec![tool("a", 1)], skills: vec![] }),
        outcome: json!({"outcome": "completed"}),
        flags,
        extra: vec![Op::put(Tree::Outbox, Key::new().u64(1), json!("answer"))],
        ..Commit::default()
    };
    first.commit(end).await.unwrap();
    assert!(w.sessions.interrupted().await.unwrap().is_empty());
    let head = w.sessions.head(&w.key).await.unwrap().unwrap();
    assert_eq!((head.turns, head.running.is_none(), head.flags["footer"].clone()), (1, true, json!(true)));
    assert_eq!(head.last.unwrap().outcome["outcome"], "completed");
    assert!(w.store.get(Tree::Outbox, &Key::new().u64(1)).await.unwrap().is_some());

    // A process that dies after two of three results.
    let mut second = w.sessions.begin(&w.key, "t2", Value::Null, 1000).await.unwrap();
    assert_eq!(second.loaded().tools, [tool("a", 1)]);
    let steps = [user("go"), assistant("", &["x", "y", "z"]), result("y"), result("x")];
    second.append(steps.iter().map(|m| w.entry("t2", m.clone())).collect()).await.unwrap();
    drop(second);
    let mut third = w.sessions.begin(&w.key, "t3", Value::Null, 1000).await.unwrap();
    assert_eq!(third.repaired().interrupted, 1);
    assert!(is_sendable(third.history()));
    third.append(vec![w.entry("t3", user("again"))]).await.unwrap();
    let stored = w.sessions.history(&w.key).await.unwrap();
    assert_eq!(stored, third.history());
    assert!(stored.windows(2).all(|pair| pair[0].n < pair[1].n));
    let last = stored.iter().rev().nth(1).unwrap();
    assert_eq!((last.answers().as_deref(), last.tool.as_deref()), (Some("z"), Some("maps__get")));
    third.commit(Commit::default()).await.unwrap();
    let fourth = w.sessions.begin(&w.key, "t4", Value::Null, 1000).await.unwrap();
    assert!(fourth.repaired().is_nothing());
}

#[tokio::test]
async fn a_long_history_is_read_from_a_message_on() {
    let w = world();
    for n in 0..20 {
        let mut t = w.sessions.begin(&w.key, "t", Value::Null, 6).await.unwrap();
        assert!(t.history().len() <= 6 && t.repaired().is_nothing());
        assert!(t.history().first().is_none_or(|e| e.role() == "user"));
        let id = format!("c{n}");
        let entries = [user("q"), assistant("", &[&id]), result(&id), assistant("a", &[])];
        let entries = entries.into_iter().map(|m| w.entry("t", m)).collect();
        t.commit(Commit { entries, ..Commit::default() }).await.unwrap();
    }
    assert_eq!(w.sessions.history(&w.key).await.unwrap().len(), 80);
}

#[tokio::test]
async fn new_archives_and_a_late_commit_does_not_undo_it() {
    let w = world();
    let mut t = w.sessions.begin(&w.key, "t1", Value::Null, 100).await.unwrap();
    t.append(vec![w.entry("t1", user("old"))]).await.unwrap();
    w.store.batch(vec![Op::put(Tree::Grants, Key::new().str(w.key.as_str()).str("g"), json!(1))]).await.unwrap();
    assert!(w.sessions.reset(&w.key).await.unwrap());
    let loaded = Some(LoadedSnapshot { counter: 4, tools: vec![tool("a", 4)], skills: vec![] });
    let entries = vec![w.entry("t1", assistant("late", &[]))];
    t.commit(Commit { entries, loaded, ..Commit::default() }).await.unwrap();
    assert!(w.sessions.history(&w.key).await.unwrap().is_empty());
    assert_eq!(w.sessions.loaded(&w.key).await.unwrap(), LoadedSnapshot::default());
    let archived = w.store.scan_prefix(Tree::History, &Key::new().str(w.key.as_str()), None, 9).await.unwrap();
    assert_eq!(archived.len(), 2);
    assert!(w.store.scan_prefix(Tree::Grants, &Key::new(), None, 9).await.unwrap().is_empty());
    let head = w.sessions.head(&w.key).await.unwrap().unwrap();
    assert_eq!((head.epoch, head.turns, head.last_n), (1, 0, 0));

    let mut t = w.sessions.begin(&w.key, "t2", Value::Null, 100).await.unwrap();
    t.append(vec![w.entry("t2", user("new"))]).await.unwrap();
    w.sessions.remove(&w.key).await.unwrap();
    t.commit(Commit { entries: vec![w.entry("t2", assistant("x", &[]))], ..Commit::default() }).await.unwrap();
    assert!(w.sessions.head(&w.key).await.unwrap().is_none());
    let stats = w.store.stats().await.unwrap();
    assert!(stats.records.is_empty(), "{:?}", stats.records);
    assert!(!w.sessions.reset(&w.key).await.unwrap());
}

#[tokio::test]
async fn a_concurrent_change_of_the_loaded_set_is_merged() {
    let w = world();
    let mut t = w.sessions.begin(&w.key, "t1", Value::Null, 100).await.unwrap();
    let other = LoadedSnapshot { counter: 7, tools: vec![tool("a", 7), tool("b", 1)], skills: vec![] };
    let key = Key::new().str(w.key.as_str());
    w.store.batch(vec![Op::put(Tree::Loaded, key, serde_json::to_value(other).unwrap())]).await.unwrap();
    w.sessions.set(&w.key, |head| head.model = Some("fast".into())).await.unwrap();
    let mine = LoadedSnapshot { counter: 3, tools: vec![tool("a", 2), tool("c", 3)], skills: vec![] };
    t.commit(Commit { loaded: Some(mine), ..Commit::default() }).await.unwrap();
    let merged = w.sessions.loaded(&w.key).await.unwrap();
    assert_eq!(merged.tools, [tool("a", 7), tool("b", 1), tool("c", 3)]);
    assert_eq!(w.sessions.head(&w.key).await.unwrap().unwrap().model.as_deref(), Some("fast"));
    let foreign = Commit { extra: vec![Op::check(Tree::Usage, Key::new(), Some(json!(1)))], ..Commit::default() };
    assert!(matches!(t.commit(foreign).await, Err(SessionError::Store(StoreError::Conflict { tree: "usage" }))));
}

#[tokio::test]
async fn idle_sessions_go_and_busy_ones_stay() {
    let w = world();
    for n in 0..3 {
        let key = SessionKey::from_text(&format!("console/main/private/{n}"));
        let mut t = w.sessions.begin(&key, "t", Value::Null, 9).await.unwrap();
        t.commit(Commit { entries: vec![w.entry("t", user("x"))], ..Commit::default() }).await.unwrap();
        w.clock.advance(Duration::from_secs(60));
    }
    let before = w.clock.now() - chrono::TimeDelta::seconds(90);
    assert_eq!(w.sessions.remove_idle(before, |key| key.as_str().ends_with('0')).await.unwrap(), 1);
    let left: Vec<_> = w.sessions.list(None, 9).await.unwrap().into_iter().map(|h| h.session.to_string()).collect();
    assert_eq!(left, ["console/main/private/0", "console/main/private/2"]);
}

#[tokio::test]
async fn what_a_running_turn_stored_is_mended_before_the_next_request() {
    let w = world();
    let mut turn = w.sessions.begin(&w.key, "t1", json!({}), 1000).await.unwrap();
    turn.append(vec![w.entry("t1", user("hi")), w.entry("t1", assistant("", &["a", "b"]))]).await.unwrap();
    turn.append(vec![w.entry("t1", result("b")), w.entry("t1", result("lost"))]).await.unwrap();
    let done = turn.mend().await.unwrap();
    assert_eq!((done.interrupted, done.orphans), (1, 1));
    assert!(is_sendable(turn.history()) && turn.mend().await.unwrap().is_nothing());
    turn.append(vec![w.entry("t1", assistant("done", &[]))]).await.unwrap();
    let stored = w.sessions.history(&w.key).await.unwrap();
    assert_eq!(stored, turn.history());
    assert_eq!(stored.iter().map(|e| e.role()).collect::<Vec<_>>(), ["user", "assistant", "tool", "tool", "assistant"]);
}

#[tokio::test]
async fn a_summary_is_known_by_the_head_and_leaves_with_the_session() {
    let w = world();
    let mut turn = w.sessions.begin(&w.key, "t1", json!({}), 1000).await.unwrap();
    let upto = turn.append(vec![w.entry("t1", user("one"))]).await.unwrap();
    let summary = w.entry("t1", json!({"role": "summary", "text": "They said one.", "upto": upto}));
    assert!(turn.summarize(summary.clone(), upto).await.unwrap());
    assert_eq!(turn.summary(), Some(("They said one.", upto)));
    turn.append(vec![w.entry("t1", user("two"))]).await.unwrap();
    turn.commit(Commit::default()).await.unwrap();
    // however little is read of the history, the summary is there
    let again = w.sessions.look(&w.key, "t2", 1).await.unwrap().unwrap();
    assert_eq!(again.summary(), Some(("They said one.", upto)));
    assert!(again.head().running.is_none());
    let mut late = w.sessions.begin(&w.key, "t3", json!({}), 1000).await.unwrap();
    w.sessions.reset(&w.key).await.unwrap();
    assert!(!late.summarize(summary, upto).await.unwrap(), "a session that was reset keeps its new state");
    assert_eq!(w.sessions.look(&w.key, "t4", 1000).await.unwrap().unwrap().summary(), None);
}
