//! The quiet window: when a change is ripe, and which plugins are still being written. Pure.

use plugin_sdk::OwnerPath;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A plugin that never becomes quiet is judged as it is after this.
const NEVER: Duration = Duration::from_secs(30);

/// `reload.settle_ms` and `reload.max_settle_ms`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) quiet: Duration,
    pub(super) most: Duration,
}

/// First and last event.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: Duration,
    last: Duration,
}

impl Span {
    fn add(slot: Option<Self>, now: Duration) -> Self {
        Self { first: slot.map_or(now, |s| s.first), last: now }
    }
}

/// What is ripe.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ripe {
    /// Plugins that stay at their published version.
    pub(super) hold: BTreeSet<OwnerPath>,
    /// Plugins that are judged though they still change.
    pub(super) never_settles: Vec<OwnerPath>,
}

/// Times are monotonic.
#[derive(Debug, Default)]
pub(super) struct Settle {
    window: Option<Span>,
    /// Plugins with an event in this window.
    owners: BTreeMap<OwnerPath, Span>,
    /// Plugins that still changed when a window had to end.
    held: BTreeMap<OwnerPath, Span>,
}

impl Settle {
    /// A change; `owner` when it lies in a plugin that is not the root.
    pub(super) fn event(&mut self, now: Duration, owner: Option<OwnerPath>) {
        if let Some(owner) = owner {
            if let Some(span) = self.held.get_mut(&owner) {
                span.last = now;
                return;
            }
            let span = Span::add(self.owners.get(&owner).copied(), now);
            self.owners.insert(owner, span);
        }
        self.window = Some(Span::add(self.window, now));
    }

    /// Whether nothing is waiting.
    pub(super) fn is_idle(&self) -> bool {
        self.window.is_none() && self.held.is_empty()
    }

    /// When to ask `ripe` next.
    pub(super) fn due(&self, w: Window) -> Option<Duration> {
        let window = self.window.map(|s| (s.last + w.quiet).min(s.first + w.most));
        let held = self.held.values().map(|s| (s.last + w.quiet).min(s.first + NEVER));
        held.chain(window).min()
    }

    /// What is ripe at `now`, if anything.
    pub(super) fn ripe(&mut self, now: Duration, w: Window) -> Option<Ripe> {
        let mut out = Ripe::default();
        let mut fires = false;
        self.held.retain(|owner, span| {
            let late = now >= span.first + NEVER;
            let quiet = now >= span.last + w.quiet;
            if late && !quiet {
                out.never_settles.push(owner.clone());
            }
            fires |= late || quiet;
            !late && !quiet
        });
        if let Some(span) = self.window
            && now >= (span.last + w.quiet).min(span.first + w.most)
        {
            fires = true;
            self.window = None;
            for (owner, span) in std::mem::take(&mut self.owners) {
                if now < span.last + w.quiet {
                    self.held.insert(owner, span);
                }
            }
        }
        out.hold = self.held.keys().cloned().collect();
        fires.then_some(out)
    }
}
