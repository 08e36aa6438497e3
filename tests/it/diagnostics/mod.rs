//! Every diagnostic of the formats from a fixture, through the real binary: `tests/fixtures/diagnostics/*.toml`.
//!
//! A case is a small bot folder and the exact list of findings, each `severity code file[:line:column] owner`.

mod complete;
mod fixture;
mod made;
mod reported;
mod shown;

use fixture::Case;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Runs every case, some at a time; the messages of those that differ.
fn run_all(cases: Vec<Case>) -> Vec<String> {
    let cases = Arc::new(cases);
    let next = Arc::new(AtomicUsize::new(0));
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let workers = (0..4).map(|_| {
        let (cases, next, wrong) = (Arc::clone(&cases), Arc::clone(&next), Arc::clone(&wrong));
        std::thread::spawn(move || {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                if let Err(message) = case.run() {
                    wrong.lock().expect("a list").push(message);
                }
            }
        })
    });
    let workers: Vec<_> = workers.collect();
    for worker in workers {
        worker.join().expect("no case panics");
    }
    let mut wrong = std::mem::take(&mut *wrong.lock().expect("a list"));
    wrong.sort();
    wrong
}

#[test]
fn every_fixture_gives_exactly_its_findings() {
    let cases = fixture::all();
    assert!(cases.len() > 150, "only {} fixtures are found", cases.len());
    let wrong = run_all(cases);
    assert!(wrong.is_empty(), "{} fixtures differ\n\n{}", wrong.len(), wrong.join("\n\n"));
}
