//! The server as a program, on loopback only.

use fake_openai::ChatCompletions;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    fake_model::program(ChatCompletions::default()).await
}
