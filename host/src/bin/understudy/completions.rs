//! `completions`: the script of a shell on standard output.

use crate::cli::{Cli, Completions, Shell};
use crate::out::{Failure, Out};
use clap::CommandFactory;
use clap_complete::{generate, shells};
use serde_json::json;

pub(crate) fn run(args: &Completions, out: &Out) -> Result<u8, Failure> {
    let mut command = Cli::command();
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => generate(shells::Bash, &mut command, "understudy", &mut script),
        Shell::Zsh => generate(shells::Zsh, &mut command, "understudy", &mut script),
        Shell::Fish => generate(shells::Fish, &mut command, "understudy", &mut script),
    }
    let script = String::from_utf8_lossy(&script);
    out.finish("completions", json!({"script": script}), &[], &script)
}
