use super::durable::DurableStore;
use super::open::{Step, open_durable, open_with};
use super::*;
use crate::task::{ManualClock, SystemClock, Tasks};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A store, its clock, and for sled the folder it lies in.
struct Bench {
    store: SharedStore,
    clock: ManualClock,
    dir: Option<tempfile::TempDir>,
}

fn options(dir: &Path, clock: SharedClock) -> OpenOptions {
    OpenOptions { data_dir: dir.to_owned(), flush_every_ms: 500, cache_mb: 16, clock }
}

impl Bench {
    fn memory() -> Self {
        let clock = ManualClock::default();
        Self { store: in_memory(clock.shared()), clock, dir: None }
    }

    fn sled() -> Self {
        let clock = ManualClock::default();
        let dir = tempfile::tempdir().unwrap();
        let store = open(options(dir.path(), clock.shared())).unwrap();
        Self { store: store.store, clock, dir: Some(dir) }
    }

    /// Closes by drop and opens again; memory has nothing to open.
    fn reopened(self) -> Self {
        let Self { store, clock, dir } = self;
        let Some(dir) = dir else { return Self { store, clock, dir: None } };
        drop(store);
        let store = open(options(dir.path(), clock.shared())).unwrap();
        Self { store: store.store, clock, dir: Some(dir) }
    }

    fn content_files(&self) -> usize {
        self.dir.as_ref().map_or(0, |d| std::fs::read_dir(d.path().join("content")).unwrap().count())
    }

    fn assert_no_blobs(&self) {
        if let Some(dir) = &self.dir {
            let blobs = dir.path().join("store/blobs");
            assert_eq!(std::fs::read_dir(blobs).map_or(0, Iterator::count), 0, "a page was moved to blobs/");
        }
    }
}

/// A string whose JSON has exactly `bytes` bytes and does not compress into anything.
fn text_of(bytes: usize, seed: u64) -> Value {
    let mut x = seed | 1;
    let mut out = String::with_capacity(bytes);
    while out.len() < bytes - 2 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        out.push(char::from(b'a' + (x % 26) as u8));
    }
    let value = Value::String(out);
    assert_eq!(value.to_string().len(), bytes);
    value
}

const KIB: usize = 1024;

fn key(n: u64) -> Key {
    Key::new().str("k").u64(n)
}

async fn put(store: &dyn Store, key: Key, value: Value) {
    store.batch(vec![Op::put(Tree::History, key, value)]).await.unwrap();
}

macro_rules! conformance {
    ($($name:ident),* $(,)?) => {
        mod memory_backend { $( #[tokio::test] async fn $name() { super::$name(super::Bench::memory()).await } )* }
        mod sled_backend { $( #[tokio::test] async fn $name() { super::$name(super::Bench::sled()).await } )* }
    };
}

conformance!(
    values_of_every_size_come_back,
    values_change_between_sizes,
    scans_come_in_order_and_page,
    a_batch_is_all_or_nothing,
    one_swap_of_many_wins,
    records_expire,
    trees_do_not_mix,
    last_step_on_a_key_wins,
    a_shared_long_value_outlives_one_of_its_records,
    survives_load,
    counts_and_closes,
);

async fn values_of_every_size_come_back(bench: Bench) {
    let sizes = [1 + 2, 3 * KIB, 4086, 4087, 5 * KIB, 256 * KIB, 256 * KIB + 1, 300 * KIB];
    for (n, size) in (0u64..).zip(sizes) {
        put(&*bench.store, key(n), text_of(size, n + 7)).await;
    }
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), if bench.dir.is_some() { 2 } else { 0 });
    let bench = bench.reopened();
    for (n, size) in (0u64..).zip(sizes) {
        assert_eq!(bench.store.get(Tree::History, &key(n)).await.unwrap(), Some(text_of(size, n + 7)), "{size}");
    }
    let all = bench.store.scan_prefix(Tree::History, &Key::new().str("k"), None, 100).await.unwrap();
    assert_eq!(all.len(), sizes.len());
    assert!(all.iter().zip(0u64..).all(|((k, v), n)| *k == key(n) && *v == text_of(sizes[n as usize], n + 7)));
    bench.assert_no_blobs();
}

async fn values_change_between_sizes(bench: Bench) {
    let sizes = [10, 100 * KIB, 300 * KIB, 5 * KIB, 20 * KIB, 300 * KIB, 10, 6 * KIB];
    put(&*bench.store, key(2), json!("neighbour")).await;
    for (n, size) in sizes.into_iter().enumerate() {
        put(&*bench.store, key(1), text_of(size, n as u64)).await;
        assert_eq!(bench.store.get(Tree::History, &key(1)).await.unwrap(), Some(text_of(size, n as u64)));
        let all = bench.store.scan_prefix(Tree::History, &Key::new(), None, 9).await.unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1].1, json!("neighbour"));
    }
    bench.store.batch(vec![Op::delete(Tree::History, key(1))]).await.unwrap();
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), 0);
    assert_eq!(bench.store.get(Tree::History, &key(1)).await.unwrap(), None);
    assert_eq!(bench.store.scan_prefix(Tree::History, &Key::new(), None, 9).await.unwrap().len(), 1);
}

async fn scans_come_in_order_and_page(bench: Bench) {
    let numbers = [300u64, 2, 256, 1, 255, u64::MAX, 0, 70_000];
    for n in numbers {
        let value = if n == 256 { text_of(9 * KIB, 1) } else { json!(n) };
        put(&*bench.store, key(n), value).await;
    }
    put(&*bench.store, Key::new().str("other").u64(5), json!("no")).await;
    put(&*bench.store, Key::new().str("k2").u64(5), json!("no")).await;
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    for page in [1, 3, 100] {
        let mut seen = Vec::new();
        let mut after: Option<Key> = None;
        loop {
            let prefix = Key::new().str("k");
            let found = bench.store.scan_prefix(Tree::History, &prefix, after.as_ref(), page).await.unwrap();
            let Some((last, _)) = found.last() else { break };
            assert!(found.len() <= page);
            after = Some(last.clone());
            seen.extend(found.iter().map(|(k, _)| k.last_u64().unwrap()));
        }
        assert_eq!(seen, sorted);
    }
    let none = bench.store.scan_prefix(Tree::History, &Key::new().str("k"), None, 0).await.unwrap();
    assert!(none.is_empty());
}

async fn a_batch_is_all_or_nothing(bench: Bench) {
    put(&*bench.store, key(1), json!("old")).await;
    let refused = bench
        .store
        .batch(vec![
            Op::put(Tree::Sessions, key(1), json!("new")),
            Op::put(Tree::Loaded, key(1), text_of(300 * KIB, 3)),
            Op::check(Tree::History, key(1), Some(json!("other"))),
        ])
        .await;
    assert!(matches!(refused, Err(StoreError::Conflict { tree: "history" })));
    assert_eq!(bench.store.get(Tree::Sessions, &key(1)).await.unwrap(), None);
    bench
        .store
        .batch(vec![
            Op::check(Tree::History, key(1), Some(json!("old"))),
            Op::check(Tree::Usage, key(1), None),
            Op::delete(Tree::History, key(1)),
            Op::put(Tree::Sessions, key(1), json!("new")),
        ])
        .await
        .unwrap();
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), 0, "a refused batch left a file");
    let bench = bench.reopened();
    assert_eq!(bench.store.get(Tree::History, &key(1)).await.unwrap(), None);
    assert_eq!(bench.store.get(Tree::Sessions, &key(1)).await.unwrap(), Some(json!("new")));
}

async fn one_swap_of_many_wins(bench: Bench) {
    let tasks = Tasks::new();
    let mut handles = Vec::new();
    for n in 0..20 {
        let store = bench.store.clone();
        handles.push(tasks.spawn("swap", async move {
            store.compare_and_swap(Tree::Questions, &key(1), None, Some(json!(n))).await.unwrap()
        }));
    }
    let mut wins = 0;
    for h in handles {
        wins += u32::from(h.await.unwrap());
    }
    assert_eq!(wins, 1);
    let now = bench.store.get(Tree::Questions, &key(1)).await.unwrap().unwrap();
    assert!(!bench.store.compare_and_swap(Tree::Questions, &key(1), Some(&json!(-1)), None).await.unwrap());
    assert!(bench.store.compare_and_swap(Tree::Questions, &key(1), Some(&now), None).await.unwrap());
    assert_eq!(bench.store.get(Tree::Questions, &key(1)).await.unwrap(), None);
    for _ in 0..3 {
        let add = |old: Option<Value>| Some(json!(old.and_then(|v| v.as_u64()).unwrap_or(0) + 1));
        update(&*bench.store, Tree::Usage, &key(1), add).await.unwrap();
    }
    assert_eq!(bench.store.get(Tree::Usage, &key(1)).await.unwrap(), Some(json!(3)));
}

async fn records_expire(bench: Bench) {
    let ttl = Duration::from_secs(10);
    bench
        .store
        .batch(vec![
            Op::put_for(Tree::Dedupe, key(1), json!(1), ttl),
            Op::put_for(Tree::Dedupe, key(2), text_of(20 * KIB, 1), ttl),
            Op::put_for(Tree::Dedupe, key(3), text_of(300 * KIB, 1), ttl),
            Op::put(Tree::Dedupe, key(4), json!(4)),
        ])
        .await
        .unwrap();
    bench.clock.advance(Duration::from_millis(9_999));
    let bench = bench.reopened();
    assert_eq!(bench.store.scan_prefix(Tree::Dedupe, &Key::new(), None, 9).await.unwrap().len(), 4);
    assert_eq!(bench.store.sweep(1000).await.unwrap(), 0);
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(bench.store.get(Tree::Dedupe, &key(2)).await.unwrap(), None);
    let left = bench.store.scan_prefix(Tree::Dedupe, &Key::new(), None, 9).await.unwrap();
    assert_eq!(left, [(key(4), json!(4))]);
    assert!(bench.store.compare_and_swap(Tree::Dedupe, &key(1), None, Some(json!("again"))).await.unwrap());
    let mut removed = 0;
    for _ in 0..40 {
        removed += bench.store.sweep(5).await.unwrap();
    }
    assert_eq!(removed, 2);
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), 0);
    assert_eq!(bench.store.stats().await.unwrap().records[&Tree::Dedupe], 2);
}

async fn trees_do_not_mix(bench: Bench) {
    for (tree, n) in Tree::ALL.into_iter().zip(0u64..) {
        bench.store.batch(vec![Op::put(tree, key(0), json!(n))]).await.unwrap();
    }
    for (tree, n) in Tree::ALL.into_iter().zip(0u64..) {
        assert_eq!(bench.store.get(tree, &key(0)).await.unwrap(), Some(json!(n)));
        let own = bench.store.scan_prefix(tree, &Key::new().str("k"), None, 9).await.unwrap();
        assert_eq!(own.len(), 1, "{}", tree.as_str());
    }
}

async fn last_step_on_a_key_wins(bench: Bench) {
    bench
        .store
        .batch(vec![
            Op::put(Tree::Meta, key(1), text_of(300 * KIB, 1)),
            Op::delete(Tree::Meta, key(1)),
            Op::put(Tree::Meta, key(2), json!(1)),
            Op::put(Tree::Meta, key(2), json!(2)),
        ])
        .await
        .unwrap();
    assert_eq!(bench.store.get(Tree::Meta, &key(1)).await.unwrap(), None);
    assert_eq!(bench.store.get(Tree::Meta, &key(2)).await.unwrap(), Some(json!(2)));
    assert_eq!(bench.content_files(), 0);
}

async fn a_shared_long_value_outlives_one_of_its_records(bench: Bench) {
    let long = text_of(300 * KIB, 5);
    put(&*bench.store, key(1), long.clone()).await;
    put(&*bench.store, key(2), long.clone()).await;
    put(&*bench.store, key(2), long.clone()).await;
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), usize::from(bench.dir.is_some()));
    bench.store.batch(vec![Op::delete(Tree::History, key(1))]).await.unwrap();
    let bench = bench.reopened();
    assert_eq!(bench.store.get(Tree::History, &key(2)).await.unwrap(), Some(long));
    put(&*bench.store, key(2), json!("short")).await;
    bench.store.barrier().await.unwrap();
    assert_eq!(bench.content_files(), 0);
}

async fn survives_load(bench: Bench) {
    let tasks = Tasks::new();
    let mut handles = Vec::new();
    for writer in 0..8u64 {
        let store = bench.store.clone();
        handles.push(tasks.spawn("writer", async move {
            for n in 0..60u64 {
                let size = [200, 3 * KIB, 5 * KIB, 40 * KIB][(n % 4) as usize];
                let record = Key::new().u64(writer).u64(n % 20);
                store.batch(vec![Op::put(Tree::History, record, text_of(size, n))]).await.unwrap();
                if n % 10 == 0 {
                    store.barrier().await.unwrap();
                }
            }
        }));
    }
    for h in handles {
        h.await.unwrap();
    }
    bench.store.barrier().await.unwrap();
    bench.assert_no_blobs();
    let bench = bench.reopened();
    for writer in 0..8u64 {
        let own = bench.store.scan_prefix(Tree::History, &Key::new().u64(writer), None, 99).await.unwrap();
        assert_eq!(own.len(), 20);
        for (k, v) in own {
            let n = 40 + k.last_u64().unwrap();
            assert_eq!(v, text_of([200, 3 * KIB, 5 * KIB, 40 * KIB][(n % 4) as usize], n));
        }
    }
    bench.assert_no_blobs();
}

async fn counts_and_closes(bench: Bench) {
    put(&*bench.store, key(1), text_of(20 * KIB, 1)).await;
    put(&*bench.store, key(2), text_of(300 * KIB, 1)).await;
    let stats = bench.store.stats().await.unwrap();
    assert_eq!(stats.records[&Tree::History], 2);
    assert!(stats.bytes > 300_000 && stats.free_bytes > 0);
    bench.store.close().await.unwrap();
    assert!(matches!(bench.store.get(Tree::History, &key(1)).await, Err(StoreError::Closed)));
    assert!(matches!(bench.store.batch(vec![Op::delete(Tree::History, key(1))]).await, Err(StoreError::Closed)));
    bench.store.close().await.ok();
    let bench = bench.reopened();
    if bench.dir.is_some() {
        assert_eq!(bench.store.get(Tree::History, &key(2)).await.unwrap(), Some(text_of(300 * KIB, 1)));
    }
}

fn durable(dir: &Path) -> DurableStore {
    open_durable(options(dir, SystemClock::shared()), &[]).unwrap()
}

#[tokio::test]
async fn barriers_asked_for_together_are_one_sync() {
    let dir = tempfile::tempdir().unwrap();
    let store = durable(dir.path());
    let before = store.syncs();
    for round in 1..=3u64 {
        for n in 0..50 {
            put(&store, key(n), json!(round)).await;
        }
        let all = futures::future::join_all((0..50).map(|_| store.barrier())).await;
        assert!(all.iter().all(Result::is_ok));
    }
    assert!(store.syncs() - before <= 9, "150 barriers took {} syncs", store.syncs() - before);
    let clean = store.syncs();
    store.barrier().await.unwrap();
    assert_eq!(store.syncs(), clean, "nothing was written, so nothing is to be made durable");
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let free = std::sync::Arc::new(AtomicU64::new(u64::MAX / 2));
    let probe = free.clone();
    let store =
        open_with(options(dir.path(), SystemClock::shared()), Box::new(move || Ok(probe.load(Ordering::SeqCst))), &[])
            .unwrap();
    put(&store, key(1), json!(1)).await;
    free.store(1 << 20, Ordering::SeqCst);
    let refused = store.batch(vec![Op::put(Tree::History, key(1), json!(2))]).await.unwrap_err();
    assert_eq!(refused.code(), "store::disk-full");
    assert_eq!(store.get(Tree::History, &key(1)).await.unwrap(), Some(json!(1)));
    assert_eq!(store.stats().await.unwrap().free_bytes, 1 << 20);
    free.store(1 << 40, Ordering::SeqCst);
    put(&store, key(1), json!(2)).await;
    assert_eq!(store.get(Tree::History, &key(1)).await.unwrap(), Some(json!(2)));
}

#[tokio::test]
async fn a_second_opener_a_newer_schema_and_a_damaged_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = durable(dir.path());
    let second = open(options(dir.path(), SystemClock::shared())).err().unwrap();
    assert_eq!(second.code(), "store::locked");
    store.batch(vec![Op::put(Tree::Meta, Key::new().str("schema"), json!(7))]).await.unwrap();
    drop(store);
    let newer = open(options(dir.path(), SystemClock::shared())).err().unwrap();
    assert!(matches!(newer, StoreError::Newer { found: 7, known: 1 }), "{newer}");
    let db = dir.path().join("store/db");
    let len = std::fs::metadata(&db).unwrap().len() as usize;
    let nonsense: Vec<u8> = (0..len).map(|n| (n * 31 % 251) as u8).collect();
    for damage in [nonsense, Vec::new()] {
        std::fs::write(&db, &damage).unwrap();
        let corrupt = open(options(dir.path(), SystemClock::shared())).err().unwrap();
        assert_eq!(corrupt.code(), "store::corrupt");
        assert!(std::fs::read(&db).unwrap() == damage, "a store that cannot be opened was written to");
    }
    std::fs::remove_file(&db).unwrap();
    assert_eq!(open(options(dir.path(), SystemClock::shared())).err().unwrap().code(), "store::corrupt");
}

#[tokio::test]
async fn migrations_run_in_order_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = durable(dir.path());
    for n in 0..450 {
        put(&store, key(n), json!({"n": n})).await;
    }
    drop(store);
    fn rename(tree: Tree, _: &Key, mut value: Value) -> Option<Value> {
        if tree == Tree::History
            && let Some(n) = value.as_object_mut().and_then(|o| o.remove("n"))
        {
            value["number"] = n;
        }
        Some(value)
    }
    fn drop_odd(tree: Tree, key: &Key, value: Value) -> Option<Value> {
        let odd = tree == Tree::History && value["number"].as_u64()? % 2 == 1;
        if odd && key.last_u64().is_some() { None } else { Some(value) }
    }
    let steps: &[Step] = &[rename, |t, k, v| if t == Tree::History { drop_odd(t, k, v) } else { Some(v) }];
    for _ in 0..2 {
        let store = open_durable(options(dir.path(), SystemClock::shared()), steps).unwrap();
        assert_eq!(store.get(Tree::Meta, &Key::new().str("schema")).await.unwrap(), Some(json!(3)));
        let left = store.scan_prefix(Tree::History, &Key::new(), None, 1000).await.unwrap();
        assert_eq!(left.len(), 225);
        assert_eq!(left[2].1, json!({"number": 4}));
    }
    assert!(matches!(open(options(dir.path(), SystemClock::shared())), Err(StoreError::Newer { .. })));
}

#[tokio::test]
async fn a_lost_content_file_is_a_bad_record_and_a_stray_one_goes() {
    let dir = tempfile::tempdir().unwrap();
    let store = durable(dir.path());
    put(&store, key(1), text_of(300 * KIB, 1)).await;
    put(&store, key(2), json!(2)).await;
    drop(store);
    let content = dir.path().join("content");
    let file = std::fs::read_dir(&content).unwrap().next().unwrap().unwrap().path();
    let stray = "0".repeat(64);
    std::fs::write(content.join(&stray), b"x").unwrap();
    std::fs::write(content.join("photo.jpg"), b"x").unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let store = durable(dir.path());
    assert!(!content.join(&stray).exists());
    assert!(content.join("photo.jpg").exists(), "what the store did not make, it does not remove");
    assert_eq!(store.get(Tree::History, &key(1)).await.unwrap_err().code(), "store::bad-record");
    let rest = store.scan_prefix(Tree::History, &Key::new(), None, 9).await.unwrap();
    assert_eq!(rest, [(key(2), json!(2))]);
}

#[tokio::test]
async fn a_damaged_end_is_noticed_after_a_clean_one() {
    use std::os::unix::fs::FileExt;
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("store/db");
    for n in 0..3u64 {
        let store = durable(dir.path());
        assert!(!store.lost_newest, "nothing is lost before start {n}");
        put(&store, key(n), json!("a turn".repeat(20))).await;
        store.close().await.unwrap();
    }
    let sound = std::fs::read(&db).unwrap();
    let last = sound.iter().rposition(|b| *b != 0).unwrap();
    let file = std::fs::File::options().write(true).open(&db).unwrap();
    file.write_all_at(&[!sound[last]], last as u64).unwrap();
    let store = durable(dir.path());
    assert!(store.lost_newest);
    store.close().await.unwrap();
    // an end that was not clean promises nothing
    std::fs::write(&db, &sound).unwrap();
    let store = durable(dir.path());
    put(&store, key(9), json!(9)).await;
    store.barrier().await.unwrap();
    drop(store);
    assert!(!durable(dir.path()).lost_newest);
}

#[test]
fn one_host_per_data_folder() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a/data");
    let lock = DataLock::acquire(&data).unwrap();
    assert_eq!(std::fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
    let second = DataLock::acquire(&data).unwrap_err();
    assert!(matches!(second, StoreError::Locked { pid: Some(pid), .. } if pid == std::process::id()), "{second}");
    drop(lock);
    drop(DataLock::acquire(&data).unwrap());
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert_eq!(DataLock::acquire(&dir.path().join("file/data")).unwrap_err().code(), "store::not-writable");
}

#[test]
fn keys_sort_by_number_and_decode() {
    let a = Key::new().str("s").u64(2);
    let b = Key::new().str("s").u64(10);
    assert!(a < b);
    assert_eq!(b.parts().unwrap(), [Part::Str("s".into()), Part::U64(10)]);
    assert_eq!((b.last_u64(), b.last_str()), (Some(10), None));
    assert!(Key::from_bytes(&[2, 0, 0, 0, 9, 1]).parts().is_none());
}

/// The child of the test below: writes numbers and says which one is durable, until it is killed.
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a variable of the test's own tells the child from a normal run")]
async fn child_that_is_killed() {
    let Ok(dir) = std::env::var("STORE_CHILD_DIR") else { return };
    let store = durable(Path::new(&dir));
    for n in 0..1_000_000u64 {
        let size = if n % 7 == 0 { 290 * KIB } else { 6 * KIB };
        let ops = vec![
            Op::put(Tree::History, key(n % 50), json!({"n": n, "text": text_of(size, n)})),
            Op::put(Tree::Sessions, key(n % 50), json!(n)),
        ];
        store.batch(ops).await.unwrap();
        store.barrier().await.unwrap();
        println!("durable {n}");
    }
}

#[test]
fn what_a_barrier_confirmed_survives_a_kill() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::tests::child_that_is_killed", "--nocapture"])
            .env("STORE_CHILD_DIR", dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = None;
        let enough = 20 + round * 9;
        for line in lines.by_ref() {
            let line = line.unwrap();
            if let Some(n) = line.rsplit_once("durable ").and_then(|(_, n)| n.parse::<u64>().ok()) {
                last = Some(n);
                if n >= enough {
                    break;
                }
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            last = line.rsplit_once("durable ").and_then(|(_, n)| n.parse().ok()).or(last);
        }
        let last = last.unwrap();
        let store = durable(dir.path());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let numbers = store.scan_prefix(Tree::Sessions, &Key::new(), None, 99).await.unwrap();
            let newest = numbers.iter().filter_map(|(_, v)| v.as_u64()).max().unwrap();
            assert!(newest >= last, "round {round}: {newest} < {last}");
            for (k, v) in numbers {
                let entry = store.get(Tree::History, &k).await.unwrap().unwrap();
                assert_eq!(entry["n"], v, "both trees or neither");
            }
        });
    }
}
