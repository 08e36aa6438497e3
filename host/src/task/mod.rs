//! Room 1, `task`: named spawn, cancellation, clock; `guard`, the only way to run plugin code.
//! Must not detach a task; read the clock elsewhere. Next room: `store`.

mod clock;
mod guard;
mod tracked;

pub use clock::{Clock, ManualClock, SharedClock, SystemClock};
pub use guard::{GuardError, guard, panic_text};
pub use tracked::{Tasks, blocking, thread};

#[cfg(test)]
mod tests;
