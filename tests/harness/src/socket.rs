//! The control socket without the binary: for tests that ask a host very often.

use crate::TestBot;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// Sends one command to the running host of a bot: exit code and body.
pub fn command(bot: &TestBot, command: &str, args: &Value) -> (i64, Value) {
    let address = std::fs::read_to_string(bot.at("data/control.json")).expect("a running host");
    let address: Value = serde_json::from_str(&address).expect("an address");
    let token = std::fs::read_to_string(bot.at("data/control.token")).expect("a token");
    let body = json!({"command": command, "args": args}).to_string();
    let head = format!(
        "POST /v1/command HTTP/1.1\r\nHost: local\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        token.trim(),
        body.len()
    );
    let mut stream = UnixStream::connect(address["socket"].as_str().expect("a path")).expect("a socket");
    stream.write_all(head.as_bytes()).expect("a request");
    stream.write_all(body.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let value: Value = serde_json::from_str(body).expect("JSON");
    (value["exit"].as_i64().expect("an exit code"), value["body"].clone())
}
