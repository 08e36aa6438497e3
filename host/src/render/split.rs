//! One splitter for every dialect: it measures what would be written and cuts where it reads best.

use super::cut::{self, Edge};
use super::emit::{self, Emitter, Form, Place};
use super::flow::{Code, Flow};
use super::{Document, Fit, is_blank};
use plugin_sdk::{Dialect, RichText};
use unicode_segmentation::UnicodeSegmentation;

/// Name of the file that holds an answer of too many pieces.
const FILE: &str = "answer.md";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// As the dialect writes it; never blank.
    pub rich: RichText,
    /// The same without marks and escape characters, for a platform that refuses the markup.
    pub plain: String,
}

/// A whole answer as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFile {
    /// Its name.
    pub name: &'static str,
    /// The Markdown source.
    pub text: String,
}

/// An answer in pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// In order; each fits.
    pub pieces: Vec<Piece>,
    /// The whole answer, when it has more pieces than are sent.
    pub file: Option<AnswerFile>,
}

/// Where a piece begins and ends in a flow.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    pub(super) place: Place,
    pub(super) end: usize,
    pub(super) bare: bool,
}

pub(super) fn split(document: &Document, fit: &Fit) -> Split {
    if is_blank(document.source()) {
        return Split::default();
    }
    let source = document.source().trim();
    if fit.dialect == Dialect::Markdown && fit.unit.len(source) <= fit.limit {
        // Markdown for a channel that reads it needs no second writing.
        let plain = fitting(document.text(Dialect::Plain).text, fit).unwrap_or_else(|| source.to_string());
        return Split { pieces: vec![Piece { rich: RichText::plain(source), plain }], file: None };
    }
    let flow = document.flow(fit);
    let mut cuts = cuts(&flow, fit, fit.max_pieces + 1);
    let mut file = None;
    if cuts.len() > fit.max_pieces {
        cuts.truncate(fit.max_pieces - 1);
        file = Some(AnswerFile { name: FILE, text: document.source().to_string() });
    }
    Split { pieces: cuts.iter().map(|cut| piece(&flow, fit, cut)).collect(), file }
}

fn fitting(text: String, fit: &Fit) -> Option<String> {
    (fit.unit.len(&text) <= fit.limit).then_some(text)
}

/// Writes one piece. Targets that stand beside their words make the plain form longer: it loses marks before it loses fit.
pub(super) fn piece(flow: &Flow, fit: &Fit, cut: &Cut) -> Piece {
    let form = Form { dialect: fit.dialect, unit: fit.unit, bare: cut.bare };
    let rich = emit::part(flow, form, &cut.place, cut.end);
    let plain = |bare| emit::part(flow, Form { dialect: Dialect::Plain, bare, ..form }, &cut.place, cut.end).text;
    let plain = fitting(plain(cut.bare), fit).unwrap_or_else(|| plain(true));
    Piece { rich, plain }
}

/// At most `most` cuts of a flow.
pub(super) fn cuts(flow: &Flow, fit: &Fit, most: usize) -> Vec<Cut> {
    let code = flow.code();
    let mut place = Place::default();
    place.advance(flow, cut::after_blank(&flow.text, &code, 0));
    let mut cuts = Vec::new();
    while place.at < flow.text.len() && cuts.len() < most {
        let (at, bare) = reach(flow, fit, &place);
        let end = cut::before_blank(&flow.text, &code, place.at, at);
        let here = place.clone();
        place.advance(flow, next(flow, &code, at, here.at));
        if flow.text.get(here.at..end).is_some_and(|text| !is_blank(text)) {
            cuts.push(Cut { place: here, end, bare });
        }
    }
    cuts
}

fn next(flow: &Flow, code: &Code, at: usize, from: usize) -> usize {
    let next = cut::next(&flow.text, code, at);
    debug_assert!(next > from, "a piece makes progress");
    next
}

/// Where the piece that begins here ends, and whether its marks have to be left out. Always at least one character on.
fn reach(flow: &Flow, fit: &Fit, place: &Place) -> (usize, bool) {
    for way in [Way::WholeLinks, Way::AnyEdge, Way::Bare] {
        let measured = measure(flow, fit, place, way);
        if measured.rest_fits {
            return (flow.text.len(), way == Way::Bare);
        }
        let best = cut::best(&flow.text, &measured.edges, fit.limit);
        let scalar = measured.scalar.filter(|_| way != Way::WholeLinks);
        if let Some(at) = best.or(scalar) {
            return (at, way == Way::Bare);
        }
    }
    let first = flow.text.get(place.at..).and_then(|t| t.chars().next());
    (place.at + first.map_or(1, char::len_utf8), true)
}

/// What may be cut, the best first; a later way is for what an earlier one cannot fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    WholeLinks,
    AnyEdge,
    Bare,
}

#[derive(Default)]
struct Measured {
    rest_fits: bool,
    /// Grapheme boundaries that fit.
    edges: Vec<Edge>,
    /// The last character boundary that fits.
    scalar: Option<usize>,
}

fn measure(flow: &Flow, fit: &Fit, place: &Place, way: Way) -> Measured {
    let form = Form { dialect: fit.dialect, unit: fit.unit, bare: way == Way::Bare };
    let mut emitter = Emitter::new(flow, form, place);
    let mut found = Measured::default();
    let rest = flow.text.get(place.at..).unwrap_or_default();
    let mut graphemes = rest.grapheme_indices(true).map(|(i, g)| place.at + i + g.len());
    let mut grapheme = graphemes.next();
    for (i, c) in rest.char_indices() {
        let end = place.at + i + c.len_utf8();
        emitter.step(place.at + i, c);
        if emitter.total() > fit.limit || emitter.entities() > fit.entities_max {
            return found;
        }
        found.scalar = Some(end);
        if grapheme == Some(end) {
            grapheme = graphemes.next();
            if way != Way::WholeLinks || !emitter.in_link(end) {
                found.edges.push(Edge { at: end, length: emitter.total() });
            }
        }
    }
    found.rest_fits = true;
    found
}
