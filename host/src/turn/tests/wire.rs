//! What is sendable by the host's own rules is taken by servers that are as strict as the real ones.

use super::sendable::{made, written};
use crate::config::{BotConfig, Language};
use crate::model::{ModelClient, ModelMessage, ModelRequest, ModelTool, Models, ToolChoice};
use crate::net::Http;
use crate::session::repair;
use crate::task::ManualClock;
use fake_anthropic::FakeAnthropic;
use fake_openai::{FakeOpenAi, Script};
use futures::StreamExt;
use plugin_sdk::CancellationSignal;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::sync::Arc;

fn client(config: Value) -> Arc<dyn ModelClient> {
    let mut bot = BotConfig::default();
    bot.models.insert("default".into(), serde_json::from_value(config).unwrap());
    Models::build(&bot, &Http::new(ManualClock::default().shared()).unwrap()).main()
}

fn request(messages: Vec<ModelMessage>) -> ModelRequest {
    let tool = ModelTool {
        wire: "lab__look".into(),
        qualified: "lab__look".into(),
        description: "Looks.".into(),
        schema: Arc::new(json!({"type": "object", "properties": {}})),
        words: Arc::new([]),
        meta: false,
        loaded: false,
    };
    ModelRequest {
        system: "You help.".into(),
        messages,
        tools: vec![tool],
        deferred: Vec::new(),
        tool_choice: ToolChoice::None,
        step: 1,
        user_text: "hi".into(),
        help_text: "help".into(),
        language: Language::En,
        cancellation: CancellationSignal::new(),
    }
}

async fn taken(model: &Arc<dyn ModelClient>, messages: Vec<ModelMessage>) -> Result<(), String> {
    let mut stream = model.complete(request(messages)).await.map_err(|e| e.to_string())?;
    while let Some(event) = stream.next().await {
        event.map_err(|e| e.to_string())?;
    }
    Ok(())
}

#[test]
fn every_repaired_prefix_is_taken_by_both_providers() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (openai, _server) = runtime.block_on(FakeOpenAi::start(Script::default())).unwrap();
    let (anthropic, _other) = runtime.block_on(FakeAnthropic::start(fake_anthropic::Script::default())).unwrap();
    let (openai, anthropic) = (format!("http://{openai}/v1"), format!("http://{anthropic}"));
    let models = [
        client(json!({"provider": "openai", "model": "m", "base_url": openai, "images": true})),
        client(json!({"provider": "openai", "model": "m", "base_url": openai})),
        client(json!({"provider": "anthropic", "model": "m", "base_url": anthropic, "api_key": "k-1", "images": true})),
        client(json!({"provider": "anthropic", "model": "m", "base_url": anthropic, "api_key": "k-1"})),
    ];
    let mut runner = TestRunner::new(Config { cases: 16, ..Config::default() });
    let transcripts = prop::collection::vec(made(), 1..7);
    let ran = runner.run(&transcripts, |steps| {
        let whole = written(steps);
        for cut in 0..=whole.len() {
            let (mut messages, _) = repair(whole[..cut].to_vec());
            if !matches!(messages.last(), Some(ModelMessage::User { .. } | ModelMessage::Tool { .. })) {
                messages.push(ModelMessage::user("go on"));
            }
            for model in &models {
                let refused = runtime.block_on(taken(model, messages.clone())).err();
                prop_assert_eq!(refused, None, "cut at {}: {:?}", cut, messages);
            }
        }
        Ok(())
    });
    ran.unwrap();
}
