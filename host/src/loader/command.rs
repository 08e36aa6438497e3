//! `command.toml` → `CommandSource`.

use super::loading::{Findings, Loading, text_at};
use super::names::{self, NameRule};
use super::places::Item;
use super::raw::{ArgumentKind, CommandArgument, CommandFile};
use super::run;
use super::source::{Audience, Place, RunSpec};
use super::walk::Unstable;
use crate::config::doc::Doc;
use crate::config::shape;
use plugin_sdk::{Approval, Diagnostic};

/// A checked `command.toml`.
#[derive(Debug, Clone)]
pub struct CommandSource {
    /// Folder path below `commands/`: `weather`, `todo/add`.
    pub name: String,
    /// First word of a command of two.
    pub group: Option<String>,
    /// The word, or the second of two.
    pub word: String,
    /// Further words in place of it.
    pub aliases: Vec<String>,
    /// Shown in the menu and in `/help`.
    pub description: String,
    /// Shown after the word, as written.
    pub usage: Option<String>,
    /// What is typed after the word.
    pub arguments: Vec<CommandArgument>,
    /// Who may use it, and how.
    pub gate: CommandGate,
    /// Item folder relative to the plugin folder.
    pub folder: String,
    /// What it does.
    pub target: CommandTarget,
    /// Where it stands.
    pub place: Place,
}

impl CommandSource {
    /// What people type after the slash.
    pub fn words(&self) -> String {
        match &self.group {
            Some(group) => format!("{group} {}", self.word),
            None => self.word.clone(),
        }
    }

    /// Local name of the hidden tool that a program of its own is.
    pub fn tool_name(&self) -> String {
        format!("command__{}", self.name.replace('/', "__"))
    }
}

/// What stands between a person and a command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandGate {
    /// Whom it is offered to.
    pub audience: Audience,
    /// Not in `/help` and the menu.
    pub hidden: bool,
    /// Deadline.
    pub timeout_seconds: Option<f64>,
    /// When it asks.
    pub requires_approval: Approval,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandTarget {
    /// Calls a tool: local name of the owner, or qualified.
    Tool(String),
    /// Runs a program of its own.
    Run(RunSpec),
}

/// Reads and checks one command folder; `None` when a finding refuses it.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Option<CommandSource>, Unstable> {
    let mut findings = Loading::findings(item);
    let mut command = None;
    if let Some(doc) = l.toml("command", item.manifest, &mut findings)? {
        let (file, faults) = shape::check_with::<CommandFile>("command", &doc, &l.schemas.command);
        findings.list.extend(faults);
        check_words(&doc, file.as_ref(), &mut findings);
        let target = target(l, item, &doc, &mut findings)?;
        if let Some(file) = &file {
            check_arguments(&doc, file, &mut findings);
        }
        if let (Some(file), Some(target)) = (file, target) {
            command = Some(checked(item, file, target, l.place(&findings.label, &doc)));
        }
    }
    let command = if findings.is_broken() { None } else { command };
    l.report(findings);
    Ok(command)
}

fn checked(item: &Item<'_>, file: CommandFile, target: CommandTarget, place: Place) -> CommandSource {
    let name = item.name();
    CommandSource {
        group: name.split_once('/').map(|(group, _)| group.to_string()),
        word: file.name.unwrap_or_else(|| item.folder.name.clone()),
        aliases: file.aliases,
        description: file.description,
        usage: file.usage,
        arguments: file.arguments,
        gate: CommandGate {
            audience: Audience { platforms: file.platforms, scopes: file.scopes, permissions: file.permissions },
            hidden: file.hidden,
            timeout_seconds: file.timeout_seconds,
            requires_approval: file.requires_approval,
        },
        folder: item.folder.rel.clone(),
        target,
        place,
        name,
    }
}

/// Exactly one of `tool` and `[run]`.
fn target(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    doc: &Doc,
    findings: &mut Findings,
) -> Result<Option<CommandTarget>, Unstable> {
    let (tool, own) = (doc.find("/tool").is_some(), doc.find("/run").is_some());
    if tool == own {
        let d = Diagnostic::error(
            "command::target",
            match tool {
                true => "`tool` and `run` are both given",
                false => "the command does not say what it does",
            },
        );
        findings.add(match tool {
            true => doc.diag_key(d.help("keep one of them"), "/run"),
            false => doc.at(d.help("add `tool = \"NAME\"`, or `run = { command = [\"./main.sh\"] }`"), doc.root.span),
        });
        return Ok(None);
    }
    if let Some(name) = text_at(doc, "/tool") {
        return Ok(Some(CommandTarget::Tool(name.to_string())));
    }
    Ok(if own { run::check(l, item, doc, findings)?.map(CommandTarget::Run) } else { None })
}

/// Words are typed by people: letters, digits, `-` and `_`; case does not count.
fn check_words(doc: &Doc, file: Option<&CommandFile>, findings: &mut Findings) {
    let aliases = file.map_or(0, |f| f.aliases.len());
    let pointers = std::iter::once("/name".to_string()).chain((0..aliases).map(|n| format!("/aliases/{n}")));
    for pointer in pointers {
        let Some(word) = text_at(doc, &pointer) else { continue };
        if !names::is_legal(&word.to_lowercase(), NameRule::Plain) {
            let nearest = names::nearest_legal(word, NameRule::Plain, "word");
            let d = Diagnostic::error("command::bad-value", format!("`{word}` cannot be typed as a chat command"));
            findings.add(doc.diag(d.help(format!("one word of letters, digits, `-` and `_`: `{nearest}`")), &pointer));
        }
    }
}

fn check_arguments(doc: &Doc, file: &CommandFile, findings: &mut Findings) {
    for (n, argument) in file.arguments.iter().enumerate() {
        let earlier = &file.arguments[..n];
        if earlier.iter().any(|a| a.name == argument.name) {
            let d = Diagnostic::error("command::bad-value", format!("two arguments are called `{}`", argument.name))
                .help("rename one of them");
            findings.add(doc.diag(d, &format!("/arguments/{n}/name")));
        }
        if argument.kind == ArgumentKind::Rest && n + 1 != file.arguments.len() {
            let d = Diagnostic::error("command::bad-value", "`rest` takes everything that is left, so it is the last")
                .help("move it to the end of `arguments`");
            findings.add(doc.diag(d, &format!("/arguments/{n}/type")));
        }
        if argument.required && earlier.iter().any(|a| !a.required) {
            let message = format!("the required `{}` stands behind an optional argument", argument.name);
            let d = Diagnostic::error("command::bad-value", message)
                .help("words are read in order: put the optional ones last");
            findings.add(doc.diag(d, &format!("/arguments/{n}/name")));
        }
    }
}
