//! A query against the index: its terms with what they hit.

use super::Ranking;
use super::terms::{is_generic_word, words_of};

/// Weight and length from which a term counts for coverage and may be widened.
const FULL: f64 = 1.0;
const WIDEN_FROM: usize = 4;
const WIDENED: f64 = 0.5;

/// One distinct term of a query.
#[derive(Debug, Clone)]
pub(super) struct QueryTerm {
    /// Largest weight it occurs with.
    pub(super) weight: f64,
    /// Only generic words gave it.
    pub(super) generic: bool,
    /// Index terms that answer it; several when widened.
    pub(super) hits: Vec<u32>,
    /// 1, or 0.5 when widened.
    pub(super) factor: f64,
    /// For coverage and floor.
    pub(super) idf: f64,
}

impl QueryTerm {
    /// Whether it counts for coverage and floor.
    pub(super) fn counts(&self) -> bool {
        self.weight >= FULL
    }
}

/// A term before it meets an index.
struct Wanted {
    term: String,
    weight: f64,
    generic: bool,
    cjk: bool,
}

fn wanted(text: &str) -> Vec<Wanted> {
    let mut out: Vec<Wanted> = Vec::new();
    let mut at = std::collections::HashMap::new();
    for word in words_of(text).into_iter().filter(|w| !w.is_dropped()) {
        let generic = is_generic_word(&word.text);
        let term = word.term();
        let i = *at.entry(term.clone()).or_insert_with(|| {
            out.push(Wanted { term, weight: 0.0, generic: true, cjk: word.cjk });
            out.len() - 1
        });
        out[i].weight = out[i].weight.max(word.weight);
        out[i].generic &= generic;
    }
    out
}

/// The distinct terms that a query of this text would look for.
pub fn query_terms(text: &str) -> Vec<String> {
    wanted(text).into_iter().map(|w| w.term).collect()
}

/// The distinct terms of a text, nothing dropped.
pub fn terms_of(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = words_of(text).iter().map(super::terms::Word::term).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

impl Ranking {
    pub(super) fn resolve(&self, query: &str) -> Vec<QueryTerm> {
        wanted(query).into_iter().map(|w| self.resolve_one(&w)).collect()
    }

    fn resolve_one(&self, w: &Wanted) -> QueryTerm {
        let (hits, factor, idf) = match self.term_id(&w.term) {
            Some(id) => (vec![id], 1.0, self.idf[id as usize]),
            None if w.cjk || w.term.chars().count() < WIDEN_FROM => (Vec::new(), 1.0, self.idf_absent),
            None => (self.widen(&w.term), WIDENED, self.idf_absent),
        };
        QueryTerm { weight: w.weight, generic: w.generic, hits, factor, idf }
    }

    fn term_id(&self, term: &str) -> Option<u32> {
        self.terms.binary_search_by(|t| (**t).cmp(term)).ok().map(|i| i as u32)
    }

    /// Index terms of at least four characters that start with it, or that it starts with.
    fn widen(&self, term: &str) -> Vec<u32> {
        let from = self.terms.partition_point(|t| **t < *term);
        let longer = self.terms[from..].iter().take_while(|t| t.starts_with(term)).count();
        let mut hits: Vec<u32> = (from..from + longer).map(|i| i as u32).collect();
        let ends = term.char_indices().map(|(i, _)| i).skip(WIDEN_FROM);
        hits.extend(ends.filter_map(|end| self.term_id(&term[..end])));
        hits
    }
}
