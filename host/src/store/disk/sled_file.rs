//! Opens sled, and first looks whether what lies there can be a database of ours at all: sled itself takes a
//! file of nonsense for an empty one and writes into it.

use super::Settings;
use crate::store::StoreError;
use crate::store::folder::private_dir;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Says that a store was once complete here.
const MARK: &str = "complete";
/// sled's unit of its file; each begins with a header that has its own checksum.
const SEGMENT: u64 = 512 * 1024;
const SEGMENT_HEADER: usize = 20;
/// How often, and how far apart, sled's lock is tried.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

#[derive(Clone)]
pub(super) struct Opened {
    pub(super) db: sled::Db,
    /// A second descriptor of the database file: sled's own flush is no fsync.
    pub(super) file: Arc<File>,
}

/// Whether a store was complete here before.
pub(super) fn was_complete(data_dir: &Path) -> bool {
    data_dir.join("store").join(MARK).exists()
}

/// Notes that the store is complete; durable when it returns.
pub(super) fn mark_complete(data_dir: &Path) -> io::Result<()> {
    let dir = data_dir.join("store");
    File::create(dir.join(MARK))?.sync_all()?;
    File::open(&dir)?.sync_all()
}

/// Refuses a file without a single intact segment, before anything can write into it.
fn check_before(dir: &Path) -> Result<(), StoreError> {
    let corrupt = |why: &str| Err(StoreError::Corrupt(why.to_owned()));
    let file = match File::open(dir.join("db")) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return corrupt("the database file is gone"),
        Err(e) => return Err(e.into()),
    };
    let len = file.metadata()?.len();
    let mut at = 0;
    let mut header = [0; SEGMENT_HEADER];
    while at + SEGMENT_HEADER as u64 <= len {
        file.read_exact_at(&mut header, at)?;
        if let Some((sum, rest)) = header.split_first_chunk::<4>()
            && u32::from_le_bytes(*sum) == !crc32(rest)
        {
            return Ok(());
        }
        at += SEGMENT;
    }
    corrupt("the database file has no intact segment")
}

/// The common CRC-32, bit by bit: only ever over a few bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

pub(super) fn open_sled(settings: &Settings) -> Result<Opened, StoreError> {
    let dir = settings.data_dir.join("store");
    private_dir(&dir)?;
    if was_complete(&settings.data_dir) {
        check_before(&dir)?;
    }
    let config = sled::Config::new()
        .path(&dir)
        .cache_capacity(settings.cache_mb.saturating_mul(1 << 20))
        .flush_every_ms(Some(settings.flush_every_ms.max(10)));
    let db = open_when_free(&config).map_err(|e| match e {
        sled::Error::Io(e) if is_lock_held(&e) => StoreError::Locked { path: settings.data_dir.clone(), pid: None },
        sled::Error::Io(e) if e.kind() == io::ErrorKind::StorageFull => {
            StoreError::DiskFull { free: (settings.free)().unwrap_or(0) }
        }
        other => StoreError::Corrupt(other.to_string()),
    })?;
    let file = Arc::new(File::open(dir.join("db"))?);
    Ok(Opened { db, file })
}

/// Another host is kept out by the data folder's lock before it comes here. What still holds sled's own lock is
/// a thread of its pool that has not let go of the last database, or a child process between fork and exec: both
/// are a matter of milliseconds.
fn open_when_free(config: &sled::Config) -> Result<sled::Db, sled::Error> {
    let mut left = LOCK_TRIES;
    loop {
        // A damaged file makes sled panic in places; that is one more way to say "cannot be read".
        let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| config.open()));
        match opened {
            Ok(Err(sled::Error::Io(e))) if is_lock_held(&e) && left > 0 => {
                left -= 1;
                std::thread::sleep(LOCK_PAUSE);
            }
            Ok(opened) => return opened,
            Err(payload) => {
                let text = crate::task::panic_text(payload.as_ref());
                return Err(sled::Error::ReportableBug(text));
            }
        }
    }
}

/// sled gives this fault no kind of its own.
fn is_lock_held(e: &io::Error) -> bool {
    e.to_string().contains("could not acquire lock")
}
