//! Who speaks and where: principals, roles, scopes and conversation references.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A host role. A ladder: `master` includes `trusted` includes `user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Any identified person.
    User,
    /// Listed as trusted.
    Trusted,
    /// An admin of the bot.
    Master,
}

impl Role {
    /// Whether this role reaches `needed` on the ladder.
    pub fn reaches(self, needed: Role) -> bool {
        self >= needed
    }

    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Trusted => "trusted",
            Role::Master => "master",
        }
    }
}

impl FromStr for Role {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        match s {
            "user" => Ok(Role::User),
            "trusted" => Ok(Role::Trusted),
            "master" => Ok(Role::Master),
            _ => Err(()),
        }
    }
}

/// The kind of place a conversation is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One person and the bot.
    Private,
    /// Several people.
    Group,
    /// A broadcast or guild channel.
    Channel,
}

impl Scope {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Private => "private",
            Scope::Group => "group",
            Scope::Channel => "channel",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        match s {
            "private" => Ok(Scope::Private),
            "group" => Ok(Scope::Group),
            "channel" => Ok(Scope::Channel),
            _ => Err(()),
        }
    }
}

/// What kind of sender a principal is. Only `User` is an identified person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SenderKind {
    /// A person.
    #[default]
    User,
    /// Another bot.
    Bot,
    /// A group admin who hides behind the group.
    AnonymousAdmin,
    /// A channel posting as itself.
    Channel,
    /// The platform or the host itself.
    System,
}

/// Who sent something.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Principal {
    /// Adapter kind, lower case.
    pub platform: String,
    /// Id exactly as the platform prints it.
    pub user_id: String,
    /// Display name, untrusted.
    pub name: String,
    /// Host role, at most one.
    pub role: Option<Role>,
    /// Roles of the platform's own name space.
    #[serde(default)]
    pub platform_roles: Vec<String>,
    /// What kind of sender.
    #[serde(default)]
    pub sender: SenderKind,
}

impl Principal {
    /// An identified person without platform roles.
    pub fn person(platform: impl Into<String>, user_id: impl Into<String>, role: Option<Role>) -> Self {
        let user_id = user_id.into();
        Self {
            platform: platform.into(),
            name: user_id.clone(),
            user_id,
            role,
            platform_roles: Vec::new(),
            sender: SenderKind::User,
        }
    }

    /// The unidentified sender of work nobody asked for in person.
    pub fn system(platform: impl Into<String>) -> Self {
        Self { sender: SenderKind::System, ..Self::person(platform, "", None) }
    }

    /// Text form `platform:user_id`.
    pub fn id(&self) -> String {
        format!("{}:{}", self.platform, self.user_id)
    }

    /// Whether a person is known behind it.
    pub fn is_identified(&self) -> bool {
        self.sender == SenderKind::User && !self.user_id.is_empty()
    }
}

/// The address of a conversation.
// SHAPE: 07 §1
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ConversationRef {
    /// Adapter kind.
    pub platform: String,
    /// Name of the endpoint (`main` of `telegram/main`).
    pub endpoint: String,
    /// Kind of place.
    pub scope: Scope,
    /// Chat id.
    pub scene: String,
    /// Enclosing place, e.g. a guild.
    pub parent: Option<String>,
    /// Topic or thread.
    pub thread: Option<String>,
}

/// Percent-encodes `/` and `%` of one part of a conversation's text form.
fn encode_part(part: &str) -> String {
    part.replace('%', "%25").replace('/', "%2F")
}

impl ConversationRef {
    /// Endpoint id `kind/name`.
    pub fn endpoint_id(&self) -> String {
        format!("{}/{}", self.platform, self.endpoint)
    }
}

/// `platform/endpoint/scope/scene[/thread]`, `/` and `%` inside a part percent-encoded.
impl fmt::Display for ConversationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}",
            encode_part(&self.platform),
            encode_part(&self.endpoint),
            self.scope,
            encode_part(&self.scene)
        )?;
        if let Some(t) = &self.thread {
            write!(f, "/{}", encode_part(t))?;
        }
        Ok(())
    }
}

/// Path of instance keys from the root: `.` for the bot folder itself, else `maps` or `games/dice`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct OwnerPath(std::sync::Arc<str>);

impl OwnerPath {
    /// The bot folder.
    pub fn root() -> Self {
        Self(".".into())
    }

    /// From its text form.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Whether it is the bot folder.
    pub fn is_root(&self) -> bool {
        &*self.0 == "."
    }

    /// The owner of a plugin `key` inside this one.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        if self.is_root() { Self(key.into()) } else { Self(format!("{}/{key}", self.0).into()) }
    }

    /// The enclosing owner; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(match self.0.rsplit_once('/') {
            Some((up, _)) => Self(up.into()),
            None => Self::root(),
        })
    }

    /// Instance keys from the root; empty for the root.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        let text = if self.is_root() { "" } else { &*self.0 };
        text.split('/').filter(|s| !s.is_empty())
    }

    /// Whether `self` is `other` or lies below it. Everything lies below the root.
    pub fn is_within(&self, other: &Self) -> bool {
        other.is_root() || self == other || self.0.strip_prefix(&*other.0).is_some_and(|r| r.starts_with('/'))
    }

    /// Qualified name of a local name: segments and name joined by `__`.
    pub fn qualify(&self, local: &str) -> String {
        let mut out = String::new();
        for s in self.segments() {
            out.push_str(s);
            out.push_str("__");
        }
        out.push_str(local);
        out
    }

    /// Text form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OwnerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
