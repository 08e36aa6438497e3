use super::support::{DIALECTS, discord, fit, shown, split, telegram};
use crate::render::{Document, is_blank, plain_text};
use plugin_sdk::{Dialect, EntityKind, TextEntity};

fn at(kind: EntityKind, offset: usize, length: usize) -> TextEntity {
    TextEntity { kind, offset, length }
}

fn entities(text: &str) -> (String, Vec<TextEntity>) {
    let rich = Document::parse(text).text(Dialect::Entities);
    super::support::entities(&rich);
    (rich.text, rich.entities)
}

#[test]
fn offsets_count_utf16_units() {
    let (text, list) = entities("🎩 **b** *i* ~~s~~ `c`");
    assert_eq!(text, "🎩 b i s c");
    let kinds = [EntityKind::Bold, EntityKind::Italic, EntityKind::Strikethrough, EntityKind::Code];
    let wanted: Vec<_> = kinds.into_iter().zip([3, 5, 7, 9]).map(|(k, o)| at(k, o, 1)).collect();
    assert_eq!(list, wanted);
}

#[test]
fn a_fence_names_its_language() {
    let (text, list) = entities("a\n\n```rust ignore\nfn f() {}\n\n    x\n```");
    assert_eq!(text, "a\n\nfn f() {}\n\n    x");
    assert_eq!(list, [at(EntityKind::Pre { language: Some("rust".into()) }, 3, 16)]);
    assert_eq!(shown("```rust ignore\nx\n```", Dialect::DiscordMarkdown), "```rust ignore\nx\n```");
    assert_eq!(shown("```rust\nx\n```", Dialect::Plain), "```rust\nx\n```");
    assert_eq!(shown("    x\n    y", Dialect::Plain), "```\nx\ny\n```");
}

#[test]
fn headings_are_bold_lines_or_marks() {
    let (text, list) = entities("# A **b**\n\nc");
    assert_eq!((text.as_str(), list), ("A b\n\nc", vec![at(EntityKind::Bold, 0, 3)]));
    assert_eq!(shown("### A\n#### B", Dialect::DiscordMarkdown), "### A\n\n**B**");
    assert_eq!(shown("#### B", Dialect::Markdown), "#### B");
    assert_eq!(shown("# A\nb", Dialect::Plain), "A\n\nb");
}

#[test]
fn links_stand_under_words_or_beside_them() {
    let link = "see [the page](https://a.example/x_(y)) and ![cat](https://a.example/cat.png)";
    let (text, list) = entities(link);
    assert_eq!(text, "see the page and cat");
    let target = |url: &str| EntityKind::TextLink { url: url.into() };
    assert_eq!(list, [at(target("https://a.example/x_(y)"), 4, 8), at(target("https://a.example/cat.png"), 17, 3)]);
    assert_eq!(
        shown(link, Dialect::DiscordMarkdown),
        "see [the page](https://a.example/x_%28y%29) and [cat](https://a.example/cat.png)"
    );
    assert_eq!(
        shown(link, Dialect::Plain),
        "see the page (https://a.example/x_(y)) and cat (https://a.example/cat.png)"
    );
    assert_eq!(shown("[here](/x)", Dialect::Entities), "here (/x)");
    assert_eq!(shown("![](https://a.example/i)", Dialect::Plain), "https://a.example/i");
    assert_eq!(shown("<https://a.example/a_b_c>", Dialect::DiscordMarkdown), "https://a.example/a_b_c");
    assert_eq!(shown("https://a.example/a_b_c", Dialect::DiscordMarkdown), "https://a.example/a_b_c");
    assert_eq!(shown("<me@a.example>", Dialect::Plain), "me@a.example");
}

#[test]
fn lists_keep_their_levels() {
    let list = "- a\n  - b\n    more\n    1. c\n- [ ] d\n- [x] e\n\n3. f\n4. g";
    assert_eq!(shown(list, Dialect::Entities), "• a\n  • b\n    more\n    1. c\n☐ d\n☑ e\n\n3. f\n4. g");
    assert_eq!(shown(list, Dialect::DiscordMarkdown), "- a\n  - b\n    more\n    1. c\n- ☐ d\n- ☑ e\n\n3. f\n4. g");
    assert_eq!(shown(list, Dialect::Plain), "- a\n  - b\n    more\n    1. c\n- ☐ d\n- ☑ e\n\n3. f\n4. g");
    assert_eq!(shown("- a\n\n- b\n\n  c", Dialect::Entities), "• a\n\n• b\n\n  c");
    assert_eq!(shown("-\n- x", Dialect::Entities), "•\n• x");
    assert_eq!(shown("- - x", Dialect::Entities), "•\n  • x");
    assert_eq!(shown("- a\n  ```\n  code\n  ```\n- b", Dialect::DiscordMarkdown), "- a\n```\ncode\n```\n- b");
}

#[test]
fn quotes_hold_their_lines() {
    let (text, list) = entities("> a\n> b\n>\n> c\n\nd");
    assert_eq!((text.as_str(), list), ("a\nb\n\nc\n\nd", vec![at(EntityKind::Blockquote, 0, 6)]));
    assert_eq!(shown("> a\n> b\n\nc", Dialect::DiscordMarkdown), "> a\n> b\n\nc");
    assert_eq!(shown("> a\n>> b", Dialect::Plain), "> a\n> \n> > b");
    assert_eq!(shown("> ```\n> x\n> ```", Dialect::DiscordMarkdown), "> ```\n> x\n> ```");
}

#[test]
fn tables_are_columns_or_blocks() {
    let (text, list) = entities("| a | bb |\n|---|---|\n| 1 | [x](https://a.example) |");
    assert_eq!(text, "a | bb\n--+----------------------\n1 | x (https://a.example)");
    assert_eq!(list, [at(EntityKind::Pre { language: None }, 0, text.len())]);
    let wide = format!("| key | value |\n|---|---|\n| 1 | {} |\n| 2 | b |", "w".repeat(70));
    let blocks = format!("key: 1\nvalue: {}\n\nkey: 2\nvalue: b", "w".repeat(70));
    assert_eq!(entities(&wide), (blocks, vec![]));
    assert_eq!(shown("| a |\n|---|\n| 1 |", Dialect::DiscordMarkdown), "```\na\n-\n1\n```");
}

#[test]
fn what_looks_like_a_mark_stays_literal() {
    for (text, escaped) in [
        ("<b>x</b> <name>", "\\<b\\>x\\</b\\> \\<name\\>"),
        ("2 * 3 * 4, a_b_c, snake\\_case", "2 \\* 3 \\* 4, a\\_b\\_c, snake\\_case"),
        ("@everyone <@&1> <@2>", "@everyone \\<@&1\\> \\<@2\\>"),
        ("||spoiler|| a#b # c", "\\|\\|spoiler\\|\\| a#b \\# c"),
        ("\\# x", "\\# x"),
        ("1\\. x", "1\\. x"),
        ("\\> x", "\\> x"),
        ("\\[a](b)", "\\[a\\](b)"),
        ("Hi!", "Hi!"),
    ] {
        assert_eq!(shown(text, Dialect::DiscordMarkdown), escaped);
        let plain = text.replace('\\', "");
        assert_eq!((shown(text, Dialect::Plain), shown(text, Dialect::Entities)), (plain.clone(), plain));
    }
}

#[test]
fn code_is_never_escaped_and_never_ends_early() {
    assert_eq!(shown("`a*b_c`", Dialect::DiscordMarkdown), "`a*b_c`");
    assert_eq!(shown("`` a`b ``", Dialect::DiscordMarkdown), "`` a`b ``");
    assert_eq!(shown("````\n```\nx\n```\n````", Dialect::DiscordMarkdown), "```\n``\u{200b}`\nx\n``\u{200b}`\n```");
    assert_eq!(shown("````\n```\nx\n```\n````", Dialect::Markdown), "````\n```\nx\n```\n````");
    assert_eq!(shown("``` `` ```", Dialect::Markdown), "``` `` ```");
}

#[test]
fn telegram_takes_no_style_around_code() {
    let (text, list) = entities("**a `b` c** [`d`](https://a.example)");
    assert_eq!(text, "a b c d");
    let link = EntityKind::TextLink { url: "https://a.example".into() };
    let wanted = [at(EntityKind::Bold, 0, 2), at(EntityKind::Code, 2, 1), at(EntityKind::Bold, 3, 2), at(link, 6, 1)];
    assert_eq!(list, wanted);
}

#[test]
fn a_refused_piece_has_a_plain_form_of_the_same_source() {
    let text = "# T\n**b** 2 \\* 3 [l](https://a.example) `c`\n> q\n\n```sh\nx\n```";
    for fit in [telegram(), discord()] {
        let pieces = split(text, fit).pieces;
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].plain, "T\n\nb 2 * 3 l (https://a.example) c\n\n> q\n\n```sh\nx\n```");
    }
    assert_eq!(plain_text("**a** [b](c)"), "a b (c)");
}

#[test]
fn what_shows_nothing_is_shown_as_written_or_not_sent() {
    for dialect in DIALECTS {
        for source in ["[a]: /url", "```rust\n```", "&#8203;", "``` \n\n\n```"] {
            let pieces = split(source, fit(dialect, 2000)).pieces;
            assert!(pieces.len() == 1 && !is_blank(&pieces[0].rich.text), "{source:?}: {pieces:?}");
        }
        for blank in ["", " \n\t ", "\u{200b}", "\u{0}\u{8}"] {
            assert!(split(blank, fit(dialect, 2000)).pieces.is_empty());
        }
    }
}

#[test]
fn markdown_that_fits_is_not_rewritten() {
    let source = "| a |\n|---|\n| *b* |\n";
    assert_eq!(split(source, fit(Dialect::Markdown, 2000)).pieces[0].rich.text, source.trim());
}
