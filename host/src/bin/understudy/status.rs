//! `status`: the running host in a few lines.

use crate::cli::Status;
use crate::out::{Failure, OK, REFUSED};
use crate::place::Setting;
use crate::show::{clean, items, moment, record_line, rows, short, table, word};
use serde_json::{Value, json};

pub(crate) async fn run(args: &Status, setting: &Setting) -> Result<u8, Failure> {
    let mut answer = setting.require(&args.live.dir, "status", json!({})).await?;
    if args.ready && answer.exit == OK && answer.body["ready"] != true {
        answer.exit = REFUSED;
    }
    let ready = args.ready;
    answer.print("status", &setting.out, |body| if ready { ready_line(body) } else { text_of(body) })
}

fn ready_line(body: &Value) -> String {
    let state = if body["ready"] == true { "ready" } else { "not ready" };
    let reasons = items(&body["reasons"]).iter().map(|r| format!("{}  {}\n", word(&r["code"]), word(&r["detail"])));
    format!("{state}\n{}", reasons.collect::<String>())
}

fn text_of(body: &Value) -> String {
    if body["pid"].is_null() {
        return String::new();
    }
    let (generation, desired) = (&body["generation"], &body["desired"]);
    let mut out = format!(
        "{}   version {}   pid {}   since {}\n",
        word(&body["bot"]),
        word(&body["version"]),
        word(&body["pid"]),
        moment(&body["started_at"]),
    );
    out.push_str(&ready_line(body));
    let left_out = items(&body["reasons"]).iter().any(|r| r["code"] == "left-out");
    let unwatched = items(&body["watch"]).iter().any(|w| w["state"] == "off");
    let state = match (desired["differs"] == true, left_out, unwatched) {
        (true, ..) => "differs from disk",
        (_, true, _) => "as on disk, without what is broken",
        (_, _, true) => "as last read from disk",
        _ => "as on disk",
    };
    out.push_str(&format!(
        "generation {}   {state}   digest {}   published {}\n",
        word(&generation["active"]),
        short(&generation["digest"]),
        moment(&generation["published_at"]),
    ));
    for (key, what) in [("keys", "changed on disk"), ("restart_keys", "need a restart of the process")] {
        if !items(&desired[key]).is_empty() {
            out.push_str(&format!("{what}: {}\n", word(&desired[key])));
        }
    }
    if desired["last_reload"].is_object() {
        out.push_str(&format!("{}\n", record_line(&desired["last_reload"])));
        for found in items(&desired["last_reload"]["diagnostics"]) {
            let place = match (found["file"].as_str(), found["line"].as_u64()) {
                (Some(file), Some(line)) => format!(" ({}:{line}:{})", clean(file), word(&found["column"])),
                (Some(file), None) => format!(" ({})", clean(file)),
                _ => String::new(),
            };
            out.push_str(&format!("  {}: {}{place}\n", word(&found["code"]), word(&found["message"])));
            if let Some(help) = found["help"].as_str() {
                out.push_str(&format!("    help: {}\n", clean(help)));
            }
        }
    }
    out.push_str(&format!(
        "turns {} running, {} queued   inbox {} pending, {} dead   outbox {} pending, {} failed   approvals {}\n",
        word(&body["turns"]["running"]),
        word(&body["turns"]["queued"]),
        word(&body["inbox"]["pending"]),
        word(&body["inbox"]["dead"]),
        word(&body["outbox"]["pending"]),
        word(&body["outbox"]["failed"]),
        word(&body["approvals_pending"]),
    ));
    out.push_str(&format!("store {} bytes, {}\n", word(&body["store"]["bytes"]), word(&body["store"]["state"])));
    for (title, key, keys) in [
        ("endpoints", "endpoints", &["id", "state", "required", "round_trip_ms", "detail"][..]),
        ("models", "models", &["name", "state"][..]),
        ("watched folders", "watch", &["root", "state"][..]),
    ] {
        if !items(&body[key]).is_empty() {
            out.push_str(&format!("\n{title}\n{}", table(keys, &rows(&body[key], keys))));
        }
    }
    if !items(&body["quarantined"]).is_empty() {
        out.push_str(&format!("\nquarantined: {}\n", word(&body["quarantined"])));
    }
    out
}
