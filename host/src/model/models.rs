//! The models of a bot by name.

use super::chain::{Chain, Member};
use super::offline::Offline;
use super::remote::RemoteModel;
use super::{ModelClient, ModelError, ModelEvent, ModelRequest, ModelState};
use crate::config::{BotConfig, ModelConfig, Provider};
use crate::net::Http;
use async_trait::async_trait;
use futures::stream::BoxStream;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the built-in model, there without any configuration.
pub const OFFLINE: &str = "offline";

/// Clients by name, and which one is the bot's.
#[derive(Clone)]
pub struct Models {
    main: String,
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    config: Option<ModelConfig>,
    client: Arc<dyn ModelClient>,
    remote: Option<RemoteModel>,
}

impl Models {
    /// Builds a client per configured model; `offline` is always there.
    pub fn build(bot: &BotConfig, http: &Http) -> Self {
        Self::build_from(bot, http, None)
    }

    /// The same for a changed configuration: a model whose own part is unchanged keeps its client and state.
    pub fn rebuild(&self, bot: &BotConfig, http: &Http) -> Self {
        Self::build_from(bot, http, Some(self))
    }

    fn build_from(bot: &BotConfig, http: &Http, old: Option<&Self>) -> Self {
        let mut entries = BTreeMap::from([(OFFLINE.to_owned(), Entry::offline(None))]);
        for (name, config) in &bot.models {
            let kept = old.and_then(|o| o.entries.get(name)).filter(|e| e.config.as_ref() == Some(config));
            let entry = match (kept, &config.unavailable, config.provider) {
                (Some(entry), ..) => entry.clone(),
                (None, Some(reason), _) => Entry::off(name, config, reason),
                (None, None, Provider::Offline) => Entry::offline(Some(config)),
                (None, None, Provider::Openai | Provider::Anthropic) => Entry::remote(config, http),
            };
            entries.insert(name.clone(), entry);
        }
        Self { main: main_name(bot), entries }
    }

    /// The bot's model.
    pub fn main(&self) -> Arc<dyn ModelClient> {
        let unknown = || Off { name: self.main.clone(), reason: format!("model {:?} is not configured", self.main) };
        self.get(&self.main).unwrap_or_else(|| Arc::new(unknown()))
    }

    /// Name of the bot's model in the configuration.
    pub fn main_name(&self) -> &str {
        &self.main
    }

    /// A model by its name in the configuration, with its fallbacks behind it.
    pub fn get(&self, name: &str) -> Option<Arc<dyn ModelClient>> {
        let fallback = self.entries.get(name)?.config.iter().flat_map(|c| &c.fallback);
        let row = std::iter::once(name).chain(fallback.map(String::as_str));
        let members: Vec<Member> = row.filter_map(|n| self.member(n)).collect();
        match members.as_slice() {
            [only] => Some(only.client.clone()),
            _ => Some(Arc::new(Chain::new(members))),
        }
    }

    fn member(&self, name: &str) -> Option<Member> {
        let entry = self.entries.get(name)?;
        Some(Member { name: name.to_owned(), client: entry.client.clone(), remote: entry.remote.clone() })
    }

    /// State of each configured model, and of the bot's own, for reports.
    pub fn states(&self) -> Vec<(String, ModelState)> {
        let shown = |(name, e): &(&String, &Entry)| e.config.is_some() || **name == self.main;
        let state = |e: &Entry| match (&e.remote, &e.config) {
            (Some(client), _) => client.state(),
            (None, Some(config)) if config.unavailable.is_some() => ModelState::Down,
            (None, _) => ModelState::Up,
        };
        self.entries.iter().filter(shown).map(|(name, e)| (name.clone(), state(e))).collect()
    }
}

impl Entry {
    fn offline(config: Option<&ModelConfig>) -> Self {
        Self { config: config.cloned(), client: Arc::new(Offline::new()), remote: None }
    }

    /// Switched off by its configuration: asked never, so that nothing is sent without its key.
    fn off(name: &str, config: &ModelConfig, reason: &str) -> Self {
        let client = Off { name: name.to_owned(), reason: reason.to_owned() };
        Self { config: Some(config.clone()), client: Arc::new(client), remote: None }
    }

    fn remote(config: &ModelConfig, http: &Http) -> Self {
        let client = RemoteModel::new(config, http);
        Self { config: Some(config.clone()), client: Arc::new(client.clone()), remote: Some(client) }
    }
}

fn main_name(bot: &BotConfig) -> String {
    let default = || bot.models.contains_key("default").then(|| "default".to_owned());
    bot.agent.model.clone().or_else(default).unwrap_or_else(|| OFFLINE.to_owned())
}

/// Stands for a model that is not configured, or switched off: `offline` never takes over silently.
struct Off {
    name: String,
    reason: String,
}

#[async_trait]
impl ModelClient for Off {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(
        &self,
        _request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        Err(ModelError::Unavailable(self.reason.clone()))
    }
}
