//! Where a history is cut for a summary.

use super::window::Line;
use crate::model::ModelMessage;

/// How many of the oldest messages a summary may stand for: the newest `keep_tokens`, at least `keep_messages` and
/// the last message of a person stay, and no call is parted from its results.
pub(super) fn cut_at(lines: &[&Line], keep_tokens: u64, keep_messages: usize) -> usize {
    let mut kept = 0;
    let mut at = lines.len();
    for line in lines.iter().rev() {
        kept += line.tokens();
        if kept > keep_tokens {
            break;
        }
        at -= 1;
    }
    let last_user = lines.iter().rposition(|l| matches!(l.message, ModelMessage::User { .. }));
    at = at.min(lines.len().saturating_sub(keep_messages)).min(last_user.unwrap_or(0));
    // results stay with the message that called for them
    while at > 0 && lines.get(at).is_some_and(|l| matches!(l.message, ModelMessage::Tool { .. })) {
        at -= 1;
    }
    at
}
