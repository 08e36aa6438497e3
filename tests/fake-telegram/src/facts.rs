//! Names and types of the Bot API, from `facts.json` (see `examples/facts.rs` for where that comes from).

use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What is known about the Bot API.
#[derive(Debug)]
pub(crate) struct Facts {
    /// By lower-case name.
    methods: HashMap<String, Method>,
    types: HashMap<String, Shape>,
    /// Emoji that may be a reaction.
    pub(crate) reactions: Vec<String>,
    /// Kinds of text entities.
    pub(crate) entities: Vec<String>,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) fields: Vec<Field>,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hold every answer against it"))]
    pub(crate) returns: Vec<Kind>,
}

/// An object, or one of several.
#[derive(Debug)]
pub(crate) enum Shape {
    Object(Vec<Field>),
    OneOf(Vec<String>),
}

/// A field of a method or an object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) kinds: Vec<Kind>,
    /// The only text it may hold.
    pub(crate) fixed: Option<String>,
}

/// A type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Float,
    Text,
    Boolean,
    File,
    List(Box<Kind>),
    Object(String),
}

static FACTS: LazyLock<Facts> = LazyLock::new(|| Facts::read(include_str!("facts.json")));

/// The facts, read once.
pub(crate) fn facts() -> &'static Facts {
    &FACTS
}

impl Facts {
    fn read(text: &str) -> Self {
        let all: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let table = |name: &str| all.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let list = |name: &str| texts(all.get(name).unwrap_or(&Value::Null));
        let method = |(name, of): (String, Value)| {
            let fields = fields(of.get("fields").unwrap_or(&Value::Null));
            let returns = kinds(of.get("returns").and_then(Value::as_str).unwrap_or_default());
            (name.to_lowercase(), Method { name, fields, returns })
        };
        let shape = |(name, of): (String, Value)| match of {
            Value::Array(_) => (name, Shape::OneOf(texts(&of))),
            _ => (name, Shape::Object(fields(&of))),
        };
        Facts {
            methods: table("methods").into_iter().map(method).collect(),
            types: table("types").into_iter().map(shape).collect(),
            reactions: list("reactions"),
            entities: list("entities"),
        }
    }

    /// A method; the case of its name does not matter.
    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.get(&name.to_lowercase())
    }

    /// A type.
    pub(crate) fn shape(&self, name: &str) -> Option<&Shape> {
        self.types.get(name)
    }

    /// The kinds of updates.
    pub(crate) fn update_kinds(&self) -> impl Iterator<Item = &str> {
        let fields = match self.shape("Update") {
            Some(Shape::Object(fields)) => fields.as_slice(),
            _ => &[],
        };
        fields.iter().map(|f| f.name.as_str()).filter(|name| *name != "update_id")
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn fields(of: &Value) -> Vec<Field> {
    let field = |(name, kind): (&String, &Value)| {
        let text = kind.as_str().unwrap_or_default();
        let (text, fixed) = text.split_once('=').map_or((text, None), |(text, fixed)| (text, Some(fixed.to_owned())));
        let required = name.ends_with('!');
        Field { name: name.trim_end_matches('!').to_owned(), required, kinds: kinds(text), fixed }
    };
    of.as_object().into_iter().flatten().map(field).collect()
}

fn kinds(text: &str) -> Vec<Kind> {
    text.split('|').map(kind).collect()
}

fn kind(text: &str) -> Kind {
    match text {
        "Integer" => Kind::Integer,
        "Float" => Kind::Float,
        "String" => Kind::Text,
        "Boolean" | "True" => Kind::Boolean,
        "InputFile" => Kind::File,
        _ => match text.strip_prefix("Array of ") {
            Some(inner) => Kind::List(Box::new(kind(inner))),
            None => Kind::Object(text.to_owned()),
        },
    }
}
