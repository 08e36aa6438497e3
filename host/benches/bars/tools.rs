//! Tools in memory, with texts that are the same at every run.

use host::index::{Contribution, Source};
use host::loader::Placement;
use plugin_sdk::{Callable, Capability, OwnerPath, ToolDef, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const WORDS: [&str; 24] = [
    "weather",
    "mail",
    "city",
    "convert",
    "currency",
    "github",
    "issue",
    "create",
    "search",
    "vector",
    "music",
    "play",
    "lamp",
    "door",
    "open",
    "report",
    "image",
    "resize",
    "translate",
    "天气",
    "检索",
    "北京",
    "预报",
    "查询",
];

/// A few frequent words and many rare ones.
pub(crate) struct Texts(u64);

impl Texts {
    pub(crate) fn new() -> Self {
        Self(12345)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn words(&mut self, count: usize) -> String {
        let word = |n: u64| match n % 3000 {
            k @ 0..600 => WORDS[k as usize % WORDS.len()].to_string(),
            k => format!("word{k}"),
        };
        (0..count).map(|_| word(self.next())).collect::<Vec<_>>().join(" ")
    }
}

/// Answers a fixed text.
pub(crate) struct Says(pub(crate) String);

#[async_trait::async_trait]
impl Callable for Says {
    async fn call(&self, _: Map<String, Value>, _: &ToolExecutionContext) -> ToolResult {
        ToolResult::text(self.0.clone())
    }
}

/// A reading tool of the owner `maps`.
pub(crate) fn tool(name: &str, description: &str, answer: String) -> Contribution {
    let def = ToolDef::new(description).capabilities([Capability::Read]).input_schema(json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "City name"},
            "days": {"type": "integer", "minimum": 1, "default": 1},
        },
    }));
    Contribution {
        owner: OwnerPath::new("maps"),
        name: name.into(),
        placement: Placement::Plugin,
        source: Source::Folder,
        def,
        callable: Arc::new(Says(answer)),
        runtime: "builtin",
        place: None,
        schema_pointer: "/input_schema".into(),
        code_digest: String::new(),
        config: Arc::default(),
    }
}
