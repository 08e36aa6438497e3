//! What a message needs on its way: the process's own values, made once by `app`.

use super::lookups::Lookups;
use super::rate::Rates;
use crate::admission::PolicyCell;
use crate::candidate::Contents;
use crate::config::{BotConfig, Redactor, Texts};
use crate::endpoint::Endpoints;
use crate::exec::{ArtifactRoom, BoundHook, CircuitBreaker, HookDispatcher, ToolExecutor};
use crate::generation::{Generation, Publisher};
use crate::journal::Journal;
use crate::model::{ModelClient, ModelState, Models};
use crate::net::Http;
use crate::outbound::Outbound;
use crate::session::{Grants, Lanes, Ledger, Questions, Sessions};
use crate::store::SharedStore;
use crate::task::{SharedClock, Tasks};
use crate::turn::{CallReport, Summarizer};
use async_trait::async_trait;
use plugin_sdk::ports::ReloadRequest;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The ground: time, tasks, records, places.
pub struct Core {
    /// Time.
    pub clock: SharedClock,
    /// Tracked tasks.
    pub tasks: Tasks,
    /// The store.
    pub store: SharedStore,
    /// The journal.
    pub journal: Journal,
    /// Takes secrets out of texts.
    pub redactor: Arc<Redactor>,
    /// The data folder.
    pub data_dir: PathBuf,
}

/// Conversations.
pub struct Talk {
    /// Histories.
    pub sessions: Sessions,
    /// Tickets and places.
    pub lanes: Lanes,
    /// Open questions.
    pub questions: Questions,
    /// What people allowed for a session.
    pub grants: Grants,
    /// Sending.
    pub outbound: Outbound,
    /// Connections.
    pub endpoints: Arc<Endpoints>,
    /// What people used.
    pub ledger: Ledger,
    /// How often people speak.
    pub rates: Rates,
    /// What people hold on their platforms.
    pub lookups: Arc<Lookups>,
    /// Turns that are run again by now, after a crash broke them off.
    pub reruns: tokio::sync::Mutex<HashSet<String>>,
}

/// The state of the whole, as `status` shows it.
#[async_trait]
pub trait Overview: Send + Sync {
    /// Keys of `status` beside the envelope.
    async fn status(&self) -> Value;
}

/// The model clients: process-owned, made for the configuration of a generation.
pub struct ModelShelf {
    http: Http,
    fixed: Option<Arc<dyn ModelClient>>,
    made: Mutex<Option<(Arc<BotConfig>, Models)>>,
}

impl ModelShelf {
    /// Clients over one HTTP client; `fixed` stands for every model (scenarios, tests).
    pub fn new(http: Http, fixed: Option<Arc<dyn ModelClient>>) -> Self {
        Self { http, fixed, made: Mutex::new(None) }
    }

    /// The bot's model in a configuration. A model whose own part did not change keeps its client.
    pub fn main(&self, bot: &Arc<BotConfig>) -> Arc<dyn ModelClient> {
        match &self.fixed {
            Some(model) => Arc::clone(model),
            None => self.models(bot).main(),
        }
    }

    /// The model of `agent.compaction.model`, when one is named.
    pub(super) fn summarizer(&self, bot: &Arc<BotConfig>) -> Option<Summarizer> {
        let name = bot.agent.compaction.model.as_deref()?;
        let model = match &self.fixed {
            Some(model) => Arc::clone(model),
            None => self.models(bot).get(name)?,
        };
        Some(Summarizer { model, context_window: bot.models.get(name).map_or(128_000, |m| m.context_window) })
    }

    /// The model of a name in the configuration, else the bot's.
    pub fn of(&self, bot: &Arc<BotConfig>, name: Option<&str>) -> Arc<dyn ModelClient> {
        let Some(name) = name.filter(|_| self.fixed.is_none()) else { return self.main(bot) };
        let models = self.models(bot);
        models.get(name).unwrap_or_else(|| models.main())
    }

    /// Name of the bot's model in its configuration, and the states of all.
    pub fn states(&self, bot: &Arc<BotConfig>) -> (String, Vec<(String, ModelState)>) {
        let models = self.models(bot);
        (models.main_name().to_string(), models.states())
    }

    fn models(&self, bot: &Arc<BotConfig>) -> Models {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let models = match made.take() {
            Some((of, models)) if Arc::ptr_eq(&of, bot) => models,
            Some((_, models)) => models.rebuild(bot, &self.http),
            None => Models::build(bot, &self.http),
        };
        *made = Some((Arc::clone(bot), models.clone()));
        models
    }
}

/// An executor per generation: the last ones asked for. What a tool's failures count goes on over reloads.
#[derive(Default)]
pub struct Executors {
    kept: Mutex<Vec<(u64, ToolExecutor)>>,
    breaker: CircuitBreaker,
    /// How full the artifact folder is.
    pub room: Arc<ArtifactRoom>,
}

impl Executors {
    /// Generations whose executor is kept.
    const KEPT: usize = 4;

    fn build(&self, contents: &Contents, clock: &SharedClock) -> ToolExecutor {
        let (indexes, bot) = (&contents.indexes, &contents.bot);
        let hooks = HookDispatcher::of(indexes.hooks.iter().map(BoundHook::of).collect());
        let executor = ToolExecutor::with(indexes.tools.clone(), Arc::clone(bot), Arc::clone(clock))
            .hook_dispatcher(Arc::new(hooks));
        let rest = &bot.tools.breaker;
        if rest.enabled {
            executor.circuit_breaker(self.breaker.sibling(rest.failure_threshold, rest.cooldown_seconds))
        } else {
            executor
        }
    }

    fn of(&self, generation: &Generation, clock: &SharedClock) -> ToolExecutor {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, executor)) = kept.iter().find(|(n, _)| *n == generation.number()) {
            return executor.clone();
        }
        let executor = self.build(generation.contents(), clock);
        kept.push((generation.number(), executor.clone()));
        if kept.len() > Self::KEPT {
            kept.remove(0);
        }
        executor
    }
}

/// Everything.
pub struct Desk {
    /// Ground.
    pub core: Core,
    /// Conversations.
    pub talk: Talk,
    /// Who may do what.
    pub policy: Arc<PolicyCell>,
    /// Generations.
    pub publisher: Publisher,
    /// Models.
    pub models: ModelShelf,
    /// Reloads.
    pub reload: Arc<dyn ReloadRequest>,
    /// State of the whole.
    pub overview: Arc<dyn Overview>,
    /// Executors.
    pub executors: Executors,
    /// Name of the bot folder.
    pub folder_name: String,
    /// Whether this is the live host of its data folder; a throw-away one shows no generation number.
    pub live: bool,
    /// Tickets given.
    pub tickets: AtomicU64,
    /// Calls of finished turns, kept for whoever takes them; bounded.
    pub calls: Mutex<VecDeque<CallReport>>,
}

/// Finished calls kept for `take_calls`.
const CALLS_KEPT: usize = 500;

impl Desk {
    /// The next ticket number.
    pub fn next_ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Remembers the calls of a finished turn.
    pub(super) fn note_calls(&self, calls: &[CallReport]) {
        let mut kept = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(calls.iter().cloned());
        let over = kept.len().saturating_sub(CALLS_KEPT);
        kept.drain(..over);
    }

    /// Whether there are calls to take.
    pub fn has_calls(&self) -> bool {
        !self.calls.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes the calls of finished turns, oldest first.
    pub fn take_calls(&self) -> Vec<CallReport> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }

    /// The executor of a leased generation.
    pub(super) fn executor(&self, generation: &Generation) -> ToolExecutor {
        self.executors.of(generation, &self.core.clock)
    }

    /// System texts of a configuration.
    pub fn texts(&self, bot: &BotConfig) -> Arc<Texts> {
        Texts::shared(bot.bot.language)
    }

    /// The bot's name.
    pub fn bot_name(&self, bot: &BotConfig) -> String {
        bot.bot.name.clone().unwrap_or_else(|| self.folder_name.clone())
    }
}
