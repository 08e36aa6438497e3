mod conversations;
mod filling;

use super::Offline;
use crate::config::Language;
use crate::index::{ItemKind, RankItem, Ranking, params_of, terms_of};
use crate::model::{ModelCall, ModelEvent, ModelMessage, ModelRequest, ModelTool, StopReason, ToolChoice};
use plugin_sdk::{CancellationSignal, ContentBlock};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) fn tool(name: &str, description: &str, keywords: &str, schema: Value) -> ModelTool {
    let local = name.rsplit("__").next().unwrap();
    let mut words = terms_of(local);
    words.extend(terms_of(keywords));
    ModelTool {
        wire: name.into(),
        qualified: name.into(),
        description: description.into(),
        schema: Arc::new(schema),
        words: words.into(),
        meta: false,
        loaded: false,
    }
}

pub(super) fn meta(name: &str) -> ModelTool {
    ModelTool { meta: true, ..tool(name, "Meta.", "", json!({"type": "object", "properties": {}})) }
}

pub(super) fn props(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

pub(super) fn weather() -> ModelTool {
    let schema = props(
        json!({"city": {"type": "string", "description": "City name"},
            "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "days": {"type": "integer", "minimum": 1, "maximum": 7}}),
        &["city"],
    );
    tool("maps__get-weather", "Get the current weather for a city", "forecast 天气 预报", schema)
}

pub(super) fn echo() -> ModelTool {
    tool("echo", "Says a text back", "repeat", props(json!({"text": {"type": "string"}}), &["text"]))
}

pub(super) fn convert() -> ModelTool {
    let unit = json!({"type": "string", "enum": ["km", "miles"]});
    let schema = props(
        json!({"value": {"type": "number", "description": "How much"}, "from": unit, "to": unit}),
        &["value", "from", "to"],
    );
    tool("convert", "Converts lengths", "distance 换算", schema)
}

/// A small host: it answers the controller's tools and records every other call.
pub(super) struct World {
    pub(super) tools: Vec<ModelTool>,
    pub(super) metas: Vec<&'static str>,
    /// Skills: name and the tools each unlocks.
    pub(super) skills: Vec<(&'static str, Vec<&'static str>)>,
    pub(super) answers: VecDeque<Value>,
    pub(super) result: Result<String, String>,
    pub(super) loaded: Vec<String>,
    pub(super) language: Language,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) messages: Vec<ModelMessage>,
}

impl World {
    pub(super) fn new(tools: Vec<ModelTool>) -> Self {
        Self {
            tools,
            metas: vec!["ask_user", "discover", "load_tool", "load_skill"],
            skills: vec![],
            answers: VecDeque::new(),
            result: Ok("done".into()),
            loaded: vec![],
            language: Language::En,
            calls: vec![],
            messages: vec![],
        }
    }

    pub(super) fn request(&self, text: &str, step: u32) -> ModelRequest {
        let mut tools: Vec<ModelTool> = self.metas.iter().map(|m| meta(m)).collect();
        let deferred = self.metas.iter().any(|m| matches!(*m, "discover" | "tool_search"));
        tools
            .extend(self.tools.iter().filter(|t| !deferred || self.loaded.contains(&t.qualified.to_string())).cloned());
        ModelRequest {
            deferred: vec![],
            system: "".into(),
            messages: self.messages.clone(),
            tools,
            tool_choice: ToolChoice::Auto,
            step,
            user_text: text.into(),
            help_text: "HELP".into(),
            language: self.language,
            cancellation: CancellationSignal::new(),
        }
    }

    /// Runs a turn and gives its text.
    pub(super) fn say(&mut self, text: &str) -> String {
        self.messages.push(ModelMessage::user(format!("[Ann] {text}")));
        for step in 1..=20 {
            let request = self.request(text, step);
            let events = Offline::answer(&request);
            assert_eq!(format!("{events:?}"), format!("{:?}", Offline::answer(&request)));
            match &events[0] {
                ModelEvent::Text(text) => {
                    assert_eq!(events[2], ModelEvent::Stop(StopReason::End));
                    self.messages.push(ModelMessage::assistant(text.clone(), vec![]));
                    return text.clone();
                }
                ModelEvent::Call(call) => self.call(call.clone()),
                other => panic!("{other:?}"),
            }
        }
        panic!("no end: {:?}", self.calls);
    }

    fn call(&mut self, call: ModelCall) {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        self.calls.push((call.name.clone(), arguments.clone()));
        let outcome = self.outcome(&call.name, &arguments);
        let is_error = outcome.is_err();
        let (text, data) = outcome.unwrap_or_else(|text| (text, Value::Null));
        self.messages.push(ModelMessage::assistant("", vec![call.clone()]));
        self.messages.push(ModelMessage::Tool {
            references: vec![],
            call_id: call.id,
            tool: call.name,
            content: vec![ContentBlock::text(text)],
            is_error,
            data,
        });
    }

    fn outcome(&mut self, name: &str, arguments: &Value) -> Result<(String, Value), String> {
        let arg = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        match name {
            "discover" => {
                Ok(("found".into(), json!({"items": self.discover(&arg("query"), &arg("kind")), "omitted": 0})))
            }
            "load_tool" => {
                self.loaded.push(arg("name"));
                Ok(("loaded".into(), json!({"loaded": arg("name"), "evicted": []})))
            }
            "load_skill" => {
                let unlocked = self.skills.iter().find(|s| s.0 == arg("name")).unwrap().1.clone();
                self.loaded.extend(unlocked.iter().map(|s| (*s).to_owned()));
                Ok(("Body".into(), json!({"skill": arg("name"), "unlocked": unlocked, "evicted": []})))
            }
            "tool_search" => {
                let query = arguments["queries"][0].as_str().unwrap();
                let hit = self.rank(query).first().cloned();
                self.loaded.extend(hit.clone());
                let tools: Vec<Value> = hit.iter().map(|n| json!({"name": n})).collect();
                Ok(("x".into(), json!({"selections": [{"query": query, "tool": hit}], "tools": tools})))
            }
            "ask_user" => match self.answers.pop_front() {
                Some(answer) => {
                    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
                    Ok((text.clone(), json!({"answer": text, "option_index": null, "source": "person"})))
                }
                None => Err("Error[QUESTION_TIMEOUT]: nobody answered".into()),
            },
            _ => self.result.clone().map(|text| (text, json!({}))),
        }
    }

    fn discover(&self, query: &str, kind: &str) -> Vec<Value> {
        if kind == "skill" {
            let hit = |s: &&(&str, Vec<&str>)| query.contains(s.0.split('-').next().unwrap());
            return self.skills.iter().filter(hit).map(|s| json!({"kind": "skill", "name": s.0})).collect();
        }
        let private = |n: &String| self.skills.iter().any(|s| s.1.contains(&n.as_str()));
        let names = self.rank(query).into_iter().filter(|n| !private(n));
        names.map(|n| json!({"kind": "tool", "name": n, "loaded": self.loaded.contains(&n)})).collect()
    }

    fn rank(&self, query: &str) -> Vec<String> {
        let item = |t: &ModelTool| RankItem {
            kind: ItemKind::Tool,
            name: t.qualified.rsplit("__").next().unwrap().into(),
            qualified: t.qualified.to_string(),
            wire: t.wire.to_string(),
            tags: t.words.to_vec(),
            group: String::new(),
            description: t.description.to_string(),
            params: params_of(&t.schema),
        };
        let ranking = Ranking::new(self.tools.iter().map(item).collect());
        let hits = ranking.search(query, |_| true, 5);
        hits.into_iter().map(|(id, _)| ranking.item(id).unwrap().qualified.clone()).collect()
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.calls.iter().map(|(name, _)| name.as_str()).collect()
    }
}
