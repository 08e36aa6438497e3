//! Phase 13: the result as its caller gets it.

use super::ToolExecutor;
use super::artifacts::ToolArtifactStore;
use super::body::BodyEnd;
use super::state::CallStatus;
use crate::index::{Tool, sha256_hex};
use plugin_sdk::{ContentBlock, ToolError, ToolExecutionContext, ToolResult};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Above this a result is not looked at.
const RESULT_BYTES: usize = 8 * 1024 * 1024;

/// Codes of the phases around the body: only the host raises them.
const HOST_CODES: [&str; 24] = [
    "NOT_FOUND",
    "TOOL_NOT_ALLOWED",
    "MALFORMED_ARGUMENTS",
    "VALIDATION_ERROR",
    "TOOL_LIMIT",
    "CALL_DEPTH",
    "LOOP_BLOCKED",
    "PERMISSION_ERROR",
    "PATH_OUTSIDE_WORKSPACE",
    "PATH_DENIED",
    "COMMAND_DENIED",
    "URL_BLOCKED",
    "APPROVAL_REJECTED",
    "APPROVAL_EXPIRED",
    "APPROVAL_UNAVAILABLE",
    "APPROVAL_LIMIT",
    "APPROVAL_MISMATCH",
    "APPROVAL_STALE",
    "HITL_REQUIRED",
    "CIRCUIT_OPEN",
    "CANCELLED",
    "JOURNAL_UNAVAILABLE",
    "HOOK_REJECTED",
    "HOOK_ERROR",
];

impl ToolExecutor {
    /// Identity and size of a raw result, without secrets: what hooks see, too.
    pub(super) fn present(&self, raw: ToolResult, call_id: &str, name: &str, tool: Option<&Tool>) -> ToolResult {
        let mut result = identified(raw, call_id, name);
        let Some(tool) = tool else { return result };
        if !tool.is_builtin() {
            // Nothing but the log lines of a runtime comes from outside.
            result.metadata.retain(|key, _| key == "stderr");
        }
        if size_of(&result) > RESULT_BYTES {
            let message = format!("the result has more than {RESULT_BYTES} bytes");
            return refusal(ToolError::new("RESULT_TOO_LARGE", message), call_id, name);
        }
        self.redact(&mut result);
        result
    }

    /// The files of a result; when they cannot be kept the result is `ARTIFACT_ERROR`.
    pub(super) async fn keep(&self, result: ToolResult, tool: &Tool, cx: &ToolExecutionContext) -> ToolResult {
        let (id, name) = (result.tool_use_id.clone(), result.tool_name.clone());
        match self.keep_files(result, tool, cx).await {
            Ok(result) => result,
            Err(error) => refusal(error, &id, &name),
        }
    }

    /// Texts of hooks, without secrets.
    pub(super) fn redacted(&self, mut texts: Vec<String>) -> Vec<String> {
        if let Some(turn) = &self.turn {
            texts.iter_mut().for_each(|text| {
                turn.ports.redactor.redact_text(text);
            });
        }
        texts
    }

    /// Everything of it that is shown, stored or handed on.
    fn redact(&self, result: &mut ToolResult) {
        let Some(turn) = &self.turn else { return };
        let redactor = &turn.ports.redactor;
        for block in &mut result.content {
            if let ContentBlock::Text { text } = block {
                redactor.redact_text(text);
            }
        }
        if let Some(error) = &mut result.error {
            redactor.redact_text(&mut error.message);
            if let Some(help) = &mut error.help {
                redactor.redact_text(help);
            }
            redactor.redact_map(&mut error.details);
        }
        for map in [&mut result.data, &mut result.metadata, &mut result.stats] {
            redactor.redact_map(map);
        }
    }

    async fn keep_files(
        &self,
        mut result: ToolResult,
        tool: &Tool,
        cx: &ToolExecutionContext,
    ) -> Result<ToolResult, ToolError> {
        let options = &tool.def().options;
        let tools = &self.base.bot.tools;
        let max = options.max_result_chars.unwrap_or(tools.max_result_chars);
        let store = match &self.turn {
            Some(turn) => turn.ports.artifacts.clone(),
            None => ToolArtifactStore::new(cx.workspace_root.join(".artifacts")),
        };
        let store = store
            .preview_chars(options.preview_chars.unwrap_or(tools.preview_chars).min(max))
            .preview_mode(options.preview_mode.unwrap_or(tools.preview_mode))
            .max_file_bytes(self.base.bot.limits.artifacts_max_mb.saturating_mul(1024 * 1024));
        if let Some(named) = result.artifact.take() {
            let source = cx.workspace_root.join(&named.path);
            let roots = self.roots(tool, cx);
            result.artifact =
                Some(store.persist_file_of(&result.tool_use_id, Path::new(&source), &roots, &named.preview).await?);
        }
        Ok(store.persist_if_large(result, max).await?)
    }

    /// Folders a tool may hand files out of.
    fn roots(&self, tool: &Tool, cx: &ToolExecutionContext) -> Vec<PathBuf> {
        let own = match &self.turn {
            Some(turn) => Some(crate::runtime::owner_folder(&turn.ports.data_dir, tool.owner())),
            None => cx.data_dir.clone(),
        };
        std::iter::once(cx.workspace_root.clone()).chain(own).collect()
    }
}

/// Sets who the result is of, and makes its error one a body may give.
fn identified(mut result: ToolResult, call_id: &str, name: &str) -> ToolResult {
    result.tool_use_id = call_id.to_string();
    result.tool_name = name.to_string();
    result.hook_feedback.clear();
    if result.is_error && result.error.is_none() {
        let text = super::artifacts::joined_text(&result.content);
        let message = if text.is_empty() { "the tool failed without saying why".to_string() } else { text };
        result.error = Some(ToolError::new("EXECUTION_ERROR", message));
    }
    result.is_error = result.error.is_some();
    result
}

/// A body's own code is kept unless only the host may raise it or it is no code at all.
pub(super) fn own_code(result: &mut ToolResult) {
    if let Some(error) = &mut result.error
        && (!is_code(&error.code) || HOST_CODES.contains(&error.code.as_str()))
    {
        let code = std::mem::replace(&mut error.code, "EXECUTION_ERROR".into());
        error.details.insert("code".into(), code.into());
        error.retryable = false;
    }
}

/// `^[A-Z][A-Z0-9_]{1,63}$`.
fn is_code(code: &str) -> bool {
    let mut chars = code.bytes();
    chars.next().is_some_and(|c| c.is_ascii_uppercase())
        && (2..=64).contains(&code.len())
        && chars.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
}

/// The result of a call that never ran, or whose own result cannot be used.
pub(super) fn refusal(error: ToolError, call_id: &str, name: &str) -> ToolResult {
    identified(ToolResult::error(error), call_id, name)
}

/// `success` or `error` for a body that ran, `unknown`, else `none`.
pub(super) fn body_word(body: Option<&BodyEnd>) -> &'static str {
    match body {
        None => "none",
        Some(body) => match body.status {
            CallStatus::Denied | CallStatus::Cancelled => "none",
            CallStatus::Unknown => "unknown",
            CallStatus::Completed | CallStatus::Failed if body.is_error => "error",
            CallStatus::Completed | CallStatus::Failed => "success",
        },
    }
}

/// Two results are the same when a model would read the same.
pub(super) fn fingerprint(result: &ToolResult) -> String {
    let images = result.content.iter().filter_map(|b| match b {
        ContentBlock::Image { image } => Some(image.data.as_str()),
        ContentBlock::Text { .. } => None,
    });
    let text = std::iter::once(result.model_content().as_str()).chain(images).collect::<Vec<_>>().join("\n");
    sha256_hex(text)
}

/// Bytes of everything in a result.
fn size_of(result: &ToolResult) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, result) {
        Ok(()) => count.0,
        // Not writable as JSON at all: too large is the only safe answer.
        Err(_) => usize::MAX,
    }
}
