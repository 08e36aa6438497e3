//! Chat completions, streamed, against any compatible address.

mod answer;
mod assemble;
mod attempt;
mod body;
mod cache;
mod chunk;
mod failure;
mod run;
mod text;

use super::health::{Health, ModelState};
use super::{ModelClient, ModelError, ModelEvent, ModelRequest};
use crate::config::{ModelConfig, SchemaProfile};
use crate::net::Http;
use async_trait::async_trait;
use cache::ToolCache;
use failure::Fault;
use futures::StreamExt;
use futures::channel::mpsc;
use futures::stream::{self, BoxStream};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::sync::Arc;

const VENDOR: &str = "https://api.openai.com/v1";
/// Events that may wait between the connection and the turn.
const EVENTS_AHEAD: usize = 16;

/// A client of one configured model. Cheap to clone; clones share what is known about the provider.
#[derive(Clone)]
pub struct OpenAi(Arc<OpenAiInner>);

struct OpenAiInner {
    config: ModelConfig,
    http: Http,
    own_service: bool,
    cache: ToolCache,
    health: Health,
}

impl OpenAi {
    /// A client with a configuration and the process's HTTP client.
    pub fn new(config: &ModelConfig, http: &Http) -> Self {
        Self(Arc::new(OpenAiInner {
            config: config.clone(),
            http: http.clone(),
            own_service: config.base_url.is_none(),
            cache: ToolCache::new(config.schema_profile.unwrap_or(SchemaProfile::Openai)),
            health: Health::new(),
        }))
    }

    /// What `status` says about it.
    pub fn state(&self) -> ModelState {
        self.0.health.state()
    }
}

impl OpenAiInner {
    /// The request; the key stands in its header and nowhere else.
    fn request(&self, body: &Value) -> Result<reqwest::RequestBuilder, Fault> {
        let url = endpoint(self.config.base_url.as_deref().unwrap_or(VENDOR))
            .ok_or_else(|| Fault::Down { reason: "base_url is no HTTP address".into() })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.config.api_key {
            headers.insert(AUTHORIZATION, secret_value(&format!("Bearer {}", key.expose()), "api_key")?);
        }
        for (name, value) in &self.config.headers {
            let bad = || Fault::Down { reason: format!("header {name:?} has no valid name") };
            let header = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            headers.insert(header, secret_value(value.expose(), name)?);
        }
        Ok(self.http.client().post(url).headers(headers).json(body))
    }

    fn secrets(&self) -> Vec<&str> {
        let key = self.config.api_key.iter().map(|s| s.expose());
        key.chain(self.config.headers.values().map(|s| s.expose())).collect()
    }
}

fn secret_value(text: &str, name: &str) -> Result<HeaderValue, Fault> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Fault::Down { reason: format!("{name:?} holds characters a header cannot") })?;
    value.set_sensitive(true);
    Ok(value)
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

#[async_trait]
impl ModelClient for OpenAi {
    fn name(&self) -> &str {
        &self.0.config.model
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
        // The work runs inside the stream: whoever drops the stream ends the request.
        let work = stream::once(run::run(self.0.clone(), request, sender)).filter_map(|()| async { None });
        Ok(stream::select(receiver, work).boxed())
    }
}

#[cfg(test)]
mod tests;
