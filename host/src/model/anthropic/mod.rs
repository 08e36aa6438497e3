//! The format of messages, streamed.

mod body;
mod read;

use super::remote::{Reader, Sending, Wire};
use super::{ModelTool, cut_description, wire_schema};
use crate::config::SchemaProfile;
use serde_json::{Value, json};

const VENDOR: &str = "https://api.anthropic.com";
const VERSION: &str = "2023-06-01";

/// The format.
pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn endpoint(&self, base: Option<&str>) -> Option<reqwest::Url> {
        endpoint(base.unwrap_or(VENDOR))
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|k| ("x-api-key", k.to_owned()));
        key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
    }

    fn defers(&self) -> bool {
        true
    }

    fn tool(&self, tool: &ModelTool, profile: SchemaProfile) -> Value {
        json!({
            "name": &*tool.wire,
            "description": cut_description(&tool.description),
            "input_schema": wire_schema(&tool.schema, profile),
        })
    }

    fn body(&self, sending: &Sending<'_>) -> Value {
        body::body(sending)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(read::MessageReader::default())
    }
}

/// `base_url` with the path of the format added to its own, the version where it has none; a query stays.
fn endpoint(base: &str) -> Option<reqwest::Url> {
    let mut url = reqwest::Url::parse(base).ok().filter(|u| matches!(u.scheme(), "http" | "https"))?;
    let path = url.path().trim_end_matches('/').to_owned();
    let added: &[&str] = match path.rsplit('/').next() {
        Some("messages") => &[],
        Some("v1") => &["messages"],
        _ => &["v1", "messages"],
    };
    url.path_segments_mut().ok()?.pop_if_empty().extend(added);
    Some(url)
}

#[cfg(test)]
mod tests;
