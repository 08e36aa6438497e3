//! A server as a program, on loopback only.

use crate::script::Script;
use crate::server::start;
use crate::wire::{BASE, Wire};
use anyhow::Context;
use clap::Parser;
use std::path::PathBuf;

/// A strict model server for trying plugins without an account.
#[derive(Parser)]
struct Arguments {
    /// Port on the loopback address; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Script of answers, JSON.
    #[arg(long)]
    script: Option<PathBuf>,
}

/// Runs a server until it is ended; prints the line for `bot.toml`.
pub async fn program(wire: impl Wire) -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let script = match &arguments.script {
        None => Script::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("{} is no script", path.display()))?
        }
    };
    let (addr, handle) = start(wire, script, arguments.port).await.context("cannot start")?;
    println!("base_url = \"http://{addr}{BASE}\"");
    handle.wait().await;
    Ok(())
}
