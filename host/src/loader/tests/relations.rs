use super::*;
use serde_json::{Value, json};

fn manifest(extra: &str) -> String {
    format!("{PLUGIN}{extra}\n")
}

fn plugins(list: &[(&str, &str)]) -> Bot {
    let bot = Bot::new();
    for (name, extra) in list {
        bot.file(&format!("plugins/{name}/plugin.toml"), manifest(extra));
    }
    bot
}

#[test]
fn dependencies_come_first() {
    let bot = plugins(&[("a", "depends = [{ plugin = \"z\", version = \"^1\" }]"), ("m", ""), ("z", "")]);
    let tree = bot.scan();
    assert_eq!(all(&tree), []);
    assert_eq!(tree.plugins.iter().map(|p| p.owner.as_str()).collect::<Vec<_>>(), [".", "m", "z", "a"]);
}

#[test]
fn dependencies_that_fail() {
    let bot = plugins(&[
        ("a", "depends = [{ plugin = \"gone\" }]"),
        ("b", "depends = [{ plugin = \"z\", version = \"^2\" }]"),
        ("c", "depends = [{ plugin = \"gone\", optional = true }]"),
        ("d", "depends = [{ plugin = \"e\" }]"),
        ("e", "depends = [{ plugin = \"d\" }]"),
        ("f", "depends = [{ plugin = \"off\" }]"),
        ("off", "enabled = false"),
        ("z", ""),
    ]);
    assert_eq!(
        bot.found(),
        [
            "plugin::dependency-missing plugins/a/plugin.toml:3:23",
            "plugin::dependency-missing plugins/b/plugin.toml:3:38",
            "plugin::dependency-skipped plugins/c/plugin.toml:3:23",
            "plugin::dependency-cycle plugins/d/plugin.toml:3:23",
            "plugin::dependency-missing plugins/f/plugin.toml:3:23",
        ]
    );
    assert!(bot.only("plugin::dependency-cycle").message.ends_with("`d` → `e` → `d`"));
    let bot = plugins(&[("g", "depends = [{ plugin = \"g/h\" }]"), ("g/plugins/h", "")]);
    assert_eq!(bot.found(), ["plugin::dependency-cycle plugins/g/plugin.toml:3:23"]);
}

#[test]
fn tokens() {
    let bot = plugins(&[
        ("a", "requires = [\"geo-index\", \"store\"]"),
        ("b", "requires = [\"geo-index\"]\ndepends = [{ plugin = \"geo\" }]"),
        ("geo", "provides = [\"geo-index\"]"),
        ("geo/plugins/in", "requires = [\"geo-index\"]"),
        ("t", "provides = [\"x\", \"x\"]\nrequires = [\"Bad\"]"),
    ]);
    assert_eq!(
        bot.found(),
        [
            "plugin::missing-token plugins/a/plugin.toml:3:13",
            "plugin::duplicate-token plugins/t/plugin.toml:3:18",
            "plugin::bad-value plugins/t/plugin.toml:4:13",
        ]
    );
}

#[test]
fn a_disabled_plugin_contributes_nothing_and_refuses_nothing() {
    let mut bot = plugins(&[("games", ""), ("games/plugins/dice", "")]);
    bot.file("plugins/games/plugins/dice/tools/roll/tool.toml", TOOL);
    bot.file("plugins/games/tools/bad/tool.toml", "x = 1");
    bot.toml = "[plugins]\ndisabled = [\"games\"]\n".into();
    let tree = bot.scan();
    assert!(all(&tree).iter().all(|d| !d.is_error()));
    assert_eq!(all(&tree).len(), 3);
    let dice = plugin(&tree, "games/dice");
    assert!(!dice.enabled && dice.tools.is_empty());
    bot.toml = String::new();
    assert_eq!(plugin(&bot.scan(), "games/dice").tools.len(), 1);
}

#[test]
fn values_of_a_manifest() {
    for (extra, expected) in [
        ("sdk = \"^99\"", "plugin::sdk plugins/p/plugin.toml:3:7"),
        ("sdk = \"many\"", "plugin::bad-value plugins/p/plugin.toml:3:7"),
        ("features = [\"x\"]", "plugin::unknown-key plugins/p/plugin.toml:3:1"),
        ("include = [\"a\", \"{\"]", "plugin::bad-value plugins/p/plugin.toml:3:17"),
        ("permissions = { http = [\"https://x\"] }", "plugin::bad-value plugins/p/plugin.toml:3:25"),
        ("permissions = { env = [\"A\"] }", "plugin::permission-not-granted plugins/p/plugin.toml:3:24"),
        ("permissions = { filesystem = \"workspace\" }", "plugin::permission-not-granted plugins/p/plugin.toml:3:30"),
        ("permissions = { send = \"any\" }", "plugin::permission-not-granted plugins/p/plugin.toml:3:24"),
        ("permissions = { process = true }", "plugin::permission-not-granted plugins/p/plugin.toml:3:27"),
        (
            "permissions = { call_tools = [\"x__*\", \"p__y\"] }",
            "plugin::permission-not-granted plugins/p/plugin.toml:3:31",
        ),
        ("config = { defaults = { a = 1 } }", "plugin::bad-value plugins/p/plugin.toml:3:12"),
        ("config = { schema = { type = \"array\" } }", "schema::root plugins/p/plugin.toml:3:30"),
        (
            "config = { schema = { type = \"object\", properties = { a = { \"$ref\" = \"https://x/y\" } } } }",
            "schema::remote-ref plugins/p/plugin.toml:3:70",
        ),
        (
            "config = { schema = { type = \"object\", properties = { a = { type = \"integer\" } } }, defaults = { a = \"x\" } }",
            "plugin::bad-value plugins/p/plugin.toml:3:102",
        ),
    ] {
        assert_eq!(plugins(&[("p", extra)]).found(), [expected], "{extra}");
    }
    let broad = plugins(&[("p", "permissions = { http = [\"*\"], secrets = [\"K\"], store = true }")]);
    assert_eq!(
        broad.found(),
        [
            "plugin::broad-permission plugins/p/plugin.toml:3:25",
            "plugin::permission-not-granted plugins/p/plugin.toml:3:25",
            "plugin::permission-not-granted plugins/p/plugin.toml:3:42",
        ]
    );
    assert_eq!(Bot::with(&[("plugin.toml", &manifest("permissions = { env = [\"A\"] }"))]).found(), [] as [&str; 0]);
    let bad = Bot::with(&[("plugins/p/plugin.toml", "version = \"1\"\ndescription = \"x\"\n")]);
    assert_eq!(bad.found(), ["plugin::bad-value plugins/p/plugin.toml:1:11"]);
}

#[test]
fn owners_in_bot_toml() {
    let mut bot = plugins(&[("maps", "")]);
    bot.toml = "[plugins]\ndisabled = [\"map\"]\n[plugins.config.\"mapz\"]\nx = 1\n".into();
    assert_eq!(bot.found(), ["config::unknown-owner bot.toml:2:13", "config::unknown-owner bot.toml:3:17"]);
    let tree = bot.scan();
    assert!(all(&tree)[0].help.as_deref().unwrap().contains("`maps`"));
}

const CONFIG: &str = "[config]\ndefaults = { units = \"metric\", deep = { a = 1 } }\n[config.schema]\ntype = \"object\"\n\
    additionalProperties = false\nrequired = [\"place\"]\n[config.schema.properties]\nplace = { type = \"string\" }\n\
    units = { enum = [\"metric\", \"imperial\"] }\ndays = { type = \"integer\", default = 3 }\n\
    deep = { type = \"object\", properties = { a = { type = \"integer\" }, b = { default = true } } }\n\
    pin = { type = \"string\", x-secret = true }\n";

fn resolved(bot: &Bot) -> (Value, Vec<String>, Vec<Option<String>>) {
    let tree = bot.scan();
    assert_eq!(all(&tree), []);
    let doc = Doc::parse_toml("bot", "bot.toml", &bot.toml).unwrap();
    let config = shape::check::<BotConfig>("bot", &doc).0.unwrap();
    let (values, found) = resolve_config(plugin(&tree, "maps"), &config, Some(&doc));
    let shown = found.iter().map(|d| d.source_line.clone()).collect();
    (Value::Object(values), found.iter().map(line).collect(), shown)
}

#[test]
fn the_view_of_a_configuration() {
    let mut bot = plugins(&[("maps", CONFIG)]);
    bot.toml = "[plugins.config.maps]\nplace = \"x\"\ndeep = { a = 2 }\n".into();
    let (values, found, _) = resolved(&bot);
    assert_eq!(found, [] as [&str; 0]);
    assert_eq!(values, json!({"units": "metric", "deep": {"a": 2, "b": true}, "place": "x", "days": 3}));
    bot.toml = "[plugins.config.maps]\nunits = \"furlong\"\ndays = \"x\"\npin = 1234\nother = 1\n".into();
    let (_, found, shown) = resolved(&bot);
    assert_eq!(
        found,
        [
            "config::invalid bot.toml:1:1",
            "config::invalid bot.toml:3:8",
            "config::invalid bot.toml:5:1",
            "config::invalid bot.toml:4:7",
            "config::invalid bot.toml:2:9",
        ]
    );
    assert!(!format!("{shown:?}").contains("1234"));
    bot.toml = String::new();
    assert_eq!(resolved(&bot).1, ["config::invalid bot.toml"]);
    let mut bare = plugins(&[("maps", "")]);
    bare.toml = "[plugins.config.maps]\nx = 1\n".into();
    assert_eq!(resolved(&bare).1, ["config::invalid bot.toml:1:1"]);
}

#[test]
fn a_value_from_the_environment_takes_the_type_of_its_schema() {
    let bot = plugins(&[("maps", CONFIG)]);
    let doc = Doc::parse_toml("bot", "bot.toml", "[plugins.config.maps]\nplace = \"x\"\ndays = \"${DAYS}\"\n").unwrap();
    let mut config = BotConfig::default();
    let given = json!({"place": "x", "days": "5"});
    config.plugins.config.insert("maps".into(), given.as_object().unwrap().clone());
    let (values, found) = resolve_config(plugin(&bot.scan(), "maps"), &config, Some(&doc));
    assert_eq!(found, []);
    assert_eq!(values["days"], json!(5));
}

#[test]
fn secrets_of_a_configuration_are_masked() {
    let schema = json!({"properties": {"pin": {"x-secret": true}, "deep": {"properties": {"k": {"x-secret": true}}}}});
    let values = json!({"pin": "1", "deep": {"k": "2", "o": 3}, "free": 4});
    let shown = mask_config(values.as_object().unwrap(), Some(&schema));
    assert_eq!(Value::Object(shown), json!({"pin": "…", "deep": {"k": "…", "o": 3}, "free": 4}));
}

#[test]
fn the_hash_of_a_plugin() {
    let bot = plugins(&[("a", "")]);
    bot.file("plugins/a/lib/x", "1");
    let hash = |input: HashInput<'_>| plugin_hash(plugin(&bot.scan(), "a"), input);
    let first = hash(HashInput::default());
    assert_eq!(first, hash(HashInput::default()));
    let config = json!({"b": 1, "a": {"y": 1, "x": 2}});
    let turned = json!({"a": {"x": 2, "y": 1}, "b": 1});
    let with = |value: &Value| hash(HashInput { config: value.as_object(), ..HashInput::default() });
    assert_ne!(first, with(&config));
    assert_eq!(with(&config), with(&turned));
    assert_ne!(first, hash(HashInput { environment: &[("A".into(), "d".into())], ..HashInput::default() }));
    assert_ne!(first, hash(HashInput { upstream: &["h".into()], ..HashInput::default() }));
    bot.program("plugins/a/lib/x", "1");
    assert_ne!(first, hash(HashInput::default()));
}
