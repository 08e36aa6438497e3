use super::support::{DIALECTS, fit, split};
use crate::render::Draft;

fn examples() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/markdown/commonmark.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_commonmark_example_shows_something_that_fits() {
    let examples = examples();
    assert_eq!(examples.len(), 655);
    for example in &examples {
        for dialect in DIALECTS {
            for limit in [64, 4096] {
                let pieces = split(example, fit(dialect, limit)).pieces;
                assert_eq!(pieces.is_empty(), example.trim().is_empty(), "{example:?}");
            }
        }
    }
}

#[test]
fn every_beginning_of_every_example_has_a_draft_that_fits() {
    for example in examples() {
        for dialect in DIALECTS {
            let mut draft = Draft::new(fit(dialect, 200));
            for c in example.chars() {
                draft.push(c.encode_utf8(&mut [0; 4]));
                if let Some(shown) = draft.show() {
                    assert!(fit(dialect, 200).unit.len(&shown.text) <= 200);
                    super::support::entities(&shown);
                }
            }
        }
    }
}
