//! The controller: who is in the base, what is sent in a step, which call is allowed.

use super::loaded::{Caps, Evicted, LoadedSet};
use super::refusal::Refused;
use super::sent::SentTool;
use super::sight::Sight;
use super::{Admitted, restore};
use crate::config::{BotConfig, DeferredForm};
use crate::index::{Agent, Indexes, Tool, ToolId};
use crate::session::{Dropped, LoadedSnapshot};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a controller is made of.
pub struct CatalogInput<'a> {
    /// The turn's generation.
    pub indexes: Arc<Indexes>,
    /// Verdict of the predicate for this person here.
    pub admitted: Admitted,
    /// The generation's configuration.
    pub bot: &'a BotConfig,
    /// The session's loaded set.
    pub snapshot: &'a LoadedSnapshot,
    /// Tool names that the history mentions.
    pub mentioned: HashSet<String>,
    /// Whether the person can be asked.
    pub can_ask: bool,
    /// The agent that answers, by its position in the indexes.
    pub agent: Option<usize>,
    /// Most tools of a request.
    pub max_tools: usize,
}

/// One load of the step in progress, kept until its result is final.
#[derive(Clone)]
pub(super) enum Load {
    Tools(Vec<ToolId>),
    Skill(usize),
}

pub(super) struct State {
    pub(super) set: LoadedSet,
    /// The set when the step began.
    base: LoadedSet,
    loads: Vec<(String, Load)>,
    pub(super) step: u32,
    sent: HashSet<ToolId>,
}

/// What holds for this turn alone.
pub(super) struct Turn {
    pub(super) can_ask: bool,
    pub(super) agent: Option<usize>,
}

/// The deferred controller of one turn.
pub struct Controller {
    pub(super) indexes: Arc<Indexes>,
    pub(super) admitted: Admitted,
    pub(super) form: DeferredForm,
    pub(super) top_k: usize,
    pub(super) caps: Caps,
    pub(super) turn: Turn,
    pub(super) mentioned: HashSet<String>,
    /// Sent in every step, in list order: always-loaded ones, then pinned ones.
    pub(super) fixed: Vec<ToolId>,
    pub(super) send_all: bool,
    notices: Vec<String>,
    /// As the session had it when the turn began.
    before: LoadedSnapshot,
    pub(super) state: Mutex<State>,
}

impl Controller {
    /// The controller of a turn. Stale entries of the snapshot are judged here and only here.
    pub fn new(input: CatalogInput<'_>) -> Self {
        let deferred = &input.bot.agent.deferred_tools;
        let mut caps = Caps { tools: deferred.max_loaded_per_session, skills: deferred.max_skills_per_session };
        let restored = restore::restore(&input.indexes, &input.admitted, input.snapshot);
        let state =
            State { base: restored.set.clone(), set: restored.set, loads: Vec::new(), step: 0, sent: HashSet::new() };
        let mut controller = Self {
            fixed: Vec::new(),
            send_all: false,
            notices: restored.notices,
            before: input.snapshot.clone(),
            form: deferred.form,
            top_k: deferred.discover_top_k,
            caps,
            turn: Turn { can_ask: input.can_ask, agent: input.agent },
            mentioned: input.mentioned,
            admitted: input.admitted,
            indexes: input.indexes,
            state: Mutex::new(state),
        };
        controller.fixed = controller.fixed_tools(input.bot);
        let room = input.max_tools.saturating_sub(controller.fixed.len());
        controller.send_all = controller.deferred_chars_below(deferred.load_all_below_chars, room);
        // what the model takes no more leaves like any other, and is told in the result that caused it
        caps.tools = if controller.send_all { usize::MAX } else { caps.tools.min(room) };
        controller.caps = caps;
        controller.admit_always_skills();
        controller
    }

    /// The agent that answers.
    pub fn chosen(&self) -> Option<&Agent> {
        self.indexes.agents.get(self.turn.agent?)
    }

    fn admit_always_skills(&self) {
        let mut state = self.lock();
        for position in self.always_skills() {
            let Some(skill) = self.indexes.skills.get(position) else { continue };
            let members = self.group_of(skill);
            state.set.admit_always(restore::skill_key(&self.indexes, skill), &members, self.caps);
        }
        state.base = state.set.clone();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a skill is loaded at this moment, and one this person may see.
    pub fn has_loaded(&self, skill: &str) -> bool {
        let visible =
            self.indexes.skills.iter().position(|s| s.qualified == skill).is_some_and(|i| self.skill_visible(i));
        visible && self.lock().set.has_skill(skill)
    }

    /// Begins a model step: loads made from here on count as its own, and the tool list is fixed.
    pub fn begin_step(&self) -> Vec<SentTool> {
        let mut state = self.lock();
        state.step += 1;
        state.base = state.set.clone();
        state.loads.clear();
        let list = self.list_of(&state.set);
        state.sent = list.iter().map(|t| t.id).collect();
        list
    }

    fn list_of(&self, set: &LoadedSet) -> Vec<SentTool> {
        let tools = self.indexes.tools.tools();
        let mut ids = self.fixed.clone();
        if self.send_all {
            let mut rest: Vec<&Tool> = tools.iter().filter(|t| self.listed(t) && !self.is_fixed(t.id)).collect();
            rest.sort_by(|a, b| a.qualified.cmp(&b.qualified));
            ids.extend(rest.iter().map(|t| t.id));
        }
        for entry in set.tools() {
            let tool = self.indexes.tools.get(&entry.name).filter(|t| self.in_base(set, t));
            if let Some(t) = tool.filter(|t| !ids.contains(&t.id)) {
                ids.push(t.id);
            }
        }
        let tools = ids.iter().filter_map(|id| self.indexes.tools.by_id(*id));
        tools.map(|t| SentTool::of(t, !self.is_sent_anyway(t))).collect()
    }

    /// These were left out of the request after all (wire names): a call of one is a call of a tool not sent.
    pub fn left_out(&self, names: &[String]) {
        let mut state = self.lock();
        for tool in names.iter().filter_map(|name| self.indexes.tools.get(name)) {
            state.sent.remove(&tool.id);
        }
    }

    /// The rest of the base as `begin_step` left it, by qualified name: a model that is told of it may not call it.
    pub fn deferred(&self) -> Vec<SentTool> {
        let state = self.lock();
        let tools = self.indexes.tools.tools().iter();
        let mut rest: Vec<&Tool> =
            tools.filter(|t| !state.sent.contains(&t.id) && self.in_base(&state.set, t)).collect();
        rest.sort_by(|a, b| a.qualified.cmp(&b.qualified));
        rest.into_iter().map(|t| SentTool::of(t, false)).collect()
    }

    /// Qualified names of the tools that a call of this step loaded and that are still there.
    pub fn loaded_by(&self, call_id: &str) -> Vec<String> {
        let state = self.lock();
        let mut names: Vec<String> = Vec::new();
        for (_, load) in state.loads.iter().filter(|(id, _)| id == call_id) {
            let members: Vec<Arc<str>> = match load {
                Load::Tools(ids) => {
                    ids.iter().filter_map(|id| self.indexes.tools.by_id(*id)).map(|t| t.qualified.clone()).collect()
                }
                Load::Skill(at) => self
                    .indexes
                    .skills
                    .get(*at)
                    .map(|s| self.group_of(s))
                    .unwrap_or_default()
                    .into_iter()
                    .map(|m| m.name)
                    .collect(),
            };
            names.extend(members.iter().filter(|n| state.set.has_tool(n)).map(|n| n.to_string()));
        }
        names
    }

    /// The tool a model's call means, when its schema was sent in this step; otherwise the refusal.
    pub fn may_call(&self, name: &str) -> Result<&Tool, Refused> {
        let state = self.lock();
        let Some(tool) = self.indexes.tools.get(name) else {
            return Err(self.unknown(&state.set, name));
        };
        if let Some(refused) = self.refusal_of(&state.set, tool) {
            return Err(refused);
        }
        let still_here = self.is_sent_anyway(tool) || state.set.has_tool(&tool.qualified);
        if !state.sent.contains(&tool.id) || !still_here {
            return Err(Refused::NotLoaded(tool.qualified.clone(), self.how_to_load(tool)));
        }
        Ok(tool)
    }

    /// A call of a tool: a use, if it is loaded. `name` is any of its names.
    pub fn touch(&self, name: &str) {
        if let Some(tool) = self.indexes.tools.get(name) {
            let mut state = self.lock();
            state.set.touch(&tool.qualified);
            state.base.touch(&tool.qualified);
        }
    }

    pub(super) fn record(&self, state: &mut State, call_id: &str, load: Load) {
        state.loads.push((call_id.to_string(), load));
    }

    /// Takes back the loads of calls whose final result became an error; the others stay.
    pub fn settle(&self, failed_calls: &HashSet<String>) {
        let mut state = self.lock();
        let loads = std::mem::take(&mut state.loads);
        if !loads.iter().any(|(id, _)| failed_calls.contains(id)) {
            return;
        }
        state.set = state.base.clone();
        for (_, load) in loads.iter().filter(|(id, _)| !failed_calls.contains(id)) {
            self.apply(&mut state, load);
        }
    }

    pub(super) fn apply(&self, state: &mut State, load: &Load) -> Evicted {
        let step = state.step;
        let mut evicted = Evicted::default();
        match load {
            Load::Tools(ids) => {
                for tool in ids.iter().filter_map(|id| self.indexes.tools.by_id(*id)) {
                    evicted.absorb(state.set.load_tool(restore::member(tool), step, self.caps));
                }
            }
            Load::Skill(position) => {
                if let Some(skill) = self.indexes.skills.get(*position) {
                    let key = restore::skill_key(&self.indexes, skill);
                    evicted = state.set.load_skill(key, &self.group_of(skill), step, self.caps);
                }
            }
        }
        evicted
    }

    /// Lines for the model about entries that were dropped at the start of this turn.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// What the session keeps, and what left it in this turn.
    pub fn snapshot(&self) -> (LoadedSnapshot, Vec<Dropped>) {
        let state = self.lock();
        (restore::snapshot(&state.set), restore::dropped(&self.before, &state.set))
    }

    /// Whether a tool is in the base: in the model's hands, or one load away.
    pub fn within_reach(&self, name: &str) -> bool {
        let state = self.lock();
        self.indexes.tools.get(name).is_some_and(|t| self.refusal_of(&state.set, t).is_none())
    }

    /// Qualified names and texts of the loaded skills this person may see; those of every prompt are left out.
    pub fn loaded_skills(&self) -> Vec<(String, String)> {
        let state = self.lock();
        let all = self.indexes.skills.iter().enumerate();
        let loaded =
            all.filter(|(i, s)| !s.source.always && self.skill_visible(*i) && state.set.has_skill(&s.qualified));
        loaded.map(|(_, s)| (s.qualified.clone(), s.source.body.clone())).collect()
    }

    /// What this person may see of a shared history.
    pub fn sight<'a>(&'a self, present: &'a str) -> Sight<'a> {
        Sight { indexes: &self.indexes, admitted: &self.admitted, present }
    }

    /// The turn's verdict.
    pub fn admitted(&self) -> &Admitted {
        &self.admitted
    }
}
