//! Chat commands that tools declare.

use super::parts::{CommandEntry, fold_word};
use super::tool::Tool;
use plugin_sdk::Diagnostic;
use std::collections::HashMap;

/// Words of the host's own commands.
pub const BUILTIN_COMMANDS: [&str; 23] = [
    "approvals",
    "cancel",
    "compact",
    "export",
    "forget",
    "goal",
    "help",
    "language",
    "model",
    "new",
    "pair",
    "plugins",
    "reload",
    "retry",
    "rollback",
    "skills",
    "start",
    "status",
    "stop",
    "tasks",
    "tools",
    "usage",
    "why",
];

/// The commands in byte order of their words.
pub(super) fn commands(tools: &[Tool], out: &mut Vec<Diagnostic>) -> Vec<CommandEntry> {
    let mut taken: HashMap<String, &Tool> = HashMap::new();
    let mut list = Vec::new();
    for tool in tools {
        let Some(command) = &tool.def().options.command else { continue };
        let word = command.name.clone().unwrap_or_else(|| tool.from.name.clone());
        let words = std::iter::once((word.clone(), "/command/name".to_string()));
        let aliases = command.aliases.iter().enumerate().map(|(i, a)| (a.clone(), format!("/command/aliases/{i}")));
        let before = out.len();
        for (word, pointer) in words.chain(aliases) {
            let folded = fold_word(&word);
            if BUILTIN_COMMANDS.contains(&folded.as_str()) {
                let d = Diagnostic::error("command::reserved", format!("`/{word}` is a command of the host"));
                out.push(tool.from.diag(d.help("choose another word in `command.name`"), &pointer));
            } else if let Some(other) = taken.get(&folded) {
                out.push(tool.from.diag(duplicate(&word, tool, other), &pointer));
            } else {
                taken.insert(folded, tool);
            }
        }
        if out.len() == before {
            list.push(CommandEntry {
                word,
                aliases: command.aliases.clone(),
                tool: tool.id,
                qualified: tool.qualified.to_string(),
                owner: tool.owner().clone(),
                description: tool.def().description.clone(),
                usage: command.usage.clone(),
                argument: command.argument.clone(),
                hidden: tool.def().options.hidden,
            });
        }
    }
    list.sort_by(|a, b| a.word.cmp(&b.word));
    list
}

fn duplicate(word: &str, tool: &Tool, other: &Tool) -> Diagnostic {
    let message = format!(
        "`/{word}` is a command of `{}` (owner `{}`) and of `{}` (owner `{}`)",
        other.qualified,
        other.owner(),
        tool.qualified,
        tool.owner()
    );
    let d = Diagnostic::error("command::duplicate-name", message).help("choose another word in `command.name`");
    match other.file() {
        Some(file) => d.related(file, None, "the other command"),
        None => d,
    }
}
