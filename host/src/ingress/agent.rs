//! Who answers a message, and the message as that one reads it.

use super::arrive::Who;
use super::desk::Desk;
use crate::generation::Lease;
use crate::route::{AgentChoice, choose_agent};
use plugin_sdk::{MentionTarget, Message, Segment};

/// The agent of one turn.
#[derive(Default)]
pub(super) struct Chosen {
    /// Position in the indexes; `None` = the bot itself.
    pub(super) agent: Option<usize>,
    /// The message without the name it began with.
    pub(super) message: Option<Message>,
}

/// Chooses the agent; the error is the sentence that is said instead of a turn.
pub(super) fn choose(desk: &Desk, who: &Who, lease: &Lease) -> Result<Chosen, String> {
    let contents = lease.contents();
    if contents.indexes.agents.is_empty() {
        return Ok(Chosen::default());
    }
    let at = first_words(&who.message);
    let text = at.map_or("", |(_, text)| text);
    let texts = desk.texts(&contents.bot);
    match choose_agent(&contents.indexes, &who.facts, &desk.policy.read(), text) {
        AgentChoice::Main => Ok(Chosen::default()),
        AgentChoice::Chosen { agent, rest } => {
            let message = at.zip(rest).and_then(|((n, _), rest)| without_name(&who.message, n, rest));
            Ok(Chosen { agent: Some(agent), message })
        }
        AgentChoice::Ambiguous { name, qualified } => {
            let names: Vec<String> = qualified.iter().map(|q| format!("@{q}")).collect();
            Err(texts.get("agent-ambiguous", &[("name", &name), ("names", &names.join(", "))]))
        }
        AgentChoice::Denied { name } => Err(texts.get("agent-denied", &[("name", &name)])),
    }
}

/// The first segment that is neither blank nor a mention of this bot, when it is text.
fn first_words(message: &Message) -> Option<(usize, &str)> {
    let own = |s: &Segment| match s {
        Segment::Mention { target, .. } => *target == MentionTarget::Bot,
        Segment::Text { text, .. } => text.trim().is_empty(),
        _ => false,
    };
    let (n, segment) = message.segments.iter().enumerate().find(|(_, s)| !own(s))?;
    match segment {
        Segment::Text { text, .. } => Some((n, text)),
        _ => None,
    }
}

/// `None` when the name is all there is: then it stays, as the words of the message.
fn without_name(message: &Message, n: usize, rest: String) -> Option<Message> {
    let mut message = message.clone();
    if rest.is_empty() && n + 1 == message.segments.len() {
        return None;
    }
    message.segments.drain(..n);
    if let Some(Segment::Text { text, .. }) = message.segments.first_mut() {
        *text = rest;
    }
    Some(message)
}
