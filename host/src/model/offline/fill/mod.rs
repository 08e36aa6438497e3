//! Arguments out of a message. Rules (a) to (h) run in this order over the properties in schema order; a value
//! that is found uses up its part of the text. A quoted text is one value: nothing is taken out of the middle of it.

mod phrase;
mod property;
mod rest;
mod scan;

pub(super) use property::Property;

use super::plan::local_name;
use crate::index::InputSchema;
use crate::index::terms_of;
use crate::model::ModelTool;
use plugin_sdk::Approval;
use property::{Kind, Single, properties};
use rest::Rest;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// A tool's input as something to be filled.
pub(super) struct Form {
    properties: Vec<Property>,
    words: HashSet<String>,
    schema: Arc<Value>,
}

/// Values by the position of their property, so that arguments keep the schema's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Filled {
    values: BTreeMap<usize, (String, Value)>,
}

impl Filled {
    pub(super) fn arguments(&self) -> Map<String, Value> {
        self.values.values().cloned().collect()
    }

    fn has(&self, at: usize) -> bool {
        self.values.contains_key(&at)
    }
}

impl Form {
    pub(super) fn of(tool: &ModelTool) -> Self {
        let mut words: HashSet<String> = tool.words.iter().cloned().collect();
        words.extend(terms_of(local_name(&tool.qualified)));
        Self { properties: properties(&tool.schema), words, schema: tool.schema.clone() }
    }

    /// What the message gives.
    pub(super) fn fill(&self, text: &str) -> Filled {
        let mut filling = Filling { form: self, rest: Rest::new(text), filled: Filled::default() };
        filling.run();
        let mut filled = filling.filled;
        self.drop_wrong(&mut filled);
        filled
    }

    /// Puts the answer to a question in.
    pub(super) fn answer(&self, property: &Property, text: &str, filled: &mut Filled) {
        let Some(at) = self.properties.iter().position(|p| p.name == property.name) else { return };
        let Some(value) = self.answered(property, text) else { return };
        let mut with = filled.clone();
        with.values.insert(at, (property.name.clone(), value));
        if !self.wrong(&with).contains(&at) {
            *filled = with;
        }
    }

    fn answered(&self, property: &Property, text: &str) -> Option<Value> {
        let alone = Form {
            properties: vec![Property { required: true, ..property.clone() }],
            words: self.words.clone(),
            schema: self.schema.clone(),
        };
        // A whole answer is the value, also when a word of it could be one of the message's: "Isle of Man".
        let whole = matches!(property.kind, Kind::One(Single::Text)) && !phrase::starts_with_filler(text);
        let mut filling = Filling { form: &alone, rest: Rest::new(text), filled: Filled::default() };
        filling.run_answer(!whole);
        let found = filling.filled.values.into_values().next().map(|(_, value)| value);
        found.or_else(|| property.plain_answer(text))
    }

    /// The first property that stops a call.
    pub(super) fn missing(&self, filled: &Filled) -> Option<&Property> {
        self.all_missing(filled).into_iter().next()
    }

    /// All of them: required ones without a value.
    pub(super) fn all_missing(&self, filled: &Filled) -> Vec<&Property> {
        let open = |(at, p): &(usize, &Property)| p.required && !p.has_default && !filled.has(*at);
        self.properties.iter().enumerate().filter(open).map(|(_, p)| p).collect()
    }

    /// A value the schema refuses is no value: a required property is asked for, another is left out.
    fn drop_wrong(&self, filled: &mut Filled) {
        for at in self.wrong(filled) {
            filled.values.remove(&at);
        }
    }

    fn wrong(&self, filled: &Filled) -> Vec<usize> {
        if filled.values.is_empty() {
            return Vec::new();
        }
        let (Some(schema), _) = InputSchema::compile(&self.schema, &Map::new(), None, Approval::OnRisk) else {
            return Vec::new();
        };
        let Err(violations) = schema.complete(filled.arguments(), &Map::new()) else { return Vec::new() };
        let first = |path: &str| path.split('/').nth(1).map(|s| s.replace("~1", "/").replace("~0", "~"));
        let named: HashSet<String> = violations.iter().filter_map(|v| first(&v.path)).collect();
        filled.values.iter().filter(|(_, (name, _))| named.contains(name)).map(|(at, _)| *at).collect()
    }
}

struct Filling<'a> {
    form: &'a Form,
    rest: Rest,
    filled: Filled,
}

impl Filling<'_> {
    fn run(&mut self) {
        self.run_answer(true);
    }

    fn run_answer(&mut self, phrases: bool) {
        self.each(|rest, p| rest.named(p));
        self.each(|rest, p| match &p.kind {
            Kind::One(Single::Choice(values)) => rest.choice(values),
            _ => None,
        });
        self.each(|rest, p| match &p.kind {
            Kind::Boolean => rest.flag(&p.name).map(Value::Bool),
            _ => None,
        });
        self.each(|rest, p| match &p.kind {
            Kind::One(Single::Number(range)) => rest.number(range, true),
            _ => None,
        });
        self.each(|rest, p| match &p.kind {
            Kind::One(Single::Format(format)) => rest.formatted(*format),
            _ => None,
        });
        self.each(|rest, p| match &p.kind {
            Kind::Many(item, limit) => many(rest, item, *limit),
            _ => None,
        });
        self.quoted();
        if phrases {
            self.phrases();
        }
    }

    fn each(&mut self, rule: impl Fn(&mut Rest, &Property) -> Option<Value>) {
        for (at, property) in self.form.properties.iter().enumerate() {
            if self.filled.has(at) {
                continue;
            }
            if let Some(value) = rule(&mut self.rest, property) {
                self.filled.values.insert(at, (property.name.clone(), value));
            }
        }
    }

    /// Open properties of free text, required ones first.
    fn open_texts(&self) -> Vec<usize> {
        let texts = self.form.properties.iter().enumerate();
        let open = texts.filter(|(at, p)| p.is_text() && !self.filled.has(*at));
        let mut open: Vec<(bool, usize)> = open.map(|(at, p)| (!p.required, at)).collect();
        open.sort_unstable();
        open.into_iter().map(|(_, at)| at).collect()
    }

    fn quoted(&mut self) {
        for at in self.open_texts() {
            let Some(text) = self.rest.quoted() else { return };
            self.put(at, text);
        }
    }

    fn put(&mut self, at: usize, text: String) {
        if let Some(property) = self.form.properties.get(at) {
            self.filled.values.insert(at, (property.name.clone(), json!(text)));
        }
    }

    fn phrases(&mut self) {
        if let Some((from, to)) = self.pair() {
            if let Some((a, b)) = phrase::pair(self.rest.text(), &self.form.words) {
                self.put(from, a);
                self.put(to, b);
            }
            return;
        }
        let open = self.open_texts();
        let required = |at: &&usize| self.form.properties.get(**at).is_some_and(|p| p.required);
        let wanted: Vec<usize> = open.iter().filter(required).copied().collect();
        let texts = self.form.properties.iter().filter(|p| p.is_text()).count();
        let at = match (wanted.as_slice(), open.as_slice()) {
            ([only], _) => *only,
            ([], [only]) if texts == 1 => *only,
            _ => return,
        };
        let Some(name) = self.form.properties.get(at).map(|p| p.name.as_str()) else { return };
        if let Some(text) = phrase::remaining(self.rest.text(), &self.form.words, name) {
            self.put(at, text);
        }
    }

    /// The two properties that share one phrase, while both are open.
    fn pair(&self) -> Option<(usize, usize)> {
        let open = self.open_texts();
        let at = |name: &str| {
            open.iter()
                .copied()
                .find(|at| self.form.properties.get(*at).is_some_and(|p| p.name.eq_ignore_ascii_case(name)))
        };
        [("from", "to"), ("source", "target")].iter().find_map(|(a, b)| Some((at(a)?, at(b)?)))
    }
}

fn many(rest: &mut Rest, item: &Single, limit: usize) -> Option<Value> {
    let mut out: Vec<Value> = Vec::new();
    while out.len() < limit {
        let next = match item {
            Single::Choice(values) => rest.choice(values),
            Single::Number(range) => rest.number(range, false),
            Single::Format(format) => rest.formatted(*format),
            Single::Text => None,
        };
        match next {
            Some(value) if out.contains(&value) => {}
            Some(value) => out.push(value),
            None => break,
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}
