//! The server as a program, on loopback only.

use anyhow::Context;
use clap::Parser;
use fake_openai::{FakeOpenAi, Script};
use std::path::PathBuf;

/// A strict chat completions server for trying plugins without an account.
#[derive(Parser)]
#[command(name = "fake-openai")]
struct Arguments {
    /// Port on the loopback address; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Script of answers, JSON.
    #[arg(long)]
    script: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let script = match &arguments.script {
        None => Script::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("{} is no script", path.display()))?
        }
    };
    let (addr, handle) = FakeOpenAi::start_on(script, arguments.port).await.context("cannot listen")?;
    println!("base_url = \"http://{addr}/v1\"");
    handle.wait().await;
    Ok(())
}
