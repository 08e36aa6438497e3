//! Which call exactly a person says yes to: hashes of arguments, call and tool, and the files it would run.

use super::examine::Examined;
use super::ports::SessionOffer;
use crate::admission::{Facts, Gated, may_remember};
use crate::index::{canonical_json, sha256_hex, sha256_of_reader};
use crate::session::{CallIdentity, FileDigest, Gravity};
use crate::task::blocking;
use plugin_sdk::{Approval, Capability, CommandLine, ToolExecutionContext};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Interpreters whose first plain word is a script.
const INTERPRETERS: [&str; 5] = ["sh", "bash", "python", "python3", "node"];
/// Texts of one call's arguments that are looked for in the workspace.
const NAMED_MAX: usize = 256;
/// Longest text that can be a path.
const PATH_MAX: usize = 4096;

/// Everything that is bound to the answer but the files. `owner_digest` is that of the owner's sealed files.
pub(super) fn of(
    examined: &Examined<'_>,
    (call_id, owner_digest): (&str, String),
    session: &str,
    cx: &ToolExecutionContext,
) -> CallIdentity {
    let tool = examined.tool;
    let args_hash = examined.frozen.args_hash.clone();
    let whole = json!({
        "args_hash": args_hash,
        "call_id": call_id,
        "owner_digest": owner_digest,
        "principal": cx.principal.id(),
        "schema_hash": tool.input.schema_hash,
        "session": session,
        "tool": &*tool.qualified,
    });
    CallIdentity {
        call_id: call_id.to_string(),
        tool: tool.qualified.to_string(),
        title: tool.def().options.metadata.get("title").and_then(|t| t.as_str()).map(str::to_string),
        owner: tool.owner().to_string(),
        owner_digest,
        args_hash,
        tool_hash: tool.tool_hash(),
        call_hash: sha256_hex(canonical_json(&whole)),
        files: Vec::new(),
    }
}

/// Digests of the files of the workspace that this call would run, as they are now: those its command line names and,
/// of a tool that executes, those its arguments name.
pub(super) async fn files_of(examined: &Examined<'_>, cx: &ToolExecutionContext) -> Vec<FileDigest> {
    let line = examined.tool.from.callable.command_line(&examined.frozen.arguments, cx);
    let mut named = Vec::new();
    if has(examined, Capability::Execute) {
        examined.frozen.arguments.values().for_each(|value| words_of(value, &mut named));
    }
    if line.is_none() && named.is_empty() {
        return Vec::new();
    }
    digests(line, named, cx.workspace_root.clone()).await
}

fn has(examined: &Examined<'_>, capability: Capability) -> bool {
    examined.tool.def().options.capabilities.iter().flatten().any(|have| *have == capability)
}

/// Texts of arguments that may name a file, at most [`NAMED_MAX`].
fn words_of(value: &Value, into: &mut Vec<String>) {
    match value {
        _ if into.len() >= NAMED_MAX => {}
        Value::String(text) if !text.is_empty() && text.len() <= PATH_MAX => into.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|v| words_of(v, into)),
        Value::Object(map) => map.values().for_each(|v| words_of(v, into)),
        _ => {}
    }
}

pub(super) fn gravity(examined: &Examined<'_>, cut: bool) -> Gravity {
    let has = |c| has(examined, c);
    Gravity {
        writes: has(Capability::Write),
        executes: has(Capability::Execute),
        policy_asks: examined.decision.asked_by_policy(),
        cut,
    }
}

/// Whether the yes may be remembered, and what would end the asking for good.
pub(super) fn offer(examined: &Examined<'_>, facts: &Facts) -> Option<SessionOffer> {
    let tool = examined.tool;
    if !may_remember(&Gated { declared: examined.declared, ..tool.gated() }, &examined.decision, facts) {
        return None;
    }
    let undeclared = examined.declared.approval == Approval::OnRisk;
    let ends = match tool.file() {
        Some(file) => format!("`capabilities` in {file}"),
        None => format!("tools.override.\"{}\".requires_approval = \"never\"", tool.qualified),
    };
    Some(SessionOffer { ends: undeclared.then_some(ends) })
}

/// The files of the workspace among program and script of a command line, and among the words of arguments.
async fn digests(line: Option<CommandLine>, named: Vec<String>, workspace: PathBuf) -> Vec<FileDigest> {
    let read = blocking("digest command files", move || {
        let run = line.iter().flat_map(|l| named_files(l).into_iter().filter_map(|w| digest_in(&workspace, &l.cwd, w)));
        let mut found: Vec<FileDigest> = run.collect();
        for word in &named {
            // An argument that names no file is a word like any other.
            if let Some(file) = digest_in(&workspace, &workspace, word).filter(|f| f.sha256.is_some())
                && !found.contains(&file)
            {
                found.push(file);
            }
        }
        found
    });
    read.await.unwrap_or_default()
}

/// The program, and the script an interpreter is given.
fn named_files(line: &CommandLine) -> Vec<&str> {
    let Some(program) = line.words.first() else { return Vec::new() };
    let base = Path::new(program).file_name().and_then(|n| n.to_str()).unwrap_or(program);
    let script = line.words.iter().skip(1).find(|word| !word.starts_with('-'));
    let script = script.filter(|_| INTERPRETERS.contains(&base)).map(String::as_str);
    // A bare name is looked for in the path, never in the folder the command runs in.
    program.contains('/').then_some(program.as_str()).into_iter().chain(script).collect()
}

/// `None` = the word names nothing inside the workspace.
fn digest_in(workspace: &Path, cwd: &Path, word: &str) -> Option<FileDigest> {
    let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
    let written = cwd.join(word);
    let (path, sha256) = match written.canonicalize() {
        Ok(real) => {
            let digest = digest_of(&real);
            (real, digest)
        }
        // Not there yet: what appears under this name later was not approved.
        Err(_) => {
            let parent = written.parent()?.canonicalize().ok()?;
            (parent.join(written.file_name()?), None)
        }
    };
    let inside = path.strip_prefix(&root).ok()?;
    Some(FileDigest { path: inside.display().to_string(), sha256 })
}

/// Piece by piece, so that a huge file costs no memory; a pipe or a device is not waited for.
fn digest_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    sha256_of_reader(std::fs::File::open(path).ok()?).ok()
}

/// Paths whose digest is another one now.
pub(super) fn changed_files(approved: &[FileDigest], now: &[FileDigest]) -> Vec<String> {
    let differs = |f: &&FileDigest| !now.contains(f);
    let new = now.iter().filter(|f| !approved.iter().any(|a| a.path == f.path));
    approved.iter().filter(differs).chain(new).map(|f| f.path.clone()).collect()
}
