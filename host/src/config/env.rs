//! The environment: the only place that reads the variables of the process.

use std::collections::BTreeMap;

/// Variables by name; those of the process win over those of `.env`.
#[derive(Debug, Clone, Default)]
pub struct Env {
    process: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
}

impl Env {
    /// The variables of this process; those that are not UTF-8 are left out.
    pub fn of_process() -> Self {
        let process =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        Self { process, file: BTreeMap::new() }
    }

    /// Given variables, for tests and programs.
    pub fn of(variables: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        let process = variables.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        Self { process, file: BTreeMap::new() }
    }

    /// Adds the text of a `.env` file; the lines that are no `NAME=value` come back.
    pub(in crate::config) fn with_file(&self, text: &str) -> (Self, Vec<u32>) {
        let mut out = Self { process: self.process.clone(), file: BTreeMap::new() };
        let mut bad = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match variable(line.strip_prefix("export ").unwrap_or(line)) {
                Some((name, value)) => {
                    out.file.insert(name, value);
                }
                None => bad.push(number),
            }
        }
        (out, bad)
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let set =
            |map: &'_ BTreeMap<String, String>| map.get(name).map(String::as_str).filter(|v| !v.is_empty()).is_some();
        let map = if set(&self.process) { &self.process } else { &self.file };
        map.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.process.keys().chain(self.file.keys()).map(String::as_str)
    }
}

/// Whether the user asked for output without colours (`NO_COLOR`, set and not empty).
#[expect(clippy::disallowed_methods, reason = "this room is where the environment is read")]
pub fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
}

/// Whether a text can name a variable.
pub(in crate::config) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    if !is_name(name) {
        return None;
    }
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = &value[1..];
            let (text, rest) = inner.split_at(inner.rfind(quote)?);
            let rest = rest[1..].trim_start();
            if !rest.is_empty() && !rest.starts_with('#') {
                return None;
            }
            if quote == '"' { text.replace("\\n", "\n").replace("\\\"", "\"") } else { text.to_string() }
        }
        _ => value.split(" #").next().unwrap_or("").trim_end().to_string(),
    };
    Some((name.to_string(), value))
}
