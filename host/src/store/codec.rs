//! How a value lies in the database: whole, in chunks, or as a file beside it.
//!
//! Every record begins with a version byte that also says which of these it is. Heads go on with eight bytes
//! of expiry. No record, key included, is over [`RECORD_MAX`]: sled moves big pages to files it never syncs.

use super::memory::is_expired;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Largest stored record in bytes.
pub(super) const RECORD_MAX: usize = 4096;
/// Largest JSON text kept in the database itself.
pub(super) const CHUNKED_MAX: usize = 256 * 1024;

const WHOLE: u8 = 1;
const CHUNKED: u8 = 2;
const FILE: u8 = 3;
const CHUNK: u8 = 4;
const HEAD: usize = 9;
/// Between a key and the number of its chunk; sorts before every key part.
const CHUNK_MARK: u8 = 0;
const CHUNK_SUFFIX: usize = 5;

/// SHA-256 of a content file.
pub(super) type Digest32 = [u8; 32];

/// A value ready to be written under one key.
pub(super) struct Encoded {
    /// Record under the key itself.
    pub(super) head: Vec<u8>,
    /// Further records under the chunk keys.
    pub(super) chunks: Vec<Vec<u8>>,
    /// A file that must be durable first.
    pub(super) file: Option<(Digest32, Vec<u8>)>,
}

/// Where the text of a record is.
#[derive(Debug, PartialEq)]
pub(super) enum Body<'a> {
    Whole(&'a [u8]),
    Chunks { count: u32, len: usize },
    File { digest: Digest32, len: u64 },
}

/// A head as read.
#[derive(Debug, PartialEq)]
pub(super) struct Head<'a> {
    pub(super) expires_ms: u64,
    pub(super) body: Body<'a>,
}

impl Head<'_> {
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        is_expired(self.expires_ms, now_ms)
    }
}

/// Encodes `value` for a key of `key_len` bytes.
pub(super) fn encode(key_len: usize, value: &Value, expires_ms: u64) -> Encoded {
    let json = value.to_string().into_bytes();
    let mut encoded = Encoded { head: Vec::new(), chunks: Vec::new(), file: None };
    if key_len + HEAD + json.len() <= RECORD_MAX {
        encoded.head = head(WHOLE, expires_ms);
        encoded.head.extend_from_slice(&json);
    } else if json.len() <= CHUNKED_MAX {
        // A key so long that hardly anything fits beside it still gets chunks of a sensible size.
        let size = RECORD_MAX.saturating_sub(key_len + CHUNK_SUFFIX + 1).max(512);
        encoded.chunks = json.chunks(size).map(|c| [&[CHUNK], c].concat()).collect();
        encoded.head = head(CHUNKED, expires_ms);
        encoded.head.extend_from_slice(&(encoded.chunks.len() as u32).to_be_bytes());
        encoded.head.extend_from_slice(&(json.len() as u64).to_be_bytes());
    } else {
        let digest: Digest32 = Sha256::digest(&json).into();
        encoded.head = head(FILE, expires_ms);
        encoded.head.extend_from_slice(&digest);
        encoded.head.extend_from_slice(&(json.len() as u64).to_be_bytes());
        encoded.file = Some((digest, json));
    }
    encoded
}

fn head(version: u8, expires_ms: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    out.push(version);
    out.extend_from_slice(&expires_ms.to_be_bytes());
    out
}

/// Reads a head; `Ok(None)` for a chunk.
pub(super) fn decode(record: &[u8]) -> Result<Option<Head<'_>>, String> {
    let Some((&version, rest)) = record.split_first() else { return Err("empty record".into()) };
    if version == CHUNK {
        return Ok(None);
    }
    let Some((expiry, rest)) = rest.split_first_chunk::<8>() else { return Err("record without expiry".into()) };
    let expires_ms = u64::from_be_bytes(*expiry);
    let body = match version {
        WHOLE => Body::Whole(rest),
        CHUNKED => {
            let (count, len) = rest.split_first_chunk::<4>().ok_or("cut chunk head")?;
            let len = u64::from_be_bytes(len.try_into().map_err(|_| "cut chunk head")?);
            let len = usize::try_from(len).ok().filter(|l| *l <= CHUNKED_MAX).ok_or("chunked value too long")?;
            Body::Chunks { count: u32::from_be_bytes(*count), len }
        }
        FILE => {
            let (digest, len) = rest.split_first_chunk::<32>().ok_or("cut file head")?;
            Body::File { digest: *digest, len: u64::from_be_bytes(len.try_into().map_err(|_| "cut file head")?) }
        }
        other => return Err(format!("unknown record version {other}")),
    };
    Ok(Some(Head { expires_ms, body }))
}

/// The text inside a chunk record.
pub(super) fn chunk_text(record: &[u8]) -> Option<&[u8]> {
    record.strip_prefix(&[CHUNK])
}

/// Key of chunk `n` of the value under `key`.
pub(super) fn chunk_key(key: &[u8], n: u32) -> Vec<u8> {
    let mut out = Vec::with_capacity(key.len() + CHUNK_SUFFIX);
    out.extend_from_slice(key);
    out.push(CHUNK_MARK);
    out.extend_from_slice(&n.to_be_bytes());
    out
}
