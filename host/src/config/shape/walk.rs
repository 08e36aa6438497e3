//! The walk over the tree.

use super::{Fault, rules};
use crate::config::doc::{Doc, Key, Node, NodeKind};
use crate::config::nearest_help;
use plugin_sdk::{Diagnostic, Span};
use serde_json::{Map, Value};

/// `$ref` hops before a schema is taken as unbounded.
const MAX_HOPS: usize = 16;

pub(super) struct Walk<'a> {
    kind: &'a str,
    doc: &'a Doc,
    schema: &'a Value,
    pub(super) faults: Vec<Fault>,
}

/// Where the walk stands: the path, and the place for a fault that has none of its own.
struct Here {
    path: Vec<String>,
    span: Span,
}

impl Here {
    fn key(&self, key: &Key) -> Self {
        Self { path: self.with(&key.name), span: key.span }
    }

    fn item(&self, index: usize, span: Span) -> Self {
        Self { path: self.with(&index.to_string()), span }
    }

    fn with(&self, part: &str) -> Vec<String> {
        self.path.iter().cloned().chain([part.to_string()]).collect()
    }

    fn named(&self) -> String {
        if self.path.is_empty() { "the file".into() } else { format!("`{}`", dotted(&self.path)) }
    }
}

/// A path as an author writes it: `tools.override."a b".approval`, `tags.2`.
pub(super) fn dotted(path: &[String]) -> String {
    let part = |p: &String| {
        let bare = !p.is_empty() && p.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if bare { p.clone() } else { format!("{p:?}") }
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

impl<'a> Walk<'a> {
    pub(super) fn new(kind: &'a str, doc: &'a Doc, schema: &'a Value) -> Self {
        Self { kind, doc, schema, faults: Vec::new() }
    }

    pub(super) fn root(&mut self) -> Value {
        let doc = self.doc;
        self.node(&doc.root, self.schema, &Here { path: Vec::new(), span: doc.root.span })
    }

    fn fault(&mut self, code: &str, at: (&[String], Span), message: String, help: Option<String>) {
        let mut d = Diagnostic::error(format!("{}::{code}", self.kind), message);
        d.help = help;
        self.faults.push(Fault { path: at.0.to_vec(), diagnostic: self.doc.at(d, at.1) });
    }

    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..MAX_HOPS {
            let Some(target) = schema.get("$ref").and_then(Value::as_str) else { break };
            let Some(found) = target.strip_prefix('#').and_then(|p| self.schema.pointer(p)) else { break };
            schema = found;
        }
        schema
    }

    fn node(&mut self, node: &Node, schema: &'a Value, here: &Here) -> Value {
        let schema = self.resolve(schema);
        if let NodeKind::Number(n, None) = node.kind
            && !n.is_finite()
        {
            let message = format!("{} must be a finite number", here.named());
            self.fault("bad-value", (&here.path, node.span), message, None);
            return Value::Null;
        }
        if let Some(branches) = rules::branches(schema) {
            return self.branches(node, schema, branches, here);
        }
        let Some(value) = rules::as_wanted(node, schema) else {
            let message = format!("{} must be {}, not {}", here.named(), rules::wanted(schema), rules::found(node));
            self.fault("wrong-type", (&here.path, node.span), message, None);
            return Value::Null;
        };
        match (&node.kind, value) {
            (NodeKind::Table(entries), None) => self.table(entries, schema, here),
            (NodeKind::Array(items), None) => self.list(items, node.span, schema, here),
            (_, value) => {
                let value = value.unwrap_or_else(|| node.value());
                if let Some((message, help)) = rules::broken(&value, schema) {
                    self.fault("bad-value", (&here.path, node.span), format!("{} {message}", here.named()), help);
                }
                value
            }
        }
    }

    /// One of several schemas: those that take the node's type are tried, the one with the fewest faults counts.
    fn branches(&mut self, node: &Node, schema: &'a Value, branches: &'a [Value], here: &Here) -> Value {
        if let Some(allowed) = rules::constants(branches, &|b| self.resolve(b)) {
            return self.constant(node, allowed, here);
        }
        let fitting: Vec<&Value> = branches
            .iter()
            .map(|b| self.resolve(b))
            .filter(|b| rules::branches(b).is_some() || rules::as_wanted(node, b).is_some())
            .collect();
        if fitting.is_empty() {
            let wanted: Vec<String> = branches.iter().map(|b| rules::wanted(self.resolve(b))).collect();
            let message = format!("{} must be {}, not {}", here.named(), wanted.join(" or "), rules::found(node));
            self.fault("wrong-type", (&here.path, node.span), message, None);
            return Value::Null;
        }
        let before = self.faults.len();
        let mut best: Option<(Value, Vec<Fault>)> = None;
        for branch in fitting {
            let value = self.node(node, branch, here);
            let faults = self.faults.split_off(before);
            if best.as_ref().is_none_or(|(_, b)| faults.len() < b.len()) {
                best = Some((value, faults));
            }
        }
        let (value, faults) = best.unwrap_or_default();
        self.faults.extend(faults);
        if let Some((message, help)) = rules::broken(&value, schema) {
            self.fault("bad-value", (&here.path, node.span), format!("{} {message}", here.named()), help);
        }
        value
    }

    fn constant(&mut self, node: &Node, allowed: Vec<&Value>, here: &Here) -> Value {
        let value = match (&node.plain, &node.kind) {
            (Some(plain), _) if !allowed.contains(&&node.value()) => Value::String(plain.clone()),
            _ => node.value(),
        };
        if allowed.contains(&&value) {
            return value;
        }
        if allowed.iter().any(|a| rules::same_type(a, &value)) {
            let (message, help) = rules::not_allowed(&value, &allowed);
            self.fault("bad-value", (&here.path, node.span), format!("{} {message}", here.named()), help);
        } else {
            let list = rules::listed(&allowed);
            let message = format!("{} must be one of {list}, not {}", here.named(), rules::found(node));
            self.fault("wrong-type", (&here.path, node.span), message, None);
        }
        Value::Null
    }

    fn table(&mut self, entries: &[(Key, Node)], schema: &'a Value, here: &Here) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = || properties.iter().flat_map(|p| p.keys()).map(String::as_str);
        let mut out = Map::new();
        for (key, child) in entries {
            let inside = here.key(key);
            let rule = properties
                .and_then(|p| p.get(&key.name))
                .or_else(|| rules::by_pattern(schema, &key.name))
                .or_else(|| schema.get("additionalProperties"));
            match rule {
                Some(Value::Bool(false)) => {
                    let message = format!("unknown key `{}`", dotted(&inside.path));
                    self.fault(
                        "unknown-key",
                        (&inside.path, key.span),
                        message,
                        Some(nearest_help(&key.name, known())),
                    );
                }
                Some(rule) => {
                    let value = self.node(child, rule, &inside);
                    out.insert(key.name.clone(), value);
                }
                None => {
                    let value = self.node(child, &Value::Bool(true), &inside);
                    out.insert(key.name.clone(), value);
                }
            }
            if let Some((message, help)) = rules::bad_name(&key.name, schema) {
                self.fault(
                    "bad-value",
                    (&inside.path, key.span),
                    format!("key `{}` {message}", dotted(&inside.path)),
                    help,
                );
            }
        }
        self.missing(entries, schema, here);
        if let Some((message, help)) =
            rules::broken_size("entries", entries.len(), schema, "minProperties", "maxProperties")
        {
            self.fault("bad-value", (&here.path, here.span), format!("{} {message}", here.named()), help);
        }
        Value::Object(out)
    }

    fn missing(&mut self, entries: &[(Key, Node)], schema: &'a Value, here: &Here) {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !entries.iter().any(|(k, _)| k.name == name) {
                let message = format!("missing key `{}`", dotted(&here.with(name)));
                self.fault("missing-key", (&here.path, here.span), message, None);
            }
        }
    }

    fn list(&mut self, items: &[Node], span: Span, schema: &'a Value, here: &Here) -> Value {
        let rule = schema.get("items").unwrap_or(&Value::Bool(true));
        let out: Vec<Value> =
            items.iter().enumerate().map(|(i, item)| self.node(item, rule, &here.item(i, item.span))).collect();
        if let Some((message, help)) = rules::broken_size("entries", out.len(), schema, "minItems", "maxItems") {
            self.fault("bad-value", (&here.path, span), format!("{} {message}", here.named()), help);
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            for (i, value) in out.iter().enumerate() {
                if !value.is_null() && out[..i].contains(value) {
                    let message = format!("{} has the entry {value} twice", here.named());
                    self.fault(
                        "bad-value",
                        (&here.with(&i.to_string()), items[i].span),
                        message,
                        Some("remove one of them".into()),
                    );
                }
            }
        }
        Value::Array(out)
    }
}
