//! Input and output of a process: fed, read and capped at the same time, so that neither side blocks the other.

use super::CommandError;
use super::process::Ended;
use futures::future::BoxFuture;
use process_wrap::tokio::ChildWrapper;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

/// Bytes of standard error that are kept, counted from its end.
const STDERR_TAIL: usize = 64 * 1024;
/// Bytes kept of its start, for the first line.
const STDERR_HEAD: usize = 1024;
/// Characters of the first line a model sees.
const FIRST_LINE: usize = 500;

/// What was read so far.
#[derive(Default)]
pub(super) struct Kept {
    stdout: Vec<u8>,
    over: bool,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Kept {
    /// Whether the program wrote more than the cap.
    pub(super) fn overflowed(&self) -> bool {
        self.over
    }

    /// The texts of an ended process.
    pub(super) fn into_ended(self, end: Result<ExitStatus, CommandError>) -> Ended {
        Ended { end, stdout: self.stdout, stderr_head: first_line(&self.head), stderr: tail_text(&self.tail) }
    }

    fn take_stderr(&mut self, bytes: &[u8]) {
        let room = STDERR_HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(bytes);
        // Cut rarely: only when twice the size is reached.
        if self.tail.len() > 2 * STDERR_TAIL {
            self.tail.drain(..self.tail.len() - STDERR_TAIL);
        }
    }
}

/// The three pipes of one process.
pub(super) struct Pipes {
    work: BoxFuture<'static, ()>,
    open: bool,
    kept: Arc<Mutex<Kept>>,
    overflow: Arc<Notify>,
}

impl Pipes {
    /// Takes the pipes of a child; `input` is written and its standard input closed.
    pub(super) fn of(child: &mut Box<dyn ChildWrapper>, input: Vec<u8>, cap: usize) -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let overflow = Arc::new(Notify::new());
        let stdin = child.stdin().take();
        let stdout = child.stdout().take();
        let stderr = child.stderr().take();
        let feed = async move {
            if let Some(mut stdin) = stdin
                && let Err(e) = stdin.write_all(&input).await
            {
                // A program need not read its input.
                tracing::trace!(error = %e, "a program closed its input early");
            }
        };
        let out = read_out(stdout, cap, Arc::clone(&kept), Arc::clone(&overflow));
        let err = read_err(stderr, Arc::clone(&kept));
        let work = Box::pin(async move {
            tokio::join!(feed, out, err);
        });
        Self { work, open: true, kept, overflow }
    }

    /// Whether a pipe is still open.
    pub(super) fn open(&self) -> bool {
        self.open
    }

    /// Woken when the cap is passed.
    pub(super) fn overflow(&self) -> Arc<Notify> {
        Arc::clone(&self.overflow)
    }

    /// Moves bytes until all pipes are closed. May be dropped and called again.
    pub(super) async fn finish(&mut self) {
        if self.open {
            (&mut self.work).await;
            self.open = false;
        }
    }

    /// What was read.
    pub(super) fn kept(self) -> Kept {
        std::mem::take(&mut *lock(&self.kept))
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read_out(pipe: Option<impl AsyncRead + Unpin>, cap: usize, kept: Arc<Mutex<Kept>>, overflow: Arc<Notify>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n) = pipe.read(&mut buffer).await {
        let mut kept = lock(&kept);
        if n == 0 {
            return;
        }
        if kept.stdout.len() + n > cap {
            // The pipe is closed here: the program cannot go on filling it while it is being stopped.
            kept.over = true;
            overflow.notify_one();
            return;
        }
        kept.stdout.extend_from_slice(&buffer[..n]);
    }
}

async fn read_err(pipe: Option<impl AsyncRead + Unpin>, kept: Arc<Mutex<Kept>>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(n) = pipe.read(&mut buffer).await {
        if n == 0 {
            return;
        }
        lock(&kept).take_stderr(&buffer[..n]);
    }
}

/// The first line that says something, on one line and short.
fn first_line(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head);
    let line = text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(FIRST_LINE).collect()
}

/// The last 64 KiB as text, beginning at a character.
fn tail_text(tail: &[u8]) -> String {
    // Replacing what is no UTF-8 makes the text longer, so it is cut after that.
    let text = String::from_utf8_lossy(tail);
    let mut from = text.len().saturating_sub(STDERR_TAIL);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_string()
}
