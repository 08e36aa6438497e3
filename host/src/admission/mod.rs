//! Room 7, `admission`: the pure predicate `can_access_tool`, permits, compiled sets, `LivePolicy`.
//! SDK types only; no async, no IO, no branch per platform. Next room: `index`.

mod access;
mod answering;
mod approval;
mod check;
mod compiled;
mod explain;
mod explain_text;
mod facts;
mod pattern;
mod permit;
mod platforms;
mod policy;
mod predicate;
mod subject;
#[cfg(test)]
mod tests;

pub use access::{AccessVerdict, access, answered};
pub use answering::{Pending, is_approver, may_decide};
pub use approval::{ApprovalDecision, Because, Declared, Extra, Gated, Opinion, Overrides, approval, may_remember};
pub use check::{Finding, check_permits, check_policy, check_rules};
pub use compiled::{BitSet, CompiledRules};
pub use explain::{Check, ExplainInput, Explanation, Exposure, explain};
pub use explain_text::explanation_text;
pub use facts::*;
pub use pattern::NamePattern;
pub use permit::{Args, Permit, PermitError, parse_permit};
pub use platforms::{ADAPTER_KINDS, CONSOLE, Platforms, SHARED_IDS, holds_in_private};
pub use policy::{EndpointRoles, LivePolicy, PolicyCell, PolicyInput, may_answer};
pub use predicate::{Guarded, can_access, can_access_tool, effective_role};
pub use subject::{Subject, SubjectError, parse_role};
