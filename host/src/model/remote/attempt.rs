//! One exchange with the provider, from the request to the end of its stream.

use super::Remote;
use super::answer::{Reader, Reading};
use super::failure::{ErrorBody, Fault, classify, retry_after};
use crate::model::{ModelError, ModelEvent};
use crate::net::{NetError, data_events};
use bytes::Bytes;
use futures::channel::mpsc::Sender;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{SinkExt, StreamExt};
use plugin_sdk::CancellationSignal;
use serde_json::Value;
use std::time::Duration;

/// How long a finished answer waits for its usage.
const USAGE_GRACE: Duration = Duration::from_secs(5);
const MAX_ERROR_BYTES: usize = 64 * 1024;
const MAX_PLAIN_BYTES: usize = 8 << 20;

pub(super) type Events = Sender<Result<ModelEvent, ModelError>>;
type ByteStream = BoxStream<'static, Result<Bytes, NetError>>;

/// Runs one attempt under its deadline and the turn's cancellation.
pub(super) async fn attempt(
    model: &Remote,
    body: &Value,
    cancellation: &CancellationSignal,
    events: &mut Events,
) -> Result<Box<dyn Reader>, Fault> {
    let whole = seconds(model.config.timeout_seconds);
    tokio::select! {
        biased;
        () = cancellation.cancelled() => Err(Fault::Cancelled),
        result = exchange(model, body, events) => result,
        () = model.http.clock().sleep(whole) => Err(Fault::transient(format!("no whole answer within {} s", whole.as_secs()))),
    }
}

async fn exchange(model: &Remote, body: &Value, events: &mut Events) -> Result<Box<dyn Reader>, Fault> {
    let wait = seconds(model.config.first_byte_seconds);
    let mut first_byte = model.http.clock().sleep(wait);
    let late = || Fault::transient(format!("no answer within {} s", wait.as_secs()));
    let request = model.request(body)?;
    let response = tokio::select! {
        answer = request.send() => answer.map_err(NetError::from)?,
        () = &mut first_byte => return Err(late()),
    };
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|v| v.to_str().ok());
    let wait_for = header("retry-after").and_then(|v| retry_after(v, model.http.clock().now()));
    let plain = header("content-type").is_some_and(|t| t.starts_with("application/json"));
    let mut bytes: ByteStream = response.bytes_stream().map(|c| c.map_err(NetError::from)).boxed();
    if status != 200 {
        let body = ErrorBody::read(&take(&mut bytes, MAX_ERROR_BYTES).await.0);
        return Err(classify(status, &body, wait_for, &model.secrets()));
    }
    let first = tokio::select! {
        first = bytes.next() => first,
        () = &mut first_byte => return Err(late()),
    };
    let bytes: ByteStream = futures::stream::iter(first).chain(bytes).boxed();
    if plain { whole_answer(model, bytes, events).await } else { streamed(model, bytes, events).await }
}

async fn streamed(model: &Remote, bytes: ByteStream, events: &mut Events) -> Result<Box<dyn Reader>, Fault> {
    let mut data = data_events(bytes);
    let mut answer = model.wire.reader();
    let mut grace: Option<BoxFuture<'static, ()>> = None;
    while answer.reading() != Reading::Ended {
        let next = match &mut grace {
            None => data.next().await,
            Some(over) => tokio::select! { next = data.next() => next, () = over => None },
        };
        match next {
            Some(Ok(event)) => {
                let text = answer.take(&event, &model.secrets())?;
                show(text, events).await?;
            }
            // After the finish only a count could still come: not worth a second bill.
            Some(Err(_)) if answer.reading() == Reading::Finished => break,
            Some(Err(e)) => return Err(e.into()),
            None => break,
        }
        if answer.reading() == Reading::Finished && grace.is_none() {
            grace = Some(model.http.clock().sleep(USAGE_GRACE));
        }
    }
    if answer.reading() != Reading::Open {
        Ok(answer)
    } else {
        Err(Fault::transient("the stream ended before the answer"))
    }
}

/// An answer in one piece: some servers do not stream.
async fn whole_answer(model: &Remote, mut bytes: ByteStream, events: &mut Events) -> Result<Box<dyn Reader>, Fault> {
    let (body, cut) = take(&mut bytes, MAX_PLAIN_BYTES).await;
    if let Some(e) = cut {
        return Err(e.into());
    }
    let text = String::from_utf8(body).map_err(|_| Fault::transient("an answer that is not UTF-8"))?;
    let mut answer = model.wire.reader();
    let said = answer.take(&text, &model.secrets())?;
    show(said, events).await?;
    if answer.reading() != Reading::Open { Ok(answer) } else { Err(Fault::transient("an answer without a choice")) }
}

async fn show(text: String, events: &mut Events) -> Result<(), Fault> {
    if text.is_empty() {
        return Ok(());
    }
    // The receiver is only gone when nobody waits for this step any more.
    events.send(Ok(ModelEvent::Text(text))).await.map_err(|_| Fault::Cancelled)
}

async fn take(bytes: &mut ByteStream, limit: usize) -> (Vec<u8>, Option<NetError>) {
    let mut out = Vec::new();
    while let Some(chunk) = bytes.next().await {
        match chunk {
            Ok(chunk) => out.extend_from_slice(&chunk),
            Err(e) => return (out, Some(e)),
        }
        if out.len() > limit {
            out.truncate(limit);
            return (out, Some(NetError::TooLarge { what: "body", limit }));
        }
    }
    (out, None)
}

fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX / 4)
}
