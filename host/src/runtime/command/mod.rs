//! The `command` runtime: one process per call, JSON on its standard input, never a shell.

mod environment;
mod error;
mod hook;
mod output;
mod pipes;
mod pool;
mod process;
mod program;

#[cfg(test)]
mod tests;

pub use error::CommandError;
pub use hook::bind_hook;
pub use pool::{CommandPool, HostEnv};
pub use program::{ProgramCheck, check_program};

use crate::loader::RunCwd;
use async_trait::async_trait;
use plugin_sdk::{CallRequest, Callable, CommandLine, OwnerPath, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Used when a caller sets no deadline: the default of `tools.timeout_seconds`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// A `[run] command` bound to the read-only copy of its plugin.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// Words; the first names the program.
    pub argv: Vec<String>,
    /// Working directory.
    pub cwd: RunCwd,
    /// The item's folder in the copy.
    pub tool_dir: PathBuf,
    /// The plugin's folder in the copy.
    pub plugin_dir: PathBuf,
    /// Declaring owner.
    pub owner: OwnerPath,
    /// Variables of `permissions.env` in force, with the values of the host's environment.
    pub env: Vec<(String, String)>,
}

/// Makes a command callable. Nothing is started or checked here; see [`check_program`].
pub fn bind(spec: CommandSpec, pool: Arc<CommandPool>) -> Arc<dyn Callable> {
    Arc::new(CommandTool { spec, pool })
}

struct CommandTool {
    spec: CommandSpec,
    pool: Arc<CommandPool>,
}

#[async_trait]
impl Callable for CommandTool {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        match self.run(input, cx).await {
            Ok(result) => result,
            Err(error) => error.into_result(),
        }
    }

    fn owns_timeout(&self) -> bool {
        true
    }

    fn command_line(&self, _input: &Map<String, Value>, cx: &ToolExecutionContext) -> Option<CommandLine> {
        Some(CommandLine { words: self.spec.argv.clone(), cwd: self.cwd(cx) })
    }
}

impl CommandTool {
    fn cwd(&self, cx: &ToolExecutionContext) -> PathBuf {
        match self.spec.cwd {
            RunCwd::Tool => self.spec.tool_dir.clone(),
            RunCwd::Plugin => self.spec.plugin_dir.clone(),
            RunCwd::Workspace => cx.workspace_root.clone(),
        }
    }

    async fn run(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> Result<ToolResult, CommandError> {
        let limit =
            cx.tool_timeout_seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).unwrap_or(DEFAULT_TIMEOUT);
        let deadline = self.pool.clock().monotonic().saturating_add(limit);
        let _place = self.pool.place(deadline, limit, &cx.cancellation).await?;
        let home = environment::prepare_home(self.pool.data_dir(), &self.spec.owner).await?;
        let launch = process::Launch {
            program: program::resolve(&self.spec.argv, &self.spec.tool_dir, &self.pool.host_env().path)?,
            args: self.spec.argv.get(1..).unwrap_or_default().to_vec(),
            cwd: self.cwd(cx),
            env: environment::variables(&self.spec, self.pool.host_env(), &home, &cx.call_id),
            stdin: self.stdin(input, cx, &home, deadline)?,
        };
        let cwd = launch.cwd.clone();
        let ended =
            process::run(launch, &self.pool, process::Stop { deadline, limit, signal: cx.cancellation.child() })
                .await?;
        let mut result = match output::read(&ended) {
            Ok(result) => result,
            Err(error) => error.into_result(),
        };
        if let Some(artifact) = &mut result.artifact {
            // A relative path is the program's own, so it starts where the program ran.
            artifact.path = cwd.join(&artifact.path).to_string_lossy().into_owned();
        }
        ended.note_stderr(&mut result);
        Ok(result)
    }

    /// The one JSON object a program is given.
    fn stdin(
        &self,
        input: Map<String, Value>,
        cx: &ToolExecutionContext,
        home: &std::path::Path,
        deadline: Duration,
    ) -> Result<Vec<u8>, CommandError> {
        let left = deadline.saturating_sub(self.pool.clock().monotonic());
        let mut request = CallRequest::from_context(cx, input, u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        request.context.data_dir = home.to_string_lossy().into_owned();
        serde_json::to_vec(&serde_json::json!({ "input": request.input, "context": request.context }))
            .map_err(|e| CommandError::Prepare(format!("the arguments cannot be written as JSON: {e}")))
    }
}
