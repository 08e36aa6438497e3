//! The text form of an explanation, made from its JSON: a running host hands out the JSON alone.

use serde_json::Value;

/// Strictness of opinions, weakest first.
const OPINIONS: [&str; 3] = ["allow", "ask", "deny"];

/// The lines of `explain`; what is absent reads as `none`.
pub fn explanation_text(body: &Value) -> String {
    let checks = list(&body["checks"]);
    let mut lines = vec![heading(body), subject_line(&body["subject"])];
    let first: Vec<String> =
        ["exists", "deny", "disabled", "hidden"].iter().filter_map(|name| short(checks, name)).collect();
    lines.push(format!("  {}", first.join("   ")));
    lines.extend(checks.iter().skip(first.len()).map(check_line));
    let admitted = body["admitted"] == true;
    lines.push(if admitted { format!("admitted  {}", text(&body["exposure"])) } else { denied(body, checks) });
    let mut out = lines.join("\n");
    out.push('\n');
    if body["approval"].is_object() {
        out.push_str(&approval_line(&body["approval"], admitted));
    }
    out
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("none")
}

fn joined(value: &Value, none: &str) -> String {
    let words: Vec<&str> = list(value).iter().filter_map(Value::as_str).collect();
    if words.is_empty() { none.into() } else { words.join(", ") }
}

fn heading(body: &Value) -> String {
    let mut line = format!("{}   owner {}", text(&body["tool"]), text(&body["owner"]));
    match body["generation"].as_u64() {
        Some(n) => line.push_str(&format!("   generation {n}")),
        None => line.push_str("   from disk"),
    }
    if let Some(file) = body["file"].as_str() {
        line.push_str(&format!("   {file}"));
    }
    line
}

fn subject_line(subject: &Value) -> String {
    let thread = subject["thread"].as_str().map(|t| format!("#{t}")).unwrap_or_default();
    format!(
        "as {}:{} in {} {}{thread}   host role {}   platform roles {}",
        text(&subject["platform"]),
        text(&subject["user_id"]),
        text(&subject["scope"]),
        text(&subject["scene"]),
        text(&subject["role"]),
        joined(&subject["platform_roles"], "none"),
    )
}

/// The checks that share the third line.
fn short(checks: &[Value], name: &str) -> Option<String> {
    let check = checks.iter().find(|c| c["check"] == name)?;
    let detail = check["detail"].as_str();
    Some(match (name, check["passed"] == true) {
        ("hidden", _) => format!("hidden {}", if detail.is_some() { "yes" } else { "no" }),
        (_, true) => format!("{name} pass"),
        (_, false) => format!("{name} FAIL {}", detail.unwrap_or_default()),
    })
}

fn check_line(check: &Value) -> String {
    let name = text(&check["check"]);
    let label = match check["index"].as_u64() {
        Some(i) => format!("{name} {i}"),
        None => name.to_string(),
    };
    let value = match &check["value"] {
        Value::Array(_) => joined(&check["value"], "all"),
        other => text(other).to_string(),
    };
    if name == "placement" {
        return format!("  {label:<12} {value}");
    }
    let verdict = if check["passed"] == true { "pass" } else { "FAIL" };
    let why = check["detail"].as_str().map(|d| format!("  {d}")).unwrap_or_default();
    format!("  {label:<12} {value:<21} {verdict}{why}")
}

fn denied(body: &Value, checks: &[Value]) -> String {
    let reason = text(&body["reason"]);
    let failed = checks.iter().find(|c| c["passed"] == false);
    let cause = failed.map(|c| if reason == "admission::permit" { &c["value"] } else { &c["detail"] });
    format!("denied  {reason}  {}", cause.and_then(Value::as_str).unwrap_or_default())
}

fn approval_line(approval: &Value, admitted: bool) -> String {
    let head = if admitted { "approval: " } else { "approval if admitted: " };
    let because = list(&approval["because"]);
    let strictness = |b: &Value| OPINIONS.iter().position(|o| b["effect"] == **o);
    let strictest = because.iter().filter_map(strictness).max();
    let mut reasons: Vec<String> = because
        .iter()
        .filter(|b| strictness(b) == strictest)
        .map(|b| match text(&b["source"]) {
            "requires_approval" => text(&b["value"]).to_string(),
            source => format!("{source} = {}", text(&b["value"])),
        })
        .collect();
    let decision = text(&approval["decision"]);
    // the one way to a milder decision than the strictest opinion
    if strictest.is_some_and(|s| OPINIONS[s] != decision) {
        reasons.push("approval.auto_approve_master".into());
    }
    format!("{head}{decision} ({})   approvers {}", reasons.join("; "), joined(&approval["approvers"], ""))
}
