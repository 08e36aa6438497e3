//! What one attempt has given.

use super::Fault;
use crate::model::{Opaque, StopReason, Usage, base64};
use serde_json::Value;

/// Reads the events of one answer.
pub(in crate::model) trait Reader: Send {
    /// Takes one event; gives the text to show.
    fn take(&mut self, data: &str, secrets: &[&str]) -> Result<String, Fault>;
    /// How far it is.
    fn reading(&self) -> Reading;
    /// What it came to. `step` numbers calls without ids; `taken` are ids that stand in the conversation already.
    fn answer(self: Box<Self>, step: u32, taken: &dyn Fn(&str) -> bool) -> Answer;
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) enum Reading {
    /// More must come.
    Open,
    /// The model has finished; only the usage may follow.
    Finished,
    /// Nothing more needs to come.
    Ended,
}

/// A call as the model wrote it, its name not yet compared with the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::model) struct RawCall {
    pub(in crate::model) id: String,
    pub(in crate::model) name: String,
    pub(in crate::model) arguments: String,
}

/// A whole answer.
#[derive(Debug, Default)]
pub(in crate::model) struct Answer {
    /// Visible text.
    pub(in crate::model) said: String,
    pub(in crate::model) calls: Vec<RawCall>,
    /// Parts for their maker alone, with the number of visible parts before each.
    pub(in crate::model) opaque: Vec<(u32, Value)>,
    pub(in crate::model) stop: Option<StopReason>,
    /// The whole content of an answer that only paused.
    pub(in crate::model) paused: Option<Vec<Value>>,
    pub(in crate::model) usage: Option<Usage>,
}

impl Answer {
    /// Adds the answer that a paused one went on with.
    pub(super) fn go_on(&mut self, next: Answer) {
        let before = u32::from(!self.said.is_empty());
        self.said.push_str(&next.said);
        self.calls.extend(next.calls);
        self.opaque.extend(next.opaque.into_iter().map(|(after, part)| (after.max(before), part)));
        self.stop = next.stop;
        self.paused = next.paused;
        self.usage = match (self.usage, next.usage) {
            (Some(mut sum), Some(usage)) => {
                sum.add(&usage);
                Some(sum)
            }
            _ => None,
        };
    }

    /// The opaque parts as the history keeps them.
    pub(super) fn kept(&self, maker: &str) -> Vec<Opaque> {
        let kept = |(after, part): &(u32, Value)| Opaque {
            maker: maker.to_owned(),
            after: *after,
            data: base64::encode(part.to_string().as_bytes()),
        };
        self.opaque.iter().map(kept).collect()
    }
}

/// The parts of a message that this maker may read again, in order.
pub(in crate::model) fn own_parts(opaque: &[Opaque], maker: &str) -> Vec<(u32, Value)> {
    let own = opaque.iter().filter(|o| o.maker == maker);
    own.filter_map(|o| Some((o.after, serde_json::from_slice(&base64::decode(&o.data)?).ok()?))).collect()
}
