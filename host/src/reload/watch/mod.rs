//! Notices that files changed. Events are hints: what changed is decided by the next preparation, by hash.

mod folders;
mod relevant;
mod settle;
mod snapshot;
#[cfg(test)]
mod tests;

use super::handle::Shared;
use super::queue::{Job, ReloadOptions};
use super::record::Trigger;
use crate::candidate::WatchList;
use crate::config::{ReloadConfig, WatchMode};
use crate::generation::Publisher;
use crate::task::{SharedClock, Tasks, blocking};
use folders::Folders;
use relevant::{is_relevant, may_hold_input, owner_of};
use serde::Serialize;
use settle::{Settle, Window};
use snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often the events are checked by a look at the metadata.
const SWEEP: Duration = Duration::from_secs(30);
/// How often events are tried again where they failed.
const AGAIN: Duration = Duration::from_secs(300);
/// More folders than this are polled.
const MOST_FOLDERS: usize = 10_000;

/// How a root is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WatchState {
    /// By events.
    Events,
    /// By looking at it again and again.
    Polling,
    /// Not at all.
    Off,
}

/// A root and how it is watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootState {
    /// Absolute path.
    pub root: String,
    /// How.
    pub state: WatchState,
}

/// What the watcher is told.
pub(super) enum Seen {
    /// A preparation has read the disk.
    Scanned(WatchList),
    /// Something happened to these paths.
    Changed(Vec<PathBuf>),
    /// Events were lost.
    Missed,
    /// The backend failed.
    Failed(String),
}

/// Why a root is polled though events are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fallback {
    /// The backend refused; it is asked again.
    Refused,
    /// It sent nothing for a change.
    Silent,
}

/// The watcher's task.
pub(super) struct Watcher {
    shared: Arc<Shared>,
    publisher: Publisher,
    clock: SharedClock,
    seen: mpsc::UnboundedSender<Seen>,
    folders: Option<Folders>,
    list: WatchList,
    settle: Settle,
    known: Snapshot,
    fallback: BTreeMap<PathBuf, Fallback>,
    /// Monotonic times of the next look of each sort.
    next: Next,
    most_folders: usize,
}

#[derive(Debug, Default)]
struct Next {
    sweep: Duration,
    poll: Duration,
    again: Duration,
}

impl Watcher {
    /// Starts it among `tasks`; it begins to look with the first scan it is told of.
    pub(super) fn spawn(
        shared: Arc<Shared>,
        publisher: Publisher,
        clock: &SharedClock,
        tasks: &Tasks,
    ) -> mpsc::UnboundedSender<Seen> {
        let (watcher, seen) = Self::new(shared, publisher, Arc::clone(clock), MOST_FOLDERS);
        let sender = watcher.seen.clone();
        let closing = tasks.clone();
        tasks.spawn("watcher", async move {
            tokio::select! {
                () = closing.closing() => {}
                () = watcher.run(seen) => {}
            }
        });
        sender
    }

    fn new(
        shared: Arc<Shared>,
        publisher: Publisher,
        clock: SharedClock,
        most_folders: usize,
    ) -> (Self, mpsc::UnboundedReceiver<Seen>) {
        let (sender, seen) = mpsc::unbounded_channel();
        let watcher = Self {
            shared,
            publisher,
            clock,
            seen: sender,
            folders: None,
            list: WatchList::default(),
            settle: Settle::default(),
            known: Snapshot::new(),
            fallback: BTreeMap::new(),
            next: Next::default(),
            most_folders,
        };
        (watcher, seen)
    }

    async fn run(mut self, mut seen: mpsc::UnboundedReceiver<Seen>) {
        loop {
            let pause = self.due().map(|due| due.saturating_sub(self.clock.monotonic()));
            tokio::select! {
                biased;
                what = seen.recv() => match what {
                    Some(what) => self.take(what).await,
                    None => return,
                },
                () = sleep(&self.clock, pause) => {}
            }
            self.look().await;
            // Told last: whoever sees a state may rely on its first look being done.
            self.tell_state();
            self.fire();
        }
    }

    async fn take(&mut self, what: Seen) {
        if !matches!(what, Seen::Scanned(_))
            && let Some(folders) = &self.folders
        {
            folders.taken();
        }
        match what {
            Seen::Scanned(list) => self.adopt(list).await,
            Seen::Changed(paths) => {
                let names = |path: PathBuf| match &self.folders {
                    Some(folders) => folders.all_names(&path),
                    None => vec![path],
                };
                let all: Vec<PathBuf> = paths.into_iter().flat_map(names).collect();
                all.iter().for_each(|p| self.changed(p));
            }
            Seen::Missed => self.settle.event(self.clock.monotonic(), None),
            Seen::Failed(error) => {
                tracing::warn!(code = "reload::watch-degraded", error, "the watch backend failed: polling");
                let roots = self.list.roots.clone();
                roots.into_iter().for_each(|root| self.fall_back(root, Fallback::Refused));
                self.settle.event(self.clock.monotonic(), None);
            }
        }
    }

    /// Takes the list of the newest scan. One that ended at a broken `bot.toml` knows no plugins: then what
    /// was watched stays watched.
    async fn adopt(&mut self, mut list: WatchList) {
        if list.plugins.is_empty() {
            let old = std::mem::take(&mut self.list);
            list.folders.extend(old.folders);
            list.files.extend(old.files);
            list.roots = old.roots;
            list.search = old.search;
            list.plugins = old.plugins;
            list.never.extend(old.never);
        }
        let new: BTreeSet<PathBuf> = list.folders.difference(&self.list.folders).cloned().collect();
        self.list = list;
        self.arm_all();
        self.missed(new.clone()).await;
        // What stands in a folder that is new in the list is no change; what is known keeps its old mark, and what
        // came into an old folder meanwhile gets none, so that the next look finds both.
        let mut fresh = self.snapshot(|_| true).await;
        fresh.retain(|path, _| self.known.contains_key(path) || path.parent().is_some_and(|p| new.contains(p)));
        for (path, stat) in std::mem::take(&mut self.known) {
            if let Some(slot) = fresh.get_mut(&path) {
                *slot = stat;
            }
        }
        self.known = fresh;
        let now = self.clock.monotonic();
        self.next.sweep = now + SWEEP;
        self.next.poll = now + self.poll();
    }

    /// What changed in a new folder after its read and before its watch was announced by nobody.
    async fn missed(&mut self, new: BTreeSet<PathBuf>) {
        let (Some(since), false) = (self.list.read_at, new.is_empty()) else { return };
        let list = self.list.clone();
        let new: Vec<PathBuf> = new.into_iter().collect();
        let changed = blocking("look at new folders", move || snapshot::changed_since(&list, &new, since)).await;
        if changed.unwrap_or(true) {
            self.settle.event(self.clock.monotonic(), None);
        }
    }

    fn arm_all(&mut self) {
        let wanted: Vec<PathBuf> = self.list.folders.iter().cloned().collect();
        if !matches!(self.mode(), WatchMode::Auto | WatchMode::Events) {
            self.folders = None;
            return;
        }
        if self.folders.is_none() {
            match Folders::new(self.seen.clone()) {
                Ok(folders) => self.folders = Some(folders),
                Err(error) => {
                    tracing::warn!(code = "reload::watch-degraded", %error, "no file events on this machine: polling");
                    let roots = self.list.roots.clone();
                    return roots.into_iter().for_each(|root| self.fall_back(root, Fallback::Refused));
                }
            }
        }
        if let Some(folders) = &mut self.folders {
            let list = &self.list.folders;
            folders.retain(|path| list.contains(path));
        }
        wanted.iter().for_each(|folder| self.arm(folder));
    }

    /// Arms one folder; the first refusal makes its root polled.
    fn arm(&mut self, folder: &Path) {
        let root = self.root_of(folder);
        if self.fallback.contains_key(&root) {
            return;
        }
        let Some(folders) = &mut self.folders else { return };
        let refused = match folders.count() >= self.most_folders && !folders.has(folder) {
            true => Some(format!("more than {} folders", self.most_folders)),
            false => folders.arm(folder).err().map(|e| e.to_string()),
        };
        if let Some(error) = refused {
            let shown = root.display();
            tracing::warn!(code = "reload::watch-degraded", root = %shown, error, "file events are not possible: polling");
            self.fall_back(root, Fallback::Refused);
        }
    }

    fn fall_back(&mut self, root: PathBuf, why: Fallback) {
        self.fallback.insert(root, why);
        let now = self.clock.monotonic();
        self.next.poll = now + self.poll();
        self.next.again = now + AGAIN;
    }

    /// One hint. A folder that came is armed with all that is in it, one that went is let go.
    fn changed(&mut self, path: &Path) {
        let is_folder = path.is_dir();
        if !is_folder && let Some(folders) = self.folders.as_mut().filter(|f| f.has(path)) {
            folders.disarm(path);
        }
        if !is_relevant(&self.list, path) {
            return;
        }
        if is_folder {
            self.join(path);
        }
        self.settle.event(self.clock.monotonic(), owner_of(&self.list, path));
    }

    /// Arms a new folder and what it holds already: `mkdir -p a/b` may show only `a`.
    fn join(&mut self, folder: &Path) {
        let mut open = vec![folder.to_path_buf()];
        while let Some(at) = open.pop() {
            if !may_hold_input(&self.list, &at) {
                continue;
            }
            self.list.folders.insert(at.clone());
            self.arm(&at);
            let Ok(entries) = std::fs::read_dir(&at) else { continue };
            open.extend(entries.flatten().filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
        }
    }

    /// The looks that are due: polling, the sweep, another try with events.
    async fn look(&mut self) {
        let now = self.clock.monotonic();
        if self.has_polled() && now >= self.next.poll {
            self.next.poll = now + self.poll();
            let polled = |state| state == WatchState::Polling;
            for path in self.news(polled).await {
                if path.is_dir() {
                    self.join(&path);
                }
                self.settle.event(now, owner_of(&self.list, &path));
            }
        }
        if now >= self.next.sweep {
            self.next.sweep = now + SWEEP;
            self.sweep(now).await;
        }
        if self.fallback.values().any(|f| *f == Fallback::Refused) && now >= self.next.again {
            self.next.again = now + AGAIN;
            self.fallback.retain(|_, f| *f != Fallback::Refused);
            self.folders = None;
            self.arm_all();
        }
    }

    /// A change that no event announced: that root sends none.
    async fn sweep(&mut self, now: Duration) {
        if !self.settle.is_idle() || self.shared.now().running {
            return;
        }
        for path in self.news(|state| state == WatchState::Events).await {
            let root = self.root_of(&path);
            if self.mode() == WatchMode::Auto && !self.fallback.contains_key(&root) {
                tracing::warn!(code = "reload::watch-degraded", root = %root.display(), "a change came without an event: polling");
                self.fall_back(root, Fallback::Silent);
            }
            self.settle.event(now, owner_of(&self.list, &path));
        }
    }

    /// What has changed since the last look at the roots of this state.
    async fn news(&mut self, of: impl Fn(WatchState) -> bool) -> Vec<PathBuf> {
        let states: BTreeMap<PathBuf, WatchState> =
            self.list.roots.iter().map(|r| (r.clone(), self.state_of(r))).collect();
        let wanted = |path: &Path| states.get(&self.root_of(path)).is_some_and(|s| of(*s));
        let fresh = self.snapshot(&wanted).await;
        let old: Snapshot = self.known.iter().filter(|(p, _)| wanted(p)).map(|(p, s)| (p.clone(), *s)).collect();
        let news = snapshot::differences(&old, &fresh);
        self.known.retain(|path, _| !old.contains_key(path));
        self.known.extend(fresh);
        news
    }

    async fn snapshot(&self, wanted: impl Fn(&Path) -> bool) -> Snapshot {
        let folders: Vec<PathBuf> = self.list.folders.iter().filter(|f| wanted(f)).cloned().collect();
        let list = self.list.clone();
        blocking("sweep of folders", move || snapshot::take(&list, &folders)).await.unwrap_or_default()
    }

    fn fire(&mut self) {
        let Some(ripe) = self.settle.ripe(self.clock.monotonic(), self.window()) else { return };
        for owner in &ripe.never_settles {
            tracing::warn!(code = "watch::never-settles", %owner, "its files still change: it is judged as it is");
        }
        let job = Job { trigger: Trigger::Watch, options: ReloadOptions::default(), hold: ripe.hold, answer: None };
        if self.shared.queue.send(job).is_err() {
            tracing::debug!("a change came after the end of reloading");
        }
    }

    fn due(&self) -> Option<Duration> {
        if self.list.roots.is_empty() || self.mode() == WatchMode::Off {
            return None;
        }
        let refused = self.fallback.values().any(|f| *f == Fallback::Refused);
        let polled = self.has_polled().then_some(self.next.poll);
        let again = refused.then_some(self.next.again);
        let looks = [Some(self.next.sweep), polled, again, self.settle.due(self.window())];
        looks.into_iter().flatten().min()
    }

    fn settings(&self) -> ReloadConfig {
        self.publisher.published().active.contents().bot.reload.clone()
    }

    fn mode(&self) -> WatchMode {
        self.settings().watch
    }

    fn poll(&self) -> Duration {
        Duration::from_millis(self.settings().poll_ms)
    }

    fn window(&self) -> Window {
        let s = self.settings();
        Window { quiet: Duration::from_millis(s.settle_ms), most: Duration::from_millis(s.max_settle_ms) }
    }

    fn has_polled(&self) -> bool {
        self.list.roots.iter().any(|r| self.state_of(r) == WatchState::Polling)
    }

    fn state_of(&self, root: &Path) -> WatchState {
        let fallen = self.fallback.contains_key(root) || self.folders.is_none();
        match self.mode() {
            WatchMode::Off => WatchState::Off,
            WatchMode::Poll => WatchState::Polling,
            // Without events and without the leave to poll nothing is watched, and that is what is said.
            WatchMode::Events if fallen => WatchState::Off,
            WatchMode::Auto if fallen => WatchState::Polling,
            WatchMode::Events | WatchMode::Auto => WatchState::Events,
        }
    }

    /// The root a path belongs to: the longest that holds it, else the first (secrets, parents of roots).
    fn root_of(&self, path: &Path) -> PathBuf {
        let holding = self.list.roots.iter().filter(|r| path.starts_with(r)).max_by_key(|r| r.as_os_str().len());
        holding.or(self.list.roots.first()).cloned().unwrap_or_default()
    }

    fn tell_state(&self) {
        let roots: BTreeSet<&PathBuf> = self.list.roots.iter().collect();
        let states = roots.into_iter().map(|r| RootState { root: r.display().to_string(), state: self.state_of(r) });
        let states: Vec<RootState> = states.collect();
        self.shared.now().watch = states;
    }
}

async fn sleep(clock: &SharedClock, pause: Option<Duration>) {
    match pause {
        Some(pause) => clock.sleep(pause).await,
        None => std::future::pending().await,
    }
}
