//! Tells a person that work goes on: a line that redraws itself on a terminal, else one line per five seconds.

use crate::out::Out;
use host::task::SharedClock;
use std::future::Future;
use std::io::IsTerminal;
use std::time::Duration;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Redraws of a terminal line.
const REDRAW: Duration = Duration::from_millis(200);
/// Lines elsewhere.
const LINE: Duration = Duration::from_secs(5);

/// One step of a command's work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// What is done, as in "preparing".
    pub(crate) label: &'static str,
    /// Number from 1.
    pub(crate) number: usize,
    /// Steps in all.
    pub(crate) of: usize,
}

impl Step {
    /// The only step.
    pub(crate) fn only(label: &'static str) -> Self {
        Self { label, number: 1, of: 1 }
    }
}

/// Awaits the work and shows how long it takes.
pub(crate) async fn during<T>(out: &Out, clock: &SharedClock, step: Step, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    if out.quiet {
        return work.await;
    }
    let terminal = std::io::stderr().is_terminal();
    let started = clock.monotonic();
    let mut wait = if terminal { PATIENCE } else { LINE };
    let mut drawn = false;
    let result = loop {
        tokio::select! {
            result = &mut work => break result,
            () = clock.sleep(wait) => {
                let seconds = clock.monotonic().saturating_sub(started).as_secs_f64();
                let line = format!("{} (step {} of {}, {seconds:.1} s)", step.label, step.number, step.of);
                out.redraw(&line, terminal);
                drawn = terminal;
                wait = if terminal { REDRAW } else { LINE };
            }
        }
    };
    if drawn {
        out.redraw("", true);
    }
    result
}
