//! What the clients of remote models share: attempts and pauses, what a failure means, tools as sent, the state of
//! the model. What a request and an answer look like is a `Wire`; each format brings one.

mod answer;
mod attempt;
mod cache;
mod cost;
mod failure;
mod ids;
mod image;
mod names;
mod offer;
mod run;
mod text;

pub(super) use answer::{Answer, RawCall, Reader, Reading, own_parts};
pub(super) use cache::ToolCache;
pub(super) use failure::{ErrorBody, Fault, classify};
pub(super) use ids::{Ids, sendable_id};
pub(super) use image::{is_shown, placeholder};
pub(super) use names::{sendable_arguments, sendable_name};
pub(super) use offer::{Offer, Tools};
pub(super) use text::{Piece, TextBuffer, joined};

#[cfg(test)]
pub(super) use failure::{named_tool, retry_after};

use super::anthropic::Anthropic;
use super::health::{Health, ModelState};
use super::openai::OpenAi;
use super::{ModelClient, ModelError, ModelEvent, ModelRequest, ModelTool};
use crate::config::{ModelConfig, Provider, SchemaProfile};
use crate::net::Http;
use async_trait::async_trait;
use futures::StreamExt;
use futures::channel::mpsc;
use futures::stream::{self, BoxStream};
use offer::Deferral;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Events that may wait between the connection and the turn.
const EVENTS_AHEAD: usize = 16;

/// Most that an answer may hold beside its text, in bytes: arguments and parts for its maker. A model that writes more
/// has lost its way; the answer ends there, as if it were cut by length.
pub(super) const MAX_HELD: usize = 1 << 20;

/// Most calls of one answer: far more than a turn runs, so that whoever writes more is cut off, not served.
pub(super) const MAX_CALLS: usize = 1024;

/// What one wire format is.
pub(super) trait Wire: Send + Sync {
    /// Where a request goes, from the configured address or the vendor's.
    fn endpoint(&self, base: Option<&str>) -> Option<reqwest::Url>;
    /// Headers of every request, the key among them.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// Whether it knows tools that are found later.
    fn defers(&self) -> bool {
        false
    }
    /// A tool as the list has it.
    fn tool(&self, tool: &ModelTool, profile: SchemaProfile) -> Value;
    /// The body of a request.
    fn body(&self, sending: &Sending<'_>) -> Value;
    /// Reads the events of an answer.
    fn reader(&self) -> Box<dyn Reader>;
}

/// All that a request is written from.
pub(super) struct Sending<'a> {
    pub(super) model: &'a Remote,
    pub(super) request: &'a ModelRequest,
    pub(super) tools: &'a Tools<'a>,
    /// What a paused answer has so far; it goes on from there.
    pub(super) continued: &'a [Value],
}

/// One configured model.
pub(super) struct Remote {
    pub(super) config: ModelConfig,
    pub(super) cache: ToolCache,
    /// Fingerprint of the service and model: what only its maker can read goes back to an equal one.
    pub(super) maker: String,
    wire: Box<dyn Wire>,
    http: Http,
    health: Health,
    deferral: Deferral,
}

/// A client of one configured model. Cheap to clone; clones share what is known about the provider.
#[derive(Clone)]
pub struct RemoteModel(Arc<Remote>);

impl RemoteModel {
    /// A client with a configuration and the process's HTTP client.
    pub fn new(config: &ModelConfig, http: &Http) -> Self {
        let (wire, profile): (Box<dyn Wire>, _) = match config.provider {
            Provider::Anthropic => (Box::new(Anthropic), SchemaProfile::Anthropic),
            Provider::Openai | Provider::Offline => (Box::new(OpenAi), SchemaProfile::Openai),
        };
        Self(Arc::new(Remote {
            config: config.clone(),
            http: http.clone(),
            wire,
            cache: ToolCache::new(config.schema_profile.unwrap_or(profile)),
            health: Health::new(),
            maker: maker_of(config),
            deferral: Deferral::new(config),
        }))
    }

    /// What `status` says about it.
    pub fn state(&self) -> ModelState {
        self.0.health.state()
    }

    /// Whether it is spared for now, or until its configuration changes.
    pub(super) fn is_spared(&self) -> bool {
        self.0.health.state() == ModelState::Down || self.0.health.rests(self.0.http.clock())
    }
}

fn maker_of(config: &ModelConfig) -> String {
    let text = format!("{:?}\n{}\n{}", config.provider, config.base_url.as_deref().unwrap_or_default(), config.model);
    Sha256::digest(text.as_bytes()).iter().take(8).fold(String::new(), |out, byte| format!("{out}{byte:02x}"))
}

impl Remote {
    /// The request; the key stands in its header and nowhere else.
    fn request(&self, body: &Value) -> Result<reqwest::RequestBuilder, Fault> {
        let url = self
            .wire
            .endpoint(self.config.base_url.as_deref())
            .ok_or_else(|| Fault::Down { reason: "base_url is no HTTP address".into() })?;
        let mut headers = HeaderMap::new();
        let own = self.wire.headers(self.config.api_key.as_ref().map(|k| k.expose()));
        let betas = self.betas().filter(|_| self.wire.defers()).map(|b| ("anthropic-beta", b));
        for (name, value) in own.into_iter().chain(betas) {
            headers.insert(HeaderName::from_static(name), secret_value(&value, name)?);
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

#[async_trait]
impl ModelClient for RemoteModel {
    fn name(&self) -> &str {
        &self.0.config.model
    }

    fn wants_catalog(&self) -> bool {
        self.0.deferral_possible()
    }

    fn sees_images(&self) -> bool {
        self.0.config.images
    }

    fn max_tools(&self) -> usize {
        self.0.config.max_tools
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
