//! Server-sent events with a bound on what one line and one event may hold.

use super::NetError;
use bytes::Bytes;
use eventsource_stream::{EventStreamError, Eventsource};
use futures::stream::{BoxStream, Stream, StreamExt};

/// Longest line taken.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Longest event taken.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// The `data` of each event of a byte stream. The parser keeps a line until it ends, so both limits are checked
/// before it sees a byte.
pub fn data_events<S>(bytes: S) -> BoxStream<'static, Result<String, NetError>>
where
    S: Stream<Item = Result<Bytes, NetError>> + Send + 'static,
{
    let mut gauge = Gauge::default();
    let capped = bytes.map(move |chunk| chunk.and_then(|chunk| gauge.pass(chunk)));
    capped.eventsource().map(|event| event.map(|e| e.data).map_err(net_error)).boxed()
}

fn net_error(e: EventStreamError<NetError>) -> NetError {
    match e {
        EventStreamError::Transport(e) => e,
        EventStreamError::Utf8(_) => NetError::Broken("not UTF-8".into()),
        EventStreamError::Parser(_) => NetError::Broken("not an event stream".into()),
    }
}

#[derive(Default)]
struct Gauge {
    line: usize,
    event: usize,
    /// After `\r` a `\n` belongs to the same line end.
    after_cr: bool,
}

impl Gauge {
    fn pass(&mut self, chunk: Bytes) -> Result<Bytes, NetError> {
        for byte in &chunk {
            self.count(*byte);
            if self.line > MAX_LINE_BYTES {
                return Err(NetError::TooLarge { what: "line", limit: MAX_LINE_BYTES });
            }
            if self.event > MAX_EVENT_BYTES {
                return Err(NetError::TooLarge { what: "event", limit: MAX_EVENT_BYTES });
            }
        }
        Ok(chunk)
    }

    fn count(&mut self, byte: u8) {
        let line_end = byte == b'\r' || (byte == b'\n' && !self.after_cr);
        if line_end && self.line == 0 {
            self.event = 0;
        }
        if matches!(byte, b'\r' | b'\n') {
            self.line = 0;
        } else {
            self.line += 1;
            self.event += 1;
        }
        self.after_cr = byte == b'\r';
    }
}
