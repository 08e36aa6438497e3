//! Reading from disk without surprises: no blocking open, no byte from outside the roots, no unbounded
//! read, and no content that changed under the read.

use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) size: u64,
    pub(super) mtime: (i64, i64),
    pub(super) ctime: (i64, i64),
    pub(super) ino: u64,
    pub(super) dev: u64,
    pub(super) mode: u32,
}

impl Stat {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            mtime: (meta.mtime(), meta.mtime_nsec()),
            ctime: (meta.ctime(), meta.ctime_nsec()),
            ino: meta.ino(),
            dev: meta.dev(),
            mode: meta.mode(),
        }
    }

    pub(super) fn executable(&self) -> bool {
        self.mode & 0o111 != 0
    }
}

/// Why a file gave no bytes.
#[derive(Debug)]
pub(super) enum ReadFault {
    /// It changed, or vanished, since it was listed: the scan begins again.
    Unstable,
    /// Not a regular file; what it is.
    NotFile(&'static str),
    /// The handle is of a file outside the roots.
    Outside,
    /// More than the limit.
    TooBig,
    /// The system refused.
    Denied(io::Error),
}

/// A name for what stands in a file's place.
pub(super) fn kind_name(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "no regular file"
    }
}

/// The folders from which bytes may come: the bot folder and the search paths, links resolved.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Roots(pub(super) Vec<PathBuf>);

impl Roots {
    pub(super) fn contain(&self, real: &Path) -> bool {
        self.0.iter().any(|root| real.starts_with(root))
    }

    /// Opens a regular file inside the roots and proves both on the opened handle.
    fn open(&self, path: &Path) -> Result<(File, Stat), ReadFault> {
        let meta = std::fs::metadata(path).map_err(vanished)?;
        if !meta.is_file() {
            return Err(ReadFault::NotFile(kind_name(&meta)));
        }
        // NONBLOCK: a FIFO that took the file's place since must not hold the scan.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(vanished)?;
        let opened = file.metadata().map_err(ReadFault::Denied)?;
        if !opened.is_file() {
            return Err(ReadFault::NotFile(kind_name(&opened)));
        }
        let real = std::fs::canonicalize(path).map_err(vanished)?;
        if !self.contain(&real) {
            return Err(ReadFault::Outside);
        }
        let there = std::fs::symlink_metadata(&real).map_err(vanished)?;
        if (there.ino(), there.dev()) != (opened.ino(), opened.dev()) {
            return Err(ReadFault::Unstable);
        }
        Ok((file, Stat::of(&opened)))
    }

    /// The first kilobytes of a file.
    pub(super) fn head(&self, path: &Path) -> Result<Vec<u8>, ReadFault> {
        let (file, _) = self.open(path)?;
        let mut head = Vec::new();
        file.take(4096).read_to_end(&mut head).map_err(ReadFault::Denied)?;
        Ok(head)
    }

    /// Feeds the content to `sink` in pieces; `listed` is the state that was seen in the listing.
    pub(super) fn read(
        &self,
        path: &Path,
        listed: &Stat,
        limit: u64,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ReadFault> {
        let (mut file, opened) = self.open(path)?;
        if opened != *listed {
            return Err(ReadFault::Unstable);
        }
        if opened.size > limit {
            return Err(ReadFault::TooBig);
        }
        let mut buffer = vec![0u8; 64 * 1024];
        let mut total = 0u64;
        loop {
            let n = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(ReadFault::Denied(e)),
            };
            total += n as u64;
            if total > opened.size {
                return Err(ReadFault::Unstable);
            }
            sink(&buffer[..n]);
        }
        let after = Stat::of(&file.metadata().map_err(ReadFault::Denied)?);
        if after != opened || total != opened.size { Err(ReadFault::Unstable) } else { Ok(()) }
    }
}

fn vanished(e: io::Error) -> ReadFault {
    match e.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadFault::Unstable,
        _ => ReadFault::Denied(e),
    }
}
