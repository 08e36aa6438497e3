//! The world a scenario runs in, seen from the runner. `app` builds it from the same rooms as the live host.

use super::file::{Edit, Press, Say};
use crate::model::ModelClient;
use async_trait::async_trait;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a stage is built from.
pub struct StagePlan {
    /// Bot folder; a copy when `edits`.
    pub bot_dir: PathBuf,
    /// Further `bot.toml` keys.
    pub overlay: Map<String, Value>,
    /// The model of every turn.
    pub model: Arc<dyn ModelClient>,
    /// Whether the scenario changes files.
    pub edits: bool,
}

/// A call a turn made.
#[derive(Debug, Clone, PartialEq)]
pub struct StageCall {
    /// Qualified name.
    pub tool: String,
    /// Arguments.
    pub arguments: Value,
    /// Status word of the contract.
    pub status: String,
    /// Error code.
    pub error: Option<String>,
}

/// What has happened since the last look.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Replies and questions in order.
    pub replies: Vec<String>,
    /// Calls in order.
    pub calls: Vec<StageCall>,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// A reply.
    Reply,
    /// A call.
    Call,
}

/// A running bot in a scratch world.
#[async_trait]
pub trait Stage: Send {
    /// Sends a message and waits until it is settled or a question waits.
    async fn say(&mut self, message: &Say) -> Result<(), String>;
    /// Presses the newest button of that label and waits as `say` does.
    async fn press(&mut self, press: &Press) -> Result<(), String>;
    /// What has happened since the last look; something that is expected is waited for a little.
    async fn heard(&mut self, wanted: Option<More>) -> Heard;
    /// Qualified names a subject can find or is sent.
    async fn catalog(&mut self, subject: &str) -> Result<Vec<String>, String>;
    /// Changes a file of the copy.
    async fn edit(&mut self, edit: &Edit) -> Result<(), String>;
    /// Reloads; gives the record.
    async fn reload(&mut self) -> Result<Value, String>;
    /// Time passes.
    async fn advance(&mut self, by: Duration);
    /// Starts the bot again, or stops it, keeping its store.
    async fn set_running(&mut self, on: bool) -> Result<(), String>;
}

/// Builds stages.
#[async_trait]
pub trait StageFactory: Send + Sync {
    /// A started bot.
    async fn build(&self, plan: StagePlan) -> Result<Box<dyn Stage>, String>;
}
