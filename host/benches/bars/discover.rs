//! `discover` against a bare BM25 of the same query over the same texts.

use crate::admission::facts;
use crate::measure::pair;
use crate::table::{Bar, Probe, Table};
use crate::tools::{Texts, tool};
use host::admission::LivePolicy;
use host::catalog::{Admitted, CatalogInput, Controller, DiscoverQuery};
use host::config::BotConfig;
use host::index::{Indexes, Parts, build, is_cjk, stem, terms_of};
use host::session::LoadedSnapshot;
use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// Name, query, and what of it a bare BM25 can look up.
const QUERIES: [(&str, &str, &str); 6] = [
    ("short English", "weather in paris", "weather in paris"),
    ("long English", "convert currency report for the city please", "convert currency report for the city please"),
    ("widened English", "weatherman translating", "weather translating"),
    ("one Chinese run", "天气查询", "天气查询"),
    ("three Chinese runs", "北京 天气 预报", "北京 天气 预报"),
    ("mixed", "github 天气 issue", "github 天气 issue"),
];
const HITS: usize = 5;

/// Names and descriptions, for the index and for the probe.
fn texts(count: usize) -> Vec<(String, String)> {
    let mut texts = Texts::new();
    (0..count).map(|i| (format!("tool-{i}"), texts.words(14))).collect()
}

fn controller(texts: &[(String, String)]) -> Controller {
    let bot = BotConfig::default();
    let contributions = texts.iter().map(|(name, about)| tool(name, about, String::new())).collect();
    let parts = Parts {
        contributions,
        left_out: Vec::new(),
        inactive: Vec::new(),
        skills: Vec::new(),
        sections: Vec::new(),
        agents: Vec::new(),
        hooks: Vec::new(),
        commands: Vec::new(),
        agents_md: Vec::new(),
        bot: &bot,
        bot_doc: None,
    };
    let (indexes, found) = build(parts);
    let Some(indexes) = indexes else { panic!("{found:#?}") };
    let indexes: Arc<Indexes> = Arc::new(indexes);
    let admitted = Admitted::judge(&indexes, &facts(), &LivePolicy::default());
    Controller::new(CatalogInput {
        indexes,
        admitted,
        bot: &bot,
        snapshot: &LoadedSnapshot::default(),
        mentioned: HashSet::new(),
        max_tools: usize::MAX,
        can_ask: true,
        agent: None,
    })
}

/// Textbook BM25: cut, stem, look up, add, take the best. No weights, stop words, floor, widening, admission or text.
struct Bare {
    postings: HashMap<String, Vec<(u32, f32)>>,
    docs: usize,
}

impl Bare {
    fn new(texts: &[(String, String)]) -> Self {
        let docs: Vec<Vec<String>> = texts.iter().map(|(name, about)| terms_of(&format!("{name} {about}"))).collect();
        let average = docs.iter().map(Vec::len).sum::<usize>() as f32 / docs.len() as f32;
        let mut df: HashMap<&str, f32> = HashMap::new();
        docs.iter().flatten().for_each(|t| *df.entry(t).or_default() += 1.0);
        let mut postings: HashMap<String, Vec<(u32, f32)>> = HashMap::new();
        for (i, doc) in docs.iter().enumerate() {
            let norm = 1.5 * (0.25 + 0.75 * doc.len() as f32 / average);
            for term in doc {
                let idf = (1.0 + (docs.len() as f32 - df[term.as_str()] + 0.5) / (df[term.as_str()] + 0.5)).ln();
                postings.entry(term.clone()).or_default().push((i as u32, idf * 2.5 / (1.0 + norm)));
            }
        }
        Self { postings, docs: docs.len() }
    }

    fn search(&self, query: &str) -> Vec<(u32, f32)> {
        let mut scores = vec![0f32; self.docs];
        let mut touched = Vec::new();
        for term in query.split_whitespace().flat_map(cut) {
            for (doc, part) in self.postings.get(&term).map_or(&[][..], Vec::as_slice) {
                let score = &mut scores[*doc as usize];
                if *score == 0.0 {
                    touched.push(*doc);
                }
                *score += part;
            }
        }
        let mut found: Vec<(u32, f32)> = touched.into_iter().map(|d| (d, scores[d as usize])).collect();
        let best = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1);
        if found.len() > HITS {
            found.select_nth_unstable_by(HITS, best);
            found.truncate(HITS);
        }
        found.sort_unstable_by(best);
        found
    }
}

/// The stem of a word; a Chinese run as its pairs and its characters, as the index holds them.
fn cut(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    if chars.first().is_none_or(|c| !is_cjk(*c)) {
        return vec![stem(&word.to_lowercase()).to_string()];
    }
    let pairs = chars.windows(2).map(|p| p.iter().collect());
    pairs.chain(chars.iter().map(char::to_string)).collect()
}

pub(crate) fn rows(table: &mut Table) {
    for count in [1_000, 10_000] {
        let texts = texts(count);
        let (controller, bare) = (controller(&texts), Bare::new(&texts));
        for (name, query, bare_query) in QUERIES {
            let ask = DiscoverQuery { query: query.into(), ..DiscoverQuery::default() };
            let (took, probe) = pair(
                || controller.discover(black_box(&ask)).expect("an answer"),
                || bare.search(black_box(bare_query)),
            );
            let probe = Probe { name: "a bare BM25 of the same query", took: probe };
            let bars = [Bar::Time(Duration::from_micros(200)), Bar::Times(5.0)];
            table.ratio(&format!("{count} tools, {name}"), took, probe, &bars);
        }
    }
}
