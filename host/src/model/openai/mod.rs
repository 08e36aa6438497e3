//! The format of chat completions, streamed, at any compatible address.

mod assemble;
mod body;
mod chunk;
mod read;

use super::remote::{Reader, Sending, Wire};
use super::{ModelTool, cut_description, wire_schema};
use crate::config::SchemaProfile;
use serde_json::{Map, Value, json};

const VENDOR: &str = "https://api.openai.com/v1";

/// The format.
pub(super) struct OpenAi;

impl Wire for OpenAi {
    fn endpoint(&self, base: Option<&str>) -> Option<reqwest::Url> {
        endpoint(base.unwrap_or(VENDOR))
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|k| ("authorization", format!("Bearer {k}"))).into_iter().collect()
    }

    fn tool(&self, tool: &ModelTool, profile: SchemaProfile) -> Value {
        let mut function = Map::new();
        function.insert("name".into(), json!(&*tool.wire));
        function.insert("description".into(), json!(cut_description(&tool.description)));
        function.insert("parameters".into(), wire_schema(&tool.schema, profile));
        if profile == SchemaProfile::Openai {
            function.insert("strict".into(), json!(false));
        }
        json!({"type": "function", "function": function})
    }

    fn body(&self, sending: &Sending<'_>) -> Value {
        body::body(sending)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(read::ChatReader::default())
    }
}

/// `base_url` with the path of the format added to its own; a query stays.
fn endpoint(base: &str) -> Option<reqwest::Url> {
    const PATH: [&str; 2] = ["chat", "completions"];
    let mut url = reqwest::Url::parse(base).ok().filter(|u| matches!(u.scheme(), "http" | "https"))?;
    if !url.path().trim_end_matches('/').ends_with("/chat/completions") {
        url.path_segments_mut().ok()?.pop_if_empty().extend(PATH);
    }
    Some(url)
}

#[cfg(test)]
pub(super) mod tests;
