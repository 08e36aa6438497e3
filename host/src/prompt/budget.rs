//! One budget for all blocks: what is cut, what is dropped, and the report that says so.

use crate::loader::{Layer, Retention};
use serde_json::{Value, json};

/// Ends a text that was cut.
pub const CUT_MARK: &str = "\n[cut]";
const CUT_MARK_CHARS: usize = 6;
const SEPARATOR: &str = "\n\n";
const SEPARATOR_CHARS: usize = 2;
/// A block that would keep less text than this is dropped instead.
const MIN_KEPT_TEXT: usize = 200;

/// One block of the prompt before the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Identity shown in the report: qualified section name, or `host/identity` and the like.
    pub id: String,
    /// Owner path, `host` for the host's own.
    pub owner: String,
    /// Layer.
    pub layer: Layer,
    /// Larger = earlier.
    pub order: i64,
    /// What the budget may take.
    pub retention: Retention,
    /// Title line.
    pub title: String,
    /// Text under it.
    pub body: String,
    /// Most characters of the text.
    pub max_chars: Option<usize>,
}

/// The prompt as sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The system prompt.
    pub text: String,
    /// `{budget, total, blocks: [...]}`, without texts.
    pub report: Value,
    /// One line for the model that names what was dropped. It stands in the newest user message, so
    /// that the budget of this text is met to the character.
    pub dropped: Option<String>,
}

/// One required block of a prompt that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oversized {
    /// Block id.
    pub id: String,
    /// Its characters.
    pub chars: usize,
}

/// The required blocks alone exceed the budget (or one of them its own limit).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("required prompt blocks need {total} of {budget} characters")]
pub struct PromptOverflow {
    /// `agent.system_prompt_max_chars`.
    pub budget: usize,
    /// What they need.
    pub total: usize,
    /// The required blocks.
    pub blocks: Vec<Oversized>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Full,
    Cut,
    Dropped,
}

impl Kept {
    fn as_str(self) -> &'static str {
        match self {
            Kept::Full => "full",
            Kept::Cut => "cut",
            Kept::Dropped => "dropped",
        }
    }
}

/// A block on its way through the budget. `head` is the title line with its break; `text` never holds the mark.
struct Slot {
    block: Block,
    head: String,
    text: String,
    original_chars: usize,
    kept: Kept,
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn take(text: &str, n: usize) -> String {
    text.chars().take(n).collect()
}

impl Slot {
    fn new(block: Block) -> Self {
        // one line, whatever its author wrote: a title cannot hold the heading of another block
        let title = block.title.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
        let head = format!("## {}\n", title.collect::<Vec<_>>().join(" "));
        let text = block.body.trim().to_string();
        let original_chars = chars(&head) + chars(&text);
        Self { block, head, text, original_chars, kept: Kept::Full }
    }

    fn len(&self) -> usize {
        let mark = if self.kept == Kept::Cut { CUT_MARK_CHARS } else { 0 };
        chars(&self.head) + chars(&self.text) + mark
    }

    /// Shortens the text so that it ends, mark included, at `room` characters. A room too small for the
    /// mark keeps bare characters, since a mark longer than the limit would break the limit itself.
    fn limit_text(&mut self, room: usize) {
        match room.checked_sub(CUT_MARK_CHARS) {
            Some(keep) => {
                self.text = take(&self.text, keep);
                self.kept = Kept::Cut;
            }
            None => self.text = take(&self.text, room),
        }
    }

    fn render(&self) -> String {
        let mark = if self.kept == Kept::Cut { CUT_MARK } else { "" };
        format!("{}{}{mark}", self.head, self.text)
    }

    fn report(&self) -> Value {
        json!({
            "id": self.block.id,
            "owner": self.block.owner,
            "layer": self.block.layer.as_str(),
            "order": self.block.order,
            "retention": self.block.retention.as_str(),
            "chars": self.original_chars,
            "kept": self.kept.as_str(),
            "kept_chars": if self.kept == Kept::Dropped { 0 } else { self.len() },
        })
    }
}

/// Orders the blocks and fits them into `budget` characters.
pub fn fit(blocks: Vec<Block>, budget: usize) -> Result<Prompt, PromptOverflow> {
    let mut slots: Vec<Slot> = blocks.into_iter().filter(|b| !b.body.trim().is_empty()).map(Slot::new).collect();
    slots.sort_by(|a, b| {
        (a.block.layer, std::cmp::Reverse(a.block.order), &a.block.id).cmp(&(
            b.block.layer,
            std::cmp::Reverse(b.block.order),
            &b.block.id,
        ))
    });
    own_limits(&mut slots, budget)?;
    shrink(&mut slots, budget);
    let total = total(&slots);
    if total > budget {
        return Err(overflow(&slots, budget, total));
    }
    let kept: Vec<String> = slots.iter().filter(|s| s.kept != Kept::Dropped).map(Slot::render).collect();
    let report = json!({
        "budget": budget,
        "total": total,
        "blocks": slots.iter().map(Slot::report).collect::<Vec<_>>(),
    });
    Ok(Prompt { text: kept.join(SEPARATOR), report, dropped: dropped_line(&slots) })
}

/// Step 2: each block's own `max_chars`.
fn own_limits(slots: &mut [Slot], budget: usize) -> Result<(), PromptOverflow> {
    for slot in slots.iter_mut() {
        let Some(max) = slot.block.max_chars else { continue };
        if chars(&slot.text) <= max {
            continue;
        }
        if slot.block.retention == Retention::Required {
            let blocks = vec![Oversized { id: slot.block.id.clone(), chars: slot.len() }];
            return Err(PromptOverflow { budget, total: slot.len(), blocks });
        }
        slot.limit_text(max);
    }
    Ok(())
}

fn total(slots: &[Slot]) -> usize {
    let kept: Vec<usize> = slots.iter().filter(|s| s.kept != Kept::Dropped).map(Slot::len).collect();
    kept.iter().sum::<usize>() + SEPARATOR_CHARS * kept.len().saturating_sub(1)
}

/// Step 4: victims in their order, each cut if enough of it stays and dropped otherwise.
fn shrink(slots: &mut [Slot], budget: usize) {
    for victim in victims(slots) {
        let over = total(slots).saturating_sub(budget);
        if over == 0 {
            return;
        }
        let Some(slot) = slots.get_mut(victim) else { continue };
        let room = slot.len().saturating_sub(over).saturating_sub(chars(&slot.head));
        if room >= MIN_KEPT_TEXT + CUT_MARK_CHARS {
            slot.limit_text(room);
        } else {
            slot.kept = Kept::Dropped;
        }
    }
}

/// `opportunistic` before `preferred`; the lowest order first, ties from the end of the prompt.
fn victims(slots: &[Slot]) -> Vec<usize> {
    let mut out: Vec<usize> = (0..slots.len()).filter(|i| slots[*i].block.retention != Retention::Required).collect();
    out.sort_by_key(|i| {
        let block = &slots[*i].block;
        (std::cmp::Reverse(block.retention), block.order, std::cmp::Reverse(*i))
    });
    out
}

fn overflow(slots: &[Slot], budget: usize, total: usize) -> PromptOverflow {
    let blocks = slots
        .iter()
        .filter(|s| s.block.retention == Retention::Required)
        .map(|s| Oversized { id: s.block.id.clone(), chars: s.len() })
        .collect();
    PromptOverflow { budget, total, blocks }
}

fn dropped_line(slots: &[Slot]) -> Option<String> {
    let names: Vec<&str> = slots.iter().filter(|s| s.kept == Kept::Dropped).map(|s| s.block.id.as_str()).collect();
    (!names.is_empty()).then(|| format!("Left out of the instructions for lack of room: {}.", named(&names)))
}

/// Names of blocks in one line. A file of an agent may have any name, and a line break in it is none of the host's.
fn named(names: &[&str]) -> String {
    let plain = |name: &&str| -> String {
        name.chars().map(|c| if c.is_control() || matches!(c, '[' | ']') { '_' } else { c }).collect()
    };
    names.iter().map(plain).collect::<Vec<_>>().join(", ")
}
