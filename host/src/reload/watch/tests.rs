use super::super::tests::{World, next, published};
use super::super::{Outcome, ReloadRecord, Trigger};
use super::*;
use plugin_sdk::OwnerPath;
use settle::Ripe;
use std::fs;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const WINDOW: Window = Window { quiet: Duration::from_millis(200), most: Duration::from_millis(2_000) };

fn is_watch(record: &ReloadRecord) -> bool {
    published(record) && record.triggers == [Trigger::Watch]
}

#[test]
fn a_change_is_ripe_when_it_is_quiet() {
    let mut settle = Settle::default();
    settle.event(ms(0), None);
    settle.event(ms(150), Some(OwnerPath::new("a")));
    assert_eq!(settle.due(WINDOW), Some(ms(350)));
    assert_eq!(settle.ripe(ms(349), WINDOW), None);
    assert_eq!(settle.ripe(ms(350), WINDOW), Some(Ripe::default()));
    assert!(settle.is_idle());
}

#[test]
fn a_plugin_that_still_changes_at_the_mark_is_held_until_it_is_quiet() {
    let mut settle = Settle::default();
    let (busy, done) = (OwnerPath::new("busy"), OwnerPath::new("done"));
    settle.event(ms(0), Some(done));
    for t in (0..=1_900).step_by(100) {
        settle.event(ms(t), Some(busy.clone()));
    }
    let hold = [busy.clone()].into();
    assert_eq!(settle.ripe(ms(2_000), WINDOW), Some(Ripe { hold, never_settles: Vec::new() }));
    settle.event(ms(2_100), Some(busy.clone()));
    assert_eq!(settle.due(WINDOW), Some(ms(2_300)));
    assert_eq!(settle.ripe(ms(2_300), WINDOW), Some(Ripe::default()));
}

#[test]
fn a_plugin_that_never_settles_is_judged_after_thirty_seconds() {
    let mut settle = Settle::default();
    let busy = OwnerPath::new("busy");
    for t in (0..=29_900).step_by(100) {
        settle.event(ms(t), Some(busy.clone()));
        settle.ripe(ms(t), WINDOW);
    }
    let ripe = settle.ripe(ms(30_000), WINDOW).unwrap();
    assert_eq!((ripe.never_settles, ripe.hold.len()), (vec![busy], 0));
}

#[test]
fn only_input_is_relevant() {
    let list = WatchList {
        plugins: vec![(OwnerPath::root(), "/b".into()), (OwnerPath::new("a"), "/b/plugins/a".into())],
        search: vec![(OwnerPath::root(), "/b/plugins".into()), (OwnerPath::new("a"), "/b/plugins/a/plugins".into())],
        roots: vec!["/b".into()],
        files: ["/b/bot.toml".into(), "/secrets/token".into()].into(),
        never: ["/b/data".into(), "/b/bot.log".into()].into(),
        ..WatchList::default()
    };
    let yes = [
        "/b/bot.toml",
        "/secrets/token",
        "/b",
        "/b/plugins/new",
        "/b/plugins/a/tools/x/tool.toml",
        "/b/tools",
        "/b/.env",
    ];
    for path in yes {
        assert!(is_relevant(&list, Path::new(path)), "{path}");
    }
    let no = [
        "/other",
        "/b/bot.log",
        "/b/data/x",
        "/b/video.mp4",
        "/b/plugins/.staging-1",
        "/b/plugins/a/tools/x/.tool.toml.swp",
        "/b/plugins/a/node_modules",
        "/b/plugins/a/README",
        "/secrets/other",
    ];
    for path in no {
        assert!(!is_relevant(&list, Path::new(path)), "{path}");
    }
    let owner = |path: &str| owner_of(&list, Path::new(path)).map(|o| o.to_string());
    assert_eq!(owner("/b/tools/x"), None);
    assert_eq!(owner("/b/plugins/a/tools/x"), Some("a".into()));
    assert_eq!(owner("/b/plugins/new/plugin.toml"), Some("new".into()));
    assert_eq!(owner("/b/plugins/a/plugins/c/x"), Some("a/c".into()));
}

#[tokio::test]
async fn a_folder_with_two_names_stays_watched_when_one_goes() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for (first, second) in [(&real, &link), (&link, &real)] {
        for gone in [first, second] {
            let left = if gone == first { second } else { first };
            let (sender, mut seen) = mpsc::unbounded_channel();
            let mut folders = Folders::new(sender).unwrap();
            folders.arm(first).unwrap();
            folders.arm(second).unwrap();
            assert_eq!(folders.all_names(&first.join("x")), [first.join("x"), second.join("x")]);
            folders.disarm(gone);
            assert_eq!((folders.has(gone), folders.count()), (false, 1));
            fs::write(real.join("x"), "1").unwrap();
            let event = async {
                loop {
                    match seen.recv().await.expect("a watcher") {
                        Seen::Changed(paths) if paths.contains(&left.join("x")) => return,
                        _ => {}
                    }
                }
            };
            tokio::time::timeout(Duration::from_secs(20), event).await.expect("the edit is announced");
            fs::remove_file(real.join("x")).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_came_and_went_leaves_its_target_watched() {
    let world = World::new("");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    let tools = world.bot.path().join("plugins/a/tools");
    for (target, link) in [(".", "go/self"), ("go", "hello"), ("tools/go", "../lib")] {
        let link = tools.join(link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        next(&mut records, |r| r.triggers == [Trigger::Watch]).await;
        fs::remove_file(&link).unwrap();
        next(&mut records, |r| r.triggers == [Trigger::Watch]).await;
        world.tool("plugins/a", "go", &format!("edited after {}", link.display()));
        next(&mut records, |r| is_watch(r) && r.changes["tools"].changed.contains(&"a__go".to_owned())).await;
    }
    // found by events, not by the look that comes when events fail
    assert!(host.reload.state().watch.iter().all(|r| r.state == WatchState::Events));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn atomic_saves_are_all_seen() {
    let world = World::new("");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    for n in 1..=5 {
        let text = format!("description = \"save {n}\"\nrun = {{ command = [\"./main.sh\"] }}\n");
        let draft = world.write("plugins/a/tools/go/tool.toml.tmp", &text);
        fs::rename(&draft, draft.with_extension("")).unwrap();
        let record = next(&mut records, is_watch).await;
        assert_eq!(record.changes["tools"].changed, ["a__go"]);
        let lease = host.publisher.lease();
        assert_eq!(lease.contents().indexes.tools.get("a__go").unwrap().def().description, format!("save {n}"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_removed_and_made_again_is_seen_each_time() {
    let world = World::new("");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    for _ in 0..3 {
        fs::remove_dir_all(world.bot.path().join("plugins/a")).unwrap();
        next(&mut records, |r| is_watch(r) && r.changes["plugins"].removed == ["a"]).await;
        assert!(host.tools().is_empty());
        world.plugin("a");
        next(&mut records, |r| is_watch(r) && r.changes["plugins"].added == ["a"]).await;
        assert_eq!(host.tools(), ["a__go"]);
    }
    world.tool("plugins/a", "go", "edited after that");
    next(&mut records, |r| is_watch(r) && r.changes["tools"].changed == ["a__go"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renamed_folder_is_one_generation() {
    let world = World::new("");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    let plugins = world.bot.path().join("plugins");
    fs::rename(plugins.join("a"), plugins.join("b")).unwrap();
    let record = next(&mut records, is_watch).await;
    let tools = &record.changes["tools"];
    assert_eq!(
        (tools.added.as_slice(), tools.removed.as_slice()),
        (["b__go".to_owned()].as_slice(), ["a__go".to_owned()].as_slice())
    );
    assert_eq!((record.to, record.plan), (Some(2), super::super::Plan::Topology));
    world.tool("plugins/b", "go", "edited under the new name");
    assert_eq!(next(&mut records, is_watch).await.to, Some(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_bot_toml_stays_watched_until_it_is_repaired() {
    let world = World::new("");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    world.write("bot.toml", "[broken");
    next(&mut records, |r| r.outcome == Outcome::Rejected).await;
    world.write("bot.toml", "[agent]\nmax_iterations = 7\n");
    next(&mut records, is_watch).await;
    world.tool("plugins/a", "go", "still seen");
    next(&mut records, |r| is_watch(r) && r.owners == ["a"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polling_sees_what_events_do_not() {
    let world = World::new("[reload]\nwatch = \"poll\"\npoll_ms = 50\nsettle_ms = 50\n");
    world.plugin("a");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    while host.reload.state().watch.is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(host.reload.state().watch.iter().all(|r| r.state == WatchState::Polling));
    world.tool("plugins/a", "go", "polled");
    next(&mut records, is_watch).await;
    world.plugin("b");
    next(&mut records, |r| is_watch(r) && r.changes["plugins"].added == ["b"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_that_refuses_means_polling_and_says_so() {
    let world = World::new("[reload]\npoll_ms = 50\nsettle_ms = 50\n");
    world.plugin("a");
    // Without the host's own watcher: this one may arm nothing.
    let host = world.start(false).await;
    let mut records = host.reload.subscribe();
    let clock = crate::task::SystemClock::shared();
    let (watcher, seen) = Watcher::new(Arc::clone(&host.reload.0), host.publisher.clone(), clock, 0);
    let report = host.reload.request(Trigger::Command, super::super::ReloadOptions::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    let plugins = world.bot.path().canonicalize().unwrap().join("plugins");
    let list = WatchList {
        folders: [plugins.clone(), plugins.join("a"), plugins.join("a/tools"), plugins.join("a/tools/go")].into(),
        plugins: vec![(OwnerPath::new("a"), plugins.join("a"))],
        search: vec![(OwnerPath::root(), plugins.clone())],
        roots: vec![plugins.parent().unwrap().to_path_buf()],
        ..WatchList::default()
    };
    watcher.seen.send(Seen::Scanned(list)).unwrap();
    world.tasks.spawn("watcher under test", watcher.run(seen));
    while host.reload.state().watch.iter().all(|r| r.state != WatchState::Polling) {
        tokio::task::yield_now().await;
    }
    // The first look fills the marks; an edit from now on differs from them.
    world.tool("plugins/a", "go", "polled");
    next(&mut records, |r| published(r) || r.triggers == [Trigger::Watch]).await;
    assert_eq!(host.reload.state().watch[0].state, WatchState::Polling);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_and_data_start_no_reload() {
    let world = World::new("");
    world.plugin("a");
    world.write("notes.log", "1");
    let host = world.start(true).await;
    let mut records = host.reload.subscribe();
    for n in 0..5 {
        world.write("notes.log", &"x".repeat(n));
        world.write("data/some/file", &"x".repeat(n));
    }
    world.tool("plugins/a", "go", "the only change");
    let record = next(&mut records, |r| r.outcome != Outcome::Unchanged).await;
    assert!(is_watch(&record) && record.owners == ["a"], "{:?}", record.owners);
}
