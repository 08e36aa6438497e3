//! The `understudy` program: arguments in, one command, an exit code out. It holds no rule of its own.

mod answer;
mod ask;
mod attach;
mod call;
mod chat;
mod check;
mod cli;
mod client;
mod completions;
mod diff;
mod doctor;
mod explain;
mod generations;
mod list;
mod new;
mod out;
mod place;
mod progress;
mod reload;
mod run;
mod schema;
mod shapes;
mod show;
mod signals;
mod status;
mod test;

use clap::Parser;
use clap::error::ErrorKind;
use cli::{Cli, Command};
use host::config::Env;
use host::task::SystemClock;
use out::{Failure, Out};
use place::Setting;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Duration;

/// How long blocking work may still run once the command has ended.
const LINGER: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    quiet_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(refuse(&error)),
    };
    let out = Out { json: cli.global.json, quiet: cli.global.quiet };
    let name = cli.command.name();
    // A panic that no guard caught reaches this place; its text may hold anything and is not shown.
    let result = catch_unwind(AssertUnwindSafe(|| execute(cli)))
        .unwrap_or_else(|_| Err(Failure::internal("the program failed inside; nothing more was done")));
    ExitCode::from(result.unwrap_or_else(|failure| out.fail(name, &failure)))
}

/// Runs the command on a runtime of its own.
fn execute(cli: Cli) -> Result<u8, Failure> {
    // The provider is chosen here, before the first connection; a second choice cannot happen.
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::internal(format!("no runtime: {e}")))?;
    let result = runtime.block_on(dispatch(cli));
    runtime.shutdown_timeout(LINGER);
    result
}

async fn dispatch(cli: Cli) -> Result<u8, Failure> {
    let setting = Setting {
        out: Out { json: cli.global.json, quiet: cli.global.quiet },
        data_dir: cli.global.data_dir,
        env: Env::of_process(),
        clock: SystemClock::shared(),
    };
    match cli.command {
        Command::New(args) => new::run(&args, &setting.out),
        Command::Run(args) => run::run(&args, &setting).await,
        Command::Chat(args) => chat::run(&args, &setting).await,
        Command::Ask(args) => ask::run(&args, &setting).await,
        Command::Check(args) => check::run(&args, &setting).await,
        Command::List(args) => list::run(&args, &setting).await,
        Command::Explain(args) => explain::run(&args, &setting).await,
        Command::Call(args) => call::run(&args, &setting).await,
        Command::Test(args) => test::run(&args, &setting).await,
        Command::Reload(args) => reload::run(&args, &setting).await,
        Command::Generations(args) => generations::run(&args, &setting).await,
        Command::Status(args) => status::run(&args, &setting).await,
        Command::Diff(args) => diff::run(&args, &setting).await,
        Command::Doctor(args) => doctor::run(&args, &setting).await,
        Command::Schema(args) => schema::run(&args, &setting.out),
        Command::Completions(args) => completions::run(&args, &setting.out),
    }
}

/// One sentence per panic, without its text; a guard may still catch it and go on.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        use std::io::Write;
        let place = info.location().map(|l| {
            let file = l.file().rsplit_once("/src/").map_or(l.file(), |(_, inner)| inner);
            format!(" at {file}:{}", l.line())
        });
        let line = format!("understudy: internal error{}; please report it\n", place.unwrap_or_default());
        drop(std::io::stderr().lock().write_all(line.as_bytes()));
    }));
}

/// Help and version go to stdout with exit 0; every other parse result is wrong usage.
fn refuse(error: &clap::Error) -> u8 {
    let words: Vec<String> =
        std::env::args_os().skip(1).take_while(|a| a != "--").map(|a| a.to_string_lossy().into_owned()).collect();
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let json = words.iter().any(|w| w == "--json");
    if asked || !json {
        // A closed stream changes nothing about the exit code.
        drop(error.print());
        return if asked { out::OK } else { out::USAGE };
    }
    let name = words.iter().find_map(|w| cli::COMMANDS.iter().find(|c| **c == w.as_str())).copied().unwrap_or("cli");
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let message = lines.next().unwrap_or("wrong usage").trim_start_matches("error: ").to_string();
    let rest: Vec<&str> = lines.collect();
    let out = Out { json: true, quiet: true };
    out.fail(name, &Failure::usage_with(message, rest.join("; ")))
}
