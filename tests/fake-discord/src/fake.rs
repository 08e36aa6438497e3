//! The server as tests use it.

use crate::act::{Act, Press, Say, Slash};
use crate::fault::Fault;
use crate::id::Id;
use crate::log::Violation;
use crate::options::Options;
use crate::seed;
use crate::server::{self, Shared, Started};
use crate::state::State;
use crate::tls::Tls;
use axum::Router;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinHandle;

/// A running server; dropping it ends it.
pub struct FakeDiscord {
    addr: SocketAddr,
    shared: Shared,
    app: Router,
    task: JoinHandle<()>,
}

/// What was waited for did not come; holds what was there instead.
pub struct NotSeen(Box<State>);

impl NotSeen {
    /// The last state.
    pub fn state(&self) -> &State {
        &self.0
    }
}

impl fmt::Display for NotSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "not seen in time; the last requests were:")?;
        for request in self.0.requests.iter().rev().take(10).rev() {
            writeln!(f, "  {} {} -> {} {}", request.method, request.path, request.status, request.body)?;
        }
        writeln!(f, "violations: {:#?}\ngateway: {:?}", self.0.violations, self.0.gateway)
    }
}

impl fmt::Debug for NotSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotSeen {}

impl FakeDiscord {
    /// Starts on a free loopback port, with time running.
    pub async fn start() -> io::Result<Self> {
        Self::start_with(Options::default(), 0).await
    }

    /// Starts with settings of its own; port 0 takes a free one.
    pub async fn start_with(options: Options, port: u16) -> io::Result<Self> {
        let Started { addr, shared, app, task } = server::start(options, port).await?;
        Ok(Self { addr, shared, app, task })
    }

    /// The base that serenity's `HttpBuilder::proxy` takes: `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// What replaces `https://discord.com/api`.
    pub fn api_url(&self) -> String {
        format!("{}/api", self.url())
    }

    /// The WebSocket that `/gateway` names.
    pub fn gateway_url(&self) -> String {
        self.shared.look(|world| world.gateway_url())
    }

    /// The same server behind TLS, as `discord.com`.
    pub async fn tls(&self) -> io::Result<Tls> {
        Tls::start(self.app.clone()).await
    }

    /// Token of the bot.
    pub fn token(&self) -> String {
        self.shared.look(|world| world.options.token.clone())
    }

    /// Does an action; gives the id of what it made or changed, or why it cannot be.
    pub fn act(&self, act: Act) -> Result<Id, String> {
        self.shared.change(|world| world.act(act))
    }

    /// Somebody writes; gives the message.
    pub fn say(&self, say: Say) -> Result<Id, String> {
        self.act(Act::Say(say))
    }

    /// Somebody presses a button; gives the interaction.
    pub fn press(&self, user: Id, channel: Id, message: Id, custom_id: &str) -> Result<Id, String> {
        let (values, stale) = (Vec::new(), false);
        self.act(Act::Press(Press { user, channel, message, custom_id: custom_id.into(), values, stale }))
    }

    /// Somebody uses a slash command; gives the interaction.
    pub fn slash(&self, slash: Slash) -> Result<Id, String> {
        self.act(Act::Slash(slash))
    }

    /// Loads a fault.
    pub fn fault(&self, fault: impl Into<Fault>) {
        let fault = fault.into();
        self.shared.change(|world| world.load(fault));
    }

    /// Unloads all faults.
    pub fn clear_faults(&self) {
        self.shared.change(|world| world.faults = Default::default());
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.shared.clock().advance(by);
        self.shared.changed();
    }

    /// Stops the clock, or lets it run on.
    pub fn freeze(&self, frozen: bool) {
        self.shared.clock().freeze(frozen);
        self.shared.changed();
    }

    /// What there is now.
    pub fn state(&self) -> State {
        self.shared.look(State::of)
    }

    /// What a real server would have refused.
    pub fn violations(&self) -> Vec<Violation> {
        self.shared.look(|world| world.log.violations.clone())
    }

    /// Gives the violations and forgets them: for a test that provokes some.
    pub fn take_violations(&self) -> Vec<Violation> {
        self.shared.change(|world| std::mem::take(&mut world.log.violations))
    }

    /// Returns the first state that fits. It looks whenever something has changed, so quick changes may pass between
    /// two looks: wait for what stays (a message, a count), not for what passes. The deadline is real time.
    pub async fn wait_for(&self, fits: impl Fn(&State) -> bool, deadline: Duration) -> Result<State, NotSeen> {
        let mut changes = self.shared.changes();
        let seen = async {
            loop {
                changes.borrow_and_update();
                let state = self.state();
                // the sender lives as long as this server, so waiting cannot fail
                if fits(&state) || changes.changed().await.is_err() {
                    return state;
                }
            }
        };
        tokio::time::timeout(deadline, seen).await.map_err(|_| NotSeen(Box::new(self.state())))
    }

    /// Waits until a session of the bot is there.
    pub async fn wait_ready(&self, deadline: Duration) -> Result<State, NotSeen> {
        self.wait_for(|state| state.gateway.ready > 0, deadline).await
    }

    /// Waits until the server ends.
    pub async fn wait(mut self) {
        let _ = (&mut self.task).await;
    }

    /// The account of the bot.
    pub fn bot(&self) -> Id {
        seed::BOT
    }
}

impl Drop for FakeDiscord {
    fn drop(&mut self) {
        self.shared.look(|world| world.gateway.shut());
        self.task.abort();
    }
}
