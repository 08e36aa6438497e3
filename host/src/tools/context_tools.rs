//! `context_read` and `context_search`: the turn's own session, as far as the present person may see it.

use super::reach::{InTurn, Recall, in_turn};
use super::recalled::{Part, Recalled};
use crate::session::{HistoryEntry, SessionError};
use async_trait::async_trait;
use plugin_sdk::{Callable, ToolError, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};

/// Longest page in characters.
pub(super) const MAX_PAGE: usize = 8_000;
/// Default page.
pub(super) const PAGE_CHARS: usize = 4_000;
/// Page and header together.
pub(super) const PAGE_TEXT_CHARS: usize = 12_000;
/// Messages one search looks at.
const SCANNED: usize = 200;
/// Characters of a hit.
const SNIPPET: usize = 240;
/// A saved result above this is not read back.
const MAX_RAW_BYTES: u64 = 16 * 1024 * 1024;

/// Reads one message or result.
pub(super) struct ContextRead;
/// Searches messages and results.
pub(super) struct ContextSearch;

fn gone(message: impl Into<String>) -> ToolError {
    ToolError::new("CONTEXT_SOURCE_UNAVAILABLE", message)
        .help("take a ref from this conversation, or find one with context_search")
}

fn unreadable(error: &SessionError) -> ToolError {
    tracing::warn!(%error, "a history was not read back");
    gone("the history cannot be read now").retryable()
}

fn number(input: &Map<String, Value>, key: &str, default: usize) -> usize {
    let given = input.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    given.unwrap_or(default)
}

fn recall(turn: &InTurn) -> Result<&Recall, ToolError> {
    turn.recall.as_ref().ok_or_else(|| gone("this call has no conversation to read"))
}

#[async_trait]
impl Callable for ContextRead {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        read(&input, cx).await.unwrap_or_else(ToolResult::error)
    }
}

async fn read(input: &Map<String, Value>, cx: &ToolExecutionContext) -> Result<ToolResult, ToolError> {
    let turn = in_turn(cx).map_err(|_| gone("this call has no conversation to read"))?;
    let recall = recall(&turn)?;
    let reference = input.get("ref").and_then(Value::as_str).unwrap_or_default().trim();
    let part = Part::parse(reference).ok_or_else(|| gone(format!("{reference:?} is no reference")))?;
    let found = recall.sessions.entry(&recall.session, recall.epoch, part.n()).await;
    let entry = found.map_err(|e| unreadable(&e))?.ok_or_else(|| gone(format!("there is no {reference} here")))?;
    let sight = turn.catalog.sight(&recall.present);
    let seen = Recalled::of(&entry, &sight);
    let raw = input.get("representation").and_then(Value::as_str) == Some("raw");
    let whole = match (raw, seen.is_shown()) {
        (true, true) => raw_text(&entry).await?,
        _ => seen.text(part).ok_or_else(|| gone(format!("there is no {reference} here")))?,
    };
    let page = Page::of(&whole, number(input, "offset", 0), number(input, "limit", PAGE_CHARS).min(MAX_PAGE));
    let representation = if raw { "raw" } else { "text" };
    let head = format!(
        "[context_read: {reference}, {}, characters {}-{} of {}]",
        seen.whose(),
        page.offset,
        page.next,
        page.total
    );
    let data = json!({
        "ref": reference,
        "representation": representation,
        "offset": page.offset,
        "next_offset": page.has_more().then_some(page.next),
        "has_more": page.has_more(),
        "content": page.content,
    });
    Ok(ToolResult::text(format!("{head}\n{}", page.content)).with_data(data))
}

/// A window of a text, in characters.
struct Page {
    offset: usize,
    next: usize,
    total: usize,
    content: String,
}

impl Page {
    fn of(text: &str, offset: usize, limit: usize) -> Self {
        let total = text.chars().count();
        let offset = offset.min(total);
        let next = offset.saturating_add(limit).min(total);
        Self { offset, next, total, content: text.chars().skip(offset).take(limit).collect() }
    }

    fn has_more(&self) -> bool {
        self.next < self.total
    }
}

/// The whole result as it was saved.
async fn raw_text(entry: &HistoryEntry) -> Result<String, ToolError> {
    let none =
        |why: &str| ToolError::new("CONTEXT_REPRESENTATION_UNAVAILABLE", why).help("read it with representation text");
    let saved = entry.meta.get("artifact").and_then(Value::as_str);
    let path = saved.ok_or_else(|| none("this has no saved file; its text is all there is"))?.to_owned();
    let read = crate::task::blocking("context_read", move || {
        let size = std::fs::metadata(&path).map(|m| m.len())?;
        if size > MAX_RAW_BYTES { Ok(None) } else { std::fs::read(&path).map(Some) }
    });
    match read.await {
        Ok(Ok(Some(bytes))) => String::from_utf8(bytes).map_err(|_| none("the saved file is not text")),
        Ok(Ok(None)) => Err(none("the saved file is too large to be read back")),
        Ok(Err::<_, std::io::Error>(e)) if e.kind() == std::io::ErrorKind::NotFound => {
            let help = "what the conversation still shows of it is read with representation text";
            Err(ToolError::new("ARTIFACT_GONE", "the saved file was cleaned up and is gone for good").help(help))
        }
        Ok(Err(_)) | Err(_) => Err(none("the saved file cannot be read")),
    }
}

#[async_trait]
impl Callable for ContextSearch {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        search(&input, cx).await.unwrap_or_else(ToolResult::error)
    }
}

async fn search(input: &Map<String, Value>, cx: &ToolExecutionContext) -> Result<ToolResult, ToolError> {
    let turn = in_turn(cx).map_err(|_| gone("this call has no conversation to search"))?;
    let recall = recall(&turn)?;
    let query = input.get("query").and_then(Value::as_str).unwrap_or_default().trim().to_lowercase();
    let after = input.get("after").and_then(Value::as_u64).unwrap_or(0);
    let limit = number(input, "limit", 10);
    let page = recall.sessions.page(&recall.session, recall.epoch, after, SCANNED).await.map_err(|e| unreadable(&e))?;
    let whole = page.len() == SCANNED;
    let sight = turn.catalog.sight(&recall.present);
    let (mut matches, mut lines, mut next, mut stopped) = (Vec::new(), Vec::new(), after, false);
    for entry in &page {
        if matches.len() == limit {
            stopped = true;
            break;
        }
        next = entry.n;
        let seen = Recalled::of(entry, &sight);
        if let Some((reference, snippet)) = seen.find(&query, SNIPPET) {
            lines.push(format!("{reference} ({}): {}", seen.whose(), snippet.replace('\n', " ")));
            matches.push(json!({"ref": reference, "from": seen.whose(), "snippet": snippet}));
        }
    }
    let has_more = whole || stopped;
    let text = match (lines.is_empty(), has_more) {
        (true, false) => "Nothing found.".to_string(),
        (true, true) => format!("Nothing found so far; search on with after = {next}."),
        (false, true) => format!("{}\nMore: search on with after = {next}.", lines.join("\n")),
        (false, false) => lines.join("\n"),
    };
    let data = json!({"matches": matches, "next_after": has_more.then_some(next), "has_more": has_more});
    Ok(ToolResult::text(text).with_data(data))
}
