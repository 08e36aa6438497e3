//! What the host's own tools act on: the turn they were called in.

use crate::catalog::Controller;
use crate::session::{SessionKey, Sessions};
use plugin_sdk::{ToolError, ToolExecutionContext};
use std::sync::Arc;

/// The stored history of the turn's own session; never that of another.
pub struct Recall {
    /// All sessions; only the one below is read.
    pub sessions: Sessions,
    /// The turn's session.
    pub session: SessionKey,
    /// Its epoch when the turn began: the archive is not reached.
    pub epoch: u64,
    /// Text form of the present person.
    pub present: String,
}

/// The turn, as `ToolExecutionContext::host` carries it.
pub struct InTurn {
    /// The deferred controller.
    pub catalog: Arc<Controller>,
    /// `None` when the session could not be opened.
    pub recall: Option<Recall>,
}

/// The turn of a call. Outside a turn of the model there is none.
pub(super) fn in_turn(cx: &ToolExecutionContext) -> Result<Arc<InTurn>, ToolError> {
    let missing = || ToolError::new("EXECUTION_ERROR", "there is no catalog outside a turn of the model");
    cx.host.get::<InTurn>().ok_or_else(missing)
}
