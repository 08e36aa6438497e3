//! Text that arrives in pieces which need not be text by themselves: a fragment may hold one half of a
//! surrogate pair. Fragments are kept as bytes and become a string when whole.

use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;

/// The bytes of one JSON string, halves of surrogate pairs included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::model) struct Piece(pub(in crate::model) Vec<u8>);

impl<'de> Deserialize<'de> for Piece {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_byte_buf(PieceVisitor)
    }
}

struct PieceVisitor;

impl Visitor<'_> for PieceVisitor {
    type Value = Piece;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, v: &[u8]) -> Result<Piece, E> {
        Ok(Piece(v.to_vec()))
    }

    fn visit_byte_buf<E>(self, v: Vec<u8>) -> Result<Piece, E> {
        Ok(Piece(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Piece, E> {
        Ok(Piece(v.as_bytes().to_vec()))
    }
}

/// Text on its way out: gives what is whole and keeps a first half back.
#[derive(Debug, Default)]
pub(in crate::model) struct TextBuffer {
    held: Vec<u8>,
}

impl TextBuffer {
    pub(in crate::model) fn push(&mut self, piece: &Piece) -> String {
        self.held.extend_from_slice(&piece.0);
        let keep = match self.held.as_slice() {
            [.., 0xed, 0xa0..=0xaf, _] => 3,
            _ => 0,
        };
        let rest = self.held.split_off(self.held.len() - keep);
        joined(&std::mem::replace(&mut self.held, rest))
    }

    pub(in crate::model) fn finish(&mut self) -> String {
        joined(&std::mem::take(&mut self.held))
    }
}

/// A string of possibly split bytes: pairs are joined, a half without its other becomes a replacement character.
pub(in crate::model) fn joined(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.push_str(text);
                return out;
            }
            Err(e) => {
                let (good, bad) = rest.split_at(e.valid_up_to());
                out.push_str(&String::from_utf8_lossy(good));
                let (c, used) = odd(bad, e.error_len());
                out.push(c);
                rest = bad.get(used..).unwrap_or_default();
            }
        }
    }
    out
}

fn odd(bad: &[u8], error_len: Option<usize>) -> (char, usize) {
    match *bad {
        [0xed, a @ 0xa0..=0xaf, b, 0xed, c @ 0xb0..=0xbf, d, ..] => {
            let high = (u32::from(a & 0x0f) << 6) | u32::from(b & 0x3f);
            let low = (u32::from(c & 0x0f) << 6) | u32::from(d & 0x3f);
            (char::from_u32(0x10000 + (high << 10) + low).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
        }
        [0xed, 0xa0..=0xbf, _, ..] => (char::REPLACEMENT_CHARACTER, 3),
        _ => (char::REPLACEMENT_CHARACTER, error_len.unwrap_or(bad.len()).max(1)),
    }
}
