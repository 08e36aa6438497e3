//! A request: its fields from a query, a form, JSON or several parts, checked against the facts.

use crate::facts::{Field, Kind, Method, facts};
use crate::refusal::Refusal;
use crate::shape::{self, fits};
use axum::body::to_bytes;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use bytes::{Bytes, BytesMut};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A file of a request.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) name: String,
    pub(crate) mime: Option<String>,
    pub(crate) bytes: Bytes,
}

/// What came, before it is checked.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) fields: Map<String, Value>,
    pub(crate) files: BTreeMap<String, Upload>,
}

impl Raw {
    /// Reads a request of at most so many bytes.
    pub(crate) async fn read(request: Request, max: usize) -> Result<Self, Refusal> {
        let mut raw = Raw::default();
        raw.form(request.uri().query().unwrap_or_default().as_bytes())?;
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
        if kind == "multipart/form-data" {
            raw.parts(request, max).await?;
            return Ok(raw);
        }
        let body = to_bytes(request.into_body(), max).await.map_err(|_| too_large())?;
        match kind.as_str() {
            _ if body.is_empty() => {}
            "application/json" => match serde_json::from_slice(&body) {
                Ok(Value::Object(map)) => raw.fields.extend(map),
                _ => return Err(Refusal::wrong("can't parse request body as a JSON object")),
            },
            "application/x-www-form-urlencoded" => raw.form(&body)?,
            other => return Err(Refusal::wrong(format!("content type {other:?} is not supported"))),
        }
        Ok(raw)
    }

    fn form(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        for (name, value) in form_urlencoded::parse(bytes) {
            self.put(name.into_owned(), value.into_owned())?;
        }
        Ok(())
    }

    fn put(&mut self, name: String, value: String) -> Result<(), Refusal> {
        if self.fields.contains_key(&name) {
            return Err(Refusal::wrong(format!("field \"{name}\" is given twice")));
        }
        self.fields.insert(name, value.into());
        Ok(())
    }

    async fn parts(&mut self, request: Request, max: usize) -> Result<(), Refusal> {
        let broken = |_| Refusal::wrong("can't parse multipart body");
        let mut parts = Multipart::from_request(request, &()).await.map_err(broken)?;
        let broken = |_| Refusal::wrong("can't parse multipart body");
        let mut total = 0usize;
        while let Some(mut part) = parts.next_field().await.map_err(broken)? {
            let name = part.name().unwrap_or_default().to_owned();
            let file = part.file_name().map(str::to_owned);
            let mime = part.content_type().map(str::to_owned);
            let mut bytes = BytesMut::new();
            while let Some(chunk) = part.chunk().await.map_err(broken)? {
                total = total.saturating_add(chunk.len());
                if total > max {
                    return Err(too_large());
                }
                bytes.extend_from_slice(&chunk);
            }
            let bytes = bytes.freeze();
            match file {
                Some(file) => _ = self.files.insert(name, Upload { name: file, mime, bytes }),
                None => {
                    let text = String::from_utf8(bytes.to_vec());
                    let text = text.map_err(|_| Refusal::wrong("strings must be encoded in UTF-8"))?;
                    self.put(name, text)?;
                }
            }
        }
        Ok(())
    }

    /// What a record of the request shows: no bytes of files.
    pub(crate) fn shown(&self) -> Value {
        let mut out = self.fields.clone();
        for (name, file) in &self.files {
            out.insert(name.clone(), json!({"file": file.name, "mime": file.mime, "size": file.bytes.len()}));
        }
        Value::Object(out)
    }
}

fn too_large() -> Refusal {
    Refusal::plain(413, "Request Entity Too Large").avoidable()
}

/// A checked request.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) method: &'static Method,
    pub(crate) fields: Map<String, Value>,
    pub(crate) files: BTreeMap<String, Upload>,
}

impl Asked {
    /// Checks a request: its method, every field, and that each file is used.
    pub(crate) fn check(name: &str, raw: Raw) -> Result<Self, Refusal> {
        let Some(method) = facts().method(name) else {
            return Err(Refusal::plain(404, "Not Found: method not found").avoidable());
        };
        let mut fields = Map::new();
        for (name, value) in raw.fields {
            let Some(field) = method.fields.iter().find(|f| f.name == name) else {
                return Err(Refusal::wrong(format!("\"{name}\" is no field of {}", method.name)));
            };
            fields.insert(name, typed(field, value)?);
        }
        for name in raw.files.keys() {
            if let Some(field) = method.fields.iter().find(|f| f.name == *name) {
                if !field.kinds.contains(&Kind::File) {
                    return Err(Refusal::wrong(format!("field \"{name}\" is no file")));
                }
                fields.entry(name.clone()).or_insert_with(|| format!("attach://{name}").into());
            } else if !mentions(&fields, &format!("attach://{name}")) {
                return Err(Refusal::wrong(format!("file \"{name}\" is used by no field of {}", method.name)));
            }
        }
        if let Some(field) = method.fields.iter().find(|f| f.required && !fields.contains_key(&f.name)) {
            return Err(Refusal::wrong(missing(&field.name)));
        }
        Ok(Self { method, fields, files: raw.files })
    }

    /// A text field.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A number field.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.fields.get(name).and_then(Value::as_i64)
    }

    /// A switch; off when left out.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.fields.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Any field; `null` when left out.
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }
}

fn missing(name: &str) -> String {
    match name {
        "text" => "message text is empty".into(),
        "chat_id" => "chat_id is empty".into(),
        _ => format!("field \"{name}\" is missing"),
    }
}

fn mentions(fields: &Map<String, Value>, text: &str) -> bool {
    fn inside(value: &Value, text: &str) -> bool {
        match value {
            Value::String(own) => own == text,
            Value::Array(list) => list.iter().any(|v| inside(v, text)),
            Value::Object(map) => map.values().any(|v| inside(v, text)),
            _ => false,
        }
    }
    fields.values().any(|v| inside(v, text))
}

/// A field's value with its type; forms carry everything as text.
fn typed(field: &Field, value: Value) -> Result<Value, Refusal> {
    let wrong = |why: String| Refusal::wrong(format!("can't parse field \"{}\": {why}", field.name));
    let value = match value {
        Value::String(text) => from_text(&field.kinds, text),
        other => other,
    };
    fits(&value, &field.kinds, &field.name).map_err(|why| {
        let kinds = field.kinds.iter().map(shape::name).collect::<Vec<_>>().join(" or ");
        wrong(format!("{why} ({kinds})"))
    })?;
    Ok(value)
}

fn from_text(kinds: &[Kind], text: String) -> Value {
    for kind in kinds {
        let value = match kind {
            Kind::Integer => text.parse::<i64>().ok().map(Value::from),
            Kind::Float => text.parse::<f64>().ok().map(Value::from),
            Kind::Boolean => match text.to_lowercase().as_str() {
                "true" | "1" | "yes" => Some(Value::Bool(true)),
                "false" | "0" | "no" | "" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::List(_) | Kind::Object(_) => {
                serde_json::from_str(&text).ok().filter(|v: &Value| v.is_array() || v.is_object())
            }
            Kind::Text | Kind::File => None,
        };
        if let Some(value) = value {
            return value;
        }
    }
    Value::String(text)
}
