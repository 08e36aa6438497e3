//! `status`: the state of the whole in the contract's shape.

use super::host::started_at;
use crate::candidate::FailedPlugin;
use crate::ingress::{Desk, Overview};
use crate::model::ModelState;
use crate::reload::ReloadHandle;
use async_trait::async_trait;
use chrono::SecondsFormat;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock, Weak};

/// Bound to its desk after both are made.
#[derive(Default)]
pub(super) struct HostOverview(OnceLock<(Weak<Desk>, ReloadHandle)>);

impl HostOverview {
    /// Binds it, once.
    pub(super) fn bind(&self, desk: &Arc<Desk>, reload: &ReloadHandle) {
        // A second binding could only name the same desk.
        drop(self.0.set((Arc::downgrade(desk), reload.clone())));
    }
}

#[async_trait]
impl Overview for HostOverview {
    async fn status(&self) -> Value {
        let Some((desk, reload)) = self.0.get() else { return json!({}) };
        match desk.upgrade() {
            Some(desk) => status(&desk, reload).await,
            None => json!({}),
        }
    }
}

async fn status(desk: &Desk, reload: &ReloadHandle) -> Value {
    let published = desk.publisher.published();
    let active = &published.active;
    let bot = &active.contents().bot;
    let state = reload.state();
    let (store, mut reasons) = store_state(desk, bot.store.min_free_mb).await;
    let (main, models) = desk.models.states(bot);
    let down: Vec<&str> =
        models.iter().filter(|(n, s)| *n == main && *s != ModelState::Up).map(|(n, _)| n.as_str()).collect();
    let mut notes = reasons.clone();
    notes.extend(down.iter().map(|n| json!({"code": "model::down", "detail": format!("model {n} is not reachable")})));
    notes.extend(published.failed.iter().filter(|f| f.because_of.is_none()).map(left_out));
    let quarantined = desk.publisher.quarantined();
    if quarantined.len() >= bot.reload.max_quarantined {
        let why = format!("{} disposals failed; restart the host", quarantined.len());
        reasons.push(json!({"code": "quarantine", "detail": why}));
        notes.extend(reasons.last().cloned());
    }
    // the main model is the first
    let (first, rest): (Vec<_>, Vec<_>) = models.iter().partition(|(name, _)| *name == main);
    let models: Vec<Value> =
        first.into_iter().chain(rest).map(|(name, s)| json!({"name": name, "state": s.as_str()})).collect();
    let desired = &state.desired;
    let open = desk.talk.questions.open();
    let approvals = open.iter().filter(|q| q.wanted == crate::session::Wanted::Approval).count();
    json!({
        "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id(), "started_at": started_at(desk),
        "bot": desk.bot_name(bot), "ready": reasons.is_empty(), "reasons": notes,
        "generation": {
            "active": active.number(), "canary": null, "held": false,
            "waiting_for_drain": state.waiting_for_drain, "digest": active.contents().digest,
            "published_at": active.published_at().to_rfc3339_opts(SecondsFormat::Millis, true),
        },
        "desired": {
            "digest": desired.digest, "differs": desired.differs, "keys": desired.keys,
            "endpoints_needing_restart": desired.endpoints_needing_restart, "restart_keys": desired.restart_keys,
            "last_reload": desired.last_reload,
        },
        "endpoints": endpoints(desk), "mcp": [], "models": models, "services": [],
        "native": {"active": 0, "retired": 0, "retired_bytes": 0}, "quarantined": quarantined,
        "turns": {"running": desk.talk.lanes.running(), "queued": desk.talk.lanes.waiting()},
        "inbox": {"pending": 0, "dead": 0}, "outbox": {"pending": 0, "failed": 0, "unknown": 0},
        "approvals_pending": approvals, "schedules_next_at": null, "store": store, "watch": state.watch,
    })
}

/// What runs without something that is on disk is not as it was written.
fn left_out(failed: &FailedPlugin) -> Value {
    let why = failed.causes.first().map_or("", |d| d.message.as_str());
    let what = match failed.owner.is_root() {
        true => failed.items.iter().map(|i| i.label.as_str()).collect::<Vec<_>>().join(", "),
        false => format!("plugin {}", failed.owner),
    };
    json!({"code": "left-out", "detail": format!("{what}: {why}")})
}

fn endpoints(desk: &Desk) -> Vec<Value> {
    desk.talk
        .endpoints
        .list()
        .iter()
        .map(|e| {
            let since = e.since.to_rfc3339_opts(SecondsFormat::Millis, true);
            json!({
                "id": e.id, "platform": e.info.kind, "state": "up", "required": false, "since": since,
                "last_ok_at": since, "round_trip_ms": null, "detail": null, "needs_restart": false,
            })
        })
        .collect()
}

async fn store_state(desk: &Desk, min_free_mb: u64) -> (Value, Vec<Value>) {
    match desk.core.store.stats().await {
        Ok(stats) => {
            let low = stats.free_bytes < min_free_mb.saturating_mul(1 << 20) && desk.live;
            let reasons = low.then(|| {
                let detail = format!("less than {min_free_mb} MB are free in the data folder");
                json!({"code": "store::disk-full", "detail": detail})
            });
            let state = if low { "low" } else { "ok" };
            let shown = json!({"bytes": stats.bytes, "free_bytes": stats.free_bytes, "state": state});
            (shown, reasons.into_iter().collect())
        }
        Err(e) => {
            let reason = json!({"code": e.code(), "detail": e.to_string()});
            (json!({"bytes": 0, "free_bytes": 0, "state": "degraded"}), vec![reason])
        }
    }
}
