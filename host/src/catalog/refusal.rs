//! Why a name cannot be called or loaded.

use plugin_sdk::ToolError;
use std::sync::Arc;

/// Why a name may not be used here; the qualified name where there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// No such name; at most three admitted ones that are near.
    Unknown {
        /// As it was written.
        name: String,
        /// Nearest first.
        nearest: Vec<String>,
    },
    /// Its full schema was not sent in this step's request; how to get it.
    NotLoaded(Arc<str>, String),
    /// Admission denies it here.
    NotAdmitted(Arc<str>),
    /// Hidden, or private to something that is not active.
    NotListed(Arc<str>),
    /// The conversation knew it, this generation does not.
    Gone(String),
}

impl Refused {
    /// As a result a model sees.
    pub fn error(self) -> ToolError {
        match self {
            Refused::Unknown { name, nearest } => unknown(&name, &nearest),
            Refused::NotLoaded(name, help) => {
                not_allowed(format!("{name} is not loaded"), "not_loaded").retryable().help(help)
            }
            Refused::NotAdmitted(name) => {
                not_allowed(format!("{name} is not available to this person here"), "not_admitted")
            }
            Refused::NotListed(name) => not_allowed(format!("{name} cannot be called by the model"), "not_listed"),
            Refused::Gone(name) => not_allowed(format!("{name} is no longer available"), "gone"),
        }
    }
}

fn not_allowed(message: String, reason: &str) -> ToolError {
    ToolError::new("TOOL_NOT_ALLOWED", message).detail("reason", reason)
}

fn unknown(name: &str, nearest: &[String]) -> ToolError {
    let near = nearest.join(", ");
    let message = if near.is_empty() {
        format!("there is no tool {name}")
    } else {
        format!("there is no tool {name}; nearest: {near}")
    };
    ToolError::new("NOT_FOUND", message).detail("nearest", nearest.to_vec())
}

/// A local name that several owners have.
pub(super) fn several(name: &str, qualified: &[Arc<str>]) -> ToolError {
    let message = format!("{name} is the name of several tools: {}", qualified.join(", "));
    ToolError::new("NOT_FOUND", message).help("load one by its qualified name").detail("names", strings(qualified))
}

fn strings(names: &[Arc<str>]) -> Vec<String> {
    names.iter().map(|n| n.to_string()).collect()
}
