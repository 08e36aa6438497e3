//! `hook.toml` → `HookSource`.

use super::loading::{Findings, Loading, as_text, list_at};
use super::places::Item;
use super::raw::{HookFile, OnFailure};
use super::run;
use super::source::{Place, Placement, RunCwd, RunSpec};
use super::walk::Unstable;
use crate::config::doc::{Doc, NodeKind};
use crate::config::shape;
use plugin_sdk::{Diagnostic, HookEventKind};

/// A checked `hook.toml`.
#[derive(Debug, Clone)]
// SHAPE: 01 §7
pub struct HookSource {
    /// Folder name.
    pub name: String,
    /// Placement: its level.
    pub placement: Placement,
    /// Item folder relative to the plugin folder.
    pub folder: String,
    /// When it runs.
    pub events: Vec<HookEventKind>,
    /// Qualified names or globs; empty = all.
    pub tools: Vec<String>,
    /// Limit of one run.
    pub timeout_seconds: f64,
    /// Larger = earlier inside its level.
    pub order: i64,
    /// What a failure of it means for `tool.before`.
    pub on_failure: OnFailure,
    /// How it runs, in the turn's workspace.
    pub run: RunSpec,
    /// Where it stands.
    pub place: Place,
}

/// A hook folder as it was read.
pub(super) enum Read {
    /// It is sound.
    Whole(Box<HookSource>),
    /// A finding refuses it, but what it listens to is known and refuses nothing: its folder.
    Quiet(String),
    /// A finding refuses it, and it may have been a guard.
    Broken,
}

/// Reads and checks one hook folder.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Read, Unstable> {
    let mut findings = Loading::findings(item);
    let (mut hook, mut quiet) = (None, false);
    if let Some(doc) = l.toml("hook", item.manifest, &mut findings)? {
        quiet = is_quiet(&doc);
        let (file, faults) = shape::check_with::<HookFile>("hook", &doc, &l.schemas.hook);
        findings.list.extend(faults);
        let run = run::check(l, item, &doc, &mut findings)?;
        check_options(&doc, &mut findings);
        if let Some(file) = &file {
            check_filter(&doc, file, &mut findings);
        }
        if let (Some(file), Some(RunSpec::Command { argv, .. })) = (file, run) {
            let before = file.events.contains(&HookEventKind::ToolBefore);
            let default = if before { OnFailure::Deny } else { OnFailure::Continue };
            hook = Some(HookSource {
                name: item.folder.name.clone(),
                placement: item.placement.clone(),
                folder: item.folder.rel.clone(),
                events: file.events,
                tools: file.tools,
                timeout_seconds: file.timeout_seconds,
                order: file.order,
                on_failure: file.on_failure.unwrap_or(default),
                run: RunSpec::Command { argv, cwd: RunCwd::Workspace, optional: false },
                place: l.place(&findings.label, &doc),
            });
        }
    }
    let read = match hook {
        Some(hook) if !findings.is_broken() => Read::Whole(Box::new(hook)),
        _ if quiet => Read::Quiet(item.folder.rel.clone()),
        _ => Read::Broken,
    };
    l.report(findings);
    Ok(read)
}

/// Whether the events could be read and none of them can refuse a call.
fn is_quiet(doc: &Doc) -> bool {
    let events = list_at(doc, "/events");
    let known = [HookEventKind::RunStarted, HookEventKind::RunFinished, HookEventKind::ToolAfter];
    let quiet = |word: &str| known.iter().any(|k| k.to_string() == word);
    !events.is_empty() && events.iter().all(|e| as_text(e).is_some_and(quiet))
}

fn check_options(doc: &Doc, findings: &mut Findings) {
    let given = matches!(doc.find("/options").map(|(_, n)| &n.kind), Some(NodeKind::Table(t)) if !t.is_empty());
    if given && doc.find("/run/command").is_some() {
        let d = Diagnostic::error("hook::options-on-command", "a command takes no `options`")
            .help("remove them; a program reads a file of its folder, or variables of `permissions.env`");
        findings.add(doc.diag_key(d, "/options"));
    }
}

fn check_filter(doc: &Doc, file: &HookFile, findings: &mut Findings) {
    if let Some(other) = file.events.iter().find(|e| !e.is_tool()).filter(|_| !file.tools.is_empty()) {
        let d = Diagnostic::error("hook::tools-filter", format!("`tools` filters calls, but `{other}` is about none"))
            .help("remove `tools`, or make a hook of its own for each kind of event");
        findings.add(doc.diag_key(d, "/tools"));
    }
    if file.on_failure == Some(OnFailure::Deny) && !file.events.contains(&HookEventKind::ToolBefore) {
        let d = Diagnostic::error("hook::bad-value", "`on_failure = \"deny\"` is for `tool.before` only")
            .help("nothing is left to refuse at the other events: remove it");
        findings.add(doc.diag(d, "/on_failure"));
    }
}
