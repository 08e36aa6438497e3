//! Where a command finds its bot: a running host of that data folder, else one in this process.

use crate::answer::Answer;
use crate::client::Client;
use crate::out::{Failure, Out, REFUSED};
use crate::progress::{Step, during};
use crate::signals::Signals;
use host::app::{self, Host, HostOptions, StoreKind};
use host::config::{Env, LogLevel};
use host::task::SharedClock;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What every command is given.
pub(crate) struct Setting {
    pub(crate) out: Out,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) env: Env,
    pub(crate) clock: SharedClock,
}

/// One command for whatever host there is.
pub(crate) struct Request<'a> {
    /// Bot folder.
    pub(crate) dir: &'a Path,
    /// Prepare from disk even when a host runs.
    pub(crate) disk: bool,
    /// The store of a host in this process.
    pub(crate) store: StoreKind,
    /// Command word.
    pub(crate) command: &'a str,
    /// Its arguments.
    pub(crate) args: Value,
}

impl Setting {
    /// The data folder of a bot folder.
    pub(crate) fn data_of(&self, dir: &Path) -> PathBuf {
        app::data_dir(dir, self.data_dir.as_deref(), &self.env)
    }

    /// Name of whoever runs this program.
    pub(crate) fn os_user(&self) -> String {
        let user = self.env.get("USER").or_else(|| self.env.get("LOGNAME")).map(str::to_string);
        user.unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()))
    }

    /// How a host in this process is started.
    pub(crate) fn host_options(&self, dir: &Path, store: StoreKind) -> HostOptions {
        HostOptions {
            bot_dir: dir.to_path_buf(),
            data_dir: self.data_dir.clone(),
            env: self.env.clone(),
            store,
            watch: false,
            strict: false,
            log: Some(LogLevel::Error),
            socket: false,
            clock: self.clock.clone(),
            model: None,
            memory: None,
        }
    }

    /// Starts a host in this process.
    pub(crate) async fn start(&self, options: HostOptions) -> Result<Host, Failure> {
        Host::start(options).await.map_err(|e| Failure::diagnostics(REFUSED, e.diagnostics))
    }

    /// Gives the command to the running host of the folder, else to one in this process.
    pub(crate) async fn dispatch(&self, request: Request<'_>) -> Result<Answer, Failure> {
        if !request.disk {
            usable(request.dir, self.data_dir.is_some())?;
            if let Some(client) = Client::find(&self.data_of(request.dir))? {
                return self.live(&client, request.command, request.args).await;
            }
        }
        self.here(request).await
    }

    /// Gives the command to the running host; exit 3 without one.
    pub(crate) async fn require(&self, dir: &Path, command: &str, args: Value) -> Result<Answer, Failure> {
        usable(dir, true)?;
        let client = Client::require(&self.data_of(dir))?;
        self.live(&client, command, args).await
    }

    async fn live(&self, client: &Client, command: &str, args: Value) -> Result<Answer, Failure> {
        let limit = patience(command, &args);
        let work = async {
            tokio::select! {
                answer = client.command(command, args) => answer,
                () = self.until(limit) => Err(Failure::timeout("the running host did not answer in time")),
            }
        };
        let step = Step::only("waiting for the running host");
        let (exit, body) = during(&self.out, &self.clock, step, work).await?;
        Ok(Answer { exit, body })
    }

    async fn until(&self, limit: Option<Duration>) {
        match limit {
            Some(limit) => self.clock.sleep(limit).await,
            None => std::future::pending().await,
        }
    }

    async fn here(&self, request: Request<'_>) -> Result<Answer, Failure> {
        usable(request.dir, false)?;
        let mut signals = Signals::listen()?;
        // A view of the folder is refused with every finding; a host that answers leaves broken plugins out, and the
        // list of plugins shows them as failed.
        let shows_failed = request.command == "list" && request.args["kind"] == "plugins";
        let strict = request.store == StoreKind::Scratch && !shows_failed;
        let options = HostOptions { strict, ..self.host_options(request.dir, request.store) };
        let step = |label, number| Step { label, number, of: 2 };
        let starting = during(&self.out, &self.clock, step("preparing the bot folder", 1), self.start(options));
        let host = tokio::select! {
            host = starting => host?,
            caught = signals.ending() => return Err(Failure::interrupted(caught)),
        };
        if !self.out.json {
            // What makes an answer worse than it should be is said with it.
            let degraded: Vec<_> =
                host.warnings().iter().filter(|d| d.code == "bot::missing-variable").cloned().collect();
            self.out.report(&degraded);
        }
        let work = during(&self.out, &self.clock, step("working", 2), host.command(request.command, request.args));
        let answer = tokio::select! {
            (exit, body) = work => Ok(Answer { exit, body }.with_findings(host.warnings())),
            caught = signals.ending() => Err(Failure::interrupted(caught)),
        };
        tokio::select! {
            () = host.shutdown() => answer,
            caught = signals.ending() => Err(Failure::interrupted(caught)),
        }
    }
}

/// How long a running host may take. A turn, a call and a reload have limits of their own in the host.
fn patience(command: &str, args: &Value) -> Option<Duration> {
    match command {
        "call" | "reload" => None,
        "ask" => args["timeout"].as_f64().and_then(|s| Duration::try_from_secs_f64(s + 10.0).ok()),
        _ => Some(Duration::from_secs(30)),
    }
}

/// A bot folder is a folder with a `bot.toml`; with a data folder of its own a command for a running host needs none.
pub(crate) fn usable(dir: &Path, live: bool) -> Result<(), Failure> {
    let help = "a bot folder holds a bot.toml, which may be empty; `understudy new bot NAME` writes one";
    if !dir.is_dir() {
        return Err(Failure::usage_with(format!("{} is no folder", dir.display()), help));
    }
    if live || dir.join("bot.toml").exists() {
        return Ok(());
    }
    Err(Failure::usage_with(format!("{} has no bot.toml", dir.display()), help))
}
