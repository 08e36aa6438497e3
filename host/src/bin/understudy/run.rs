//! `run`: the host itself, until a signal.

use crate::cli::Run;
use crate::out::{Failure, OK};
use crate::place::{Setting, usable};
use crate::progress::{Step, during};
use crate::shapes;
use crate::show::{items, record_line, rows, table, word};
use crate::signals::{Caught, Signals};
use host::app::{Host, HostOptions, StoreKind};
use host::reload::Trigger;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

pub(crate) async fn run(args: &Run, setting: &Setting) -> Result<u8, Failure> {
    usable(&args.dir, false)?;
    let mut signals = Signals::listen()?;
    let lines = Lines { setting };
    lines.own("starting", Value::Null, json!({}))?;
    let options = HostOptions {
        watch: !args.no_watch,
        strict: args.strict,
        log: None,
        socket: true,
        ..setting.host_options(&args.dir, StoreKind::Disk)
    };
    let (host, ended) = match start(setting, options, &mut signals).await? {
        Started::Host(host, ended) => (host, ended),
        Started::Forced(by) => return Ok(by.exit()),
    };
    setting.out.report(host.warnings());
    if !ended && let Err(failure) = serve(&host, &lines, &mut signals).await {
        host.shutdown().await;
        return Err(failure);
    }
    stop(&host, &lines, &mut signals).await
}

enum Started {
    /// A host; whether a signal asked it to end meanwhile.
    Host(Box<Host>, bool),
    /// A second signal.
    Forced(Caught),
}

/// A start is never torn: the first signal waits for it, the second does not.
async fn start(setting: &Setting, options: HostOptions, signals: &mut Signals) -> Result<Started, Failure> {
    let work = during(&setting.out, &setting.clock, Step::only("starting"), setting.start(options));
    tokio::pin!(work);
    let mut ended = false;
    loop {
        tokio::select! {
            host = &mut work => return Ok(Started::Host(Box::new(host?), ended)),
            caught = signals.ending() => {
                if std::mem::replace(&mut ended, true) {
                    return Ok(Started::Forced(caught));
                }
            }
        }
    }
}

/// Until a signal asks the process to end.
async fn serve(host: &Host, lines: &Lines<'_>, signals: &mut Signals) -> Result<(), Failure> {
    let mut events = host.events();
    let (_, status) = host.command("status", json!({})).await;
    let data = json!({"bot": status["bot"], "endpoints": status["endpoints"], "reasons": status["reasons"]});
    lines.own("ready", status["generation"]["active"].clone(), data)?;
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) => lines.of_host(event)?,
                Err(RecvError::Lagged(n)) => lines.setting.out.note(&format!("{n} events were not shown")),
                Err(RecvError::Closed) => return Ok(()),
            },
            caught = signals.next() => match caught {
                Caught::Hangup => {
                    if let Err(e) = host.poke(Trigger::Signal) {
                        lines.setting.out.say(&format!("no reload: {e}"));
                    }
                }
                Caught::Interrupt | Caught::Terminate => return Ok(()),
            },
        }
    }
}

/// Graceful; a second signal ends the process now.
async fn stop(host: &Host, lines: &Lines<'_>, signals: &mut Signals) -> Result<u8, Failure> {
    let mut events = host.events();
    lines.own("stopping", Value::Null, json!({}))?;
    let shutdown = host.shutdown();
    tokio::pin!(shutdown);
    let mut open = true;
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            caught = signals.ending() => return Ok(caught.exit()),
            event = events.recv(), if open => match event {
                Ok(event) => lines.of_host(event)?,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => open = false,
            },
        }
    }
    while let Ok(event) = events.try_recv() {
        lines.of_host(event)?;
    }
    lines.own("stopped", Value::Null, json!({}))?;
    Ok(OK)
}

/// What the host tells, one line per event.
struct Lines<'a> {
    setting: &'a Setting,
}

impl Lines<'_> {
    /// An event this program sees itself.
    fn own(&self, event: &str, generation: Value, data: Value) -> Result<(), Failure> {
        let at = self.setting.clock.now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        self.print(json!({"event": event, "at": at, "generation": generation, "data": data}))
    }

    /// An event of the host; its start and end are told by `own`.
    fn of_host(&self, event: Value) -> Result<(), Failure> {
        match event["event"].as_str() {
            Some("reload" | "endpoint") => self.print(event),
            _ => Ok(()),
        }
    }

    fn print(&self, event: Value) -> Result<(), Failure> {
        let out = &self.setting.out;
        if out.json {
            let mut line = crate::out::envelope("run", true, &[], event);
            shapes::complete("run", &mut line);
            return out.stdout(&format!("{line}\n"));
        }
        match text_of(&event) {
            Some(text) => out.stdout(&text),
            None => Ok(()),
        }
    }
}

fn text_of(event: &Value) -> Option<String> {
    let data = &event["data"];
    match event["event"].as_str()? {
        "ready" => {
            let mut text = format!("ready   {}   generation {}\n", word(&data["bot"]), word(&event["generation"]));
            if !items(&data["endpoints"]).is_empty() {
                let keys = ["id", "state", "detail"];
                text.push_str(&table(&["endpoint", "state", "detail"], &rows(&data["endpoints"], &keys)));
            }
            Some(text)
        }
        "reload" => {
            let record = if data["record"].is_object() { &data["record"] } else { data };
            let mut text = format!("{}\n", record_line(record));
            for found in items(&record["diagnostics"]) {
                let place = found["file"].as_str().map(|f| format!("{f}:{}: ", word(&found["line"])));
                let what = format!("{}[{}]", word(&found["severity"]), word(&found["code"]));
                text.push_str(&format!("  {what} {}{}\n", place.unwrap_or_default(), word(&found["message"])));
            }
            Some(text)
        }
        "endpoint" => Some(format!("endpoint {} {}\n", word(&data["id"]), word(&data["state"]))),
        "stopping" => Some("stopping\n".into()),
        "stopped" => Some("stopped\n".into()),
        _ => None,
    }
}
