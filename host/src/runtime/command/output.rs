//! What a program printed becomes the result of its call.

use super::CommandError;
use super::process::Ended;
use plugin_sdk::{CallResult, ContentBlock, ToolResult};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Keys that make an object a `CallResult`.
const KEYS: [&str; 6] = ["content", "data", "is_error", "error", "artifact", "stats"];
/// Characters of stderr in the details of a failure.
const DETAIL_CHARS: usize = 2000;

/// The result of an ended process.
pub(super) fn read(ended: &Ended) -> Result<ToolResult, CommandError> {
    succeeded(ended)?;
    parse(&ended.stdout)
}

/// Whether a process ended well.
pub(super) fn succeeded(ended: &Ended) -> Result<(), CommandError> {
    let status = ended.end.clone()?;
    if status.success() { Ok(()) } else { Err(failed(status, ended)) }
}

fn failed(status: ExitStatus, ended: &Ended) -> CommandError {
    let what = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended without an exit code".to_string(),
    };
    let message = if ended.stderr_head.is_empty() { what } else { format!("{what}: {}", ended.stderr_head) };
    let read_only = ["Read-only", "Permission denied"].iter().any(|s| ended.stderr.contains(s));
    let skip = ended.stderr.chars().count().saturating_sub(DETAIL_CHARS);
    CommandError::Failed {
        message,
        exit_code: status.code(),
        signal: status.signal(),
        stderr: ended.stderr.chars().skip(skip).collect(),
        help: read_only.then(|| "write to $UNDERSTUDY_DATA_DIR: the tool folder is a read-only copy".to_string()),
    }
}

/// Standard output by its rules: a `CallResult`, data, or text.
pub(super) fn parse(stdout: &[u8]) -> Result<ToolResult, CommandError> {
    let invalid = |why: String| CommandError::InvalidResult(why);
    let text = std::str::from_utf8(stdout)
        .map_err(|e| invalid(format!("standard output is not UTF-8 (byte {})", e.valid_up_to())))?;
    let is_object = text.trim_start().starts_with('{');
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) if map.keys().any(|k| KEYS.contains(&k.as_str())) => {
            if let Some(other) = map.keys().find(|k| !KEYS.contains(&k.as_str())) {
                return Err(invalid(format!(
                    "standard output has the key `{other}` beside keys of a result ({})",
                    KEYS.join(", ")
                )));
            }
            let result: CallResult = serde_json::from_value(Value::Object(map))
                .map_err(|e| invalid(format!("standard output is not a result: {e}")))?;
            Ok(result.into_tool_result())
        }
        Ok(data @ (Value::Object(_) | Value::Array(_))) => {
            let content = vec![ContentBlock::text(data.to_string())];
            Ok(CallResult { content, data: Some(data), ..CallResult::default() }.into_tool_result())
        }
        Err(e) if is_object => {
            Err(invalid(format!("standard output starts with `{{` but is not one JSON object: {e}")))
        }
        Ok(_) | Err(_) => Ok(ToolResult::text(text)),
    }
}
