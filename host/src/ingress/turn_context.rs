//! Builds what a turn is given.

use super::about::{About, Repeats};
use super::agent::Chosen;
use super::approve::AskHere;
use super::arrive::{Arrived, Who};
use super::desk::Desk;
use super::lookups::Asker;
use super::show::Shown;
use crate::commands;
use crate::config::{Texts, WorkspaceScope};
use crate::exec::{ApprovalPort, ArtifactIndex, Gates, Membership, Owners, ToolArtifactStore};
use crate::generation::Lease;
use crate::index::Tool;
use crate::loader::Permissions;
use crate::outbound::Cards;
use crate::session::{AskedIn, Place, QuestionPort, SessionKey, Showing};
use crate::turn::{Answering, CallPorts, Incoming, Stop, Ties, TurnContext, TurnPorts};
use plugin_sdk::ports::Ask;
use plugin_sdk::{EffectivePolicy, Message, OriginKind, OwnerPath};
use std::path::PathBuf;
use std::sync::Arc;

/// How a turn reaches people.
pub(super) struct Way {
    pub(super) turn_id: String,
    pub(super) origin: OriginKind,
    pub(super) question: Option<Arc<dyn Ask>>,
    pub(super) gates: Gates,
    pub(super) shown: Arc<Shown>,
    /// Kind of the connection the answer goes to.
    pub(super) over: Option<String>,
    /// The former turn it stands for.
    pub(super) repeats: Option<Repeats>,
    /// Messages that waited before it and that it stands for.
    pub(super) earlier: Vec<Message>,
}

/// A new turn's id.
pub(super) fn fresh_turn() -> String {
    format!("t{}", uuid::Uuid::now_v7().simple())
}

impl Way {
    /// A chat: questions and approvals go into the conversation.
    pub(super) async fn chat(
        desk: &Arc<Desk>,
        arrived: &Arrived,
        place: &Arc<Place>,
        lease: &Lease,
        stop: &Stop,
    ) -> Self {
        let turn_id = fresh_turn();
        let bot = &lease.contents().bot;
        let texts = desk.texts(bot);
        let message = &arrived.who.message;
        let asked_in = AskedIn {
            session: arrived.who.session.clone(),
            turn_id: turn_id.clone(),
            generation: lease.number(),
            principal: arrived.who.facts.principal.id(),
            conversation: message.conversation.clone(),
            message_id: (!message.id.is_empty()).then(|| message.id.clone()),
            cancellation: stop.signal().clone(),
            place: Some(Arc::clone(place)),
            showing: showing(desk, arrived, lease, &texts),
            limit: bot.limits.cards_per_principal,
        };
        let redactor = Arc::clone(&desk.core.redactor);
        let port = Arc::new(QuestionPort::new(desk.talk.questions.clone(), asked_in, redactor));
        let approval = Arc::new(AskHere {
            desk: Arc::clone(desk),
            port: Arc::clone(&port),
            texts,
            facts: arrived.who.facts.clone(),
            terminal: arrived.over_console(),
        });
        Self {
            turn_id,
            origin: OriginKind::Message,
            question: arrived.who.facts.principal.is_identified().then_some(port as Arc<dyn Ask>),
            gates: Gates { member: member(desk, arrived), ..gates(desk, &arrived.who, Some(approval)).await },
            shown: Shown::on(desk, &arrived.endpoint, &arrived.who.message.conversation),
            over: Some(arrived.endpoint.info.kind.clone()),
            repeats: arrived.repeats.clone(),
            earlier: place.absorbed().iter().filter_map(|m| serde_json::from_value(m.clone()).ok()).collect(),
        }
    }
}

/// Who is looked up again before a call, where a permit needs it.
fn member(desk: &Desk, arrived: &Arrived) -> Option<Arc<dyn Membership>> {
    arrived.who.facts.platform_permissions.as_ref()?;
    let message = &arrived.who.message;
    Some(Arc::new(Asker {
        lookups: Arc::clone(&desk.talk.lookups),
        endpoint: Arc::clone(&arrived.endpoint),
        place: message.conversation.clone(),
        user: message.principal.user_id.clone(),
    }))
}

/// Cards on this turn's connection; the lease's deadline waits for their answers.
fn showing(desk: &Arc<Desk>, arrived: &Arrived, lease: &Lease, texts: &Arc<Texts>) -> Showing {
    let (waits, clock) = (lease.clone(), Arc::clone(&desk.core.clock));
    let cards = Cards {
        outbound: desk.talk.outbound.clone(),
        endpoints: Arc::clone(&desk.talk.endpoints),
        own: Some((arrived.who.message.conversation.clone(), Arc::clone(&arrived.endpoint))),
        tasks: desk.core.tasks.clone(),
    };
    Showing {
        sink: Arc::new(cards),
        texts: Arc::clone(texts),
        waits: Arc::new(move |open_for| waits.waits_until(open_for.map(|time| clock.monotonic() + time))),
    }
}

/// How calls of this person are approved in its session.
pub(super) async fn gates(desk: &Desk, who: &Who, approval: Option<Arc<dyn ApprovalPort>>) -> Gates {
    let grants = match desk.talk.grants.of(&who.session, &who.facts.principal.id()).await {
        Ok(grants) => who.facts.principal.is_identified().then_some(grants),
        Err(e) => {
            tracing::warn!(error = %e, "what was allowed for a session cannot be read, so it is asked again");
            None
        }
    };
    Gates { approval, grants, session: who.session.to_string(), ..Gates::default() }
}

/// What owners are allowed in a generation.
pub(super) struct OwnersOf(pub(super) Lease);

impl OwnersOf {
    fn permissions(&self, owner: &OwnerPath) -> Option<Arc<Permissions>> {
        self.0.contents().plugins.iter().find(|p| p.owner == *owner).map(|p| Arc::clone(&p.permissions))
    }
}

impl Owners for OwnersOf {
    fn policy(&self, owner: &OwnerPath) -> EffectivePolicy {
        let Some(p) = self.permissions(owner) else {
            return EffectivePolicy { filesystem: "none".into(), ..EffectivePolicy::default() };
        };
        let mut permissions: Vec<String> = p.http.iter().map(|h| format!("http:{h}")).collect();
        permissions.extend(p.env.iter().map(|n| format!("env:{n}")));
        permissions.extend(p.secrets.iter().map(|n| format!("secrets:{n}")));
        EffectivePolicy {
            unattended: false,
            permissions,
            network: !p.http.is_empty(),
            filesystem: p.filesystem.clone(),
        }
    }

    fn digest(&self, owner: &OwnerPath) -> String {
        let plugins = &self.0.contents().plugins;
        plugins.iter().find(|p| p.owner == *owner).map(|p| p.hash.clone()).unwrap_or_default()
    }

    fn may_call(&self, owner: &OwnerPath, tool: &Tool) -> bool {
        let asked = self.permissions(owner).and_then(|p| p.call_tools.clone()).unwrap_or_default();
        let fits = |pattern: &String| {
            let pattern = crate::admission::NamePattern::new(pattern);
            pattern.fits(&tool.qualified) || pattern.fits(tool.owner().as_str())
        };
        tool.owner() == owner || asked.iter().any(fits)
    }
}

/// Root of a session's files; made when missing.
pub(super) fn workspace(desk: &Desk, lease: &Lease, session: &SessionKey) -> PathBuf {
    let settings = &lease.contents().bot.workspace;
    let root = crate::store::real_path(&desk.core.data_dir.join(&settings.root));
    // The root may be a folder of somebody's work: only what is made for a session is the host's own.
    let (folder, made) = match settings.scope {
        WorkspaceScope::Session => {
            let folder = root.join(session.folder_name());
            let made = crate::store::private_dir(&folder);
            (folder, made)
        }
        WorkspaceScope::Bot => {
            let made = crate::store::made_dir(&root);
            (root, made)
        }
    };
    if let Err(e) = made {
        tracing::warn!(error = %e, "a workspace folder could not be made");
    }
    folder
}

/// What calls run through; shared by turns and calls by name.
pub(super) fn call_ports(
    desk: &Desk,
    lease: &Lease,
    (session, turn_id): (&SessionKey, &str),
    gates: Gates,
) -> CallPorts {
    let index = ArtifactIndex {
        store: Arc::clone(&desk.core.store),
        clock: Arc::clone(&desk.core.clock),
        session: session.folder_name(),
        turn_id: turn_id.to_string(),
        room: Arc::clone(&desk.executors.room),
    };
    CallPorts {
        executor: desk.executor(lease),
        owners: Arc::new(OwnersOf(lease.clone())),
        policy: Arc::clone(&desk.policy),
        gates,
        journal: desk.core.journal.clone(),
        artifacts: ToolArtifactStore::of_session(&desk.core.data_dir, index),
        data_dir: desk.core.data_dir.clone(),
        redactor: Arc::clone(&desk.core.redactor),
    }
}

/// Everything a turn needs.
pub(super) async fn build(
    desk: &Arc<Desk>,
    who: &Who,
    lease: &Lease,
    (way, stop): (Way, Stop),
    chosen: Chosen,
) -> TurnContext {
    let bot = Arc::clone(&lease.contents().bot);
    let help = super::answer::with_view(desk, lease, |view| commands::help(view, &who.facts));
    let turn_id = way.turn_id;
    let retry_of = way.repeats.as_ref().map(|r| r.retry_of.clone());
    let resume = About::kept(desk, who, way.over.clone(), way.repeats);
    let indexes = Arc::clone(&lease.contents().indexes);
    let own_model = chosen.agent.and_then(|i| indexes.agents.get(i)).and_then(|a| a.model.clone());
    let model_name = own_model.as_deref().or(bot.agent.model.as_deref()).unwrap_or("default");
    let model_config = bot.models.get(model_name);
    TurnContext {
        with: Answering {
            agent: chosen.agent,
            generation: lease.number(),
            indexes,
            bot_name: desk.bot_name(&bot).into(),
            texts: desk.texts(&bot),
            hold: Arc::new(lease.clone()),
            bot: Arc::clone(&bot),
        },
        about: Incoming {
            turn_id: turn_id.clone(),
            origin: way.origin,
            message: chosen.message.unwrap_or_else(|| who.message.clone()),
            earlier: way.earlier,
            facts: who.facts.clone(),
            given_role: who.given_role,
            session: who.session.clone(),
            workspace_root: workspace(desk, lease, &who.session),
            help_text: help.into(),
            profile: "interactive",
            images: Vec::new(),
            ties: Ties { retry_of, over: way.over, resume },
        },
        ports: TurnPorts {
            model: desk.models.of(&bot, own_model.as_deref()),
            context_window: model_config.map_or(128_000, |m| m.context_window),
            summarizer: desk.models.summarizer(&bot),
            sessions: desk.talk.sessions.clone(),
            question: way.question,
            events: way.shown,
            clock: Arc::clone(&desk.core.clock),
            stop,
            background: (way.origin == OriginKind::Message).then(|| desk.core.tasks.clone()),
            ledger: desk.talk.ledger.clone(),
            records: None,
        },
        calls: call_ports(desk, lease, (&who.session, &turn_id), way.gates),
    }
}
