//! Whose turn it is: order, `/stop`, newer messages and places, over a channel in the test's own process.

use harness::{Asked, Gate, Line, Seen, TestBot, Told};
use host::app::{Host, HostOptions, StoreKind};
use host::model::{ModelCall, ModelEvent, StopReason};
use host::task::{ManualClock, SharedClock, SystemClock};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const LIMIT: Duration = Duration::from_secs(30);

const BOT: &str = "[access]\nmode = \"open\"\ntrusted = [\"telegram:1\"]\n[limits]\nturns_per_user_per_minute = 10000\n\
    [approval]\ntimeout_seconds = 600\nwrite_mode = \"allow\"\n[agent.deferred_tools]\nload_all_below_chars = 100000\n";

/// A host, a line to it, and everything that comes out.
struct World {
    host: Arc<Host>,
    line: Line,
    seen: mpsc::UnboundedReceiver<Seen>,
    written: usize,
    /// Where the test is, for whoever reads its failure.
    at: String,
}

impl World {
    async fn new(bot: &TestBot, extra: &str) -> Self {
        Self::with(bot, extra, SystemClock::shared()).await
    }

    async fn with(bot: &TestBot, extra: &str, clock: SharedClock) -> Self {
        bot.put("bot.toml", &format!("{BOT}{extra}"));
        let (to, seen) = mpsc::unbounded_channel();
        let mut options = HostOptions::new(bot.path(), clock);
        options.store = StoreKind::Scratch;
        options.model = Some(Arc::new(Told(to.clone())));
        let host = match Host::start(options).await {
            Ok(host) => Arc::new(host),
            Err(e) => panic!("{:#?}", e.diagnostics),
        };
        let line = Line::open(&host, to);
        Self { host, line, seen, written: 0, at: String::new() }
    }

    /// Writes as person 1 in private; the id of the message.
    fn write(&mut self, text: &str) -> String {
        self.write_in(None, "1", text)
    }

    fn write_in(&mut self, thread: Option<&str>, person: &str, text: &str) -> String {
        self.written += 1;
        let id = format!("m{}", self.written);
        self.line.write(&id, person, thread, text);
        id
    }

    async fn next(&mut self) -> Seen {
        let next = tokio::time::timeout(LIMIT, self.seen.recv()).await;
        next.unwrap_or_else(|_| panic!("nothing happens: {}", self.at)).expect("a host")
    }

    #[track_caller]
    fn asked(seen: Seen, text: &str) -> Asked {
        match seen {
            Seen::Asked(asked) if asked.text == text => asked,
            other => panic!("not asked about {text}: {other:?}"),
        }
    }

    #[track_caller]
    fn said(seen: &Seen, words: &str) {
        assert!(matches!(seen, Seen::Said { text, .. } if text.contains(words)), "not said {words}: {seen:?}");
    }

    #[track_caller]
    fn settled(seen: &Seen, message: &str, how: &str) {
        let good = matches!(seen, Seen::Settled { id, outcome } if id == message && outcome == how);
        assert!(good, "{message} is not {how}: {seen:?}");
    }

    async fn end(self) {
        self.line.close().await;
        self.host.shutdown().await;
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(test);
}

/// A works, B comes meanwhile, C comes within 5 ms of the end of A: before it, at it, after it.
#[test]
fn messages_are_answered_one_at_a_time_in_their_order() {
    run(async {
        let bot = TestBot::new();
        let mut w = World::new(&bot, "").await;
        for n in 0..200u64 {
            let [a, b, c] = ["A", "B", "C"].map(|m| format!("{m}{n}"));
            let first = w.write(&a);
            let asked = World::asked(w.next().await, &a);
            let second = w.write(&b);
            let (early, late) = (5_000u64.saturating_sub(n * 50), (n * 50).saturating_sub(5_000));
            let answering = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_micros(early)).await;
                asked.answers("to A");
            });
            tokio::time::sleep(Duration::from_micros(late)).await;
            let third = w.write(&c);
            answering.await.expect("an answer");
            // nobody else may be asked about before the answer to A is out; C's arrival shows in nothing
            World::said(&w.next().await, "to A");
            let mut settled = false;
            let mut asked = None;
            while asked.is_none() || !settled {
                match w.next().await {
                    Seen::Settled { id, outcome } if id == first && outcome == "completed" => settled = true,
                    Seen::Asked(next) if next.text == b => asked = Some(next),
                    other => panic!("run {n}: {other:?}"),
                }
            }
            asked.expect("a question").answers("to B");
            for (text, id, next) in [("to B", second, Some(&c)), ("to C", third, None)] {
                World::said(&w.next().await, text);
                let (mut settled, mut wanted) = (false, next);
                while !settled || wanted.is_some() {
                    match w.next().await {
                        Seen::Settled { id: done, outcome } if done == id && outcome == "completed" => settled = true,
                        Seen::Asked(asked) if Some(&asked.text) == wanted => {
                            wanted = None;
                            asked.answers("to C");
                        }
                        other => panic!("run {n}: {other:?}"),
                    }
                }
            }
        }
        w.end().await;
    });
}

/// A moment at which somebody says `/stop`.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// Right behind the message.
    AtOnce,
    BeforeTheFirstByte,
    InTheText,
    InACall,
    InABatch,
    WhileACardIsOpen,
    WhileAQuestionIsOpen,
}

const MOMENTS: [Moment; 7] = [
    Moment::AtOnce,
    Moment::BeforeTheFirstByte,
    Moment::InTheText,
    Moment::InACall,
    Moment::InABatch,
    Moment::WhileACardIsOpen,
    Moment::WhileAQuestionIsOpen,
];

impl Moment {
    /// Brings a turn to this moment.
    async fn reach(self, w: &mut World, gate: &Gate, calls: &mut usize) {
        if matches!(self, Self::AtOnce) {
            return;
        }
        let asked = World::asked(w.next().await, "work");
        match self {
            Self::AtOnce => {}
            Self::BeforeTheFirstByte => drop(tokio::spawn(async move { asked.left().await })),
            Self::InTheText => {
                asked.says(ModelEvent::Text("Let me think".into()));
                drop(tokio::spawn(async move { asked.left().await }));
            }
            Self::InACall | Self::InABatch => {
                let batch: &[&str] = if matches!(self, Self::InACall) { &["wait"] } else { &["wait", "put", "wait"] };
                asked.calls(batch);
                *calls += 1;
                let want = *calls;
                tokio::task::block_in_place(|| gate.await_calls(want));
            }
            Self::WhileACardIsOpen => {
                asked.calls(&["ask"]);
                World::said(&w.next().await, "May I run");
            }
            Self::WhileAQuestionIsOpen => {
                let arguments = "{\"question\": \"Which one?\"}".to_string();
                asked.says(ModelEvent::Call(ModelCall { id: "q".into(), name: "ask_user".into(), arguments }));
                asked.says(ModelEvent::Stop(StopReason::ToolUse));
                drop(asked);
                World::said(&w.next().await, "Which one?");
            }
        }
    }
}

#[test]
fn stop_ends_a_turn_at_every_moment_and_the_next_message_is_normal() {
    run(async {
        let (gate, bot) = (Gate::new(), TestBot::new());
        gate.tool(&bot, "tools/wait", "waited");
        gate.tool(&bot, "tools/ask", "asked");
        let manifest = std::fs::read_to_string(bot.at("tools/ask/tool.toml")).expect("a manifest");
        bot.put("tools/ask/tool.toml", &manifest.replace("\"never\"", "\"always\""));
        bot.put(
            "tools/put/tool.toml",
            "description = \"Put it\"\nrequires_approval = \"never\"\ncapabilities = [\"write\"]\n\
             run = { command = [\"./main.sh\"] }\n",
        );
        let put = bot.at("put-was-run");
        bot.put("tools/put/main.sh", &format!("#!/bin/sh\ncat >/dev/null\ntouch '{}'\n", put.display()));
        let mut w = World::new(&bot, "").await;
        let mut calls = 0;
        for word in ["/stop", "停止", "stop"] {
            for moment in MOMENTS {
                w.at = format!("{word} {moment:?}");
                let working = w.write("work");
                moment.reach(&mut w, &gate, &mut calls).await;
                let (told, stopping) = (Instant::now(), w.write(word));
                let (mut said, mut open) = (0, vec![working.clone(), stopping.clone()]);
                while said == 0 || !open.is_empty() {
                    match w.next().await {
                        Seen::Said { text, .. } if text == "Stopped." => said += 1,
                        Seen::Settled { id, outcome } if open.contains(&id) => {
                            assert_eq!(outcome, if id == working { "cancelled" } else { "handled" });
                            open.retain(|o| *o != id);
                        }
                        // right behind the message the turn may have got as far as its request
                        Seen::Asked(_) if matches!(moment, Moment::AtOnce) => {}
                        other => panic!("{word} {moment:?}: {other:?}"),
                    }
                }
                assert!(told.elapsed() < Duration::from_secs(1), "{word} {moment:?}: {:?}", told.elapsed());
                assert_eq!(said, 1, "{word} {moment:?}");
                let next = w.write("and now?");
                let asked = World::asked(w.next().await, "and now?");
                assert!(!put.exists(), "a later call of the batch ran after the stop");
                asked.answers("Now this.");
                World::said(&w.next().await, "Now this.");
                World::settled(&w.next().await, &next, "completed");
            }
        }
        let idle = w.write("/stop");
        World::said(&w.next().await, "Nothing is running.");
        World::settled(&w.next().await, &idle, "handled");
        w.end().await;
    });
}

#[test]
fn the_newest_message_is_answered_and_a_command_supersedes_nothing() {
    run(async {
        let bot = TestBot::new();
        let mut w = World::new(&bot, "[agent]\non_new_message = \"supersede\"\n").await;
        // a command waits its turn
        let first = w.write("first");
        let asked = World::asked(w.next().await, "first");
        let tools = w.write("/tools");
        assert!(asked.says(ModelEvent::Text("to the ".into())));
        asked.answers("first");
        World::said(&w.next().await, "to the first");
        let mut open = vec![(first, "completed"), (tools, "handled")];
        while !open.is_empty() {
            match w.next().await {
                Seen::Settled { id, outcome } if open.contains(&(id.clone(), outcome.as_str())) => {
                    open.retain(|(o, _)| *o != id);
                }
                Seen::Said { text, .. } => assert!(text.contains("discover") || text.contains("tools"), "{text}"),
                other => panic!("{other:?}"),
            }
        }
        // messages do not
        let old = w.write("old one");
        let asked = World::asked(w.next().await, "old one");
        let new = w.write("new one");
        asked.left().await;
        let (mut done, mut answer) = (false, None);
        while !done || answer.is_none() {
            match w.next().await {
                Seen::Settled { id, outcome } if id == old => {
                    assert_eq!(outcome, "cancelled");
                    done = true;
                }
                Seen::Asked(next) => answer = Some(next),
                other => panic!("nothing is said of it: {other:?}"),
            }
        }
        let asked = answer.expect("a question");
        assert!(asked.text == "new one" && asked.request.contains("old one"), "{asked:?}");
        asked.answers("to the new one");
        World::said(&w.next().await, "to the new one");
        World::settled(&w.next().await, &new, "completed");
        w.end().await;
    });
}

/// One member wants something in each of sixteen topics that only a yes allows.
#[test]
fn one_person_runs_two_turns_and_opens_three_cards_and_keeps_nobody_waiting() {
    run(async {
        let bot = TestBot::new().tool("tools/erase", "Erase it", "erased");
        bot.put(
            "tools/erase/tool.toml",
            "description = \"Erase it\"\nrequires_approval = \"always\"\ncapabilities = []\n\
             run = { command = [\"./main.sh\"] }\n",
        );
        let mut w = World::new(&bot, "").await;
        for topic in 1..=16 {
            w.write_in(Some(&topic.to_string()), "42", "erase");
        }
        let mut held = vec![World::asked(w.next().await, "erase"), World::asked(w.next().await, "erase")];
        // both of its places are taken, fourteen of its messages wait: another member is answered at once
        let other = w.write_in(Some("17"), "43", "hello");
        World::asked(w.next().await, "hello").answers("Hello.");
        World::said(&w.next().await, "Hello.");
        World::settled(&w.next().await, &other, "completed");
        let (mut cards, mut settled) = (Vec::new(), 0);
        loop {
            assert!(held.len() <= 2, "{} turns run", held.len());
            for asked in held.drain(..) {
                if asked.request.contains("APPROVAL_LIMIT") {
                    asked.answers("Too many wait.");
                } else {
                    asked.calls(&["erase"]);
                }
            }
            match w.next().await {
                Seen::Asked(asked) => held.push(asked),
                Seen::Said { place, buttons, .. } if !buttons.is_empty() => cards.push(place),
                Seen::Said { text, .. } => assert_eq!(text, "Too many wait."),
                Seen::Settled { outcome, .. } => {
                    assert_eq!(outcome, "completed");
                    settled += 1;
                }
            }
            if settled == 13 && cards.len() >= 3 {
                break;
            }
        }
        assert_eq!(cards.len(), 3, "{cards:?}");
        let other = w.write_in(Some("17"), "43", "hello");
        World::asked(w.next().await, "hello").answers("Hello again.");
        World::said(&w.next().await, "Hello again.");
        World::settled(&w.next().await, &other, "completed");
        for card in cards {
            let (_, topic) = card.split_once('#').expect("a topic");
            w.write_in(Some(topic), "42", "/stop");
        }
        let mut ended = 0;
        while ended < 3 {
            match w.next().await {
                Seen::Settled { outcome, .. } if outcome == "cancelled" => ended += 1,
                Seen::Settled { .. } => {}
                Seen::Said { text, .. } => assert_eq!(text, "Stopped."),
                other => panic!("{other:?}"),
            }
        }
        w.end().await;
    });
}

#[test]
fn a_message_that_waits_three_minutes_is_told_so_once() {
    run(async {
        let (bot, clock) = (TestBot::new(), ManualClock::default());
        let mut w = World::with(&bot, "[agent]\nturn_timeout_seconds = 3600\n", clock.shared()).await;
        let first = w.write("first");
        let asked = World::asked(w.next().await, "first");
        let second = w.write("second");
        clock.advance(Duration::from_secs(179));
        let mut told = tokio::time::timeout(Duration::from_millis(50), w.next()).await;
        assert!(told.is_err(), "too early: {told:?}");
        // its three minutes began when it came to wait, at the latest by now
        for _ in 0..180 {
            clock.advance(Duration::from_secs(1));
            told = tokio::time::timeout(Duration::from_millis(5), w.next()).await;
            if told.is_ok() {
                break;
            }
        }
        World::said(&told.expect("it is told"), "Your message is still waiting");
        clock.advance(Duration::from_secs(600));
        asked.answers("to the first");
        World::said(&w.next().await, "to the first");
        let (mut settled, mut answered) = (0, false);
        while settled < 2 || !answered {
            match w.next().await {
                Seen::Settled { id, outcome } if outcome == "completed" && (id == first || id == second) => {
                    settled += 1
                }
                Seen::Asked(asked) => asked.answers("to the second"),
                Seen::Said { text, .. } if text == "to the second" => answered = true,
                other => panic!("{other:?}"),
            }
        }
        w.end().await;
    });
}
