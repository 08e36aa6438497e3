//! Keys made of parts: length-prefixed texts and big-endian numbers, so that a scan comes in order.

/// A text part follows.
const TEXT: u8 = 2;
/// A number part follows.
const NUMBER: u8 = 1;

/// A key within a tree. The empty key is the prefix of all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(Vec<u8>);

/// One part of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Str(String),
    /// A number.
    U64(u64),
}

impl Key {
    /// No parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a text. Texts sort by length, then by bytes.
    #[must_use]
    pub fn str(mut self, text: &str) -> Self {
        self.0.push(TEXT);
        // A text longer than four gigabytes does not occur; saturating keeps the function total.
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&len.to_be_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Appends a number.
    #[must_use]
    pub fn u64(mut self, n: u64) -> Self {
        self.0.push(NUMBER);
        self.0.extend_from_slice(&n.to_be_bytes());
        self
    }

    /// Its parts; `None` when the bytes are no key.
    pub fn parts(&self) -> Option<Vec<Part>> {
        let mut rest = self.0.as_slice();
        let mut parts = Vec::new();
        while let Some((&tag, tail)) = rest.split_first() {
            match tag {
                NUMBER => {
                    let (bytes, tail) = tail.split_first_chunk::<8>()?;
                    parts.push(Part::U64(u64::from_be_bytes(*bytes)));
                    rest = tail;
                }
                TEXT => {
                    let (len, tail) = tail.split_first_chunk::<4>()?;
                    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
                    let (text, tail) = tail.split_at_checked(len)?;
                    parts.push(Part::Str(std::str::from_utf8(text).ok()?.to_owned()));
                    rest = tail;
                }
                _ => return None,
            }
        }
        Some(parts)
    }

    /// The last part when it is a number.
    pub fn last_u64(&self) -> Option<u64> {
        match self.parts()?.pop()? {
            Part::U64(n) => Some(n),
            Part::Str(_) => None,
        }
    }

    /// The last part when it is a text.
    pub fn last_str(&self) -> Option<String> {
        match self.parts()?.pop()? {
            Part::Str(text) => Some(text),
            Part::U64(_) => None,
        }
    }

    /// As stored.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From stored bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}
