//! Slash commands.

use crate::id::Id;
use serde::Serialize;
use serde_json::Value;

/// Where a command is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandScope {
    /// Everywhere.
    Global,
    /// In one guild.
    Guild(Id),
}

/// A registered command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Command {
    /// Id; kept when a command of the same name is sent again.
    pub id: Id,
    /// Where.
    pub scope: CommandScope,
    /// Name.
    pub name: String,
    /// 1 slash, 2 user, 3 message.
    pub kind: u8,
    /// Description.
    pub description: String,
    /// Options as sent.
    pub options: Vec<Value>,
    /// Changes with every change.
    pub version: Id,
}
