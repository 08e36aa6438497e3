//! What people used: one record of counts per person and UTC day. The process keeps the present day at hand, so
//! that turns of one person at the same time see each other.

use crate::store::{Key, Op, SharedStore, StoreError, Tree};
use crate::task::SharedClock;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a day's record is kept.
const KEPT: Duration = Duration::from_secs(400 * 86_400);
/// Records read at once.
const PAGE: usize = 1000;

/// Counts of one person on one day.
// SHAPE: 08 §6
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Turns that ended.
    pub turns: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Of the tokens sent those a provider had kept.
    pub cached_read: u64,
    /// Cost by the prices of the models.
    pub cost_usd: f64,
    /// The one sentence of the day about the budget was said.
    pub warned: bool,
}

impl Counts {
    /// What a token budget counts.
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    fn add(&mut self, other: &Counts) {
        self.turns += other.turns;
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached_read = self.cached_read.saturating_add(other.cached_read);
        self.cost_usd += other.cost_usd;
        self.warned |= other.warned;
    }
}

/// The counts of a host. Clones share them.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    store: SharedStore,
    clock: SharedClock,
    day: Mutex<Day>,
}

#[derive(Default)]
struct Day {
    number: u64,
    persons: HashMap<String, Entry>,
    /// What all cost together; `None` until somebody asks.
    cost: Option<f64>,
}

#[derive(Default)]
struct Entry {
    counts: Counts,
    /// Records made of it, so that the newest one is the one that stays.
    records: u64,
}

impl Ledger {
    /// The counts kept in `store`.
    pub fn new(store: SharedStore, clock: SharedClock) -> Self {
        Self(Arc::new(Inner { store, clock, day: Mutex::default() }))
    }

    /// Today's counts of a person.
    pub async fn today(&self, person: &str) -> Result<Counts, StoreError> {
        let number = self.number();
        if let Some(entry) = self.day(number).persons.get(person) {
            return Ok(entry.counts);
        }
        let stored = self.stored(number, person).await?;
        let mut day = self.day(number);
        let entry = day.persons.entry(person.to_owned());
        Ok(entry.or_insert(Entry { counts: stored, records: 0 }).counts)
    }

    /// What everybody's turns cost today.
    pub async fn cost_today(&self) -> Result<f64, StoreError> {
        let number = self.number();
        if let Some(cost) = self.day(number).cost {
            return Ok(cost);
        }
        let mut stored: HashMap<String, Counts> = HashMap::new();
        let prefix = Key::new().u64(number);
        let mut after: Option<Key> = None;
        loop {
            let page = self.0.store.scan_prefix(Tree::Usage, &prefix, after.as_ref(), PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            let read = page.into_iter().filter_map(|(key, value)| Some((key.last_str()?, counts_of(value))));
            stored.extend(read);
        }
        let mut day = self.day(number);
        // What is at hand is newer than what is stored.
        stored.extend(day.persons.iter().map(|(person, entry)| (person.clone(), entry.counts)));
        let cost = stored.values().map(|counts| counts.cost_usd).sum();
        day.cost = Some(cost);
        Ok(cost)
    }

    /// Counts of a person over the newest `days`, today's included.
    pub async fn over(&self, person: &str, days: u64) -> Result<Counts, StoreError> {
        let mut sum = self.today(person).await?;
        let today = self.number();
        for number in today.saturating_sub(days.saturating_sub(1))..today {
            sum.add(&self.stored(number, person).await?);
        }
        Ok(sum)
    }

    /// Counts at once what a person used, in memory; the next record of the person keeps it.
    pub async fn add(&self, person: &str, used: Counts) -> Result<(), StoreError> {
        self.today(person).await?;
        let mut day = self.day(self.number());
        day.persons.entry(person.to_owned()).or_default().counts.add(&used);
        if let Some(cost) = &mut day.cost {
            *cost += used.cost_usd;
        }
        Ok(())
    }

    /// The record of a person as it is now, for the batch that ends a turn, and its number.
    pub fn record(&self, person: &str) -> (Op, u64) {
        let number = self.number();
        let mut day = self.day(number);
        let entry = day.persons.entry(person.to_owned()).or_default();
        entry.records += 1;
        (put(number, person, &entry.counts), entry.records)
    }

    /// The batch with a record is written. Another turn may have made a newer record and written it earlier.
    pub async fn recorded(&self, person: &str, record: u64) -> Result<(), StoreError> {
        let newest = self.day(self.number()).persons.get(person).map_or(0, |entry| entry.records);
        if newest <= record {
            return Ok(());
        }
        self.0.store.batch(vec![self.record(person).0]).await
    }

    /// Whether the one sentence of the day about a budget is still to be said to a person; it counts as said.
    pub async fn warn(&self, person: &str) -> Result<bool, StoreError> {
        self.today(person).await?;
        let first = {
            let mut day = self.day(self.number());
            let entry = day.persons.entry(person.to_owned()).or_default();
            !std::mem::replace(&mut entry.counts.warned, true)
        };
        if first {
            self.0.store.batch(vec![self.record(person).0]).await?;
        }
        Ok(first)
    }

    async fn stored(&self, number: u64, person: &str) -> Result<Counts, StoreError> {
        let stored = self.0.store.get(Tree::Usage, &Key::new().u64(number).str(person)).await?;
        Ok(stored.map(counts_of).unwrap_or_default())
    }

    fn number(&self) -> u64 {
        u64::try_from(self.0.clock.now().timestamp().div_euclid(86_400)).unwrap_or(0)
    }

    /// The day at hand; the one before is forgotten, its records are stored.
    fn day(&self, number: u64) -> MutexGuard<'_, Day> {
        let mut day = self.0.day.lock().unwrap_or_else(PoisonError::into_inner);
        if day.number != number {
            *day = Day { number, ..Day::default() };
        }
        day
    }
}

fn put(number: u64, person: &str, counts: &Counts) -> Op {
    // numbers only: nothing in it that JSON lacks
    let value = serde_json::to_value(counts).unwrap_or_default();
    Op::put_for(Tree::Usage, Key::new().u64(number).str(person), value, KEPT)
}

/// A record nobody can read counts nothing.
fn counts_of(value: serde_json::Value) -> Counts {
    serde_json::from_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::in_memory;
    use crate::task::ManualClock;

    fn used(input: u64, cost_usd: f64) -> Counts {
        Counts { turns: 1, input, output: 1, cost_usd, ..Counts::default() }
    }

    #[tokio::test]
    async fn counts_last_a_day_and_a_restart() {
        let clock = ManualClock::default();
        let store = in_memory(clock.shared());
        let ledger = Ledger::new(store.clone(), clock.shared());
        ledger.add("a:1", used(10, 0.5)).await.unwrap();
        ledger.add("a:2", used(20, 0.25)).await.unwrap();
        assert!((ledger.cost_today().await.unwrap() - 0.75).abs() < 1e-9);
        let (older, first) = ledger.record("a:1");
        ledger.add("a:1", used(5, 0.5)).await.unwrap();
        let (newer, second) = ledger.record("a:1");
        // the newer record is written first: the older one must not stay
        store.batch(vec![newer]).await.unwrap();
        ledger.recorded("a:1", second).await.unwrap();
        store.batch(vec![older]).await.unwrap();
        ledger.recorded("a:1", first).await.unwrap();
        let again = Ledger::new(store.clone(), clock.shared());
        assert_eq!(
            again.today("a:1").await.unwrap(),
            Counts { turns: 2, input: 15, output: 2, cost_usd: 1.0, ..Counts::default() }
        );
        assert!((again.cost_today().await.unwrap() - 1.0).abs() < 1e-9);
        clock.advance(Duration::from_secs(86_400));
        assert_eq!(again.today("a:1").await.unwrap(), Counts::default());
        assert_eq!(again.over("a:1", 2).await.unwrap().input, 15);
        assert_eq!(again.over("a:1", 1).await.unwrap().input, 0);
    }

    #[tokio::test]
    async fn a_warning_is_said_once_a_day() {
        let clock = ManualClock::default();
        let store = in_memory(clock.shared());
        let ledger = Ledger::new(store.clone(), clock.shared());
        assert!(ledger.warn("a:1").await.unwrap());
        assert!(!ledger.warn("a:1").await.unwrap());
        assert!(!Ledger::new(store, clock.shared()).warn("a:1").await.unwrap(), "not after a restart either");
        clock.advance(Duration::from_secs(86_400));
        assert!(ledger.warn("a:1").await.unwrap());
    }
}
