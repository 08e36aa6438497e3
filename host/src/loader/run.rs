//! `[run]`: which runtime, and the paths that a command line names.

use super::loading::{Findings, Loading, as_text, bool_at, list_at, resolve, text_at};
use super::places::{Item, Kind};
use super::source::{RunCwd, RunSpec};
use super::walk::{Entry, Node, Unstable};
use crate::config::doc::{Doc, NodeKind};
use plugin_sdk::Diagnostic;

/// Checks `[run]` of an item; `None` when there is nothing to run.
pub(super) fn check(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    doc: &Doc,
    findings: &mut Findings,
) -> Result<Option<RunSpec>, Unstable> {
    let given: Vec<&str> =
        ["command", "native", "wasm"].into_iter().filter(|k| doc.find(&format!("/run/{k}")).is_some()).collect();
    if given.len() != 1 {
        findings.extend(count_fault(item.kind, doc, &given));
        return Ok(None);
    }
    if let Some(runtime) = given.iter().find(|k| **k != "command") {
        findings.add(doc.diag_key(absent(runtime), &format!("/run/{runtime}")));
        return Ok(None);
    }
    if let Some(d) = switched_off(l) {
        findings.add(doc.diag_key(d, "/run/command"));
    }
    let argv: Vec<String> = list_at(doc, "/run/command").iter().filter_map(as_text).map(str::to_string).collect();
    let cwd = match text_at(doc, "/run/cwd") {
        Some("plugin") => RunCwd::Plugin,
        Some("workspace") => RunCwd::Workspace,
        _ if item.kind == Kind::Hook => RunCwd::Workspace,
        _ => RunCwd::Tool,
    };
    if argv.len() != list_at(doc, "/run/command").len() || argv.is_empty() {
        return Ok(None);
    }
    for (n, word) in argv.iter().enumerate() {
        let mut words = Words { l, item, doc, findings, pointer: format!("/run/command/{n}") };
        if n == 0 {
            words.program(word)?;
        } else {
            words.argument(word, cwd)?;
        }
    }
    let optional = bool_at(doc, "/run/optional").unwrap_or(false);
    Ok(Some(RunSpec::Command { argv, cwd, optional }))
}

/// Nothing for a hook without `[run]`: the structural check says so.
fn count_fault(kind: Kind, doc: &Doc, given: &[&str]) -> Option<Diagnostic> {
    let (none, several) = match kind {
        Kind::Hook => ("hook::missing-key", "hook::bad-value"),
        Kind::Command => ("command::missing-key", "command::bad-value"),
        _ => ("tool::no-run", "tool::two-runs"),
    };
    let is_table = doc.find("/run").is_none_or(|(_, n)| matches!(n.kind, NodeKind::Table(_)));
    if !is_table && matches!(kind, Kind::Hook | Kind::Command) {
        // another type than a table is the structural check's finding
        return None;
    }
    if given.is_empty() {
        let d = Diagnostic::error(none, format!("the {} does not say how it runs", kind.word()))
            .help("add `run = { command = [\"python3\", \"main.py\"] }`");
        return match (doc.find("/run"), kind) {
            (Some(_), _) => Some(doc.diag_key(d, "/run")),
            (None, Kind::Hook) => None,
            (None, _) => Some(doc.at(d, doc.root.span)),
        };
    }
    let d = Diagnostic::error(several, format!("`run` has {}; exactly one is needed", given.join(" and ")));
    Some(doc.diag_key(d.help("keep one of them"), &format!("/run/{}", given[1])))
}

/// A runtime that this build does not carry.
pub(super) fn absent(runtime: &str) -> Diagnostic {
    Diagnostic::error("plugin::runtime-absent", format!("the runtime `{runtime}` is not in this build"))
        .help(format!("use a build with the cargo feature `{runtime}`, or a `command`"))
}

fn switched_off(l: &Loading<'_, '_, '_>) -> Option<Diagnostic> {
    if !cfg!(feature = "command") {
        return Some(absent("command"));
    }
    let off = !l.bot.plugins.runtimes.iter().any(|r| r == "command");
    off.then(|| {
        Diagnostic::error("plugin::runtime-off", "the runtime `command` is switched off in `plugins.runtimes`")
            .help("add \"command\" to `plugins.runtimes`, or disable the plugin")
    })
}

/// A later word that can only be meant as a file of the tool.
fn names_a_file(word: &str) -> bool {
    word.starts_with("./")
}

/// One word of the command line.
struct Words<'w, 'l, 'r, 'c, 'i> {
    l: &'w mut Loading<'l, 'r, 'c>,
    item: &'w Item<'i>,
    doc: &'w Doc,
    findings: &'w mut Findings,
    pointer: String,
}

impl Words<'_, '_, '_, '_, '_> {
    fn fault(&mut self, d: Diagnostic) {
        self.findings.add(self.doc.diag(d, &self.pointer));
    }

    fn outside(&mut self, word: &str) {
        let d = Diagnostic::error("run::path-outside", format!("`{word}` leaves the plugin folder"))
            .help("a program of the machine is named alone, as on `PATH`; everything else belongs into the plugin");
        self.fault(d);
    }

    /// The first word: a file of the plugin when it holds a slash or exists in the item's folder, else on `PATH`.
    fn program(&mut self, word: &str) -> Result<(), Unstable> {
        let folder = self.item.folder;
        if !word.contains('/') && folder.child(word).is_none_or(Entry::is_folder) {
            return Ok(());
        }
        let Some(rel) = resolve(&folder.rel, word) else {
            self.outside(word);
            return Ok(());
        };
        match self.l.named(&rel)? {
            Some(entry) if matches!(entry.node, Node::File(_)) => {
                self.reach(&entry, word);
                self.executable(&entry)
            }
            _ => {
                let there = self.l.shown(&rel);
                let d = Diagnostic::error("run::file-missing", format!("there is no file `{there}`"))
                    .help("add the file, or correct the path; it starts at the item's own folder");
                self.fault(d);
                Ok(())
            }
        }
    }

    /// A later word: a path when it names a file of the plugin.
    fn argument(&mut self, word: &str, cwd: RunCwd) -> Result<(), Unstable> {
        if word.starts_with(['-', '/']) || word.contains("://") {
            return Ok(());
        }
        if cwd == RunCwd::Workspace {
            self.lost(word);
            return Ok(());
        }
        let base = if cwd == RunCwd::Plugin { "" } else { self.item.folder.rel.as_str() };
        let Some(rel) = resolve(base, word) else {
            if word.contains('/') || word == ".." {
                self.outside(word);
            }
            return Ok(());
        };
        if rel.is_empty() || word.chars().any(char::is_control) {
            return Ok(());
        }
        match self.l.named(&rel)? {
            Some(entry) if !entry.is_folder() => self.reach(&entry, word),
            None if names_a_file(word) => {
                let there = self.l.shown(&rel);
                let message = format!("there is no file `{there}`, which the command line seems to name");
                let d = Diagnostic::warning("run::file-missing", message);
                self.fault(d.help("add the file, or correct the path; it starts at the tool's folder"));
            }
            _ => {}
        }
        Ok(())
    }

    /// A file of the item's own folder that a program in the workspace will not find.
    fn lost(&mut self, word: &str) {
        let name = word.strip_prefix("./").unwrap_or(word);
        if self.item.folder.child(name).is_some_and(|e| !e.is_folder()) {
            let message = format!(
                "`{word}` lies in the {0}'s folder, but the program runs in the turn's workspace",
                self.item.kind.word()
            );
            let d = Diagnostic::warning("run::file-missing", message);
            self.fault(
                d.help(format!("make it executable, begin it with a `#!` line, and run it as `./{name}` alone")),
            );
        }
    }

    fn reach(&mut self, entry: &Entry, word: &str) {
        let owner = item_folder(&entry.rel);
        let own = format!("{}/", self.item.folder.rel);
        if !owner.is_empty() && !own.starts_with(&format!("{owner}/")) {
            let d = Diagnostic::warning("run::reaches-out", format!("`{word}` lies in another item, `{owner}`"))
                .help("put shared code into `lib/`, or into the folder of the skill that both belong to");
            self.fault(d);
        }
    }

    fn executable(&mut self, entry: &Entry) -> Result<(), Unstable> {
        let Node::File(stat) = &entry.node else { return Ok(()) };
        let shown = self.l.shown(&entry.rel);
        let fault = |message: String, help: &str| Diagnostic::error("run::not-executable", message).help(help);
        if !stat.executable() {
            let help = format!("run `chmod +x {shown}`, or name its interpreter first");
            self.fault(fault(format!("`{shown}` has no execute bit"), &help));
            return Ok(());
        }
        let head = match self.l.reader.head(entry, stat)? {
            Ok(head) => head,
            Err(d) => {
                self.findings.add(d.file(shown));
                return Ok(());
            }
        };
        if !head.starts_with(b"#!") {
            if !is_binary(&head) {
                let d = fault(
                    format!("`{shown}` does not begin with a `#!` line"),
                    "begin it with `#!/usr/bin/env …`, or name its interpreter first",
                );
                self.fault(d);
            }
            return Ok(());
        }
        let line = head.split(|b| *b == b'\n').next().unwrap_or(&[]);
        if line.ends_with(b"\r") {
            let d = fault(format!("the `#!` line of `{shown}` ends in CR"), "save the file with LF line ends");
            self.fault(d);
        }
        Ok(())
    }
}

/// ELF or Mach-O.
fn is_binary(head: &[u8]) -> bool {
    const MAGIC: [[u8; 4]; 6] = [
        *b"\x7fELF",
        [0xfe, 0xed, 0xfa, 0xce],
        [0xfe, 0xed, 0xfa, 0xcf],
        [0xce, 0xfa, 0xed, 0xfe],
        [0xcf, 0xfa, 0xed, 0xfe],
        [0xca, 0xfe, 0xba, 0xbe],
    ];
    MAGIC.iter().any(|m| head.starts_with(m))
}

/// The innermost item folder that holds a path; empty when none does.
fn item_folder(rel: &str) -> String {
    let parts: Vec<&str> = rel.split('/').collect();
    let mut at = 0;
    while at + 2 < parts.len() && Kind::of_container(parts[at]).is_some() {
        at += 2;
    }
    parts[..at].join("/")
}
