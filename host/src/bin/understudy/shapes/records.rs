//! Shapes of a running host's state, and the definitions that several shapes share.

use super::words::*;
use host::config::schema_of;
use serde_json::{Map, Value, json};

fn generation_item() -> Value {
    table([
        ("number", count()),
        ("digest", text()),
        ("state", one_of(["active", "canary", "retired", "disposing", "disposed", "quarantined"])),
        ("kept", flag()),
        ("published_at", time()),
        ("leases", count()),
        ("oldest_lease_s", opt(number())),
        ("plugins", count()),
        ("tools", count()),
        ("reload_id", text()),
    ])
}

pub(super) fn generations() -> Keys {
    keys([("active", count()), ("items", list(generation_item())), ("records", opt(list(reference("ReloadRecord"))))])
}

pub(super) fn status() -> Keys {
    let named = |name: &'static str| table([(name, text()), ("state", text())]);
    let generation = table([
        ("active", opt(count())),
        ("canary", opt(count())),
        ("held", flag()),
        ("waiting_for_drain", flag()),
        ("digest", opt(text())),
        ("published_at", opt(time())),
    ]);
    let desired = table([
        ("digest", opt(text())),
        ("differs", flag()),
        ("keys", list(text())),
        ("endpoints_needing_restart", list(text())),
        ("restart_keys", list(text())),
        ("last_reload", opt(reference("ReloadRecord"))),
    ]);
    let service = table([("name", one_of(["command", "web", "decision"])), ("state", text()), ("detail", opt(text()))]);
    keys([
        ("version", text()),
        ("pid", count()),
        ("started_at", time()),
        ("bot", text()),
        ("ready", flag()),
        ("reasons", list(table([("code", text()), ("detail", opt(text()))]))),
        ("generation", generation),
        ("desired", desired),
        ("endpoints", list(endpoint())),
        ("mcp", list(map())),
        ("models", list(named("name"))),
        ("services", list(service)),
        ("native", table([("active", count()), ("retired", count()), ("retired_bytes", count())])),
        ("quarantined", list(text())),
        ("turns", table([("running", count()), ("queued", count())])),
        ("inbox", table([("pending", count()), ("dead", count())])),
        ("outbox", table([("pending", count()), ("failed", count()), ("unknown", count())])),
        ("approvals_pending", count()),
        ("schedules_next_at", opt(time())),
        ("store", table([("bytes", count()), ("free_bytes", opt(count())), ("state", text())])),
        ("watch", list(named("root"))),
    ])
}

fn endpoint() -> Value {
    table([
        ("id", text()),
        ("platform", text()),
        ("state", one_of(["starting", "up", "degraded", "down", "stopped"])),
        ("required", flag()),
        ("since", opt(time())),
        ("last_ok_at", opt(time())),
        ("round_trip_ms", opt(number())),
        ("detail", opt(text())),
        ("needs_restart", flag()),
    ])
}

fn reload_record() -> Value {
    let outcome = one_of(["published", "rejected", "unchanged", "restart_required"]);
    let plan = one_of(["slot", "subtree", "topology", "restart", "nothing"]);
    let change = table([("added", list(text())), ("removed", list(text())), ("changed", list(text()))]);
    table([
        ("id", text()),
        ("triggers", list(text())),
        ("requested_by", opt(reference("Principal"))),
        ("started_at", time()),
        ("duration_ms", number()),
        ("steps", map_of(number())),
        ("from", opt(count())),
        ("to", opt(count())),
        ("outcome", outcome),
        ("policy_applied", flag()),
        ("failed_step", opt(text())),
        ("plan", opt(plan)),
        ("owners", list(text())),
        ("changes", map_of(change)),
        ("plugins_reused", anything()),
        ("plugins_rebuilt", anything()),
        ("kept", list(anything())),
        ("failed", list(anything())),
        ("settling", list(text())),
        ("files_read", count()),
        ("bytes_copied", count()),
        ("tests", opt(table([("run", count()), ("failed", count())]))),
        ("permissions_widened", list(anything())),
        ("endpoints_restarted", list(text())),
        ("restart_keys", list(text())),
        ("digest_before", opt(text())),
        ("digest_after", opt(text())),
        ("canary", anything()),
        ("rollback_of", opt(count())),
        ("diagnostics", list(reference("Diagnostic"))),
        ("drained_at", opt(time())),
        ("disposed_at", opt(time())),
        ("turns_cancelled", opt(count())),
        ("quarantined", list(text())),
    ])
}

/// What several shapes refer to.
pub(super) fn definitions() -> Map<String, Value> {
    let mut all = Map::new();
    for (kind, name) in [("message", "Message"), ("diagnostic", "Diagnostic")] {
        let Some(Value::Object(mut schema)) = schema_of(kind) else { continue };
        if let Some(Value::Object(inner)) = schema.remove("$defs") {
            all.extend(inner);
        }
        schema.remove("$schema");
        all.insert(name.into(), Value::Object(schema));
    }
    for definition in all.values_mut() {
        close(definition);
    }
    all.insert("ReloadRecord".into(), reload_record());
    let error = table([
        ("code", text()),
        ("message", text()),
        ("help", opt(text())),
        ("retryable", flag()),
        ("details", anything()),
    ]);
    all.insert("ToolError".into(), error);
    all
}

/// Closes every object that has properties and no alternatives of its own.
fn close(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    let alternatives = ["oneOf", "anyOf", "allOf"].iter().any(|k| map.contains_key(*k));
    let names: Option<Vec<String>> =
        map.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect());
    if let (Some(names), false) = (names, alternatives) {
        map.insert("required".into(), json!(names));
        map.insert("additionalProperties".into(), json!(false));
    }
    for value in map.values_mut() {
        match value {
            Value::Object(_) => close(value),
            Value::Array(list) => list.iter_mut().for_each(close),
            _ => {}
        }
    }
}
