//! Reads Markdown texts, one JSON string a line, and prints the pieces a dialect sends for each, one JSON line a text:
//! `cargo run -p host --example rendered entities 4096 < texts.jsonl`. `tests/interop` feeds them to Telegram's parser.

use anyhow::Context;
use host::render::{Document, Fit};
use plugin_sdk::{AdapterLimits, Dialect, TextUnit};
use std::io::{BufRead, Write};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let dialect: Dialect = serde_json::from_value(arguments.next().context("name a dialect")?.into())?;
    let limit: usize = arguments.next().context("name a limit")?.parse()?;
    let limits = AdapterLimits { entities_max: 100, ..AdapterLimits::text(limit, TextUnit::Utf16) };
    let fit = Fit::message(dialect, &limits, 10_000);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let source: String = serde_json::from_str(&line?)?;
        let split = Document::parse(&source).pieces(&fit);
        let pieces: Vec<_> = split.pieces.iter().map(|p| &p.rich).collect();
        writeln!(out, "{}", serde_json::json!({ "source": source, "pieces": pieces }))?;
    }
    out.flush()?;
    Ok(())
}
