//! `call`: one tool through every gate.

use crate::ask::person;
use crate::cli::Call;
use crate::out::Failure;
use crate::place::{Request, Setting};
use crate::show;
use host::app::StoreKind;
use plugin_sdk::{Diagnostic, Span};
use serde_json::{Value, json};
use std::io::Read;

/// Longest arguments read.
const INPUT_MAX: u64 = 8 << 20;

pub(crate) async fn run(args: &Call, setting: &Setting) -> Result<u8, Failure> {
    let input = input(&args.input)?;
    let request = Request {
        dir: &args.place.dir,
        disk: args.place.disk,
        store: if args.place.disk { StoreKind::Scratch } else { StoreKind::Disk },
        command: "call",
        args: json!({
            "tool": args.tool,
            "input": input,
            "subject": person(&args.subject, setting),
            "session": args.session,
            "approve": args.approve,
        }),
    };
    let answer = setting.dispatch(request).await?;
    if !setting.out.json {
        complain(&answer.body, setting);
    }
    answer.print("call", &setting.out, text_of)
}

/// The arguments: JSON text, or `-` for standard input.
fn input(argument: &str) -> Result<Value, Failure> {
    let (text, name) = if argument == "-" { (read_stdin()?, "standard input") } else { (argument.to_string(), "JSON") };
    serde_json::from_str(&text).map_err(|e| {
        let (line, column) = (u32::try_from(e.line()).unwrap_or(1), u32::try_from(e.column()).unwrap_or(1));
        let mut found = Diagnostic::error("cli::usage", format!("the arguments are no JSON: {e}"))
            .file(name)
            .span(Span { line, column, end_line: line, end_column: column + 1 })
            .help("write one JSON object, quoted for the shell: '{\"key\": \"value\"}'");
        found.source_line = text.lines().nth(line.saturating_sub(1) as usize).map(str::to_string);
        Failure::diagnostics(crate::out::USAGE, vec![found])
    })
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(INPUT_MAX + 1).read_to_string(&mut text);
    match read {
        Ok(n) if n as u64 > INPUT_MAX => Err(Failure::usage("the arguments are longer than 8 MiB")),
        Ok(_) => Ok(text),
        Err(e) => Err(Failure::usage(format!("standard input: {e}"))),
    }
}

/// Error and violations, on stderr.
fn complain(body: &Value, setting: &Setting) {
    let error = &body["error"];
    if error.is_object() {
        setting.out.say(&format!("{}: {}", show::word(&error["code"]), show::word(&error["message"])));
        for violation in show::items(&body["violations"]) {
            setting.out.say(&format!("  {}  {}", show::word(&violation["path"]), show::word(&violation["message"])));
        }
        if let Some(cause) = error["details"]["cause"].as_str() {
            setting.out.say(&format!("cause: {}", show::clean_lines(cause)));
        }
        if let Some(help) = error["help"].as_str() {
            setting.out.say(&format!("help: {help}"));
        }
    }
}

fn text_of(body: &Value) -> String {
    let mut out = show::clean_lines(body["text"].as_str().unwrap_or_default());
    if out.is_empty() && !body["data"].is_null() {
        out = serde_json::to_string_pretty(&body["data"]).unwrap_or_default();
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    if let Some(path) = body["artifact"]["path"].as_str() {
        out.push_str(&format!("artifact {path} ({} bytes)\n", show::word(&body["artifact"]["size_bytes"])));
    }
    out
}
