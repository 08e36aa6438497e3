//! The order of turns as plain state. Everything here happens under one short lock.

use super::place::Place;
use super::{LaneError, LaneLimits, Lanes, QueueFull, StopCause, StopSign, Stopped};
use crate::session::SessionKey;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::sync::oneshot;

/// Ticket number, then order of entering for equal numbers.
pub(super) type Position = (u64, u64);
type Grant = oneshot::Sender<Result<Place, LaneError>>;

pub(super) struct Waiter {
    pub(super) principal: String,
    pub(super) message: Value,
    pub(super) absorbed: Vec<Value>,
    pub(super) since: Duration,
    pub(super) grant: Grant,
}

struct Run {
    at: Position,
    principal: String,
    sign: StopSign,
    /// Pauses without their resume.
    pauses: u32,
    holds: bool,
}

#[derive(Default)]
struct Lane {
    running: Option<Run>,
    waiting: BTreeMap<Position, Waiter>,
    /// Where the ready list has this session.
    ready: Option<Position>,
}

struct Reentry {
    session: SessionKey,
    wake: oneshot::Sender<()>,
}

pub(super) struct Schedule {
    pub(super) limits: LaneLimits,
    lanes: HashMap<SessionKey, Lane>,
    /// First tickets of the sessions in which nothing runs.
    ready: BTreeMap<Position, SessionKey>,
    returning: BTreeMap<Position, Reentry>,
    runs: usize,
    used: usize,
    used_by: HashMap<String, usize>,
    entered: u64,
    closing: bool,
}

impl Schedule {
    pub(super) fn new(limits: LaneLimits) -> Self {
        Self {
            limits,
            lanes: HashMap::new(),
            ready: BTreeMap::new(),
            returning: BTreeMap::new(),
            runs: 0,
            used: 0,
            used_by: HashMap::new(),
            entered: 0,
            closing: false,
        }
    }

    pub(super) fn enter(
        &mut self,
        number: u64,
        session: &SessionKey,
        mut waiter: Waiter,
        supersede: bool,
    ) -> Result<Position, QueueFull> {
        self.entered += 1;
        let at = (number, self.entered);
        if self.closing {
            // Nothing begins any more; whoever asked and has gone already misses nothing.
            let _ = waiter.grant.send(Err(LaneError::Closing));
            return Ok(at);
        }
        let lane = self.lanes.entry(session.clone()).or_default();
        if supersede {
            let mut absorbed = Vec::new();
            for (_, older) in std::mem::take(&mut lane.waiting) {
                absorbed.extend(older.absorbed);
                absorbed.push(older.message);
                let _ = older.grant.send(Err(LaneError::Superseded));
            }
            waiter.absorbed = absorbed;
            if let Some(run) = &lane.running {
                run.sign.raise(StopCause::Superseded);
            }
        } else if lane.waiting.len() >= self.limits.queue {
            return Err(QueueFull { waiting: lane.waiting.len() });
        }
        lane.waiting.insert(at, waiter);
        self.refresh(session);
        Ok(at)
    }

    /// Puts the session's first ticket on the ready list, or takes the session off it; forgets an empty lane.
    fn refresh(&mut self, session: &SessionKey) {
        let Some(lane) = self.lanes.get_mut(session) else { return };
        if let Some(at) = lane.ready.take() {
            self.ready.remove(&at);
        }
        match (lane.running.is_some(), lane.waiting.keys().next()) {
            (false, Some(first)) => {
                lane.ready = Some(*first);
                self.ready.insert(*first, session.clone());
            }
            (false, None) => {
                self.lanes.remove(session);
            }
            (true, _) => {}
        }
    }

    fn has_room(&self, principal: &str) -> bool {
        self.used < self.limits.places && self.used_by.get(principal).copied().unwrap_or(0) < self.limits.per_principal
    }

    fn take(&mut self, principal: &str) {
        self.used += 1;
        *self.used_by.entry(principal.to_owned()).or_default() += 1;
    }

    fn give_back(&mut self, principal: &str) {
        self.used -= 1;
        if let Some(n) = self.used_by.get_mut(principal) {
            *n -= 1;
            if *n == 0 {
                self.used_by.remove(principal);
            }
        }
    }

    /// Gives free places away: first to turns that come back, then to sessions, each in ticket order. Gives the
    /// places back whose ticket was dropped at this very moment.
    pub(super) fn hand_out(&mut self, lanes: &Lanes) -> Vec<Place> {
        self.let_back_in();
        let mut refused = Vec::new();
        let mut from: Option<Position> = None;
        while !self.closing && self.used < self.limits.places {
            let next = match from {
                None => self.ready.iter().next(),
                Some(at) => self.ready.range((std::ops::Bound::Excluded(at), std::ops::Bound::Unbounded)).next(),
            };
            let Some((&at, session)) = next.map(|(at, s)| (at, s.clone())) else { break };
            from = Some(at);
            refused.extend(self.start(lanes, &session, at));
        }
        refused
    }

    fn let_back_in(&mut self) {
        let order: Vec<Position> = self.returning.keys().copied().collect();
        for at in order {
            let Some(session) = self.returning.get(&at).map(|r| r.session.clone()) else { continue };
            let principal = self.run(&session, at).map(|run| run.principal.clone());
            let Some(principal) = principal.filter(|p| self.has_room(p)) else { continue };
            self.take(&principal);
            if let Some(run) = self.run(&session, at) {
                run.holds = true;
            }
            if let Some(reentry) = self.returning.remove(&at) {
                // A turn that gave up meanwhile still holds the place and gives it back at its end.
                let _ = reentry.wake.send(());
            }
        }
    }

    fn start(&mut self, lanes: &Lanes, session: &SessionKey, at: Position) -> Option<Place> {
        let waiter = self.lanes.get(session)?.waiting.get(&at)?;
        if !self.has_room(&waiter.principal) {
            return None;
        }
        let lane = self.lanes.get_mut(session)?;
        let waiter = lane.waiting.remove(&at)?;
        let sign = StopSign::default();
        let run = Run { at, principal: waiter.principal.clone(), sign: sign.clone(), pauses: 0, holds: true };
        lane.running = Some(run);
        lane.ready = None;
        self.ready.remove(&at);
        self.runs += 1;
        self.take(&waiter.principal);
        let waited = lanes.0.clock.monotonic().saturating_sub(waiter.since);
        let place = Place::new(lanes.clone(), session.clone(), at, sign, waiter.absorbed, waited);
        waiter.grant.send(Ok(place)).err()?.ok()
    }

    fn run(&mut self, session: &SessionKey, at: Position) -> Option<&mut Run> {
        self.lanes.get_mut(session)?.running.as_mut().filter(|run| run.at == at)
    }

    pub(super) fn finish(&mut self, session: &SessionKey, at: Position) {
        self.returning.remove(&at);
        let Some(lane) = self.lanes.get_mut(session) else { return };
        if lane.running.as_ref().is_none_or(|run| run.at != at) {
            return;
        }
        if let Some(run) = lane.running.take() {
            self.runs -= 1;
            if run.holds {
                self.give_back(&run.principal);
            }
        }
        self.refresh(session);
    }

    pub(super) fn withdraw(&mut self, session: &SessionKey, at: Position) {
        if let Some(lane) = self.lanes.get_mut(session) {
            lane.waiting.remove(&at);
            self.refresh(session);
        }
    }

    pub(super) fn pause(&mut self, session: &SessionKey, at: Position) {
        let Some(run) = self.run(session, at) else { return };
        run.pauses += 1;
        if std::mem::take(&mut run.holds) {
            let principal = run.principal.clone();
            self.give_back(&principal);
        }
    }

    pub(super) fn reenter(&mut self, session: &SessionKey, at: Position) -> Option<oneshot::Receiver<()>> {
        let run = self.run(session, at)?;
        run.pauses = run.pauses.saturating_sub(1);
        if run.pauses > 0 || run.holds {
            return None;
        }
        let (wake, granted) = oneshot::channel();
        self.returning.insert(at, Reentry { session: session.clone(), wake });
        Some(granted)
    }

    pub(super) fn stop(&mut self, session: &SessionKey, cause: StopCause) -> Stopped {
        let Some(lane) = self.lanes.get(session) else { return Stopped { running: false, waiting: 0 } };
        if let Some(run) = &lane.running {
            run.sign.raise(cause);
        }
        Stopped { running: lane.running.is_some(), waiting: lane.waiting.len() }
    }

    /// Whose turn runs in a session.
    pub(super) fn runner(&self, session: &SessionKey) -> Option<String> {
        Some(self.lanes.get(session)?.running.as_ref()?.principal.clone())
    }

    pub(super) fn stop_all(&mut self, cause: StopCause) -> usize {
        let runs = self.lanes.values().filter_map(|lane| lane.running.as_ref());
        runs.map(|run| run.sign.raise(cause)).count()
    }

    pub(super) fn close(&mut self) {
        self.closing = true;
        self.ready.clear();
        for lane in self.lanes.values_mut() {
            for (_, waiter) in std::mem::take(&mut lane.waiting) {
                let _ = waiter.grant.send(Err(LaneError::Closing));
            }
        }
        self.lanes.retain(|_, lane| lane.running.is_some());
    }

    pub(super) fn running(&self) -> usize {
        self.runs
    }

    pub(super) fn waiting(&self) -> usize {
        self.lanes.values().map(|lane| lane.waiting.len()).sum()
    }

    pub(super) fn is_busy(&self, session: &SessionKey) -> bool {
        self.lanes.contains_key(session)
    }
}
