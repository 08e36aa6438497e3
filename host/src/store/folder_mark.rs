//! Which folder is a data folder: the host removes what it does not know from `files`, `trees`, `content` and
//! `children`, so it must never take a folder of somebody else for its own.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Says that this host made the folder.
const MARK: &str = ".understudy";
/// What a folder may hold that nobody has used yet: a fresh file system, a folder kept in version control.
const EMPTY_HOLDS: [&str; 4] = [MARK, "lost+found", ".gitignore", ".gitkeep"];

/// Name of an entry that shows a folder to be somebody else's; `None` for a data folder, an empty folder, and
/// one that is not there.
pub fn foreign_entry(data_dir: &Path) -> io::Result<Option<String>> {
    let entries = match fs::read_dir(data_dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    if data_dir.join(MARK).is_file() || is_unmarked(data_dir) {
        return Ok(None);
    }
    let mut foreign: Option<String> = None;
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !EMPTY_HOLDS.contains(&name.as_str()) && foreign.as_ref().is_none_or(|f| name < *f) {
            foreign = Some(name);
        }
    }
    Ok(foreign)
}

/// A data folder from before the mark: a lock beside a database as only this program lays it out.
fn is_unmarked(data_dir: &Path) -> bool {
    let store = data_dir.join("store");
    data_dir.join("lock").is_file() && store.join("db").is_file() && store.join("conf").is_file()
}

/// Marks a folder, before anything else is put into it.
pub(super) fn mark(data_dir: &Path) -> io::Result<()> {
    let private = File::options().write(true).create_new(true).mode(0o600).open(data_dir.join(MARK));
    match private {
        Ok(mut file) => file.write_all(b"The data folder of a bot: what it does not know in here, the host removes.\n"),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(e),
    }
}
