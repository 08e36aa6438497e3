//! The server as a program: it prints its address, reads a script and answers over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn post(addr: &str, body: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(addr)?;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
        anthropic-version: 2023-06-01";
    write!(socket, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn it_prints_its_address_and_plays_a_script() {
    let script = std::env::temp_dir().join(format!("fake-anthropic-{}.json", std::process::id()));
    let turns = r#"{"turns": [{"text": "from the script"}, {"fault": {"kind": "status", "status": 529}}]}"#;
    std::fs::write(&script, turns).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-anthropic"))
        .arg("--script")
        .arg(&script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let _running = Running(child);
    let addr = line.trim().trim_start_matches("base_url = \"http://").trim_end_matches("/v1\"");
    assert!(addr.starts_with("127.0.0.1:"), "{line}");
    let body = r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi there"}]}"#;
    assert!(post(addr, body).unwrap().contains("from the script"));
    let busy = post(addr, body).unwrap();
    assert!(busy.starts_with("HTTP/1.1 529") && busy.contains("overloaded_error"), "{busy}");
    assert!(post(addr, body).unwrap().contains("You said: hi there"));
    let streamed = post(addr, &body.replace("\"model\"", "\"stream\": true, \"model\"")).unwrap();
    assert!(streamed.contains("text/event-stream") && streamed.contains("event: message_stop"), "{streamed}");
    let refused = post(addr, &body.replace("\"user\"", "\"assistant\"")).unwrap();
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("invalid_request_error"), "{refused}");
    std::fs::remove_file(&script).unwrap();
}
