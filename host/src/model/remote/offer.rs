//! Which tools go with a request, and in what form: within the provider's limit, without those it refused, and
//! with the rest of the catalog where the provider finds tools by itself.

use super::Remote;
use crate::config::{DeferLoading, ModelConfig};
use crate::model::{ModelRequest, ModelTool};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Most tools, and most bytes of them, that a request with deferred ones may have.
const MAX_DEFERRED: usize = 1_000;
const MAX_BYTES: usize = 1_000_000;
/// The betas that know deferred tools.
const DEFERRING: &str = "advanced-tool-use";

/// What is known about the provider's word on deferred tools; forgotten with the configuration.
#[derive(Debug)]
pub(super) struct Deferral {
    wanted: bool,
    /// Betas of each request; `None` for the deferral itself once the provider has refused it.
    state: Mutex<(bool, Vec<String>)>,
}

impl Deferral {
    pub(super) fn new(config: &ModelConfig) -> Self {
        let wanted = config.defer_loading == DeferLoading::Auto;
        Self { wanted, state: Mutex::new((true, config.betas.clone())) }
    }
}

/// The tools of one request.
#[derive(Debug, Default)]
pub(in crate::model) struct Tools<'a> {
    /// In the model's hands, in their stable order.
    pub(in crate::model) sent: Vec<&'a ModelTool>,
    /// To be found; empty without deferral.
    pub(in crate::model) deferred: Vec<&'a ModelTool>,
    /// Whether the request is one with deferred tools.
    pub(in crate::model) deferral: bool,
}

impl<'a> Tools<'a> {
    /// All in the order of the list: what is always there, then the catalog by qualified name; `true` for those
    /// to be found.
    pub(in crate::model) fn listed(&self) -> Vec<(&'a ModelTool, bool)> {
        if !self.deferral {
            return self.sent.iter().map(|t| (*t, false)).collect();
        }
        let (catalog, always): (Vec<&ModelTool>, Vec<&ModelTool>) = self.sent.iter().partition(|t| t.loaded);
        let mut catalog: Vec<(&ModelTool, bool)> =
            catalog.into_iter().map(|t| (t, false)).chain(self.deferred.iter().map(|t| (*t, true))).collect();
        catalog.sort_by(|(a, _), (b, _)| a.qualified.cmp(&b.qualified));
        always.into_iter().map(|t| (t, false)).chain(catalog).collect()
    }

    /// Takes a tool out by its wire name.
    pub(super) fn take(&mut self, wire: &str) -> Option<&'a ModelTool> {
        for list in [&mut self.sent, &mut self.deferred] {
            if let Some(at) = list.iter().position(|t| &*t.wire == wire) {
                return Some(list.remove(at));
            }
        }
        None
    }

    /// The same without the tools to be found.
    pub(super) fn plain(&mut self) {
        self.deferred.clear();
        self.deferral = false;
    }
}

/// The tools of a request and those left out, each with the reason.
pub(in crate::model) struct Offer<'a> {
    pub(in crate::model) tools: Tools<'a>,
    pub(in crate::model) left_out: Vec<(&'a ModelTool, String)>,
}

impl Remote {
    /// Whether a request may have deferred tools at all.
    pub(super) fn deferral_possible(&self) -> bool {
        self.wire.defers() && self.deferral.wanted && self.deferral_state().0
    }

    /// The value of the beta header, if there is one.
    pub(super) fn betas(&self) -> Option<String> {
        let betas = self.deferral_state().1.join(",");
        (!betas.is_empty()).then_some(betas)
    }

    fn deferral_state(&self) -> std::sync::MutexGuard<'_, (bool, Vec<String>)> {
        self.deferral.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a refusal names what deferred tools need; then they are not sent again, nor the betas it names.
    pub(super) fn gives_up_deferral(&self, reason: &str, deferral: bool) -> bool {
        let mut state = self.deferral_state();
        if !self.wire.defers() || (!deferral && state.1.is_empty()) {
            return false;
        }
        let text = reason.to_lowercase();
        let fields = ["defer_loading", "tool_reference", "tool reference"];
        let of_fields = deferral && fields.iter().any(|f| text.contains(f));
        let named: HashSet<String> = state.1.iter().filter(|b| text.contains(&b.to_lowercase())).cloned().collect();
        let of_header = text.contains("anthropic-beta") || !named.is_empty();
        if !of_fields && !of_header {
            return false;
        }
        state.0 = false;
        let all = of_header && named.is_empty();
        state.1.retain(|b| !all && !named.contains(b) && !b.starts_with(DEFERRING));
        true
    }

    /// What of a request's tools is sent.
    pub(super) fn offer<'a>(&self, request: &'a ModelRequest) -> Offer<'a> {
        let max = self.config.max_tools;
        let (kept, over) = within_limit(&request.tools, max);
        let mut left_out: Vec<(&ModelTool, String)> =
            over.into_iter().map(|t| (t, format!("more than {max} tools"))).collect();
        let mut tools = Tools::default();
        for tool in kept {
            match self.cache.refused(tool) {
                Some(reason) => left_out.push((tool, reason)),
                None => tools.sent.push(tool),
            }
        }
        if self.deferral_possible() {
            tools.deferred = request.deferred.iter().filter(|t| self.cache.refused(t).is_none()).collect();
            tools.deferral = self.fits(&tools);
            if !tools.deferral {
                tools.plain();
            }
        }
        Offer { tools, left_out }
    }

    /// Not too many, not too large, and at least one that needs no finding.
    fn fits(&self, tools: &Tools<'_>) -> bool {
        let all = tools.sent.iter().chain(&tools.deferred);
        tools.sent.iter().any(|t| !t.loaded)
            && tools.sent.len() + tools.deferred.len() <= MAX_DEFERRED
            && all.map(|t| self.tool(t).bytes).sum::<usize>() <= MAX_BYTES
    }
}

/// The tools that fit, in their order, and those that do not: of the loaded ones the oldest leave first, then
/// others from the end, the controller's own last.
fn within_limit(tools: &[ModelTool], max: usize) -> (Vec<&ModelTool>, Vec<&ModelTool>) {
    let mut over = tools.len().saturating_sub(max);
    let mut out = vec![false; tools.len()];
    let mut drop = |order: &mut dyn Iterator<Item = usize>| {
        for i in order {
            let Some(gone) = out.get_mut(i).filter(|gone| over > 0 && !**gone) else { continue };
            *gone = true;
            over -= 1;
        }
    };
    let loaded = |i: &usize| tools.get(*i).is_some_and(|t| t.loaded);
    let plain = |i: &usize| tools.get(*i).is_some_and(|t| !t.meta);
    drop(&mut (0..tools.len()).filter(loaded));
    drop(&mut (0..tools.len()).rev().filter(plain));
    drop(&mut (0..tools.len()).rev());
    let (gone, kept): (Vec<_>, Vec<_>) = tools.iter().zip(out).partition(|(_, gone)| *gone);
    (kept.into_iter().map(|(t, _)| t).collect(), gone.into_iter().map(|(t, _)| t).collect())
}

/// The wire name a model meant: some put the name space of their own format before it.
pub(super) fn real_name(written: &str, request: &ModelRequest) -> String {
    let known = |name: &str| request.tools.iter().chain(&request.deferred).any(|t| &*t.wire == name);
    if known(written) {
        return written.to_owned();
    }
    let stripped = ["functions.", "default_api."].iter().find_map(|p| written.strip_prefix(p));
    stripped.filter(|rest| known(rest)).unwrap_or(written).to_owned()
}
