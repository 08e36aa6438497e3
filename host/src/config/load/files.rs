//! Reading `bot.toml`, `.env` and secret files: limits, encoding, regular files only.

use crate::config::Env;
use crate::config::doc::span_of;
use plugin_sdk::Diagnostic;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes of `bot.toml` and `.env`.
pub(super) const MAX_BOT: u64 = 1024 * 1024;
/// Bytes of a secret file.
const MAX_SECRET: u64 = 64 * 1024;

/// Reads a text file; every fault is a finding about `name`.
pub(super) fn read(name: &str, path: &Path, max: u64) -> Result<String, Box<Diagnostic>> {
    let (bytes, _) = bytes(path, max).map_err(|(code, message, _)| refused(name, code, message))?;
    decode(name, &bytes, max)
}

/// UTF-8 with one leading BOM dropped, LF line ends, no NUL.
pub(super) fn decode(name: &str, bytes: &[u8], max: u64) -> Result<String, Box<Diagnostic>> {
    if bytes.len() as u64 > max {
        return Err(refused(name, "layout::too-big", format!("is longer than {} KiB", max / 1024)));
    }
    let encoding = match bytes {
        [0xFF, 0xFE, ..] => Some("UTF-16 (little endian)"),
        [0xFE, 0xFF, ..] => Some("UTF-16 (big endian)"),
        _ => None,
    };
    if let Some(encoding) = encoding {
        return Err(refused(name, "text::encoding", format!("is {encoding}, not UTF-8")));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..at]);
        let found = refused(name, "text::encoding", format!("is not UTF-8: invalid byte at offset {at}"));
        Box::new(found.span(span_of(&before, at..at)))
    })?;
    if let Some(at) = text.find('\0') {
        let found = refused(name, "text::nul", format!("has a NUL byte at offset {at}"));
        return Err(Box::new(found.span(span_of(text, at..at + 1))));
    }
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn refused(name: &str, code: &str, message: impl std::fmt::Display) -> Box<Diagnostic> {
    let d = Diagnostic::error(code, format!("{name} {message}")).file(name);
    Box::new(if code == "text::encoding" { d.help("save the file as UTF-8") } else { d })
}

type Unread = (&'static str, String, std::io::ErrorKind);

fn bytes(path: &Path, max: u64) -> Result<(Vec<u8>, Metadata), Unread> {
    let unread = |e: std::io::Error| ("layout::not-a-file", format!("cannot be read: {e}"), e.kind());
    // asked before opening: opening a FIFO would wait for a writer
    if !std::fs::metadata(path).map_err(unread)?.is_file() {
        return Err(("layout::not-a-file", "is not a regular file".into(), std::io::ErrorKind::InvalidInput));
    }
    let file = File::open(path).map_err(unread)?;
    let metadata = file.metadata().map_err(unread)?;
    let mut out = Vec::new();
    file.take(max + 1).read_to_end(&mut out).map_err(unread)?;
    if out.len() as u64 > max {
        let message = format!("is longer than {} KiB", max / 1024);
        return Err(("layout::too-big", message, std::io::ErrorKind::FileTooLarge));
    }
    Ok((out, metadata))
}

/// A secret file.
pub(super) struct SecretFile {
    /// Text without line ends at its end.
    pub(super) text: String,
    /// Readable by everybody.
    pub(super) exposed: bool,
}

pub(super) fn secret(path: &Path) -> Result<SecretFile, String> {
    let (bytes, metadata) = bytes(path, MAX_SECRET).map_err(|(_, message, _)| message)?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_string())?;
    let text = text.trim_end_matches(['\n', '\r']).to_string();
    if text.is_empty() {
        return Err("is empty".into());
    }
    Ok(SecretFile { text, exposed: metadata.mode() & 0o004 != 0 })
}

/// The environment with `.env` of the bot folder; an absent file adds nothing.
pub(super) fn with_dotenv(bot_dir: &Path, env: &Env) -> (Env, Vec<Diagnostic>) {
    let path = bot_dir.join(".env");
    if let Err((_, _, std::io::ErrorKind::NotFound)) = bytes(&path, MAX_BOT) {
        return (env.clone(), Vec::new());
    }
    match read(".env", &path, MAX_BOT) {
        Ok(text) => {
            let (env, bad) = env.with_file(&text);
            let findings = bad.into_iter().map(|line| {
                let span = plugin_sdk::Span { line, column: 1, end_line: line, end_column: 1 };
                Diagnostic::warning("bot::env-line", "this line is left out: it is no `NAME=value`")
                    .file(".env")
                    .span(span)
            });
            (env, findings.collect())
        }
        Err(finding) => (env.clone(), vec![*finding]),
    }
}
