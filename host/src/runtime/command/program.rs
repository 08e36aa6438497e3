//! Finding the program of a command: in the tool folder, else on `PATH`.

use super::CommandError;
use crate::loader::Place;
use plugin_sdk::Diagnostic;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the first word of a command leads.
enum Found {
    /// A file that can be executed.
    Program(PathBuf),
    /// In the tool folder, but no program.
    NotExecutable,
    /// In the tool folder, by its slash, but absent.
    NoFile,
    /// On no folder of `PATH`.
    NotOnPath,
}

fn look_up(word: &str, tool_dir: &Path, path: &str) -> Found {
    let local = tool_dir.join(word);
    if word.contains('/') || (!word.is_empty() && local.is_file()) {
        return match std::fs::metadata(&local) {
            Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Found::Program(local),
            Ok(_) => Found::NotExecutable,
            Err(_) => Found::NoFile,
        };
    }
    path.split(':')
        .filter(|folder| folder.starts_with('/') && !word.is_empty())
        .map(|folder| Path::new(folder).join(word))
        .find(|p| std::fs::metadata(p).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0))
        .map_or(Found::NotOnPath, Found::Program)
}

/// The program of a call, looked up anew each time: `PATH` folders may change under a running bot.
pub(super) fn resolve(argv: &[String], tool_dir: &Path, path: &str) -> Result<PathBuf, CommandError> {
    let word = argv.first().map_or("", String::as_str);
    let failed = |message: String, help: &str| CommandError::Start { message, help: Some(help.to_string()) };
    match look_up(word, tool_dir, path) {
        Found::Program(p) => Ok(p),
        Found::NotExecutable => {
            Err(failed(format!("`{word}` is not executable"), "set its execute bit and start it with a `#!` line"))
        }
        Found::NoFile => Err(failed(format!("`{word}` does not exist"), "the file is gone from the plugin's copy")),
        Found::NotOnPath => {
            Err(failed(format!("the program `{word}` is not on PATH"), "install it, or set PATH of the host"))
        }
    }
}

/// What is checked of a command before its plugin is published.
pub struct ProgramCheck<'a> {
    /// Words.
    pub argv: &'a [String],
    /// The item's folder.
    pub tool_dir: &'a Path,
    /// `PATH` of the host.
    pub path: &'a str,
    /// Whether its manifest may say `optional`.
    pub may_be_optional: bool,
    /// `optional = true`: a missing program leaves the item out and only warns.
    pub optional: bool,
    /// A throw-away check: the program may well be on the machine that will run the bot.
    pub lenient: bool,
    /// Where the command is written; its words are at `/run/command`.
    pub place: &'a Place,
}

/// Findings about a program that is looked up on `PATH`: `run::program-missing`. Files of the plugin are the
/// loader's to judge, before they are copied.
pub fn check_program(check: &ProgramCheck<'_>) -> Vec<Diagnostic> {
    let word = check.argv.first().map_or("", String::as_str);
    if !matches!(look_up(word, check.tool_dir, check.path), Found::NotOnPath) {
        return Vec::new();
    }
    let message = format!("the program `{word}` is not on PATH ({})", check.path);
    let found = if check.optional || check.lenient {
        Diagnostic::warning("run::program-missing", message)
    } else {
        Diagnostic::error("run::program-missing", message)
    };
    let help = if check.optional {
        "the tool is left out until the program is installed"
    } else if check.may_be_optional {
        "install it, set PATH of the host, or write `optional = true` to leave the tool out without it"
    } else {
        "install it, or set PATH of the host"
    };
    vec![check.place.diag(found.help(help), "/run/command")]
}
