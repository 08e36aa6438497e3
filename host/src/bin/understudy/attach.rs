//! This terminal at a running host: the console's messages go over, what the host sends comes back.

use crate::client::Client;
use crate::out::{Failure, OK};
use crate::signals::Signals;
use host::admin::wire::{Delivered, FromClient, FromHost, Hello, LINE_MAX};
use plugin_sdk::{AdapterInfo, Connection, ConversationRef, Inbound, SendError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// Talks until the person or the host ends it.
pub(crate) async fn run(
    client: &Client,
    (key, info, place): (String, AdapterInfo, ConversationRef),
    console: &Connection,
    (signals, terminal): (&mut Signals, bool),
) -> Result<u8, Failure> {
    let (read, mut write) = tokio::io::split(client.upgrade("/v1/chat", "understudy-chat").await?);
    put(&mut write, &FromClient::Hello(Box::new(Hello { info, key, place: Some(place) }))).await?;
    let showing = show(BufReader::new(read), console);
    let typing = typed(&mut write, console);
    tokio::pin!(showing, typing);
    let (mut typed_all, mut ended) = (false, false);
    loop {
        tokio::select! {
            // the host closes the stream when everything is dealt with
            shown = &mut showing => return match (shown?, typed_all) {
                (Left::Quietly, true) => Ok(OK),
                _ => Err(Failure::no_host("the host has ended")),
            },
            sent = &mut typing, if !typed_all => {
                sent?;
                typed_all = true;
            }
            caught = signals.leaving(terminal) => {
                if std::mem::replace(&mut ended, true) {
                    return Ok(caught.exit());
                }
                console.receive.stop().await;
                if !typed_all {
                    // what still runs goes on at the host; this terminal has nothing more to wait for
                    return Ok(OK);
                }
            }
        }
    }
}

/// How the host left.
enum Left {
    /// It closed the stream.
    Quietly,
    /// It said that it ends.
    Bye,
}

async fn put(write: &mut (impl AsyncWrite + Unpin), line: &FromClient) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(line).map_err(|e| Failure::internal(e.to_string()))?;
    text.push(b'\n');
    write.write_all(&text).await.map_err(|_| Failure::no_host("the host does not answer any more"))
}

/// Sends every message of the console, then says that there are no more.
async fn typed(write: &mut (impl AsyncWrite + Unpin), console: &Connection) -> Result<(), Failure> {
    while let Some(delivery) = console.receive.next().await {
        let message = match delivery.event {
            Inbound::Message(message) => message,
            Inbound::Closed => break,
            _ => continue,
        };
        let line = Delivered { event_key: delivery.event_key, token: delivery.token, message };
        put(write, &FromClient::Message(Box::new(line))).await?;
        console.receive.accept(delivery.token).await;
    }
    put(write, &FromClient::Closed).await
}

/// Shows every line of the host until it closes the stream.
async fn show(mut reader: impl AsyncBufRead + Unpin, console: &Connection) -> Result<Left, Failure> {
    let mut left = Left::Quietly;
    loop {
        let mut bytes = Vec::new();
        let read = (&mut reader).take(LINE_MAX as u64).read_until(b'\n', &mut bytes).await;
        if !matches!(read, Ok(n) if n > 0) {
            return Ok(left);
        }
        let line = serde_json::from_slice(&bytes).map_err(|e| Failure::protocol(format!("a line of the host: {e}")))?;
        let shown = match line {
            FromHost::Send(piece) => console.send.send(*piece).await.map(drop),
            FromHost::Draft(draft) => console.edit.draft(draft).await,
            FromHost::Typing { conversation, label } => console.edit.typing(&conversation, label.as_deref()).await,
            FromHost::Settled(settled) => console.edit.settled(settled).await,
            FromHost::Bye => {
                left = Left::Bye;
                Ok(())
            }
        };
        // a reader of this terminal's output that left early is the end of the conversation
        if let Err(SendError::Permanent(why)) = shown {
            return Err(Failure::refused(why));
        }
    }
}
