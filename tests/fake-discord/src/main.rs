//! The server as a program, on loopback only.

use anyhow::Context;
use clap::Parser;
use fake_discord::{FakeDiscord, Options, Time};

/// A strict Discord for trying a bot without an account.
#[derive(Parser)]
struct Arguments {
    /// Port on the loopback address; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Token the bot must show.
    #[arg(long)]
    token: Option<String>,
    /// The portal withholds the message content intent: an identify that asks for it is closed with 4014.
    #[arg(long)]
    no_message_content: bool,
    /// Time stands still at these Unix milliseconds until `/__clock` moves it.
    #[arg(long)]
    frozen_at: Option<u64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut options = Options { message_content: !arguments.no_message_content, ..Options::default() };
    if let Some(token) = arguments.token {
        options.token = token;
    }
    if let Some(at_ms) = arguments.frozen_at {
        options.time = Time::Frozen(at_ms);
    }
    let server = FakeDiscord::start_with(options, arguments.port).await.context("cannot start")?;
    println!("api_url = \"{}\"", server.api_url());
    println!("gateway_url = \"{}\"", server.gateway_url());
    println!("token = \"{}\"", server.token());
    server.wait().await;
    Ok(())
}
