mod disk;
mod items;
mod layout;
mod manifests;
mod properties;
mod relations;
mod skills;

use super::*;
use crate::config::BotConfig;
use crate::config::doc::Doc;
use crate::config::shape;
use plugin_sdk::Diagnostic;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bot folder in a temporary place.
struct Bot {
    dir: tempfile::TempDir,
    toml: String,
    workspace_skills: Option<PathBuf>,
    never: Vec<PathBuf>,
}

const TOOL: &str = "description = \"Does it\"\nrun = { command = [\"python3\", \"main.py\"] }\n";
const PLUGIN: &str = "version = \"1.0.0\"\ndescription = \"A plugin\"\n";
const SKILL: &str = "---\ndescription: Plans a trip\n---\nAsk first.\n";

impl Bot {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), toml: String::new(), workspace_skills: None, never: Vec::new() }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let bot = Self::new();
        for (path, text) in files {
            bot.file(path, text);
        }
        bot
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join(rel)
    }

    fn file(&self, rel: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn program(&self, rel: &str, content: &str) -> &Self {
        self.file(rel, content);
        std::fs::set_permissions(self.path(rel), std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn link(&self, target: impl AsRef<Path>, rel: &str) -> &Self {
        let path = self.path(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    fn scan_with(&self, scanner: &mut Scanner) -> Result<SourceTree, UnstableInput> {
        let doc = Arc::new(Doc::parse_toml("bot", "bot.toml", &self.toml).unwrap());
        let (config, faults) = shape::check::<BotConfig>("bot", &doc);
        assert_eq!(faults, []);
        scanner.scan(&ScanOptions {
            bot_dir: self.dir.path(),
            data_dir: &self.path("data"),
            bot: &config.unwrap(),
            bot_doc: Some(doc),
            never: self.never.clone(),
            workspace_skills: self.workspace_skills.clone(),
            full: false,
        })
    }

    fn scan(&self) -> SourceTree {
        self.scan_with(&mut Scanner::new()).unwrap()
    }

    /// `CODE path:line:column` of every finding, in report order.
    fn found(&self) -> Vec<String> {
        let tree = self.scan();
        all(&tree).iter().map(line).collect()
    }

    fn only(&self, code: &str) -> Diagnostic {
        let tree = self.scan();
        let mut list: Vec<Diagnostic> = all(&tree).into_iter().filter(|d| d.code == code).collect();
        assert_eq!(list.len(), 1, "{code}: {:?}", all(&tree).iter().map(line).collect::<Vec<_>>());
        list.remove(0)
    }
}

fn all(tree: &SourceTree) -> Vec<Diagnostic> {
    let mut list: Vec<Diagnostic> =
        tree.plugins.iter().flat_map(|p| &p.diagnostics).chain(&tree.diagnostics).cloned().collect();
    list.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    list
}

fn line(d: &Diagnostic) -> String {
    let file = d.file.as_deref().unwrap_or("-");
    let at = d.line.map(|l| format!(":{l}:{}", d.column.unwrap_or(0))).unwrap_or_default();
    format!("{} {file}{at}", d.code)
}

fn plugin<'t>(tree: &'t SourceTree, owner: &str) -> &'t PluginSource {
    tree.plugins.iter().find(|p| p.owner.as_str() == owner).unwrap()
}

fn paths(plugin: &PluginSource) -> Vec<&str> {
    plugin.files.iter().map(|f| f.path.as_str()).collect()
}
