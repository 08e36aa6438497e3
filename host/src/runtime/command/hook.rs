//! A hook that is a program: the event on its standard input, one JSON object as its answer.

use super::process::{Ended, Stop};
use super::{CommandError, CommandPool, CommandSpec, environment, output, process, program};
use async_trait::async_trait;
use plugin_sdk::{HookError, HookEvent, HookEventKind, HookHandler, HookPayload, HookResult};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Makes a hook's command a handler. It runs in the workspace of the event, whatever the command says of its
/// folder. Nothing is started or checked here; see [`super::check_program`].
pub fn bind_hook(spec: CommandSpec, pool: Arc<CommandPool>) -> Arc<dyn HookHandler> {
    Arc::new(CommandHook { spec, pool })
}

struct CommandHook {
    spec: CommandSpec,
    pool: Arc<CommandPool>,
}

#[async_trait]
impl HookHandler for CommandHook {
    async fn handle(&self, event: HookEvent) -> Result<HookResult, HookError> {
        let kind = event.event;
        let ended = self.run(event).await.map_err(hook_error)?;
        let answer = match output::succeeded(&ended) {
            Ok(()) => parse(&ended.stdout, kind),
            Err(error) => Err(hook_error(error)),
        };
        if !ended.stderr.is_empty() {
            let (owner, stderr) = (&self.spec.owner, &ended.stderr);
            tracing::info!(%owner, program = %self.spec.argv.join(" "), stderr, "a hook wrote to standard error");
        }
        answer
    }

    fn runs_program(&self) -> bool {
        true
    }
}

impl CommandHook {
    async fn run(&self, event: HookEvent) -> Result<Ended, CommandError> {
        let limit = Duration::try_from_secs_f64(event.timeout_seconds).unwrap_or_default();
        let deadline = self.pool.clock().monotonic().saturating_add(limit);
        let _place = self.pool.place(deadline, limit, &event.cancellation).await?;
        let home = environment::prepare_home(self.pool.data_dir(), &self.spec.owner).await?;
        let call_id = match &event.payload {
            HookPayload::ToolBefore { call_id, .. } | HookPayload::ToolAfter { call_id, .. } => call_id.as_str(),
            HookPayload::RunStarted { .. } | HookPayload::RunFinished { .. } => "",
        };
        let launch = process::Launch {
            program: program::resolve(&self.spec.argv, &self.spec.tool_dir, &self.pool.host_env().path)?,
            args: self.spec.argv.get(1..).unwrap_or_default().to_vec(),
            cwd: PathBuf::from(&event.workspace),
            env: environment::variables(&self.spec, self.pool.host_env(), &home, call_id),
            stdin: serde_json::to_vec(&event)
                .map_err(|e| CommandError::Prepare(format!("the event cannot be written as JSON: {e}")))?,
        };
        process::run(launch, &self.pool, Stop { deadline, limit, signal: event.cancellation.child() }).await
    }
}

fn hook_error(error: CommandError) -> HookError {
    match error {
        CommandError::Cancelled => HookError::Cancelled,
        CommandError::NotEnded => HookError::OutcomeUnknown(error.to_string()),
        other => HookError::Failed(other.to_string()),
    }
}

/// The key an answer to this kind of event may have.
fn answer_key(kind: HookEventKind) -> Option<&'static str> {
    match kind {
        HookEventKind::ToolBefore => Some("deny_reason"),
        HookEventKind::ToolAfter => Some("feedback"),
        HookEventKind::RunStarted | HookEventKind::RunFinished => None,
    }
}

/// The whole standard output is one object with no key but the event's own, and that one a text.
fn parse(stdout: &[u8], kind: HookEventKind) -> Result<HookResult, HookError> {
    let failed = |why: String| Err(HookError::Failed(why));
    let allowed = answer_key(kind);
    let form = match allowed {
        Some(key) => format!("`{{}}` or `{{\"{key}\": \"…\"}}`"),
        None => "`{}`".to_string(),
    };
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return failed(format!("it printed nothing; its standard output is {form}"));
    }
    let map = match serde_json::from_slice::<Value>(stdout) {
        Ok(Value::Object(map)) => map,
        Ok(_) => return failed(format!("its standard output is no JSON object; it is {form}")),
        Err(e) => return failed(format!("its standard output is not one JSON object ({e}); it is {form}")),
    };
    let mut result = HookResult::nothing();
    for (key, value) in map {
        if allowed != Some(key.as_str()) {
            return failed(format!("its answer has the key `{key}`; to `{kind}` it is {form}"));
        }
        let Value::String(text) = value else { return failed(format!("`{key}` of its answer is no text")) };
        match kind {
            HookEventKind::ToolBefore => result.deny_reason = Some(text),
            _ => result.feedback = Some(text),
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_object_with_the_events_own_key() {
        use HookEventKind::{RunStarted, ToolAfter, ToolBefore};
        let read = |text: &str, kind| parse(text.as_bytes(), kind);
        assert_eq!(read("{}", ToolBefore), Ok(HookResult::nothing()));
        assert_eq!(read(" {} \n", RunStarted), Ok(HookResult::nothing()));
        assert_eq!(read(r#"{"deny_reason":"no"}"#, ToolBefore), Ok(HookResult::deny("no")));
        assert_eq!(read(r#"{"feedback":"hm"}"#, ToolAfter), Ok(HookResult::feedback("hm")));
        for (text, kind) in [
            ("", ToolBefore),
            ("{}{}", ToolBefore),
            ("{} ok", ToolBefore),
            ("ok", ToolBefore),
            ("[]", ToolBefore),
            ("null", ToolBefore),
            (r#"{"deny":"no"}"#, ToolBefore),
            (r#"{"deny_reason":null}"#, ToolBefore),
            (r#"{"deny_reason":"no"}"#, ToolAfter),
            (r#"{"feedback":"hm"}"#, ToolBefore),
            (r#"{"feedback":"hm"}"#, RunStarted),
            ("{\"deny_reason\":\"\u{fffd}", ToolBefore),
        ] {
            assert!(read(text, kind).is_err(), "{text}");
        }
        assert!(parse(&[0xff, 0xfe], ToolBefore).is_err());
    }
}
