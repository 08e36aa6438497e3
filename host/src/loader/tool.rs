//! `tool.toml` → `ToolSource`.

use super::input;
use super::loading::{Findings, Loading, as_text, bool_at, list_at, text_at};
use super::names::{self, NameRule};
use super::places::Item;
use super::raw::{SchemaSource, ToolFile};
use super::run;
use super::source::{Placement, ToolSource, When};
use super::walk::Unstable;
use crate::config::doc::{Doc, NodeKind};
use crate::config::shape;
use plugin_sdk::{Diagnostic, ToolDef, ToolOptions};
use serde_json::Value;

/// Shown after the description of a deprecated tool without a message of its own.
const DEPRECATED: &str = "Deprecated: it may be removed; prefer another tool.";

/// Reads and checks one tool folder; `None` when a finding refuses it.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, item: &Item<'_>) -> Result<Option<ToolSource>, Unstable> {
    let mut findings = Loading::findings(item);
    let tool = checked(l, item, &mut findings)?;
    let tool = if findings.is_broken() { None } else { tool };
    l.report(findings);
    Ok(tool)
}

fn checked(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    findings: &mut Findings,
) -> Result<Option<ToolSource>, Unstable> {
    let Some(doc) = l.toml("tool", item.manifest, findings)? else { return Ok(None) };
    let (file, faults) = shape::check_with::<ToolFile>("tool", &doc, &l.schemas.tool);
    findings.list.extend(faults);
    check_placement(&doc, &item.placement, findings);
    check_values(&doc, l, findings);
    let run = run::check(l, item, &doc, findings)?;
    let input = schema(l, item, &doc, findings)?;
    let (Some(file), Some(run), Some(input)) = (file, run, input) else { return Ok(None) };
    let when = When { config: file.when.config.clone().into_iter().collect(), tokens: file.when.tokens.clone() };
    Ok(Some(ToolSource {
        name: item.folder.name.clone(),
        placement: item.placement.clone(),
        folder: item.folder.rel.clone(),
        def: definition(file, input.schema),
        run,
        when,
        place: l.place(&findings.label, &doc),
        schema_pointer: input.pointer.to_string(),
        schema_file: input.file.map(|f| l.shown(&f)),
    }))
}

fn check_placement(doc: &Doc, placement: &Placement, findings: &mut Findings) {
    let platforms = list_at(doc, "/platforms");
    let adapter = text_at(doc, "/adapter");
    if let Some(adapter) = adapter
        && !platforms.is_empty()
        && !matches!(platforms, [one] if as_text(one) == Some(adapter))
    {
        let d = Diagnostic::error(
            "tool::adapter-conflict",
            format!("`adapter = \"{adapter}\"` means `platforms = [\"{adapter}\"]`, but other platforms are listed"),
        )
        .help("remove `platforms`, or `adapter`");
        findings.add(doc.diag(d, "/platforms"));
    }
    if *placement == Placement::Plugin && (adapter.is_some() || !platforms.is_empty()) {
        let d = Diagnostic::warning("tool::platform-in-root", "a public tool is meant for every platform")
            .help("move the tool under an agent or skill of that platform");
        findings.add(doc.diag_key(d, if adapter.is_some() { "/adapter" } else { "/platforms" }));
    }
    if *placement != Placement::Plugin && bool_at(doc, "/always_loaded") == Some(true) {
        let d = Diagnostic::error("tool::private-always-loaded", "only a tool in `tools/` can be always loaded")
            .help("remove `always_loaded`, or move the tool to `tools/`");
        findings.add(doc.diag(d, "/always_loaded"));
    }
}

fn check_values(doc: &Doc, l: &Loading<'_, '_, '_>, findings: &mut Findings) {
    if let Some(text) = text_at(doc, "/description") {
        let count = text.chars().count();
        if (1025..=4096).contains(&count) {
            let d = Diagnostic::warning("tool::long-description", format!("the description has {count} characters"))
                .help("keep it under 1,024; put detail into a skill");
            findings.add(doc.diag(d, "/description"));
        }
    }
    if doc.find("/deprecation_message").is_some() && bool_at(doc, "/deprecated") != Some(true) {
        let d = Diagnostic::error("tool::bad-value", "`deprecation_message` needs `deprecated = true`")
            .help("add `deprecated = true`, or remove the message");
        findings.add(doc.diag(d, "/deprecation_message"));
    }
    check_words(doc, findings);
    if text_at(doc, "/execution_mode") == Some("thread") && doc.find("/run/command").is_some() {
        let d = Diagnostic::error("tool::bad-value", "`execution_mode = \"thread\"` is for native functions")
            .help("remove it: a command is a process of its own");
        findings.add(doc.diag(d, "/execution_mode"));
    }
    check_preview(doc, l, findings);
    for (n, node) in list_at(doc, "/aliases").iter().enumerate() {
        let Some(name) = as_text(node).filter(|n| !names::is_legal(n, NameRule::Plain)) else { continue };
        let nearest = names::nearest_legal(name, NameRule::Plain, "name");
        let d = Diagnostic::error("tool::bad-value", format!("the alias `{name}` is no legal name"))
            .help(format!("use `{nearest}`"));
        findings.add(doc.diag(d, &format!("/aliases/{n}")));
    }
}

/// Command words are typed by people: one word, without a slash; case does not count.
fn check_words(doc: &Doc, findings: &mut Findings) {
    let aliases = list_at(doc, "/command/aliases").len();
    let pointers =
        std::iter::once("/command/name".to_string()).chain((0..aliases).map(|n| format!("/command/aliases/{n}")));
    for pointer in pointers {
        let Some(word) = text_at(doc, &pointer) else { continue };
        if !names::is_legal(&word.to_lowercase(), NameRule::Plain) {
            let nearest = names::nearest_legal(word, NameRule::Plain, "word");
            let d = Diagnostic::error("tool::bad-value", format!("`{word}` cannot be typed as a chat command"));
            findings.add(doc.diag(d.help(format!("one word of letters, digits, `-` and `_`: `{nearest}`")), &pointer));
        }
    }
}

fn check_preview(doc: &Doc, l: &Loading<'_, '_, '_>, findings: &mut Findings) {
    let number = |pointer: &str| match doc.find(pointer).map(|(_, n)| &n.kind) {
        Some(NodeKind::Number(n, _)) => Some(*n),
        _ => None,
    };
    let (max, preview) = (number("/max_result_chars"), number("/preview_chars"));
    if max.is_none() && preview.is_none() {
        return;
    }
    let most = max.unwrap_or(l.bot.tools.max_result_chars as f64);
    let shown = preview.unwrap_or(l.bot.tools.preview_chars as f64);
    if shown > most {
        let d =
            Diagnostic::error("tool::bad-value", format!("the preview ({shown}) is longer than the whole ({most})"))
                .help("`preview_chars` is at most `max_result_chars`");
        findings.add(doc.diag(d, if preview.is_some() { "/preview_chars" } else { "/max_result_chars" }));
    }
}

/// The input schema and where it stands.
struct Input {
    schema: Value,
    pointer: &'static str,
    file: Option<String>,
}

fn schema(
    l: &mut Loading<'_, '_, '_>,
    item: &Item<'_>,
    doc: &Doc,
    findings: &mut Findings,
) -> Result<Option<Input>, Unstable> {
    let (short, full) = (doc.find("/input"), doc.find("/input_schema"));
    if short.is_some() && full.is_some() {
        let d = Diagnostic::error("tool::two-inputs", "`input` and `input_schema` are both given")
            .help("keep one: `input` is the short form of the other");
        findings.add(doc.diag_key(d, "/input_schema"));
        return Ok(None);
    }
    if short.is_some() {
        let schema = input::expand(doc, findings);
        return Ok(schema.map(|schema| Input { schema, pointer: "/input", file: None }));
    }
    let Some((_, node)) = full else {
        let schema = serde_json::json!({"type": "object", "properties": {}});
        return Ok(Some(Input { schema, pointer: "", file: None }));
    };
    let source = match &node.kind {
        NodeKind::Str(path) => SchemaSource::Path(path.clone()),
        NodeKind::Table(_) => match node.value() {
            Value::Object(map) => SchemaSource::Inline(map),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    match source {
        SchemaSource::Inline(map) => {
            Ok(Some(Input { schema: Value::Object(map), pointer: "/input_schema", file: None }))
        }
        SchemaSource::Path(path) => {
            let found = l.json((doc, "/input_schema", "tool"), &item.folder.rel, &path, findings)?;
            Ok(found.map(|(json, rel)| Input { schema: json.root.value(), pointer: "", file: Some(rel) }))
        }
    }
}

fn definition(file: ToolFile, input_schema: Value) -> ToolDef {
    let deprecation = file.deprecated.then(|| file.deprecation_message.unwrap_or_else(|| DEPRECATED.to_string()));
    let options = ToolOptions {
        requires_approval: file.requires_approval,
        platforms: file.platforms,
        scopes: file.scopes,
        permissions: file.permissions,
        adapter: file.adapter,
        hidden: file.hidden,
        capabilities: file.capabilities,
        group: file.group,
        tags: file.tags,
        keywords: file.keywords,
        version: file.version,
        metadata: file.metadata,
        aliases: file.aliases,
        examples: file.examples,
        deprecation,
        always_loaded: file.always_loaded,
        timeout_seconds: file.timeout_seconds,
        max_result_chars: file.max_result_chars,
        preview_chars: file.preview_chars,
        preview_mode: file.preview_mode,
        context_retention: file.context_retention,
        concurrency_safe: file.concurrency_safe,
        execution_mode: file.execution_mode,
        command: file.command,
    };
    ToolDef { description: file.description, input_schema, preset: file.preset, options }
}
