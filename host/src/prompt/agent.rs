//! The chosen agent's texts as blocks.

use super::budget::Block;
use crate::index::Agent;
use crate::loader::{AgentText, Layer, Retention};

/// Where a kind of text stands and what the budget may take.
struct Shelf {
    layer: Layer,
    order: i64,
    retention: Retention,
}

const ENTRY_POINTS: Shelf = Shelf { layer: Layer::Role, order: 800, retention: Retention::Required };
const WORKFLOWS: Shelf = Shelf { layer: Layer::Context, order: 400, retention: Retention::Preferred };
const KNOWLEDGE: Shelf = Shelf { layer: Layer::Context, order: 300, retention: Retention::Opportunistic };

/// One block a text; instructions in the order of `entry_points`.
pub(super) fn blocks(agent: &Agent) -> Vec<Block> {
    let from = &agent.source;
    let entry = from.entry_points.iter().enumerate();
    // equal orders are settled by the id, so the place in the list is part of it
    let mut out: Vec<Block> =
        entry.map(|(n, text)| block(agent, &ENTRY_POINTS, format!("{:02}-{}", n + 1, text.file), text)).collect();
    out.extend(from.workflows.iter().map(|text| block(agent, &WORKFLOWS, text.file.clone(), text)));
    out.extend(from.knowledge.iter().map(|text| block(agent, &KNOWLEDGE, text.file.clone(), text)));
    out
}

fn block(agent: &Agent, shelf: &Shelf, file: String, text: &AgentText) -> Block {
    let stem = text.file.rsplit_once('.').map_or(text.file.as_str(), |(stem, _)| stem);
    Block {
        id: format!("{}/{file}", agent.qualified),
        owner: agent.owner.to_string(),
        layer: shelf.layer,
        order: shelf.order,
        retention: shelf.retention,
        title: format!("{}: {stem}", agent.source.about.title),
        body: text.body.clone(),
        max_chars: None,
    }
}
