//! One query over 10,000 tools. The bar of the contract: 200 µs.

use host::index::{ItemKind, RankItem, RankParam, Ranking};

fn main() {
    divan::main();
}

const WORDS: [&str; 24] = [
    "weather",
    "mail",
    "city",
    "convert",
    "currency",
    "github",
    "issue",
    "create",
    "search",
    "vector",
    "music",
    "play",
    "lamp",
    "door",
    "open",
    "report",
    "image",
    "resize",
    "translate",
    "天气",
    "检索",
    "北京",
    "预报",
    "查询",
];

/// Texts with a few frequent words and many rare ones, the same at every run.
struct Texts(u64);

impl Texts {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn words(&mut self, count: usize) -> String {
        let word = |n: u64| match n % 3000 {
            k @ 0..600 => WORDS[k as usize % WORDS.len()].to_string(),
            k => format!("word{k}"),
        };
        (0..count).map(|_| word(self.next())).collect::<Vec<_>>().join(" ")
    }
}

fn ranking() -> Ranking {
    let mut texts = Texts(12345);
    let items = (0..10_000).map(|i| RankItem {
        kind: ItemKind::Tool,
        name: format!("{}-{i}", texts.words(2).replace(' ', "-")),
        qualified: format!("p__{i}"),
        wire: format!("p__{i}"),
        tags: vec![texts.words(1), texts.words(1)],
        group: "core".into(),
        description: texts.words(12),
        params: vec![RankParam { name: "city".into(), description: texts.words(3), values: Vec::new() }],
    });
    Ranking::new(items.collect())
}

#[divan::bench(args = [
    "weather in paris", "convert currency report for the city please", "天气查询", "北京 天气 预报",
    "open a github issue", "weatherman translating", "core",
])]
fn query(bencher: divan::Bencher<'_, '_>, text: &str) {
    let ranking = ranking();
    bencher.bench(|| ranking.search(divan::black_box(text), |_| true, 5));
}
