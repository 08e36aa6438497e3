use super::*;
use crate::admission::PolicyCell;
use crate::config::{Env, Redactor};
use crate::runtime::command::{CommandPool, HostEnv};
use crate::task::{Clock, ManualClock, SystemClock, Tasks};
use plugin_sdk::{OwnerPath, Severity};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct World {
    bot: tempfile::TempDir,
    policy: Arc<PolicyCell>,
    shop: Arc<Workshop>,
}

impl World {
    fn new(bot_toml: &str) -> Self {
        let bot = tempfile::tempdir().unwrap();
        fs::write(bot.path().join("bot.toml"), bot_toml).unwrap();
        fs::create_dir(bot.path().join("plugins")).unwrap();
        let policy = Arc::new(PolicyCell::default());
        let clock = SystemClock::shared();
        let path = "/usr/bin:/bin".to_owned();
        let data_dir = bot.path().join("data");
        let host_env = HostEnv { path, timezone: "UTC".into() };
        let pool = Arc::new(CommandPool::new(4, clock.clone(), &data_dir, Tasks::new(), host_env));
        let setup = WorkshopSetup {
            bot_dir: bot.path().to_path_buf(),
            data_dir,
            env: Env::of([("PATH", "/bin")]),
            builtins: Arc::new(|_| Vec::new()),
            pool,
            policy: policy.clone(),
            redactor: Redactor::new(),
            clock,
        };
        let shop = Workshop::new(setup).unwrap();
        Self { bot, policy, shop }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.bot.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn plugin(&self, name: &str, more: &str) {
        self.write(
            &format!("plugins/{name}/plugin.toml"),
            &format!("version = \"1.0.0\"\ndescription = \"d\"\n{more}"),
        );
        self.tool(&format!("plugins/{name}"), "go", "");
    }

    fn tool(&self, plugin: &str, name: &str, more: &str) {
        let text = format!("description = \"does {name}\"\nrun = {{ command = [\"./main.sh\"] }}\n{more}");
        self.write(&format!("{plugin}/tools/{name}/tool.toml"), &text);
        let main = self.write(&format!("{plugin}/tools/{name}/main.sh"), "#!/bin/sh\necho '{}'\n");
        fs::set_permissions(main, fs::Permissions::from_mode(0o755)).unwrap();
    }

    async fn prepare(&self, base: Option<&Candidate>, rule: Rule) -> Result<Candidate, Box<Rejected>> {
        let base = base.map(|c| Base { contents: c.contents.clone(), failed: c.failed.clone() });
        self.shop.prepare(PrepareRequest { base, rule, ..PrepareRequest::default() }).await
    }

    async fn fine(&self, base: Option<&Candidate>) -> Candidate {
        match self.prepare(base, Rule::Reload).await {
            Ok(candidate) => candidate,
            Err(rejected) => panic!("{:#?}", rejected.diagnostics()),
        }
    }

    fn trees(&self) -> Vec<String> {
        names(&self.bot.path().join("data/trees"))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn codes(rejected: &Rejected) -> Vec<&str> {
    rejected.diagnostics().iter().filter(|d| d.severity == Severity::Error).map(|d| d.code.as_str()).collect()
}

fn tools(candidate: &Candidate) -> Vec<String> {
    candidate.contents.indexes.tools.tools().iter().map(|t| t.qualified.to_string()).collect()
}

fn owners(list: &[OwnerPath]) -> Vec<&str> {
    list.iter().map(OwnerPath::as_str).collect()
}

#[tokio::test]
async fn a_tree_becomes_contents_and_a_read_only_copy() {
    let world = World::new("");
    world.plugin("maps", "");
    world.tool(".", "hello", "");
    let candidate = world.fine(None).await;
    assert_eq!(tools(&candidate), ["hello", "maps__go"]);
    let maps = candidate.contents.plugin(&OwnerPath::new("maps")).unwrap();
    let tree = world.bot.path().join("data/trees").join(&maps.hash);
    let mode = |path: &str| fs::metadata(tree.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(""), mode("tools/go")), (0o700, 0o700));
    assert_eq!((mode("plugin.toml"), mode("tools/go/main.sh")), (0o400, 0o500));
    assert_eq!(world.trees().len(), 2);
    let steps: Vec<_> = candidate.report.steps.iter().map(|(name, _)| *name).collect();
    assert_eq!(steps, ["configuration", "read", "tree", "views", "copy", "index"]);
    world.shop.discard(candidate).await;
    assert!(world.trees().is_empty(), "a discarded candidate leaves nothing");
    assert!(names(&world.bot.path().join("data/files")).is_empty());
}

#[tokio::test]
async fn nothing_changed_is_nothing_to_publish() {
    let world = World::new("");
    world.plugin("maps", "");
    let first = world.fine(None).await;
    let again = world.fine(Some(&first)).await;
    assert!(again.unchanged && Arc::ptr_eq(&first.contents, &again.contents));
    world.write("notes.txt", "not of any file set");
    assert!(world.fine(Some(&first)).await.unchanged);
}

#[tokio::test]
async fn only_what_changed_is_made_again() {
    let world = World::new("");
    for name in ["a", "b", "c"] {
        world.plugin(name, "");
    }
    world.plugin("d", "depends = [{ plugin = \"b\" }]");
    // Long after the files were written, so that their hashes are trusted.
    let later = ManualClock::new(SystemClock::new().now() + chrono::TimeDelta::days(1));
    *world.shop.scanner.lock().unwrap() = crate::loader::Scanner::with_clock(later.shared());
    let first = world.fine(None).await;
    world.write("plugins/b/lib/part.sh", "echo new");
    let second = world.fine(Some(&first)).await;
    assert_eq!(owners(&second.report.rebuilt), ["b", "d"], "a dependant is made again with what it needs");
    assert_eq!(owners(&second.report.reused), [".", "a", "c"]);
    assert_eq!(second.report.files_read, 1);
    let same =
        |c: &Candidate, n: &str| c.contents.instances.iter().find(|i| i.owner.as_str() == n).map(Arc::as_ptr).unwrap();
    assert_eq!(same(&first, "a"), same(&second, "a"));
    assert_ne!(same(&first, "b"), same(&second, "b"));
}

#[tokio::test]
async fn a_write_into_the_copy_is_seen_and_put_right() {
    let world = World::new("");
    world.plugin("maps", "");
    let first = world.fine(None).await;
    let hash = &first.contents.plugin(&OwnerPath::new("maps")).unwrap().hash;
    let main = world.bot.path().join("data/trees").join(hash).join("tools/go/main.sh");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(&main, "#!/bin/sh\necho changed\n").unwrap();
    fs::write(main.with_file_name("extra"), "x").unwrap();
    let again = world.fine(Some(&first)).await;
    assert!(again.unchanged);
    let found: Vec<_> = again.report.diagnostics.iter().filter(|d| d.code == "run::wrote-into-copy").collect();
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(fs::read_to_string(&main).unwrap(), "#!/bin/sh\necho '{}'\n");
    assert_eq!(names(main.parent().unwrap()), ["main.sh", "tool.toml"]);
}

#[tokio::test]
async fn all_faults_of_all_plugins_come_at_once_and_nothing_stays() {
    let world = World::new("");
    world.plugin("a", "nonsense = 1");
    world.plugin("b", "");
    world.write("plugins/b/tools/go/tool.toml", "description = \"d\"");
    world.plugin("c", "[config.schema]\ntype = \"object\"\n");
    world.tool("plugins/c", "when", "[when.config]\nabsent = true\n");
    let rejected = world.prepare(None, Rule::Reload).await.err().unwrap();
    let mut found = codes(&rejected);
    found.sort_unstable();
    assert_eq!(found, ["plugin::unknown-key", "tool::no-run", "tool::when-unknown"]);
    assert_eq!(rejected.failed_step, "tree");
    assert!(world.trees().is_empty(), "{:?}", world.trees());
}

#[tokio::test]
async fn at_the_start_a_broken_plugin_goes_with_what_needs_it() {
    let world = World::new("");
    for name in ["a", "b"] {
        world.plugin(name, "");
    }
    world.plugin("c", "nonsense = 1");
    world.plugin("d", "depends = [{ plugin = \"c\" }]");
    world.plugin("c/plugins/inner", "");
    world.tool(".", "fine", "");
    world.tool(".", "bad", "unknown = 1");
    let started = world.prepare(None, Rule::Start).await.ok().unwrap();
    assert_eq!(tools(&started), ["fine", "a__go", "b__go"]);
    let failed: Vec<_> = started.failed.iter().map(|f| f.owner.as_str()).collect();
    assert_eq!(failed, [".", "c", "c/inner", "d"]);
    assert_eq!(started.failed[1].causes[0].code, "plugin::unknown-key");
    assert_eq!(started.failed[3].because_of, Some(OwnerPath::new("c")));
    assert!(world.prepare(None, Rule::Strict).await.is_err());

    // Unchanged, it refuses nothing; what else changes is published.
    let same = world.fine(Some(&started)).await;
    assert!(same.unchanged);
    world.write("plugins/a/lib/x", "1");
    let later = world.fine(Some(&started)).await;
    assert_eq!(later.failed.len(), 4);
    // Changed, it is judged like every plugin.
    world.write("plugins/c/plugin.toml", "version = \"1.0.0\"\ndescription = \"d\"\nworse = 1");
    assert!(world.prepare(Some(&later), Rule::Reload).await.is_err());
    world.write("plugins/c/plugin.toml", "version = \"1.0.0\"\ndescription = \"d\"\n");
    let repaired = world.fine(Some(&later)).await;
    assert_eq!(tools(&repaired), ["fine", "a__go", "b__go", "c__go", "c__inner__go", "d__go"]);
}

#[tokio::test]
async fn a_denial_acts_though_the_candidate_is_refused() {
    let world = World::new("[access]\nmode = \"open\"\n");
    world.plugin("a", "");
    let first = world.fine(None).await;
    world.write("bot.toml", "[access]\nmode = \"open\"\ndeny = [\"telegram:7\"]\n");
    world.write("plugins/a/tools/go/tool.toml", "description = ");
    let rejected = world.prepare(Some(&first), Rule::Reload).await.err().unwrap();
    assert!(rejected.report.policy_applied);
    assert_eq!(world.policy.read().input().access.deny, ["telegram:7"]);
}

#[tokio::test]
async fn a_condition_leaves_a_tool_out_until_the_configuration_says_otherwise() {
    let config = "[config.schema.properties]\non = { type = \"boolean\", default = false }\nunit = { type = \"string\", default = \"km\" }\n[config.schema]\ntype = \"object\"\n";
    let world = World::new("");
    world.plugin("a", config);
    let more = "[when.config]\non = true\n[input]\nunit = \"string\"\n[preset]\nunit = \"${config.unit}\"\n";
    world.tool("plugins/a", "extra", more);
    let first = world.fine(None).await;
    assert_eq!(tools(&first), ["a__go"]);
    assert!(first.contents.warnings.iter().any(|d| d.code == "tool::left-out"));
    world.write("bot.toml", "[plugins.config.a]\non = true\n");
    let second = world.fine(Some(&first)).await;
    assert_eq!(tools(&second), ["a__extra", "a__go"]);
    let extra = second.contents.indexes.tools.get("a__extra").unwrap();
    assert_eq!(extra.def().preset["unit"], "km");
}

#[tokio::test]
async fn a_plugin_whose_files_still_change_stays_as_published() {
    let world = World::new("");
    world.plugin("a", "");
    let first = world.fine(None).await;
    world.write("plugins/a/tools/go/tool.toml", "description = ");
    world.plugin("b", "");
    let base = Some(Base { contents: first.contents.clone(), failed: Vec::new() });
    let hold = [OwnerPath::new("a"), OwnerPath::new("b")].into();
    let request = PrepareRequest { base, hold, ..PrepareRequest::default() };
    let second = world.shop.prepare(request).await.ok().unwrap();
    assert_eq!(owners(&second.report.settling), ["a", "b"]);
    assert_eq!(tools(&second), ["a__go"]);
}

#[tokio::test]
async fn process_keys_keep_their_value() {
    let world = World::new("");
    let first = world.fine(None).await;
    world.write("bot.toml", "[store]\ncache_mb = 8\n");
    let base = Some(Base { contents: first.contents.clone(), failed: Vec::new() });
    let process = Some(first.contents.bot.clone());
    let second = world.shop.prepare(PrepareRequest { base, process, ..PrepareRequest::default() }).await.ok().unwrap();
    assert!(second.unchanged);
    assert_eq!(second.report.restart_keys, ["store.cache_mb"]);
}

#[tokio::test]
async fn a_preparation_out_of_time_or_stopped_is_refused_and_leaves_nothing() {
    let world = World::new("");
    world.plugin("a", "");
    let late = PrepareRequest { timeout: Some(std::time::Duration::ZERO), ..PrepareRequest::default() };
    let stopped = PrepareRequest::default();
    stopped.stop.request();
    for request in [late, stopped] {
        let rejected = world.shop.prepare(request).await.err().unwrap();
        assert_eq!(codes(&rejected), ["reload::prepare-timeout"]);
    }
    assert!(world.trees().is_empty());
}

#[tokio::test]
async fn a_named_plugin_is_made_again_though_it_has_not_changed() {
    let world = World::new("");
    world.plugin("a", "");
    let first = world.fine(None).await;
    let base = Some(Base { contents: first.contents.clone(), failed: Vec::new() });
    let rebuild = [OwnerPath::new("a"), OwnerPath::new("aa")].into();
    let again = world.shop.prepare(PrepareRequest { base, rebuild, ..PrepareRequest::default() }).await.ok().unwrap();
    assert!(!again.unchanged);
    assert_eq!(owners(&again.report.rebuilt), ["a"]);
    let unknown = again.report.diagnostics.iter().find(|d| d.code == "config::unknown-owner").unwrap();
    assert_eq!(unknown.help.as_deref(), Some("did you mean `a`?"));
}
