//! The exchange itself: what every reader waits for at most.

use crate::measure::Samples;
use crate::prepare::World;
use crate::table::{Bar, Table};
use host::candidate::Contents;
use host::generation::{Lease, Publisher, SealInput, Sealed, seal};
use host::store::{SharedStore, in_memory};
use host::task::{SystemClock, Tasks};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LEASES: usize = 1_000;
const EXCHANGES: usize = 2_000;

async fn sealed(contents: &Arc<Contents>, base: Option<u64>, store: &SharedStore) -> Sealed {
    // Each generation holds the instances once more, as a carried-over plugin does.
    contents.instances.iter().for_each(|i| i.join());
    let contents = Arc::clone(contents);
    let input = SealInput { contents, failed: Vec::new(), base, reload_id: "bench".into() };
    seal(input, base, &**store, &*SystemClock::shared()).await.unwrap_or_else(|e| panic!("{e}"))
}

async fn exchanges(contents: &Arc<Contents>) -> Samples {
    let (store, tasks) = (in_memory(SystemClock::shared()), Tasks::new());
    let publisher = Publisher::new(sealed(contents, None, &store).await, SystemClock::shared(), &tasks);
    let mut took = Vec::new();
    let mut held: Vec<Lease> = Vec::new();
    for _ in 0..EXCHANGES {
        let out: Vec<Lease> = (0..LEASES).map(|_| publisher.lease()).collect();
        let next = sealed(contents, Some(publisher.published().active.number()), &store).await;
        let start = Instant::now();
        publisher.publish(next);
        took.push(start.elapsed());
        held = out;
        tokio::task::yield_now().await;
    }
    drop(held);
    tasks.close(Duration::from_secs(5)).await;
    Samples::new(took)
}

pub(crate) fn rows(table: &mut Table) {
    let (world, data) = (World::new(10), tempfile::tempdir().expect("a folder"));
    let contents = world.prepare(&world.workshop(data.path()), None).contents;
    let rt = tokio::runtime::Runtime::new().expect("a runtime");
    let took = rt.block_on(exchanges(&contents));
    table.time("publish, 1,000 leases out, median", took.median(), &[]);
    table.time("publish, 1,000 leases out, p99", took.quantile(0.99), &[Bar::Time(Duration::from_millis(1))]);
}
