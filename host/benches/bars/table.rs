//! The printed table.

use std::time::Duration;

/// What a row has to keep.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    /// At most so long.
    Time(Duration),
    /// At most so many times the probe.
    Times(f64),
}

/// Rows as they come, and which of them missed a bar.
pub(crate) struct Table {
    bars: usize,
    missed: Vec<String>,
}

/// What a row is compared with.
pub(crate) struct Probe<'a> {
    pub(crate) name: &'a str,
    pub(crate) took: Duration,
}

impl Table {
    pub(crate) fn new() -> Self {
        println!("{:<52} {:>10}   {:>10} {:>8}   {:<24} probe", "what", "measured", "probe", "ratio", "bars");
        Self { bars: 0, missed: Vec::new() }
    }

    pub(crate) fn part(&mut self, name: &str) {
        println!("\n{name}");
    }

    /// A measurement without a bar or a probe.
    pub(crate) fn plain(&mut self, what: &str, shown: &str) {
        println!("  {what:<50} {shown:>10}");
    }

    /// A time without a probe.
    pub(crate) fn time(&mut self, what: &str, took: Duration, bars: &[Bar]) {
        self.row(what, took, None, bars);
    }

    /// A time beside its probe.
    pub(crate) fn ratio(&mut self, what: &str, took: Duration, probe: Probe<'_>, bars: &[Bar]) {
        self.row(what, took, Some(probe), bars);
    }

    fn row(&mut self, what: &str, took: Duration, probe: Option<Probe<'_>>, bars: &[Bar]) {
        let ratio = probe.as_ref().map(|p| took.as_secs_f64() / p.took.as_secs_f64().max(1e-12));
        let mut verdicts = Vec::new();
        for bar in bars {
            self.bars += 1;
            let (kept, shown) = match bar {
                Bar::Time(most) => (took <= *most, format!("≤ {}", short(*most))),
                Bar::Times(most) => (ratio.is_some_and(|r| r <= *most), format!("≤ {most}×")),
            };
            verdicts.push(format!("{shown} {}", if kept { "ok" } else { "MISSED" }));
            if !kept {
                self.missed.push(format!("{what}: {shown}"));
            }
        }
        let (probe_took, name) = probe.as_ref().map_or((String::new(), ""), |p| (short(p.took), p.name));
        let ratio = ratio.map_or_else(String::new, |r| format!("{r:.2}×"));
        let verdicts = verdicts.join(", ");
        println!("  {what:<50} {:>10}   {probe_took:>10} {ratio:>8}   {verdicts:<24} {name}", short(took));
    }

    pub(crate) fn summary(&self) {
        println!("\n{} of {} bars kept", self.bars - self.missed.len(), self.bars);
        self.missed.iter().for_each(|m| println!("missed: {m}"));
    }
}

/// Three digits and a unit.
fn short(d: Duration) -> String {
    let ns = d.as_nanos() as f64;
    let (value, unit) = match ns {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}
