//! `generations`: what lives, what is leaving, and the records of reloads.

use crate::cli::Generations;
use crate::out::Failure;
use crate::place::Setting;
use crate::show::{items, moment, record_line, short, table, word};
use serde_json::{Value, json};

pub(crate) async fn run(args: &Generations, setting: &Setting) -> Result<u8, Failure> {
    let answer = setting.require(&args.live.dir, "generations", json!({"records": args.records})).await?;
    answer.print("generations", &setting.out, text_of)
}

fn text_of(body: &Value) -> String {
    if !body["items"].is_array() {
        return String::new();
    }
    let headers = ["number", "state", "published", "leases", "oldest", "plugins", "tools", "kept", "digest", "reload"];
    let row = |g: &Value| {
        let age = g["oldest_lease_s"].as_f64().map_or("-".into(), |s| format!("{s:.1} s"));
        vec![
            word(&g["number"]),
            word(&g["state"]),
            moment(&g["published_at"]),
            word(&g["leases"]),
            age,
            word(&g["plugins"]),
            word(&g["tools"]),
            word(&g["kept"]),
            short(&g["digest"]),
            word(&g["reload_id"]),
        ]
    };
    let mut out = table(&headers, &items(&body["items"]).iter().map(row).collect::<Vec<_>>());
    if body["records"].is_array() {
        out.push_str("\nreloads\n");
        for record in items(&body["records"]) {
            out.push_str(&format!("  {}  {}\n", moment(&record["started_at"]), record_line(record)));
            for found in items(&record["diagnostics"]) {
                let place = match (&found["file"], &found["line"]) {
                    (Value::String(file), Value::Number(line)) => format!("{file}:{line}: "),
                    (Value::String(file), _) => format!("{file}: "),
                    _ => String::new(),
                };
                let what = format!("{}[{}]", word(&found["severity"]), word(&found["code"]));
                out.push_str(&format!("    {what} {place}{}\n", word(&found["message"])));
            }
        }
    }
    out
}
