//! Shapes of the commands that look at or use a bot.

use super::words::*;
use serde_json::{Value, json};

/// Kinds of `list` and the names of their definitions.
pub(super) const KINDS: [(&str, &str); 7] = [
    ("tools", "list-tools"),
    ("skills", "list-skills"),
    ("agents", "list-agents"),
    ("sections", "list-sections"),
    ("hooks", "list-hooks"),
    ("commands", "list-commands"),
    ("plugins", "list-plugins"),
];

pub(super) fn run_line() -> Keys {
    keys([
        ("event", one_of(["starting", "ready", "reload", "endpoint", "stopping", "stopped"])),
        ("at", time()),
        ("generation", opt(count())),
        ("data", opt(map())),
    ])
}

/// The console's own lines: an event and what belongs to it.
pub(super) fn chat_line() -> Keys {
    keys([
        ("event", one_of(["message", "draft", "question", "progress", "outcome"])),
        ("kind", opt(one_of(["answer", "question", "notice"]))),
        ("text", opt(text())),
        ("segments", opt(list(reference("Segment")))),
        ("turn_id", opt(text())),
        ("outcome", opt(one_of(["completed", "failed", "cancelled", "budget_exceeded", "handled"]))),
        ("detail", opt(text())),
    ])
}

fn status_word() -> Value {
    one_of(["completed", "failed", "denied", "needs_approval", "cancelled", "unknown"])
}

pub(super) fn ask() -> Keys {
    let call = table([
        ("call_id", text()),
        ("tool", text()),
        ("owner", opt(text())),
        ("arguments", anything()),
        ("status", status_word()),
        ("error", opt(reference("ToolError"))),
        ("duration_ms", number()),
    ]);
    let question = table([("id", text()), ("kind", text()), ("text", text()), ("answer", opt(text()))]);
    let usage = table([
        ("input_tokens", count()),
        ("output_tokens", count()),
        ("cached_tokens", count()),
        ("cost_usd", opt(number())),
    ]);
    keys([
        ("turn_id", opt(text())),
        ("session_id", opt(text())),
        ("generation", opt(count())),
        ("outcome", one_of(["completed", "failed", "cancelled", "budget_exceeded"])),
        ("detail", opt(text())),
        ("text", text()),
        ("segments", list(reference("Segment"))),
        ("model", opt(text())),
        ("tool_calls", list(call)),
        ("questions", list(question)),
        ("usage", usage),
        ("duration_ms", number()),
    ])
}

pub(super) fn diff() -> Keys {
    let field = table([("field", text()), ("from", anything()), ("to", anything())]);
    let changed = table([("name", text()), ("fields", list(field))]);
    let kind = || table([("added", list(text())), ("removed", list(text())), ("changed", list(changed.clone()))]);
    let setting =
        table([("key", text()), ("class", one_of(["N", "L", "E", "P"])), ("from", anything()), ("to", anything())]);
    keys([
        ("from", text()),
        ("to", text()),
        ("tools", kind()),
        ("skills", kind()),
        ("agents", kind()),
        ("sections", kind()),
        ("hooks", kind()),
        ("commands", kind()),
        ("mcp_servers", kind()),
        ("plugins", kind()),
        ("config", list(setting)),
    ])
}

pub(super) fn doctor() -> Keys {
    let check = table([
        ("id", text()),
        ("status", one_of(["pass", "warn", "fail", "skip"])),
        ("message", text()),
        ("help", opt(text())),
    ]);
    keys([("checks", list(check))])
}

pub(super) fn check() -> Keys {
    let plugin = table([
        ("owner", text()),
        ("version", opt(text())),
        ("status", one_of(["active", "disabled", "failed"])),
        ("hash", text()),
    ]);
    let tool = table([
        ("qualified", text()),
        ("wire", opt(text())),
        ("owner", text()),
        ("local", text()),
        ("placement", placement()),
        ("source", source()),
        ("hidden", flag()),
        ("left_out", flag()),
    ]);
    keys([
        ("counts", table([("error", count()), ("warning", count()), ("info", count())])),
        ("plugins", list(plugin)),
        ("tools", list(tool)),
        ("skills", list(text())),
        ("agents", list(text())),
        ("sections", list(text())),
        ("hooks", list(text())),
        ("commands", list(text())),
        ("mcp_servers", list(text())),
        ("digest", opt(text())),
        ("restart_keys", list(text())),
        ("duration_ms", number()),
    ])
}

fn placement() -> Value {
    one_of(["plugin", "agent", "skill", "agent-skill"])
}

fn source() -> Value {
    one_of(["folder", "setup", "mcp", "builtin"])
}

/// Keys that every kind but `tools` begins with.
fn item_head() -> Vec<(&'static str, Value)> {
    vec![
        ("qualified", text()),
        ("owner", text()),
        ("source", source()),
        ("file", opt(text())),
        ("description", opt(text())),
    ]
}

fn tool_item() -> Vec<(&'static str, Value)> {
    vec![
        ("qualified", text()),
        ("wire", text()),
        ("owner", text()),
        ("local", text()),
        ("placement", placement()),
        ("source", source()),
        ("file", opt(text())),
        ("agent", opt(text())),
        ("skill", opt(text())),
        ("description", text()),
        ("visibility", one_of(["always", "deferred", "hidden"])),
        ("capabilities", opt(list(text()))),
        ("requires_approval", one_of(["never", "on-risk", "once", "always"])),
        ("platforms", list(text())),
        ("scopes", list(text())),
        ("permissions", list(text())),
        ("runtime", text()),
        ("group", text()),
        ("tags", list(text())),
        ("schema_sha256", text()),
        ("input_schema", opt(map())),
        ("admitted", opt(flag())),
        ("reason", opt(text())),
    ]
}

/// `list KIND`.
pub(super) fn list_of(kind: &'static str) -> Keys {
    let mut item = if kind == "tools" { tool_item() } else { item_head() };
    item.extend(match kind {
        "skills" => vec![
            ("agent", opt(text())),
            ("tools", list(text())),
            ("always", flag()),
            ("admitted", opt(flag())),
            ("reason", opt(text())),
        ],
        "agents" => vec![
            ("platforms", list(text())),
            ("tools", list(text())),
            ("skills", list(text())),
            ("auto_select", flag()),
        ],
        "hooks" => vec![
            ("events", list(one_of(["run.started", "run.finished", "tool.before", "tool.after"]))),
            ("level", one_of(["host", "plugin", "agent", "skill"])),
            ("tools", list(text())),
            ("timeout_seconds", number()),
        ],
        "sections" => vec![
            ("title", opt(text())),
            ("layer", text()),
            ("order", number()),
            ("retention", text()),
            ("max_chars", opt(count())),
            ("profiles", list(text())),
            ("platforms", list(text())),
        ],
        "commands" => {
            vec![("aliases", list(text())), ("tool", opt(text())), ("permissions", list(text())), ("hidden", flag())]
        }
        "plugins" => vec![
            ("version", opt(text())),
            ("runtime", opt(text())),
            ("state", one_of(["active", "disabled", "failed"])),
            ("counts", map_of(count())),
        ],
        _ => Vec::new(),
    });
    let item = closed(item.into_iter().map(|(k, v)| (k.to_string(), v)).collect());
    keys([("generation", opt(count())), ("kind", json!({"const": kind})), ("items", list(item))])
}

pub(super) fn explain() -> Keys {
    let subject = table([
        ("platform", text()),
        ("endpoint", text()),
        ("scope", one_of(["private", "group", "channel"])),
        ("scene", text()),
        ("thread", opt(text())),
        ("user_id", text()),
        ("role", opt(one_of(["user", "trusted", "master"]))),
        ("platform_roles", list(text())),
    ]);
    let words = one_of([
        "exists",
        "deny",
        "disabled",
        "hidden",
        "access",
        "platforms",
        "scopes",
        "permission",
        "group",
        "placement",
    ]);
    let check = table([
        ("check", words),
        ("index", opt(count())),
        ("value", anything()),
        ("passed", flag()),
        ("detail", opt(text())),
    ]);
    let because = table([("source", text()), ("value", text()), ("effect", one_of(["allow", "ask", "deny"]))]);
    let approval = table([
        ("decision", one_of(["allow", "ask", "deny"])),
        ("because", list(because)),
        ("approvers", list(text())),
    ]);
    keys([
        ("tool", text()),
        ("owner", text()),
        ("generation", opt(count())),
        ("file", opt(text())),
        ("subject", subject),
        ("checks", list(check)),
        ("admitted", flag()),
        ("reason", opt(text())),
        ("exposure", one_of(["listed", "by_name", "private"])),
        ("unlock", opt(table([("agent", opt(text())), ("skill", opt(text()))]))),
        ("approval", opt(approval)),
    ])
}

pub(super) fn code() -> Keys {
    keys([("code", text()), ("meaning", text()), ("fix", text()), ("example", opt(text()))])
}

pub(super) fn call() -> Keys {
    let artifact = table([
        ("path", text()),
        ("mime_type", text()),
        ("size_bytes", count()),
        ("preview", opt(text())),
        ("text_path", opt(text())),
    ]);
    keys([
        ("tool", text()),
        ("owner", opt(text())),
        ("generation", opt(count())),
        ("status", status_word()),
        ("text", opt(text())),
        ("data", anything()),
        ("error", opt(reference("ToolError"))),
        ("violations", list(table([("path", text()), ("message", text())]))),
        ("artifact", opt(artifact)),
        ("duration_ms", number()),
    ])
}

pub(super) fn test() -> Keys {
    let failure = table([("step", text()), ("expected", anything()), ("actual", anything()), ("message", text())]);
    let case = table([
        ("name", text()),
        ("path", text()),
        ("status", one_of(["passed", "failed", "skipped"])),
        ("duration_ms", number()),
        ("failure", opt(failure)),
    ]);
    keys([("passed", count()), ("failed", count()), ("skipped", count()), ("cases", list(case))])
}
