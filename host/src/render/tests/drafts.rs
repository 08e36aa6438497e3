use super::support::{discord, telegram};
use crate::render::{Document, Draft, Fit};
use plugin_sdk::EntityKind;

fn after(fit: Fit, text: &str) -> String {
    let mut draft = Draft::new(fit);
    draft.push(text);
    draft.show().map_or_else(String::new, |shown| shown.text)
}

#[test]
fn open_marks_are_closed_and_half_marks_left_out() {
    for (so_far, shown) in [
        ("a **bold tex", "a **bold te**"),
        ("a **bold text*", "a **bold text**"),
        ("a **bold text** ", "a **bold text**"),
        ("a **bold *and ital", "a **bold *and ita***"),
        ("run `cargo tes", "run `cargo te`"),
        ("~~ol", "~~o~~"),
        ("see [the pag", "see the pa"),
        ("see [the page](https://a.exam", "see the page"),
        ("see [the page](https://a.example) ", "see [the page](https://a.example)"),
        ("```rust\nfn f() {", "```rust\nfn f() \n```"),
        ("```\nx\n``", "```\nx\n```"),
        ("2 * 3 ", "2 \\* 3"),
        ("Title\n-", "Title"),
        ("- a *b\n- c ", "- a \\*b\n- c"),
    ] {
        assert_eq!(after(discord(), so_far), shown, "{so_far:?}");
    }
}

#[test]
fn a_character_in_progress_waits_for_its_end() {
    let mut draft = Draft::new(telegram());
    draft.push("ok 👨");
    assert_eq!(draft.show().unwrap().text, "ok");
    draft.push("\u{200d}👩 ");
    assert_eq!(draft.show().unwrap().text, "ok 👨\u{200d}👩");
    assert!(draft.show().is_none(), "nothing new");
}

#[test]
fn a_full_draft_stops() {
    let mut draft = Draft::new(telegram());
    let mut shown = 0;
    for i in 0..4000 {
        draft.push(if i % 20 == 19 { "end.\n\n" } else { "word " });
        shown += usize::from(draft.show().is_some());
    }
    assert!(draft.is_full());
    assert!(shown < 900, "{shown} edits");
    let mut one = Draft::new(telegram());
    one.push(&"w ".repeat(9000));
    let first = one.show().unwrap().text;
    assert_eq!(first, Document::parse(&"w ".repeat(9000)).pieces(&telegram()).pieces[0].rich.text);
}

/// 20,000 characters in steps of four: the work is counted by what is shown, which ends with the first message.
#[test]
fn a_long_stream_costs_no_more_than_its_first_message() {
    let mut draft = Draft::new(Fit { limit: 1 << 20, ..telegram() });
    let mut looked = 0;
    for _ in 0..200_000 {
        draft.push("word");
        if draft.is_full() {
            break;
        }
        draft.push(" ");
        looked += 1;
        if looked % 100 == 0 {
            draft.show();
        }
    }
    assert!(draft.is_full() && looked < 4_000, "{looked}");
}

#[test]
fn a_draft_has_entities() {
    let mut draft = Draft::new(telegram());
    draft.push("**bold** and `cod");
    let kinds: Vec<EntityKind> = draft.show().unwrap().entities.into_iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [EntityKind::Bold, EntityKind::Code]);
}
