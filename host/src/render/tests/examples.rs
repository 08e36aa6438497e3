use super::support::{DIALECTS, fit, shown, split};
use crate::render::Draft;
use plugin_sdk::Dialect;

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

/// Beginnings of the examples that read otherwise when they are written anew: a rule or a quote as a list item, and
/// lines of HTML that are indented like code.
const READ_OTHERWISE: [&str; 3] = ["- Foo\n- * * *", "<![CDATA[", "> 1. > Blockquote"];

#[test]
fn markdown_that_is_written_anew_reads_the_same() {
    let letters = |text: &str| {
        let text = text.replace("%28", "(").replace("%29", ")");
        text.chars().filter(|c| !c.is_whitespace()).collect::<String>()
    };
    let mut otherwise = 0;
    for example in examples() {
        let again = shown(&shown(&example, Dialect::Markdown), Dialect::Plain);
        if letters(&again) == letters(&shown(&example, Dialect::Plain)) {
            continue;
        }
        assert!(READ_OTHERWISE.iter().any(|o| example.starts_with(o)), "{example:?} became {again:?}");
        otherwise += 1;
    }
    assert_eq!(otherwise, 4);
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
