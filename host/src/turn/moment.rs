//! What belongs to this moment alone: it stands at the head of the newest message, so that prompt and tool
//! list keep their bytes from turn to turn.

use super::context::TurnContext;
use super::words::clean_name;
use crate::catalog::Controller;
use plugin_sdk::Scope;

/// Lines of the host before the person's words.
pub(super) fn head(cx: &TurnContext, catalog: &Controller, dropped: Option<&str>) -> String {
    let mut lines = vec![format!("[host: {}]", facts_line(cx))];
    lines.extend(catalog.notices().iter().map(|n| format!("[host: {n}]")));
    lines.extend(dropped.map(|d| format!("[host: {d}]")));
    lines.join("\n")
}

fn facts_line(cx: &TurnContext) -> String {
    let zone: chrono_tz::Tz = cx.with.bot.bot.timezone.parse().unwrap_or(chrono_tz::UTC);
    let now = cx.ports.clock.now().with_timezone(&zone);
    let mut parts = vec![format!("it is {} ({zone})", now.format("%Y-%m-%d %H:%M, %A"))];
    let who = &cx.about.facts.principal;
    if cx.about.facts.conversation.scope == Scope::Private {
        parts.push(format!("from {}, {}", clean_name(&who.name), clean_name(&who.id())));
    }
    if !cx.about.message.id.is_empty() {
        parts.push(format!("message {}", clean_name(&cx.about.message.id)));
    }
    parts.join("; ")
}
