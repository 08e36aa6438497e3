//! Rules between keys, each on the sections that could be read.

use super::data_folder::{data_folder_fault, has_tilde};
use super::{at, at_key};
use crate::config::doc::{Doc, NodeKind};
use crate::config::shape::Fault;
use crate::config::{
    AccessConfig, AccessMode, AgentConfig, ApprovalConfig, BotConfig, BotSection, ModelConfig, PluginsConfig, Provider,
};
use crate::config::{Table, TelemetryConfig, ToolsConfig, WorkspaceConfig, nearest_help};
use crate::store::real_path;
use plugin_sdk::Diagnostic;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Component, Path};

/// Keys of `tools.builtin` and the tool each switches on.
pub const BUILTIN_KEYS: [(&str, &str); 11] = [
    ("file.read", "read_file"),
    ("file.list", "list_files"),
    ("file.grep", "grep_search"),
    ("file.write", "write_file"),
    ("file.edit", "edit_file"),
    ("file.publish", "publish_artifact"),
    ("exec.command", "exec_command"),
    ("exec.python", "run_python"),
    ("human.ask", "ask_user"),
    ("web.search", "web_search"),
    ("web.fetch", "web_fetch"),
];

/// Keys that this build has.
const BUILT: [&str; 1] = ["human.ask"];

/// Further built-in tools, with the setting that brings each.
pub const ASSEMBLED_TOOLS: [(&str, &str); 20] = [
    ("discover", "agent.deferred_tools.form"),
    ("load_tool", "agent.deferred_tools.form"),
    ("load_skill", "nothing: it is always there"),
    ("tool_search", "agent.deferred_tools.form"),
    ("context_read", "agent.context_tools"),
    ("context_search", "agent.context_tools"),
    ("spawn_task", "nothing: it is always there"),
    ("subagent", "tools.subagent"),
    ("memory_search", "memory.enabled"),
    ("memory_fetch", "memory.enabled"),
    ("memory_write", "memory.write"),
    ("get_goal", "goals.enabled"),
    ("report_goal", "goals.enabled"),
    ("schedule_list", "schedule.tools"),
    ("schedule_preview", "schedule.tools"),
    ("schedule_add", "schedule.tools"),
    ("schedule_remove", "schedule.tools"),
    ("schedule_pause", "schedule.tools"),
    ("schedule_resume", "schedule.tools"),
    ("remind", "schedule.remind"),
];

/// User ids that many people share on a platform.
const SHARED_IDS: [&str; 3] = ["1087968824", "136817688", "777000"];

/// Platforms of the contract.
const PLATFORMS: [&str; 4] = ["telegram", "discord", "console", "web"];

/// Runs every rule; the configuration comes when its structure is whole.
pub(super) fn cross(doc: &Doc, value: &Value, bot_dir: &Path, faults: &mut Vec<Fault>) -> Option<BotConfig> {
    let whole = !faults.iter().any(|f| f.diagnostic.is_error());
    let sound = sound(value);
    let value = if whole { value } else { &sound };
    let mut rules = Rules { doc, faults };
    let bot: Option<BotSection> = section(value, "bot");
    let models: Table<Value> = section(value, "models").unwrap_or_default();
    if let Some(bot) = &bot {
        rules.bot(bot);
    }
    rules.models(&models);
    if let Some(agent) = section(value, "agent") {
        rules.agent(&agent, &models);
    }
    if let Some(access) = section(value, "access") {
        let met = value.get("access").is_some() || value.get("adapters").is_some();
        rules.access(&access, met);
    }
    if let Some(approval) = section::<ApprovalConfig>(value, "approval") {
        rules.notified(&approval);
    }
    if let Some(tools) = section(value, "tools") {
        rules.tools(&tools);
    }
    if let Some(plugins) = section(value, "plugins") {
        rules.plugins(&plugins);
        if let Some(bot) = &bot {
            rules.data_dir(bot, &plugins, bot_dir);
        }
    }
    if let (Some(bot), Some(workspace)) = (&bot, section(value, "workspace")) {
        rules.workspace(bot, &workspace, bot_dir);
    }
    let log_file = section::<TelemetryConfig>(value, "telemetry").and_then(|t| t.log_file);
    rules.no_tilde(&["telemetry", "log_file"], log_file.as_deref().unwrap_or_default());
    if !whole {
        return None;
    }
    match BotConfig::deserialize(value) {
        Ok(config) => Some(config),
        Err(error) => {
            rules.faults.push(at(doc, &[], Diagnostic::error("bot::bad-value", error.to_string())));
            None
        }
    }
}

/// A section that could be read, or its defaults when it is absent.
fn section<T: DeserializeOwned + Default>(value: &Value, name: &str) -> Option<T> {
    match value.get(name) {
        Some(found) => T::deserialize(found).ok(),
        None => Some(T::default()),
    }
}

/// Every section that can be read, defaults for the others; `None` without a sound `[plugins]`.
pub(super) fn readable(value: &Value) -> Option<BotConfig> {
    let Value::Object(sections) = sound(value) else { return None };
    if value.get("plugins").is_some_and(|written| PluginsConfig::deserialize(written).is_err()) {
        return None;
    }
    let reads = |(name, section): &(String, Value)| {
        let alone: serde_json::Map<String, Value> = [(name.clone(), section.clone())].into_iter().collect();
        BotConfig::deserialize(Value::Object(alone)).is_ok()
    };
    let whole = sections.into_iter().filter(|s| reads(&(s.0.clone(), s.1.clone()))).collect();
    BotConfig::deserialize(Value::Object(whole)).ok()
}

/// The value without the keys that have a finding: TOML has no null, so each stands for one.
fn sound(value: &Value) -> Value {
    let broken = |v: &Value| v.is_null() || v.as_array().is_some_and(|a| a.iter().any(Value::is_null));
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().filter(|(_, v)| !broken(v)).map(|(k, v)| (k.clone(), sound(v))).collect())
        }
        other => other.clone(),
    }
}

/// Endpoints of kinds that this build lacks.
pub(super) fn adapters(doc: &Doc, faults: &mut Vec<Fault>) {
    let Some((_, node)) = doc.root.get("adapters") else { return };
    let NodeKind::Table(kinds) = &node.kind else { return };
    for (kind, endpoints) in kinds {
        let name = kind.name.as_str();
        if !PLATFORMS.contains(&name) {
            let d = Diagnostic::error("bot::unknown-key", format!("unknown adapter `{name}`"));
            faults.push(at_key(doc, &["adapters", name], d.help(nearest_help(name, PLATFORMS))));
        } else if name != "console"
            && let NodeKind::Table(list) = &endpoints.kind
        {
            for (endpoint, _) in list {
                let message = format!("endpoint {name}/{} stays down: this build has no {name} adapter", endpoint.name);
                let d = Diagnostic::warning("bot::adapter-absent", message)
                    .help("remove the table, or use a build that has it");
                faults.push(at_key(doc, &["adapters", name, &endpoint.name], d));
            }
        }
    }
}

struct Rules<'a> {
    doc: &'a Doc,
    faults: &'a mut Vec<Fault>,
}

impl Rules<'_> {
    fn value(&mut self, path: &[&str], diagnostic: Diagnostic) {
        self.faults.push(at(self.doc, path, diagnostic));
    }

    fn bot(&mut self, bot: &BotSection) {
        if bot.timezone.parse::<chrono_tz::Tz>().is_err() {
            let d = Diagnostic::error(
                "bot::bad-value",
                format!("`bot.timezone`: there is no time zone `{}`", bot.timezone),
            );
            let help = crate::config::nearest(&bot.timezone, chrono_tz::TZ_VARIANTS.iter().map(|z| z.name()))
                .map_or_else(
                    || "use an IANA name such as `Europe/Berlin`".to_string(),
                    |hit| format!("did you mean `{hit}`?"),
                );
            self.value(&["bot", "timezone"], d.help(help));
        }
    }

    fn models(&mut self, models: &Table<Value>) {
        for (name, value) in models {
            let Ok(model) = ModelConfig::deserialize(value) else { continue };
            // a model whose variable is missing is off, and says so elsewhere
            let written =
                self.doc.find(&format!("/models/{}/model", name.replace('~', "~0").replace('/', "~1"))).is_some();
            if model.provider != Provider::Offline && model.model.trim().is_empty() {
                let message = match written {
                    true => format!("`models.{name}.model` must not be empty"),
                    false => format!("missing key `models.{name}.model`"),
                };
                let code = if written { "bot::bad-value" } else { "bot::missing-key" };
                let d = Diagnostic::error(code, message).help("name the model as its server does");
                if !self.is_off(name) {
                    self.faults.push(at_key(self.doc, &["models", name], d));
                }
            }
            self.fallback(name, &model.fallback, models);
            self.one_provider_only(name, &model, value);
        }
    }

    /// A list of other models; each stands in it once, and the lists of those are not followed.
    fn fallback(&mut self, name: &str, list: &[String], models: &Table<Value>) {
        for (i, other) in list.iter().enumerate() {
            let index = i.to_string();
            let path = ["models", name, "fallback", &index];
            if other == name {
                let d = Diagnostic::error("bot::bad-value", format!("the model `{name}` is its own fallback"));
                self.value(&path, d.help("remove it: its own repeats are `retries`"));
            } else if list[..i].contains(other) {
                let d = Diagnostic::error("bot::bad-value", format!("`models.{name}.fallback` names `{other}` twice"));
                self.value(&path, d.help("remove one of them"));
            } else {
                self.known_model(&path, Some(other), models);
            }
        }
    }

    fn one_provider_only(&mut self, name: &str, model: &ModelConfig, written: &Value) {
        if model.provider == Provider::Anthropic {
            return;
        }
        for key in ["betas", "defer_loading"] {
            if written.get(key).is_some() {
                let message = format!("`models.{name}.{key}` is only for `provider = \"anthropic\"`");
                let d = Diagnostic::error("bot::bad-value", message).help("remove it");
                self.faults.push(at_key(self.doc, &["models", name, key], d));
            }
        }
    }

    fn is_off(&self, model: &str) -> bool {
        self.faults.iter().any(|f| {
            f.diagnostic.code == "bot::missing-variable"
                && matches!(f.path.as_slice(), [a, b, ..] if a == "models" && b == model)
        })
    }

    fn agent(&mut self, agent: &AgentConfig, models: &Table<Value>) {
        self.known_model(&["agent", "model"], agent.model.as_deref(), models);
        self.known_model(&["agent", "compaction", "model"], agent.compaction.model.as_deref(), models);
        let root = Path::new(&agent.skills.root);
        if root.is_absolute() || root.components().any(|c| c == Component::ParentDir) {
            let d = Diagnostic::error("bot::bad-value", "`agent.skills.root` must stay inside the workspace");
            self.value(&["agent", "skills", "root"], d);
        }
    }

    fn known_model(&mut self, key: &[&str], name: Option<&str>, models: &Table<Value>) {
        let Some(name) = name.filter(|n| *n != "offline" && !models.contains_key(*n)) else { return };
        let known = models.keys().map(String::as_str).chain(["offline"]);
        let message = format!("`{}`: there is no model `{name}`", key.join("."));
        self.value(key, Diagnostic::error("bot::bad-value", message).help(nearest_help(name, known)));
    }

    fn access(&mut self, access: &AccessConfig, strangers: bool) {
        let lists = [
            ("masters", &access.masters),
            ("trusted", &access.trusted),
            ("users", &access.users),
            ("groups", &access.groups),
            ("deny", &access.deny),
        ];
        for (key, list) in lists {
            for (i, entry) in list.iter().enumerate() {
                self.access_entry(key, i, entry);
            }
        }
        let nobody = lists[..4].iter().all(|(_, l)| l.is_empty());
        let doubtful =
            self.faults.iter().any(|f| f.diagnostic.is_error() && f.path.first().is_some_and(|p| p == "access"));
        // Without an endpoint only the console can write at all: there is nothing to warn of.
        if strangers && access.mode == AccessMode::Allowlist && nobody && !doubtful {
            let d = Diagnostic::warning(
                "access::nobody-listed",
                "nobody is listed in [access]: only the console is answered",
            )
            .help("list people as \"platform:id\" in `access.users`, or say `access.mode = \"open\"`");
            self.faults.push(at_key(self.doc, &["access"], d));
        }
    }

    /// People of `approval.notify`: named one by one, each a person.
    fn notified(&mut self, approval: &ApprovalConfig) {
        for (n, entry) in approval.notify.iter().enumerate() {
            self.person_entry(["approval", "notify"], n, entry);
        }
    }

    fn access_entry(&mut self, key: &str, index: usize, entry: &str) {
        self.person_entry(["access", key], index, entry);
    }

    fn person_entry(&mut self, [table, key]: [&str; 2], index: usize, entry: &str) {
        let index = index.to_string();
        let path = [table, key, &index];
        let parts = entry.split_once(':').filter(|(platform, id)| is_platform(platform) && !id.trim().is_empty());
        let Some((_, id)) = parts else {
            let message = format!("`{table}.{key}`: `{entry}` has not the form `platform:id`");
            self.value(&path, Diagnostic::error("bot::bad-value", message).help("for example \"telegram:42\""));
            return;
        };
        if id == "*" && !matches!(key, "groups" | "deny") {
            let message = format!("`{table}.{key}` names people one by one; `*` is nobody");
            self.value(
                &path,
                Diagnostic::error("bot::bad-value", message).help("to let everybody in: `access.mode = \"open\"`"),
            );
        }
        if SHARED_IDS.contains(&id) {
            let message = format!("`{entry}` is an id that many senders share");
            self.value(&path, Diagnostic::error("access::shared-id", message).help("name the people themselves"));
        }
    }

    fn tools(&mut self, tools: &ToolsConfig) {
        for (i, key) in tools.builtin.iter().enumerate() {
            let index = i.to_string();
            let path = ["tools", "builtin", &index];
            if tools.builtin[..i].contains(key) {
                let d = Diagnostic::error("tools::duplicate-builtin", format!("`{key}` is listed twice"));
                self.value(&path, d.help("remove one of them"));
            } else if let Some(help) = unknown_builtin(key) {
                let d = Diagnostic::error("tools::unknown-builtin", format!("there is no built-in key `{key}`"));
                self.value(&path, d.help(help));
            } else if !BUILT.contains(&key.as_str()) {
                let d =
                    Diagnostic::error("bot::not-built", format!("the built-in `{key}` is not part of this build yet"));
                self.value(&path, d.help("remove it: a setting is never ignored silently"));
            }
        }
        for key in tools.permissions.keys() {
            let known = BUILTIN_KEYS.iter().chain(&ASSEMBLED_TOOLS).any(|(k, _)| k == key);
            if !known {
                let all = BUILTIN_KEYS.iter().chain(&ASSEMBLED_TOOLS).map(|(k, _)| *k);
                let d = Diagnostic::error("tools::unknown-builtin", format!("there is no built-in `{key}`"));
                let fault = at_key(self.doc, &["tools", "permissions", key], d.help(nearest_help(key, all)));
                self.faults.push(fault);
            }
        }
        if tools.preview_chars > tools.max_result_chars {
            let message =
                format!("`tools.preview_chars` must be at most `tools.max_result_chars` ({})", tools.max_result_chars);
            let key =
                if self.doc.find("/tools/preview_chars").is_some() { "preview_chars" } else { "max_result_chars" };
            self.value(&["tools", key], Diagnostic::error("bot::bad-value", message));
        }
    }

    fn plugins(&mut self, plugins: &PluginsConfig) {
        let known = ["command", "native", "wasm"];
        for (i, runtime) in plugins.runtimes.iter().enumerate() {
            if !known.contains(&runtime.as_str()) {
                let d =
                    Diagnostic::error("bot::bad-value", format!("`plugins.runtimes`: there is no runtime `{runtime}`"));
                self.value(&["plugins", "runtimes", &i.to_string()], d.help(nearest_help(runtime, known)));
            }
        }
    }

    fn data_dir(&mut self, bot: &BotSection, plugins: &PluginsConfig, bot_dir: &Path) {
        let key = ["bot", "data_dir"];
        if self.no_tilde(&key, &bot.data_dir)
            && let Some(why) = data_folder_fault(bot_dir, &bot_dir.join(&bot.data_dir), plugins)
        {
            let d = Diagnostic::error("bot::bad-value", format!("`bot.data_dir`: {why}"));
            self.value(&key, d.help("name a folder of its own, such as \"data\""));
        }
    }

    /// Refuses a path whose `~` would become the name of a folder.
    fn no_tilde(&mut self, key: &[&str], path: &str) -> bool {
        if !has_tilde(path) {
            return true;
        }
        let d = Diagnostic::error("bot::bad-value", format!("`{}`: `~` is not replaced here", key.join(".")));
        self.value(key, d.help(format!("write \"${{HOME}}{}\", or the whole path", &path[1..])));
        false
    }

    fn workspace(&mut self, bot: &BotSection, workspace: &WorkspaceConfig, bot_dir: &Path) {
        if !self.no_tilde(&["workspace", "root"], &workspace.root) || has_tilde(&bot.data_dir) {
            return;
        }
        let home = real_path(bot_dir);
        let data = real_path(&home.join(&bot.data_dir));
        let root = real_path(&data.join(&workspace.root));
        if data.starts_with(&root) {
            let d = Diagnostic::error("tools::workspace-overlaps-data", "the workspace contains the data folder");
            self.value(&["workspace", "root"], d.help("choose a folder below the data folder, such as \"workspace\""));
        } else if home.starts_with(&root) || (root.starts_with(&home) && !root.starts_with(&data)) {
            let message = "the workspace overlaps the bot folder: the model could rewrite its own plugins";
            let d = match workspace.allow_bot_folder {
                true => Diagnostic::warning("tools::workspace-overlaps-bot", message),
                false => Diagnostic::error("tools::workspace-overlaps-bot", message)
                    .help("choose a folder below the data folder, or say `workspace.allow_bot_folder = true`"),
            };
            self.value(&["workspace", "root"], d);
        }
    }
}

/// Help for a name that is no key of `tools.builtin`.
fn unknown_builtin(key: &str) -> Option<String> {
    if BUILTIN_KEYS.iter().any(|(k, _)| *k == key) {
        return None;
    }
    if let Some((builtin, _)) = BUILTIN_KEYS.iter().find(|(_, tool)| *tool == key) {
        return Some(format!("the key of this tool is `{builtin}`"));
    }
    if let Some((_, setting)) = ASSEMBLED_TOOLS.iter().find(|(tool, _)| *tool == key) {
        return Some(format!("what switches this tool on is {setting}"));
    }
    Some(nearest_help(key, BUILTIN_KEYS.iter().map(|(k, _)| *k)))
}

fn is_platform(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
}
