//! The one ranking engine: an immutable inverted index over tools, skills and agents.

mod document;
mod query;
mod terms;

pub use document::{ItemKind, RankItem, RankParam, params_of};
pub use query::{query_terms, terms_of};
pub use terms::{Word, is_cjk, is_generic_word, is_stop_word, stem, words_of};

use query::QueryTerm;
use std::collections::{BTreeMap, HashMap};

/// Position of an item in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(pub u32);

/// What a name hit adds.
const NAME_BONUS: f64 = 100.0;
/// Query terms that have a bit of their own; only the rarest matter for the floor.
const BITS: usize = 64;

/// The index. `N`, document frequencies and lengths never depend on who asks.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    items: Vec<RankItem>,
    /// Position of each item in the order that breaks ties.
    place: Vec<u32>,
    /// Sorted.
    terms: Vec<Box<str>>,
    idf: Vec<f64>,
    /// Per term: item and `idf · tf·2.5 / (tf + …)`, by item.
    postings: Vec<Vec<(u32, f64)>>,
    names: HashMap<String, Vec<u32>>,
    idf_absent: f64,
}

impl Ranking {
    /// Builds it.
    pub fn new(items: Vec<RankItem>) -> Self {
        let mut postings: BTreeMap<String, Vec<(u32, f64)>> = BTreeMap::new();
        let mut lengths = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            // summed in a fixed order: equal items have bit-equal lengths
            let mut weights: Vec<(String, f64)> = document::weights(item).into_iter().collect();
            weights.sort_by(|a, b| a.0.cmp(&b.0));
            lengths.push(weights.iter().map(|(_, w)| w).sum::<f64>());
            for (term, tf) in weights {
                postings.entry(term).or_default().push((i as u32, tf));
            }
        }
        let count = items.len() as f64;
        let average = lengths.iter().sum::<f64>() / count.max(1.0);
        let mut out = Self { idf_absent: idf(count, 0), place: places(&items), ..Self::default() };
        for (term, list) in postings {
            let idf = idf(count, list.len());
            let part = |(i, tf): (u32, f64)| {
                let norm = 1.5 * (0.25 + 0.75 * lengths[i as usize] / average);
                (i, idf * tf * 2.5 / (tf + norm))
            };
            out.postings.push(list.into_iter().map(part).collect());
            out.terms.push(term.into_boxed_str());
            out.idf.push(idf);
        }
        for (i, item) in items.iter().enumerate() {
            for name in [&item.name, &item.qualified, &item.wire] {
                let list = out.names.entry(name.clone()).or_default();
                if list.last() != Some(&(i as u32)) {
                    list.push(i as u32);
                }
            }
        }
        out.items = items;
        out
    }

    /// An item.
    pub fn item(&self, id: ItemId) -> Option<&RankItem> {
        self.items.get(id.0 as usize)
    }

    /// All items with their ids.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &RankItem)> {
        self.items.iter().enumerate().map(|(i, item)| (ItemId(i as u32), item))
    }

    /// The best items that pass `filter`, best first. An unrelated query finds nothing.
    pub fn search(&self, query: &str, filter: impl Fn(ItemId) -> bool, limit: usize) -> Vec<(ItemId, f64)> {
        self.search_counted(query, filter, limit).0
    }

    /// The same, and how many passed: only the best are put in order.
    pub fn search_counted(
        &self,
        query: &str,
        filter: impl Fn(ItemId) -> bool,
        limit: usize,
    ) -> (Vec<(ItemId, f64)>, usize) {
        let mut hits = self.scored(query);
        hits.retain(|(i, _)| filter(ItemId(*i)));
        let passed = hits.len();
        let order = |a: &(u32, f64), b: &(u32, f64)| {
            b.1.total_cmp(&a.1).then_with(|| self.place[a.0 as usize].cmp(&self.place[b.0 as usize]))
        };
        if limit > 0 && limit < hits.len() {
            hits.select_nth_unstable_by(limit - 1, order);
        }
        hits.truncate(limit);
        hits.sort_unstable_by(order);
        (hits.into_iter().map(|(i, score)| (ItemId(i), score)).collect(), passed)
    }

    /// Every item above the floor.
    fn scored(&self, query: &str) -> Vec<(u32, f64)> {
        let mut terms = self.resolve(query);
        // rarest first: a bit set then answers which of the rarest an item lacks
        terms.sort_by(|a, b| b.counts().cmp(&a.counts()).then_with(|| b.idf.total_cmp(&a.idf)));
        let whole: f64 = terms.iter().filter(|t| t.counts()).map(|t| t.idf).sum();
        let mut found = Accumulator::new(self.items.len());
        for (rank, term) in terms.iter().enumerate() {
            self.accumulate(rank, term, &mut found);
        }
        let named = self.names.get(query.trim()).map_or(&[][..], Vec::as_slice);
        let mut out = Vec::new();
        for &i in &found.touched {
            let e = &found.entries[i as usize];
            if named.contains(&i) || (e.specific && self.above_floor(i, e, &terms)) {
                let coverage = if whole > 0.0 { e.matched / whole } else { 0.0 };
                out.push((i, e.sum * (0.5 + 0.5 * coverage)));
            }
        }
        for &i in named {
            match out.iter_mut().find(|(o, _)| *o == i) {
                Some(hit) => hit.1 += NAME_BONUS,
                None => out.push((i, NAME_BONUS)),
            }
        }
        out
    }

    fn accumulate(&self, rank: usize, term: &QueryTerm, found: &mut Accumulator) {
        match term.hits.as_slice() {
            [] => {}
            [one] => {
                for (i, part) in &self.postings[*one as usize] {
                    found.add(*i, term.weight * term.factor * part, rank, term);
                }
            }
            many => {
                let mut best: BTreeMap<u32, f64> = BTreeMap::new();
                for (i, part) in many.iter().flat_map(|t| &self.postings[*t as usize]) {
                    let b = best.entry(*i).or_insert(0.0);
                    *b = b.max(*part);
                }
                for (i, part) in best {
                    found.add(i, term.weight * term.factor * part, rank, term);
                }
            }
        }
    }

    fn above_floor(&self, item: u32, e: &Entry, terms: &[QueryTerm]) -> bool {
        if e.sum >= 0.8 * self.idf_absent {
            return true;
        }
        let missing = terms.iter().enumerate().filter(|(rank, t)| t.counts() && !self.has(item, *rank, t, e.bits));
        let unmatched: f64 = missing.take(3).map(|(_, t)| t.idf).sum();
        e.matched >= 0.5 * (e.matched + unmatched)
    }

    fn has(&self, item: u32, rank: usize, term: &QueryTerm, bits: u64) -> bool {
        if rank < BITS {
            return bits & (1 << rank) != 0;
        }
        term.hits.iter().any(|t| self.postings[*t as usize].binary_search_by_key(&item, |p| p.0).is_ok())
    }
}

fn idf(count: f64, df: usize) -> f64 {
    let df = df as f64;
    (1.0 + (count + 50.0 - df + 0.5) / (df + 0.5)).ln()
}

/// Kind, then qualified name in byte order.
fn places(items: &[RankItem]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|a, b| (items[*a].kind, &items[*a].qualified).cmp(&(items[*b].kind, &items[*b].qualified)));
    let mut place = vec![0; items.len()];
    for (position, i) in order.into_iter().enumerate() {
        place[i] = position as u32;
    }
    place
}

/// What an item has gathered.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    sum: f64,
    /// Sum of the idf of matched terms that count.
    matched: f64,
    /// Matched terms that count, by rank.
    bits: u64,
    /// Some matched term that counts is not generic.
    specific: bool,
    seen: bool,
}

struct Accumulator {
    entries: Vec<Entry>,
    touched: Vec<u32>,
}

impl Accumulator {
    fn new(count: usize) -> Self {
        Self { entries: vec![Entry::default(); count], touched: Vec::new() }
    }

    fn add(&mut self, item: u32, part: f64, rank: usize, term: &QueryTerm) {
        let e = &mut self.entries[item as usize];
        if !e.seen {
            e.seen = true;
            self.touched.push(item);
        }
        e.sum += part;
        if term.counts() {
            e.matched += term.idf;
            e.specific |= !term.generic;
            if rank < BITS {
                e.bits |= 1 << rank;
            }
        }
    }
}
