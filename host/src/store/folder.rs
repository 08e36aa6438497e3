//! The data folder: its mode, its lock, and the checks made once at the start.

use super::StoreError;
use super::folder_mark::{foreign_entry, mark};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The absolute path without `.` and `..`, links of its existing part followed.
pub fn real_path(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut real = PathBuf::new();
    for part in whole.components() {
        match part {
            // What has been walked so far is free of links, so its parent is the one that is meant.
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            other => {
                real.push(other);
                real = fs::canonicalize(&real).unwrap_or(real);
            }
        }
    }
    real
}

/// Creates a folder that only this user may enter, with the folders above it; one that is there stays as it is.
pub fn made_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The same for a folder of the host's own: one that others may enter is made private again.
pub fn private_dir(path: &Path) -> io::Result<()> {
    made_dir(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Free bytes for this user on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Process id in the lock file of a data folder, without touching the lock; `None` when nobody wrote one. The
/// process may be gone.
pub fn lock_pid(data_dir: &Path) -> Option<u32> {
    fs::read_to_string(data_dir.join("lock")).ok()?.trim().parse().ok()
}

/// The right to be the one host of a data folder; given back when dropped, or when the process ends however.
#[derive(Debug)]
pub struct DataLock {
    file: File,
    dir: PathBuf,
}

impl DataLock {
    /// Prepares the folder (0700), takes its lock and checks that files in it can be written and executed.
    /// A folder that holds something else is refused before anything in it changes.
    pub fn acquire(data_dir: &Path) -> Result<Self, StoreError> {
        let not_writable = |source| StoreError::NotWritable { path: data_dir.to_owned(), source };
        if let Some(entry) = foreign_entry(data_dir).map_err(not_writable)? {
            return Err(StoreError::Foreign { path: data_dir.to_owned(), entry });
        }
        private_dir(data_dir).and_then(|()| mark(data_dir)).map_err(|e| full_or(e, data_dir))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(data_dir.join("lock"))
            .map_err(not_writable)?;
        take_lock(&mut file, data_dir)?;
        check_writable_and_executable(data_dir)?;
        let write_pid = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write_pid(&mut file).map_err(|e| full_or(e, data_dir))?;
        Ok(Self { file, dir: data_dir.to_owned() })
    }

    /// The folder it locks.
    pub fn data_dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // The file stays: removing it would let two hosts lock two files of one name. Both results only
        // concern what a person reads in it; the lock itself goes with the descriptor.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// How often a lock of an ended process is tried again, and the pause between: a second in all.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Takes the lock. A process that was killed while it started a program leaves the lock to that program until the
/// program's own code begins: a moment later it is free.
fn take_lock(file: &mut File, data_dir: &Path) -> Result<(), StoreError> {
    for attempt in 1.. {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.rewind().map_err(StoreError::Io)?;
                // The pid is only shown; a lock file that cannot be read is locked all the same.
                let pid: Option<u32> = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                if attempt >= TRIES || pid.is_none_or(is_alive) {
                    return Err(StoreError::Locked { path: data_dir.to_owned(), pid });
                }
                std::thread::sleep(PAUSE);
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::Io(e)),
        }
    }
    Ok(())
}

/// Whether a process runs, of whatever user.
pub fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|p| rustix::process::test_kill_process(p) != Err(rustix::io::Errno::SRCH))
}

fn full_or(e: io::Error, data_dir: &Path) -> StoreError {
    if e.kind() == io::ErrorKind::StorageFull {
        StoreError::DiskFull { free: free_bytes(data_dir).unwrap_or(0) }
    } else {
        StoreError::NotWritable { path: data_dir.to_owned(), source: e }
    }
}

fn check_writable_and_executable(data_dir: &Path) -> Result<(), StoreError> {
    let probe = data_dir.join(".start-check");
    let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&probe);
    written.map_err(|e| full_or(e, data_dir))?;
    // An executable file on a noexec mount fails this check, so nothing has to be run for it.
    let executable = rustix::fs::access(&probe, rustix::fs::Access::EXEC_OK);
    fs::remove_file(&probe).map_err(|e| full_or(e, data_dir))?;
    let forbidden =
        rustix::fs::statvfs(data_dir).is_ok_and(|stat| stat.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC));
    if executable.is_err() || forbidden {
        return Err(StoreError::NoExec { path: data_dir.to_owned(), mount: mount_of(data_dir) });
    }
    Ok(())
}

/// The mount a path lies on: the highest folder above it on the same device.
fn mount_of(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let device = |p: &Path| fs::metadata(p).map(|m| m.dev()).ok();
    let own = device(&full);
    let top = full.ancestors().take_while(|p| device(p) == own).last().unwrap_or(&full);
    top.display().to_string()
}
