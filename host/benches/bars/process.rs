//! The program: start, memory and stop of `understudy run` with the example bot.

use crate::measure::{Samples, each};
use crate::table::{Probe, Table};
use crate::tree;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_understudy");

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// A host, and its output: closed, it would have nowhere to say that it stops.
struct Running {
    child: Child,
    _out: Lines<BufReader<ChildStdout>>,
}

/// Starts it and waits for `ready`.
fn start(bot: &Path) -> (Running, Duration) {
    let begun = Instant::now();
    let mut child = command(&["run", "--json", "--no-watch", &bot.to_string_lossy()]).spawn().expect("it starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let ready = out.by_ref().map_while(Result::ok).any(|l| l.contains("\"event\":\"ready\""));
    assert!(ready, "it ended before it was ready");
    (Running { child, _out: out }, begun.elapsed())
}

fn stop(mut running: Running) -> Duration {
    let begun = Instant::now();
    let pid = Pid::from_child(&running.child);
    kill_process(pid, Signal::TERM).expect("a signal");
    running.child.wait().expect("it ends");
    begun.elapsed()
}

/// Resident memory in MB; Linux alone says it so simply.
fn resident(child: &Child) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find(|l| l.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn shown(mb: Option<f64>) -> String {
    mb.map_or_else(|| "not known".into(), |mb| format!("{mb:.1} MB"))
}

pub(crate) fn rows(table: &mut Table) {
    let home = tempfile::tempdir().expect("a folder");
    let bot = home.path().join("full-bot");
    let example = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/full-bot");
    tree::copy(&example, &bot);
    let (mut starts, mut stops) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let (running, took) = start(&bot);
        starts.push(took);
        stops.push(stop(running));
    }
    let bare = each(5, || command(&["--version"]).output().expect("it runs")).median();
    let probe = Probe { name: "understudy --version", took: bare };
    table.ratio("start of full-bot, until ready", Samples::new(starts).median(), probe, &[]);
    table.time("stop of full-bot, from the signal", Samples::new(stops).median(), &[]);
    let (running, _) = start(&bot);
    table.plain("memory of full-bot when ready", &shown(resident(&running.child)));
    let dir = bot.to_string_lossy();
    for _ in 0..20 {
        let asked = command(&["ask", &dir, "roll 2d6"]).status().expect("it runs");
        assert!(asked.success(), "the question was not answered");
    }
    table.plain("memory of full-bot after 20 turns with a tool", &shown(resident(&running.child)));
    stop(running);
}
