//! `reload`: a new generation on the running host.

use crate::cli::Reload;
use crate::out::Failure;
use crate::place::Setting;
use crate::show::record_line;
use serde_json::json;

pub(crate) async fn run(args: &Reload, setting: &Setting) -> Result<u8, Failure> {
    let request = json!({
        "owners": args.owners,
        "full": args.full,
        "force": args.force,
        "no_wait": args.no_wait,
        "requested_by": null,
    });
    let answer = setting.require(&args.live.dir, "reload", request).await?;
    answer.print("reload", &setting.out, |body| match &body["record"] {
        record if record.is_object() => format!("{}\n", record_line(record)),
        _ if body["ok"] == true => "reload requested\n".into(),
        _ => String::new(),
    })
}
