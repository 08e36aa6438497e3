//! What a person is shown before a call runs: the name first, then the arguments as they will run, then why.

use crate::admission::Opinion;
use crate::config::Texts;
use crate::exec::{ApprovalRequest, SHOWN_WHOLE, hides};
use std::time::Duration;

/// Characters of a long value that stay in front, and behind.
const HEAD: usize = 200;
const TAIL: usize = 60;

/// The text of a card; `requester` is whose call it is. A terminal also reads what would end the asking.
pub(super) fn text(texts: &Texts, request: &ApprovalRequest, requester: &str, terminal: bool) -> String {
    let call = &request.call;
    let mut out = texts.get("approval-title", &[("tool", &format!("`{}`", call.tool))]);
    if let Some(title) = &call.title {
        out.push_str(&format!("\n\"{}\"", plain(title)));
    }
    out.push_str(&format!("\n{}", texts.get("approval-owner", &[("owner", &call.owner)])));
    out.push_str(&format!("\n{}", texts.get("approval-requester", &[("name", requester)])));
    if !request.shown.is_empty() {
        out.push_str("\n```\n");
        out.push_str(&lines(texts, request).join("\n"));
        out.push_str("\n```");
    }
    for reason in reasons(texts, request) {
        out.push_str(&format!("\n- {reason}"));
    }
    out.push_str(&format!("\n\n{}", texts.get("approval-covers-once", &[])));
    if let Some(offer) = &request.session {
        let covers = texts.get("approval-covers-session", &[("tool", &call.tool), ("name", requester)]);
        out.push_str(&format!("\n{covers}"));
        if let (Some(ends), true) = (&offer.ends, terminal) {
            out.push_str(&format!("\n{}", texts.get("approval-ends-asking", &[("what", ends)])));
        }
    }
    out.push_str(&format!("\n{}", texts.get("approval-deadline", &[("time", &time(texts, request.timeout))])));
    out
}

fn reasons(texts: &Texts, request: &ApprovalRequest) -> Vec<String> {
    let asks = request.because.iter().filter(|b| b.effect == Opinion::Ask);
    let reason = |source: &str, value: &str| match source {
        "requires_approval" => texts.get("approval-reason-declared", &[("value", value)]),
        "approval.write_mode" => texts.get("approval-reason-write", &[]),
        "approval.execute_mode" => texts.get("approval-reason-execute", &[]),
        "policy" => texts.get("approval-reason-policy", &[("value", &one_line(value))]),
        source => texts.get("approval-reason-parent", &[("source", source), ("value", value)]),
    };
    asks.map(|b| reason(&b.source, &b.value)).collect()
}

/// All arguments where they are short enough; else head, tail and length of what is long.
fn lines(texts: &Texts, request: &ApprovalRequest) -> Vec<String> {
    if !request.gravity.cut {
        return request.shown.clone();
    }
    let mut out = vec![texts.get("approval-cut", &[])];
    let mut left = SHOWN_WHOLE;
    for line in &request.shown {
        let shown = shortened(texts, line);
        let chars = shown.chars().count();
        if chars > left {
            out.push("…".into());
            break;
        }
        left -= chars;
        out.push(shown);
    }
    out
}

fn shortened(texts: &Texts, line: &str) -> String {
    let count = line.chars().count();
    if count <= HEAD + TAIL {
        return line.to_string();
    }
    let head: String = line.chars().take(HEAD).collect();
    let tail: String = line.chars().skip(count - TAIL).collect();
    format!("{head}{}{tail}", texts.get("approval-cut-value", &[("n", &count.to_string())]))
}

fn time(texts: &Texts, timeout: Duration) -> String {
    let seconds = timeout.as_secs();
    match seconds % 60 {
        0 => texts.get("approval-minutes", &[("n", &(seconds / 60).to_string())]),
        _ => texts.get("approval-seconds", &[("n", &seconds.to_string())]),
    }
}

/// A text that somebody else wrote, on one line.
pub(in crate::ingress) fn one_line(text: &str) -> String {
    text.chars().filter(|c| !hides(*c)).take(200).collect()
}

/// The same without marks: it starts no heading, list or link, and looks like no line of the host.
pub(in crate::ingress) fn plain(text: &str) -> String {
    one_line(text).replace(['`', '*', '_', '[', ']', '~', '"'], " ").trim().to_string()
}
