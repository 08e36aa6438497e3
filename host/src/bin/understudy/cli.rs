//! The command line as typed values.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A chat-bot host: plugins in folders, swapped while it runs.
#[derive(Debug, Parser)]
#[command(name = "understudy", version = version(), about, propagate_version = false, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Version with the features of this build.
pub fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (features: console command)")
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress lines
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Data folder, instead of the one bot.toml names
    #[arg(long, global = true, value_name = "P")]
    pub data_dir: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
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
    /// Print the JSON Schema of a format
    Schema(Schema),
}

/// Kinds of `new`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewKind {
    Bot,
    Plugin,
    Tool,
    Skill,
    Section,
}

#[derive(Debug, Args)]
pub struct New {
    /// What to write
    pub kind: NewKind,
    /// Its folder name
    pub name: String,
    /// Folder to write into: a bot or plugin folder, for `bot` any folder
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// How its tool runs
    #[arg(long, value_name = "R", default_value = "command", value_parser = ["command"])]
    pub runtime: String,
}

#[derive(Debug, Args)]
pub struct Run {
    /// Bot folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Reload only on request
    #[arg(long)]
    pub no_watch: bool,
    /// Do not start with a broken plugin
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct Chat {
    /// Bot folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Talk as somebody else: a console user's name, PLATFORM:ID, or PLATFORM[/ENDPOINT]:SCOPE:SCENE[#THREAD]:user:ID
    #[arg(long = "as", value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// No colours, no line editor
    #[arg(long)]
    pub plain: bool,
    /// Send this one message and exit
    #[arg(long, value_name = "TEXT")]
    pub once: Option<String>,
}

/// Who a call is for.
#[derive(Debug, Clone, Args)]
pub struct Subject {
    /// A console user's name, PLATFORM:ID, or PLATFORM[/ENDPOINT]:SCOPE:SCENE[#THREAD]:user:ID
    #[arg(long = "as", value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// Scope of a PLATFORM:ID subject
    #[arg(long, value_name = "S", value_parser = ["private", "group", "channel"])]
    pub scope: Option<String>,
    /// Host role
    #[arg(long, value_name = "R", value_parser = ["master", "trusted", "user", "none"])]
    pub role: Option<String>,
    /// Platform permission the subject holds; may be repeated
    #[arg(long = "perm", value_name = "P")]
    pub perms: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Ask {
    /// Bot folder
    pub dir: PathBuf,
    /// The message
    pub text: String,
    #[command(flatten)]
    pub subject: Subject,
    /// Keep and continue a named session
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Say yes when this tool asks; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub approve: Vec<String>,
    /// Give up after this many seconds
    #[arg(long, value_name = "S")]
    pub timeout: Option<f64>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Bot folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Run no plugin code at all
    #[arg(long = "static")]
    pub no_code: bool,
    /// Exit 1 on warnings too
    #[arg(long)]
    pub deny_warnings: bool,
}

/// Where a view is read from.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// Bot folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Read the folder even when a host runs
    #[arg(long)]
    pub disk: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// What to list
    #[arg(default_value = "tools", value_parser = ["tools", "skills", "sections", "commands", "plugins"])]
    pub kind: String,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub subject: Subject,
    /// Show input schemas
    #[arg(long)]
    pub schema: bool,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Tool, or skill:NAME, section:NAME
    #[arg(required_unless_present = "code")]
    pub tool: Option<String>,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub subject: Subject,
    /// Explain a diagnostic code instead
    #[arg(long, value_name = "CODE", conflicts_with = "tool")]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct Call {
    /// Tool
    pub tool: String,
    /// Arguments as a JSON object, or - for standard input
    #[arg(value_name = "JSON|-", default_value = "{}")]
    pub input: String,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub subject: Subject,
    /// Keep and continue a named session
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Say yes when it asks
    #[arg(long)]
    pub approve: bool,
}

#[derive(Debug, Args)]
pub struct Test {
    /// Bot folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only files whose path holds this text
    pub filter: Option<String>,
}

/// Where a running host is found.
#[derive(Debug, Clone, Args)]
pub struct Live {
    /// Bot folder
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct Reload {
    /// Owners to rebuild even if unchanged
    pub owners: Vec<String>,
    #[command(flatten)]
    pub live: Live,
    /// Read every file again
    #[arg(long)]
    pub full: bool,
    /// Do not wait for retired generations: cancel the turns of the oldest
    #[arg(long)]
    pub force: bool,
    /// Do not wait for the verdict
    #[arg(long)]
    pub no_wait: bool,
}

#[derive(Debug, Args)]
pub struct Generations {
    #[command(flatten)]
    pub live: Live,
    /// Also the last 200 reload records
    #[arg(long)]
    pub records: bool,
}

#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    pub live: Live,
    /// Exit 0 when ready, 1 when not
    #[arg(long)]
    pub ready: bool,
}

#[derive(Debug, Args)]
pub struct Schema {
    /// Format
    #[arg(required_unless_present = "list")]
    pub kind: Option<String>,
    /// Names of the formats
    #[arg(long)]
    pub list: bool,
}
