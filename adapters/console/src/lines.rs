//! Input that is no terminal: each line is a message.

use crate::Input;
use std::io::{BufRead, Read};
use tokio::sync::mpsc::UnboundedSender;

/// Longest line read; the rest of a longer one is the next message.
const LINE_MAX: u64 = 1 << 20;

/// One message, then the end.
pub(crate) fn once(text: String, tx: UnboundedSender<Input>) {
    // A closed receiver means the host is gone; there is nobody left to tell.
    if tx.send(Input::Line(text)).is_ok() {
        drop(tx.send(Input::End));
    }
}

/// Reads standard input on a thread of its own, because a blocked read cannot be cancelled.
pub(crate) fn spawn(tx: UnboundedSender<Input>) {
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        let mut input = stdin.lock();
        loop {
            let mut bytes = Vec::new();
            match input.by_ref().take(LINE_MAX).read_until(b'\n', &mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&bytes);
            if tx.send(Input::Line(text.trim_end_matches(['\r', '\n']).to_string())).is_err() {
                return;
            }
        }
        drop(tx.send(Input::End));
    });
}
