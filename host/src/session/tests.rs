use super::*;
use crate::config::SessionScope;
use crate::journal::Journal;
use crate::store::{self, Key, Op, SharedStore, StoreError, Tree};
use crate::task::{Clock, ManualClock, Tasks};
use plugin_sdk::ports::{AnswerSource, Ask, Question, QuestionKind};
use plugin_sdk::{CancellationSignal, ConversationRef, Principal, Scope};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
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

// ---- lanes

fn lanes(places: usize, per_principal: usize, queue: usize) -> (Lanes, ManualClock) {
    let clock = ManualClock::default();
    (Lanes::new(LaneLimits { places, per_principal, queue }, clock.shared()), clock)
}

fn ticket(number: u64, session: &str, principal: &str) -> Ticket {
    Ticket {
        number,
        session: SessionKey::from_text(session),
        principal: principal.into(),
        supersede: false,
        message: json!(number),
    }
}

/// Whether a ticket has its place by now.
fn now(waiting: &mut Waiting) -> Option<Result<Place, LaneError>> {
    futures::FutureExt::now_or_never(waiting)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn turns_of_a_session_run_in_ticket_order_whoever_wakes_first() {
    for run in 0..200u64 {
        let (lanes, _) = lanes(16, 16, 20);
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks = Tasks::new();
        let mut handles = Vec::new();
        let tickets: Vec<Waiting> = (0..3).map(|n| lanes.submit(ticket(n, "s", "p")).unwrap()).collect();
        let mut tickets: Vec<(u64, Waiting)> = (0..).zip(tickets).collect();
        if run % 2 == 0 {
            tickets.reverse();
        }
        for (n, waiting) in tickets {
            let order = order.clone();
            handles.push(tasks.spawn("turn", async move {
                let place = waiting.await.unwrap();
                order.lock().unwrap().push(n);
                tokio::task::yield_now().await;
                order.lock().unwrap().push(n);
                drop(place);
            }));
        }
        for h in handles {
            h.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 0, 1, 1, 2, 2], "run {run}");
        assert_eq!((lanes.running(), lanes.waiting()), (0, 0));
    }
}

#[tokio::test]
async fn places_go_to_sessions_in_ticket_order_and_a_person_has_few() {
    let (lanes, _) = lanes(3, 2, 20);
    let mut waits: Vec<Waiting> = ["a", "a", "a", "b", "c"]
        .into_iter()
        .zip(0..)
        .map(|(who, n)| lanes.submit(ticket(n, &format!("s{n}"), who)).unwrap())
        .collect();
    let mut got: Vec<Option<Place>> = waits.iter_mut().map(|w| now(w).and_then(Result::ok)).collect();
    let has: Vec<bool> = got.iter().map(Option::is_some).collect();
    assert_eq!(has, [true, true, false, true, false]);
    got[3] = None;
    let c = now(&mut waits[4]).unwrap().unwrap();
    assert!(now(&mut waits[2]).is_none());
    got[0] = None;
    assert!(now(&mut waits[2]).unwrap().is_ok());
    drop(c);
    drop(got);
    assert_eq!(lanes.running(), 0);
}

#[tokio::test]
async fn asking_gives_the_place_back_and_comes_back_first() {
    let (lanes, _) = lanes(1, 1, 20);
    let a = lanes.submit(ticket(1, "s1", "a")).unwrap().await.unwrap();
    let mut b = lanes.submit(ticket(2, "s2", "b")).unwrap();
    let mut c = lanes.submit(ticket(3, "s3", "c")).unwrap();
    assert!(now(&mut b).is_none());
    let (outer, inner) = (a.pause(), a.pause());
    let b = now(&mut b).unwrap().unwrap();
    inner.resume().await;
    let back = outer.resume();
    tokio::pin!(back);
    assert!(futures::poll!(&mut back).is_pending());
    drop(b);
    assert!(now(&mut c).is_none(), "a turn that comes back goes before a new one");
    back.await;
    // A question whose future was dropped: nobody waits, yet the place comes back.
    drop(a.pause());
    let c = now(&mut c).unwrap().unwrap();
    let mut d = lanes.submit(ticket(4, "s4", "d")).unwrap();
    drop(c);
    assert!(now(&mut d).is_none(), "the place is taken again by the turn that asked");
    drop(a);
    drop(now(&mut d).unwrap().unwrap());
    // A stopped turn does not wait for a place.
    let a = lanes.submit(ticket(5, "s1", "a")).unwrap().await.unwrap();
    let paused = a.pause();
    let b = lanes.submit(ticket(6, "s2", "b")).unwrap().await.unwrap();
    assert!(lanes.stop(a.session(), StopCause::Person).running);
    paused.resume().await;
    assert_eq!(a.stop_cause(), Some(StopCause::Person));
    drop(a);
    drop(b);
    assert_eq!(lanes.running(), 0);
    drop(lanes.submit(ticket(7, "s2", "b")).unwrap().await.unwrap());
}

#[tokio::test]
async fn the_newest_supersedes_the_running_and_stands_for_the_waiting() {
    let (lanes, clock) = lanes(4, 4, 1);
    let a = lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap();
    let b = lanes.submit(ticket(2, "s", "p")).unwrap();
    let full = lanes.submit(ticket(3, "s", "p")).err().unwrap();
    assert_eq!(full.waiting, 1);
    let newest = |n| Ticket { supersede: true, ..ticket(n, "s", "p") };
    let c = lanes.submit(newest(4)).unwrap();
    let mut d = lanes.submit(newest(5)).unwrap();
    assert_eq!(b.await.err(), Some(LaneError::Superseded));
    assert_eq!(c.await.err(), Some(LaneError::Superseded));
    assert!(a.cancellation().requested());
    assert_eq!(a.stop_cause(), Some(StopCause::Superseded));
    assert!(now(&mut d).is_none());
    clock.advance(Duration::from_secs(3));
    drop(a);
    let d = d.await.unwrap();
    assert_eq!(d.absorbed(), [json!(2), json!(4)]);
    assert_eq!((d.waited(), d.stop_cause()), (Duration::from_secs(3), None));
}

#[tokio::test]
async fn stop_leaves_the_waiting_and_close_sends_them_away() {
    let (lanes, _) = lanes(4, 4, 20);
    let key = SessionKey::from_text("s");
    assert_eq!(lanes.stop(&key, StopCause::Person), Stopped { running: false, waiting: 0 });
    let a = lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap();
    let gone = lanes.submit(ticket(2, "s", "p")).unwrap();
    let b = lanes.submit(ticket(3, "s", "p")).unwrap();
    drop(gone);
    assert_eq!(lanes.stop(&key, StopCause::Person), Stopped { running: true, waiting: 1 });
    drop(a);
    let b = b.await.unwrap();
    let c = lanes.submit(ticket(4, "s", "p")).unwrap();
    lanes.close();
    assert_eq!(c.await.err(), Some(LaneError::Closing));
    assert_eq!(lanes.submit(ticket(5, "x", "p")).unwrap().await.err(), Some(LaneError::Closing));
    assert_eq!(lanes.stop_all(StopCause::Shutdown), 1);
    let (lanes2, idle) = (lanes.clone(), lanes.idle());
    tokio::pin!(idle);
    assert!(futures::poll!(&mut idle).is_pending());
    assert_eq!(b.stop_cause(), Some(StopCause::Shutdown));
    drop(b);
    idle.await;
    assert!(!lanes2.is_busy(&key));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_chats_share_sixteen_places() {
    let (lanes, _) = lanes(16, 2, 20);
    let tasks = Tasks::new();
    let peak = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let handles: Vec<_> = (0..500u64)
        .map(|n| {
            let waiting = lanes.submit(ticket(n, &format!("s{n}"), &format!("p{}", n % 100))).unwrap();
            let (lanes, peak) = (lanes.clone(), peak.clone());
            tasks.spawn("turn", async move {
                let place = waiting.await.unwrap();
                peak.fetch_max(lanes.running(), std::sync::atomic::Ordering::SeqCst);
                tokio::task::yield_now().await;
                let paused = place.pause();
                tokio::task::yield_now().await;
                paused.resume().await;
            })
        })
        .collect();
    for h in handles {
        h.await.unwrap();
    }
    assert_eq!((lanes.running(), lanes.waiting()), (0, 0));
    assert!(peak.load(std::sync::atomic::Ordering::SeqCst) >= 16);
    drop(lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap());
}

// ---- questions

#[derive(Default)]
struct Screen(Mutex<Vec<String>>);

#[async_trait::async_trait]
impl QuestionSink for Screen {
    async fn show(&self, question: &OpenQuestion) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("show {}", question.text));
        Ok(())
    }
    async fn invalid(&self, question: &OpenQuestion) {
        self.0.lock().unwrap().push(format!("again {}", question.text));
    }
    async fn closed(&self, _: &OpenQuestion, end: &QuestionEnd) {
        self.0.lock().unwrap().push(format!("closed {end:?}"));
    }
}

struct Asking {
    w: World,
    questions: Questions,
    screen: Arc<Screen>,
    stop: CancellationSignal,
}

fn asking() -> Asking {
    let w = world();
    let journal = Journal::new(w.store.clone(), w.clock.shared());
    let questions = Questions::new(w.store.clone(), w.clock.shared(), journal);
    Asking { w, questions, screen: Arc::default(), stop: CancellationSignal::new() }
}

impl Asking {
    fn port_in(&self, session: &str) -> Arc<QuestionPort> {
        let asked_in = AskedIn {
            session: SessionKey::from_text(session),
            turn_id: "t1".into(),
            generation: 1,
            principal: "console:1".into(),
            cancellation: self.stop.clone(),
            place: None,
        };
        Arc::new(QuestionPort::new(self.questions.clone(), asked_in, self.screen.clone()))
    }

    fn port(&self) -> Arc<QuestionPort> {
        self.port_in(self.w.key.as_str())
    }

    fn say(&self, text: &str) -> Captured {
        self.questions.answer(&self.w.key, "console:1", text)
    }

    /// Lets the tasks run until a question is open.
    async fn until_open(&self) {
        while self.questions.open_in(&self.w.key).is_none() || self.w.clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

fn question(kind: QuestionKind, options: &[&str]) -> Question {
    Question {
        question: " Where to? ".into(),
        kind,
        options: options.iter().map(|o| (*o).to_owned()).collect(),
        default_value: None,
        timeout_seconds: 60,
    }
}

#[tokio::test]
async fn answers_are_captured_by_their_kind() {
    let cases: [(QuestionKind, &[&str], &str, Option<&str>, Option<usize>); 9] = [
        (QuestionKind::Text, &[], " Paris ", Some("Paris"), None),
        (QuestionKind::Number, &[], "-3.50", Some("-3.50"), None),
        (QuestionKind::Confirm, &[], "OK", Some("yes"), None),
        (QuestionKind::Confirm, &[], "取消", Some("no"), None),
        (QuestionKind::Pick, &["km", "miles"], "2", Some("miles"), Some(1)),
        (QuestionKind::Pick, &["2", "1"], "1", Some("1"), Some(1)),
        (QuestionKind::Pick, &["km", "miles"], "km", Some("km"), Some(0)),
        (QuestionKind::Text, &[], "cancel", None, None),
        (QuestionKind::Pick, &["km", "miles"], "取消", None, None),
    ];
    for (kind, options, text, wanted, index) in cases {
        let a = asking();
        let (port, q) = (a.port(), question(kind, options));
        let (answer, captured) = tokio::join!(port.ask(q), async {
            a.until_open().await;
            assert_eq!(a.questions.answer(&a.w.key, "console:2", text), Captured::No);
            a.say(text)
        });
        assert_eq!(captured, Captured::Answered);
        match wanted {
            Some(wanted) => {
                let answer = answer.unwrap();
                assert_eq!((answer.answer.as_str(), answer.option_index), (wanted, index));
                assert_eq!(answer.source, AnswerSource::Person);
            }
            None => assert_eq!(answer.unwrap_err().code, "QUESTION_CANCELLED"),
        }
        assert_eq!(a.say(text), Captured::No, "a late text is an ordinary message");
        assert!(a.w.store.scan_prefix(Tree::Questions, &Key::new(), None, 9).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_invalid_answer_is_asked_again_until_the_first_deadline() {
    let a = asking();
    let port = a.port();
    let (answer, ()) = tokio::join!(port.ask(question(QuestionKind::Number, &[])), async {
        a.until_open().await;
        a.w.clock.advance(Duration::from_secs(59));
        assert_eq!(a.say("nan"), Captured::Invalid);
        assert_eq!(a.say("many"), Captured::Invalid);
        while a.screen.0.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
        a.w.clock.advance(Duration::from_secs(1));
    });
    assert_eq!(answer.unwrap_err().code, "QUESTION_TIMEOUT");
    let seen = a.screen.0.lock().unwrap().clone();
    assert_eq!(seen, ["show Where to?", "again Where to?", "again Where to?", "closed Expired"]);
}

#[tokio::test]
async fn silence_means_the_default_or_no() {
    let with_default = Question { default_value: Some("2".into()), ..question(QuestionKind::Pick, &["km", "miles"]) };
    let cases = [
        (with_default, "miles", AnswerSource::Default),
        (question(QuestionKind::Confirm, &[]), "no", AnswerSource::Timeout),
    ];
    for (q, wanted, source) in cases {
        let a = asking();
        let port = a.port();
        let (answer, ()) = tokio::join!(port.ask(q), async {
            a.until_open().await;
            a.w.clock.advance(Duration::from_secs(60));
        });
        let answer = answer.unwrap();
        assert_eq!((answer.answer.as_str(), answer.source), (wanted, source));
    }
}

#[tokio::test]
async fn questions_of_a_session_wait_for_each_other_and_end_with_the_turn() {
    let a = asking();
    let tasks = Tasks::new();
    let mut asked: Vec<_> = (0..9)
        .map(|_| {
            let port = a.port();
            tasks.spawn("ask", async move { port.ask(question(QuestionKind::Text, &[])).await })
        })
        .collect();
    a.until_open().await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    let tenth = a.port().ask(question(QuestionKind::Text, &[])).await;
    assert_eq!(tenth.unwrap_err().code, "QUESTION_BUSY");
    assert_eq!(a.say("first"), Captured::Answered);
    assert_eq!(asked.remove(0).await.unwrap().unwrap().answer, "first");
    a.until_open().await;
    let stored = a.w.store.scan_prefix(Tree::Questions, &Key::new(), None, 9).await.unwrap();
    assert_eq!(stored.len(), 1, "stored before it is shown");
    a.stop.request();
    for handle in asked {
        assert_eq!(handle.await.unwrap().unwrap_err().code, "QUESTION_CANCELLED");
    }
    assert!(a.questions.open_in(&a.w.key).is_none());
}

#[tokio::test]
async fn one_person_has_three_open_and_what_a_crash_leaves_is_lost() {
    let a = asking();
    let tasks = Tasks::new();
    for n in 0..3 {
        let port = a.port_in(&format!("s{n}"));
        tasks.spawn("ask", async move { port.ask(question(QuestionKind::Text, &[])).await });
    }
    while a.w.clock.sleepers() < 3 {
        tokio::task::yield_now().await;
    }
    let fourth = a.port().ask(question(QuestionKind::Text, &[])).await;
    assert_eq!(fourth.unwrap_err().code, "QUESTION_BUSY");
    tasks.close(Duration::ZERO).await;
    let again =
        Questions::new(a.w.store.clone(), a.w.clock.shared(), Journal::new(a.w.store.clone(), a.w.clock.shared()));
    assert_eq!(again.take_lost().await.unwrap().len(), 3);
    assert!(again.take_lost().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_approval_takes_only_its_words_and_gives_the_place_back() {
    let a = asking();
    let (lanes, _) = lanes(1, 1, 5);
    let place = Arc::new(lanes.submit(ticket(1, a.w.key.as_str(), "console:1")).unwrap().await.unwrap());
    let asked_in = AskedIn {
        session: a.w.key.clone(),
        turn_id: "t".into(),
        generation: 1,
        principal: "console:1".into(),
        cancellation: place.cancellation(),
        place: Some(place.clone()),
    };
    let port = QuestionPort::new(a.questions.clone(), asked_in, a.screen.clone());
    let (end, ()) = tokio::join!(port.approve("run maps__get?".into(), Duration::from_secs(180)), async {
        a.until_open().await;
        drop(lanes.submit(ticket(2, "other", "p")).unwrap().await.unwrap());
        assert_eq!(a.say("maybe"), Captured::No);
        assert_eq!(a.say("允许"), Captured::Answered);
    });
    assert_eq!(end, QuestionEnd::Answered { answer: "yes".into(), index: None, by: "console:1".into() });
    let (end, ()) = tokio::join!(port.approve("again?".into(), Duration::from_secs(180)), async {
        a.until_open().await;
        lanes.stop(&a.w.key, StopCause::Person);
    });
    assert_eq!(end, QuestionEnd::Withdrawn);
}

#[tokio::test]
async fn bad_questions_and_secrets_asked_by_plugins_are_refused() {
    let a = asking();
    let bad = [
        Question { question: "  ".into(), ..question(QuestionKind::Text, &[]) },
        Question { timeout_seconds: 301, ..question(QuestionKind::Text, &[]) },
        Question { default_value: Some("x".into()), ..question(QuestionKind::Number, &[]) },
        question(QuestionKind::Text, &["a", "b"]),
        question(QuestionKind::Pick, &["a"]),
        question(QuestionKind::Pick, &["a", " a "]),
        question(QuestionKind::Pick, &["a", " "]),
    ];
    for q in bad {
        assert_eq!(a.port().ask(q).await.unwrap_err().code, "VALIDATION_ERROR");
    }
    let external = a.port().external("maps");
    let secret = Question { question: "Your apiKey?".into(), ..question(QuestionKind::Text, &[]) };
    assert_eq!(external.ask(secret).await.unwrap_err().code, "QUESTION_REFUSED");
}
