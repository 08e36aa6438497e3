use super::*;

#[test]
fn a_whole_tree_is_read_in_order() {
    let bot = Bot::with(&[
        ("tools/roll/tool.toml", TOOL),
        ("tools/roll/main.py", ""),
        ("tools/roll/helper.py", ""),
        ("skills/trip/SKILL.md", SKILL),
        ("skills/trip/tools/pack/tool.toml", TOOL),
        ("prompt-sections/house/SECTION.md", "---\ntitle: House\norder: 70\n---\nBe kind.\n"),
        ("AGENTS.md", "Rules."),
        ("lib/a.py", ""),
        ("tests/one.toml", "x = 1"),
        ("notes.txt", "not mine"),
        ("plugins/maps/plugin.toml", PLUGIN),
        ("plugins/games/plugin.toml", PLUGIN),
        ("plugins/games/plugins/dice/plugin.toml", PLUGIN),
        ("plugins/games/plugins/dice/tools/查询/tool.toml", TOOL),
        ("data/plugins/x/plugin.toml", "broken"),
    ]);
    let tree = bot.scan();
    assert_eq!(all(&tree), []);
    let owners: Vec<&str> = tree.plugins.iter().map(|p| p.owner.as_str()).collect();
    assert_eq!(owners, [".", "games", "games/dice", "maps"]);
    let root = plugin(&tree, ".");
    assert_eq!(
        paths(root),
        [
            "AGENTS.md",
            "lib/a.py",
            "prompt-sections/house/SECTION.md",
            "skills/trip/SKILL.md",
            "skills/trip/tools/pack/tool.toml",
            "tests/one.toml",
            "tools/roll/helper.py",
            "tools/roll/main.py",
            "tools/roll/tool.toml",
        ]
    );
    let names: Vec<String> = root.tools.iter().map(|t| t.placement.local(&t.name)).collect();
    assert_eq!(names, ["roll", "skill__trip__pack"]);
    assert_eq!(root.skills[0].description, "Plans a trip");
    assert_eq!((root.sections[0].order, root.sections[0].body.as_str()), (70, "Be kind."));
    assert_eq!(root.agents_md.as_deref(), Some("Rules."));
    assert_eq!(root.tests[0].path, "tests/one.toml");
    assert_eq!(plugin(&tree, "games/dice").tools[0].name, "查询");
    assert!(tree.watch.contains(&std::fs::canonicalize(bot.path("tools/roll")).unwrap()));
}

#[test]
fn places_and_names() {
    let bot = Bot::with(&[
        ("tools/x.toml", TOOL),
        ("skills/ok/tools/y.toml", TOOL),
        ("tools/deep/inner/tool.toml", TOOL),
        ("skills/a/b/SKILL.md", SKILL),
        ("skills/ok/SKILL.md", SKILL),
        ("skills/ok/pack/tool.toml", TOOL),
        ("tools/lower/Tool.toml", TOOL),
        ("tools/Weather/tool.toml", TOOL),
        ("tools/weather/tool.toml", TOOL),
        ("tools/a__b/tool.toml", TOOL),
        ("skills/Über_Trip/SKILL.md", SKILL),
        ("plugins/pack.tar.gz", ""),
        ("plugins/maps/maps-1/plugin.toml", PLUGIN),
        ("plugins/geo/plugin.toml", PLUGIN),
        ("plugins/geo/docs/a.md", ""),
        ("plugins/geo/README.md", ""),
        ("plugins/root/plugin.toml", PLUGIN),
        ("plugins/empty/.keep", ""),
    ]);
    assert_eq!(
        bot.found(),
        [
            "layout::not-included plugins/geo",
            "layout::no-manifest plugins/maps",
            "layout::archive plugins/pack.tar.gz",
            "name::invalid plugins/root",
            "layout::no-manifest skills/a",
            "layout::misplaced skills/a/b/SKILL.md",
            "layout::misplaced skills/ok/pack/tool.toml",
            "layout::misplaced skills/ok/tools/y.toml",
            "name::invalid skills/Über_Trip",
            "name::invalid tools/Weather",
            "name::double-underscore tools/a__b",
            "layout::no-manifest tools/deep",
            "layout::misplaced tools/deep/inner/tool.toml",
            "layout::no-manifest tools/lower",
            "name::case-clash tools/weather",
            "layout::misplaced tools/x.toml",
        ]
    );
    let tree = bot.scan();
    let help = |code: &str, file: &str| {
        let list = all(&tree);
        let d = list.iter().find(|d| d.code == code && d.file.as_deref() == Some(file)).unwrap();
        d.help.clone().unwrap()
    };
    assert_eq!(help("layout::no-manifest", "tools/deep"), "move `tools/deep/inner` up, to `tools/inner`");
    assert_eq!(help("layout::no-manifest", "plugins/maps"), "move `plugins/maps/maps-1` up, to `plugins/maps-1`");
    assert_eq!(help("layout::no-manifest", "tools/lower"), "rename `Tool.toml` to `tool.toml`");
    assert_eq!(help("layout::misplaced", "tools/x.toml"), "move it to `tools/x/tool.toml`");
    assert_eq!(help("layout::misplaced", "skills/ok/tools/y.toml"), "move it to `skills/ok/tools/y/tool.toml`");
    assert_eq!(help("layout::misplaced", "skills/a/b/SKILL.md"), "move it to `skills/b/SKILL.md`");
    assert_eq!(help("layout::misplaced", "skills/ok/pack/tool.toml"), "move it to `skills/ok/tools/pack/tool.toml`");
    assert!(help("name::invalid", "skills/Über_Trip").contains("`uber-trip`"));
    assert!(help("name::invalid", "tools/Weather").contains("`weather`"));
    assert_eq!(bot.only("name::case-clash").related[0].file, "tools/Weather");
}

#[test]
fn kinds_that_this_build_lacks() {
    let bot = Bot::with(&[
        ("mcp.json", "{}"),
        ("hooks/h/hook.toml", "events = [\"tool.before\"]\nrun = { wasm = \"h\" }\n"),
        (
            "plugins/n/plugin.toml",
            "version=\"1.0.0\"\ndescription=\"x\"\nsdk=\"^1.0\"\n[native]\nlibrary=\"n\"\n[wasm]\ncomponent=\"n.wasm\"\n",
        ),
        ("tools/nat/tool.toml", "description=\"x\"\n[run]\nnative=\"f\"\n"),
    ]);
    assert_eq!(
        bot.found(),
        [
            "plugin::runtime-absent hooks/h/hook.toml:2:9",
            "plugin::runtime-absent mcp.json",
            "plugin::runtime-absent plugins/n/plugin.toml:4:2",
            "plugin::runtime-absent plugins/n/plugin.toml:6:2",
            "plugin::two-runtimes plugins/n/plugin.toml:6:2",
            "plugin::runtime-absent tools/nat/tool.toml:3:1",
        ]
    );
}

#[test]
fn search_paths() {
    let mut bot = Bot::with(&[("plugins/a/plugin.toml", PLUGIN), ("more/a/plugin.toml", PLUGIN)]);
    bot.toml = "[plugins]\npaths = [\"plugins\", \"gone\", \"./plugins/\", \"more\"]\n".into();
    assert_eq!(
        bot.found(),
        [
            "bot::plugin-path-missing bot.toml:2:21",
            "bot::plugin-path-twice bot.toml:2:29",
            "plugin::duplicate-name more/a",
        ]
    );
    assert_eq!(bot.only("plugin::duplicate-name").related[0].file, "plugins/a");
    // the default path may be absent, but not once it held plugins
    let bot = Bot::new();
    assert_eq!(bot.found(), [] as [&str; 0]);
    bot.file("plugins/a/plugin.toml", PLUGIN);
    let mut scanner = Scanner::new();
    bot.scan_with(&mut scanner).unwrap();
    std::fs::rename(bot.path("plugins"), bot.path("away")).unwrap();
    let tree = bot.scan_with(&mut scanner).unwrap();
    assert_eq!(all(&tree).iter().map(line).collect::<Vec<_>>(), ["bot::plugin-path-missing plugins"]);
}

#[test]
fn nested_at_most_four_levels() {
    let bot = Bot::new();
    let mut at = String::from("plugins/p");
    for _ in 0..5 {
        bot.file(&format!("{at}/plugin.toml"), PLUGIN);
        at.push_str("/plugins/p");
    }
    let tree = bot.scan();
    assert_eq!(tree.plugins.last().unwrap().owner.as_str(), "p/p/p/p");
    assert_eq!(
        all(&tree).iter().map(line).collect::<Vec<_>>(),
        ["layout::misplaced plugins/p/plugins/p/plugins/p/plugins/p/plugins/p/plugin.toml"]
    );
}

#[test]
fn ignored_names_and_globs() {
    let mut bot = Bot::with(&[
        ("plugins/.staging-1/plugin.toml", "broken"),
        ("plugins/old/plugin.toml", "broken"),
        ("plugins/a/plugin.toml", PLUGIN),
        ("plugins/a/lib/x.py~", ""),
        ("plugins/a/lib/#x#", ""),
        ("plugins/a/lib/target/x", ""),
        ("plugins/a/lib/x.log", ""),
        ("plugins/a/lib/node_modules/m/index.js", ""),
        ("plugins/a/lib/x.py", ""),
    ]);
    bot.toml = "[plugins]\nignore = [\"plugins/old\", \"*.log\"]\n".into();
    let tree = bot.scan();
    assert_eq!(
        all(&tree).iter().map(line).collect::<Vec<_>>(),
        ["layout::shared-dependencies plugins/a/lib/node_modules"]
    );
    assert_eq!(paths(plugin(&tree, "a")), ["lib/x.py", "plugin.toml"]);
    assert_eq!(plugin(&tree, "a").links[0].0, "lib/node_modules");
    assert!(!tree.watch.iter().any(|w| w.to_string_lossy().contains("node_modules")));
    bot.toml = "[plugins]\nignore = [\"a[\"]\ninclude = [\"{\"]\n".into();
    let found = bot.found();
    assert!(found.contains(&"bot::bad-value bot.toml:3:12".to_string()), "{found:?}");
}

#[test]
fn include_takes_what_it_names_and_never_secrets() {
    let mut bot = Bot::with(&[
        ("secrets/t", "token"),
        (".env", "A=1"),
        ("bot.log", "log"),
        ("data/store/x", ""),
        ("ws/file", ""),
        ("docs/a.md", ""),
        ("docs/deep/b.md", ""),
        ("plugins/p/plugin.toml", &format!("{PLUGIN}include = [\"docs/**\", \"one.txt\"]\n")),
        ("plugins/p/docs/a.md", ""),
        ("plugins/p/one.txt", ""),
        ("plugins/p/two.txt", ""),
    ]);
    bot.link("secrets/t", "docs/sly");
    bot.toml = "[plugins]\ninclude = [\"**\"]\n".into();
    bot.never = vec![bot.path("secrets/t"), bot.path("bot.log"), bot.path("ws")];
    let tree = bot.scan();
    assert_eq!(paths(plugin(&tree, ".")), ["docs/a.md", "docs/deep/b.md"]);
    assert_eq!(paths(plugin(&tree, "p")), ["docs/a.md", "one.txt", "plugin.toml"]);
    assert_eq!(bot.only("layout::not-included").message, "no part of the plugin: two.txt");
}

#[test]
fn no_data_may_lie_in_a_folder_that_is_read() {
    use crate::config::BOT_FOLDERS;
    let read = super::super::places::Kind::ALL.map(super::super::places::Kind::container);
    for folder in read.into_iter().chain(["lib", "tests"]) {
        assert!(BOT_FOLDERS.contains(&folder), "{folder}");
    }
}
