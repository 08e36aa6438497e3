//! The circuit breaker: a tool that failed several times in a row rests, then one call tries it again.

use crate::index::Tool;
use plugin_sdk::ToolError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Failures of a body that say something about its health. `COMMAND_FAILED` is what a program's failure
/// without a code of its own is called.
const COUNTED: [&str; 9] = [
    "EXECUTION_ERROR",
    "COMMAND_FAILED",
    "TOOL_TIMEOUT",
    "PLUGIN_PANICKED",
    "PLUGIN_CRASHED",
    "PLUGIN_UNHEALTHY",
    "WASM_TRAP",
    "MEMORY_LIMIT",
    "MCP_CALL_FAILED",
];

/// What a body's end says about its health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Health {
    /// It answered, be it with an error of its own.
    Sound,
    /// It failed; the code.
    Failed(String),
    /// Nothing: it was stopped from outside.
    Unknown,
}

impl Health {
    /// Of a body that came to a result by itself.
    pub(super) fn of(error: Option<&ToolError>) -> Self {
        match error.map(|e| e.code.as_str()) {
            Some("CANCELLED" | "OUTCOME_UNKNOWN") => Self::Unknown,
            Some(code) if COUNTED.contains(&code) => Self::Failed(code.to_string()),
            _ => Self::Sound,
        }
    }
}

/// Qualified name and digest of the code behind it: other code starts anew.
type Key = (Arc<str>, String);

#[derive(Default)]
struct Circuit {
    /// Failures in a row.
    failures: u32,
    last_code: String,
    /// When it opened; `None` while calls go through.
    opened: Option<Duration>,
    /// The one call that tries it again is under way.
    probing: bool,
}

/// Counts consecutive failures per tool. Clones and siblings share their counts.
#[derive(Clone)]
pub struct CircuitBreaker {
    threshold: u32,
    cooldown: Duration,
    circuits: Arc<Mutex<HashMap<Key, Circuit>>>,
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self::new(3, 30.0)
    }
}

impl CircuitBreaker {
    /// Opens after `failure_threshold` failures in a row (at least 1) for `cooldown_seconds`; a pause that is no
    /// time is the default of 30 seconds.
    pub fn new(failure_threshold: u32, cooldown_seconds: f64) -> Self {
        Self { threshold: failure_threshold.max(1), cooldown: pause(cooldown_seconds), circuits: Arc::default() }
    }

    /// Other numbers over the same counts: those of a host go on over its reloads.
    #[must_use]
    pub fn sibling(&self, failure_threshold: u32, cooldown_seconds: f64) -> Self {
        let circuits = Arc::clone(&self.circuits);
        Self { circuits, ..Self::new(failure_threshold, cooldown_seconds) }
    }

    /// Lets a call through, or says why not.
    pub(super) fn admit(&self, tool: &Tool, now: Duration) -> Result<Pass, ToolError> {
        let key = (Arc::clone(&tool.qualified), tool.from.code_digest.clone());
        let mut circuits = self.circuits();
        let probe = match circuits.get_mut(&key) {
            Some(circuit) => match circuit.opened {
                Some(at) => {
                    let rested = now.saturating_sub(at);
                    if circuit.probing || rested < self.cooldown {
                        return Err(open(&key.0, circuit, self.cooldown.saturating_sub(rested)));
                    }
                    circuit.probing = true;
                    true
                }
                None => false,
            },
            None => false,
        };
        drop(circuits);
        Ok(Pass { breaker: self.clone(), key, probe, noted: false })
    }

    fn circuits(&self) -> MutexGuard<'_, HashMap<Key, Circuit>> {
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, key: &Key, probe: bool, health: Health, now: Duration) {
        let mut circuits = self.circuits();
        match health {
            Health::Unknown => {
                if let (true, Some(circuit)) = (probe, circuits.get_mut(key)) {
                    circuit.probing = false;
                }
            }
            // A call from before it opened says nothing about now: only the probe closes it.
            Health::Sound if probe || circuits.get(key).is_some_and(|c| c.opened.is_none()) => {
                circuits.remove(key);
            }
            Health::Sound => {}
            Health::Failed(code) => self.failed(&mut circuits, key, probe, code, now),
        }
    }

    fn failed(&self, circuits: &mut HashMap<Key, Circuit>, key: &Key, probe: bool, code: String, now: Duration) {
        // Older code of the same tool is not called again.
        circuits.retain(|(name, digest), c| *name != key.0 || *digest == key.1 || c.probing);
        let circuit = circuits.entry(key.clone()).or_default();
        circuit.failures = circuit.failures.saturating_add(1);
        circuit.last_code = code;
        if probe {
            circuit.probing = false;
            circuit.opened = Some(now);
        } else if circuit.opened.is_none() && circuit.failures >= self.threshold {
            circuit.opened = Some(now);
            tracing::warn!(tool = %key.0, code = %circuit.last_code, failures = circuit.failures, "a tool rests after failures");
        }
    }
}

fn pause(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(30))
}

fn open(name: &str, circuit: &Circuit, left: Duration) -> ToolError {
    let message = if left.is_zero() {
        format!("`{name}` failed {} times in a row and is being tried again by another call", circuit.failures)
    } else {
        format!("`{name}` failed {} times in a row and rests for {} s more", circuit.failures, left.as_secs().max(1))
    };
    ToolError::new("CIRCUIT_OPEN", message)
        .retryable()
        .detail("last_error_code", circuit.last_code.as_str())
        .detail("failures", circuit.failures)
}

/// A call that was let through. Dropped without a note it has said nothing, and a probe can be tried again.
pub(super) struct Pass {
    breaker: CircuitBreaker,
    key: Key,
    probe: bool,
    noted: bool,
}

impl Pass {
    /// How the body ended.
    pub(super) fn note(mut self, health: Health, now: Duration) {
        self.noted = true;
        self.breaker.note(&self.key, self.probe, health, now);
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if !self.noted {
            self.breaker.note(&self.key, self.probe, Health::Unknown, Duration::ZERO);
        }
    }
}
