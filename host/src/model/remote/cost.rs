//! The price of a step.

use crate::config::ModelConfig;
use crate::model::Usage;

/// By the prices of the model, per million tokens.
pub(super) fn cost(usage: &Usage, config: &ModelConfig) -> f64 {
    const PER: f64 = 1_000_000.0;
    let cached = usage.cached_read.min(usage.input);
    let price_cached = config.price_cached.unwrap_or(config.price_in);
    let parts = [
        (usage.input - cached) as f64 * config.price_in,
        cached as f64 * price_cached,
        usage.output as f64 * config.price_out,
    ];
    parts.iter().sum::<f64>() / PER
}
