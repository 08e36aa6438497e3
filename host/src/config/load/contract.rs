//! Keys and values that the contract has and this build has not: refused by name, never ignored.

use crate::config::doc::{Doc, NodeKind};
use crate::config::shape::{Fault, dotted};
use plugin_sdk::Diagnostic;

/// Key paths; `*` is any one name. Everything below a listed path belongs to it.
const KEYS: &[&str] = &[
    "mcp",
    "memory",
    "decision",
    "schedule",
    "subagents",
    "goals",
    "console",
    "network",
    "command",
    "agent.deferred_tools.embeddings",
    "agent.deferred_tools.embeddings_path",
    "agent.deferred_tools.embeddings_base_url",
    "agent.deferred_tools.embeddings_model",
    "agent.deferred_tools.embeddings_api_key",
    "agent.deferred_tools.embeddings_api_key_file",
    "agent.deferred_tools.embeddings_floor",
    "agent.deferred_tools.mcp_servers",
    "limits.inbound_tries",
    "limits.max_pieces",
    "limits.media_in_max_bytes",
    "limits.wasm_memory_mb",
    "limits.retired_libraries",
    "tools.subagent",
    "tools.file",
    "tools.web",
    "reload.run_tests",
    "reload.setup_timeout_seconds",
    "reload.keep_generations",
    "reload.canary_max_seconds",
    "store.dead_days",
    "store.media_days",
    "telemetry.metrics_public",
    "telemetry.otlp_endpoint",
    "telemetry.sample",
    "plugins.grants",
    "plugins.limits",
    "plugins.new_permissions",
];

/// Values of keys that are built.
const VALUES: &[(&str, &str)] = &[("reload.on_broken_plugin", "keep-previous")];

/// Turns the finding about an unknown key or a value outside its list into `bot::not-built` when the contract has it.
pub(super) fn name_unbuilt(faults: &mut [Fault], doc: &Doc) {
    for fault in faults {
        let found = match fault.diagnostic.code.as_str() {
            "bot::unknown-key" => KEYS.iter().any(|k| fits(k, &fault.path)),
            "bot::bad-value" => value_of(doc, &fault.path)
                .is_some_and(|v| VALUES.iter().any(|(key, value)| *value == v && fits(key, &fault.path))),
            _ => false,
        };
        if found {
            let what = dotted(&fault.path);
            let subject = match fault.diagnostic.code.as_str() {
                "bot::bad-value" => format!("this value of `{what}`"),
                _ => format!("`{what}`"),
            };
            let old = &fault.diagnostic;
            let mut d = Diagnostic::error("bot::not-built", format!("{subject} is not part of this build yet"))
                .help("remove it: a setting is never ignored silently");
            d.file.clone_from(&old.file);
            (d.line, d.column, d.end_line, d.end_column) = (old.line, old.column, old.end_line, old.end_column);
            d.source_line.clone_from(&old.source_line);
            fault.diagnostic = d;
        }
    }
}

fn fits(pattern: &str, path: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split('.').collect();
    path.len() == parts.len() && parts.iter().zip(path).all(|(p, have)| *p == "*" || p == have)
}

fn value_of<'d>(doc: &'d Doc, path: &[String]) -> Option<&'d str> {
    let mut node = &doc.root;
    for part in path {
        node = node.get(part)?.1;
    }
    match &node.kind {
        NodeKind::Str(s) => Some(s),
        _ => None,
    }
}
