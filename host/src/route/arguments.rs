//! The typed arguments of a chat command.

use crate::loader::{ArgumentKind, CommandArgument};
use serde_json::{Map, Number, Value};

const YES: [&str; 7] = ["true", "yes", "on", "1", "y", "是", "开"];
const NO: [&str; 7] = ["false", "no", "off", "0", "n", "否", "关"];
/// Opening quotes with their closing ones.
const QUOTES: [(char, char); 4] = [('"', '"'), ('\'', '\''), ('“', '”'), ('「', '」')];

/// Why a line is no use of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentFault {
    /// A required argument was not typed.
    Missing(String),
    /// A word cannot be read as its argument wants.
    Unreadable {
        /// Argument.
        name: String,
        /// How it is read.
        kind: ArgumentKind,
        /// As typed.
        word: String,
    },
    /// More words than arguments.
    TooMany(String),
}

/// Reads a line, word by word in the order of the arguments.
pub fn read_arguments(arguments: &[CommandArgument], line: &str) -> Result<Map<String, Value>, ArgumentFault> {
    let mut out = Map::new();
    let mut rest = line.trim();
    for argument in arguments {
        if rest.is_empty() {
            if argument.required {
                return Err(ArgumentFault::Missing(argument.name.clone()));
            }
            continue;
        }
        let (word, after) = match argument.kind {
            ArgumentKind::Rest => (rest, ""),
            ArgumentKind::Text => text(rest),
            _ => word(rest),
        };
        let unreadable =
            || ArgumentFault::Unreadable { name: argument.name.clone(), kind: argument.kind, word: word.to_string() };
        out.insert(argument.name.clone(), value(argument.kind, word).ok_or_else(unreadable)?);
        rest = after;
    }
    if rest.is_empty() { Ok(out) } else { Err(ArgumentFault::TooMany(rest.to_string())) }
}

fn word(line: &str) -> (&str, &str) {
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim_start())
}

/// One word, or what stands between quotes; a quote that is not closed is a character like any other.
fn text(line: &str) -> (&str, &str) {
    let quoted = QUOTES.iter().find_map(|(open, close)| {
        let inside = line.strip_prefix(*open)?;
        let (word, rest) = inside.split_once(*close)?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| (word, rest.trim_start()))
    });
    quoted.unwrap_or_else(|| word(line))
}

fn value(kind: ArgumentKind, word: &str) -> Option<Value> {
    match kind {
        ArgumentKind::Text | ArgumentKind::Rest => Some(Value::String(word.to_string())),
        ArgumentKind::Int => word.parse::<i64>().ok().map(Value::from),
        ArgumentKind::Number => word.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number),
        ArgumentKind::Bool => {
            let word = word.to_lowercase();
            let yes = YES.contains(&word.as_str());
            (yes || NO.contains(&word.as_str())).then_some(Value::Bool(yes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn argument(name: &str, kind: ArgumentKind, required: bool) -> CommandArgument {
        CommandArgument { name: name.into(), kind, required, description: None }
    }

    fn read(line: &str) -> Result<Value, ArgumentFault> {
        let arguments = [
            argument("who", ArgumentKind::Text, true),
            argument("count", ArgumentKind::Int, true),
            argument("loud", ArgumentKind::Bool, false),
            argument("note", ArgumentKind::Rest, false),
        ];
        read_arguments(&arguments, line).map(Value::Object)
    }

    #[test]
    fn words_become_values_in_order() {
        assert_eq!(read(" ann 3 "), Ok(json!({"who": "ann", "count": 3})));
        assert_eq!(
            read("\"Ann Lee\" -3 YES  two  words "),
            Ok(json!({"who": "Ann Lee", "count": -3, "loud": true, "note": "two  words"}))
        );
        assert_eq!(read("“安 李” 3 否"), Ok(json!({"who": "安 李", "count": 3, "loud": false})));
        assert_eq!(read("\"ann 3"), Ok(json!({"who": "\"ann", "count": 3})));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(read(""), Err(ArgumentFault::Missing("who".into())));
        assert_eq!(read("ann"), Err(ArgumentFault::Missing("count".into())));
        let unreadable = |kind, name: &str, word: &str| {
            Err(ArgumentFault::Unreadable { name: name.into(), kind, word: word.into() })
        };
        assert_eq!(read("ann 3.5"), unreadable(ArgumentKind::Int, "count", "3.5"));
        assert_eq!(read("ann 3 maybe"), unreadable(ArgumentKind::Bool, "loud", "maybe"));
        assert_eq!(read_arguments(&[], "x y"), Err(ArgumentFault::TooMany("x y".into())));
        let number = [argument("n", ArgumentKind::Number, true)];
        assert_eq!(read_arguments(&number, "inf").map(Value::Object), unreadable(ArgumentKind::Number, "n", "inf"));
        assert_eq!(read_arguments(&number, "-1.5").map(Value::Object), Ok(json!({"n": -1.5})));
    }
}
