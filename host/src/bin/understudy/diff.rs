//! `diff`: what differs between two generations, the disk, or another folder.

use crate::cli::Diff;
use crate::out::{Failure, OK};
use crate::place::{Request, Setting};
use crate::show::{clean, items, word};
use host::app::StoreKind;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Kinds in the order of the contract; what this build has none of has no difference.
const KINDS: [&str; 8] = ["tools", "skills", "agents", "sections", "hooks", "commands", "mcp_servers", "plugins"];

/// One side.
enum Side {
    /// A generation of the running host; `None` = the active one.
    Generation(Option<u64>),
    /// A folder as it is on disk; `None` = the bot folder itself.
    Folder(Option<PathBuf>),
}

impl Side {
    fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "active" => return Ok(Side::Generation(None)),
            "disk" => return Ok(Side::Folder(None)),
            _ => {}
        }
        if let Ok(number) = text.parse() {
            return Ok(Side::Generation(Some(number)));
        }
        if Path::new(text).is_dir() {
            return Ok(Side::Folder(Some(PathBuf::from(text))));
        }
        let help = "a side is a generation number, `active`, `disk` or a bot folder";
        Err(Failure::usage_with(format!("{text} is no generation and no folder"), help))
    }

    /// Its inventory and how it is called.
    async fn read(&self, dir: &Path, setting: &Setting) -> Result<(String, Value), Failure> {
        let answer = match self {
            Side::Generation(number) => setting.require(dir, "inventory", json!({"generation": number})).await?,
            Side::Folder(other) => {
                let request = Request {
                    dir: other.as_deref().unwrap_or(dir),
                    disk: true,
                    store: StoreKind::Scratch,
                    command: "inventory",
                    args: json!({"generation": null}),
                };
                setting.dispatch(request).await?
            }
        };
        if answer.exit != OK {
            return Err(Failure::diagnostics(answer.exit, answer.diagnostics()));
        }
        let name = match self {
            Side::Generation(_) => word(&answer.body["generation"]),
            Side::Folder(None) => "disk".into(),
            Side::Folder(Some(folder)) => folder.display().to_string(),
        };
        Ok((name, answer.body))
    }
}

pub(crate) async fn run(args: &Diff, setting: &Setting) -> Result<u8, Failure> {
    let (a, b) = (Side::parse(&args.from)?, Side::parse(&args.to)?);
    let (from, old) = a.read(&args.dir, setting).await?;
    let (to, new) = b.read(&args.dir, setting).await?;
    let body = compared(&from, &old, &to, &new);
    let text = text_of(&body);
    setting.out.finish("diff", body, &[], &text)
}

fn compared(from: &str, old: &Value, to: &str, new: &Value) -> Value {
    let mut body = Map::new();
    body.insert("from".into(), json!(from));
    body.insert("to".into(), json!(to));
    for kind in KINDS {
        body.insert(kind.into(), of_kind(&old["kinds"][kind], &new["kinds"][kind]));
    }
    body.insert("config".into(), json!(settings(&old["config"], &new["config"])));
    Value::Object(body)
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn of_kind(old: &Value, new: &Value) -> Value {
    let only = |a: &Value, b: &Value| -> Vec<String> {
        entries(a).filter(|(name, _)| b.get(name.as_str()).is_none()).map(|(name, _)| name.clone()).collect()
    };
    let changed: Vec<Value> = entries(new)
        .filter_map(|(name, to)| {
            let fields = fields(old.get(name.as_str())?, to);
            (!fields.is_empty()).then(|| json!({"name": name, "fields": fields}))
        })
        .collect();
    json!({"added": only(new, old), "removed": only(old, new), "changed": changed})
}

fn fields(from: &Value, to: &Value) -> Vec<Value> {
    let mut keys: Vec<&String> = entries(from).chain(entries(to)).map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    let differs = |key: &&&String| from.get(key.as_str()) != to.get(key.as_str());
    keys.iter()
        .filter(differs)
        .map(|key| json!({"field": key, "from": from.get(key.as_str()), "to": to.get(key.as_str())}))
        .collect()
}

fn settings(old: &Value, new: &Value) -> Vec<Value> {
    let mut keys: Vec<&String> = entries(old).chain(entries(new)).map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    let differs = |key: &&&String| old.get(key.as_str()) != new.get(key.as_str());
    keys.iter()
        .filter(differs)
        .map(|key| {
            let (from, to) = (&old[key.as_str()], &new[key.as_str()]);
            let class = if to.is_null() { &from["class"] } else { &to["class"] };
            json!({"key": key, "class": class, "from": from["value"], "to": to["value"]})
        })
        .collect()
}

fn text_of(body: &Value) -> String {
    let mut out = String::new();
    for kind in KINDS {
        let found = &body[kind];
        let mut lines: Vec<String> = items(&found["added"]).iter().map(|n| format!("  + {}\n", word(n))).collect();
        lines.extend(items(&found["removed"]).iter().map(|n| format!("  - {}\n", word(n))));
        for item in items(&found["changed"]) {
            lines.push(format!("  ~ {}\n", word(&item["name"])));
            lines.extend(items(&item["fields"]).iter().map(|f| line("    ", &f["field"], f)));
        }
        if !lines.is_empty() {
            out.push_str(&format!("{kind}\n{}", lines.concat()));
        }
    }
    if !items(&body["config"]).is_empty() {
        out.push_str("config\n");
        for change in items(&body["config"]) {
            out.push_str(&line(&format!("  [{}] ", word(&change["class"])), &change["key"], change));
        }
    }
    if out.is_empty() {
        out.push_str("no difference\n");
    }
    format!("from {} to {}\n{out}", word(&body["from"]), word(&body["to"]))
}

fn line(lead: &str, name: &Value, change: &Value) -> String {
    format!("{lead}{}: {} -> {}\n", word(name), shown(&change["from"]), shown(&change["to"]))
}

fn shown(value: &Value) -> String {
    if value.is_null() { "-".into() } else { clean(&value.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_equal_is_no_difference() {
        let side = json!({
            "kinds": {"tools": {"a": {"qualified": "a", "group": "g"}}},
            "config": {"agent.loop_guard": {"class": "L", "value": 3, "mark": null}},
        });
        let body = compared("1", &side, "2", &side);
        assert_eq!(text_of(&body), "from 1 to 2\nno difference\n");
    }

    #[test]
    fn fields_names_and_settings_are_told_apart() {
        let old = json!({
            "kinds": {"tools": {"a": {"group": "g"}, "b": {}}},
            "config": {"k": {"class": "L", "value": 1, "mark": null}, "s": {"class": "P", "value": "x", "mark": "1"}},
        });
        let new = json!({
            "kinds": {"tools": {"a": {"group": "h"}, "c": {}}},
            "config": {"k": {"class": "L", "value": 2, "mark": null}, "s": {"class": "P", "value": "x", "mark": "2"}},
        });
        let body = compared("1", &old, "disk", &new);
        assert_eq!(body["tools"]["added"], json!(["c"]));
        assert_eq!(body["tools"]["removed"], json!(["b"]));
        assert_eq!(
            body["tools"]["changed"],
            json!([{"name": "a", "fields": [{"field": "group", "from": "g", "to": "h"}]}])
        );
        assert_eq!(body["config"][0], json!({"key": "k", "class": "L", "from": 1, "to": 2}));
        assert_eq!(body["config"][1]["key"], "s");
    }
}
