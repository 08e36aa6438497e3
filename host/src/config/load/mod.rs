//! From the text of `bot.toml` to a checked configuration: parse, resolve, check, cross-check.

mod checks;
mod contract;
mod data_folder;
mod digest;
mod files;
mod policy;
mod resolve;
mod typed;

pub use checks::{ASSEMBLED_TOOLS, BUILTIN_KEYS};
pub use data_folder::{BOT_FOLDERS, data_folder_fault, has_tilde};
pub use policy::PolicyConfig;
pub use typed::take_types;

use super::doc::Doc;
use super::shape::{self, Fault};
use super::{BotConfig, Env, Secret};
use plugin_sdk::Diagnostic;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `load_bot` reads.
pub struct LoadInput<'a> {
    /// The bot folder.
    pub bot_dir: &'a Path,
    /// Text of `bot.toml`; `None` reads the file.
    pub text: Option<&'a str>,
    /// Variables of the process; `.env` of the bot folder is added here.
    pub env: &'a Env,
}

/// What came of it.
pub struct LoadedBot {
    /// The configuration; `None` with any error.
    pub config: Option<BotConfig>,
    /// Beside errors: the sections that could be read over the defaults, to look at the rest of the tree.
    /// `None` when it is not known which plugins there are.
    pub readable: Option<BotConfig>,
    /// The document as written, for places; `None` when it is no TOML.
    pub doc: Option<Arc<Doc>>,
    /// The keys that act at once; `None` when one of them is broken.
    pub policy: Option<PolicyConfig>,
    /// All findings, sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// `.env` and the targets of `*_file` keys: watched, never copied.
    pub secret_sources: Vec<PathBuf>,
    /// Every resolved secret value, for the redactor.
    pub secrets: Vec<Secret>,
    /// Variables that a secret key uses: never granted to a plugin.
    pub secret_variables: BTreeSet<String>,
    /// Variables of the process and of `.env`.
    pub env: Env,
    /// SHA-256 of the resolved configuration, secrets as their own hashes.
    pub digest: String,
}

impl LoadedBot {
    fn refused(diagnostics: Vec<Diagnostic>, env: &Env) -> Self {
        Self {
            config: None,
            readable: None,
            doc: None,
            policy: None,
            diagnostics,
            secret_sources: Vec::new(),
            secrets: Vec::new(),
            secret_variables: BTreeSet::new(),
            env: env.clone(),
            digest: String::new(),
        }
    }

    /// Whether the file says nothing: over a configuration that says something this is `bot::emptied`.
    pub fn is_empty(&self) -> bool {
        self.doc.as_ref().is_some_and(|d| d.text.trim().is_empty())
    }
}

/// SHA-256 of a configuration, each secret as its own hash: equal exactly when nothing differs in effect.
pub fn config_digest(config: &BotConfig) -> String {
    digest::digest(config)
}

/// Name of the file.
pub const BOT_FILE: &str = "bot.toml";

/// Reads, resolves and checks `bot.toml`.
pub fn load_bot(input: LoadInput<'_>) -> LoadedBot {
    let text = match input.text {
        Some(text) => files::decode(BOT_FILE, text.as_bytes(), files::MAX_BOT),
        None => files::read(BOT_FILE, &input.bot_dir.join(BOT_FILE), files::MAX_BOT),
    };
    let doc = match text.map_err(|d| vec![*d]).and_then(|t| Doc::parse_toml("bot", BOT_FILE, &t)) {
        Ok(doc) => Arc::new(doc),
        Err(faults) => return LoadedBot::refused(faults, input.env),
    };
    let (env, mut diagnostics) = files::with_dotenv(input.bot_dir, input.env);
    let resolved = resolve::resolve(&doc, input.bot_dir, &env);
    let shown = doc.with_root(resolved.root);
    let (value, mut faults) = shape::walk_value("bot", &shown, &shape::schema_for::<BotConfig>());
    contract::name_unbuilt(&mut faults, &doc);
    // a value that could not be resolved has its finding already
    faults.retain(|f| !resolved.faults.iter().any(|r| r.path == f.path));
    faults.extend(resolved.faults);
    checks::adapters(&doc, &mut faults);
    let draft = checks::cross(&doc, &value, input.bot_dir, &mut faults);
    let policy = policy::extract(&value, &faults);
    diagnostics.extend(faults.into_iter().map(|f| f.diagnostic));
    diagnostics.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let mut config = draft.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    for (model, reason) in resolved.unavailable {
        if let Some(model) = config.as_mut().and_then(|c| c.models.get_mut(&model)) {
            model.unavailable = Some(reason);
        }
    }
    let digest = config.as_ref().map(digest::digest).unwrap_or_default();
    let mut secret_sources = resolved.secret_sources;
    secret_sources.push(input.bot_dir.join(".env"));
    LoadedBot {
        readable: if config.is_none() { checks::readable(&value) } else { None },
        config,
        doc: Some(doc),
        policy,
        diagnostics,
        secret_sources,
        secrets: resolved.secrets,
        secret_variables: resolved.secret_variables,
        env,
        digest,
    }
}

/// A finding with the path it is about.
fn at(doc: &Doc, path: &[&str], diagnostic: Diagnostic) -> Fault {
    let pointer: String = path.iter().map(|p| format!("/{}", p.replace('~', "~0").replace('/', "~1"))).collect();
    Fault { path: path.iter().map(|p| (*p).to_string()).collect(), diagnostic: doc.diag(diagnostic, &pointer) }
}

/// The same at the key.
fn at_key(doc: &Doc, path: &[&str], diagnostic: Diagnostic) -> Fault {
    let pointer: String = path.iter().map(|p| format!("/{}", p.replace('~', "~0").replace('/', "~1"))).collect();
    Fault { path: path.iter().map(|p| (*p).to_string()).collect(), diagnostic: doc.diag_key(diagnostic, &pointer) }
}

#[cfg(test)]
mod tests;
