//! `plugin.toml` → `PluginManifest`.

use super::loading::{Findings, Loading, as_text, list_at, text_at};
use super::permissions;
use super::raw::{DependsTable, PluginFile, SchemaSource};
use super::run::absent;
use super::source::{Dependency, Permissions, PluginManifest};
use super::view;
use super::walk::{Entry, Unstable};
use crate::config::doc::{Doc, NodeKind};
use crate::config::shape;
use plugin_sdk::{Diagnostic, OwnerPath, SDK_VERSION};
use semver::{Version, VersionReq};
use serde_json::Value;

/// What a manifest says.
pub(super) struct Loaded {
    pub(super) manifest: PluginManifest,
    pub(super) include: Vec<String>,
}

/// The manifest of a bot folder that has none, or of one that cannot be read.
pub(super) fn empty(name: &str) -> PluginManifest {
    PluginManifest {
        name: name.to_string(),
        version: Version::new(0, 0, 0),
        description: String::new(),
        enabled: true,
        requires: Vec::new(),
        provides: Vec::new(),
        config_schema: None,
        config_defaults: serde_json::Map::new(),
        permissions: Permissions { filesystem: "none".into(), send: "origin".into(), ..Permissions::default() },
        depends: Vec::new(),
        place: None,
    }
}

/// Reads and checks `plugin.toml`.
pub(super) fn load(l: &mut Loading<'_, '_, '_>, entry: &Entry, key: &str) -> Result<Loaded, Unstable> {
    let mut findings = Findings::new("");
    let mut loaded = Loaded { manifest: empty(key), include: Vec::new() };
    if let Some(doc) = l.toml("plugin", entry, &mut findings)? {
        let (file, faults) = shape::check_with::<PluginFile>("plugin", &doc, &l.schemas.plugin);
        findings.list.extend(faults);
        loaded.manifest.place = Some(l.place(&findings.label, &doc));
        loaded.manifest.enabled = super::loading::bool_at(&doc, "/enabled").unwrap_or(true);
        runtimes(&doc, &mut findings);
        sdk(&doc, &mut findings);
        values(&doc, &mut findings);
        permissions::check(&doc, &l.walk.owner, &mut findings);
        let schema = config_schema(l, &doc, &mut findings)?;
        if let Some(file) = file {
            loaded.include = file.include.clone();
            fill(&mut loaded.manifest, file);
            loaded.manifest.config_schema = schema;
            view::check_defaults(&loaded.manifest, &doc, &mut findings);
        }
    }
    l.report(findings);
    Ok(loaded)
}

fn fill(manifest: &mut PluginManifest, file: PluginFile) {
    if let Ok(version) = Version::parse(&file.version) {
        manifest.version = version;
    }
    if let Some(name) = file.name {
        manifest.name = name;
    }
    manifest.description = file.description;
    manifest.requires = file.requires;
    manifest.provides = file.provides;
    manifest.config_defaults = file.config.defaults;
    manifest.permissions = permissions::read(file.permissions);
    manifest.depends = file.depends.into_iter().filter_map(dependency).collect();
}

fn dependency(entry: DependsTable) -> Option<Dependency> {
    let version = VersionReq::parse(&entry.version).ok()?;
    Some(Dependency { plugin: OwnerPath::new(&entry.plugin), version, optional: entry.optional })
}

/// Rules of single values that a schema cannot say; each stands whatever else is wrong with the file.
fn values(doc: &Doc, findings: &mut Findings) {
    if let Some(text) = text_at(doc, "/version")
        && let Err(e) = Version::parse(text)
    {
        let d = Diagnostic::error("plugin::bad-value", format!("`{text}` is no semantic version: {e}"))
            .help("write three numbers, like `1.2.0`");
        findings.add(doc.diag(d, "/version"));
    }
    let provided: Vec<&str> = list_at(doc, "/provides").iter().filter_map(as_text).collect();
    for (n, token) in provided.iter().enumerate().filter(|(n, t)| provided[..*n].contains(t)) {
        let message = format!("the token `{token}` is provided twice by one owner");
        let d = Diagnostic::error("plugin::duplicate-token", message).help("remove one of them");
        findings.add(doc.diag(d, &format!("/provides/{n}")));
    }
    for n in 0..list_at(doc, "/depends").len() {
        let pointer = format!("/depends/{n}/version");
        if let Some(range) = text_at(doc, &pointer)
            && let Err(e) = VersionReq::parse(range)
        {
            let d = Diagnostic::error("plugin::bad-value", format!("`{range}` is no version range: {e}"))
                .help("write a range like `^1.2`, or `*`");
            findings.add(doc.diag(d, &pointer));
        }
    }
}

fn runtimes(doc: &Doc, findings: &mut Findings) {
    let (native, wasm) = (doc.find("/native").is_some(), doc.find("/wasm").is_some());
    if native && wasm {
        let d = Diagnostic::error("plugin::two-runtimes", "`native` and `wasm` are both given")
            .help("keep one; the other code can be a plugin of its own");
        findings.add(doc.diag_key(d, "/wasm"));
    }
    for (runtime, given) in [("native", native), ("wasm", wasm)] {
        if given {
            findings.add(doc.diag_key(absent(runtime), &format!("/{runtime}")));
        }
    }
}

fn sdk(doc: &Doc, findings: &mut Findings) {
    let Some((_, node)) = doc.find("/sdk") else {
        if let Some(table) = ["native", "wasm"].into_iter().find(|t| doc.find(&format!("/{t}")).is_some()) {
            let d = Diagnostic::error("plugin::missing-key", format!("missing key `sdk`, needed with `[{table}]`"))
                .help(format!("add `sdk = \"^{SDK_VERSION}\"`"));
            findings.add(doc.diag_key(d, &format!("/{table}")));
        }
        return;
    };
    let NodeKind::Str(range) = &node.kind else { return };
    match VersionReq::parse(range) {
        Err(e) => {
            let d = Diagnostic::error("plugin::bad-value", format!("`{range}` is no version range: {e}"))
                .help("write a range like `^1.0`");
            findings.add(doc.at(d, node.span));
        }
        Ok(wanted) => {
            let fits = Version::parse(SDK_VERSION).is_ok_and(|have| wanted.matches(&have));
            if !fits {
                let message = format!("the plugin needs contract `{range}`; this host has {SDK_VERSION}");
                let d = Diagnostic::error("plugin::sdk", message).help("update the plugin or the host");
                findings.add(doc.at(d, node.span));
            }
        }
    }
}

fn config_schema(l: &mut Loading<'_, '_, '_>, doc: &Doc, findings: &mut Findings) -> Result<Option<Value>, Unstable> {
    let Some((_, node)) = doc.find("/config/schema") else { return Ok(None) };
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
            let schema = Value::Object(map);
            Ok(view::check_schema(&schema, doc, "/config/schema", findings).then_some(schema))
        }
        SchemaSource::Path(path) => {
            let Some((json, _)) = l.json((doc, "/config/schema", "plugin"), "", &path, findings)? else {
                return Ok(None);
            };
            let schema = json.root.value();
            Ok(view::check_schema(&schema, &json, "", findings).then_some(schema))
        }
    }
}
