//! The spine: the only place that knows the order prepare → seal → publish → retire → record.

use super::desired::Desired;
use super::log::Log;
use super::plan::difference;
use super::queue::Batch;
use super::record::{Began, Outcome, Plan, ReloadRecord};
use crate::candidate::{Base, Candidate, Contents, PrepareRequest, Rejected, Report, Rule, Workshop};
use crate::config::BotConfig;
use crate::generation::{Publisher, SealError, SealInput, seal};
use crate::store::SharedStore;
use crate::task::{SharedClock, Tasks};
use plugin_sdk::CancellationSignal;
use std::sync::Arc;
use std::time::Duration;

/// What one reload gave.
pub(super) struct Done {
    pub(super) record: ReloadRecord,
    pub(super) report: Report,
    pub(super) desired: Desired,
}

/// See the file's head. One task owns it.
pub(super) struct Spine {
    pub(super) workshop: Arc<Workshop>,
    pub(super) store: SharedStore,
    pub(super) clock: SharedClock,
    pub(super) tasks: Tasks,
    pub(super) log: Log,
    /// `None` until the start has published.
    pub(super) publisher: Option<Publisher>,
    /// The configuration whose process keys are in force.
    pub(super) process: Option<Arc<BotConfig>>,
    pub(super) strict: bool,
}

impl Spine {
    /// One reload, from the files to the record.
    pub(super) async fn run(&mut self, batch: &Batch, stop: &CancellationSignal) -> Done {
        let began = self.begin(batch).await;
        let start = self.clock.monotonic();
        let old = self.publisher.as_ref().map(|p| Arc::clone(p.published().active.contents()));
        let verdict = match self.workshop.prepare(self.request(batch, stop)).await {
            Ok(candidate) if candidate.unchanged => Ok(candidate),
            Ok(candidate) => self.publish(candidate, &began, self.request(batch, stop)).await,
            Err(rejected) => Err(rejected),
        };
        let mut done = match verdict {
            Ok(candidate) => self.passed(candidate, &began, old.as_deref()),
            Err(rejected) => self.refused(*rejected, &began),
        };
        done.record.duration_ms = ms(self.clock.monotonic().saturating_sub(start));
        self.log.add(&done.record).await;
        done
    }

    async fn begin(&self, batch: &Batch) -> Began {
        let number = self.log.next().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a reload has no number of its own");
            0
        });
        let active = self.publisher.as_ref().map(|p| Arc::clone(&p.published().active));
        Began {
            id: format!("r{number}"),
            triggers: batch.triggers.iter().copied().collect(),
            requested_by: batch.requested_by.clone(),
            at: self.clock.now(),
            from: active.as_ref().map(|g| g.number()),
            digest: active.map(|g| g.contents().digest.clone()),
        }
    }

    fn request(&self, batch: &Batch, stop: &CancellationSignal) -> PrepareRequest {
        let published = self.publisher.as_ref().map(Publisher::published);
        let base = published.map(|p| Base { contents: Arc::clone(p.active.contents()), failed: p.failed.clone() });
        let seconds = base.as_ref().map(|b| b.contents.bot.reload.prepare_timeout_seconds);
        let retried = batch.triggers.iter().any(|t| *t != super::Trigger::Watch);
        PrepareRequest {
            rule: match (&base, self.strict) {
                (Some(_), _) => Rule::Reload,
                (None, true) => Rule::Strict,
                (None, false) => Rule::Start,
            },
            base,
            rebuild: batch.rebuild.clone(),
            full: batch.full,
            retry_failed: retried,
            hold: batch.hold(),
            process: self.process.clone(),
            timeout: seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            stop: stop.clone(),
        }
    }

    /// Seals and publishes; when something else was published meanwhile, everything is prepared once more.
    async fn publish(
        &mut self,
        mut candidate: Candidate,
        began: &Began,
        again: PrepareRequest,
    ) -> Result<Candidate, Box<Rejected>> {
        let start = self.clock.monotonic();
        for attempt in 0.. {
            let input = SealInput {
                contents: Arc::clone(&candidate.contents),
                failed: candidate.failed.clone(),
                base: began.from,
                reload_id: began.id.clone(),
            };
            let published = self.publisher.as_ref().map(|p| p.published().active.number());
            match seal(input, published, self.store.as_ref(), self.clock.as_ref()).await {
                Ok(sealed) => {
                    match &self.publisher {
                        Some(publisher) => publisher.publish(sealed),
                        None => self.publisher = Some(Publisher::new(sealed, Arc::clone(&self.clock), &self.tasks)),
                    }
                    candidate.report.steps.push(("seal", ms(self.clock.monotonic().saturating_sub(start))));
                    return Ok(candidate);
                }
                Err(SealError::BaseChanged { .. }) if attempt == 0 => {
                    self.workshop.discard(candidate).await;
                    candidate = self.workshop.prepare(again.clone()).await?;
                }
                Err(error) => {
                    let mut report = std::mem::take(&mut candidate.report);
                    report.diagnostics.push(error.diagnostic());
                    self.workshop.discard(candidate).await;
                    return Err(Box::new(Rejected {
                        failed_step: "seal",
                        report,
                        plugins: Vec::new(),
                        tests: Vec::new(),
                    }));
                }
            }
        }
        Ok(candidate)
    }

    fn passed(&mut self, candidate: Candidate, began: &Began, old: Option<&Contents>) -> Done {
        let mut record = ReloadRecord::of(&candidate.report, began);
        record.failed = candidate.failed.iter().map(|f| f.owner.to_string()).collect();
        let new = &candidate.contents;
        if candidate.unchanged {
            if !record.restart_keys.is_empty() {
                record.outcome = Outcome::RestartRequired;
                record.plan = Plan::Restart;
            }
        } else {
            record.outcome = Outcome::Published;
            let found = difference(old, new);
            (record.changes, record.owners, record.plan) = (found.changes, found.owners, found.plan);
            record.to = self.publisher.as_ref().map(|p| p.published().active.number());
            self.workshop.pool().set_parallel(new.bot.limits.command_parallel);
            self.process.get_or_insert_with(|| Arc::clone(&new.bot));
        }
        let desired = Desired::passed(&candidate.report, &new.bot, &new.digest);
        Done { record, report: candidate.report, desired }
    }

    fn refused(&self, rejected: Rejected, began: &Began) -> Done {
        let mut record = ReloadRecord::of(&rejected.report, began);
        record.outcome = Outcome::Rejected;
        record.failed_step = Some(rejected.failed_step.to_owned());
        let published = self.publisher.as_ref().map(Publisher::published);
        record.failed = published.iter().flat_map(|p| &p.failed).map(|f| f.owner.to_string()).collect();
        let active = published.map(|p| Arc::clone(&p.active.contents().bot));
        Done { record, desired: Desired::refused(&rejected.report, active.as_deref()), report: rejected.report }
    }
}

fn ms(spent: Duration) -> f64 {
    spent.as_secs_f64() * 1000.0
}
