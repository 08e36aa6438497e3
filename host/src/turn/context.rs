//! What a turn is given: one generation, one message, and the ports it works through.

use super::events::TurnEvents;
use super::outcome::{CancelledBy, TurnReport};
use crate::admission::{Facts, PolicyCell};
use crate::config::{BotConfig, Redactor, Texts};
use crate::exec::{Gates, Owners, ToolArtifactStore, ToolExecutor};
use crate::index::{Agent, Indexes};
use crate::journal::Journal;
use crate::model::ModelClient;
use crate::session::{Ledger, SessionKey, Sessions};
use crate::store::Op;
use crate::task::{SharedClock, Tasks};
use plugin_sdk::ports::Ask;
use plugin_sdk::{CancellationSignal, ImageData, Message, OriginKind};
use serde_json::Value;
use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The generation that answers. A turn never looks up another one.
#[derive(Clone)]
pub struct Answering {
    /// Its number.
    pub generation: u64,
    /// Its indexes.
    pub indexes: Arc<Indexes>,
    /// The agent that answers, by its position in the indexes; `None` = the bot itself.
    pub agent: Option<usize>,
    /// Its configuration.
    pub bot: Arc<BotConfig>,
    /// The bot's name in texts.
    pub bot_name: Arc<str>,
    /// Texts in the bot's language.
    pub texts: Arc<Texts>,
    /// Keeps the generation alive (its lease) until the turn has ended.
    pub hold: Arc<dyn Any + Send + Sync>,
}

/// The message that is answered.
#[derive(Clone)]
pub struct Incoming {
    /// Id of the turn.
    pub turn_id: String,
    /// What started it.
    pub origin: OriginKind,
    /// The message.
    pub message: Message,
    /// Messages that waited before it and that it stands for.
    pub earlier: Vec<Message>,
    /// Facts for the predicate.
    pub facts: Facts,
    /// The role was given (command line), not looked up: then it stays.
    pub given_role: bool,
    /// The session.
    pub session: SessionKey,
    /// Root of the turn's files.
    pub workspace_root: PathBuf,
    /// `/help` of this person.
    pub help_text: Arc<str>,
    /// `interactive` or `schedule`.
    pub profile: &'static str,
    /// The bytes of the message's images, in their order, as far as they could be had.
    pub images: Vec<ImageData>,
    /// What ties it to a turn before it and to a start after it.
    pub ties: Ties,
}

/// What ties a turn to one before it and to a start after it.
#[derive(Clone, Default)]
pub struct Ties {
    /// The turn whose message is answered again.
    pub retry_of: Option<String>,
    /// Kind of the connection the answer goes to; `None` when whoever asked waits for the report itself.
    pub over: Option<String>,
    /// What the next start needs to decide what becomes of the turn, should the process end before it.
    pub resume: Value,
}

/// What the calls of a turn run through.
#[derive(Clone)]
pub struct CallPorts {
    /// The generation's executor.
    pub executor: ToolExecutor,
    /// What the owners may do.
    pub owners: Arc<dyn Owners>,
    /// The live policy.
    pub policy: Arc<PolicyCell>,
    /// How calls are approved.
    pub gates: Gates,
    /// Where calls and the turn itself are recorded.
    pub journal: Journal,
    /// Where long results are saved.
    pub artifacts: ToolArtifactStore,
    /// The data folder of the host.
    pub data_dir: PathBuf,
    /// Takes secrets out of texts.
    pub redactor: Arc<Redactor>,
}

/// Further records of the commit's batch, made from the report: the answer's outbox record.
pub type RecordsOf = Arc<dyn Fn(&TurnReport) -> Vec<Op> + Send + Sync>;

/// A model that writes summaries.
#[derive(Clone)]
pub struct Summarizer {
    /// The model.
    pub model: Arc<dyn ModelClient>,
    /// Its window in tokens.
    pub context_window: u64,
}

/// Ways out of a turn.
#[derive(Clone)]
pub struct TurnPorts {
    /// The model.
    pub model: Arc<dyn ModelClient>,
    /// Its window in tokens.
    pub context_window: u64,
    /// The model of `agent.compaction.model`; `None` = the one above.
    pub summarizer: Option<Summarizer>,
    /// Keeps history, loaded set and outcome.
    pub sessions: Sessions,
    /// Asks the person; `None` when nobody can be asked.
    pub question: Option<Arc<dyn Ask>>,
    /// Shows drafts and progress.
    pub events: Arc<dyn TurnEvents>,
    /// Time.
    pub clock: SharedClock,
    /// Ends the turn from outside.
    pub stop: Stop,
    /// Where hooks hear of the end while the answer is on its way; `None`: the caller waits for them.
    pub background: Option<Tasks>,
    /// What people used.
    pub ledger: Ledger,
    /// What else belongs to the commit.
    pub records: Option<RecordsOf>,
}

/// Everything a turn needs.
#[derive(Clone)]
pub struct TurnContext {
    /// Who answers.
    pub with: Answering,
    /// What is answered.
    pub about: Incoming,
    /// Through what.
    pub ports: TurnPorts,
    /// How calls run.
    pub calls: CallPorts,
}

impl TurnContext {
    /// The chosen agent.
    pub fn agent(&self) -> Option<&Agent> {
        self.with.indexes.agents.get(self.with.agent?)
    }

    /// Model steps of this turn: the agent's own, else the bot's.
    pub fn max_steps(&self) -> u32 {
        self.agent().and_then(|a| a.source.limits.steps()).unwrap_or(self.with.bot.agent.max_iterations)
    }
}

/// Ends a turn at any moment. The first reason counts. Clones share it.
#[derive(Clone, Default)]
pub struct Stop {
    signal: CancellationSignal,
    by: Arc<OnceLock<CancelledBy>>,
}

impl Stop {
    /// Nothing is stopped yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A stop that also follows a signal made elsewhere.
    pub fn following(signal: &CancellationSignal) -> Self {
        Self { signal: signal.child(), by: Arc::default() }
    }

    /// Ends the turn.
    pub fn request(&self, by: CancelledBy) {
        // the loser of two requests has the same effect, under the winner's name
        let _ = self.by.set(by);
        self.signal.request();
    }

    /// Who ended it; a bare signal is the person's.
    pub fn by(&self) -> CancelledBy {
        self.by.get().copied().unwrap_or(CancelledBy::Person)
    }

    /// The signal behind it.
    pub fn signal(&self) -> &CancellationSignal {
        &self.signal
    }
}
