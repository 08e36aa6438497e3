//! Chat commands: those that tools declare, and those of folders.

use super::parts::{CommandEntry, CommandGate, CommandInput, fold_word};
use super::skills::{ToolNames, near_or};
use super::tool::Tool;
use crate::admission::{Platforms, Rules, check_rules};
use crate::loader::{ArgumentKind, CommandArgument, CommandSource, CommandTarget};
use plugin_sdk::{Approval, Diagnostic};
use serde_json::Value;
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

/// A command and how a finding about one of its words finds its place.
struct Declared<'a> {
    entry: CommandEntry,
    words: Vec<(String, String)>,
    help: &'static str,
    from: From<'a>,
}

enum From<'a> {
    Tool(&'a Tool),
    Folder(&'a CommandSource),
}

impl Declared<'_> {
    fn diag(&self, d: Diagnostic, pointer: &str) -> Diagnostic {
        match self.from {
            From::Tool(tool) => tool.from.diag(d, pointer),
            From::Folder(source) => source.place.diag(d, pointer),
        }
    }

    /// Name inside the owner: of the tool, or of the folder.
    fn name(&self) -> &str {
        match self.from {
            From::Tool(tool) => &tool.local,
            From::Folder(source) => &source.name,
        }
    }

    /// What declares it, for people.
    fn shown(&self) -> String {
        match self.from {
            From::Tool(tool) => format!("`{}` (owner `{}`)", tool.qualified, tool.owner()),
            From::Folder(source) => format!("`commands/{}` (owner `{}`)", source.name, source.place.owner),
        }
    }
}

/// The commands in byte order of their words.
pub(super) fn commands(
    sources: &[CommandSource],
    tools: &ToolNames<'_>,
    platforms: &Platforms,
    out: &mut Vec<Diagnostic>,
) -> Vec<CommandEntry> {
    let mut all: Vec<Declared<'_>> = tools.registry.tools().iter().filter_map(of_tool).collect();
    all.extend(sources.iter().filter_map(|source| of_folder(source, tools, platforms, out)));
    all.sort_by(|a, b| (&a.entry.owner, a.name()).cmp(&(&b.entry.owner, b.name())));
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut sound = vec![true; all.len()];
    for (n, declared) in all.iter().enumerate() {
        for (word, pointer) in &declared.words {
            let folded = fold_word(word);
            let first = fold_word(word.split(' ').next().unwrap_or(word));
            if BUILTIN_COMMANDS.contains(&first.as_str()) {
                let d = Diagnostic::error("command::reserved", format!("`/{first}` is a command of the host"));
                out.push(declared.diag(d.help(declared.help), pointer));
                sound[n] = false;
            } else if let Some(other) = taken.get(&folded).and_then(|i| all.get(*i)) {
                out.push(declared.diag(duplicate(word, declared, other), pointer));
                sound[n] = false;
            } else {
                taken.insert(folded, n);
            }
        }
    }
    let mut list: Vec<CommandEntry> =
        all.into_iter().zip(sound).filter(|(_, sound)| *sound).map(|(d, _)| d.entry).collect();
    list.sort_by(|a, b| a.word.cmp(&b.word));
    list
}

fn of_tool(tool: &Tool) -> Option<Declared<'_>> {
    let command = tool.def().options.command.as_ref()?;
    let word = command.name.clone().unwrap_or_else(|| tool.from.name.clone());
    let mut words = vec![(word.clone(), "/command/name".to_string())];
    words.extend(command.aliases.iter().enumerate().map(|(i, a)| (a.clone(), format!("/command/aliases/{i}"))));
    let entry = CommandEntry {
        word,
        aliases: command.aliases.clone(),
        tool: tool.id,
        qualified: tool.qualified.to_string(),
        owner: tool.owner().clone(),
        description: tool.def().description.clone(),
        usage: command.usage.clone(),
        input: CommandInput::Line(command.argument.clone()),
        hidden: tool.def().options.hidden,
        gate: CommandGate::open(),
        file: tool.file().map(str::to_string),
    };
    Some(Declared { entry, words, help: "choose another word in `command.name`", from: From::Tool(tool) })
}

fn of_folder<'a>(
    source: &'a CommandSource,
    tools: &ToolNames<'_>,
    platforms: &Platforms,
    out: &mut Vec<Diagnostic>,
) -> Option<Declared<'a>> {
    let whole = |word: &String| match &source.group {
        Some(group) => format!("{group} {word}"),
        None => word.clone(),
    };
    let audience = &source.gate.audience;
    let rules = Rules {
        platforms: audience.platforms.clone(),
        scopes: audience.scopes.clone(),
        permissions: audience.permissions.clone(),
    };
    let tool = target(source, tools, out);
    if let CommandTarget::Tool(_) = source.target {
        // a program of its own is a tool of its own, whose rules were checked with it
        out.extend(check_rules(&rules, platforms).into_iter().map(|(pointer, d)| source.place.diag(d, &pointer)));
        out.extend(tool.into_iter().flat_map(|t| misfits(source, t)));
    }
    let tool = tool?;
    let own = source.place.doc.find("/name").is_some();
    let mut words = vec![(source.words(), if own { "/name".to_string() } else { String::new() })];
    words.extend(source.aliases.iter().enumerate().map(|(i, a)| (whole(a), format!("/aliases/{i}"))));
    let entry = CommandEntry {
        word: source.words(),
        aliases: source.aliases.iter().map(whole).collect(),
        tool: tool.id,
        qualified: tool.qualified.to_string(),
        owner: source.place.owner.clone(),
        description: source.description.clone(),
        usage: source.usage.clone().or_else(|| usage(&source.arguments)),
        input: CommandInput::Words(source.arguments.clone()),
        hidden: source.gate.hidden,
        gate: CommandGate { rules, asks: source.gate.requires_approval, timeout_seconds: source.gate.timeout_seconds },
        file: Some(source.place.doc.file.clone()),
    };
    Some(Declared {
        entry,
        words,
        help: "choose another word: `name`, or rename the folder",
        from: From::Folder(source),
    })
}

/// `<city> [days] <text …>`.
fn usage(arguments: &[CommandArgument]) -> Option<String> {
    let word = |a: &CommandArgument| {
        let name = if a.kind == ArgumentKind::Rest { format!("{} …", a.name) } else { a.name.clone() };
        if a.required { format!("<{name}>") } else { format!("[{name}]") }
    };
    (!arguments.is_empty()).then(|| arguments.iter().map(word).collect::<Vec<_>>().join(" "))
}

/// The tool that a command calls; nothing for one that is declared and not in this candidate.
fn target<'t>(source: &CommandSource, tools: &ToolNames<'t>, out: &mut Vec<Diagnostic>) -> Option<&'t Tool> {
    let owner = &source.place.owner;
    let candidates = match &source.target {
        CommandTarget::Tool(name) => vec![owner.qualify(name), name.clone()],
        CommandTarget::Run(_) => vec![owner.qualify(&source.tool_name())],
    };
    let found = candidates.iter().find_map(|c| tools.registry.get(c).ok());
    if let (None, CommandTarget::Tool(name)) = (found, &source.target)
        && !candidates.iter().any(|c| tools.present.contains(c))
    {
        let known = tools.present.iter().map(String::as_str);
        let hint = "write a local name of this owner or a qualified name; `understudy list tools` shows all";
        // a path of the folder was meant
        let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        let help = match tools.present.contains(&owner.qualify(last)) {
            true => format!("did you mean `{last}`?"),
            false => near_or(name, known, hint),
        };
        let d = Diagnostic::error("command::target", format!("there is no tool `{name}`"));
        out.push(source.place.diag(d.help(help), "/tool"));
    }
    found
}

/// Arguments that the tool cannot take, and properties it needs that no argument gives.
fn misfits(source: &CommandSource, tool: &Tool) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let properties = tool.input.visible.get("properties").and_then(Value::as_object);
    let known = || properties.iter().flat_map(|p| p.keys()).map(String::as_str);
    for (n, argument) in source.arguments.iter().enumerate() {
        let fault = |message: String, help: String, key: &str| {
            let d = Diagnostic::error("command::bad-value", message).help(help);
            source.place.diag(d, &format!("/arguments/{n}/{key}"))
        };
        match properties.and_then(|p| p.get(&argument.name)) {
            None => out.push(fault(
                format!("`{}` has no property `{}`", tool.qualified, argument.name),
                crate::config::nearest_help(&argument.name, known()),
                "name",
            )),
            Some(property) if !takes(property, argument.kind) => out.push(fault(
                format!("`{}` of `{}` is no {}", argument.name, tool.qualified, wanted(argument.kind)),
                format!("its schema says {}", property.get("type").unwrap_or(&Value::Null)),
                "type",
            )),
            Some(_) => {}
        }
    }
    let required = tool.input.visible.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !source.arguments.iter().any(|a| a.name == name) {
            let message = format!("`{}` needs `{name}`, which no argument gives", tool.qualified);
            let d = Diagnostic::error("command::bad-value", message).help(format!(
                "add `{{ name = \"{name}\", type = \"text\" }}` to `arguments`, or bind it in `[preset]` of the tool"
            ));
            out.push(source.place.diag(d, "/tool"));
        }
    }
    out
}

/// Whether a property takes what an argument becomes; a schema without a plain type is left to the call.
fn takes(property: &Value, kind: ArgumentKind) -> bool {
    let Some(name) = property.get("type").and_then(Value::as_str) else { return true };
    match kind {
        ArgumentKind::Text | ArgumentKind::Rest => name == "string",
        ArgumentKind::Int => matches!(name, "integer" | "number"),
        ArgumentKind::Number => name == "number",
        ArgumentKind::Bool => name == "boolean",
    }
}

fn wanted(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Text | ArgumentKind::Rest => "text",
        ArgumentKind::Int => "whole number",
        ArgumentKind::Number => "number",
        ArgumentKind::Bool => "yes or no",
    }
}

fn duplicate(word: &str, declared: &Declared<'_>, other: &Declared<'_>) -> Diagnostic {
    let message = format!("`/{word}` is a command of {} and of {}", other.shown(), declared.shown());
    let d = Diagnostic::error("command::duplicate-name", message).help(declared.help);
    match &other.entry.file {
        Some(file) => d.related(file, None, "the other command"),
        None => d,
    }
}

impl CommandGate {
    /// Nothing beside the tool's own.
    pub(super) fn open() -> Self {
        Self { rules: Rules::default(), asks: Approval::Never, timeout_seconds: None }
    }
}
