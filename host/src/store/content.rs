//! Values too long for the database, as files named by their digest in `content/`.

use super::codec::Digest32;
use super::folder::private_dir;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder of content files.
pub(super) struct ContentDir(PathBuf);

impl ContentDir {
    pub(super) fn open(data_dir: &Path) -> io::Result<Self> {
        let dir = data_dir.join("content");
        private_dir(&dir)?;
        Ok(Self(dir))
    }

    fn path(&self, digest: &Digest32) -> PathBuf {
        self.0.join(hex::encode(digest))
    }

    /// Writes the file unless it is there; durable when it returns, its name included.
    pub(super) fn write(&self, digest: &Digest32, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(digest);
        // A whole file of the right length was renamed into place after its fsync, so it can be trusted.
        if fs::metadata(&path).is_ok_and(|m| m.len() == bytes.len() as u64) {
            return Ok(());
        }
        let temporary = self.0.join(format!(".{}", hex::encode(digest)));
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        File::open(&self.0)?.sync_all()
    }

    /// Reads the file and holds it to its name.
    pub(super) fn read(&self, digest: &Digest32, len: u64) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.path(digest))?;
        if bytes.len() as u64 != len || Digest32::from(Sha256::digest(&bytes)) != *digest {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "content file does not match its name"));
        }
        Ok(bytes)
    }

    /// Removes the file, if it is there.
    pub(super) fn remove(&self, digest: &Digest32) -> io::Result<()> {
        match fs::remove_file(self.path(digest)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Bytes of all files.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
    }

    /// Removes what no record refers to: left by a crash between a file and its record.
    pub(super) fn keep_only(&self, referred: &HashSet<Digest32>) -> io::Result<()> {
        let names: HashSet<String> = referred.iter().map(hex::encode).collect();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = entry.file_name();
            // A name of another form was given by somebody else.
            let own = name.to_str().filter(|n| is_hex(n.strip_prefix('.').unwrap_or(n)));
            if own.is_some_and(|name| !names.contains(name)) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn is_hex(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}
