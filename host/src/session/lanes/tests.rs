use super::*;
use crate::task::{ManualClock, Tasks};
use serde_json::json;
use std::time::Duration;

pub(in crate::session) fn lanes(places: usize, per_principal: usize, queue: usize) -> (Lanes, ManualClock) {
    let clock = ManualClock::default();
    (Lanes::new(LaneLimits { places, per_principal, queue }, clock.shared()), clock)
}

pub(in crate::session) fn ticket(number: u64, session: &str, principal: &str) -> Ticket {
    Ticket {
        number,
        session: SessionKey::from_text(session),
        principal: principal.into(),
        supersede: false,
        message: json!(number),
    }
}

/// Whether a ticket has its place by now.
fn now(waiting: &mut Waiting) -> Option<Result<Place, LaneError>> {
    futures::FutureExt::now_or_never(waiting)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn turns_of_a_session_run_in_ticket_order_whoever_wakes_first() {
    for run in 0..200u64 {
        let (lanes, _) = lanes(16, 16, 20);
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks = Tasks::new();
        let mut handles = Vec::new();
        let tickets: Vec<Waiting> = (0..3).map(|n| lanes.submit(ticket(n, "s", "p")).unwrap()).collect();
        let mut tickets: Vec<(u64, Waiting)> = (0..).zip(tickets).collect();
        if run % 2 == 0 {
            tickets.reverse();
        }
        for (n, waiting) in tickets {
            let order = order.clone();
            handles.push(tasks.spawn("turn", async move {
                let place = waiting.await.unwrap();
                order.lock().unwrap().push(n);
                tokio::task::yield_now().await;
                order.lock().unwrap().push(n);
                drop(place);
            }));
        }
        for h in handles {
            h.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 0, 1, 1, 2, 2], "run {run}");
        assert_eq!((lanes.running(), lanes.waiting()), (0, 0));
    }
}

#[tokio::test]
async fn places_go_to_sessions_in_ticket_order_and_a_person_has_few() {
    let (lanes, _) = lanes(3, 2, 20);
    let mut waits: Vec<Waiting> = ["a", "a", "a", "b", "c"]
        .into_iter()
        .zip(0..)
        .map(|(who, n)| lanes.submit(ticket(n, &format!("s{n}"), who)).unwrap())
        .collect();
    let mut got: Vec<Option<Place>> = waits.iter_mut().map(|w| now(w).and_then(Result::ok)).collect();
    let has: Vec<bool> = got.iter().map(Option::is_some).collect();
    assert_eq!(has, [true, true, false, true, false]);
    got[3] = None;
    let c = now(&mut waits[4]).unwrap().unwrap();
    assert!(now(&mut waits[2]).is_none());
    got[0] = None;
    assert!(now(&mut waits[2]).unwrap().is_ok());
    drop(c);
    drop(got);
    assert_eq!(lanes.running(), 0);
}

#[tokio::test]
async fn asking_gives_the_place_back_and_comes_back_first() {
    let (lanes, _) = lanes(1, 1, 20);
    let a = lanes.submit(ticket(1, "s1", "a")).unwrap().await.unwrap();
    let mut b = lanes.submit(ticket(2, "s2", "b")).unwrap();
    let mut c = lanes.submit(ticket(3, "s3", "c")).unwrap();
    assert!(now(&mut b).is_none());
    let (outer, inner) = (a.pause(), a.pause());
    let b = now(&mut b).unwrap().unwrap();
    inner.resume().await;
    let back = outer.resume();
    tokio::pin!(back);
    assert!(futures::poll!(&mut back).is_pending());
    drop(b);
    assert!(now(&mut c).is_none(), "a turn that comes back goes before a new one");
    back.await;
    // A question whose future was dropped: nobody waits, yet the place comes back.
    drop(a.pause());
    let c = now(&mut c).unwrap().unwrap();
    let mut d = lanes.submit(ticket(4, "s4", "d")).unwrap();
    drop(c);
    assert!(now(&mut d).is_none(), "the place is taken again by the turn that asked");
    drop(a);
    drop(now(&mut d).unwrap().unwrap());
    // A stopped turn does not wait for a place.
    let a = lanes.submit(ticket(5, "s1", "a")).unwrap().await.unwrap();
    let paused = a.pause();
    let b = lanes.submit(ticket(6, "s2", "b")).unwrap().await.unwrap();
    assert!(lanes.stop(a.session(), StopCause::Person).running);
    paused.resume().await;
    assert_eq!(a.stop_cause(), Some(StopCause::Person));
    drop(a);
    drop(b);
    assert_eq!(lanes.running(), 0);
    drop(lanes.submit(ticket(7, "s2", "b")).unwrap().await.unwrap());
}

#[tokio::test]
async fn the_newest_supersedes_the_running_and_stands_for_the_waiting() {
    let (lanes, clock) = lanes(4, 4, 1);
    let a = lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap();
    let b = lanes.submit(ticket(2, "s", "p")).unwrap();
    let full = lanes.submit(ticket(3, "s", "p")).err().unwrap();
    assert_eq!(full.waiting, 1);
    let newest = |n| Ticket { supersede: true, ..ticket(n, "s", "p") };
    let c = lanes.submit(newest(4)).unwrap();
    let mut d = lanes.submit(newest(5)).unwrap();
    assert_eq!(b.await.err(), Some(LaneError::Superseded));
    assert_eq!(c.await.err(), Some(LaneError::Superseded));
    assert!(a.cancellation().requested());
    assert_eq!(a.stop_cause(), Some(StopCause::Superseded));
    assert!(now(&mut d).is_none());
    clock.advance(Duration::from_secs(3));
    drop(a);
    let d = d.await.unwrap();
    assert_eq!(d.absorbed(), [json!(2), json!(4)]);
    assert_eq!((d.waited(), d.stop_cause()), (Duration::from_secs(3), None));
}

#[tokio::test]
async fn stop_leaves_the_waiting_and_close_sends_them_away() {
    let (lanes, _) = lanes(4, 4, 20);
    let key = SessionKey::from_text("s");
    assert_eq!(lanes.stop(&key, StopCause::Person), Stopped { running: false, waiting: 0 });
    let a = lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap();
    let gone = lanes.submit(ticket(2, "s", "p")).unwrap();
    let b = lanes.submit(ticket(3, "s", "p")).unwrap();
    drop(gone);
    assert_eq!(lanes.stop(&key, StopCause::Person), Stopped { running: true, waiting: 1 });
    drop(a);
    let b = b.await.unwrap();
    let c = lanes.submit(ticket(4, "s", "p")).unwrap();
    lanes.close();
    assert_eq!(c.await.err(), Some(LaneError::Closing));
    assert_eq!(lanes.submit(ticket(5, "x", "p")).unwrap().await.err(), Some(LaneError::Closing));
    assert_eq!(lanes.stop_all(StopCause::Shutdown), 1);
    let (lanes2, idle) = (lanes.clone(), lanes.idle());
    tokio::pin!(idle);
    assert!(futures::poll!(&mut idle).is_pending());
    assert_eq!(b.stop_cause(), Some(StopCause::Shutdown));
    drop(b);
    idle.await;
    assert!(!lanes2.is_busy(&key));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn five_hundred_chats_share_sixteen_places() {
    let (lanes, _) = lanes(16, 2, 20);
    let tasks = Tasks::new();
    let peak = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let handles: Vec<_> = (0..500u64)
        .map(|n| {
            let waiting = lanes.submit(ticket(n, &format!("s{n}"), &format!("p{}", n % 100))).unwrap();
            let (lanes, peak) = (lanes.clone(), peak.clone());
            tasks.spawn("turn", async move {
                let place = waiting.await.unwrap();
                peak.fetch_max(lanes.running(), std::sync::atomic::Ordering::SeqCst);
                tokio::task::yield_now().await;
                let paused = place.pause();
                tokio::task::yield_now().await;
                paused.resume().await;
            })
        })
        .collect();
    for h in handles {
        h.await.unwrap();
    }
    assert_eq!((lanes.running(), lanes.waiting()), (0, 0));
    assert!(peak.load(std::sync::atomic::Ordering::SeqCst) >= 16);
    drop(lanes.submit(ticket(1, "s", "p")).unwrap().await.unwrap());
}
