//! Old observations in short: the stored result stays whole, the view keeps its two ends and a reference.

use super::window::{Line, View};
use crate::model::ModelMessage;
use plugin_sdk::ContentBlock;
use std::collections::HashMap;

const HEAD: usize = 384;
const TAIL: usize = 128;
/// Results of this many newest tool steps stay whole.
const RECENT_STEPS: usize = 2;

/// Shortens results of tools that `observes` names. `false` when there was nothing to shorten.
pub(super) fn reduce(view: &mut View, observes: impl Fn(&str) -> bool) -> bool {
    let old = old_results(view, &observes);
    if old.is_empty() {
        return false;
    }
    let newest = newest_of(view, &observes);
    let mut changed = false;
    for line in view.lines_mut().filter(|line| old.contains(&line.n)) {
        if let Some(message) = shortened(line, &newest) {
            *line = Line::new(line.n, message);
            changed = true;
        }
    }
    if changed {
        view.recount();
    }
    changed
}

/// Positions of the results before the last tool steps.
fn old_results(view: &View, observes: &impl Fn(&str) -> bool) -> Vec<u64> {
    let lines: Vec<&Line> = view.lines().collect();
    let steps: Vec<usize> = lines.iter().enumerate().filter(|(_, l)| l.calls()).map(|(i, _)| i).collect();
    let Some(first_recent) = steps.len().checked_sub(RECENT_STEPS).and_then(|i| steps.get(i)) else {
        return Vec::new();
    };
    let before = lines.iter().take(*first_recent);
    before.filter(|l| l.n > 0 && observation(l, observes).is_some()).map(|l| l.n).collect()
}

/// Tool and blocks of a line that is a whole observation.
fn observation<'l>(line: &'l Line, observes: &impl Fn(&str) -> bool) -> Option<(&'l str, &'l [ContentBlock])> {
    match &line.message {
        ModelMessage::Tool { tool, content, is_error: false, .. } if observes(tool) => Some((tool, content)),
        _ => None,
    }
}

/// Where each text of each tool stands last.
fn newest_of(view: &View, observes: &impl Fn(&str) -> bool) -> HashMap<(String, String), (u64, usize)> {
    let mut newest = HashMap::new();
    for line in view.lines().filter(|l| l.n > 0) {
        let Some((tool, content)) = observation(line, observes) else { continue };
        for (b, block) in content.iter().enumerate() {
            if let ContentBlock::Text { text } = block {
                newest.insert((tool.to_string(), text.clone()), (line.n, b));
            }
        }
    }
    newest
}

fn shortened(line: &Line, newest: &HashMap<(String, String), (u64, usize)>) -> Option<ModelMessage> {
    let ModelMessage::Tool { call_id, tool, content, is_error, data, references } = &line.message else { return None };
    let mut changed = false;
    let short = content.iter().enumerate().map(|(b, block)| {
        let ContentBlock::Text { text } = block else { return block.clone() };
        let same = newest.get(&(tool.clone(), text.clone())).filter(|place| **place != (line.n, b));
        let short = match same {
            Some((n, b)) => format!("[the same text as result:{n}:{b}]"),
            None => two_ends(text, &format!("result:{}:{b}", line.n)),
        };
        if short.chars().count() >= text.chars().count() {
            return block.clone();
        }
        changed = true;
        ContentBlock::text(short)
    });
    let content = short.collect();
    let (call_id, tool, data) = (call_id.clone(), tool.clone(), data.clone());
    changed.then(|| ModelMessage::Tool {
        call_id,
        tool,
        content,
        is_error: *is_error,
        data,
        references: references.clone(),
    })
}

fn two_ends(text: &str, reference: &str) -> String {
    let total = text.chars().count();
    if total <= HEAD + TAIL {
        return text.to_string();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(total - TAIL).collect();
    let left = total - HEAD - TAIL;
    format!("{head}\n[{left} characters left out; context_read with ref {reference} gives them]\n{tail}")
}
