//! Manifests as their authors write them. Keys, defaults and simple limits stand here and nowhere else:
//! the structural check and the printed schemas both come from these types.

mod agent;
mod command;
mod hook;
mod plugin;
mod skill;
mod tool;

pub(super) use agent::AgentFile;
pub use agent::{AgentApproval, ContextMode, Effort, MemoryScope, TriggerRules};
pub(super) use command::CommandFile;
pub use command::{ArgumentKind, CommandArgument};
pub(super) use hook::HookFile;
pub use hook::OnFailure;
pub(super) use plugin::{DependsTable, PermissionsTable, PluginFile, SchemaSource};
pub(super) use skill::{
    SECTION_TEXT_KEYS, SKILL_KEYS, SKILL_TEXT_KEYS, SectionFile, SectionLayer, SectionRetention, SkillFile,
};
pub(super) use tool::ToolFile;

use crate::config::shape;
use serde_json::Value;

fn yes() -> bool {
    true
}

/// The schemas by which manifests are checked, made once.
#[derive(Debug)]
pub(super) struct Schemas {
    pub(super) plugin: Value,
    pub(super) tool: Value,
    pub(super) skill: Value,
    pub(super) section: Value,
    pub(super) agent: Value,
    pub(super) hook: Value,
    pub(super) command: Value,
}

impl Default for Schemas {
    fn default() -> Self {
        Self {
            plugin: shape::schema_for::<PluginFile>(),
            tool: shape::schema_for::<ToolFile>(),
            skill: shape::schema_for::<SkillFile>(),
            section: shape::schema_for::<SectionFile>(),
            agent: shape::schema_for::<AgentFile>(),
            hook: shape::schema_for::<HookFile>(),
            command: shape::schema_for::<CommandFile>(),
        }
    }
}

/// The JSON Schema of a manifest kind of this room: `plugin`, `tool`, `skill`, `section`, `agent`, `hook`, `command`.
pub fn schema_of(kind: &str) -> Option<Value> {
    let schema = match kind {
        "plugin" => shape::schema_for::<PluginFile>(),
        "tool" => shape::schema_for::<ToolFile>(),
        "skill" => shape::schema_for::<SkillFile>(),
        "section" => shape::schema_for::<SectionFile>(),
        "agent" => shape::schema_for::<AgentFile>(),
        "hook" => shape::schema_for::<HookFile>(),
        "command" => shape::schema_for::<CommandFile>(),
        _ => return None,
    };
    Some(schema)
}
