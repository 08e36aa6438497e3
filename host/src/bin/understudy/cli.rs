//! The command line as typed values.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// First line of `--help`.
const ABOUT: &str = "A chat-bot host: plugins in folders, swapped while it runs";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "understudy", version = version(), about = ABOUT, propagate_version = false, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Version with the features of this build.
pub(crate) fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (features: console command)")
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress lines
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Data folder, instead of the one bot.toml names
    #[arg(long, global = true, value_name = "P")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a working example that passes `check` and `test`
    New(New),
    /// Run the host
    Run(Run),
    /// Talk to the bot in this terminal
    Chat(Chat),
    /// Ask one thing and print the answer
    Ask(Ask),
    /// Check a bot folder completely
    Check(Check),
    /// List what there is
    List(List),
    /// Why a tool is or is not offered; what a diagnostic code means
    Explain(Explain),
    /// Call one tool through every gate
    Call(Call),
    /// Run the scenario files of the bot and its plugins
    Test(Test),
    /// Rescan and swap on the running host
    Reload(Reload),
    /// Generations of the running host
    Generations(Generations),
    /// State of the running host
    Status(Status),
    /// What differs between two generations, the disk, or another folder
    Diff(Diff),
    /// Look for what would keep a bot from running here
    Doctor(Doctor),
    /// Print the JSON Schema of a format
    Schema(Schema),
    /// Print the completion script of a shell
    Completions(Completions),
}

/// The word of every command.
pub(crate) const COMMANDS: [&str; 16] = [
    "new",
    "run",
    "chat",
    "ask",
    "check",
    "list",
    "explain",
    "call",
    "test",
    "reload",
    "generations",
    "status",
    "diff",
    "doctor",
    "schema",
    "completions",
];

impl Command {
    /// Its word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::New(_) => "new",
            Command::Run(_) => "run",
            Command::Chat(_) => "chat",
            Command::Ask(_) => "ask",
            Command::Check(_) => "check",
            Command::List(_) => "list",
            Command::Explain(_) => "explain",
            Command::Call(_) => "call",
            Command::Test(_) => "test",
            Command::Reload(_) => "reload",
            Command::Generations(_) => "generations",
            Command::Status(_) => "status",
            Command::Diff(_) => "diff",
            Command::Doctor(_) => "doctor",
            Command::Schema(_) => "schema",
            Command::Completions(_) => "completions",
        }
    }
}

/// Kinds of `new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    Bot,
    Plugin,
    Tool,
    Skill,
    Agent,
    Section,
    Hook,
    Command,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct New {
    /// What to write
    pub(crate) kind: NewKind,
    /// Its folder name
    pub(crate) name: String,
    /// Folder to write into: a bot or plugin folder, for `bot` any folder
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// How its tool runs
    #[arg(long, value_name = "R", default_value = "command", value_parser = ["command"])]
    pub(crate) runtime: String,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Bot folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Reload only on request
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// Do not start with a broken plugin
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Bot folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Talk as somebody else: a console user's name, PLATFORM:ID, or PLATFORM[/ENDPOINT]:SCOPE:SCENE[#THREAD]:user:ID
    #[arg(long = "as", value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// No colours, no line editor
    #[arg(long)]
    pub(crate) plain: bool,
    /// Send this one message and exit
    #[arg(long, value_name = "TEXT")]
    pub(crate) once: Option<String>,
}

/// Who a call is for.
#[derive(Debug, Clone, Args)]
pub(crate) struct Subject {
    /// A console user's name, PLATFORM:ID, or PLATFORM[/ENDPOINT]:SCOPE:SCENE[#THREAD]:user:ID
    #[arg(long = "as", value_name = "SUBJECT")]
    pub(crate) subject: Option<String>,
    /// Scope of a PLATFORM:ID subject
    #[arg(long, value_name = "S", value_parser = ["private", "group", "channel"])]
    pub(crate) scope: Option<String>,
    /// Host role
    #[arg(long, value_name = "R", value_parser = ["master", "trusted", "user", "none"])]
    pub(crate) role: Option<String>,
    /// Platform permission the subject holds; may be repeated
    #[arg(long = "perm", value_name = "P")]
    pub(crate) perms: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    /// Bot folder
    pub(crate) dir: PathBuf,
    /// The message
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Keep and continue a named session
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Say yes when this tool asks; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) approve: Vec<String>,
    /// Give up after this many seconds
    #[arg(long, value_name = "S")]
    pub(crate) timeout: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Bot folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Run no plugin code at all
    #[arg(long = "static")]
    pub(crate) no_code: bool,
    /// Exit 1 on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
}

/// Where a view is read from.
#[derive(Debug, Clone, Args)]
pub(crate) struct Where {
    /// Bot folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Read the folder even when a host runs
    #[arg(long)]
    pub(crate) disk: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// What to list
    #[arg(default_value = "tools", value_parser = host::commands::LIST_KINDS)]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Show input schemas
    #[arg(long)]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Tool, or skill:NAME, agent:NAME, section:NAME
    #[arg(required_unless_present = "code")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Explain a diagnostic code instead
    #[arg(long, value_name = "CODE", conflicts_with = "tool")]
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Tool
    pub(crate) tool: String,
    /// Arguments as a JSON object, or - for standard input
    #[arg(value_name = "JSON|-", default_value = "{}")]
    pub(crate) input: String,
    #[command(flatten)]
    pub(crate) place: Where,
    #[command(flatten)]
    pub(crate) subject: Subject,
    /// Keep and continue a named session
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Say yes when it asks
    #[arg(long)]
    pub(crate) approve: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Bot folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Only files whose path holds this text
    pub(crate) filter: Option<String>,
}

/// Where a running host is found.
#[derive(Debug, Clone, Args)]
pub(crate) struct Live {
    /// Bot folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Reload {
    /// Owners to rebuild even if unchanged
    pub(crate) owners: Vec<String>,
    #[command(flatten)]
    pub(crate) live: Live,
    /// Read every file again
    #[arg(long)]
    pub(crate) full: bool,
    /// Do not wait for retired generations: cancel the turns of the oldest
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait for the verdict
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Generations {
    #[command(flatten)]
    pub(crate) live: Live,
    /// Also the last 200 reload records
    #[arg(long)]
    pub(crate) records: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) live: Live,
    /// Exit 0 when ready, 1 when not
    #[arg(long)]
    pub(crate) ready: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Format
    #[arg(required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// Names of the formats
    #[arg(long)]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Generation number, `active`, `disk`, or a bot folder
    #[arg(value_name = "A", default_value = "active")]
    pub(crate) from: String,
    /// The same; what A is compared with
    #[arg(value_name = "B", default_value = "disk")]
    pub(crate) to: String,
    /// Bot folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Bot folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Also ask the services that tokens are for
    #[arg(long)]
    pub(crate) online: bool,
}

/// Shells with a completion script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell
    pub(crate) shell: Shell,
}
