use super::*;
use serde_json::{Value, json};

fn bot_config(text: &str) -> BotConfig {
    let env = Env::of([("K", "first-key"), ("L", "other-key")]);
    let loaded = load_bot(LoadInput { bot_dir: std::path::Path::new("/nowhere"), text: Some(text), env: &env });
    loaded.config.unwrap()
}

/// The schema of a dotted key.
fn key<'s>(schema: &'s Value, path: &str) -> &'s Value {
    path.split('.').fold(schema, |at, part| match part {
        "*" => &at["additionalProperties"],
        name => &at["properties"][name],
    })
}

#[test]
fn defaults_and_classes_are_those_of_the_contract() {
    let schema = schema_of("bot").unwrap();
    let table = [
        ("bot.language", json!("en"), "L"),
        ("bot.timezone", json!("UTC"), "L"),
        ("bot.data_dir", json!("data"), "P"),
        ("models.*.context_window", json!(128_000), "L"),
        ("models.*.timeout_seconds", json!(120.0), "L"),
        ("models.*.first_byte_seconds", json!(30.0), "L"),
        ("models.*.retries", json!(2), "L"),
        ("models.*.max_tools", json!(128), "L"),
        ("models.*.images", json!(false), "L"),
        ("models.*.fallback", json!([]), "L"),
        ("models.*.defer_loading", json!("auto"), "L"),
        ("models.*.betas", json!(["advanced-tool-use-2025-11-20"]), "L"),
        ("agent.max_iterations", json!(15), "L"),
        ("agent.turn_timeout_seconds", json!(120.0), "L"),
        ("agent.max_parallel_tools", json!(8), "L"),
        ("agent.loop_guard", json!(3), "L"),
        ("agent.system_prompt_max_chars", json!(100_000), "L"),
        ("agent.session_scope", json!("conversation"), "L"),
        ("agent.on_new_message", json!("queue"), "L"),
        ("agent.skills.root", json!(".agents/skills"), "L"),
        ("agent.deferred_tools.form", json!("discover"), "L"),
        ("agent.deferred_tools.max_loaded_per_session", json!(12), "L"),
        ("agent.deferred_tools.max_skills_per_session", json!(5), "L"),
        ("agent.deferred_tools.discover_top_k", json!(5), "L"),
        ("agent.deferred_tools.load_all_below_chars", json!(0), "L"),
        ("access.mode", json!("allowlist"), "N"),
        ("access.masters", json!([]), "N"),
        ("access.stranger_reply", json!(true), "N"),
        ("approval.write_mode", json!("confirm"), "N"),
        ("approval.approvers", json!(["role(trusted)"]), "N"),
        ("approval.timeout_seconds", json!(180), "N"),
        ("approval.max_per_turn", json!(10), "N"),
        ("limits.max_concurrent_turns", json!(16), "L"),
        ("limits.queue_per_conversation", json!(20), "L"),
        ("limits.places_per_principal", json!(2), "L"),
        ("limits.artifacts_max_mb", json!(1024), "L"),
        ("limits.artifact_days", json!(30), "L"),
        ("limits.command_parallel", json!(8), "L"),
        ("limits.shutdown_seconds", json!(8), "L"),
        ("tools.builtin", json!(["human.ask"]), "L"),
        ("tools.deny", json!([]), "N"),
        ("tools.disabled", json!([]), "N"),
        ("tools.override.*.approval", Value::Null, "N"),
        ("tools.override.*.requires_approval", Value::Null, "L"),
        ("tools.max_result_chars", json!(50_000), "L"),
        ("tools.preview_chars", json!(8000), "L"),
        ("tools.preview_mode", json!("head"), "L"),
        ("tools.timeout_seconds", json!(60.0), "L"),
        ("tools.breaker.enabled", json!(false), "L"),
        ("tools.breaker.failure_threshold", json!(3), "L"),
        ("tools.breaker.cooldown_seconds", json!(30.0), "L"),
        ("workspace.root", json!("workspace"), "L"),
        ("workspace.scope", json!("session"), "L"),
        ("reload.watch", json!("auto"), "L"),
        ("reload.settle_ms", json!(200), "L"),
        ("reload.max_settle_ms", json!(2000), "L"),
        ("reload.lease_deadline_seconds", json!(600.0), "L"),
        ("store.flush_every_ms", json!(500), "P"),
        ("store.cache_mb", json!(64), "P"),
        ("store.min_free_mb", json!(200), "L"),
        ("telemetry.log_level", json!("info"), "L"),
        ("plugins.paths", json!(["plugins"]), "L"),
        ("plugins.disabled", json!([]), "N"),
        ("plugins.runtimes", json!(["command", "native", "wasm"]), "L"),
    ];
    for (path, default, class) in table {
        let found = key(&schema, path);
        assert_eq!(found["x-class"], class, "{path}: {found}");
        assert_eq!(found["default"], default, "{path}");
    }
    assert_eq!(key(&schema, "models.*.api_key_file")["type"], "string");
    for kind in schema_kinds() {
        assert!(schema_of(kind).unwrap().is_object());
    }
}

#[test]
fn changes_name_key_class_and_values() {
    let old = bot_config(
        "[bot]\ndata_dir = \"/d\"\n[models.m]\nprovider = \"offline\"\napi_key = \"${K}\"\n[access]\nusers = [\"telegram:1\"]\n",
    );
    let new = bot_config(
        "[models.m]\nprovider = \"offline\"\napi_key = \"${L}\"\n[access]\nusers = []\n[tools.override.\"a b\"]\napproval = \"deny\"\n",
    );
    let found: Vec<Value> = changes(&old, &new).into_iter().map(|c| json!([c.key, c.class, c.from, c.to])).collect();
    assert_eq!(
        found,
        [
            json!(["access.users", "N", ["telegram:1"], []]),
            json!(["bot.data_dir", "P", "/d", "data"]),
            json!(["models.m.api_key", "L", "[redacted]", "[redacted]"]),
            json!(["tools.override.\"a b\".approval", "N", null, "deny"]),
        ]
    );
    assert_eq!(changes(&old, &old), vec![]);
}
