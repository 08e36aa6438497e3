//! `new`: working examples that pass `check` and `test`; nothing is ever overwritten.

use crate::cli::{New, NewKind};
use crate::out::{Failure, Out};
use plugin_sdk::OwnerPath;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const TOOL: &str = include_str!("templates/tool.toml");
const TOOL_SCRIPT: &str = include_str!("templates/tool.sh");
const TOOL_TEST: &str = include_str!("templates/tool-test.toml");
const BOT: &str = include_str!("templates/bot.toml");
const AGENTS: &str = include_str!("templates/AGENTS.md");
const PLUGIN: &str = include_str!("templates/plugin.toml");
const SKILL: &str = include_str!("templates/SKILL.md");
const SECTION: &str = include_str!("templates/SECTION.md");
const AGENT: [(&str, &str); 4] = [
    ("agent.json", include_str!("templates/agent.json")),
    ("system.md", include_str!("templates/agent-system.md")),
    ("boundaries.md", include_str!("templates/agent-boundaries.md")),
    ("conventions.md", include_str!("templates/agent-conventions.md")),
];
const AGENT_TEST: &str = include_str!("templates/agent-test.toml");
const HOOK: &str = include_str!("templates/hook.toml");
const HOOK_SCRIPT: &str = include_str!("templates/hook.sh");
const HOOK_TEST: &str = include_str!("templates/hook-test.toml");
const COMMAND: &str = include_str!("templates/command.toml");
const COMMAND_SCRIPT: &str = include_str!("templates/command.sh");
const COMMAND_TEST: &str = include_str!("templates/command-test.toml");

/// Files to write, relative to the target folder, in order.
type Files = Vec<(PathBuf, String)>;

pub(crate) fn run(args: &New, out: &Out) -> Result<u8, Failure> {
    let args = &placed(args);
    check_name(args)?;
    let (files, next) = plan(args)?;
    let taken: Vec<String> = files.iter().map(|(p, _)| p).filter(|p| p.exists()).map(|p| shown(p)).collect();
    if !taken.is_empty() {
        return Err(Failure::refused(format!("{} exists already; nothing was written", taken.join(", "))));
    }
    for (path, text) in &files {
        write(path, text)?;
    }
    let created: Vec<String> = files.iter().map(|(p, _)| shown(p)).collect();
    let body = json!({"created": created, "next": next});
    let mut text = created.iter().map(|c| format!("created {c}\n")).collect::<String>();
    text.push_str("next:\n");
    next.iter().for_each(|n| text.push_str(&format!("  {n}\n")));
    out.finish("new", body, &[], &text)
}

fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.strip_prefix("./").unwrap_or(&text).to_string()
}

/// `new bot some/where/desk` is `new bot desk --in some/where`. A command may have two words: `todo/add`.
fn placed(args: &New) -> New {
    let path = Path::new(&args.name);
    if args.kind == NewKind::Command && args.name.split('/').count() == 2 && !args.name.starts_with(['/', '.']) {
        return args.clone();
    }
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => args.dir.join(parent),
        _ => args.dir.clone(),
    };
    New { kind: args.kind, name, dir, runtime: args.runtime.clone() }
}

fn check_name(args: &New) -> Result<(), Failure> {
    let words = args.name.split('/').map(|name| New { name: name.to_string(), ..args.clone() });
    words.into_iter().try_for_each(|one| check_word(&one))?;
    let first = args.name.split('/').next().unwrap_or_default();
    if args.kind == NewKind::Command && host::index::BUILTIN_COMMANDS.contains(&host::index::fold_word(first).as_str())
    {
        return Err(Failure::usage(format!("`/{first}` is a command of the host; choose another word")));
    }
    Ok(())
}

fn check_word(args: &New) -> Result<(), Failure> {
    let name = &args.name;
    let legal = name.chars().count() <= 64
        && name.starts_with(|c: char| c.is_alphanumeric())
        && name.chars().all(|c| (c.is_alphanumeric() && !c.is_ascii_uppercase()) || c == '-' || c == '_');
    let kebab = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !legal
        || (matches!(args.kind, NewKind::Skill | NewKind::Agent) && !kebab)
        || (args.kind == NewKind::Plugin && name == "root")
    {
        let suggestion: String =
            name.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        return Err(Failure::usage(format!(
            "`{name}` is no legal folder name: letters and digits, `-` and `_`, no capitals; try `{}`",
            suggestion.trim_matches('-')
        )));
    }
    Ok(())
}

fn plan(args: &New) -> Result<(Files, Vec<String>), Failure> {
    let (dir, name) = (&args.dir, args.name.as_str());
    let fill = |t: &str| t.replace("@NAME@", name);
    Ok(match args.kind {
        NewKind::Bot => {
            let bot = dir.join(name);
            let mut files = vec![(bot.join("bot.toml"), fill(BOT)), (bot.join("AGENTS.md"), fill(AGENTS))];
            files.extend(tool_files(&bot, "greet", &OwnerPath::root()));
            let at = shown(&bot);
            (files, vec![format!("understudy chat {at}"), format!("understudy test {at}")])
        }
        NewKind::Plugin => {
            let (_, owner) = plugin_at(dir)?;
            let plugin = dir.join("plugins").join(name);
            let mut files = vec![(plugin.join("plugin.toml"), fill(PLUGIN))];
            files.extend(tool_files(&plugin, "greet", &owner.child(name)));
            (files, checks(dir)?)
        }
        NewKind::Tool => {
            let (_, owner) = plugin_at(dir)?;
            if owner.is_root() && host::index::is_reserved(name) {
                let why =
                    format!("`{name}` is the name of a tool of the host; choose another, or put it into a plugin");
                return Err(Failure::usage(why));
            }
            (tool_files(dir, name, &owner), checks(dir)?)
        }
        NewKind::Skill => (vec![(dir.join("skills").join(name).join("SKILL.md"), fill(SKILL))], checks(dir)?),
        NewKind::Agent => (agent_files(dir, name)?, checks(dir)?),
        NewKind::Hook => (item_files(dir, ("hooks", name, "hook"), (HOOK, HOOK_SCRIPT, HOOK_TEST))?, checks(dir)?),
        NewKind::Command => {
            (item_files(dir, ("commands", name, "command"), (COMMAND, COMMAND_SCRIPT, COMMAND_TEST))?, checks(dir)?)
        }
        NewKind::Section => {
            (vec![(dir.join("prompt-sections").join(name).join("SECTION.md"), fill(SECTION))], checks(dir)?)
        }
    })
}

fn checks(dir: &Path) -> Result<Vec<String>, Failure> {
    let bot = shown(&plugin_at(dir)?.0);
    Ok(vec![format!("understudy check {bot}"), format!("understudy test {bot}")])
}

fn tool_files(dir: &Path, name: &str, owner: &OwnerPath) -> Files {
    let tool = dir.join("tools").join(name);
    let test = TOOL_TEST.replace("@LOCAL@", name).replace("@QUALIFIED@", &owner.qualify(name));
    vec![
        (tool.join("tool.toml"), TOOL.replace("@LOCAL@", name)),
        (tool.join("main.sh"), TOOL_SCRIPT.to_string()),
        (dir.join("tests").join(format!("{name}.toml")), test),
    ]
}

fn agent_files(dir: &Path, name: &str) -> Result<Files, Failure> {
    let (_, owner) = plugin_at(dir)?;
    let fill = |t: &str| t.replace("@NAME@", name).replace("@QUALIFIED@", &owner.qualify(name));
    let agent = dir.join("agents").join(name);
    let mut files: Files = AGENT.iter().map(|(file, text)| (agent.join(file), fill(text))).collect();
    files.push((dir.join("tests").join(format!("agent-{name}.toml")), fill(AGENT_TEST)));
    Ok(files)
}

/// A manifest, its program and a scenario of a hook or command.
fn item_files(
    dir: &Path,
    (container, name, kind): (&str, &str, &str),
    (manifest, script, test): (&str, &str, &str),
) -> Result<Files, Failure> {
    plugin_at(dir)?;
    let fill = |t: &str| t.replace("@NAME@", name).replace("@WORDS@", &name.replace('/', " "));
    let item = dir.join(container).join(name);
    let test_file = format!("{kind}-{}.toml", name.replace('/', "-"));
    Ok(vec![
        (item.join(format!("{kind}.toml")), fill(manifest)),
        (item.join("main.sh"), script.to_string()),
        (dir.join("tests").join(test_file), fill(test)),
    ])
}

/// The bot folder and the owner of a bot or plugin folder, found by walking up.
fn plugin_at(dir: &Path) -> Result<(PathBuf, OwnerPath), Failure> {
    let full = fs::canonicalize(dir).map_err(|e| Failure::usage(format!("{}: {e}", dir.display())))?;
    let mut keys: Vec<String> = Vec::new();
    let (mut at, mut shown_at) = (full.as_path(), dir.to_path_buf());
    for _ in 0..6 {
        if at.join("bot.toml").is_file() {
            let owner = keys.iter().rev().fold(OwnerPath::root(), |o, k| o.child(k));
            return Ok((shown_at, owner));
        }
        let in_plugins = at.parent().is_some_and(|p| p.file_name().is_some_and(|n| n == "plugins"));
        let (true, Some(up)) = (in_plugins, at.parent().and_then(Path::parent)) else { break };
        keys.push(at.file_name().unwrap_or_default().to_string_lossy().into_owned());
        shown_at = above(above(shown_at));
        at = up;
    }
    let help = "a bot folder has a bot.toml; name it, or a plugin folder in it, with --in";
    Err(Failure::usage(format!("{} is no bot folder and no plugin in one; {help}", dir.display())))
}

/// The folder above, as a person would write it.
fn above(path: PathBuf) -> PathBuf {
    match path.components().next_back() {
        Some(std::path::Component::Normal(_)) if path.components().count() > 1 => {
            path.parent().map(Path::to_path_buf).unwrap_or_default()
        }
        Some(std::path::Component::Normal(_)) => PathBuf::from("."),
        Some(std::path::Component::CurDir) => PathBuf::from(".."),
        _ => path.join(".."),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::refused(format!("{}: {e}", path.display()));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(fail)?;
    }
    let mut file = fs::File::create_new(path).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    if path.extension().is_some_and(|e| e == "sh") {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(fail)?;
    }
    Ok(())
}
