//! From the chunks of an answer to the bytes of a connection, with what goes wrong on the way.

use crate::fault::Fault;
use axum::body::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use std::io;
use std::time::Duration;

pub(crate) type Chunks = BoxStream<'static, Result<Bytes, io::Error>>;

/// How an answer is sent.
pub(crate) struct Sending<'a> {
    pub(crate) fault: Option<&'a Fault>,
    pub(crate) split: Option<usize>,
    pub(crate) latency: Duration,
    pub(crate) stream_error: String,
}

pub(crate) fn send(chunks: Vec<String>, how: &Sending<'_>) -> Chunks {
    let chunks: Vec<Bytes> = match how.split {
        None => chunks.into_iter().map(Bytes::from).collect(),
        Some(size) => {
            let all = Bytes::from(chunks.concat());
            let at = (0..all.len()).step_by(size.max(1));
            at.map(|i| all.slice(i..(i + size.max(1)).min(all.len()))).collect()
        }
    };
    paced(with_fault(chunks, how), how.latency)
}

fn with_fault(mut chunks: Vec<Bytes>, how: &Sending<'_>) -> Chunks {
    let sent = |chunks: Vec<Bytes>| stream::iter(chunks.into_iter().map(Ok));
    // An error ends the connection without the end of the body.
    let cut = || stream::iter([Err(io::Error::other("cut"))]);
    match how.fault {
        Some(Fault::Cut { after }) => {
            chunks.truncate(*after);
            sent(chunks).chain(cut()).boxed()
        }
        Some(Fault::CutBytes { after }) => {
            let all = Bytes::from(chunks.concat());
            sent(vec![all.slice(..(*after).min(all.len()))]).chain(cut()).boxed()
        }
        Some(Fault::End { after }) => {
            chunks.truncate(*after);
            sent(chunks).boxed()
        }
        Some(Fault::Hang { after: Some(after) }) => {
            chunks.truncate(*after);
            sent(chunks).chain(stream::pending()).boxed()
        }
        Some(Fault::Endless { after }) => {
            let again = chunks.get(*after).cloned().unwrap_or_default();
            chunks.truncate(*after);
            sent(chunks).chain(stream::repeat_with(move || Ok(again.clone()))).boxed()
        }
        Some(Fault::StreamError { after, .. }) => {
            chunks.truncate(*after);
            chunks.push(Bytes::from(how.stream_error.clone()));
            sent(chunks).boxed()
        }
        _ => sent(chunks).boxed(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test server of its own, with real latency")]
fn paced(stream: Chunks, latency: Duration) -> Chunks {
    if latency.is_zero() {
        return stream;
    }
    stream
        .then(move |chunk| async move {
            tokio::time::sleep(latency).await;
            chunk
        })
        .boxed()
}
