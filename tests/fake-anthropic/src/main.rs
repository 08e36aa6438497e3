//! The server as a program, on loopback only.

use fake_anthropic::Messages;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    fake_model::program(Messages::default()).await
}
