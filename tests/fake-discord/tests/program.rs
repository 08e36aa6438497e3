//! The server as a program: it prints its addresses and answers.

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

#[test]
fn it_prints_its_addresses_and_answers() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-discord"));
    command.args(["--token", "a.b.c", "--frozen-at", "1772359200000", "--no-message-content"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().take(3).map(Result::unwrap).collect();
    let _running = Running(child);
    let addr = lines[0].trim_start_matches("api_url = \"http://").trim_end_matches("/api\"");
    assert!(addr.starts_with("127.0.0.1:"), "{lines:?}");
    assert_eq!(lines[1], format!("gateway_url = \"ws://{addr}/gateway\""));
    assert_eq!(lines[2], "token = \"a.b.c\"");
    let ask = |head: &str| {
        let mut socket = TcpStream::connect(addr).unwrap();
        write!(socket, "{head}\r\nhost: x\r\nuser-agent: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("GET /api/v10/gateway HTTP/1.1").contains(&format!("ws://{addr}/gateway")));
    assert!(ask("GET /api/v10/users/@me HTTP/1.1").starts_with("HTTP/1.1 401"));
    assert!(ask("GET /api/v10/users/@me HTTP/1.1\r\nauthorization: Bot a.b.c").contains("mybot"));
    assert!(ask("GET /__clock HTTP/1.1").contains("1772359200000"));
}
