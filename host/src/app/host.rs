//! A running host: constructed once, in order; ended in the reverse.

use super::ground::{self, Ground};
use super::overview::HostOverview;
use super::{HostOptions, StartError, dispatch};
use crate::admin::{self, Control, ControlFiles};
use crate::admission::PolicyCell;
use crate::candidate::{Builtins, Workshop, WorkshopSetup};
use crate::config::BotConfig;
use crate::endpoint::{Endpoint, Endpoints};
use crate::exec::sweep_artifacts;
use crate::generation::Counts;
use crate::ingress::{self, Desk, ModelShelf, Talk};
use crate::net::Http;
use crate::outbound::Outbound;
use crate::reload::{self, ReloadHandle, ReloadRecord, ReloadSetup, Started};
use crate::runtime::command::{CommandPool, HostEnv};
use crate::session::{Grants, LaneLimits, Lanes, Ledger, Questions, Sessions, StopCause};
use crate::store::DataLock;
use crate::task::Tasks;
use async_trait::async_trait;
use chrono::SecondsFormat;
use plugin_sdk::{AdapterInfo, Connection, ConversationRef, Diagnostic};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// How often old artifacts and expired records are looked for.
const UPKEEP: Duration = Duration::from_secs(3600);

/// A running host.
pub struct Host {
    desk: Arc<Desk>,
    reload: ReloadHandle,
    record: Arc<ReloadRecord>,
    events: broadcast::Sender<Value>,
    held: Mutex<Option<Held>>,
    shutdown: Duration,
    /// The store belongs to somebody who goes on with it.
    lent_store: bool,
}

/// What the process holds as long as the host lives.
struct Held {
    control: Option<ControlFiles>,
    _lock: Option<DataLock>,
    _scratch: Option<tempfile::TempDir>,
}

/// What the control socket may do.
struct HostControl {
    desk: Arc<Desk>,
    reload: ReloadHandle,
}

#[async_trait]
impl Control for HostControl {
    async fn command(&self, command: &str, args: Value) -> (u8, Value) {
        dispatch::dispatch(&self.desk, &self.reload, command, args).await
    }

    async fn attach(&self, key: &str, info: AdapterInfo, connection: Connection, place: Option<ConversationRef>) {
        attach(&self.desk, key, info, (connection, place)).await;
    }
}

async fn attach(
    desk: &Arc<Desk>,
    key: &str,
    info: AdapterInfo,
    (connection, place): (Connection, Option<ConversationRef>),
) {
    let id = format!("{}/{key}", info.kind);
    let endpoint = Arc::new(Endpoint { id, info, connection, place, since: desk.core.clock.now() });
    desk.talk.endpoints.insert(key, Arc::clone(&endpoint));
    ingress::serve(Arc::clone(desk), endpoint).await;
    desk.talk.endpoints.remove(key);
}

fn builtins() -> Builtins {
    Arc::new(crate::tools::builtins)
}

fn lane_limits(bot: &BotConfig) -> LaneLimits {
    LaneLimits {
        places: bot.limits.max_concurrent_turns,
        per_principal: bot.limits.places_per_principal,
        queue: bot.limits.queue_per_conversation,
    }
}

impl Host {
    /// Starts a host up to `ready`, or says everything that is wrong and leaves nothing behind.
    pub async fn start(options: HostOptions) -> Result<Self, StartError> {
        let tasks = Tasks::new();
        match Self::build(&options, &tasks).await {
            Ok(host) => Ok(host),
            Err(e) => {
                tasks.close(Duration::from_secs(1)).await;
                Err(e)
            }
        }
    }

    async fn build(options: &HostOptions, tasks: &Tasks) -> Result<Self, StartError> {
        let ground = ground::lay(options, tasks).await?;
        super::init_logging(&ground.process.telemetry, &ground.bot_dir, Arc::clone(&ground.core.redactor), options.log)
            .map_err(|e| StartError::from(Diagnostic::error("bot::bad-value", format!("telemetry.log_file: {e}"))))?;
        if ground.lost_newest {
            tracing::warn!(code = "store::newest-lost", "what was stored last before the last end is damaged and gone");
        }
        let policy = Arc::new(PolicyCell::default());
        let workshop = workshop(&ground, options, &policy)?;
        let Ground { core, process, lock, scratch, bot_dir, .. } = ground;
        let setup = ReloadSetup {
            workshop: Arc::clone(&workshop),
            store: Arc::clone(&core.store),
            journal: core.journal.clone(),
            clock: Arc::clone(&core.clock),
            tasks: tasks.clone(),
            strict: options.strict,
            watch: options.watch,
        };
        let Started { publisher, reload, record } =
            reload::start(setup).await.map_err(|r| StartError { diagnostics: r.diagnostics })?;
        let http = Http::new(Arc::clone(&core.clock))
            .map_err(|e| StartError::from(Diagnostic::error("cli::internal", e.to_string())))?;
        let overview = Arc::new(HostOverview::default());
        let talk = talk(&core, &publisher.published().active.contents().bot);
        let shutdown = Duration::from_secs(process.limits.shutdown_seconds);
        let desk = Arc::new(Desk {
            talk,
            core,
            policy,
            publisher,
            models: ModelShelf::new(http, options.model.clone()),
            reload: Arc::new(reload.clone()),
            overview: overview.clone(),
            executors: ingress::Executors::default(),
            folder_name: bot_dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            live: options.socket,
            tickets: AtomicU64::new(0),
            calls: Mutex::default(),
        });
        let broken = ingress::recover(&desk)
            .await
            .map_err(|e| StartError::from(Diagnostic::error("store::bad-record", format!("what ran last: {e}"))))?;
        if broken > 0 {
            tracing::warn!(turns = broken, "turns of an earlier process were broken off");
        }
        overview.bind(&desk, &reload);
        let control = open_socket(options, &desk, &reload)?;
        let (events, _) = broadcast::channel(256);
        let held = Mutex::new(Some(Held { control, _lock: lock, _scratch: scratch }));
        let host = Self { desk, reload, record, events, held, shutdown, lent_store: options.memory.is_some() };
        host.follow_reloads(&workshop);
        host.keep_tidy();
        Ok(host)
    }

    /// After each publish: limits of lanes and commands, one event line.
    fn follow_reloads(&self, workshop: &Arc<Workshop>) {
        let (desk, events, pool) = (Arc::clone(&self.desk), self.events.clone(), Arc::clone(workshop.pool()));
        let mut records = self.reload.subscribe();
        self.desk.core.tasks.spawn("reload events", async move {
            loop {
                let record = tokio::select! {
                    record = records.recv() => record,
                    () = desk.core.tasks.closing() => return,
                };
                let record = match record {
                    Ok(record) => record,
                    Err(broadcast::error::RecvError::Lagged(_)) => continue,
                    Err(broadcast::error::RecvError::Closed) => return,
                };
                let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
                desk.talk.lanes.set_limits(lane_limits(&bot));
                pool.set_parallel(bot.limits.command_parallel);
                // Without a listener there is nobody to tell.
                drop(events.send(line(&desk, "reload", json!(*record))));
            }
        });
    }

    /// Hourly: expired records, old artifacts, idle sessions; artifacts also when there are too many.
    fn keep_tidy(&self) {
        let desk = Arc::clone(&self.desk);
        self.desk.core.tasks.spawn("upkeep", async move {
            tidy_artifacts(&desk).await;
            loop {
                tokio::select! {
                    () = desk.core.clock.sleep(UPKEEP) => upkeep(&desk).await,
                    () = desk.executors.room.over() => tidy_artifacts(&desk).await,
                    () = desk.core.tasks.closing() => return,
                }
            }
        });
    }

    /// Runs one command: exit code and whole body, as the socket does.
    pub async fn command(&self, command: &str, args: Value) -> (u8, Value) {
        dispatch::dispatch(&self.desk, &self.reload, command, args).await
    }

    /// Serves a channel until it closes and everything it asked is settled. `place` is the one conversation it
    /// leads to, if it is not all of an endpoint.
    pub async fn attach(&self, key: &str, info: AdapterInfo, connection: Connection, place: Option<ConversationRef>) {
        attach(&self.desk, key, info, (connection, place)).await;
    }

    /// Lines of `run --json` from now on.
    pub fn events(&self) -> broadcast::Receiver<Value> {
        self.events.subscribe()
    }

    /// A line of `run --json`.
    pub fn event(&self, event: &str, data: Value) -> Value {
        line(&self.desk, event, data)
    }

    /// Findings of the start.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.record.diagnostics
    }

    /// The record of the start.
    pub fn start_record(&self) -> &ReloadRecord {
        &self.record
    }

    /// Number of the published generation.
    pub fn generation(&self) -> u64 {
        self.desk.publisher.published().active.number()
    }

    /// How many generations there were and are.
    pub fn counts(&self) -> Counts {
        self.desk.publisher.counts()
    }

    /// The data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.desk.core.data_dir.clone()
    }

    /// What the stages of scenarios look at.
    pub(super) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    /// Asks for a reload and waits for its record.
    pub async fn reload(&self, trigger: reload::Trigger) -> Result<Arc<ReloadRecord>, reload::ReloadError> {
        self.reload.request(trigger, reload::ReloadOptions::default()).await
    }

    /// Asks for a reload; its record comes as an event.
    pub fn poke(&self, trigger: reload::Trigger) -> Result<(), reload::ReloadError> {
        self.reload.poke(trigger, reload::ReloadOptions::default())
    }

    /// Ends it: no new messages; running turns get most of the time; generations, tasks, store.
    /// May be repeated.
    pub async fn shutdown(&self) {
        let Some(mut held) = self.held.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let (desk, shutdown) = (&self.desk, self.shutdown);
        held.control.take();
        desk.talk.lanes.close();
        let turns = shutdown.mul_f64(0.625);
        tokio::select! {
            () = desk.talk.lanes.idle() => {}
            () = desk.core.clock.sleep(turns) => {
                let ended = desk.talk.lanes.stop_all(StopCause::Shutdown);
                tracing::info!(turns = ended, "running turns are ended");
                tokio::select! {
                    () = desk.talk.lanes.idle() => {}
                    () = desk.core.clock.sleep(shutdown.mul_f64(0.1875)) => tracing::warn!("a turn did not end in time"),
                }
            }
        }
        if !desk.publisher.close(shutdown.mul_f64(0.075)).await {
            tracing::warn!("a generation was not disposed in time");
        }
        let late = desk.core.tasks.close(shutdown.mul_f64(0.075)).await;
        if late > 0 {
            tracing::warn!(tasks = late, "tasks were aborted");
        }
        let flushed = desk.core.store.barrier().await;
        let closed = if self.lent_store { Ok(()) } else { desk.core.store.close().await };
        for done in [flushed, closed] {
            if let Err(e) = done {
                tracing::error!(error = %e, "the store was not closed cleanly");
            }
        }
        // Folder and lock go last: only now may another host take them.
        drop(held);
    }
}

fn workshop(ground: &Ground, options: &HostOptions, policy: &Arc<PolicyCell>) -> Result<Arc<Workshop>, StartError> {
    let text = |name: &str| options.env.get(name).unwrap_or_default().to_owned();
    let host_env = HostEnv { path: text("PATH"), timezone: text("TZ") };
    let core = &ground.core;
    let parallel = ground.process.limits.command_parallel;
    let pool = CommandPool::new(parallel, Arc::clone(&core.clock), &core.data_dir, core.tasks.clone(), host_env);
    let setup = WorkshopSetup {
        bot_dir: ground.bot_dir.clone(),
        data_dir: core.data_dir.clone(),
        env: options.env.clone(),
        builtins: builtins(),
        pool: Arc::new(pool),
        policy: Arc::clone(policy),
        redactor: Arc::clone(&core.redactor),
        clock: Arc::clone(&core.clock),
    };
    Workshop::new(setup).map_err(|e| StartError::from(Diagnostic::error("reload::copy-failed", e.to_string())))
}

fn talk(core: &ingress::Core, bot: &BotConfig) -> Talk {
    Talk {
        sessions: Sessions::new(Arc::clone(&core.store), Arc::clone(&core.clock)),
        lanes: Lanes::new(lane_limits(bot), Arc::clone(&core.clock)),
        questions: Questions::new(Arc::clone(&core.store), Arc::clone(&core.clock), core.journal.clone()),
        grants: Grants::new(Arc::clone(&core.store), Arc::clone(&core.clock)),
        outbound: Outbound::new(Arc::clone(&core.clock)).redacting(Arc::clone(&core.redactor)),
        endpoints: Arc::new(Endpoints::default()),
        ledger: Ledger::new(Arc::clone(&core.store), Arc::clone(&core.clock)),
        rates: ingress::Rates::default(),
        lookups: Arc::new(ingress::Lookups::new(Arc::clone(&core.clock))),
        reruns: tokio::sync::Mutex::default(),
    }
}

fn open_socket(
    options: &HostOptions,
    desk: &Arc<Desk>,
    reload: &ReloadHandle,
) -> Result<Option<ControlFiles>, StartError> {
    if !options.socket {
        return Ok(None);
    }
    let fault = |e: std::io::Error| {
        StartError::from(Diagnostic::error("store::not-writable", format!("the control socket: {e}")))
    };
    let runtime_dir = options.env.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let at = started_at(desk);
    let files = ControlFiles::write(&desk.core.data_dir, runtime_dir.as_deref(), &at).map_err(fault)?;
    let control = Arc::new(HostControl { desk: Arc::clone(desk), reload: reload.clone() });
    admin::serve(&files, control, &desk.core.tasks).map_err(fault)?;
    Ok(Some(files))
}

/// When this process's host was started, once.
pub(super) fn started_at(desk: &Desk) -> String {
    static AT: OnceLock<String> = OnceLock::new();
    AT.get_or_init(|| desk.core.clock.now().to_rfc3339_opts(SecondsFormat::Millis, true)).clone()
}

fn line(desk: &Desk, event: &str, data: Value) -> Value {
    let at = desk.core.clock.now().to_rfc3339_opts(SecondsFormat::Millis, true);
    let generation = desk.publisher.published().active.number();
    json!({"event": event, "at": at, "generation": generation, "data": data})
}

async fn upkeep(desk: &Desk) {
    if let Err(e) = desk.core.store.sweep(10_000).await {
        tracing::warn!(error = %e, "expired records were not removed");
    }
    tidy_artifacts(desk).await;
}

/// Removes what is too old, then the oldest until the rest fits; nothing of a turn that runs.
async fn tidy_artifacts(desk: &Desk) {
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let running = match desk.talk.sessions.interrupted().await {
        Ok(heads) => heads.into_iter().filter_map(|head| head.running).map(|running| running.turn_id).collect(),
        Err(e) => {
            tracing::warn!(error = %e, "the running turns are not known, so no artifact was removed");
            return;
        }
    };
    let (days, max_mb) = (bot.limits.artifact_days, bot.limits.artifacts_max_mb);
    let core = &desk.core;
    match sweep_artifacts(&core.data_dir, &core.store, &core.clock, (days, max_mb), &running).await {
        Ok(swept) => {
            desk.executors.room.set(swept.kept_bytes, max_mb.saturating_mul(1024 * 1024));
            if swept.removed > 0 {
                tracing::info!(removed = swept.removed, bytes = swept.removed_bytes, "old artifacts were removed");
            }
        }
        Err(e) => tracing::warn!(error = %e, "old artifacts were not removed"),
    }
}
