//! The server as a program, on loopback only.

use anyhow::Context;
use clap::Parser;
use fake_telegram::{FakeTelegram, Options};
use std::path::PathBuf;

/// A strict Telegram Bot API server for trying bots without an account.
#[derive(Parser)]
struct Arguments {
    /// Port on the loopback address; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Options, JSON.
    #[arg(long)]
    options: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let options = match &arguments.options {
        None => Options::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("{} holds no options", path.display()))?
        }
    };
    let tokens: Vec<String> = options.bots.iter().map(|bot| bot.token.clone()).collect();
    let server = FakeTelegram::with(options, arguments.port).await.context("cannot start")?;
    println!("api_url = \"{}\"", server.url());
    for token in tokens {
        println!("token = \"{token}\"");
    }
    server.wait().await;
    Ok(())
}
