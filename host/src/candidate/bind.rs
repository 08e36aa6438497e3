//! From a plugin's checked items to contributions: `[when]`, presets, programs, binding to the copy.

use crate::index::{Contribution, Hook, Source, sha256_hex};
use crate::loader::{HookSource, Permissions, Place, PluginSource, RunSpec, ToolSource};
use crate::runtime::command::{CommandPool, CommandSpec, ProgramCheck, bind, bind_hook, check_program};
use plugin_sdk::{Diagnostic, ToolDef};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What the binding of one plugin needs.
pub(super) struct Binding<'a> {
    pub(super) plugin: &'a PluginSource,
    /// The folder its programs run from: its copy.
    pub(super) root: &'a Path,
    pub(super) config: &'a Arc<Map<String, Value>>,
    /// Tokens it can use.
    pub(super) tokens: &'a BTreeSet<String>,
    /// Names in `[secrets]`.
    pub(super) secrets: &'a BTreeSet<String>,
    /// Variables it was granted.
    pub(super) env: &'a [(String, String)],
    pub(super) pool: &'a Arc<CommandPool>,
    /// A throw-away candidate: a missing program only warns.
    pub(super) lenient: bool,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Bound {
    pub(super) contributions: Vec<Contribution>,
    pub(super) left_out: Vec<String>,
    pub(super) hooks: Vec<Hook>,
    pub(super) findings: Vec<Diagnostic>,
}

impl Binding<'_> {
    pub(super) fn run(&self) -> Bound {
        let mut out = Bound::default();
        for tool in &self.plugin.tools {
            let before = out.findings.len();
            let holds = self.when(tool, &mut out.findings);
            let def = self.preset(tool, &mut out.findings);
            let runs = self.program((&tool.run, &tool.folder, &tool.place), &mut out.findings);
            let sound = !out.findings[before..].iter().any(Diagnostic::is_error);
            if sound && holds && runs {
                out.contributions.push(self.contribution(tool, def));
            } else {
                // A broken one counts as present too: naming it elsewhere is no second fault.
                out.left_out.extend(names(tool));
            }
        }
        for hook in &self.plugin.hooks {
            let found = self.look_up(&hook.run, &hook.folder, &hook.place);
            if !found.iter().any(Diagnostic::is_error) {
                out.hooks.push(self.hook(hook));
            }
            out.findings.extend(found);
        }
        self.commands(&mut out);
        out
    }

    fn hook(&self, hook: &HookSource) -> Hook {
        let handler = bind_hook(self.spec(&hook.run, &hook.folder), Arc::clone(self.pool));
        Hook::new(hook.clone(), handler)
    }

    fn contribution(&self, tool: &ToolSource, def: ToolDef) -> Contribution {
        Contribution {
            owner: self.plugin.owner.clone(),
            name: tool.name.clone(),
            placement: tool.placement.clone(),
            source: Source::Folder,
            def,
            callable: bind(self.spec(&tool.run, &tool.folder), Arc::clone(self.pool)),
            runtime: "command",
            place: Some(tool.place.clone()),
            schema_pointer: tool.schema_pointer.clone(),
            code_digest: self.code_digest(&tool.folder),
            config: Arc::clone(self.config),
        }
    }

    /// What a program of an item is started with.
    pub(super) fn spec(&self, run: &RunSpec, folder: &str) -> CommandSpec {
        let RunSpec::Command { argv, cwd, .. } = run;
        CommandSpec {
            argv: argv.clone(),
            cwd: *cwd,
            tool_dir: self.root.join(folder),
            plugin_dir: self.root.to_path_buf(),
            owner: self.plugin.owner.clone(),
            env: self.env.to_vec(),
        }
    }

    /// Digest of the item's folder and of `lib/`.
    pub(super) fn code_digest(&self, folder: &str) -> String {
        let own = format!("{folder}/");
        let mut text = String::new();
        for file in self.plugin.files.iter().filter(|f| f.path.starts_with(&own) || f.path.starts_with("lib/")) {
            text.push_str(&file.path);
            text.push(if file.executable { '*' } else { ' ' });
            text.push_str(&file.sha256);
            text.push('\n');
        }
        sha256_hex(text)
    }

    /// Whether every entry of `[when]` holds.
    fn when(&self, tool: &ToolSource, findings: &mut Vec<Diagnostic>) -> bool {
        let mut missing = Vec::new();
        for (path, wanted) in &tool.when.config {
            if !schema_has(self.plugin.manifest.config_schema.as_ref(), path) {
                let message = format!("the configuration schema of `{}` has no `{path}`", self.plugin.owner);
                let d = Diagnostic::error("tool::when-unknown", message)
                    .help("name a property of `[config.schema]`, nested ones with dots");
                findings.push(tool.place.diag(d, &format!("/when/config/{}", escape(path))));
            } else if lookup(self.config, path) != Some(wanted) {
                missing.push(format!("`{path}` is not {wanted}"));
            }
        }
        let absent = tool.when.tokens.iter().filter(|t| !self.tokens.contains(*t));
        missing.extend(absent.map(|t| format!("nobody provides `{t}`")));
        if !missing.is_empty() {
            let message = format!("`{}` is left out: {}", tool.name, missing.join(", "));
            let d = Diagnostic::info("tool::left-out", message).help("its `[when]` decides it at every reload");
            findings.push(tool.place.diag(d, "/when"));
        }
        missing.is_empty()
    }

    /// The definition with its configuration presets resolved.
    fn preset(&self, tool: &ToolSource, findings: &mut Vec<Diagnostic>) -> ToolDef {
        let mut def = tool.def.clone();
        for (key, value) in &mut def.preset {
            let pointer = format!("/preset/{}", escape(key));
            let fault = |message: String, help: &str| {
                tool.place.diag(Diagnostic::error("tool::preset-invalid", message).help(help), &pointer)
            };
            if let Some(path) = expression(value, "${config.") {
                match lookup(self.config, path).cloned() {
                    Some(found) => *value = found,
                    None => findings.push(fault(
                        format!("the configuration of `{}` has no value at `{path}`", self.plugin.owner),
                        "give the property a default in `[config.schema]`, or set it in bot.toml",
                    )),
                }
            } else if let Some(name) = expression(value, "${secret.") {
                let granted: &Permissions = &self.plugin.manifest.permissions;
                if !self.plugin.owner.is_root() && !granted.secrets.iter().any(|s| s == name) {
                    findings.push(fault(
                        format!("`{}` has no permission to read the secret `{name}`", self.plugin.owner),
                        "add it to `permissions.secrets` of plugin.toml",
                    ));
                } else if !self.secrets.contains(name) {
                    let known = self.secrets.iter().map(String::as_str);
                    let help = crate::config::nearest_help(name, known);
                    findings.push(fault(format!("`[secrets]` of bot.toml has no `{name}`"), &help));
                }
            } else if value.as_str().is_some_and(|v| v.contains("${")) {
                findings.push(fault(
                    format!("`{}` is no expression of a preset", value.as_str().unwrap_or_default()),
                    "the whole value is `${config.PATH}` or `${secret.NAME}`, or it has no `${`",
                ));
            }
        }
        def
    }

    /// Whether the program of an item can be started.
    pub(super) fn program(
        &self,
        (run, folder, place): (&RunSpec, &str, &Place),
        findings: &mut Vec<Diagnostic>,
    ) -> bool {
        let RunSpec::Command { optional, .. } = run;
        let found = self.look_up(run, folder, place);
        // A check on another machine says nothing about this tool, an optional program does.
        let runs = found.is_empty() || (self.lenient && !*optional);
        findings.extend(found);
        runs
    }

    fn look_up(&self, run: &RunSpec, folder: &str, place: &Place) -> Vec<Diagnostic> {
        let RunSpec::Command { argv, optional, .. } = run;
        check_program(&ProgramCheck {
            argv,
            tool_dir: &self.root.join(folder),
            path: &self.pool.host_env().path,
            may_be_optional: place.item.starts_with("tool "),
            optional: *optional,
            lenient: self.lenient,
            place,
        })
    }
}

/// Qualified name and aliases of a tool.
pub(super) fn names(tool: &ToolSource) -> impl Iterator<Item = String> {
    let words = std::iter::once(&tool.name).chain(&tool.def.options.aliases);
    words.map(|n| tool.place.owner.qualify(&tool.placement.local(n)))
}

/// The inside of a value that is exactly one expression of this kind.
fn expression<'v>(value: &'v Value, open: &str) -> Option<&'v str> {
    value.as_str()?.strip_prefix(open)?.strip_suffix('}')
}

/// A value by its dotted path.
fn lookup<'c>(config: &'c Map<String, Value>, path: &str) -> Option<&'c Value> {
    let mut parts = path.split('.');
    let first = config.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

fn schema_has(schema: Option<&Value>, path: &str) -> bool {
    let step = |schema: &'_ Value, part: &str| -> Option<Value> { schema.get("properties")?.get(part).cloned() };
    let mut at = schema.cloned();
    for part in path.split('.') {
        at = at.and_then(|s| step(&s, part));
    }
    at.is_some()
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
