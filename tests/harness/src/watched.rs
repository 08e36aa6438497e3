//! What a process holds, as Linux shows it.

use std::path::PathBuf;
use std::time::Duration;

/// Open file descriptors.
pub fn open_files(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Processes whose parent it is.
pub fn children(pid: u32) -> Vec<u32> {
    let parent = pid.to_string();
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let numbers = all.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|p| fields(*p).is_some_and(|f| f.get(1) == Some(&parent))).collect()
}

/// Folders it watches by inotify.
pub fn watches(pid: u32) -> usize {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).expect("descriptors").flatten();
    let texts = descriptors.filter_map(|e| std::fs::read_to_string(e.path()).ok());
    texts.map(|text| text.lines().filter(|l| l.starts_with("inotify ")).count()).sum()
}

/// Whether it runs and is no zombie.
pub fn is_alive(pid: u32) -> bool {
    fields(pid).is_some_and(|f| f.first().is_some_and(|state| state != "Z"))
}

/// Processor time used so far.
pub fn cpu(pid: u32) -> Duration {
    let fields = fields(pid).expect("a process");
    let ticks: u64 = [11, 12].iter().filter_map(|n| fields.get(*n)?.parse::<u64>().ok()).sum();
    // a tick is a hundredth of a second on every Linux that Rust runs on
    Duration::from_millis(ticks * 10)
}

/// Fields of `stat` after the name: state, parent, …
fn fields(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(PathBuf::from(format!("/proc/{pid}/stat"))).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}
