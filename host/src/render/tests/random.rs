use super::support::{DIALECTS, fit, split};
use crate::render::{Draft, Fit};
use plugin_sdk::Dialect;
use proptest::prelude::*;

const BITS: &[&str] = &[
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```",
    "```rust\n",
    "\n```\n",
    "\n~~~ info `x`\n",
    "# ",
    "\n## ",
    "\n> ",
    "\n>> ",
    "\n- ",
    "\n  - ",
    "\n1. ",
    "\n- [ ] ",
    "\n- [x] ",
    "\n\n",
    "\n",
    "  \n",
    "\\",
    " ",
    "    ",
    "\t",
    "[",
    "](",
    ")",
    "]",
    "[a b](https://a.example/x)",
    "![i](https://a.example/i.png)",
    "[r](/rel)",
    "<https://a.example>",
    "<b>",
    "</b>",
    "<name>",
    "<!-- c -->",
    "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "|",
    "\n---\n",
    "\n===\n",
    "&amp;",
    "&#8203;",
    "@everyone",
    "<@1>",
    "word",
    "a sentence. ",
    "snake_case",
    "2 * 3",
    "😀",
    "👨‍👩‍👧‍👦",
    "🇩🇪",
    "🎩",
    "e\u{301}",
    "\u{301}",
    "שלום ",
    "مرحبا",
    "日本語。",
    "한국어",
    "\u{200d}",
    "\u{202e}",
    "\u{0}",
    "\r\n",
    "[ref]: /url\n",
    "loooooooooooooooooooooooooooooooooooooooooooooooooooooong",
];

fn texts() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        9 => prop::sample::select(BITS).prop_map(str::to_string),
        1 => any::<char>().prop_map(|c| c.to_string()),
    ];
    prop::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_cut_into_pieces_that_fit(text in texts(), limit in 64usize..260, entities_max in 6usize..40) {
        for dialect in DIALECTS {
            split(&text, Fit { entities_max, max_pieces: 10_000, ..fit(dialect, limit) });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_has_drafts_that_fit(text in texts(), step in 1usize..9) {
        for dialect in [Dialect::Entities, Dialect::DiscordMarkdown] {
            let fit = fit(dialect, 200);
            let mut draft = Draft::new(fit);
            let chars: Vec<char> = text.chars().collect();
            for part in chars.chunks(step) {
                draft.push(&part.iter().collect::<String>());
                if let Some(shown) = draft.show() {
                    prop_assert!(fit.unit.len(&shown.text) <= fit.limit && !shown.text.trim().is_empty());
                    super::support::entities(&shown);
                    prop_assert!(dialect != Dialect::DiscordMarkdown || super::support::fences_balanced(&shown.text));
                }
            }
        }
    }
}
