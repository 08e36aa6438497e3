use super::*;
use crate::store::{self, StoreError};
use crate::task::{Clock, ManualClock};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn events_come_back_in_order_masked_and_announced() {
    let clock = ManualClock::default();
    let store = store::in_memory(clock.shared());
    let journal = Journal::new(store.clone(), clock.shared());
    journal.set_redact(Arc::new(|text| text.replace("s3cret", "•••")));
    let mut live = journal.subscribe();
    for n in 0..30u64 {
        let event = Event::new("tool.started", json!({"n": n, "args": ["key s3cret", {"s3cret": 1}]}));
        journal.append(event.of_turn(4, "t1", "telegram:7")).await.unwrap();
        if n % 7 == 0 {
            clock.advance(Duration::from_millis(5));
        }
    }
    let first = live.recv().await.unwrap();
    assert_eq!(first.data, json!({"n": 0, "args": ["key •••", {"•••": 1}]}));
    assert_eq!((first.generation, first.turn_id.as_deref()), (Some(4), Some("t1")));
    let later = Journal::new(store, clock.shared());
    for journal in [journal, later] {
        let recent = journal.recent(10).await.unwrap();
        let numbers: Vec<_> = recent.iter().map(|r| r.data["n"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (20..30).collect::<Vec<_>>());
        assert_eq!(journal.recent(1000).await.unwrap().len(), 30);
    }
}

#[tokio::test]
async fn old_events_go_and_a_closed_store_is_an_error() {
    let clock = ManualClock::default();
    let store = store::in_memory(clock.shared());
    let journal = Journal::new(store.clone(), clock.shared());
    journal.set_keep(Some(Duration::from_secs(60)));
    journal.append_durable(Event::new("reload", json!({}))).await.unwrap();
    clock.advance(Duration::from_secs(61));
    assert!(Journal::new(store.clone(), clock.shared()).recent(9).await.unwrap().is_empty());
    store.close().await.unwrap();
    let refused = journal.append(Event::new("reload", json!({}))).await.unwrap_err();
    assert!(matches!(refused.0, StoreError::Closed));
    let _ = clock.now();
}
