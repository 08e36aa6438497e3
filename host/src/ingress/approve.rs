//! Who says yes: the person at the console, or what the command line allowed beforehand.

use crate::admission::{Facts, Opinion, Rules, can_access};
use crate::config::Texts;
use crate::exec::{ApprovalAnswer, ApprovalPort, ApprovalRequest};
use crate::session::{QuestionEnd, QuestionPort};
use async_trait::async_trait;
use plugin_sdk::Scope;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks yes or no in the conversation.
pub(super) struct AskHere {
    pub(super) port: Arc<QuestionPort>,
    pub(super) texts: Arc<Texts>,
    /// The one person this conversation can ask: the requester.
    pub(super) facts: Facts,
}

impl AskHere {
    /// In private the requester answers, unless a program is executed; everywhere else who passes `approvers`.
    fn may_answer(&self, request: &ApprovalRequest) -> bool {
        let alone = self.facts.conversation.scope == Scope::Private
            && !request.gravity.executes
            && !request.gravity.policy_asks;
        let rules = Rules { permissions: request.approvers.clone(), ..Rules::default() };
        alone || can_access(&rules, &self.facts).is_ok()
    }
}

/// What a person is shown before a call runs: the name first, then the arguments as they will run, then why.
pub(super) fn card(texts: &Texts, request: &ApprovalRequest) -> String {
    let mut out = texts.get("approval-title", &[("tool", &format!("`{}`", request.call.tool))]);
    if !request.shown.is_empty() {
        out.push_str("\n```\n");
        out.push_str(&request.shown.join("\n"));
        out.push_str("\n```");
    }
    for because in request.because.iter().filter(|b| b.effect == Opinion::Ask) {
        let reason = match because.source.as_str() {
            "requires_approval" => texts.get("approval-reason-declared", &[("value", &because.value)]),
            "approval.write_mode" => texts.get("approval-reason-write", &[]),
            "approval.execute_mode" => texts.get("approval-reason-execute", &[]),
            source => format!("{source}: {}", because.value),
        };
        out.push_str(&format!("\n- {reason}"));
    }
    out
}

#[async_trait]
impl ApprovalPort for AskHere {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        if !self.may_answer(&request) {
            return ApprovalAnswer::Unavailable(self.texts.get("approval-not-allowed", &[]));
        }
        match self.port.approve(card(&self.texts, &request), request.timeout).await {
            QuestionEnd::Answered { answer, by, .. } if answer == "yes" => ApprovalAnswer::Allowed(by),
            QuestionEnd::Answered { by, .. } => ApprovalAnswer::Rejected(by),
            QuestionEnd::Cancelled => ApprovalAnswer::Rejected("the requester".into()),
            QuestionEnd::Expired => ApprovalAnswer::Expired,
            QuestionEnd::Withdrawn => ApprovalAnswer::Withdrawn,
            QuestionEnd::Busy => ApprovalAnswer::Limit,
            QuestionEnd::Unavailable(why) => ApprovalAnswer::Unavailable(why),
        }
    }
}

/// Says yes to the tools that were named, and remembers whether another one asked.
pub(super) struct Beforehand {
    allowed: Vec<String>,
    by: String,
    missed: AtomicBool,
}

impl Beforehand {
    /// Names as the caller wrote them, resolved to qualified ones; `by` is who said it.
    pub(super) fn new(allowed: Vec<String>, by: String) -> Self {
        Self { allowed, by, missed: AtomicBool::new(false) }
    }

    /// Whether a tool asked that nobody had allowed.
    pub(super) fn missed(&self) -> bool {
        self.missed.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ApprovalPort for Beforehand {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        if self.allowed.contains(&request.call.tool) {
            return ApprovalAnswer::Allowed(self.by.clone());
        }
        self.missed.store(true, Ordering::SeqCst);
        ApprovalAnswer::Unavailable(format!("nobody can be asked here; allow it with --approve {}", request.call.tool))
    }
}
