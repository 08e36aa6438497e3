//! Makes any transcript sendable: every call has one result right behind it, every result has a call.

use super::history::Paired;
use std::collections::VecDeque;

/// What a repair did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repaired {
    /// Calls that got the result "interrupted".
    pub interrupted: usize,
    /// Results without a call, dropped.
    pub orphans: usize,
    /// Messages without any content, dropped.
    pub blank: usize,
    /// Results moved up to their call.
    pub moved: usize,
}

impl Repaired {
    /// Whether the transcript was sound.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Repairs a transcript. Call ids may come again in later turns, so a result belongs to the nearest message of
/// the model before it. A complete pair is never changed; a result that lies behind a person's message is moved
/// up to its call.
pub fn repair<M: Paired>(messages: Vec<M>) -> (Vec<M>, Repaired) {
    let mut done = Repaired::default();
    let mut out = Vec::with_capacity(messages.len());
    let mut rest: VecDeque<M> = messages.into();
    while let Some(mut message) = rest.pop_front() {
        if message.answers().is_some() {
            done.orphans += 1;
            continue;
        }
        if !message.tidy() {
            done.blank += 1;
            continue;
        }
        let calls = message.calls();
        if !message.is_assistant() || calls.is_empty() {
            out.push(message);
            continue;
        }
        let results = collect_results(&message, &calls, &mut rest, &mut done);
        out.push(message);
        out.extend(results);
    }
    (out, done)
}

/// Takes the results of `calls` out of what follows: those that are there in their own order, then what is
/// missing.
fn collect_results<M: Paired>(
    assistant: &M,
    calls: &[(String, String)],
    rest: &mut VecDeque<M>,
    done: &mut Repaired,
) -> Vec<M> {
    let mut open: Vec<&(String, String)> = calls.iter().collect();
    let mut results = Vec::with_capacity(calls.len());
    let (mut at, mut behind_another) = (0, false);
    while !open.is_empty() {
        let Some(next) = rest.get(at) else { break };
        if next.is_assistant() {
            break;
        }
        let wanted = next.answers().and_then(|id| open.iter().position(|(call, _)| *call == id));
        let Some(position) = wanted else {
            behind_another = true;
            at += 1;
            continue;
        };
        open.remove(position);
        if let Some(mut result) = rest.remove(at) {
            result.tidy();
            done.moved += usize::from(behind_another);
            results.push(result);
        }
    }
    done.interrupted += open.len();
    results.extend(open.into_iter().map(|(id, name)| assistant.interrupted(id, name)));
    results
}

/// Whether a transcript can be sent as it is.
pub fn is_sendable<M: Paired>(messages: &[M]) -> bool {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        match message.answers() {
            Some(id) => match open.iter().position(|call| *call == id) {
                Some(position) => drop(open.remove(position)),
                None => return false,
            },
            None if !open.is_empty() => return false,
            None if message.is_assistant() => open = message.calls().into_iter().map(|(id, _)| id).collect(),
            None => {}
        }
    }
    open.is_empty()
}
