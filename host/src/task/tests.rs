use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[tokio::test]
async fn manual_clock_wakes_in_order_and_only_when_due() {
    let clock = ManualClock::default();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let tasks = Tasks::new();
    let mut handles = Vec::new();
    for secs in [3u64, 1, 2] {
        let sleep = clock.sleep(Duration::from_secs(secs));
        let order = order.clone();
        handles.push(tasks.spawn("sleeper", async move {
            sleep.await;
            order.lock().unwrap().push(secs);
        }));
    }
    assert_eq!(clock.sleepers(), 3);
    assert_eq!(clock.next_due(), Some(Duration::from_secs(1)));
    clock.advance(Duration::from_millis(999));
    assert_eq!(clock.sleepers(), 3);
    clock.advance(Duration::from_secs(1));
    handles.remove(1).await.unwrap();
    assert_eq!(*order.lock().unwrap(), [1]);
    clock.advance(Duration::from_secs(5));
    for h in handles {
        h.await.unwrap();
    }
    assert_eq!(tasks.count(), 0);
    let before = clock.now();
    clock.advance(Duration::from_secs(60));
    assert_eq!((clock.now() - before).num_seconds(), 60);
}

#[tokio::test]
async fn guard_turns_a_panic_and_a_deadline_into_values() {
    let manual = ManualClock::default();
    let clock = manual.shared();
    assert_eq!(guard("maps", None, &clock, async { 7 }).await, Ok(7));
    let got: Result<(), _> = guard("maps", None, &clock, async { panic!("broken {}", 1) }).await;
    assert_eq!(got, Err(GuardError::Panicked("broken 1".into())));
    let limit = Some(Duration::from_secs(2));
    let late = guard("maps", limit, &clock, std::future::pending::<()>());
    let (late, ()) = tokio::join!(late, async { manual.advance(Duration::from_secs(2)) });
    assert_eq!(late, Err(GuardError::Timeout));
}

#[tokio::test]
async fn close_waits_for_the_willing_and_aborts_the_rest() {
    let tasks = Tasks::new();
    let ended = Arc::new(AtomicUsize::new(0));
    let (t, e) = (tasks.clone(), ended.clone());
    tasks.spawn("willing", async move {
        t.closing().await;
        e.fetch_add(1, Ordering::SeqCst);
    });
    let stuck = tasks.spawn("stuck", std::future::pending::<()>());
    assert_eq!(tasks.names(), ["stuck", "willing"]);
    assert_eq!(tasks.close(Duration::from_millis(20)).await, 1);
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    assert_eq!(tasks.count(), 0);
    assert!(stuck.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_panicking_task_leaves_the_list() {
    let tasks = Tasks::new();
    let handle = tasks.spawn("bad", async { panic!("no") });
    let joined: Result<(), _> = handle.await;
    assert!(joined.is_err());
    assert_eq!(tasks.count(), 0);
    assert_eq!(blocking("sum", || 2 + 2).await, Ok(4));
    assert!(matches!(blocking::<(), _>("bad", || panic!("x")).await, Err(GuardError::Panicked(t)) if t == "x"));
}
