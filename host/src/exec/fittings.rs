//! What a program fits its own executor with.

use super::ToolExecutor;
use super::breaker::CircuitBreaker;
use super::executor::Base;
use super::hooks::{ActiveLevels, HookDispatcher};
use super::permission::PermissionPolicy;
use super::state::CallStatus;
use crate::index::Tool;
use crate::runtime::command::CommandPool;
use plugin_sdk::{ToolError, ToolMiddleware};
use std::sync::Arc;
use std::time::Duration;

/// Everything optional.
#[derive(Clone, Default)]
pub(super) struct Fittings {
    pub(super) permission: Option<Arc<dyn PermissionPolicy>>,
    pub(super) middleware: Vec<Arc<dyn ToolMiddleware>>,
    pub(super) breaker: Option<CircuitBreaker>,
    pub(super) hooks: Option<Arc<HookDispatcher>>,
    pub(super) commands: Option<CommandBinding>,
    pub(super) observer: Option<Arc<dyn ToolObserver>>,
}

/// Lends the places of a program's commands to an executor; it never closes them.
#[derive(Clone)]
pub struct CommandBinding {
    pool: Arc<CommandPool>,
}

impl CommandBinding {
    /// Commands run in the places of `pool`.
    pub fn new(pool: Arc<CommandPool>) -> Self {
        Self { pool }
    }

    /// The places.
    pub fn pool(&self) -> &Arc<CommandPool> {
        &self.pool
    }
}

/// One finished call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolObservation {
    /// Qualified name, as called when unknown.
    pub tool: String,
    /// Call id.
    pub call_id: String,
    /// Code of its error.
    pub code: Option<String>,
    /// How it ended.
    pub status: CallStatus,
    /// How long it took.
    pub took: Duration,
}

/// Sees the end of every call of an executor. It must return at once.
pub trait ToolObserver: Send + Sync {
    /// A call has ended.
    fn finished(&self, call: &ToolObservation);
}

impl ToolExecutor {
    /// Judges calls outside a turn; without one it is `DefaultPermissionPolicy`.
    #[must_use]
    pub fn permission_policy(self, policy: Arc<dyn PermissionPolicy>) -> Self {
        self.fitted(|f| f.permission = Some(policy))
    }

    /// Wraps the bodies; the first is outermost.
    #[must_use]
    pub fn middleware(self, middleware: Vec<Arc<dyn ToolMiddleware>>) -> Self {
        self.fitted(|f| f.middleware = middleware)
    }

    /// Lets tools rest that keep failing.
    #[must_use]
    pub fn circuit_breaker(self, breaker: CircuitBreaker) -> Self {
        self.fitted(|f| f.breaker = Some(breaker))
    }

    /// The hooks of every call; a turn takes them with `turn_hooks`.
    #[must_use]
    pub fn hook_dispatcher(self, hooks: Arc<HookDispatcher>) -> Self {
        self.fitted(|f| f.hooks = Some(hooks))
    }

    /// Lets tools that are programs run outside a turn.
    #[must_use]
    pub fn command_binding(self, commands: CommandBinding) -> Self {
        self.fitted(|f| f.commands = Some(commands))
    }

    /// Is told of every finished call.
    #[must_use]
    pub fn observability(self, observer: Arc<dyn ToolObserver>) -> Self {
        self.fitted(|f| f.observer = Some(observer))
    }

    /// The hooks of a turn with this executor: its own, acting as `levels` say.
    pub fn turn_hooks(&self, levels: Option<Arc<dyn ActiveLevels>>) -> Arc<HookDispatcher> {
        match &self.base.fittings.hooks {
            Some(hooks) => Arc::new(hooks.for_turn(levels)),
            None => Arc::default(),
        }
    }

    fn fitted(mut self, change: impl FnOnce(&mut Fittings)) -> Self {
        let mut fittings = self.base.fittings.clone();
        change(&mut fittings);
        self.base = Arc::new(Base { fittings, ..(*self.base).clone() });
        self
    }

    /// A program starts processes only when it lends places for them.
    pub(super) fn can_run(&self, tool: &Tool) -> Result<(), ToolError> {
        if self.turn.is_some() || tool.from.runtime != "command" || self.base.fittings.commands.is_some() {
            return Ok(());
        }
        let message = format!("`{}` runs a program, and this executor was given no place for one", tool.qualified);
        Err(ToolError::new("COMMAND_UNAVAILABLE", message))
    }
}
