mod chain;
mod models;
mod wire_schema;

use crate::config::Language;
use crate::model::{ModelRequest, ToolChoice};
use plugin_sdk::CancellationSignal;

fn request() -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: vec![],
        tools: vec![],
        deferred: vec![],
        tool_choice: ToolChoice::Auto,
        step: 1,
        user_text: "x".into(),
        help_text: "".into(),
        language: Language::En,
        cancellation: CancellationSignal::new(),
    }
}
