//! The mark of a clean end. sled leaves out what it cannot read at the end of its log and says nothing; so the last
//! record of a clean end is a number, written beside the database too, and the next start compares the two.

use super::Disk;
use crate::store::port::{Op, Tree};
use crate::store::{Key, StoreError};
use serde_json::json;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// File in `store/` with the number of the last clean end.
const CLOSED: &str = "closed";

fn key() -> Key {
    Key::new().str("closed")
}

impl Disk {
    fn closed_file(&self) -> PathBuf {
        self.settings.data_dir.join("store").join(CLOSED)
    }

    fn closed_number(&self) -> Result<u64, StoreError> {
        Ok(self.get(Tree::Meta, &key())?.and_then(|n| n.as_u64()).unwrap_or(0))
    }

    /// Syncs everything, with the mark as the newest record.
    pub(in crate::store) fn end_clean(&self) -> Result<(), StoreError> {
        let number = self.closed_number()?.saturating_add(1);
        self.batch(vec![Op::put(Tree::Meta, key(), json!(number))])?;
        self.sync()?;
        let private = File::options().write(true).create(true).truncate(true).mode(0o600).open(self.closed_file());
        let mut file = private?;
        writeln!(file, "{number}")?;
        Ok(file.sync_all()?)
    }

    /// Whether the newest records of the last clean end are not there any more.
    pub(in crate::store) fn lost_newest(&self) -> Result<bool, StoreError> {
        let told = fs::read_to_string(self.closed_file()).ok().and_then(|text| text.trim().parse::<u64>().ok());
        Ok(told.unwrap_or(0) > self.closed_number()?)
    }
}
