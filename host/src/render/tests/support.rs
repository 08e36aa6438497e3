//! Checks that hold for every split, written without the code they check where that is possible.

use crate::render::parse::is_blank;
use crate::render::split::cuts;
use crate::render::{Document, Fit, Split};
use plugin_sdk::{Dialect, EntityKind, RichText, TextUnit};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub(super) const DIALECTS: [Dialect; 4] =
    [Dialect::Entities, Dialect::DiscordMarkdown, Dialect::Markdown, Dialect::Plain];

pub(super) fn fit(dialect: Dialect, limit: usize) -> Fit {
    let unit = match dialect {
        Dialect::Entities => TextUnit::Utf16,
        Dialect::DiscordMarkdown | Dialect::Markdown => TextUnit::Chars,
        Dialect::Plain => TextUnit::Bytes,
    };
    Fit { dialect, limit, unit, entities_max: 100, max_pieces: 10 }
}

pub(super) fn telegram() -> Fit {
    fit(Dialect::Entities, 4096)
}

pub(super) fn discord() -> Fit {
    fit(Dialect::DiscordMarkdown, 2000)
}

pub(super) fn shown(text: &str, dialect: Dialect) -> String {
    Document::parse(text).text(dialect).text
}

/// Splits and checks everything that holds for every text.
pub(super) fn split(source: &str, fit: Fit) -> Split {
    let document = Document::parse(source);
    let split = document.pieces(&fit);
    assert!(is_blank(document.source()) == split.pieces.is_empty(), "pieces of {source:?}: {split:?}");
    for piece in &split.pieces {
        assert!(!is_blank(&piece.rich.text) && !is_blank(&piece.plain), "a blank piece of {source:?}");
        for text in [&piece.rich.text, &piece.plain] {
            assert!(fit.unit.len(text) <= fit.limit, "too long: {text:?} of {source:?}");
        }
        assert!(piece.rich.entities.len() <= fit.entities_max);
        if fit.dialect == Dialect::Entities {
            entities(&piece.rich);
        }
        if fit.dialect == Dialect::DiscordMarkdown {
            assert!(fences_balanced(&piece.rich.text), "fences of {:?}", piece.rich.text);
        }
    }
    joined(&document, &fit);
    if split.file.is_none() {
        words(source, &split, &fit);
    }
    split
}

/// Whether every fence and every code span is closed, read as Discord does: from left to right, backslash first.
pub(super) fn fences_balanced(discord: &str) -> bool {
    let mut rest = discord;
    while let Some(at) = rest.find(['\\', '`']) {
        rest = &rest[at..];
        if rest.starts_with('\\') {
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let run = rest.len() - rest.trim_start_matches('`').len();
        let marks = if run >= 3 { "```" } else { &rest[..run] };
        let inside = &rest[marks.len()..];
        let Some(end) = inside.find(marks) else { return false };
        rest = &inside[end + marks.len()..];
    }
    true
}

/// In range, between characters, not empty, nested as a platform takes them.
pub(super) fn entities(rich: &RichText) {
    let units: Vec<u16> = rich.text.encode_utf16().collect();
    let mut last = 0;
    for e in &rich.entities {
        assert!(e.length > 0 && e.offset >= last && e.offset + e.length <= units.len(), "{e:?} of {rich:?}");
        for at in [e.offset, e.offset + e.length] {
            assert!(units.get(at).is_none_or(|u| !(0xdc00..0xe000).contains(u)), "{e:?} cuts a pair of {rich:?}");
        }
        last = e.offset;
    }
    for (i, a) in rich.entities.iter().enumerate() {
        for b in rich.entities.iter().skip(i + 1) {
            let apart = b.offset >= a.offset + a.length;
            let inside = b.offset + b.length <= a.offset + a.length;
            assert!(apart || inside, "{a:?} and {b:?} cross in {rich:?}");
            let alone = matches!(a.kind, EntityKind::Code | EntityKind::Pre { .. });
            assert!(apart || !alone, "{b:?} inside code in {rich:?}");
            assert!(apart || a.kind != b.kind, "{b:?} twice in {rich:?}");
        }
    }
}

/// What lies between two pieces is white space.
fn joined(document: &Document, fit: &Fit) {
    let fit = fit.checked();
    let flow = document.flow(&fit);
    let mut at = 0;
    for cut in cuts(&flow, &fit, usize::MAX) {
        assert!(is_blank(&flow.text[at..cut.place.at]), "lost: {:?}", &flow.text[at..cut.place.at]);
        at = cut.end;
    }
    assert!(is_blank(&flow.text[at..]), "lost: {:?}", &flow.text[at..]);
}

/// The words a parser reads in the source stand in the pieces, in this order.
fn words(source: &str, split: &Split, fit: &Fit) {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let clean: String = source.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let joined: String = split.pieces.iter().map(|p| p.rich.text.as_str()).collect();
    if fit.dialect == Dialect::Markdown && joined == clean.trim() {
        return;
    }
    let (mut shown, mut head) = (joined.chars(), false);
    for event in Parser::new_ext(&clean, options) {
        // The keys of a wide table stand in every row.
        head = matches!(event, Event::Start(Tag::TableHead)) || head && !matches!(event, Event::End(TagEnd::TableHead));
        if head {
            continue;
        }
        let (Event::Text(t) | Event::Code(t) | Event::Html(t) | Event::InlineHtml(t)) = event else { continue };
        for c in t.chars().filter(|c| !is_blank(c.encode_utf8(&mut [0; 4]))) {
            assert!(shown.any(|s| s == c), "{c:?} of {t:?} is missing: {source:?} gave {joined:?}");
        }
    }
}
