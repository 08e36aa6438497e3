//! Which built-in tools a configuration switches on, and how they are declared.

use super::ask_user::AskUser;
use super::catalog_tools::{Discover, LoadSkill, LoadTool, ToolSearch};
use super::context_tools::{ContextRead, ContextSearch, MAX_PAGE, PAGE_CHARS, PAGE_TEXT_CHARS};
use crate::config::{BotConfig, DeferredForm};
use crate::index::{Contribution, Source};
use crate::loader::Placement;
use plugin_sdk::{Approval, Callable, Capability, ContextRetention, OwnerPath, ToolDef};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The key of `ask_user` in `tools.builtin`.
const HUMAN_ASK: &str = "human.ask";
/// A skill's text may be 50,000 characters and has notes behind it; it is never made a file of.
const SKILL_RESULT_CHARS: usize = 100_000;

/// The built-in tools that a configuration has.
pub fn builtins(bot: &BotConfig) -> Vec<Contribution> {
    let mut out = Vec::new();
    if bot.tools.builtin.iter().any(|k| k == HUMAN_ASK) {
        let mut def = declare("Ask the person a question and wait for the answer.", ask_schema(), []);
        def.options.aliases = vec!["ask_question".into()];
        out.push(contribution(bot, "ask_user", Some(HUMAN_ASK), def, Arc::new(AskUser)));
    }
    match bot.agent.deferred_tools.form {
        DeferredForm::Discover => {
            let about = "Search tools and skills that are not in your list yet. Loads nothing.";
            let schema = discover_schema(bot.agent.deferred_tools.discover_top_k);
            out.push(contribution(bot, "discover", None, declare(about, schema, []), Arc::new(Discover)));
            let about = "Load a tool by name. It can be called from the next step on.";
            out.push(contribution(bot, "load_tool", None, declare(about, name_schema(), []), Arc::new(LoadTool)));
        }
        DeferredForm::ToolSearch => {
            let about = "Find tools by what they do, one query for each need, and load the hits at once.";
            out.push(contribution(bot, "tool_search", None, declare(about, search_schema(), []), Arc::new(ToolSearch)));
        }
    }
    let about = "Read a skill's instructions and load its tools.";
    let mut def = declare(about, name_schema(), [Capability::Read]);
    def.options.max_result_chars = Some(SKILL_RESULT_CHARS);
    out.push(contribution(bot, "load_skill", None, def, Arc::new(LoadSkill)));
    if bot.agent.context_tools {
        let about = "Read a message or result of this conversation again, page by page.";
        out.push(contribution(bot, "context_read", None, recalls(about, read_schema()), Arc::new(ContextRead)));
        let about = "Search the whole history of this conversation for words, older messages included.";
        out.push(contribution(bot, "context_search", None, recalls(about, find_schema()), Arc::new(ContextSearch)));
    }
    out
}

/// They read what is stored and change nothing. What they gave may be read again, so it may be shortened.
fn recalls(description: &str, schema: Value) -> ToolDef {
    let mut def = declare(description, schema, [Capability::Read]);
    def.options.concurrency_safe = true;
    def.options.max_result_chars = Some(PAGE_TEXT_CHARS);
    def.options.context_retention = ContextRetention::Observation;
    def
}

/// They change the turn's own state, so they run one after another, in call order.
fn declare(description: &str, schema: Value, capabilities: impl IntoIterator<Item = Capability>) -> ToolDef {
    let mut def =
        ToolDef::new(description).input_schema(schema).requires_approval(Approval::Never).capabilities(capabilities);
    def.options.concurrency_safe = false;
    def
}

fn contribution(
    bot: &BotConfig,
    name: &str,
    key: Option<&str>,
    mut def: ToolDef,
    callable: Arc<dyn Callable>,
) -> Contribution {
    if let Some(permits) = bot.tools.permissions.get(key.unwrap_or(name)) {
        def.options.permissions.clone_from(permits);
    }
    Contribution {
        owner: OwnerPath::root(),
        name: name.into(),
        placement: Placement::Plugin,
        source: Source::Builtin,
        def,
        callable,
        runtime: "builtin",
        place: None,
        schema_pointer: String::new(),
        code_digest: env!("CARGO_PKG_VERSION").into(),
        config: Arc::new(Map::new()),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn ask_schema() -> Value {
    object(
        json!({
            "question": {"type": "string", "minLength": 1, "maxLength": 4000, "pattern": "\\S",
                "description": "What the person is asked"},
            "type": {"type": "string", "enum": ["text", "number", "confirm", "pick"],
                "description": "Kind of answer; pick with options, else text"},
            "options": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 500},
                "maxItems": 20, "uniqueItems": true, "default": [], "description": "2 to 20 choices of a pick"},
            "default_value": {"type": "string", "description": "Taken when nobody answers; a valid answer"},
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 120},
        }),
        &["question"],
    )
}

fn discover_schema(top_k: usize) -> Value {
    object(
        json!({
            "query": {"type": "string", "default": "", "description": "Words for what is needed; empty lists by name"},
            "kind": {"type": "string", "enum": ["tool", "skill", "agent", "all"], "default": "all"},
            "mcp_server": {"type": ["string", "null"], "default": null, "description": "Only tools of this server"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": top_k},
        }),
        &[],
    )
}

fn name_schema() -> Value {
    object(json!({"name": {"type": "string", "minLength": 1, "description": "Name as discover shows it"}}), &["name"])
}

fn search_schema() -> Value {
    object(
        json!({
            "queries": {"type": "array", "minItems": 1,
                "items": {"type": "string", "minLength": 1, "pattern": "\\S"},
                "description": "What each wanted tool does"},
            "include_groups": {"type": ["array", "null"], "items": {"type": "string"}, "default": null,
                "description": "Only tools of these groups"},
        }),
        &["queries"],
    )
}

fn read_schema() -> Value {
    object(
        json!({
            "ref": {"type": "string", "minLength": 1, "maxLength": 64,
                "description": "message:N or result:N:B, as the conversation or context_search shows it"},
            "offset": {"type": "integer", "minimum": 0, "default": 0, "description": "First character"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": PAGE_CHARS},
            "representation": {"type": "string", "enum": ["text", "raw"], "default": "text",
                "description": "raw: the whole result as it was saved to a file"},
        }),
        &["ref"],
    )
}

fn find_schema() -> Value {
    object(
        json!({
            "query": {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\S",
                "description": "Text to find, upper and lower case alike"},
            "after": {"type": "integer", "minimum": 0, "default": 0,
                "description": "next_after of the page before; 0 starts at the oldest message"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 10},
        }),
        &["query"],
    )
}
