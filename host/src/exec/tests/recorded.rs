//! Whatever happens around a call, its body runs only behind an admission and, where one is needed, an approval
//! that stood in the journal before.

use super::*;
use crate::store::{Key, Op, StoreError, StoreStats, Tree};
use plugin_sdk::{CancellationSignal, HookEvent, HookEventKind, HookRegistration, HookResult};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// A store that fails to write while told to.
struct Flaky {
    inner: SharedStore,
    broken: AtomicBool,
}

#[async_trait]
impl crate::store::Store for Flaky {
    async fn get(&self, tree: Tree, key: &Key) -> Result<Option<Value>, StoreError> {
        self.inner.get(tree, key).await
    }

    async fn scan_prefix(
        &self,
        tree: Tree,
        prefix: &Key,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<Vec<(Key, Value)>, StoreError> {
        self.inner.scan_prefix(tree, prefix, after, limit).await
    }

    async fn batch(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(StoreError::Closed);
        }
        self.inner.batch(ops).await
    }

    async fn barrier(&self) -> Result<(), StoreError> {
        self.inner.barrier().await
    }

    async fn sweep(&self, limit: usize) -> Result<usize, StoreError> {
        self.inner.sweep(limit).await
    }

    async fn stats(&self) -> Result<StoreStats, StoreError> {
        self.inner.stats().await
    }

    async fn close(&self) -> Result<(), StoreError> {
        self.inner.close().await
    }
}

/// Something that changes what may run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Revoke,
    Grant,
    Disable,
    Enable,
    Refuse,
    Welcome,
    BreakJournal,
    MendJournal,
    HookRejects,
    HookAllows,
    Cancel,
}

/// What a person does with a question, and what happens while it is open.
#[derive(Debug, Clone)]
enum Reply {
    Yes,
    No,
    Expire,
    Unavailable,
    YesAfter(Change),
}

#[derive(Debug, Clone)]
enum Event {
    Change(Change),
    Call(usize, u8, Reply),
}

const TOOLS: [&str; 6] = ["read", "write", "asks", "admin", "admin_asks", "nests"];

fn change() -> impl Strategy<Value = Change> {
    use Change::*;
    prop_oneof![
        3 => Just(Revoke), 3 => Just(Grant), 2 => Just(Disable), 2 => Just(Enable), 2 => Just(Refuse),
        2 => Just(Welcome), 2 => Just(BreakJournal), 3 => Just(MendJournal), 2 => Just(HookRejects),
        3 => Just(HookAllows), 1 => Just(Cancel),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let reply = prop_oneof![
        4 => Just(Reply::Yes), 1 => Just(Reply::No), 1 => Just(Reply::Expire), 1 => Just(Reply::Unavailable),
        3 => change().prop_map(Reply::YesAfter),
    ];
    prop_oneof![
        2 => change().prop_map(Event::Change),
        3 => (0..TOOLS.len(), 0_u8..3, reply).prop_map(|(tool, n, reply)| Event::Call(tool, n, reply)),
    ]
}

/// What the world is like, as the test knows it.
struct Truth {
    policy: Arc<PolicyCell>,
    store: Arc<Flaky>,
    rejects: AtomicBool,
    cancel: CancellationSignal,
}

impl Truth {
    fn apply(&self, change: Change) {
        let alter = |f: &dyn Fn(&mut PolicyInput)| {
            let mut input = self.policy.read().input().clone();
            f(&mut input);
            self.policy.replace(LivePolicy::new(input));
        };
        match change {
            Change::Revoke => alter(&|p| p.access.masters.clear()),
            Change::Grant => alter(&|p| p.access.masters = vec!["telegram:7".into()]),
            Change::Disable => alter(&|p| p.disabled = TOOLS.iter().map(|t| t.to_string()).collect()),
            Change::Enable => alter(&|p| p.disabled.clear()),
            Change::Refuse => alter(&|p| p.access.deny = vec!["telegram:7".into()]),
            Change::Welcome => alter(&|p| p.access.deny.clear()),
            Change::BreakJournal => self.store.broken.store(true, Ordering::SeqCst),
            Change::MendJournal => self.store.broken.store(false, Ordering::SeqCst),
            Change::HookRejects => self.rejects.store(true, Ordering::SeqCst),
            Change::HookAllows => self.rejects.store(false, Ordering::SeqCst),
            Change::Cancel => self.cancel.request(),
        }
    }

    /// Whether a body of this tool may be entered now.
    fn permits(&self, tool: &str) -> bool {
        let policy = self.policy.read();
        let input = policy.input();
        // a master is never refused as a person
        let master = !input.access.masters.is_empty();
        let admitted = input.disabled.is_empty()
            && (master || input.access.deny.is_empty())
            && (master || !tool.starts_with("admin"));
        admitted && !self.store.broken.load(Ordering::SeqCst) && !self.rejects.load(Ordering::SeqCst)
    }
}

/// Answers the one open question as the sequence says.
struct Answers {
    next: Mutex<Option<Reply>>,
    truth: Arc<Truth>,
}

#[async_trait]
impl ApprovalPort for Answers {
    async fn ask(&self, _: ApprovalRequest) -> ApprovalAnswer {
        let yes = ApprovalAnswer::Allowed("telegram:1".into());
        let reply = self.next.lock().unwrap().clone();
        match reply {
            Some(Reply::Yes) => yes,
            Some(Reply::YesAfter(change)) => {
                self.truth.apply(change);
                // a stop is noticed while the question is still open
                tokio::task::yield_now().await;
                yes
            }
            Some(Reply::No) => ApprovalAnswer::Rejected("telegram:1".into()),
            Some(Reply::Expire) => ApprovalAnswer::Expired,
            Some(Reply::Unavailable) | None => ApprovalAnswer::Unavailable("no room".into()),
        }
    }
}

/// What a body found when it was entered.
#[derive(Debug)]
struct Entry {
    call_id: String,
    tool: String,
    permitted: bool,
    journal: Vec<(String, Value)>,
}

type Entries = Arc<Mutex<Vec<Entry>>>;

/// A body that writes down what it finds; `nest` calls others first.
fn witness(entries: &Entries, journal: &Journal, truth: &Arc<Truth>, nest: bool) -> Body {
    let (entries, journal, truth) = (Arc::clone(entries), journal.clone(), Arc::clone(truth));
    body(move |input, cx| {
        let (entries, journal, truth) = (Arc::clone(&entries), journal.clone(), Arc::clone(&truth));
        async move {
            let permitted = truth.permits(&cx.tool_name);
            let seen = journal.recent(1_000).await.unwrap().into_iter().map(|r| (r.kind, r.data)).collect();
            let entry = Entry { call_id: cx.call_id.clone(), tool: cx.tool_name.clone(), permitted, journal: seen };
            entries.lock().unwrap().push(entry);
            if nest {
                let port = cx.call_tool.clone().unwrap();
                port.call_tool("write", input.clone()).await;
                port.call_tool("asks", input.clone()).await;
            }
            ToolResult::text(Value::Object(input).to_string())
        }
    })
}

fn rejecting(truth: &Arc<Truth>) -> Arc<HookDispatcher> {
    let truth = Arc::clone(truth);
    let hook = HookRegistration::new(HookEventKind::ToolBefore, "guard", move |_: HookEvent| {
        let rejects = truth.rejects.load(Ordering::SeqCst);
        async move { Ok(if rejects { HookResult::deny("not now") } else { HookResult::nothing() }) }
    });
    Arc::new(HookDispatcher::new(vec![hook]).unwrap())
}

async fn play(events: Vec<Event>) -> Vec<Entry> {
    let mut w = World::new();
    let store = Arc::new(Flaky { inner: Arc::clone(&w.store), broken: AtomicBool::new(false) });
    w.store = Arc::clone(&store) as SharedStore;
    w.journal = Journal::new(Arc::clone(&w.store), w.clock.shared());
    w.bot.agent.loop_guard = 1_000;
    let cancel = CancellationSignal::new();
    let truth = Arc::new(Truth { policy: Arc::clone(&w.policy), store, rejects: AtomicBool::new(false), cancel });
    let answers = Arc::new(Answers { next: Mutex::new(None), truth: Arc::clone(&truth) });
    let entries = Entries::default();
    let of = |nest| witness(&entries, &w.journal, &truth, nest);
    let master = |mut def: ToolDef| {
        def.options.permissions = vec!["role(master)".into()];
        def
    };
    let bodies = [of(false), of(false), of(false), of(false), of(false), of(true)];
    let defs = [reads(), writes(), asks(), master(writes()), master(asks()), writes()];
    for ((name, def), body) in TOOLS.into_iter().zip(defs).zip(bodies) {
        w.tools.push(contribution(".", name, Source::Folder, def, body));
    }
    w.person = Some(Arc::clone(&answers) as Arc<dyn ApprovalPort>);
    w.hooks = rejecting(&truth);
    w.cx.cancellation = truth.cancel.clone();
    let executor = w.turn();
    for (n, event) in events.into_iter().enumerate() {
        match event {
            Event::Change(change) => truth.apply(change),
            Event::Call(tool, argument, reply) => {
                *answers.next.lock().unwrap() = Some(reply);
                let call = ToolUse::new(format!("c{n}"), TOOLS[tool], json!({"n": argument}));
                let stopped = truth.cancel.requested();
                let before = entries.lock().unwrap().len();
                let result = executor.execute_one(call, &w.cx, None).await;
                let ran = entries.lock().unwrap().len() > before;
                assert!(!(stopped && ran), "nothing starts in a stopped turn");
                assert!(!(code(&result) == "JOURNAL_UNAVAILABLE" && ran), "an unrecorded call ran");
            }
        }
    }
    drop((executor, w.tools, w.fit));
    std::mem::take(&mut *entries.lock().unwrap())
}

/// The entry's own proof: an admission, and for a tool that asks a yes to these very arguments before it.
fn proven(entry: &Entry) -> Result<(), TestCaseError> {
    let of_call = |(_, data): &&(String, Value)| data["call_id"] == json!(entry.call_id);
    let own: Vec<_> = entry.journal.iter().filter(of_call).collect();
    let started: Vec<_> = own.iter().filter(|(kind, _)| kind == "tool.started").collect();
    prop_assert_eq!(started.len(), 1, "one claim before the body: {:?}", entry);
    prop_assert_eq!(&started[0].1["effect"], &json!("allow"));
    prop_assert_eq!(&started[0].1["tool"], &json!(entry.tool));
    if entry.tool.ends_with("asks") {
        let place = |wanted: &str| own.iter().position(|(kind, _)| kind == wanted);
        let (asked, answered, claimed) = (place("question.asked"), place("question.answered"), place("tool.started"));
        prop_assert!(asked.is_some() && asked < answered && answered < claimed, "{:?}", entry);
        let answer = &own[answered.unwrap_or(0)].1;
        prop_assert_eq!(&answer["effect"], &json!("allow"));
        prop_assert_eq!(&answer["args_hash"], &started[0].1["args_hash"]);
    }
    prop_assert!(entry.permitted, "nothing that was taken away before ran: {:?}", entry);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_of_events_runs_a_body_without_its_records(events in prop::collection::vec(event(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let entries = runtime.block_on(play(events));
        let mut ids: Vec<&str> = entries.iter().map(|e| e.call_id.as_str()).collect();
        ids.sort_unstable();
        let all = ids.len();
        ids.dedup();
        prop_assert_eq!(ids.len(), all, "each call runs once");
        for entry in &entries {
            proven(entry)?;
        }
    }
}

#[tokio::test]
async fn the_property_sees_bodies_run() {
    let call = |tool| Event::Call(tool, 0, Reply::Yes);
    let entries = play(vec![Event::Change(Change::Grant), call(0), call(1), call(2), call(4), call(5)]).await;
    let tools: Vec<&str> = entries.iter().map(|e| e.tool.as_str()).collect();
    assert_eq!(tools, ["read", "write", "asks", "admin_asks", "nests", "write", "asks"]);
    let broken = play(vec![Event::Change(Change::BreakJournal), call(0), call(1), call(2), call(5)]).await;
    assert!(broken.is_empty(), "with an unwritable journal not even a reading body runs");
}
