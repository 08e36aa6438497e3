use super::*;
use crate::candidate::{Contents, Instance, Resource};
use crate::config::BotConfig;
use crate::store::{SharedStore, in_memory};
use crate::task::{Clock, ManualClock, SystemClock, Tasks};
use plugin_sdk::{CancellationSignal, OwnerPath};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

/// Counts its disposals and writes its name into a shared log.
struct Probe {
    name: String,
    log: Arc<Mutex<Vec<String>>>,
    fails: bool,
}

#[async_trait::async_trait]
impl Resource for Probe {
    fn name(&self) -> &str {
        &self.name
    }
    async fn dispose(&self) -> Result<(), String> {
        self.log.lock().unwrap().push(self.name.clone());
        if self.fails { Err("stuck".into()) } else { Ok(()) }
    }
}

struct World {
    clock: ManualClock,
    store: SharedStore,
    tasks: Tasks,
    log: Arc<Mutex<Vec<String>>>,
}

impl World {
    fn new() -> Self {
        let clock = ManualClock::default();
        Self { store: in_memory(clock.shared()), clock, tasks: Tasks::new(), log: Arc::default() }
    }

    fn instance(&self, owner: &str, fails: bool) -> Arc<Instance> {
        let probe = |part: &str| -> Box<dyn Resource> {
            Box::new(Probe { name: format!("{owner}:{part}"), log: self.log.clone(), fails })
        };
        Arc::new(Instance::new(OwnerPath::new(owner), owner.into(), vec![probe("1"), probe("2")]))
    }

    async fn sealed(&self, base: Option<u64>, instances: &[Arc<Instance>]) -> Sealed {
        for instance in instances {
            instance.join();
        }
        let contents = Arc::new(contents(instances.to_vec()));
        let input = SealInput { contents, failed: Vec::new(), base, reload_id: "r1".into() };
        seal(input, base, self.store.as_ref(), &self.clock).await.unwrap()
    }

    async fn publisher(&self) -> Publisher {
        let first = self.sealed(None, &[]).await;
        Publisher::new(first, self.clock.shared(), &self.tasks)
    }

    fn logged(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn contents(instances: Vec<Arc<Instance>>) -> Contents {
    crate::candidate::Contents::for_tests(BotConfig::default(), instances)
}

async fn until(events: &mut Receiver<LifeEvent>, wanted: impl Fn(&LifeEvent) -> bool) -> LifeEvent {
    loop {
        let event = events.recv().await.unwrap();
        if wanted(&event) {
            return event;
        }
    }
}

async fn disposed(events: &mut Receiver<LifeEvent>, number: u64) -> LifeEvent {
    until(events, |e| matches!(e, LifeEvent::Disposed { number: n, .. } if *n == number)).await
}

#[tokio::test]
async fn numbers_grow_by_one_and_go_on_after_a_restart() {
    let world = World::new();
    let publisher = world.publisher().await;
    for n in 2..=5 {
        publisher.publish(world.sealed(Some(n - 1), &[]).await);
        assert_eq!(publisher.lease().number(), n);
    }
    let next = world.sealed(None, &[]).await;
    assert_eq!(next.number(), 6, "a new process goes on after the last stored number");
}

#[tokio::test]
async fn only_the_base_that_was_prepared_against_is_sealed() {
    let world = World::new();
    let contents = Arc::new(contents(Vec::new()));
    let input = SealInput { contents, failed: Vec::new(), base: Some(1), reload_id: "r2".into() };
    let refused = seal(input, Some(2), world.store.as_ref(), &world.clock).await;
    let Err(error) = refused else { panic!("sealed") };
    assert_eq!(error.diagnostic().code, "seal::base-changed");
}

#[tokio::test]
async fn a_generation_is_disposed_once_in_reverse_order_after_its_last_lease() {
    let world = World::new();
    let publisher = world.publisher().await;
    let (a, b) = (world.instance("a", false), world.instance("b", false));
    publisher.publish(world.sealed(Some(1), &[a.clone(), b.clone()]).await);
    let mut events = publisher.events();
    let lease = publisher.lease();
    let clone = lease.clone();
    publisher.publish(world.sealed(Some(2), &[a]).await);
    drop(lease);
    assert_eq!(clone.number(), 2, "the clone holds the generation");
    assert!(world.logged().is_empty(), "nothing is disposed while it is held");
    drop(clone);
    disposed(&mut events, 2).await;
    assert_eq!(world.logged(), ["b:2", "b:1"], "`a` is used by its successor, `b` goes last made first");
    publisher.publish(world.sealed(Some(3), &[]).await);
    disposed(&mut events, 3).await;
    assert_eq!(world.logged(), ["b:2", "b:1", "a:2", "a:1"]);
    let counts = publisher.counts();
    assert_eq!((counts.published, counts.disposed, counts.living, counts.quarantined), (4, 3, 1, 0));
}

#[tokio::test]
async fn a_failing_disposal_is_quarantined_and_stops_nothing() {
    let world = World::new();
    let publisher = world.publisher().await;
    let (bad, good) = (world.instance("bad", true), world.instance("good", false));
    publisher.publish(world.sealed(Some(1), &[good, bad]).await);
    let mut events = publisher.events();
    publisher.publish(world.sealed(Some(2), &[]).await);
    let event = disposed(&mut events, 2).await;
    assert_eq!(event, LifeEvent::Disposed { number: 2, quarantined: vec!["bad".into()] });
    assert_eq!(world.logged(), ["bad:2", "bad:1", "good:2", "good:1"]);
    assert_eq!(publisher.quarantined(), ["bad"]);
    assert_eq!(publisher.counts().quarantined, 1);
    let states: Vec<_> = publisher.list().iter().map(|g| (g.number, g.state)).collect();
    assert_eq!(states, [(3, State::Active), (2, State::Quarantined), (1, State::Disposed)]);
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_sealed() {
    let world = World::new();
    world.store.close().await.unwrap();
    let contents = Arc::new(contents(Vec::new()));
    let input = SealInput { contents, failed: Vec::new(), base: None, reload_id: "r1".into() };
    let Err(error) = seal(input, None, world.store.as_ref(), &world.clock).await else { panic!("sealed") };
    assert_eq!(error.diagnostic().code, "seal::not-recorded");
}

/// Advances when somebody sleeps, so that no step is lost.
async fn advance(clock: &ManualClock, by: u64) {
    while clock.sleepers() == 0 {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(by));
}

#[tokio::test]
async fn the_deadline_warns_cancels_and_gives_up() {
    let world = World::new();
    let publisher = world.publisher().await;
    let mut events = publisher.events();
    let (polite, stuck) = (publisher.lease(), publisher.lease());
    let signal = CancellationSignal::new();
    polite.on_deadline(signal.clone());
    let reference = stuck.downgrade();
    publisher.publish(world.sealed(Some(1), &[]).await);
    until(&mut events, |e| *e == LifeEvent::Retired { number: 1 }).await;
    advance(&world.clock, 300).await;
    until(&mut events, |e| *e == LifeEvent::Halfway { number: 1, leases: 2 }).await;
    assert!(!signal.requested());
    advance(&world.clock, 300).await;
    until(&mut events, |e| *e == LifeEvent::Cancelled { number: 1, turns: 2 }).await;
    assert!(signal.requested() && polite.is_overdue());
    drop(polite);
    assert!(reference.get().is_ok(), "the stuck turn has five seconds more");
    advance(&world.clock, 5).await;
    until(&mut events, |e| matches!(e, LifeEvent::Abandoned { number: 1, .. })).await;
    assert_eq!(reference.get().err(), Some(Retired { generation: 1 }));
    drop(stuck);
    assert_eq!(publisher.counts().quarantined, 1);
    assert_eq!(publisher.lease().number(), 2);
}

#[tokio::test]
async fn a_turn_that_waits_for_a_person_has_the_later_deadline_and_force_the_earlier() {
    let world = World::new();
    let publisher = world.publisher().await;
    let mut events = publisher.events();
    let lease = publisher.lease();
    lease.waits_until(Some(world.clock.monotonic() + Duration::from_secs(900)));
    publisher.publish(world.sealed(Some(1), &[]).await);
    until(&mut events, |e| *e == LifeEvent::Retired { number: 1 }).await;
    advance(&world.clock, 600).await;
    until(&mut events, |e| matches!(e, LifeEvent::Halfway { .. })).await;
    tokio::task::yield_now().await;
    assert!(!lease.is_overdue());
    assert_eq!(publisher.force_oldest(), Some(1));
    until(&mut events, |e| *e == LifeEvent::Cancelled { number: 1, turns: 1 }).await;
    assert!(lease.is_overdue());
}

#[tokio::test]
async fn a_returned_lease_is_retired_for_whoever_kept_a_reference() {
    let world = World::new();
    let publisher = world.publisher().await;
    let lease = publisher.lease();
    let reference = lease.downgrade();
    assert_eq!(reference.get().unwrap().number(), 1);
    drop(lease);
    assert_eq!(reference.get().err(), Some(Retired { generation: 1 }));
}

#[tokio::test]
async fn closing_disposes_the_last_generation() {
    let world = World::new();
    let publisher = world.publisher().await;
    let a = world.instance("a", false);
    publisher.publish(world.sealed(Some(1), &[a]).await);
    assert!(publisher.close(Duration::from_secs(8)).await);
    // whoever comes too late is answered, and looks for no open generation for ever
    assert_eq!(publisher.lease().number(), publisher.published().active.number());
    assert_eq!(publisher.counts().living, 0);
    assert_eq!(world.logged(), ["a:2", "a:1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn leases_and_publishes_race_without_a_loss() {
    let world = World::new();
    let clock: crate::task::SharedClock = Arc::new(SystemClock::new());
    let first = world.sealed(None, &[]).await;
    let publisher = Publisher::new(first, clock.clone(), &world.tasks);
    let mut events = publisher.events();
    let held: Vec<_> = (0..1_000).map(|_| publisher.lease()).collect();
    let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (publisher, stop, taken) = (publisher.clone(), stop.clone(), taken.clone());
            std::thread::spawn(move || {
                let mut last = 0;
                while !stop.load(Ordering::Relaxed) {
                    let lease = publisher.lease();
                    assert!(lease.number() >= last, "a later lease is never of an earlier generation");
                    assert!(!matches!(lease.state(), State::Disposing | State::Disposed));
                    last = lease.number();
                    taken.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut times = Vec::new();
    for n in 1..=200 {
        let sealed = world.sealed(Some(n), &[]).await;
        let start = clock.monotonic();
        publisher.publish(sealed);
        times.push(clock.monotonic() - start);
    }
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
    drop(held);
    while publisher.counts().living > 1 {
        // Lagging is fine: the counts decide.
        let _ = events.recv().await;
    }
    times.sort();
    println!("publish p99 with 1,000 leases out: {:?}; {} leases taken", times[197], taken.load(Ordering::Relaxed));
    let counts = publisher.counts();
    assert_eq!((counts.published, counts.disposed, counts.living, counts.quarantined), (201, 200, 1, 0));
}
