//! The real binary as a process, with a limit on everything.

use crate::TestBot;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// No command of a test may take longer.
const LIMIT: Duration = Duration::from_secs(120);

/// The binary beside the test's own executable.
pub fn binary() -> PathBuf {
    let mut at = std::env::current_exe().expect("the test's own path");
    at.pop();
    if at.ends_with("deps") {
        at.pop();
    }
    let binary = at.join("understudy");
    assert!(binary.is_file(), "{} is not built: run `cargo test --workspace`", binary.display());
    binary
}

/// A finished command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        let lines: Vec<&str> = self.out.lines().filter(|l| !l.is_empty()).collect();
        assert_eq!(lines.len(), 1, "not exactly one line of JSON\nout: {}\nerr: {}", self.out, self.err);
        serde_json::from_str(lines[0]).unwrap_or_else(|e| panic!("{e}: {}", self.out))
    }

    /// Asserts the exit code, showing what was said.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "exit code\nout: {}\nerr: {}", self.out, self.err);
        self
    }
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(dir).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("OPENAI_API_KEY").env("NO_COLOR", "1");
    command
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a readable pipe");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

pub(crate) fn run_in(dir: &Path, args: &[&str], input: &str) -> Ran {
    run_with_env(dir, args, input, &[])
}

pub(crate) fn run_with_env(dir: &Path, args: &[&str], input: &str, env: &[(&str, &str)]) -> Ran {
    let mut command = command(dir, args);
    command.envs(env.iter().copied());
    let mut child = command.spawn().expect("the binary starts");
    let out = drain(child.stdout.take().expect("stdout"));
    let err = drain(child.stderr.take().expect("stderr"));
    // A command that reads no input closes the pipe early.
    drop(child.stdin.take().expect("stdin").write_all(input.as_bytes()));
    let started = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status.code().unwrap_or(-1);
        }
        if started.elapsed() > LIMIT {
            drop(child.kill());
            panic!("`understudy {}` did not end", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran { code, out: out.join().expect("stdout"), err: err.join().expect("stderr") }
}

/// A command that still runs.
pub struct Running(std::thread::JoinHandle<Ran>);

impl Running {
    pub(crate) fn new(dir: &Path, args: &[&str]) -> Self {
        let dir = dir.to_path_buf();
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        Self(std::thread::spawn(move || {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            run_in(&dir, &args, "")
        }))
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for its end.
    pub fn finish(self) -> Ran {
        self.0.join().expect("a finished command")
    }
}

/// Looks again every few milliseconds until `look` gives a value; panics after `limit`.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(started.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `understudy run` of a bot; stopped when dropped.
pub struct LiveHost {
    child: Child,
    events: Receiver<Value>,
    pub seen: Vec<Value>,
}

impl LiveHost {
    /// Starts the host and waits until it is ready.
    pub fn start(bot: &TestBot) -> Self {
        Self::start_with(bot, &[])
    }

    /// With further arguments of `run`.
    pub fn start_with(bot: &TestBot, args: &[&str]) -> Self {
        let mut all = vec!["run", ".", "--json"];
        all.extend(args);
        let mut child = command(bot.path(), &all).spawn().expect("the host starts");
        let (tx, events) = channel();
        let stdout = child.stdout.take().expect("stdout");
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(event) = serde_json::from_str(&line)
                    && tx.send(event).is_err()
                {
                    return;
                }
            }
        });
        let stderr = drain(child.stderr.take().expect("stderr"));
        let mut host = Self { child, events, seen: Vec::new() };
        if host.wait_event("ready", Duration::from_secs(60)).is_none() {
            drop(host.child.kill());
            panic!("the host did not become ready: {:#?}\n{}", host.seen, stderr.join().expect("stderr"));
        }
        host
    }

    /// The next event of a kind, within a limit.
    pub fn wait_event(&mut self, kind: &str, limit: Duration) -> Option<Value> {
        let started = Instant::now();
        while let Some(left) = limit.checked_sub(started.elapsed()) {
            let event = self.events.recv_timeout(left).ok()?;
            self.seen.push(event.clone());
            if event["event"] == kind {
                return Some(event);
            }
        }
        None
    }

    /// The record of the next reload that ends so. Events are hints: one save may be looked at twice.
    #[track_caller]
    pub fn wait_reload(&mut self, outcome: &str) -> Value {
        let limit = Duration::from_secs(30);
        let started = Instant::now();
        while let Some(event) = self.wait_event("reload", limit.saturating_sub(started.elapsed())) {
            if event["data"]["outcome"] == outcome {
                return event["data"].clone();
            }
        }
        panic!("no reload was {outcome}: {:#?}", self.seen);
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by number.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("a signal");
    }

    /// Waits for its end; gives the exit code.
    #[track_caller]
    pub fn ended(&mut self, limit: Duration) -> i32 {
        wait_for("the host ends", limit, || self.child.try_wait().expect("a child")).code().unwrap_or(-1)
    }

    /// Ends it the hard way.
    pub fn kill(mut self) {
        self.child.kill().expect("a running host");
        self.child.wait().expect("an end");
    }

    /// Graceful stop; gives the exit code.
    pub fn stop(self) -> i32 {
        self.signal(rustix::process::Signal::TERM);
        self.wait()
    }

    /// Waits for the end; gives the exit code.
    pub fn wait(mut self) -> i32 {
        self.ended(Duration::from_secs(20))
    }
}

impl Drop for LiveHost {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
