//! What a plugin asks for, and what only an admin can give.

use super::loading::{Findings, as_text, bool_at, list_at, text_at};
use super::raw::PermissionsTable;
use super::source::Permissions;
use crate::config::doc::Doc;
use plugin_sdk::{Diagnostic, OwnerPath};

/// Checked form.
pub(super) fn read(table: PermissionsTable) -> Permissions {
    Permissions {
        http: table.http,
        env: table.env,
        secrets: table.secrets,
        store: table.store,
        filesystem: table.filesystem.as_str().into(),
        process: table.process,
        send: table.send.as_str().into(),
        schedule: table.schedule,
        call_tools: table.call_tools,
    }
}

/// Host patterns, and one finding for each thing that needs a grant.
pub(super) fn check(doc: &Doc, owner: &OwnerPath, findings: &mut Findings) {
    for (n, node) in list_at(doc, "/permissions/http").iter().enumerate() {
        let Some(host) = as_text(node) else { continue };
        let pointer = format!("/permissions/http/{n}");
        if host == "*" {
            let d = Diagnostic::warning("plugin::broad-permission", "`*` lets the plugin reach every host")
                .help("name the hosts it needs");
            findings.add(doc.diag(d, &pointer));
        } else if !is_host(host) {
            let d = Diagnostic::error("plugin::bad-value", "a host is `name`, `name:port` or `*.domain`")
                .help("leave scheme and path out");
            findings.add(doc.diag(d, &pointer));
        }
    }
    if owner.is_root() {
        return;
    }
    for (pointer, what) in asked(doc, owner) {
        let message = format!("the plugin asks for {what}, which nobody has granted");
        let d = Diagnostic::error("plugin::permission-not-granted", message)
            .help("this build knows no grants: remove the request, or move the item into the bot folder itself");
        findings.add(doc.diag(d, &pointer));
    }
}

/// Everything that needs a grant, with its place.
fn asked(doc: &Doc, owner: &OwnerPath) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (n, node) in list_at(doc, "/permissions/call_tools").iter().enumerate() {
        if let Some(name) = as_text(node).filter(|name| !is_near(name, doc, owner)) {
            out.push((format!("/permissions/call_tools/{n}"), format!("the tools `{name}` (`call_tools`)")));
        }
    }
    for (key, noun) in [("env", "the variable"), ("secrets", "the secret")] {
        for (n, node) in list_at(doc, &format!("/permissions/{key}")).iter().enumerate() {
            if let Some(name) = as_text(node) {
                out.push((format!("/permissions/{key}/{n}"), format!("{noun} `{name}` (`{key}`)")));
            }
        }
    }
    for (n, node) in list_at(doc, "/permissions/http").iter().enumerate() {
        if as_text(node) == Some("*") {
            out.push((format!("/permissions/http/{n}"), "every host (`http = [\"*\"]`)".into()));
        }
    }
    for key in ["process", "schedule"] {
        if bool_at(doc, &format!("/permissions/{key}")) == Some(true) {
            out.push((format!("/permissions/{key}"), format!("`{key}`")));
        }
    }
    for (key, value) in [("filesystem", "workspace"), ("send", "any")] {
        if text_at(doc, &format!("/permissions/{key}")) == Some(value) {
            out.push((format!("/permissions/{key}"), format!("`{key} = \"{value}\"`")));
        }
    }
    out
}

/// Whether a name or glob of `call_tools` stays within the plugin's own tools and those of its dependencies.
fn is_near(name: &str, doc: &Doc, owner: &OwnerPath) -> bool {
    let depends = list_at(doc, "/depends").iter().filter_map(|d| d.get("plugin").and_then(|(_, n)| as_text(n)));
    depends.map(OwnerPath::new).chain([owner.clone()]).any(|o| name == o.as_str() || name.starts_with(&o.qualify("")))
}

/// `name`, `name:port` or `*.domain`.
fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let name = name.strip_prefix("*.").unwrap_or(name);
    let label = |l: &str| !l.is_empty() && l.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
    port.is_none_or(|p| p.parse::<u16>().is_ok_and(|n| n > 0)) && name.split('.').all(label)
}
