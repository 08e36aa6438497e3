//! One process from start to its proven end.

use super::pipes::Pipes;
use super::{CommandError, CommandPool};
use crate::runtime::children;
use crate::task::blocking;
use plugin_sdk::{CancellationSignal, ToolResult};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use rustix::process::Signal;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Most bytes of standard output.
pub(super) const STDOUT_CAP: usize = 1024 * 1024;
/// Repeats while the program's file is still open for writing in some other process.
const BUSY_TRIES: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(10);
/// Between TERM and KILL.
const TERM_GRACE: Duration = Duration::from_millis(500);
/// How long a killed process may take to disappear before its end counts as unknown.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// How long output may still arrive once the whole group is dead; only a process that left the group holds it open.
const DRAIN_GRACE: Duration = Duration::from_millis(250);

/// Everything a process is started with.
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
    pub(super) stdin: Vec<u8>,
}

/// What ends a process before its own end.
pub(super) struct Stop {
    /// On the pool's clock.
    pub(super) deadline: Duration,
    /// The same as a length, for texts.
    pub(super) limit: Duration,
    /// Cancellation of the call.
    pub(super) signal: CancellationSignal,
}

/// A process that is gone.
pub(super) struct Ended {
    /// Its status, or why it was stopped.
    pub(super) end: Result<ExitStatus, CommandError>,
    pub(super) stdout: Vec<u8>,
    /// First line of standard error.
    pub(super) stderr_head: String,
    /// Last part of standard error.
    pub(super) stderr: String,
}

impl Ended {
    /// Keeps the log lines beside the result, for the journal and `call`; no model sees them.
    pub(super) fn note_stderr(self, result: &mut ToolResult) {
        if !self.stderr.is_empty() {
            result.metadata.insert("stderr".into(), self.stderr.into());
        }
    }
}

/// Asks the task to end the process when the call's future is dropped.
struct StopOnDrop(CancellationSignal);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// Runs a program to its end. The process belongs to a tracked task, so that dropping this future still
/// stops and awaits it.
pub(super) async fn run(launch: Launch, pool: &Arc<CommandPool>, stop: Stop) -> Result<Ended, CommandError> {
    let _stop = StopOnDrop(stop.signal.clone());
    let pool_of_task = Arc::clone(pool);
    let task = pool.tasks().spawn("command", async move {
        let mut process = Process::start(&launch, &pool_of_task).await?;
        let ended = process.finish(launch.stdin, stop).await;
        process.forget().await;
        Ok(ended)
    });
    match task.await {
        Ok(ended) => ended,
        Err(e) if e.is_cancelled() => Err(CommandError::NotEnded),
        Err(e) => Err(CommandError::Prepare(format!("the command could not be run: {e}"))),
    }
}

/// A running process group.
struct Process {
    child: Box<dyn ChildWrapper>,
    pid: u32,
    pool: Arc<CommandPool>,
    ended: bool,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Only when the task itself is aborted at shutdown. The entry in the list stays for the next start.
        if !self.ended {
            self.signal(Signal::KILL);
        }
    }
}

impl Process {
    async fn start(launch: &Launch, pool: &Arc<CommandPool>) -> Result<Self, CommandError> {
        let mut tries = 0;
        let mut child = loop {
            match spawn(launch) {
                Ok(child) => break child,
                Err(e) if e.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                    tries += 1;
                    pool.process_clock().sleep(BUSY_WAIT).await;
                }
                Err(e) => return Err(start_error(launch, &e)),
            }
        };
        let Some(pid) = child.id() else {
            let _ = child.start_kill();
            return Err(CommandError::Prepare("the process has no id".into()));
        };
        let mut process = Self { child, pid, pool: Arc::clone(pool), ended: false };
        let folder = pool.data_dir().to_path_buf();
        // Listed before it gets its input: a program that waits for it has not begun before.
        match blocking("children", move || children::record(&folder, pid)).await {
            Ok(Ok(())) => Ok(process),
            Ok(Err(e)) => {
                process.kill_unheard().await;
                Err(CommandError::Prepare(format!("the process cannot be recorded: {e}")))
            }
            Err(e) => {
                process.kill_unheard().await;
                Err(CommandError::Prepare(format!("the process cannot be recorded: {e}")))
            }
        }
    }

    async fn kill_unheard(&mut self) {
        self.signal(Signal::KILL);
        self.ended = self.child.wait().await.is_ok();
    }

    fn signal(&self, signal: Signal) {
        // The group may be gone already; that is what was wanted.
        if let Err(e) = self.child.signal(signal.as_raw()) {
            tracing::trace!(pid = self.pid, error = %e, "no process to signal");
        }
    }

    async fn finish(&mut self, stdin: Vec<u8>, stop: Stop) -> Ended {
        let mut pipes = Pipes::of(&mut self.child, stdin, STDOUT_CAP);
        let pool = Arc::clone(&self.pool);
        let too_much = pipes.overflow();
        let cause = async move {
            tokio::select! {
                biased;
                () = too_much.notified() => CommandError::OutputTooLarge(STDOUT_CAP),
                () = stop.signal.cancelled() => CommandError::Cancelled,
                () = pool.tasks().closing() => CommandError::Cancelled,
                () = pool.clock().sleep(stop.deadline.saturating_sub(pool.clock().monotonic())) => {
                    CommandError::Timeout(stop.limit)
                }
            }
        };
        let end = match self.wait(&mut pipes, cause).await {
            Ok(status) => Ok(status),
            Err(cause) => match self.stop(&mut pipes).await {
                true => Err(cause),
                false => Err(CommandError::NotEnded),
            },
        };
        // Whatever the program left running goes with it, and so does its hold on the output.
        self.signal(Signal::KILL);
        let clock = Arc::clone(self.pool.process_clock());
        tokio::select! { () = pipes.finish() => {}, () = clock.sleep(DRAIN_GRACE) => {} }
        let kept = pipes.kept();
        let end = if kept.overflowed() && end.is_ok() { Err(CommandError::OutputTooLarge(STDOUT_CAP)) } else { end };
        kept.into_ended(end)
    }

    /// Waits for the end or for `cause`, while input and output go on.
    async fn wait<C>(&mut self, pipes: &mut Pipes, cause: impl Future<Output = C>) -> Result<ExitStatus, C> {
        tokio::pin!(cause);
        let status = loop {
            let open = pipes.open();
            tokio::select! {
                biased;
                status = self.child.wait() => break status,
                cause = &mut cause => return Err(cause),
                () = pipes.finish(), if open => {}
            }
        };
        match status {
            Ok(status) => {
                self.ended = true;
                Ok(status)
            }
            Err(e) => {
                // It cannot be awaited: the deadline is the only way on.
                tracing::error!(pid = self.pid, error = %e, "a process cannot be awaited");
                Err(cause.await)
            }
        }
    }

    /// TERM, half a second, KILL, to the whole group; whether the end was seen.
    async fn stop(&mut self, pipes: &mut Pipes) -> bool {
        let clock = Arc::clone(self.pool.process_clock());
        self.signal(Signal::TERM);
        if self.wait(pipes, clock.sleep(TERM_GRACE)).await.is_ok() {
            return true;
        }
        self.signal(Signal::KILL);
        self.wait(pipes, clock.sleep(KILL_GRACE)).await.is_ok()
    }

    /// Takes an ended process off the list.
    async fn forget(&self) {
        if !self.ended {
            return;
        }
        let (folder, pid) = (self.pool.data_dir().to_path_buf(), self.pid);
        if let Ok(Err(e)) = blocking("children", move || children::forget(&folder, pid)).await {
            tracing::warn!(pid, error = %e, "an ended process stays on the list of children");
        }
    }
}

fn spawn(launch: &Launch) -> io::Result<Box<dyn ChildWrapper>> {
    let mut command = CommandWrap::with_new(&launch.program, |c| {
        c.args(&launch.args)
            .current_dir(&launch.cwd)
            .env_clear()
            .envs(launch.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
    });
    command.wrap(ProcessGroup::leader());
    command.spawn()
}

fn start_error(launch: &Launch, error: &io::Error) -> CommandError {
    let program = launch.program.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound if !launch.cwd.is_dir() => ("its working directory does not exist".to_string(), None),
        // The file was there a moment ago: then it is the interpreter of its first line that is not.
        io::ErrorKind::NotFound => (
            error.to_string(),
            Some(
                "the program or the interpreter in its `#!` line does not exist; a line end of Windows also breaks that line",
            ),
        ),
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => (
            error.to_string(),
            Some("start the file with a `#!` line, or name the interpreter first in `[run] command`"),
        ),
        _ => (error.to_string(), None),
    };
    CommandError::Start { message: format!("`{program}` cannot be started: {message}"), help: help.map(str::to_string) }
}
