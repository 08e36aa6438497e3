//! The server as a program: it prints its address, reads options and answers over HTTP.

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

fn post(addr: &str, path: &str, body: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(addr)?;
    let head = "HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json";
    write!(socket, "POST {path} {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn it_prints_its_address_and_serves_the_bots_of_its_options() {
    let options = std::env::temp_dir().join(format!("fake-telegram-{}.json", std::process::id()));
    let token = "912345678901:AAFakeTokenOfTheProgramTest_000000000000";
    let text = format!(r#"{{"rates": false, "bots": [{{"token": "{token}", "username": "other", "name": "Other"}}]}}"#);
    std::fs::write(&options, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fake-telegram"))
        .arg("--options")
        .arg(&options)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let _running = Running(child);
    let line = lines.next().unwrap().unwrap();
    let addr = line.trim_start_matches("api_url = \"http://").trim_end_matches('"');
    assert!(addr.starts_with("127.0.0.1:"), "{line}");
    assert_eq!(lines.next().unwrap().unwrap(), format!("token = \"{token}\""));
    assert!(post(addr, "/__say", r#"{"text": "hi there"}"#).unwrap().contains("\"message_id\":1"));
    let updates = post(addr, &format!("/bot{token}/getUpdates"), "{}").unwrap();
    assert!(updates.contains("hi there") && updates.contains("7012345678901"), "{updates}");
    let sent = r#"{"chat_id": 7012345678901, "text": "hello"}"#;
    assert!(post(addr, &format!("/bot{token}/sendMessage"), sent).unwrap().starts_with("HTTP/1.1 200"));
    assert!(post(addr, "/bot1:x/getMe", "{}").unwrap().starts_with("HTTP/1.1 404"));
    std::fs::remove_file(&options).unwrap();
}
