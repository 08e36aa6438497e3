//! How often one person may start a turn: a sliding minute, then a pause with one sentence.

use super::recent::Recent;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The window.
const WINDOW: Duration = Duration::from_secs(60);
/// People remembered; the least recently active leaves.
const PEOPLE: usize = 100_000;

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// It goes on.
    Fine,
    /// It is dropped, and the person is told to wait so many seconds.
    Pause(u64),
    /// It is dropped; the person was told.
    Dropped,
}

/// The paces of all people.
pub struct Rates(Mutex<Recent<Person>>);

impl Default for Rates {
    fn default() -> Self {
        Self(Mutex::new(Recent::new(PEOPLE)))
    }
}

#[derive(Default)]
struct Person {
    turns: VecDeque<Duration>,
    pause_until: Option<Duration>,
}

impl Rates {
    /// A message of `who` at the monotonic time `now`; `per_minute` 0 = no limit.
    pub(super) fn pace(&self, who: &str, now: Duration, per_minute: usize, cooldown: Duration) -> Pace {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let person = book.of(who);
        if per_minute == 0 {
            return Pace::Fine;
        }
        if person.pause_until.is_some_and(|until| now < until) {
            return Pace::Dropped;
        }
        person.pause_until = None;
        while person.turns.front().is_some_and(|at| now.saturating_sub(*at) >= WINDOW) {
            person.turns.pop_front();
        }
        if person.turns.len() < per_minute {
            person.turns.push_back(now);
            return Pace::Fine;
        }
        person.pause_until = Some(now + cooldown);
        Pace::Pause(cooldown.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(rates: &Rates, who: &str, seconds: u64) -> Pace {
        rates.pace(who, Duration::from_secs(seconds), 20, Duration::from_secs(10))
    }

    #[test]
    fn the_twenty_first_of_a_minute_starts_one_pause() {
        let rates = Rates::default();
        assert!((0..20).all(|n| at(&rates, "a:1", n) == Pace::Fine));
        assert_eq!(at(&rates, "a:1", 20), Pace::Pause(10));
        assert!((21..30).all(|n| at(&rates, "a:1", n) == Pace::Dropped));
        assert_eq!(at(&rates, "a:2", 22), Pace::Fine, "everybody has a minute of their own");
        assert_eq!(at(&rates, "a:1", 30), Pace::Pause(10), "the minute still holds twenty");
        assert!((60..62).all(|n| at(&rates, "a:1", n) == Pace::Fine), "the oldest have left");
        assert_eq!(rates.pace("a:1", Duration::from_secs(62), 0, Duration::ZERO), Pace::Fine, "no limit");
    }

    #[test]
    fn the_least_recently_active_leaves() {
        let rates = Rates::default();
        for n in 0..20 {
            assert_eq!(at(&rates, "first", n), Pace::Fine);
        }
        for n in 0..PEOPLE {
            assert_eq!(at(&rates, &format!("p{n}"), 20), Pace::Fine);
        }
        assert_eq!(rates.0.lock().unwrap().len(), PEOPLE);
        assert_eq!(at(&rates, "first", 21), Pace::Fine, "forgotten");
    }
}
