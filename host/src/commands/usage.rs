//! `/usage`: what a person used, and what is left of the day.

use crate::config::{LimitsConfig, Texts};
use crate::session::Counts;

/// What `/usage` shows.
pub struct Used {
    /// Today.
    pub today: Counts,
    /// The newest 30 days.
    pub month: Counts,
    /// What everybody cost today; for masters.
    pub all: Option<f64>,
}

/// The text.
pub fn usage_text(texts: &Texts, used: &Used, limits: &LimitsConfig) -> String {
    let line = |key: &str, counts: &Counts| {
        let values = [
            ("turns", counts.turns.to_string()),
            ("tokens", counts.tokens().to_string()),
            ("cost", format!("{:.4}", counts.cost_usd)),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        texts.get(key, &values)
    };
    let mut lines = vec![line("usage-today", &used.today), line("usage-month", &used.month)];
    if limits.tokens_per_user_per_day > 0 {
        let left = limits.tokens_per_user_per_day.saturating_sub(used.today.tokens()).to_string();
        let limit = limits.tokens_per_user_per_day.to_string();
        lines.push(texts.get("usage-left", &[("left", &left), ("limit", &limit)]));
    }
    if let Some(all) = used.all {
        lines.push(texts.get("usage-all", &[("cost", &format!("{all:.4}"))]));
        if limits.usd_per_day > 0.0 {
            let left = (limits.usd_per_day - all).max(0.0);
            lines.push(texts.get("usage-cost-left", &[("left", &format!("{left:.4}"))]));
        }
    }
    lines.join("\n")
}
