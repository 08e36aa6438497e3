//! Bytes and texts of a plugin's entries, each fault as its finding.

use super::cache::{Cache, Content, Pass};
use super::disk::{ReadFault, Stat};
use super::text;
use super::walk::{Entry, Node, Unstable};
use plugin_sdk::Diagnostic;

/// Limit of TOML, JSON and `SKILL.md`.
pub(super) const MANIFEST_LIMIT: u64 = 256 * 1024;
/// Limit of `SECTION.md` and `AGENTS.md`.
pub(super) const TEXT_LIMIT: u64 = 64 * 1024;
/// Limit of a file set.
pub(super) const SET_LIMIT: u64 = 512 * 1024 * 1024;

/// Reads entries of one scan.
pub(super) struct Reader<'a> {
    pub(super) pass: Pass<'a>,
    pub(super) cache: &'a mut Cache,
}

impl Reader<'_> {
    /// A text; inside, `Err` is the finding without owner and file.
    pub(super) fn text(&mut self, entry: &Entry, limit: u64) -> Result<Result<String, Box<Diagnostic>>, Unstable> {
        let stat = match &entry.node {
            Node::File(stat) => stat,
            Node::Folder(_) => return Ok(Err(not_a_file("a folder"))),
            Node::Odd(what) => return Ok(Err(not_a_file(what))),
        };
        Ok(match self.content(entry, stat, true, limit)? {
            Ok(content) => text::decode(content.bytes.as_deref().unwrap_or(&[])),
            Err(d) => Err(d),
        })
    }

    /// The first bytes of a program.
    pub(super) fn head(&mut self, entry: &Entry, stat: &Stat) -> Result<Result<Vec<u8>, Box<Diagnostic>>, Unstable> {
        if stat.size <= MANIFEST_LIMIT {
            let content = self.content(entry, stat, true, MANIFEST_LIMIT)?;
            return Ok(content.map(|c| c.bytes.as_deref().unwrap_or(&[]).to_vec()));
        }
        match self.pass.roots.head(&entry.real) {
            Ok(head) => Ok(Ok(head)),
            Err(_) => Err(Unstable(entry.real.clone())),
        }
    }

    /// Hash, and bytes with `keep`.
    pub(super) fn content(
        &mut self,
        entry: &Entry,
        stat: &Stat,
        keep: bool,
        limit: u64,
    ) -> Result<Result<Content, Box<Diagnostic>>, Unstable> {
        match self.cache.content(self.pass, &entry.real, stat, keep, limit) {
            Ok(content) => Ok(Ok(content)),
            Err(ReadFault::Unstable) => Err(Unstable(entry.real.clone())),
            Err(ReadFault::NotFile(what)) => Ok(Err(not_a_file(what))),
            Err(ReadFault::TooBig) => Ok(Err(too_big(stat.size, limit))),
            Err(ReadFault::Outside) => Ok(Err(Box::new(Diagnostic::warning(
                "layout::symlink-outside",
                "the file lies outside the bot folder and its search paths; it is treated as absent",
            )))),
            Err(ReadFault::Denied(e)) => Ok(Err(Box::new(
                Diagnostic::error("layout::not-a-file", format!("the file cannot be read: {e}"))
                    .help("let the user that runs the bot read it"),
            ))),
        }
    }
}

/// A folder, FIFO, socket or device in a file's place.
pub(super) fn not_a_file(what: &str) -> Box<Diagnostic> {
    let help = "put a regular file in its place";
    Box::new(Diagnostic::error("layout::not-a-file", format!("{what} stands in the place of a file")).help(help))
}

fn too_big(size: u64, limit: u64) -> Box<Diagnostic> {
    let message = format!("the file has {size} bytes; at most {} KiB are read", limit / 1024);
    Box::new(
        Diagnostic::error("layout::too-big", message).help("make it smaller, or move parts into files of their own"),
    )
}
