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
    NotExecutable(PathBuf),
    /// In the tool folder, by its slash, but absent.
    NoFile(PathBuf),
    /// On no folder of `PATH`.
    NotOnPath,
}

fn look_up(word: &str, tool_dir: &Path, path: &str) -> Found {
    let local = tool_dir.join(word);
    if word.contains('/') || (!word.is_empty() && local.is_file()) {
        return match std::fs::metadata(&local) {
            Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Found::Program(local),
            Ok(_) => Found::NotExecutable(local),
            Err(_) => Found::NoFile(local),
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
        Found::NotExecutable(_) => {
            Err(failed(format!("`{word}` is not executable"), "set its execute bit and start it with a `#!` line"))
        }
        Found::NoFile(_) => Err(failed(format!("`{word}` does not exist"), "the file is gone from the plugin's copy")),
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
    /// `optional = true`: a missing program leaves the item out and only warns.
    pub optional: bool,
    /// A throw-away check: the program may well be on the machine that will run the bot.
    pub lenient: bool,
    /// Where the command is written; its words are at `/run/command`.
    pub place: &'a Place,
}

/// Findings about the program of a command: `run::program-missing`, `run::file-missing`, `run::not-executable`.
pub fn check_program(check: &ProgramCheck<'_>) -> Vec<Diagnostic> {
    let word = check.argv.first().map_or("", String::as_str);
    let shown = |p: &Path| p.strip_prefix(check.tool_dir).unwrap_or(p).display().to_string();
    let found = match look_up(word, check.tool_dir, check.path) {
        Found::Program(_) => return Vec::new(),
        Found::NotOnPath => {
            let message = format!("the program `{word}` is not on PATH ({})", check.path);
            let help = if check.optional {
                "the tool is left out until the program is installed"
            } else {
                "install it, set PATH of the host, or write `optional = true` to leave the tool out without it"
            };
            if check.optional || check.lenient {
                Diagnostic::warning("run::program-missing", message).help(help)
            } else {
                Diagnostic::error("run::program-missing", message).help(help)
            }
        }
        Found::NoFile(p) => {
            Diagnostic::error("run::file-missing", format!("`{}` does not exist in the tool folder", shown(&p)))
                .help("a first word with a slash is a file of the tool folder")
        }
        Found::NotExecutable(p) => {
            Diagnostic::error("run::not-executable", format!("`{}` is not executable", shown(&p)))
                .help("set its execute bit, or name the interpreter first, as in [\"python3\", \"main.py\"]")
        }
    };
    vec![check.place.diag(found, "/run/command")]
}
