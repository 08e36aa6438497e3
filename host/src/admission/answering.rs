//! Who may say yes to a call, and who may say no.

use super::{Facts, LivePolicy, Rules, can_access, may_answer};
use crate::config::RequesterMayAnswer;
use plugin_sdk::Scope;

/// What is known of the call that waits.
#[derive(Debug, Clone, Copy)]
pub struct Pending<'a> {
    /// Whose turn it is, text form.
    pub requester: &'a str,
    /// Kind of place it is asked in.
    pub scope: Scope,
    /// It executes, or its own policy asks: in private the requester alone is not enough.
    pub grave: bool,
    /// It is dangerous and too long to be shown whole: only approvers may let it run, wherever it is asked.
    pub approvers_only: bool,
}

/// Whether the person of the facts may let the call run (`yes`) or end it. `facts` are those of the person who
/// answers, in the conversation it is asked in.
pub fn may_decide(pending: &Pending<'_>, facts: &Facts, policy: &LivePolicy, yes: bool) -> bool {
    if !may_answer(&facts.principal) {
        return false;
    }
    let requester = facts.principal.id() == pending.requester;
    if is_approver(facts, policy) || (requester && !yes) {
        return true;
    }
    requester && !pending.approvers_only && requester_suffices(pending, policy)
}

fn requester_suffices(pending: &Pending<'_>, policy: &LivePolicy) -> bool {
    match pending.scope {
        Scope::Private => !pending.grave,
        Scope::Group | Scope::Channel => policy.input.approval.requester_may_answer == RequesterMayAnswer::Always,
    }
}

/// Whether somebody passes `approval.approvers`. An empty list names nobody.
pub fn is_approver(facts: &Facts, policy: &LivePolicy) -> bool {
    let approvers = &policy.input.approval.approvers;
    let rules = Rules { permissions: approvers.clone(), ..Rules::default() };
    !approvers.is_empty() && may_answer(&facts.principal) && can_access(&rules, facts).is_ok()
}
