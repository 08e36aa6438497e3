//! `ask`: one turn, its answer on stdout.

use crate::cli::{Ask, Subject};
use crate::out::Failure;
use crate::place::{Request, Setting};
use crate::show;
use host::app::StoreKind;
use host::config::{Language, Texts};
use serde_json::{Value, json};

pub(crate) async fn run(args: &Ask, setting: &Setting) -> Result<u8, Failure> {
    if args.text.trim().is_empty() {
        return Err(Failure::usage("the message is empty"));
    }
    if args.timeout.is_some_and(|t| !(t.is_finite() && t > 0.0)) {
        return Err(Failure::usage("--timeout is a number of seconds above 0"));
    }
    let request = Request {
        dir: &args.dir,
        disk: false,
        store: StoreKind::Disk,
        command: "ask",
        args: json!({
            "text": args.text,
            "subject": person(&args.subject, setting),
            "session": args.session,
            "approve": args.approve,
            "timeout": args.timeout,
        }),
    };
    let answer = setting.dispatch(request).await?;
    // The answer itself says nothing about its model; a person should know.
    if !setting.out.json && answer.body["model"] == "offline" {
        setting.out.note(&Texts::new(Language::En).get("offline-footer", &[]));
    }
    answer.print("ask", &setting.out, text_of)
}

fn text_of(body: &Value) -> String {
    let text = body["text"].as_str().unwrap_or_default();
    let mut out = show::clean_lines(text);
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// The person a command is for; `null` = whoever runs it.
pub(crate) fn subject(args: &Subject) -> Value {
    if args.subject.is_none() && args.scope.is_none() && args.role.is_none() && args.perms.is_empty() {
        return Value::Null;
    }
    json!({"as": args.subject, "scope": args.scope, "role": args.role, "perms": args.perms})
}

/// The person a turn or a call is made for: without `--as` the one whose chats these are, too.
pub(crate) fn person(args: &Subject, setting: &Setting) -> Value {
    let who = args.subject.clone().unwrap_or_else(|| setting.os_user());
    json!({"as": who, "scope": args.scope, "role": args.role, "perms": args.perms})
}
