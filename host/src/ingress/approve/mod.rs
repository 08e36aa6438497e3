//! Who says yes: the people a card reaches, or what the command line allowed beforehand.

mod card;

pub(super) use card::one_line;
use card::plain;

use super::desk::Desk;
use crate::admission::{Facts, LivePolicy, Pending, is_approver, may_decide};
use crate::config::Texts;
use crate::exec::{ApprovalAnswer, ApprovalPort, ApprovalRequest};
use crate::outbound::Piece;
use crate::session::{Asking, CallRecord, Gravity, QuestionEnd, QuestionPort, Reason, Wanted};
use async_trait::async_trait;
use plugin_sdk::ports::CardFile;
use plugin_sdk::{ConversationRef, OutgoingKind, Principal, Scope, Segment};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks yes or no in the conversation.
pub(super) struct AskHere {
    pub(super) desk: Arc<Desk>,
    pub(super) port: Arc<QuestionPort>,
    pub(super) texts: Arc<Texts>,
    /// Whose turn it is, and where.
    pub(super) facts: Facts,
    /// A terminal: nobody else is there.
    pub(super) terminal: bool,
}

impl AskHere {
    /// Private chats of the people who get every card, if they may answer this one.
    fn notified(&self, policy: &LivePolicy) -> Vec<ConversationRef> {
        let here = &self.facts.conversation;
        let person = |id: &String| {
            let (platform, user) = id.split_once(':')?;
            let at = match here.platform == platform {
                true => here.endpoint.clone(),
                false => self.desk.talk.endpoints.named(platform)?,
            };
            let place = ConversationRef {
                platform: platform.to_string(),
                endpoint: at,
                scope: Scope::Private,
                scene: user.to_string(),
                parent: None,
                thread: None,
            };
            let mut principal = Principal::person(platform, user, None);
            principal.role = policy.role_of(&principal, &place.endpoint_id());
            let facts = Facts { principal, platform_permissions: None, ..self.facts.clone() };
            (is_approver(&facts, policy) && place != *here).then_some(place)
        };
        policy.input().approval.notify.iter().filter_map(person).collect()
    }

    fn asking(&self, request: ApprovalRequest, notify: Vec<ConversationRef>) -> Asking {
        let requester = shown_name(&self.facts.principal);
        let text = card::text(&self.texts, &request, &requester, self.terminal);
        let reasons = request.because.iter().map(|b| Reason { source: b.source.clone(), value: b.value.clone() });
        Asking {
            id: request.record_id,
            wanted: Wanted::Approval,
            text,
            options: Vec::new(),
            asker: None,
            attachment: request.whole.map(|text| CardFile { name: "arguments.json".into(), text }),
            notify,
            timeout: request.timeout,
            call: Some(CallRecord {
                identity: request.call,
                args: request.arguments,
                reasons: reasons.collect(),
                gravity: request.gravity,
                rememberable: request.session.is_some(),
            }),
        }
    }
}

/// What decides who may answer.
pub(super) fn pending<'a>(requester: &'a str, scope: Scope, gravity: Gravity) -> Pending<'a> {
    let grave = gravity.executes || gravity.policy_asks;
    Pending { requester, scope, grave, approvers_only: gravity.cut && (grave || gravity.writes) }
}

/// A person as others may read it: the name is only its own word.
pub(super) fn shown_name(principal: &Principal) -> String {
    let (name, id) = (plain(&principal.name), principal.id());
    if name.is_empty() || name == principal.user_id { id } else { format!("{name} ({id})") }
}

#[async_trait]
impl ApprovalPort for AskHere {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        let policy = self.desk.policy.read();
        let notify = self.notified(&policy);
        let requester = self.facts.principal.id();
        let scope = self.facts.conversation.scope;
        let alone = scope == Scope::Private || self.terminal;
        let call = pending(&requester, scope, request.gravity);
        if alone && notify.is_empty() && !may_decide(&call, &self.facts, &policy, true) {
            return ApprovalAnswer::Unavailable(self.texts.get("approval-not-allowed", &[]));
        }
        drop(policy);
        match self.port.approve(self.asking(request, notify)).await {
            QuestionEnd::Answered { answer, by, .. } if answer == "yes" => ApprovalAnswer::Allowed(by),
            QuestionEnd::Answered { answer, by, .. } if answer == "session" => ApprovalAnswer::AllowedSession(by),
            QuestionEnd::Answered { by, .. } => ApprovalAnswer::Rejected(by),
            QuestionEnd::Cancelled => ApprovalAnswer::Rejected(requester),
            QuestionEnd::Expired => ApprovalAnswer::Expired,
            QuestionEnd::Withdrawn => ApprovalAnswer::Withdrawn,
            QuestionEnd::Busy => ApprovalAnswer::Limit,
            QuestionEnd::Unavailable(why) => ApprovalAnswer::Unavailable(why),
            QuestionEnd::Unrecorded(why) => ApprovalAnswer::Unrecorded(why),
        }
    }

    async fn grant_dropped(&self, tool: &str) {
        let Some(endpoint) = self.desk.talk.endpoints.of(&self.facts.conversation) else { return };
        let text = self.texts.get("approval-grant-dropped", &[("tool", tool)]);
        let piece = Piece {
            kind: OutgoingKind::Notice,
            conversation: self.facts.conversation.clone(),
            segments: vec![Segment::plain(text)],
            reply_to: None,
        };
        if let Err(e) = self.desk.talk.outbound.send(&endpoint, piece).await {
            tracing::debug!(error = %e, "nobody was told that a grant left");
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
        let tool = &request.call.tool;
        ApprovalAnswer::Unavailable(format!("nobody can be asked here; allow it with --approve {tool}"))
    }
}
