//! A bot whose model is a strict server on the loopback address.

use crate::TestBot;
use fake_anthropic::FakeAnthropic;
use fake_openai::{FakeOpenAi, Handle, Recorded, Script, Turn};
use std::net::SocketAddr;
use tokio::runtime::Runtime;

/// The key the bot sends; it must never be seen anywhere else.
pub const KEY: &str = "sk-test-4f1d9a77c0be4b1e";

/// Which format the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Chat completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

/// The server; ended when dropped.
pub struct Served {
    provider: Provider,
    addr: SocketAddr,
    handle: Handle,
    _runtime: Runtime,
}

impl Served {
    /// A server that plays these turns.
    pub fn start(turns: Vec<Turn>) -> Self {
        Self::start_with(Script { key: Some(KEY.into()), turns, ..Script::default() })
    }

    /// A server with a whole script.
    pub fn start_with(script: Script) -> Self {
        Self::of_with(Provider::OpenAi, script)
    }

    /// A server of this format that plays these turns.
    pub fn of(provider: Provider, turns: Vec<Turn>) -> Self {
        Self::of_with(provider, Script { key: Some(KEY.into()), turns, ..Script::default() })
    }

    /// A server of the messages format that plays these turns.
    pub fn messages(turns: Vec<Turn>) -> Self {
        Self::of(Provider::Anthropic, turns)
    }

    /// A server of this format with a whole script.
    pub fn of_with(provider: Provider, script: Script) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let started = match provider {
            Provider::OpenAi => runtime.block_on(FakeOpenAi::start(script)),
            Provider::Anthropic => runtime.block_on(FakeAnthropic::start(script)),
        };
        let (addr, handle) = started.expect("a listener");
        Self { provider, addr, handle, _runtime: runtime }
    }

    /// The same server with further turns.
    pub fn then(&self, turns: Vec<Turn>) {
        self.handle.set_script(Script { key: Some(KEY.into()), turns, ..Script::default() });
    }

    /// What it was asked.
    pub fn requests(&self) -> Vec<Recorded> {
        self.handle.requests()
    }

    /// What it was asked, and forgets it.
    pub fn take_requests(&self) -> Vec<Recorded> {
        let taken = self.handle.requests();
        self.handle.forget();
        taken
    }

    /// Where its API is.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    /// A bot that talks to it; `more` are further lines of `bot.toml`.
    pub fn bot(&self, more: &str) -> TestBot {
        let bot = TestBot::new().write(".env", &format!("MODEL_KEY={KEY}\n"));
        self.configure(&bot, more);
        bot
    }

    /// Makes a bot talk to it.
    pub fn configure(&self, bot: &TestBot, more: &str) {
        bot.put("bot.toml", &format!("{more}\n{}", self.model("default")));
    }

    /// The section of `bot.toml` for it; further keys of the model may follow.
    pub fn model(&self, name: &str) -> String {
        let provider = match self.provider {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
        };
        format!(
            "[models.{name}]\nprovider = \"{provider}\"\nmodel = \"any\"\napi_key = \"${{MODEL_KEY}}\"\n\
             base_url = \"{}\"\n",
            self.base_url()
        )
    }
}
