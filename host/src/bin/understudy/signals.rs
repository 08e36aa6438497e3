//! The signals a command listens to.

use crate::out::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caught {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP.
    Hangup,
}

impl Caught {
    /// Exit code of a process that ends by it: 128 and the signal's number.
    pub(crate) fn exit(self) -> u8 {
        match self {
            Caught::Hangup => 129,
            Caught::Interrupt => 130,
            Caught::Terminate => 143,
        }
    }
}

/// Catches them from now on.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let catch = |kind| signal(kind).map_err(|e| Failure::internal(format!("signals: {e}")));
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hangup: catch(SignalKind::hangup())?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::Terminate,
            _ = self.hangup.recv() => Caught::Hangup,
        }
    }

    /// The next one that ends a conversation: in a terminal Ctrl-C stops the running turn instead, which the console does.
    pub(crate) async fn leaving(&mut self, terminal: bool) -> Caught {
        loop {
            let caught = self.ending().await;
            if caught != Caught::Interrupt || !terminal {
                return caught;
            }
        }
    }

    /// The next one that asks the process to end.
    pub(crate) async fn ending(&mut self) -> Caught {
        loop {
            let caught = self.next().await;
            if caught != Caught::Hangup {
                return caught;
            }
        }
    }
}
