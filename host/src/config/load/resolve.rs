//! Expressions and secret files: the tree as written becomes the tree that is checked.

use super::files;
use crate::config::doc::{Doc, Key, Node, NodeKind};
use crate::config::interpolate::{Unfilled, fill, has_expression};
use crate::config::shape::{Fault, dotted};
use crate::config::{Env, Secret};
use plugin_sdk::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The resolved tree and what was met on the way.
pub(super) struct Resolved {
    pub(super) root: Node,
    pub(super) faults: Vec<Fault>,
    pub(super) secrets: Vec<Secret>,
    pub(super) secret_variables: BTreeSet<String>,
    pub(super) secret_sources: Vec<PathBuf>,
    /// Optional models without their variables, with the reason.
    pub(super) unavailable: BTreeMap<String, String>,
}

pub(super) fn resolve(doc: &Doc, bot_dir: &Path, env: &Env) -> Resolved {
    let mut walk = Resolver {
        doc,
        bot_dir,
        env,
        absent: false,
        out: Resolved {
            root: doc.root.clone(),
            faults: Vec::new(),
            secrets: Vec::new(),
            secret_variables: BTreeSet::new(),
            secret_sources: Vec::new(),
            unavailable: BTreeMap::new(),
        },
    };
    let root = walk.node(&doc.root, &mut Vec::new());
    walk.out.root = root;
    walk.out
}

struct Resolver<'a> {
    doc: &'a Doc,
    bot_dir: &'a Path,
    env: &'a Env,
    out: Resolved,
    /// The key in hand has no value and is left out.
    absent: bool,
}

/// How secret a place is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// A key marked secret: takes `<key>_file`, a literal warns.
    Secret,
    /// May hold a secret: an expression counts as one.
    Perhaps,
    /// Of an endpoint that this build cannot open: never resolved.
    Closed,
    Plain,
}

fn place(path: &[String]) -> Place {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["models", _, "api_key"] | ["secrets", _] => Place::Secret,
        ["models", _, "headers", _] => Place::Perhaps,
        ["adapters", kind, ..] if *kind != "console" => Place::Closed,
        _ => Place::Plain,
    }
}

impl Resolver<'_> {
    fn fault(&mut self, path: &[String], node: &Node, diagnostic: Diagnostic) {
        let diagnostic = self.doc.at(diagnostic, node.span);
        self.out.faults.push(Fault { path: path.to_vec(), diagnostic });
    }

    fn node(&mut self, node: &Node, path: &mut Vec<String>) -> Node {
        let kind = match &node.kind {
            NodeKind::Table(entries) => NodeKind::Table(self.table(entries, path)),
            NodeKind::Array(items) => {
                let item = |(i, item): (usize, &Node)| {
                    path.push(i.to_string());
                    let out = self.node(item, path);
                    path.pop();
                    out
                };
                NodeKind::Array(items.iter().enumerate().map(item).collect())
            }
            NodeKind::Str(text) => return self.text(node, text, path, place(path)),
            other => other.clone(),
        };
        Node { kind, ..node.clone() }
    }

    fn table(&mut self, entries: &[(Key, Node)], path: &mut Vec<String>) -> Vec<(Key, Node)> {
        let mut out = Vec::new();
        for (key, child) in entries {
            path.push(key.name.clone());
            if let Some(base) = key.name.strip_suffix("_file")
                && self.is_file_key(base, path)
            {
                let twin = entries.iter().find(|(k, _)| k.name == base);
                if let Some(value) = self.secret_file(key, child, twin.map(|(k, _)| k), path) {
                    out.push((Key { name: base.to_string(), span: key.span }, value));
                }
            } else {
                let value = self.node(child, path);
                if !std::mem::take(&mut self.absent) {
                    out.push((key.clone(), value));
                }
            }
            path.pop();
        }
        out
    }

    fn is_file_key(&mut self, base: &str, path: &[String]) -> bool {
        let mut plain = path.to_vec();
        if let Some(last) = plain.last_mut() {
            *last = base.to_string();
        }
        place(&plain) == Place::Secret || (place(&plain) == Place::Closed && path.len() > 3)
    }

    /// The value of `<key>_file`; `None` leaves the key out.
    fn secret_file(&mut self, key: &Key, node: &Node, twin: Option<&Key>, path: &mut [String]) -> Option<Node> {
        let closed = place(path) == Place::Closed;
        let written = match &node.kind {
            NodeKind::Str(text) if !closed => self.text(node, text, path, Place::Plain),
            other => Node::new(other.clone(), node.span),
        };
        let file = match &written.kind {
            NodeKind::Str(file) if !file.is_empty() => file,
            _ => {
                let message = format!("`{}` must be the path of a file", dotted(path));
                self.fault(path, node, Diagnostic::error("bot::wrong-type", message));
                return None;
            }
        };
        let target = self.bot_dir.join(file);
        self.out.secret_sources.push(target.clone());
        if let Some(twin) = twin {
            let message = format!("`{}` and `{}` are both given", twin.name, key.name);
            let d = Diagnostic::error("bot::secret-twice", message).help("keep one of the two");
            let d = d.related(self.doc.file.clone(), Some(twin.span), "the other one");
            let diagnostic = self.doc.at(d, key.span);
            self.out.faults.push(Fault { path: path.to_vec(), diagnostic });
            return None;
        }
        if closed { None } else { self.file_value(&target, file, node, path) }
    }

    fn file_value(&mut self, target: &Path, file: &str, node: &Node, path: &[String]) -> Option<Node> {
        match files::secret(target) {
            Ok(read) => {
                if read.exposed {
                    let message = format!("{file} can be read by every user of this machine");
                    let d =
                        Diagnostic::warning("bot::secret-mode", message).help("take the permission away: chmod 600");
                    self.fault(path, node, d);
                }
                self.out.secrets.push(Secret::new(&read.text));
                Some(Node::new(NodeKind::Str(read.text), node.span))
            }
            Err(reason) => {
                let message = format!("the file of `{}` {reason}", dotted(path));
                self.fault(path, node, Diagnostic::error("bot::bad-value", message));
                None
            }
        }
    }

    fn text(&mut self, node: &Node, text: &str, path: &[String], place: Place) -> Node {
        let secret = place == Place::Secret || (place == Place::Perhaps && has_expression(text));
        if place == Place::Closed {
            let literal = path.last().is_some_and(|k| k.ends_with("token") || k.ends_with("secret"));
            if literal && !has_expression(text) {
                self.out.secrets.push(Secret::new(text));
            }
            return node.clone();
        }
        if place == Place::Secret && !has_expression(text) && !text.is_empty() {
            let message = format!("`{}` holds a secret in clear", dotted(path));
            let d = Diagnostic::warning("bot::literal-secret", message)
                .help("put it into the environment or a file: \"${NAME}\", or the key with `_file`");
            self.fault(path, node, d);
        }
        let (kind, plain) = match fill(text, self.env) {
            Ok(filled) => {
                if secret {
                    self.out.secrets.push(Secret::new(&filled.text));
                    self.out.secret_variables.extend(filled.variables);
                }
                (NodeKind::Str(filled.text.clone()), filled.whole.then_some(filled.text))
            }
            Err(unfilled) => {
                if secret {
                    self.out.secret_variables.extend(unfilled.iter().filter_map(|u| match u {
                        Unfilled::Missing(name) => Some(name.clone()),
                        Unfilled::Bad(_) => None,
                    }));
                }
                self.unfilled(node, path, unfilled);
                (NodeKind::Str(text.to_string()), None)
            }
        };
        Node { kind, span: node.span, plain }
    }

    fn unfilled(&mut self, node: &Node, path: &[String], faults: Vec<Unfilled>) {
        for fault in faults {
            let d = match fault {
                Unfilled::Bad(text) => Diagnostic::error("bot::bad-expression", format!("`{text}` is no expression"))
                    .help("write ${NAME} or ${NAME:-default}; $$ is a plain $"),
                Unfilled::Missing(name) => {
                    let message = format!("the variable {name} is not set or empty");
                    match self.optional_model(path) {
                        Some(model) => {
                            let help = format!("set it, or mark the model as required; until then `{model}` is off");
                            self.absent = true;
                            self.out.unavailable.entry(model).or_insert_with(|| message.clone());
                            Diagnostic::warning("bot::missing-variable", message).help(help)
                        }
                        None => Diagnostic::error("bot::missing-variable", message)
                            .help(format!("set it in the environment or in .env, or give a default: ${{{name}:-…}}")),
                    }
                }
            };
            self.fault(path, node, d);
        }
    }

    /// The model a path lies in, when it may be absent.
    fn optional_model(&self, path: &[String]) -> Option<String> {
        let [section, model, rest @ ..] = path else { return None };
        if section != "models" || rest.iter().any(|p| p == "provider") {
            return None;
        }
        let (_, models) = self.doc.root.get("models")?;
        let (_, table) = models.get(model)?;
        let required = table.get("required").is_some_and(|(_, n)| n.kind != NodeKind::Bool(false));
        (!required).then(|| model.clone())
    }
}
