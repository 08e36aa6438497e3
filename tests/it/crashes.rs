//! The process ends without warning: at each phase of a call, and at 200 random moments.

use fake_openai::{Fault, Turn};
use harness::{Gate, LiveHost, Ran, Served, TestBot, binary, wait_for};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);
const WRITES: &str = "[approval]\nwrite_mode = \"allow\"\n";

/// `chat --json` of a bot, kept open.
struct Talk {
    child: Child,
    input: ChildStdin,
    events: Receiver<Value>,
    errors: std::path::PathBuf,
}

impl Talk {
    fn start(bot: &TestBot) -> Self {
        let mut command = Command::new(binary());
        command.current_dir(bot.path()).args(["chat", ".", "--json"]).env("NO_COLOR", "1");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(bot.at("stderr.log")).expect("a log"))
            .spawn()
            .expect("the binary starts");
        let (tx, events) = channel();
        let stdout = child.stdout.take().expect("stdout");
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                let event = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if tx.send(event).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take().expect("stdin");
        Self { child, input, events, errors: bot.at("stderr.log") }
    }

    fn say(&mut self, text: &str) {
        writeln!(self.input, "{text}").expect("an open terminal");
    }

    /// Texts that are shown until a message is settled so.
    #[track_caller]
    fn until(&mut self, outcome: &str) -> Vec<String> {
        let (mut texts, mut seen) = (Vec::new(), Vec::new());
        loop {
            let event = self.events.recv_timeout(LIMIT).unwrap_or_else(|e| {
                let errors = std::fs::read_to_string(&self.errors).unwrap_or_default();
                let status = self.child.try_wait();
                panic!("{e}: not {outcome}: {texts:#?}\n{seen:?}\n{status:?}\n{errors}")
            });
            texts.extend(text_of(&event));
            seen.push(event.clone());
            if event["event"] == "outcome" && event["outcome"] == outcome {
                return texts;
            }
        }
    }

    /// Ends the process at once; the texts it had shown by then.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("a running process");
        self.child.wait().expect("an end");
        self.events.iter().filter_map(|event| text_of(&event)).collect()
    }
}

fn text_of(event: &Value) -> Option<String> {
    let shown = event["event"] == "message" && event["kind"] != "question";
    shown.then(|| event["text"].as_str().unwrap_or_default().to_owned())
}

/// A tool that appends its argument to `effects.log`, slowly.
fn put_writer(bot: &TestBot, pause: &str) {
    let manifest = "description = \"Write down a token\"\nrequires_approval = \"never\"\ncapabilities = [\"write\"]\n\
        run = { command = [\"./main.sh\"] }\n[input]\ntoken = { type = \"string\", minLength = 1 }\n";
    let log = bot.at("effects.log");
    let script = format!(
        "#!/bin/sh\ntoken=$(sed -n 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/p')\nsleep {pause}\n\
         echo \"$token\" >> '{}'\nsleep {pause}\nprintf 'written %s' \"$token\"\n",
        log.display()
    );
    bot.put("tools/put/tool.toml", manifest);
    bot.put("tools/put/main.sh", &script);
}

fn effects(bot: &TestBot) -> Vec<String> {
    std::fs::read_to_string(bot.at("effects.log")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a person was shown about one message: before the end of the process and after it.
struct Told<'a> {
    token: &'a str,
    before: Vec<String>,
    after: Vec<String>,
    asked_model: bool,
    written: usize,
}

impl Told<'_> {
    fn check(&self) {
        let about = |t: &&String| !t.trim().is_empty();
        let (before, after) = (self.before.iter().filter(about).count(), self.after.iter().filter(about).count());
        let all = format!("{}: {:#?} then {:#?}, {} lines", self.token, self.before, self.after, self.written);
        assert!(self.written <= 1, "an effect ran twice: {all}");
        if !self.asked_model && before + after == 0 {
            // the process ended before the message was kept: the terminal that ended with it knows
            return;
        }
        let marked = after == 1 && self.after.iter().any(|t| t.starts_with("From before"));
        assert!(before + after == 1 || (before == 1 && marked), "not told once: {all}");
        let claims = self.before.iter().chain(&self.after).any(|t| t.contains("written ") || t.contains("Done before"));
        assert!(!claims || self.written == 1, "claimed and not done: {all}");
        let silent = self.before.iter().chain(&self.after).any(|t| t.contains("waited"));
        assert!(!silent, "nobody was asked: {all}");
    }
}

#[test]
fn two_hundred_random_ends_run_no_effect_twice_and_tell_the_person_once() {
    let server = Served::start(Vec::new());
    let bot = server.bot(WRITES);
    put_writer(&bot, "0.03");
    let mut dice = Dice(20_261_130);
    let mut pending: Option<(String, Vec<String>)> = None;
    let (mut reruns, mut broken, mut late, mut lost) = (0, 0, 0, 0);
    for round in 0..=200 {
        let mut talk = Talk::start(&bot);
        // `/tools` waits its turn, so what was owed is done when it is answered
        talk.say("/tools");
        let mut after = talk.until("handled");
        let tools = after.pop().expect("an answer");
        assert!(tools.contains("put"), "the session is usable: {tools}");
        if let Some((token, before)) = pending.take() {
            let asked_model = server.take_requests().iter().any(|r| r.body.to_string().contains(&token));
            let written = effects(&bot).iter().filter(|l| **l == token).count();
            // a crash may bring an answer back that was struck off; it says that it is an old one
            after.retain(|t| !t.starts_with("From before") || t.contains(&token));
            let told = Told { token: &token, before, after, asked_model, written };
            told.check();
            match told.after.first() {
                None if told.before.is_empty() => lost += 1,
                None => {}
                Some(text) if text.starts_with("From before") => late += 1,
                Some(text) if text.contains("restarted") => broken += 1,
                Some(_) => reruns += 1,
            }
        }
        if round % 8 == 7 {
            talk.say("/new");
            talk.until("handled");
        }
        if round == 200 {
            talk.say("write down the-end");
            assert_eq!(talk.until("completed"), ["written the-end"]);
            talk.kill();
            break;
        }
        let token = format!("token-{round}");
        talk.say(&format!("write down {token}"));
        std::thread::sleep(Duration::from_millis(dice.below(220)));
        pending = Some((token, talk.kill()));
    }
    println!("run again {reruns}, told of effects {broken}, answer told late {late}, never begun {lost}");
    assert!(reruns > 5 && broken > 5, "the moments are spread: {reruns} {broken} {late} {lost}");
}

/// A bot whose model always calls: every tool is sent from the start and there is nothing to discover.
fn calling(server: &Served) -> TestBot {
    server.bot(&format!(
        "{WRITES}[agent.deferred_tools]\nload_all_below_chars = 100000\nalways_loaded_tools = [\"load_tool\"]\n"
    ))
}

/// Says one thing to a host, ends the host once `there` holds, and lets the terminal see it.
fn cut(bot: &TestBot, host: LiveHost, text: &str, there: impl FnOnce()) {
    let talk = bot.begin(&["chat", ".", "--once", text]);
    there();
    host.kill();
    talk.finish().exits(3);
}

/// A new terminal at a new host.
fn back(bot: &TestBot, said: &str) -> (LiveHost, Ran) {
    let host = LiveHost::start(bot);
    let ran = bot.run_with(&["chat", ".", "--plain"], said).exits(0);
    (host, ran)
}

fn asked(server: &Served, times: usize) {
    wait_for("requests", LIMIT, || (server.requests().len() >= times).then_some(()));
}

#[test]
fn a_turn_that_only_read_runs_once_more_and_no_third_time() {
    let gate = Gate::new();
    let server = Served::start(Vec::new());
    let bot = calling(&server);
    gate.tool(&bot, "tools/look", "seen");
    // while the model is asked
    server.then(vec![Turn::fault(Fault::Hang { after: None })]);
    cut(&bot, LiveHost::start(&bot), "hello one", || asked(&server, 1));
    server.then(vec![Turn::text("hello from the second turn")]);
    let (host, ran) = back(&bot, "");
    assert_eq!(ran.out.trim(), "hello from the second turn");
    assert_eq!(bot.run_with(&["chat", ".", "--plain"], "").out, "", "it is told once");
    // inside a call that reads
    cut(&bot, host, "look around", || gate.await_calls(1));
    gate.open();
    let (host, ran) = back(&bot, "");
    assert_eq!(ran.out.trim(), "seen");
    // in the turn that runs again
    let gate = Gate::new();
    gate.tool(&bot, "tools/look", "seen");
    host.stop();
    cut(&bot, LiveHost::start(&bot), "look again", || gate.await_calls(1));
    let host = LiveHost::start(&bot);
    let talk = bot.begin(&["chat", ".", "--once", "/tools"]);
    gate.await_calls(2);
    host.kill();
    talk.finish();
    let (host, ran) = back(&bot, "");
    assert!(ran.out.contains("I was restarted") && ran.out.contains("Ask again"), "{}", ran.out);
    gate.open();
    let ran = bot.run_with(&["chat", ".", "--plain"], "Ask again\n").exits(0);
    assert_eq!(ran.out.trim(), "seen", "the person asks, so it runs");
    drop(host);
}

/// A tool that stands at the gate and then appends its argument.
fn put_gated(bot: &TestBot, gate: &Gate, approval: &str) {
    gate.tool(bot, "tools/put", "");
    let script = std::fs::read_to_string(bot.at("tools/put/main.sh")).expect("a script");
    let script = script.replace("cat >/dev/null", "token=$(sed -n 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/p')").replace(
        "printf %s \"$WORDS\"",
        &format!("echo \"$token\" >> '{}'\nprintf done", bot.at("effects.log").display()),
    );
    let manifest = format!(
        "description = \"Write down a token\"\nrequires_approval = \"{approval}\"\ncapabilities = [\"write\"]\n\
         timeout_seconds = 100\nrun = {{ command = [\"./main.sh\"] }}\n[input]\ntoken = {{ type = \"string\", minLength = 1 }}\n"
    );
    bot.put("tools/put/main.sh", &script);
    bot.put("tools/put/tool.toml", &manifest);
}

#[test]
fn a_call_with_effects_is_never_repeated_and_its_person_may_ask_again_once() {
    let gate = Gate::new();
    let server = Served::start(Vec::new());
    let bot = calling(&server);
    put_gated(&bot, &gate, "never");
    // inside the body, before its effect
    cut(&bot, LiveHost::start(&bot), "write down one", || gate.await_calls(1));
    let (host, ran) = back(&bot, "");
    let said = ran.out.trim();
    assert!(said.contains("Nobody knows") && said.contains("put") && said.contains("Ask again"), "{said}");
    assert!(effects(&bot).is_empty());
    gate.open();
    assert_eq!(bot.run_with(&["chat", ".", "--plain"], "ask again\n").out.trim(), "done");
    assert_eq!(effects(&bot), ["one"]);
    let told = server.take_requests();
    assert!(told.last().is_some_and(|r| r.body.to_string().contains("OUTCOME_UNKNOWN")), "the model knows");
    // taken: the word is a message like any other
    server.then(vec![Turn::text("again what?")]);
    assert_eq!(bot.run_with(&["chat", ".", "--plain"], "ask again\n").out.trim(), "again what?");
    assert_eq!(effects(&bot), ["one"]);
    // after its effect, while the model is asked again; the tool is gone when the host comes back
    let before = server.requests().len();
    server.then(vec![Turn { when: Some("done".into()), fault: Some(Fault::Hang { after: None }), ..Turn::default() }]);
    cut(&bot, host, "write down two", || asked(&server, before + 3));
    std::fs::remove_dir_all(bot.at("tools/put")).expect("a folder");
    let (host, ran) = back(&bot, "");
    assert!(ran.out.contains("Done before that") && ran.out.contains("put"), "{}", ran.out);
    assert_eq!(effects(&bot), ["one", "two"]);
    server.then(vec![Turn::text("fine")]);
    assert_eq!(bot.run_with(&["chat", ".", "--plain"], "how are you\n").out.trim(), "fine");
    drop(host);
}

/// The phases around a body: a check before it, a listener behind it.
#[test]
fn killed_around_its_body_a_call_is_neither_repeated_nor_claimed() {
    for (event, done) in [("tool.before", &[][..]), ("tool.after", &["one"][..])] {
        let gate = Gate::new();
        let server = Served::start(Vec::new());
        let bot = calling(&server);
        put_writer(&bot, "0");
        let hook = format!("#!/bin/sh\ncat >/dev/null\n{}echo '{{}}'\n", gate.lines());
        bot.put("hooks/slow/main.sh", &hook);
        let manifest = format!(
            "events = [\"{event}\"]\ntools = [\"put\"]\ntimeout_seconds = 60\nrun = {{ command = [\"./main.sh\"] }}\n"
        );
        bot.put("hooks/slow/hook.toml", &manifest);
        cut(&bot, LiveHost::start(&bot), "write down one", || gate.await_calls(1));
        let asked = server.requests().len();
        let (_host, ran) = back(&bot, "");
        let said = ran.out.trim();
        let told = said.contains("Nobody knows") && said.contains("put") && said.contains("Ask again");
        assert!(told && !said.contains("Done before"), "{event}: {said}");
        gate.open();
        assert_eq!(bot.run_with(&["chat", ".", "--plain"], "").out, "", "{event}: it is told once");
        assert_eq!(server.requests().len(), asked, "{event}: nobody asked the model again");
        assert_eq!(effects(&bot), done, "{event}");
        // the person may, and then it runs
        assert_eq!(bot.run_with(&["chat", ".", "--plain"], "ask again\n").out.trim(), "written one", "{event}");
        assert_eq!(effects(&bot).len(), done.len() + 1, "{event}");
    }
}

#[test]
fn an_open_card_is_lost_and_a_direct_call_leaves_nothing() {
    let gate = Gate::new();
    let server = Served::start(Vec::new());
    let bot = calling(&server);
    put_gated(&bot, &gate, "always");
    let host = LiveHost::start(&bot);
    let mut talk = Talk::start(&bot);
    talk.say("write down three");
    let question = wait_for("a card", LIMIT, || talk.events.try_recv().ok().filter(|e| e["event"] == "question"));
    assert!(question["text"].as_str().is_some_and(|t| t.contains("put")), "{question}");
    host.kill();
    talk.kill();
    let (host, ran) = back(&bot, "");
    assert!(ran.out.contains("restarted") && ran.out.contains("Ask again"), "{}", ran.out);
    assert!(effects(&bot).is_empty());
    gate.open();
    let ran = bot.run_with(&["chat", ".", "--plain"], "ask again\nyes\n").exits(0);
    assert_eq!(ran.out.trim(), "done", "{}", ran.err);
    assert_eq!(effects(&bot), ["three"]);
    // the caller of a direct turn ends with the host: nobody is told later
    let gate = Gate::new();
    put_gated(&bot, &gate, "never");
    host.stop();
    let host = LiveHost::start(&bot);
    let ask = bot.begin(&["ask", ".", "write down four"]);
    gate.await_calls(1);
    host.kill();
    ask.finish();
    let (_host, ran) = back(&bot, "");
    assert_eq!(ran.out, "");
    assert_eq!(effects(&bot), ["three"]);
}
