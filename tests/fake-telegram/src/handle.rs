//! The server in Rust tests.

use crate::options::Options;
use crate::script::{Group, Membership, PressButton, Pressed, Said, Say, TopicChange, Unplayable};
use crate::server;
use crate::shared::Shared;
use crate::state::{State, Violation};
use crate::world::{Armed, Content, Person, Rule};
use bytes::Bytes;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A running server; dropping it ends it and all its connections.
pub struct FakeTelegram {
    addr: SocketAddr,
    shared: Shared,
    stop: CancellationToken,
    _ends: DropGuard,
}

/// A wait that was in vain, with the end of what the server has seen.
#[derive(Debug)]
pub struct Late(String);

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Late {}

impl FakeTelegram {
    /// Starts a server with one bot on a free loopback port.
    pub async fn start() -> io::Result<Self> {
        Self::with(Options::default(), 0).await
    }

    /// Starts a server with options; port 0 takes a free one.
    pub async fn with(options: Options, port: u16) -> io::Result<Self> {
        let stop = CancellationToken::new();
        let (addr, shared) = server::start(options, port, &stop).await?;
        Ok(Self { addr, shared, stop: stop.clone(), _ends: stop.drop_guard() })
    }

    /// What replaces `https://api.telegram.org`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Waits until the server ends, which it does not by itself.
    pub async fn wait(&self) {
        self.stop.cancelled().await;
    }

    /// Ends the server and its connections; what it has seen can still be looked at.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Makes a conversation.
    pub fn group(&self, group: Group) -> Result<(), Unplayable> {
        self.shared.change(|world| world.group(&group))
    }

    /// Makes a person known, or changes what is known (blocked, deactivated).
    pub fn person(&self, person: Person) {
        self.shared.change(|world| world.know(&person));
    }

    /// Changes somebody's place in a conversation.
    pub fn membership(&self, chat: i64, change: Membership) -> Result<(), Unplayable> {
        self.shared.change(|world| world.membership(chat, &change))
    }

    /// A group becomes a supergroup; `told` sends both service messages.
    pub fn migrate(&self, from: i64, to: i64, told: bool) {
        self.shared.change(|world| world.migrate(from, to, told));
    }

    /// A topic opens, closes or goes away.
    pub fn topic(&self, change: TopicChange) -> Result<(), Unplayable> {
        self.shared.change(|world| world.change_topic(&change))
    }

    /// Somebody deletes a message; bots are not told.
    pub fn delete(&self, chat: i64, message: i64) -> Result<(), Unplayable> {
        self.shared.change(|world| world.remove(chat, message))
    }

    /// A person writes.
    pub fn say(&self, say: Say) -> Result<Said, Unplayable> {
        self.shared.change(|world| world.say(&say))
    }

    /// A person presses a button.
    pub fn press(&self, press: PressButton) -> Result<Pressed, Unplayable> {
        self.shared.change(|world| world.press(&press))
    }

    /// Puts a file on the file host; its id goes into [`crate::Media::file_id`].
    pub fn file(&self, name: &str, mime: &str, bytes: impl Into<Bytes>) -> String {
        let content = Content::Bytes(bytes.into());
        self.shared.change(|world| world.files.add(Some(name.into()), Some(mime.into()), content).id)
    }

    /// An update as it is, of any kind; its id is set and returned.
    pub fn update(&self, update: serde_json::Value) -> Result<i64, Unplayable> {
        self.shared.change(|world| world.raw_update(None, update))
    }

    /// Old updates come once more, whatever offset is asked for; how many were found.
    pub fn replay(&self, ids: &[i64]) -> usize {
        self.shared.change(|world| world.replay(None, ids)).unwrap_or(0)
    }

    /// The next update has this number, as after a quiet week.
    pub fn reset_updates(&self, next: i64) {
        // without a bot there are no updates either
        let _ = self.shared.change(|world| world.reset_updates(None, next));
    }

    /// Adds a fault.
    pub fn fault(&self, rule: Rule) {
        self.shared.change(|world| world.faults.push(Armed::new(rule)));
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.shared.change(|world| world.faults.clear());
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.shared.change(|world| world.clock.advance(by));
    }

    /// Milliseconds since 1970, of the server's clock.
    pub fn now_ms(&self) -> i64 {
        self.shared.look(|world| world.now_ms())
    }

    /// Puts the rate limits in force or not.
    pub fn rates(&self, on: bool) {
        self.shared.change(|world| world.set_rates(on));
    }

    /// Turns privacy mode off (`true`) or on, for all bots.
    pub fn reads_all_group_messages(&self, all: bool) {
        self.shared.change(|world| world.bots.iter_mut().for_each(|bot| bot.reads_all = all));
    }

    /// Looks at what was seen. The server stands still meanwhile: `look` must not call it.
    pub fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.shared.look(|world| look(&world.state))
    }

    /// A copy of what was seen.
    pub fn state(&self) -> State {
        self.look(State::clone)
    }

    /// Requests no careful client sends.
    pub fn violations(&self) -> Vec<Violation> {
        self.look(|state| state.violations.clone())
    }

    /// Waits until something is seen; looks again after every change, never in between. The server stands still while
    /// `seen` looks, so it must not call it.
    pub async fn wait_for<T>(
        &self,
        what: &str,
        within: Duration,
        mut seen: impl FnMut(&State) -> Option<T>,
    ) -> Result<T, Late> {
        let mut changes = self.shared.changes();
        let wait = async {
            loop {
                if let Some(found) = self.look(&mut seen) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::time::timeout(within, wait).await.map_err(|_| self.late(what, within))
    }

    fn late(&self, what: &str, within: Duration) -> Late {
        self.look(|state| {
            let line = |r: &crate::state::Recorded| {
                let (status, refused) = (r.status, r.refused.as_deref().unwrap_or_default());
                format!("  {} {} {} -> {status:?} {refused}", r.number, r.method, r.fields)
            };
            let mut last: Vec<String> = state.requests.iter().rev().take(15).map(line).collect();
            last.reverse();
            let violations = &state.violations;
            Late(format!(
                "{what}: not within {within:?}; the last requests:\n{}\nviolations: {violations:?}",
                last.join("\n")
            ))
        })
    }
}
