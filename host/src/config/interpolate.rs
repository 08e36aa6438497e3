//! `${VAR}`, `${VAR:-default}` and `$$` in one pass; the result is not read again.

use super::Env;
use super::env::is_name;

/// A text with its expressions resolved.
#[derive(Debug, PartialEq)]
pub(in crate::config) struct Filled {
    pub(in crate::config) text: String,
    /// The text was exactly one expression: the value takes the type of its key.
    pub(in crate::config) whole: bool,
    /// Variables that were read.
    pub(in crate::config) variables: Vec<String>,
}

/// Why an expression has no value.
#[derive(Debug, PartialEq)]
pub(in crate::config) enum Unfilled {
    /// `${` that opens no expression, as written.
    Bad(String),
    /// Unset or empty, without a default.
    Missing(String),
}

/// Whether the text has an expression or an escape.
pub(in crate::config) fn has_expression(text: &str) -> bool {
    text.contains("${")
}

pub(in crate::config) fn fill(text: &str, env: &Env) -> Result<Filled, Vec<Unfilled>> {
    let mut out = Filled { text: String::new(), whole: false, variables: Vec::new() };
    let mut faults = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.text.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        if let Some(after) = tail.strip_prefix('$') {
            out.text.push('$');
            rest = after;
        } else if let Some(body) = tail.strip_prefix('{') {
            let Some(end) = body.find('}') else {
                faults.push(Unfilled::Bad(rest[at..].chars().take(40).collect()));
                return Err(faults);
            };
            match expression(&body[..end], env, &mut out.variables) {
                Ok(value) => out.text.push_str(&value),
                Err(fault) => faults.push(fault),
            }
            rest = &body[end + 1..];
            out.whole = at == 0 && rest.is_empty() && text.len() == end + 3;
        } else {
            out.text.push('$');
            rest = tail;
        }
    }
    out.text.push_str(rest);
    if faults.is_empty() { Ok(out) } else { Err(faults) }
}

fn expression(body: &str, env: &Env, variables: &mut Vec<String>) -> Result<String, Unfilled> {
    let (name, default) = match body.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (body, None),
    };
    if !is_name(name) || default.is_some_and(|d| d.contains("${")) {
        return Err(Unfilled::Bad(format!("${{{body}}}")));
    }
    variables.push(name.to_string());
    match (env.get(name), default) {
        (Some(value), _) => Ok(value.to_string()),
        (None, Some(default)) => Ok(default.replace("$$", "$")),
        (None, None) => Err(Unfilled::Missing(name.to_string())),
    }
}
