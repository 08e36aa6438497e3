//! Canonical JSON (RFC 8785, integers of 64 bits kept whole) and the hashes over it.

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// One text per value: sorted keys, no spaces, shortest numbers.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// SHA-256, lower-case hex.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// SHA-256 of everything a reader gives, lower-case hex.
pub fn sha256_of_reader(mut from: impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut from, &mut hasher)?;
    Ok(hex::encode(hasher.finalize()))
}

/// SHA-256 of the canonical JSON.
pub fn hash_json(value: &Value) -> String {
    sha256_hex(canonical_json(value))
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            // RFC 8785 sorts by UTF-16 code units, which differs from byte order above U+FFFF
            keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_value(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (i, v) in list.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(v, out);
            }
            out.push(']');
        }
        Value::String(s) => write_string(s, out),
        Value::Number(n) => write_number(n, out),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
    }
}

fn write_string(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_number(n: &Number, out: &mut String) {
    match n.as_f64() {
        Some(f) if n.is_f64() => write_double(f, out),
        _ => {
            let _ = write!(out, "{n}");
        }
    }
}

/// A double as ECMAScript prints it: shortest digits, exponent from 1e21 and below 1e-6.
fn write_double(f: f64, out: &mut String) {
    if f == 0.0 {
        out.push('0');
        return;
    }
    let text = format!("{:e}", f.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    if f < 0.0 {
        out.push('-');
    }
    let zeros = |n: i32| "0".repeat(n.max(0) as usize);
    let _ = match point {
        p if count <= p && p <= 21 => write!(out, "{digits}{}", zeros(p - count)),
        p if 0 < p && p <= 21 => write!(out, "{}.{}", &digits[..p as usize], &digits[p as usize..]),
        p if -6 < p && p <= 0 => write!(out, "0.{}{digits}", zeros(-p)),
        p => {
            let sign = if p > 0 { '+' } else { '-' };
            let e = (p - 1).abs();
            let (head, tail) = digits.split_at(1);
            let dot = if tail.is_empty() { "" } else { "." };
            write!(out, "{head}{dot}{tail}e{sign}{e}")
        }
    };
}
