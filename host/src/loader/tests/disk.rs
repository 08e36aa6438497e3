use super::*;
use crate::task::{Clock, SystemClock};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::time::Duration;

fn fifo(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::from(0o600), 0).unwrap();
}

#[test]
fn links_and_odd_files() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("tool.toml"), "SECRET = 1").unwrap();
    std::fs::create_dir(outside.path().join("dir")).unwrap();
    let bot = Bot::with(&[
        ("shared/real/tool.toml", TOOL),
        ("tools/dir/tool.toml/x", ""),
        ("plugins/p/plugin.toml", PLUGIN),
        ("plugins/p/lib/a", ""),
    ]);
    bot.link(bot.path("shared/real"), "tools/linked");
    bot.link(outside.path().join("tool.toml"), "tools/outside/tool.toml");
    bot.link(outside.path().join("dir"), "plugins/p/lib/dir");
    bot.link("../lib", "plugins/p/lib/up");
    bot.link("self", "plugins/p/lib/self");
    bot.link("nowhere", "plugins/p/lib/dangling");
    fifo(&bot.path("skills/pipe/SKILL.md"));
    let tree = bot.scan();
    assert_eq!(
        all(&tree).iter().map(line).collect::<Vec<_>>(),
        [
            "layout::symlink-dangling plugins/p/lib/dangling",
            "layout::symlink-outside plugins/p/lib/dir",
            "layout::symlink-loop plugins/p/lib/self",
            "layout::symlink-loop plugins/p/lib/up",
            "layout::not-a-file skills/pipe/SKILL.md",
            "layout::not-a-file tools/dir/tool.toml",
            "layout::symlink-outside tools/outside/tool.toml",
        ]
    );
    assert!(!format!("{tree:?}").contains("SECRET"));
    let root = plugin(&tree, ".");
    assert_eq!(root.tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["linked"]);
    assert!(paths(root).contains(&"tools/linked/tool.toml"));
    assert_eq!(paths(plugin(&tree, "p")), ["lib/a", "plugin.toml"]);
    let help = all(&tree).into_iter().find(|d| d.code == "layout::not-a-file").unwrap().help.unwrap();
    assert!(help.contains("[plugins] ignore"), "{help}");
}

#[test]
fn a_manifest_outside_makes_no_plugin() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("plugin.toml"), PLUGIN).unwrap();
    let bot = Bot::with(&[("plugins/p/tools/t/tool.toml", TOOL)]);
    bot.link(outside.path().join("plugin.toml"), "plugins/p/plugin.toml");
    let tree = bot.scan();
    assert_eq!(tree.plugins.len(), 1);
    assert_eq!(bot.found(), ["layout::symlink-outside plugins/p/plugin.toml"]);
}

#[test]
fn a_link_into_a_search_path_is_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("maps")).unwrap();
    std::fs::write(outside.path().join("maps/plugin.toml"), PLUGIN).unwrap();
    let mut bot = Bot::with(&[("plugins/.keep", "")]);
    bot.link(outside.path().join("maps"), "plugins/maps");
    assert_eq!(bot.found(), ["layout::symlink-outside plugins/maps"]);
    bot.toml = format!("[plugins]\npaths = [\"plugins\", {:?}]\n", outside.path().join("other"));
    std::fs::create_dir(outside.path().join("other")).unwrap();
    assert_eq!(bot.found(), ["layout::symlink-outside plugins/maps"]);
    bot.toml = format!("[plugins]\npaths = [\"plugins\", {:?}]\n", outside.path());
    let found = bot.found();
    assert_eq!(found.iter().filter(|f| f.contains("symlink")).count(), 0, "{found:?}");
}

#[test]
fn too_big_is_not_read() {
    let bot = Bot::with(&[("skills/huge/SKILL.md", ""), ("prompt-sections/big/SECTION.md", "")]);
    let huge = std::fs::File::options().write(true).open(bot.path("skills/huge/SKILL.md")).unwrap();
    huge.set_len(50 * 1024 * 1024).unwrap();
    bot.file("prompt-sections/big/SECTION.md", vec![b'x'; 65 * 1024]);
    bot.file("AGENTS.md", vec![b'x'; 65 * 1024]);
    let mut scanner = Scanner::new();
    let tree = bot.scan_with(&mut scanner).unwrap();
    assert_eq!(
        all(&tree).iter().map(line).collect::<Vec<_>>(),
        [
            "layout::too-big AGENTS.md",
            "layout::too-big prompt-sections/big/SECTION.md",
            "layout::too-big skills/huge/SKILL.md",
        ]
    );
    assert_eq!(tree.files_read, 0);
    // a file set has a limit of its own
    let bot = Bot::with(&[("lib/video", "")]);
    std::fs::File::options().write(true).open(bot.path("lib/video")).unwrap().set_len(513 << 20).unwrap();
    assert_eq!(bot.found(), ["layout::too-big "]);
}

#[test]
fn fifty_thousand_dependency_folders_are_not_walked() {
    let bot = Bot::with(&[("tools/t/tool.toml", TOOL)]);
    let modules = bot.path("tools/t/node_modules");
    std::fs::create_dir(&modules).unwrap();
    for n in 0..50_000 {
        std::fs::create_dir(modules.join(format!("m{n}"))).unwrap();
    }
    let tree = bot.scan();
    assert_eq!(tree.files_read, 1);
    assert_eq!(plugin(&tree, ".").links.len(), 1);
    assert!(tree.watch.len() < 10);
}

#[test]
fn only_changed_files_are_opened() {
    let bot = Bot::with(&[("tools/a/tool.toml", TOOL), ("tools/b/tool.toml", TOOL), ("lib/x", "1")]);
    let old = std::time::UNIX_EPOCH + Duration::from_secs(60);
    let mut scanner = Scanner::with_clock(later());
    let first = bot.scan_with(&mut scanner).unwrap();
    assert_eq!(first.files_read, 3);
    assert_eq!(bot.scan_with(&mut scanner).unwrap().files_read, 0);
    // same size, same mtime: ctime tells
    bot.file("lib/x", "2");
    std::fs::File::options().write(true).open(bot.path("lib/x")).unwrap().set_modified(old).unwrap();
    let second = bot.scan_with(&mut scanner).unwrap();
    assert_eq!(second.files_read, 1);
    let hash = |tree: &SourceTree| plugin(tree, ".").files.iter().find(|f| f.path == "lib/x").unwrap().sha256.clone();
    assert_ne!(hash(&first), hash(&second));
    // a hash taken within 100 ms of the change is not believed
    let mut fresh = Scanner::new();
    bot.file("lib/x", "3");
    bot.scan_with(&mut fresh).unwrap();
    assert!(bot.scan_with(&mut fresh).unwrap().files_read >= 1);
}

fn later() -> crate::task::SharedClock {
    let clock = crate::task::ManualClock::new(SystemClock::new().now() + chrono::TimeDelta::hours(1));
    Arc::new(clock)
}

#[test]
fn input_that_never_rests_is_unstable() {
    let fault = UnstableInput { path: "lib/x".into(), attempts: 4 };
    assert_eq!(line(&fault.diagnostic()), "reload::unstable-input lib/x");
    // a folder that is not there cannot be listed
    let bot = Bot::new();
    let gone = Bot::new();
    let path = gone.path("");
    drop(gone);
    let result = Scanner::new().scan(&ScanOptions {
        bot_dir: &path,
        data_dir: &bot.path("data"),
        bot: &BotConfig::default(),
        bot_doc: None,
        never: Vec::new(),
        workspace_skills: None,
        full: true,
    });
    assert!(result.is_err());
}

#[test]
fn a_change_under_the_read_is_seen() {
    use crate::loader::disk::{ReadFault, Roots, Stat};
    let bot = Bot::with(&[("lib/x", "one")]);
    let root = std::fs::canonicalize(bot.dir.path()).unwrap();
    let roots = Roots(vec![root.clone()]);
    let path = root.join("lib/x");
    let listed = Stat::of(&std::fs::metadata(&path).unwrap());
    std::fs::write(&path, "longer").unwrap();
    assert!(matches!(roots.read(&path, &listed, 100, &mut |_| ()), Err(ReadFault::Unstable)));
    let listed = Stat::of(&std::fs::metadata(&path).unwrap());
    let grow = |_: &[u8]| {
        std::fs::write(&path, "longer still").unwrap();
    };
    let mut grow = grow;
    assert!(matches!(roots.read(&path, &listed, 100, &mut grow), Err(ReadFault::Unstable)));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(roots.read(&path, &listed, 100, &mut |_| ()), Err(ReadFault::Unstable)));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let bot = Bot::with(&[("tools/a/tool.toml", TOOL)]);
    std::fs::create_dir(bot.path("tools").join(std::ffi::OsStr::from_bytes(b"b\xff"))).unwrap();
    std::fs::write(bot.path("").join(std::ffi::OsStr::from_bytes(b"note\xfe")), "").unwrap();
    assert_eq!(bot.found(), ["name::not-utf8 tools/b\\xff"]);
}

#[test]
fn order_is_that_of_names_not_of_the_disk() {
    let names = ["b", "a", "é", "e", "z", "天气"];
    let tree = |order: &[&str]| {
        let bot = Bot::new();
        for name in order {
            bot.file(&format!("tools/{name}/tool.toml"), TOOL);
            bot.file(&format!("plugins/{name}/plugin.toml"), PLUGIN);
        }
        let tree = bot.scan();
        let tools: Vec<String> = tree.plugins[0].tools.iter().map(|t| t.name.clone()).collect();
        let owners: Vec<String> = tree.plugins.iter().map(|p| p.owner.to_string()).collect();
        let hash = plugin_hash(&tree.plugins[0], HashInput::default());
        (tools, owners, hash)
    };
    let mut turned = names;
    turned.reverse();
    assert_eq!(tree(&names), tree(&turned));
    assert_eq!(tree(&names).0, ["a", "b", "e", "z", "é", "天气"]);
}

#[test]
fn an_unchanged_plugin_is_taken_over_and_a_changed_one_is_not() {
    let tool = format!("{TOOL}input_schema = \"../../schemas/in.json\"\n");
    let bot = Bot::with(&[
        ("plugins/p/plugin.toml", &format!("{PLUGIN}include = [\"docs/*\"]\n")),
        ("plugins/p/tools/t/tool.toml", &tool),
        ("plugins/p/schemas/in.json", "{\"type\": \"object\"}"),
        ("plugins/p/docs/a", "1"),
        ("plugins/p/other", ""),
        ("plugins/q/plugin.toml", PLUGIN),
        ("plugins/q/tools/t/tool.toml", "x = 1"),
    ]);
    let mut scanner = Scanner::with_clock(later());
    let check = |scanner: &mut Scanner| {
        let (warm, cold) = (bot.scan_with(scanner).unwrap(), bot.scan());
        assert_eq!(format!("{:?}", warm.plugins), format!("{:?}", cold.plugins));
        assert_eq!((warm.diagnostics, warm.watch), (cold.diagnostics, cold.watch));
        warm.files_read
    };
    check(&mut scanner);
    assert_eq!(check(&mut scanner), 0);
    bot.file("plugins/p/schemas/in.json", "{\"type\": \"array\"}");
    assert_eq!(check(&mut scanner), 1);
    bot.file("plugins/p/docs/b", "1");
    check(&mut scanner);
    bot.file("plugins/p/more", "1");
    check(&mut scanner);
    bot.file("plugins/p/tools/t/tool.toml", "y = 1");
    check(&mut scanner);
    std::fs::remove_dir_all(bot.path("plugins/p")).unwrap();
    check(&mut scanner);
}
