//! Snowflakes: 64-bit ids that JSON carries as text, because a float would round them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// Start of Discord's own count of milliseconds, in Unix milliseconds.
const EPOCH_MS: u64 = 1_420_070_400_000;
/// Bits below the milliseconds.
const LOW_BITS: u32 = 22;

/// An id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Id(pub u64);

impl Id {
    /// When it was made, in Unix milliseconds.
    pub fn made_ms(self) -> u64 {
        (self.0 >> LOW_BITS) + EPOCH_MS
    }

    /// The first id of a millisecond.
    pub fn at_ms(ms: u64) -> Self {
        Self(ms.saturating_sub(EPOCH_MS) << LOW_BITS)
    }

    /// Reads an id as Discord does: text, or a whole number.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => text.parse().ok(),
            Value::Number(number) => number.as_u64().map(Self),
            _ => None,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl From<u64> for Id {
    fn from(raw: u64) -> Self {
        Self(raw)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Self::of(&value).ok_or_else(|| de::Error::custom(format!("{value} is no id")))
    }
}

/// Makes ids that rise.
#[derive(Debug, Default)]
pub(crate) struct Mint {
    last: u64,
}

impl Mint {
    pub(crate) fn next(&mut self, now_ms: u64) -> Id {
        // a started clock never goes back, but many ids may fall into one millisecond
        self.last = Id::at_ms(now_ms).0.max(self.last + 1);
        Id(self.last)
    }
}
