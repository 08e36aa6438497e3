//! `list`: one table per kind.

use crate::ask::subject;
use crate::cli::List;
use crate::out::Failure;
use crate::place::{Request, Setting};
use crate::show::{items, rows, table, word};
use host::app::StoreKind;
use serde_json::{Value, json};

pub(crate) async fn run(args: &List, setting: &Setting) -> Result<u8, Failure> {
    let request = Request {
        dir: &args.place.dir,
        disk: args.place.disk,
        store: StoreKind::Scratch,
        command: "list",
        args: json!({"kind": args.kind, "subject": subject(&args.subject), "schema": args.schema}),
    };
    let (admission, schema) = (args.subject.subject.is_some(), args.schema);
    let answer = setting.dispatch(request).await?;
    answer.print("list", &setting.out, |body| text_of(body, admission, schema))
}

/// The columns of a kind, the description last.
fn columns(kind: &str) -> &'static [&'static str] {
    match kind {
        "skills" => &["qualified", "owner", "always", "tools", "description"],
        "agents" => &["qualified", "owner", "platforms", "auto_select", "description"],
        "hooks" => &["qualified", "owner", "level", "events", "tools"],
        "sections" => &["qualified", "owner", "layer", "order", "retention", "title"],
        "commands" => &["qualified", "owner", "tool", "description"],
        "plugins" => &["qualified", "version", "state", "description"],
        _ => &["qualified", "owner", "visibility", "requires_approval", "description"],
    }
}

fn text_of(body: &Value, admission: bool, schema: bool) -> String {
    let Some(kind) = body["kind"].as_str() else { return String::new() };
    let mut keys = columns(kind).to_vec();
    if admission && matches!(kind, "tools" | "skills") {
        keys.insert(keys.len() - 1, "admitted");
        keys.insert(keys.len() - 1, "reason");
    }
    let headers: Vec<&str> = keys.iter().map(|k| if *k == "qualified" { "name" } else { *k }).collect();
    let headers: Vec<String> = headers.iter().map(|h| h.replace("requires_approval", "approval")).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let mut out = table(&headers, &rows(&body["items"], &keys));
    if schema {
        for item in items(&body["items"]) {
            let shown = serde_json::to_string_pretty(&item["input_schema"]).unwrap_or_default();
            out.push_str(&format!("\n{}\n{shown}\n", word(&item["qualified"])));
        }
    }
    out
}
