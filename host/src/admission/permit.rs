//! The permit grammar: `name(arg, …)`.

use super::platforms;
use plugin_sdk::{Role, Scope};
use std::fmt;

/// The kinds of permit.
pub(super) const KINDS: [&str; 7] = ["adapter", "channel", "group", "platform", "private", "role", "user"];

/// A list of arguments, or anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Args {
    /// No argument or `*`.
    Any,
    /// One of these.
    OneOf(Vec<String>),
}

impl Args {
    /// Whether any of the candidates is allowed.
    pub(super) fn fits<'a>(&self, mut candidates: impl Iterator<Item = &'a str>) -> bool {
        match self {
            Args::Any => true,
            Args::OneOf(list) => candidates.any(|c| list.iter().any(|a| a == c)),
        }
    }
}

/// One checked entry of `permissions`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Permit {
    /// A platform or an endpoint.
    Adapter(Args),
    /// A place of one scope.
    Place(Scope, Args),
    /// An identified person.
    User(Args),
    /// A host role, one of these.
    Role(Vec<Role>),
    /// A permission of the platform's own.
    Platform {
        /// Platform it is about.
        platform: String,
        /// Its name there.
        permission: String,
    },
}

/// Why an entry is no permit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PermitError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

const FORM: &str = "a permit is `name(arg, …)`, for example `role(trusted)` or `group(-1001, -1002)`";

fn malformed(text: &str, why: &str) -> PermitError {
    PermitError { message: format!("malformed permit `{text}`: {why}"), help: FORM.into() }
}

/// Reads one entry. Nothing may stand before or after it.
pub fn parse_permit(text: &str) -> Result<Permit, PermitError> {
    if text.trim().is_empty() {
        return Err(malformed(text, "the entry is empty"));
    }
    if text != text.trim() {
        return Err(malformed(text, "spaces around it"));
    }
    let (name, rest) = text.split_once('(').ok_or_else(|| malformed(text, "no `(`"))?;
    let inner = rest.strip_suffix(')').ok_or_else(|| malformed(text, "it does not end with `)`"))?;
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
        return Err(malformed(text, "the name must be lower-case letters"));
    }
    if let Some(bad) = inner.chars().find(|c| matches!(c, '(' | ')') || c.is_control()) {
        return Err(malformed(text, &format!("{bad:?} inside the parentheses")));
    }
    build(name, args_of(text, inner)?, text)
}

fn args_of(text: &str, inner: &str) -> Result<Vec<String>, PermitError> {
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    let args: Vec<String> = inner.split(',').map(|a| a.trim().to_string()).collect();
    if args.iter().any(String::is_empty) {
        return Err(malformed(text, "an argument is empty"));
    }
    Ok(args)
}

fn build(name: &str, args: Vec<String>, text: &str) -> Result<Permit, PermitError> {
    match name {
        "adapter" => Ok(Permit::Adapter(any_or_list(args, text)?)),
        "group" => Ok(Permit::Place(Scope::Group, any_or_list(args, text)?)),
        "private" => Ok(Permit::Place(Scope::Private, any_or_list(args, text)?)),
        "channel" => Ok(Permit::Place(Scope::Channel, any_or_list(args, text)?)),
        "user" if args.is_empty() => Err(malformed(text, "`user()` names nobody; `user(*)` is any identified person")),
        "user" => Ok(Permit::User(any_or_list(args, text)?)),
        "role" if args.is_empty() => Err(malformed(text, "`role()` names no role")),
        "role" => Ok(Permit::Role(args.iter().map(|a| role_of(a)).collect::<Result<_, _>>()?)),
        "platform" => platform(args, text),
        other => Err(PermitError {
            message: format!("unknown permit `{other}`"),
            help: crate::config::nearest_help(other, KINDS),
        }),
    }
}

fn any_or_list(args: Vec<String>, text: &str) -> Result<Args, PermitError> {
    let stars = args.iter().filter(|a| *a == "*").count();
    match (args.len(), stars) {
        (0, _) | (1, 1) => Ok(Args::Any),
        (_, 0) => Ok(Args::OneOf(args)),
        _ => Err(malformed(text, "`*` must be the only argument")),
    }
}

fn role_of(arg: &str) -> Result<Role, PermitError> {
    arg.parse().map_err(|()| PermitError {
        message: format!("unknown host role `{arg}`"),
        help: "host roles are master, trusted, user; for platform admins write `platform(telegram,administrator)`"
            .into(),
    })
}

fn platform(args: Vec<String>, text: &str) -> Result<Permit, PermitError> {
    match <[String; 2]>::try_from(args) {
        Ok([platform, permission]) if platform != "*" && permission != "*" => {
            Ok(Permit::Platform { platform, permission })
        }
        _ => Err(malformed(text, "`platform` takes exactly an adapter and a permission name")),
    }
}

impl fmt::Display for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, list) = match self {
            Permit::Adapter(a) => ("adapter", a.to_string()),
            Permit::Place(s, a) => (s.as_str(), a.to_string()),
            Permit::User(a) => ("user", a.to_string()),
            Permit::Role(r) => ("role", r.iter().map(|r| r.as_str()).collect::<Vec<_>>().join(", ")),
            Permit::Platform { platform, permission } => ("platform", format!("{platform}, {permission}")),
        };
        write!(f, "{name}({list})")
    }
}

impl fmt::Display for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Args::Any => f.write_str("*"),
            Args::OneOf(list) => f.write_str(&list.join(", ")),
        }
    }
}

/// The names a `platform(…)` permit of this platform may hold, for help texts.
pub(super) fn known_permissions(platform: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = platforms::table(platform).map(|t| t.names.to_vec()).unwrap_or_default();
    names.push("admin");
    names.sort_unstable();
    names
}
