//! Where a piece ends: the best place in its last half.

use super::flow::Code;

/// A place where a piece may end, and the length of the piece that ends there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) at: usize,
    pub(super) length: usize,
}

/// How good a cut is; a smaller one is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    BlankLine,
    LineEnd,
    Sentence,
    Space,
    Grapheme,
}

/// The last of the best edges whose piece is at least half full; the last edge when there is none better.
pub(super) fn best(text: &str, edges: &[Edge], limit: usize) -> Option<usize> {
    let mut best: Option<(Rank, usize)> = None;
    for edge in edges.iter().rev() {
        if edge.length < limit / 2 && best.is_some() {
            break;
        }
        let rank = rank(text, edge.at);
        if best.is_none_or(|(found, _)| rank < found) {
            best = Some((rank, edge.at));
        }
        if rank == Rank::BlankLine {
            break;
        }
    }
    best.map(|(_, at)| at)
}

fn rank(text: &str, at: usize) -> Rank {
    let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { return Rank::Grapheme };
    let last = before.chars().next_back();
    if !after.starts_with(char::is_whitespace) {
        return match last {
            Some('。' | '！' | '？' | '｡') => Rank::Sentence,
            Some(c) if c.is_whitespace() => Rank::Space,
            _ => Rank::Grapheme,
        };
    }
    // Only the first place of a run is looked at closely, so that a long run costs no more than its length.
    if !after.starts_with('\n') && last.is_some_and(char::is_whitespace) {
        return Rank::Space;
    }
    if after.starts_with("\n\n") {
        return Rank::BlankLine;
    }
    if after.starts_with('\n') {
        return Rank::LineEnd;
    }
    let closed = before.trim_end_matches(['"', '\'', ')', ']', '}', '»', '”', '’']);
    if closed.ends_with(['.', '!', '?', '…', '؟', '۔', '।']) { Rank::Sentence } else { Rank::Space }
}

/// The first byte from here that is not white space outside code.
pub(super) fn after_blank(text: &str, code: &Code, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let stop = rest.char_indices().find(|(i, c)| !c.is_whitespace() || code.holds(at + i));
    stop.map_or(text.len(), |(i, _)| at + i)
}

/// The end of `start..end` without white space outside code.
pub(super) fn before_blank(text: &str, code: &Code, start: usize, end: usize) -> usize {
    let part = text.get(start..end).unwrap_or_default();
    let stop = part.char_indices().rev().find(|(i, c)| !c.is_whitespace() || code.holds(start + i));
    stop.map_or(start, |(i, c)| start + i + c.len_utf8())
}

/// Where the next piece begins after a cut. In code only the line end that the marks stand for is dropped.
pub(super) fn next(text: &str, code: &Code, at: usize) -> usize {
    if at > 0 && code.holds(at) && code.holds(at - 1) {
        return if text.get(at..).is_some_and(|t| t.starts_with('\n')) { at + 1 } else { at };
    }
    after_blank(text, code, at)
}
