use super::*;
use crate::admission::PolicyCell;
use crate::candidate::{Workshop, WorkshopSetup};
use crate::config::{Env, Redactor};
use crate::journal::Journal;
use crate::runtime::command::{CommandPool, HostEnv};
use crate::store::{SharedStore, in_memory};
use crate::task::{Clock, ManualClock, SharedClock, SystemClock, Tasks};
use plugin_sdk::OwnerPath;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

/// Longer than any machine needs; nothing waits for it unless it is broken.
const LONG: Duration = Duration::from_secs(20);

pub(super) struct World {
    pub(super) bot: tempfile::TempDir,
    pub(super) tasks: Tasks,
    clock: SharedClock,
    store: SharedStore,
}

impl World {
    pub(super) fn new(bot_toml: &str) -> Self {
        Self::with_clock(bot_toml, SystemClock::shared())
    }

    fn with_clock(bot_toml: &str, clock: SharedClock) -> Self {
        let bot = tempfile::tempdir().unwrap();
        fs::create_dir_all(bot.path().join("plugins")).unwrap();
        fs::write(bot.path().join("bot.toml"), bot_toml).unwrap();
        Self { bot, tasks: Tasks::new(), store: in_memory(clock.clone()), clock }
    }

    pub(super) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.bot.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn plugin(&self, name: &str) {
        self.write(&format!("plugins/{name}/plugin.toml"), "version = \"1.0.0\"\ndescription = \"d\"\n");
        self.tool(&format!("plugins/{name}"), "go", "does it");
    }

    pub(super) fn tool(&self, at: &str, name: &str, description: &str) {
        let main = self.write(&format!("{at}/tools/{name}/main.sh"), "#!/bin/sh\necho '{}'\n");
        fs::set_permissions(main, fs::Permissions::from_mode(0o755)).unwrap();
        let text = format!("description = \"{description}\"\nrun = {{ command = [\"./main.sh\"] }}\n");
        self.write(&format!("{at}/tools/{name}/tool.toml"), &text);
    }

    async fn try_start(&self, strict: bool, watch: bool) -> Result<Started, Box<ReloadRecord>> {
        let data_dir = self.bot.path().join("data");
        let host_env = HostEnv { path: "/usr/bin:/bin".into(), timezone: "UTC".into() };
        let pool = CommandPool::new(4, self.clock.clone(), &data_dir, self.tasks.clone(), host_env);
        let workshop = Workshop::new(WorkshopSetup {
            bot_dir: self.bot.path().to_path_buf(),
            data_dir,
            env: Env::of([("HOME", "/")]),
            builtins: Arc::new(|_| Vec::new()),
            pool: Arc::new(pool),
            policy: Arc::new(PolicyCell::default()),
            redactor: Redactor::new(),
            clock: self.clock.clone(),
        });
        start(ReloadSetup {
            workshop: workshop.unwrap(),
            store: self.store.clone(),
            journal: Journal::new(self.store.clone(), self.clock.clone()),
            clock: self.clock.clone(),
            tasks: self.tasks.clone(),
            strict,
            watch,
        })
        .await
    }

    pub(super) async fn start(&self, watch: bool) -> Started {
        match self.try_start(false, watch).await {
            Ok(started) => started,
            Err(record) => panic!("{:#?}", record.diagnostics),
        }
    }
}

impl Started {
    async fn reload(&self) -> Arc<ReloadRecord> {
        self.reload.request(Trigger::Command, ReloadOptions::default()).await.unwrap()
    }

    pub(super) fn tools(&self) -> Vec<String> {
        let lease = self.publisher.lease();
        lease.contents().indexes.tools.tools().iter().map(|t| t.qualified.to_string()).collect()
    }
}

/// The next record that fits.
pub(super) async fn next(
    records: &mut Receiver<Arc<ReloadRecord>>,
    wanted: impl Fn(&ReloadRecord) -> bool,
) -> Arc<ReloadRecord> {
    let found = async {
        loop {
            let record = records.recv().await.unwrap();
            if wanted(&record) {
                return record;
            }
        }
    };
    tokio::time::timeout(LONG, found).await.expect("no such record in time")
}

pub(super) fn published(record: &ReloadRecord) -> bool {
    record.outcome == Outcome::Published
}

#[tokio::test]
async fn start_reload_unchanged_rejected_repaired() {
    let world = World::new("");
    world.plugin("maps");
    let host = world.start(false).await;
    assert_eq!((host.record.to, host.record.plan, host.record.id.as_str()), (Some(1), Plan::Topology, "r1"));
    assert_eq!(host.record.changes["tools"].added, ["maps__go"]);
    let same = host.reload().await;
    assert_eq!((same.outcome, same.plan, same.to), (Outcome::Unchanged, Plan::Nothing, None));
    assert_eq!(same.digest_before, same.digest_after);

    let before = Arc::as_ptr(&host.publisher.published());
    world.write("plugins/maps/tools/go/tool.toml", "description = ");
    let refused = host.reload().await;
    assert_eq!((refused.outcome, refused.failed_step.as_deref()), (Outcome::Rejected, Some("items")));
    assert_eq!(Arc::as_ptr(&host.publisher.published()), before, "the same pointer");
    assert_eq!(host.publisher.lease().number(), 1);
    assert!(host.reload.state().desired.differs);

    world.tool("plugins/maps", "go", "does it better");
    let repaired = host.reload().await;
    assert_eq!((repaired.outcome, repaired.to, repaired.plan), (Outcome::Published, Some(2), Plan::Slot));
    assert_eq!(repaired.changes["tools"].changed, ["maps__go"]);
    assert_eq!(repaired.owners, ["maps"]);
    assert!(!host.reload.state().desired.differs);
    let ids: Vec<_> = host.reload.records(10).await.unwrap().into_iter().map(|r| r.id).collect();
    assert_eq!(ids, ["r4", "r3", "r2", "r1"]);
}

#[tokio::test]
async fn a_record_has_every_field_of_the_contract() {
    let world = World::new("");
    let host = world.start(false).await;
    let json = serde_json::to_value(&*host.record).unwrap();
    let fields: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let contract = "id triggers requested_by started_at duration_ms steps from to outcome policy_applied failed_step \
                    plan owners changes plugins_reused plugins_rebuilt kept failed settling files_read bytes_copied \
                    tests permissions_widened endpoints_restarted restart_keys digest_before digest_after canary \
                    rollback_of diagnostics drained_at disposed_at turns_cancelled quarantined";
    assert_eq!(fields, contract.split_whitespace().collect::<Vec<_>>());
}

#[tokio::test]
async fn the_replaced_generation_is_written_into_the_record_that_replaced_it() {
    let world = World::new("");
    world.plugin("maps");
    let host = world.start(false).await;
    let mut events = host.publisher.events();
    let lease = host.publisher.lease();
    world.tool(".", "more", "x");
    let record = host.reload().await;
    assert_eq!(record.drained_at, None);
    drop(lease);
    while !matches!(events.recv().await.unwrap(), crate::generation::LifeEvent::Disposed { number: 1, .. }) {}
    let wait = async {
        loop {
            let stored = host.reload.record(&record.id).await.unwrap().unwrap();
            if stored.disposed_at.is_some() {
                return stored;
            }
            tokio::task::yield_now().await;
        }
    };
    let stored = tokio::time::timeout(LONG, wait).await.unwrap();
    assert!(stored.drained_at.is_some() && stored.quarantined.is_empty());
}

#[tokio::test]
async fn requests_during_a_reload_become_one_more() {
    let world = World::new("");
    world.plugin("maps");
    let host = world.start(false).await;
    let records = host.reload.subscribe();
    let mut waiting = Vec::new();
    for n in 0..10 {
        let (reload, options) = (host.reload.clone(), ReloadOptions::default());
        if n == 0 {
            reload.poke(Trigger::Api, options).unwrap();
            // The first is taken before the others come.
            while !host.reload.state().running && records.is_empty() {
                tokio::task::yield_now().await;
            }
            world.tool(".", "late", "saved during the preparation");
            continue;
        }
        waiting
            .push(world.tasks.spawn("asker", async move { reload.request(Trigger::Command, options).await.unwrap() }));
    }
    let mut ids = Vec::new();
    for answer in waiting {
        ids.push(answer.await.unwrap().id.clone());
    }
    ids.sort();
    ids.dedup();
    assert!(ids.len() <= 2, "nine requests were answered by {ids:?}");
    assert_eq!(host.tools(), ["late", "maps__go"], "the last save is live");
}

#[tokio::test]
async fn one_of_two_hundred_plugins_is_made_again() {
    let world = World::new("");
    for n in 0..200 {
        world.plugin(&format!("p{n:03}"));
    }
    let host = world.start(false).await;
    world.tool("plugins/p100", "go", "changed");
    let record = host.reload().await;
    assert_eq!((record.plugins_rebuilt, record.plugins_reused), (1, 200));
    assert_eq!((record.owners.as_slice(), record.plan), ([String::from("p100")].as_slice(), Plan::Slot));
}

#[tokio::test]
async fn a_helper_file_is_part_of_the_copy() {
    let world = World::new("");
    world.plugin("maps");
    world.write("plugins/maps/lib/fmt.sh", "one");
    let host = world.start(false).await;
    let owner = OwnerPath::new("maps");
    let copy = |lease: &crate::generation::Lease| {
        let hash = &lease.contents().plugin(&owner).unwrap().hash;
        world.bot.path().join("data/trees").join(hash).join("lib/fmt.sh")
    };
    let old = host.publisher.lease();
    world.write("plugins/maps/lib/fmt.sh", "two");
    assert!(published(&*host.reload().await));
    let new = host.publisher.lease();
    assert_eq!(fs::read_to_string(copy(&old)).unwrap(), "one", "the running turn keeps the old text");
    assert_eq!(fs::read_to_string(copy(&new)).unwrap(), "two");
}

#[tokio::test]
async fn a_broken_plugin_at_the_start_is_listed_and_strict_refuses() {
    let world = World::new("");
    world.plugin("good");
    world.write("plugins/bad/plugin.toml", "version = 1");
    let refused = world.try_start(true, false).await.err().unwrap();
    assert_eq!((refused.outcome, refused.to), (Outcome::Rejected, None));
    let host = world.start(false).await;
    assert_eq!(
        (host.record.outcome, host.record.failed.as_slice()),
        (Outcome::Published, [String::from("bad")].as_slice())
    );
    assert_eq!(host.tools(), ["good__go"]);
    world.write("bot.toml", "[nonsense]\n");
    assert!(world.try_start(false, false).await.is_err(), "a broken bot.toml refuses to start");
}

#[tokio::test]
async fn only_process_keys_are_restart_required() {
    let world = World::new("");
    let host = world.start(false).await;
    world.write("bot.toml", "[store]\ncache_mb = 8\n");
    let record = host.reload().await;
    assert_eq!((record.outcome, record.plan), (Outcome::RestartRequired, Plan::Restart));
    assert_eq!(record.restart_keys, ["store.cache_mb"]);
    let desired = host.reload.state().desired;
    assert_eq!((desired.differs, desired.keys.as_slice()), (true, [String::from("store.cache_mb")].as_slice()));
}

#[tokio::test]
async fn reloads_wait_for_drains_and_force_cancels_the_oldest() {
    let world = World::new("[reload]\nmax_retired = 1\n");
    let host = world.start(false).await;
    let lease = host.publisher.lease();
    let signal = plugin_sdk::CancellationSignal::new();
    lease.on_deadline(signal.clone());
    world.tool(".", "a", "x");
    assert!(published(&*host.reload().await));
    world.tool(".", "b", "x");
    let reload = host.reload.clone();
    let waiting = world
        .tasks
        .spawn("asker", async move { reload.request(Trigger::Watch, ReloadOptions::default()).await.unwrap() });
    while !host.reload.state().waiting_for_drain {
        tokio::task::yield_now().await;
    }
    assert!(!signal.requested(), "waiting cancels nothing");
    let options = ReloadOptions { force: true, ..ReloadOptions::default() };
    let forced = host.reload.request(Trigger::Command, options).await.unwrap();
    let waited = waiting.await.unwrap();
    assert_eq!(forced.id, waited.id, "one drain makes all live");
    assert_eq!(forced.triggers, [Trigger::Watch, Trigger::Command]);
    tokio::time::timeout(LONG, signal.cancelled()).await.unwrap();
    assert!(lease.is_overdue());
}

#[tokio::test]
async fn a_passing_fault_is_tried_again_after_five_ten_and_twenty_seconds() {
    let clock = ManualClock::new(SystemClock::new().now());
    let world = World::with_clock("", clock.shared());
    world.plugin("maps");
    let host = world.start(false).await;
    let mut records = host.reload.subscribe();
    // A file in the place of the folder of trees: no copy can be made.
    let (trees, aside) = (world.bot.path().join("data/files"), world.bot.path().join("data/aside"));
    fs::rename(&trees, &aside).unwrap();
    fs::write(&trees, "").unwrap();
    world.tool(".", "new", "x");
    let refused = host.reload().await;
    let errors = refused.diagnostics.iter().filter(|d| d.is_error());
    assert_eq!(errors.map(|d| d.code.as_str()).collect::<Vec<_>>(), ["reload::copy-failed"]);
    for pause in [5, 10] {
        while clock.next_due() != Some(Duration::from_secs(pause)) {
            tokio::task::yield_now().await;
        }
        clock.advance(Duration::from_secs(pause));
        let again = next(&mut records, |r| r.triggers == [Trigger::Retry]).await;
        assert_eq!(again.outcome, Outcome::Rejected);
    }
    fs::remove_file(&trees).unwrap();
    fs::rename(&aside, &trees).unwrap();
    while clock.next_due() != Some(Duration::from_secs(20)) {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(20));
    assert!(published(&*next(&mut records, |r| r.triggers == [Trigger::Retry]).await));
    assert_eq!(host.tools(), ["new", "maps__go"]);
}

#[tokio::test]
async fn numbers_and_ids_go_on_after_a_restart() {
    let world = World::new("");
    let first = world.start(false).await;
    assert_eq!(first.record.to, Some(1));
    world.tasks.close(Duration::from_secs(5)).await;
    let second = World { tasks: Tasks::new(), ..world }.start(false).await;
    assert_eq!((second.record.to, second.record.id.as_str()), (Some(2), "r2"));
}
