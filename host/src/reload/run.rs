//! The one task: waits for requests, drains and retries, and sends one reload after another down the spine.

use super::handle::{Now, ReloadHandle, Shared};
use super::log::Log;
use super::queue::{Batch, Job};
use super::record::{Outcome, ReloadRecord, Trigger};
use super::retry::Retry;
use super::spine::{Done, Spine};
use super::watch::{RootState, Seen, WatchState, Watcher};
use crate::candidate::{Report, Workshop};
use crate::generation::{LifeEvent, Publisher};
use crate::journal::Journal;
use crate::store::SharedStore;
use crate::task::{SharedClock, Tasks};
use plugin_sdk::CancellationSignal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{broadcast, mpsc, watch};

/// What reloading needs.
pub struct ReloadSetup {
    /// Makes candidates.
    pub workshop: Arc<Workshop>,
    /// Keeps records and sealed inputs.
    pub store: SharedStore,
    /// Gets one event per reload.
    pub journal: Journal,
    /// The clock.
    pub clock: SharedClock,
    /// Holds the task.
    pub tasks: Tasks,
    /// Refuses to start with a broken plugin.
    pub strict: bool,
    /// Whether files are watched at all.
    pub watch: bool,
}

/// A started host: there is a generation, and reloads are taken.
pub struct Started {
    /// Where leases are taken.
    pub publisher: Publisher,
    /// Where reloads are asked for.
    pub reload: ReloadHandle,
    /// The record of the start.
    pub record: Arc<ReloadRecord>,
}

/// Publishes the first generation, then takes requests. The refused record says why there is none.
pub async fn start(setup: ReloadSetup) -> Result<Started, Box<ReloadRecord>> {
    let log = Log::new(Arc::clone(&setup.store), setup.journal, Arc::clone(&setup.clock));
    let mut spine = Spine {
        workshop: setup.workshop,
        store: setup.store,
        clock: Arc::clone(&setup.clock),
        tasks: setup.tasks.clone(),
        log: log.clone(),
        publisher: None,
        process: None,
        strict: setup.strict,
    };
    let first = Batch::of(Trigger::Start);
    let done = spine.run(&first, &CancellationSignal::new()).await;
    let Some(publisher) = spine.publisher.clone() else { return Err(Box::new(done.record)) };
    spine.workshop.sweep().await;
    let (queue, jobs) = mpsc::unbounded_channel();
    let (records, _) = broadcast::channel(64);
    let shared = Arc::new(Shared {
        queue,
        log: log.clone(),
        records,
        published: watch::Sender::new(None),
        now: Mutex::new(Now::default()),
    });
    let (replaced, pairs) = mpsc::unbounded_channel();
    setup.tasks.spawn("reload records", amend(log, publisher.events(), pairs));
    if !setup.watch {
        let root = spine.workshop.bot_dir().display().to_string();
        shared.now().watch = vec![RootState { root, state: WatchState::Off }];
    }
    let watcher =
        setup.watch.then(|| Watcher::spawn(Arc::clone(&shared), publisher.clone(), &setup.clock, &setup.tasks));
    let mut run = Run {
        spine,
        shared: Arc::clone(&shared),
        publisher: publisher.clone(),
        watcher,
        retry: Retry::default(),
        replaced,
    };
    let record = run.conclude(done);
    let tasks = setup.tasks.clone();
    setup.tasks.spawn("reload", async move { run.all(jobs, &tasks).await });
    Ok(Started { publisher, reload: ReloadHandle(shared), record })
}

struct Run {
    spine: Spine,
    shared: Arc<Shared>,
    publisher: Publisher,
    watcher: Option<mpsc::UnboundedSender<Seen>>,
    retry: Retry,
    /// Number of a replaced generation and the record that tells its end.
    replaced: mpsc::UnboundedSender<(u64, String)>,
}

impl Run {
    async fn all(mut self, mut jobs: mpsc::UnboundedReceiver<Job>, tasks: &Tasks) {
        let clock = Arc::clone(&self.spine.clock);
        loop {
            let mut batch = Batch::default();
            tokio::select! {
                biased;
                () = tasks.closing() => return,
                job = jobs.recv() => match job {
                    Some(job) => batch.add(job),
                    None => return,
                },
                () = self.retry.due(&clock) => batch = Batch::of(Trigger::Retry),
            }
            batch.gather(&mut jobs);
            tokio::select! {
                () = tasks.closing() => return,
                () = self.drained(&mut batch, &mut jobs) => {}
            }
            self.one(batch, tasks).await;
        }
    }

    /// Waits while `max_retired` generations are still alive. What is asked meanwhile joins; the live policy
    /// does not wait.
    async fn drained(&self, batch: &mut Batch, jobs: &mut mpsc::UnboundedReceiver<Job>) {
        let mut events = self.publisher.events();
        let mut asked = true;
        loop {
            let bot = Arc::clone(&self.publisher.published().active.contents().bot);
            let limit = bot.reload.max_retired;
            let full = self.publisher.retired_alive() >= limit;
            if batch.force && full {
                self.publisher.force_oldest();
            }
            let wait = full && !batch.force;
            self.shared.now().waiting_for_drain = wait;
            if !wait {
                return;
            }
            if std::mem::take(&mut asked) {
                self.spine.workshop.apply_policy(&bot).await;
            }
            tokio::select! {
                // A lagging receiver has missed something, so it looks again.
                event = events.recv() => if matches!(event, Err(broadcast::error::RecvError::Closed)) { return },
                job = jobs.recv() => match job {
                    Some(job) => {
                        batch.add(job);
                        asked = true;
                    }
                    None => return,
                },
            }
        }
    }

    async fn one(&mut self, batch: Batch, tasks: &Tasks) {
        if batch.triggers.iter().any(|t| *t != Trigger::Retry) {
            self.retry.restart();
        }
        self.shared.now().running = true;
        let stop = CancellationSignal::new();
        let done = {
            let work = self.spine.run(&batch, &stop);
            tokio::pin!(work);
            tokio::select! {
                done = &mut work => done,
                () = tasks.closing() => {
                    // It ends before its next step; what it has made is disposed there.
                    stop.request();
                    work.await
                }
            }
        };
        let record = self.conclude(done);
        batch.answer(&record);
    }

    /// After the verdict, in order; each fault here is only logged.
    fn conclude(&mut self, done: Done) -> Arc<ReloadRecord> {
        let Done { record, report, desired } = done;
        let record = Arc::new(record);
        if let (Outcome::Published, Some(from)) = (record.outcome, record.from)
            && self.replaced.send((from, record.id.clone())).is_err()
        {
            tracing::debug!(generation = from, "its end is recorded by nobody any more");
        }
        let passing = record.may_pass() || self.failed_for_now();
        let again = self.publisher.published().active.contents().bot.reload.retry;
        self.retry.plan(passing && again, self.spine.clock.monotonic());
        self.tell_watcher(&report);
        {
            let mut now = self.shared.now();
            now.running = false;
            now.desired = desired;
            now.last = Some(Arc::clone(&record));
        }
        self.shared.published.send_replace(Some(self.publisher.published().active.number()));
        // Without a subscriber nobody needs to know.
        let _ = self.shared.records.send(Arc::clone(&record));
        record
    }

    /// Whether a plugin was left out for a reason that only time can cure.
    fn failed_for_now(&self) -> bool {
        let passing = |d: &plugin_sdk::Diagnostic| super::record::PASSING.contains(&d.code.as_str());
        self.publisher.published().failed.iter().any(|f| !f.causes.is_empty() && f.causes.iter().all(passing))
    }

    fn tell_watcher(&self, report: &Report) {
        let Some(watcher) = &self.watcher else { return };
        if watcher.send(Seen::Scanned(report.watch.clone())).is_err() {
            tracing::debug!("the watcher has ended");
        }
    }
}

/// Writes into each record what became of the generation it replaced, whichever of both comes first.
async fn amend(
    log: Log,
    mut events: broadcast::Receiver<LifeEvent>,
    mut pairs: mpsc::UnboundedReceiver<(u64, String)>,
) {
    let mut ids: HashMap<u64, String> = HashMap::new();
    let mut early: HashMap<u64, Vec<LifeEvent>> = HashMap::new();
    loop {
        tokio::select! {
            pair = pairs.recv() => {
                let Some((number, id)) = pair else { return };
                for event in early.remove(&number).unwrap_or_default() {
                    log.amend(&id, &event).await;
                }
                ids.insert(number, id);
            }
            event = events.recv() => match event {
                Ok(event) => {
                    let number = event.number();
                    match ids.get(&number) {
                        Some(id) => log.amend(id, &event).await,
                        None => early.entry(number).or_default().push(event.clone()),
                    }
                    if event.is_last() {
                        ids.remove(&number);
                    }
                }
                Err(broadcast::error::RecvError::Lagged(missed)) => tracing::warn!(missed, "ends of generations were not recorded"),
                Err(broadcast::error::RecvError::Closed) => return,
            },
        }
    }
}
