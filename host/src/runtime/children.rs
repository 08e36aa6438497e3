//! The list of child processes on disk: what a host that was killed left behind is ended by the next one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Folder of the list below the data folder; one file per child, named by its pid.
const FOLDER: &str = "children";

/// Writes a child (the leader of its own process group) into the list. The file appears whole or not at all.
pub(super) fn record(data_dir: &Path, pid: u32) -> io::Result<()> {
    let folder = data_dir.join(FOLDER);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let start = start_time(pid).unwrap_or_default();
    let part = folder.join(format!("{pid}.part"));
    let mut file = fs::File::create(&part)?;
    writeln!(file, "{pid} {start}")?;
    drop(file);
    fs::rename(&part, folder.join(pid.to_string()))
}

/// Takes a child that has ended off the list.
pub(super) fn forget(data_dir: &Path, pid: u32) -> io::Result<()> {
    match fs::remove_file(data_dir.join(FOLDER).join(pid.to_string())) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Ends every process group that is still on the list of an earlier host, and empties the list. To be called
/// once at start, under the lock of the data folder. Gives the pids that were still alive.
///
/// A pid alone proves nothing after a restart: its start time must be the recorded one.
pub fn kill_leftovers(data_dir: &Path) -> io::Result<Vec<u32>> {
    let mut killed = Vec::new();
    let entries = match fs::read_dir(data_dir.join(FOLDER)) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(killed),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let path = entry?.path();
        // Only names that `record` gives; anything else is nobody's child.
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.trim_end_matches(".part").parse::<u32>().is_err() {
            continue;
        }
        if let Some((pid, start)) = read_entry(&path)
            && is_leftover(pid, &start)
            && kill_group(pid)
        {
            tracing::warn!(pid, "ended a process left behind by an earlier run");
            killed.push(pid);
        }
        fs::remove_file(&path)?;
    }
    killed.sort_unstable();
    Ok(killed)
}

fn read_entry(path: &PathBuf) -> Option<(u32, String)> {
    let text = fs::read_to_string(path).ok()?;
    let (pid, start) = text.trim_end().split_once(' ')?;
    let pid: u32 = pid.parse().ok()?;
    // 0 and 1 would mean every process, or init.
    (pid > 1 && !start.is_empty()).then(|| (pid, start.to_string()))
}

fn kill_group(pid: u32) -> bool {
    let Some(group) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).is_ok()
}

/// The leader with its recorded start time, or, when the leader is gone, a member of its group that
/// started after it: a group's number is not given to a new process while the group has members.
fn is_leftover(pid: u32, start: &str) -> bool {
    match start_time(pid) {
        Some(now) => now == start,
        None => has_members(pid, start),
    }
}

#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<String> {
    stat_fields(pid).map(|(_, start)| start.to_string())
}

/// Process group and start time in clock ticks since boot. The name in brackets may hold anything.
#[cfg(target_os = "linux")]
fn stat_fields(pid: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let group = fields.nth(2)?.parse().ok()?;
    let start = fields.nth(16)?.parse().ok()?;
    Some((group, start))
}

#[cfg(target_os = "linux")]
fn has_members(group: u32, start: &str) -> bool {
    let Ok(start) = start.parse::<u64>() else { return false };
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    entries
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(stat_fields)
        .any(|(g, s)| g == group && s >= start)
}

/// Without `/proc` the system's `ps` knows it.
#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Option<String> {
    let out = std::process::Command::new("/bin/ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let text = text.split_whitespace().collect::<Vec<_>>().join("-");
    (!text.is_empty()).then_some(text)
}

#[cfg(not(target_os = "linux"))]
fn has_members(_group: u32, _start: &str) -> bool {
    false
}
