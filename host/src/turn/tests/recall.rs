use super::fixture::{Table, calling, codes, plugin_tools, text};
use crate::model::{ModelMessage, ModelRequest};
use crate::session::SessionKey;
use crate::tools::testing::{World, facts};
use async_trait::async_trait;
use plugin_sdk::{Approval, Callable, ContentBlock, Role, Scope, ToolDef, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const KEY: &str = "telegram/main/private/-100";

struct Book;

#[async_trait]
impl Callable for Book {
    async fn call(&self, _input: Map<String, Value>, _cx: &ToolExecutionContext) -> ToolResult {
        ToolResult::text((0..3_000).map(|n| format!("page{n} ")).collect::<String>())
    }
}

fn world() -> World {
    let mut book = ToolDef::new("A book").requires_approval(Approval::Never).capabilities([]);
    book.options.always_loaded = true;
    World::new()
        .shaped("db", "query", "Ask the books", |d| {
            d.options.always_loaded = true;
            d.options.permissions = vec!["role(master)".into()];
        })
        .running("lab", "book", book, Arc::new(Book))
        .configured(|b| {
            let names = ["ask_user", "discover", "load_tool", "load_skill", "context_read", "context_search"];
            b.agent.deferred_tools.always_loaded_tools = Some(names.iter().map(|n| n.to_string()).collect());
        })
}

fn results(request: &ModelRequest) -> Vec<(String, Value)> {
    let of = |m: &ModelMessage| match m {
        ModelMessage::Tool { content, data, .. } => {
            let text = content.iter().find_map(|b| match b {
                ContentBlock::Text { text } => Some(text.clone()),
                ContentBlock::Image { .. } => None,
            });
            Some((text.unwrap_or_default(), data.clone()))
        }
        _ => None,
    };
    request.messages.iter().filter_map(of).collect()
}

async fn position_of(table: &Table, role: &str, nth: usize) -> u64 {
    let history = table.sessions().history(&SessionKey::from_text(KEY)).await.unwrap();
    history.iter().filter(|e| e.role() == role).nth(nth).unwrap().n
}

/// Runs one call and gives its result as the model saw it.
async fn call(table: &Table, who: &crate::admission::Facts, name: &str, args: Value) -> (String, Value) {
    let (report, requests) = table.run(who, "look it up", vec![calling(&[("z", name, args)]), text("ok")]).await;
    assert_eq!(report.tool_calls.len(), 1, "{report:?}");
    results(requests.last().unwrap()).pop().unwrap()
}

#[tokio::test]
async fn a_master_result_is_not_available_to_a_member_in_view_read_and_search() {
    let table = Table::new(world());
    let (master, member) = (facts("1", Role::Master, Scope::Group), facts("2", Role::User, Scope::Group));
    table.run(&master, "sums?", vec![calling(&[("a", "db__query", json!({"city": "s3cret"}))]), text("done")]).await;
    let reference = format!("result:{}:0", position_of(&table, "tool", 0).await);
    let hidden = "[result of db__query: not available to this person]";
    for representation in ["text", "raw"] {
        let args = json!({"ref": reference, "representation": representation});
        let (said, data) = call(&table, &member, "context_read", args).await;
        assert!(said.contains(hidden) && data["content"] == hidden && !said.contains("s3cret"), "{said}");
    }
    let (said, data) = call(&table, &member, "context_search", json!({"query": "city"})).await;
    assert!(!said.contains("s3cret"), "{said}");
    let found = data["matches"].as_array().unwrap();
    assert!(found.iter().all(|m| m["ref"] != reference.as_str()), "{data}");
    let said = position_of(&table, "assistant", 0).await;
    let (said, _) = call(&table, &member, "context_read", json!({"ref": format!("message:{said}")})).await;
    assert!(said.contains("[call of db__query …]") && !said.contains("s3cret"), "{said}");
    let (_, data) = call(&table, &master, "context_read", json!({"ref": reference})).await;
    assert!(data["content"].as_str().unwrap().contains("s3cret"));
    let (_, data) = call(&table, &master, "context_search", json!({"query": "S3CRET"})).await;
    assert!(data["matches"].as_array().unwrap().iter().any(|m| m["ref"] == reference.as_str()), "{data}");
}

#[tokio::test]
async fn a_long_text_is_read_page_by_page() {
    let table = Table::new(world());
    let ann = facts("1", Role::User, Scope::Private);
    table.run(&ann, "read", vec![calling(&[("a", "lab__book", json!({}))]), text("done")]).await;
    let reference = format!("result:{}:0", position_of(&table, "tool", 0).await);
    let (mut whole, mut offset) = (String::new(), 0);
    loop {
        let args = json!({"ref": reference, "offset": offset, "limit": 8000});
        let (said, data) = call(&table, &ann, "context_read", args).await;
        assert!(said.chars().count() <= 12_000);
        whole.push_str(data["content"].as_str().unwrap());
        assert_eq!(data["has_more"].as_bool().unwrap(), !data["next_offset"].is_null());
        let Some(next) = data["next_offset"].as_u64() else { break };
        offset = next;
    }
    assert!(whole.starts_with("page0 ") && whole.contains("page2999 "), "{}", whole.len());
}

#[tokio::test]
async fn the_saved_file_of_a_shortened_result_is_its_raw_form() {
    let table = Table::new(world().configured(|b| b.tools.max_result_chars = 2_000));
    let ann = facts("1", Role::User, Scope::Private);
    table.run(&ann, "read", vec![calling(&[("a", "lab__book", json!({}))]), text("done")]).await;
    let n = position_of(&table, "tool", 0).await;
    let reference = format!("result:{n}:0");
    let args = json!({"ref": reference, "representation": "raw", "offset": 20_000, "limit": 100});
    let (_, data) = call(&table, &ann, "context_read", args).await;
    assert!(data["content"].as_str().unwrap().contains("page2"), "{data}");
    let (_, data) = call(&table, &ann, "context_read", json!({"ref": reference, "offset": 20_000})).await;
    assert_eq!(data["content"], "");
    let person = position_of(&table, "user", 0).await;
    let args = json!({"ref": format!("message:{person}"), "representation": "raw"});
    let (said, _) = call(&table, &ann, "context_read", args).await;
    assert!(said.contains("CONTEXT_REPRESENTATION_UNAVAILABLE"), "{said}");
}

#[tokio::test]
async fn a_reference_of_another_session_is_none() {
    let table = Table::new(world());
    let ann = facts("1", Role::User, Scope::Private);
    table.run_in("telegram/main/private/9", &ann, "the word is swordfish", vec![text("ok")]).await;
    for reference in ["message:64", "message:6400", "result:64:0", "telegram/main/private/9:64", "message:64:1"] {
        let (said, _) = call(&table, &ann, "context_read", json!({"ref": reference})).await;
        assert!(!said.contains("swordfish"), "{said}");
        let own = said.contains("look it up");
        assert!(own || said.contains("CONTEXT_SOURCE_UNAVAILABLE"), "{reference}: {said}");
    }
    let (_, data) = call(&table, &ann, "context_search", json!({"query": "swordfish"})).await;
    assert_eq!(data["matches"].as_array().unwrap().len(), 0, "{data}");
}

#[tokio::test]
async fn a_search_goes_on_from_its_cursor() {
    let table = Table::new(world());
    let ann = facts("1", Role::User, Scope::Private);
    let key = SessionKey::from_text(KEY);
    let mut transcript = table.sessions().begin(&key, "bulk", json!({}), 10).await.unwrap();
    let entries = (0..450).map(|n| {
        let word = if n % 100 == 50 { "Needle" } else { "hay" };
        let message = json!({"role": "user", "text": format!("{word} {n}")});
        crate::session::HistoryEntry::new("bulk", chrono::DateTime::UNIX_EPOCH, Some("telegram:1".into()), message)
    });
    transcript.append(entries.collect()).await.unwrap();
    transcript.commit(crate::session::Commit::default()).await.unwrap();
    let (mut found, mut after, mut pages) = (Vec::new(), 0, 0);
    loop {
        let (_, data) =
            call(&table, &ann, "context_search", json!({"query": "needle", "after": after, "limit": 2})).await;
        found.extend(data["matches"].as_array().unwrap().iter().map(|m| m["snippet"].as_str().unwrap().to_string()));
        pages += 1;
        let Some(next) = data["next_after"].as_u64() else { break };
        assert!(next > after && pages < 20);
        after = next;
    }
    assert_eq!(found, ["Needle 50", "Needle 150", "Needle 250", "Needle 350"]);
}

#[tokio::test]
async fn without_context_tools_neither_is_there() {
    for form in [crate::config::DeferredForm::Discover, crate::config::DeferredForm::ToolSearch] {
        let world = World::new().configured(|b| {
            b.agent.context_tools = false;
            b.agent.deferred_tools.form = form;
        });
        let table = Table::new(world);
        let ann = facts("1", Role::User, Scope::Private);
        let script = vec![calling(&[("a", "context_read", json!({"ref": "message:64"}))]), text("ok")];
        let (report, requests) = table.run(&ann, "hi", script).await;
        assert_eq!(codes(&report), ["NOT_FOUND"]);
        assert!(plugin_tools(&requests[0]).is_empty());
    }
    assert!(Table::new(World::new()).world.build().tools.get("context_read").is_some());
}
