//! `explain`: every check of one name and one person, or what a diagnostic code means.

use crate::ask::subject;
use crate::cli::Explain;
use crate::out::Failure;
use crate::place::{Request, Setting};
use host::admission::explanation_text;
use host::app::StoreKind;
use host::config::{codes, nearest};
use serde_json::{Value, json};

pub(crate) async fn run(args: &Explain, setting: &Setting) -> Result<u8, Failure> {
    if let Some(code) = &args.code {
        return explain_code(code, setting);
    }
    if args.subject.subject.is_none() {
        return Err(Failure::usage_with(
            "`explain TOOL` needs --as SUBJECT",
            "for example --as ann, --as telegram:42 --scope group, or --as telegram:group:-100:user:42",
        ));
    }
    let request = Request {
        dir: &args.place.dir,
        disk: args.place.disk,
        store: StoreKind::Scratch,
        command: "explain",
        args: json!({"tool": args.tool, "subject": subject(&args.subject)}),
    };
    let answer = setting.dispatch(request).await?;
    answer.print("explain", &setting.out, text_of)
}

fn text_of(body: &Value) -> String {
    if body["checks"].is_array() { format!("{}\n", explanation_text(body).trim_end()) } else { String::new() }
}

fn explain_code(code: &str, setting: &Setting) -> Result<u8, Failure> {
    let Some(doc) = codes::explain(code) else {
        // shared codes stand once in the table, for every kind of file
        let kind = code.split_once("::").map_or("K", |(kind, _)| kind);
        let known: Vec<String> = codes::known()
            .into_iter()
            .map(|k| match k.strip_prefix("K::") {
                Some(name) => format!("{kind}::{name}"),
                None => k,
            })
            .filter(|k| codes::explain(k).is_some())
            .collect();
        let near = nearest(code, known.iter().map(String::as_str)).map(|n| format!("did you mean `{n}`?"));
        let help = near.unwrap_or_else(|| "a code looks like `tool::unknown-key`".into());
        return Err(Failure::usage_with(format!("there is no diagnostic code `{code}`"), help));
    };
    let mut text = format!("{}\n  {}\n  fix: {}\n", doc.code, doc.meaning, doc.fix);
    if let Some(example) = &doc.example {
        text.push_str(&format!("  example: {example}\n"));
    }
    let body = serde_json::to_value(&doc).unwrap_or_default();
    setting.out.finish("explain", body, &[], &text)
}
