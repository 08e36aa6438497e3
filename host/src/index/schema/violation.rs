//! Validation of a value: every violation with its path, never the value itself.

use super::InputSchema;
use super::check::escape;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// Violations of the branches of one `oneOf` or `anyOf` that are listed.
const BRANCHES: usize = 5;
/// Enum values that are listed.
const LISTED: usize = 20;

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer of the value; for a missing or unknown property, of that property.
    pub path: String,
    /// The schema keyword.
    pub keyword: String,
    /// What the rule wants. Holds no part of the value: it may be a secret.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl InputSchema {
    /// Every violation of the original schema; empty = valid.
    pub fn validate(&self, input: &Value) -> Vec<Violation> {
        violations(&self.validator, input)
    }
}

/// Every violation, in the order of the schema.
pub(super) fn violations(validator: &Validator, input: &Value) -> Vec<Violation> {
    let mut out = Vec::new();
    for error in validator.iter_errors(input) {
        describe(&error, &mut out);
    }
    out
}

fn describe(error: &ValidationError<'_>, out: &mut Vec<Violation>) {
    let base = error.instance_path().to_string();
    let mut push = |path: String, message: String| {
        out.push(Violation { path, keyword: error.kind().keyword().to_string(), message });
    };
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            push(format!("{base}/{}", escape(name)), "is required".into());
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                push(format!("{base}/{}", escape(name)), "unknown property".into());
            }
        }
        Kind::Enum { options } => push(base, format!("must be one of {}", list(options))),
        Kind::Constant { expected_value } => push(base, format!("must be {expected_value}")),
        Kind::Type { kind } => push(base, format!("must be of type {}", type_names(kind))),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            push(base, format!("fits none of the {} allowed forms", context.len()));
            branches(context, out);
        }
        Kind::OneOfMultipleValid { .. } => push(base, "fits more than one of the forms that exclude each other".into()),
        Kind::Pattern { pattern } => push(base, format!("must match the pattern {pattern}")),
        Kind::Format { format } => push(base, format!("must be of format {format}")),
        Kind::PropertyNames { error } => {
            push(base, format!("has a property name that is not allowed: {}", masked(error)))
        }
        _ => push(base, masked(error)),
    }
}

fn masked(error: &ValidationError<'_>) -> String {
    error.masked_with("the value").to_string()
}

/// The first violation of each form, at most five in all.
fn branches(context: &[Vec<ValidationError<'static>>], out: &mut Vec<Violation>) {
    for (form, errors) in context.iter().enumerate().take(BRANCHES) {
        let mut inner = Vec::new();
        if let Some(first) = errors.first() {
            describe(first, &mut inner);
        }
        out.extend(
            inner.into_iter().take(1).map(|v| Violation { message: format!("form {}: {}", form + 1, v.message), ..v }),
        );
    }
}

fn list(options: &Value) -> String {
    let Value::Array(all) = options else { return options.to_string() };
    let shown: Vec<String> = all.iter().take(LISTED).map(Value::to_string).collect();
    let more = all.len().saturating_sub(LISTED);
    match more {
        0 => shown.join(", "),
        n => format!("{} and {n} more", shown.join(", ")),
    }
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(t) => t.to_string(),
        TypeKind::Multiple(set) => set.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(" or "),
    }
}
