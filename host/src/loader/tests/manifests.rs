use super::*;
use serde_json::json;

fn tool(text: &str) -> Vec<String> {
    Bot::with(&[("tools/t/tool.toml", text), ("tools/t/main.py", "")]).found()
}

/// The finding of one more line under a good tool.
fn with_line(extra: &str) -> Vec<String> {
    tool(&format!("{TOOL}{extra}\n"))
}

#[test]
fn ten_faults_are_ten_findings() {
    let bot = Bot::with(&[
        (
            "tools/a/tool.toml",
            "require_approval = \"never\"\nrequires_approval = \"nevr\"\nhidden = 1\ntimeout_seconds = nan\nscopes = [\"group\", \"group\"]\n",
        ),
        ("tools/b/tool.toml", "description = \"x\nrun = 1\n"),
        ("skills/s/SKILL.md", "no front matter"),
        ("plugins/p/plugin.toml", "version = \"1.0.0\"\n"),
    ]);
    assert_eq!(
        bot.found(),
        [
            "plugin::missing-key plugins/p/plugin.toml:1:1",
            "text::front-matter skills/s/SKILL.md:1:1",
            "tool::missing-key tools/a/tool.toml:1:1",
            "tool::no-run tools/a/tool.toml:1:1",
            "tool::unknown-key tools/a/tool.toml:1:1",
            "tool::bad-value tools/a/tool.toml:2:21",
            "tool::wrong-type tools/a/tool.toml:3:10",
            "tool::bad-value tools/a/tool.toml:4:19",
            "tool::bad-value tools/a/tool.toml:5:20",
            "tool::syntax tools/b/tool.toml:1:17",
        ]
    );
}

#[test]
fn every_rule_of_a_tool_has_its_place() {
    for (extra, expected) in [
        ("platforms = [\"web\"]\nadapter = \"telegram\"", "tool::adapter-conflict tools/t/tool.toml:3:13"),
        ("deprecation_message = \"use u\"", "tool::bad-value tools/t/tool.toml:3:23"),
        ("execution_mode = \"thread\"", "tool::bad-value tools/t/tool.toml:3:18"),
        ("preview_chars = 60000", "tool::bad-value tools/t/tool.toml:3:17"),
        ("max_result_chars = 100", "tool::bad-value tools/t/tool.toml:3:20"),
        ("timeout_seconds = 0", "tool::bad-value tools/t/tool.toml:3:19"),
        ("timeout_seconds = 3601", "tool::bad-value tools/t/tool.toml:3:19"),
        ("timeout_seconds = inf", "tool::bad-value tools/t/tool.toml:3:19"),
        ("aliases = [\"Bad Name\"]", "tool::bad-value tools/t/tool.toml:3:12"),
        ("aliases = [\"a\", \"a\"]", "tool::bad-value tools/t/tool.toml:3:17"),
        ("platforms = [\" \"]\nhidden = true", "tool::bad-value tools/t/tool.toml:3:14"),
        ("input_schema = \"in.json\"\ninput = { a = \"string\" }", "tool::two-inputs tools/t/tool.toml:3:1"),
        ("input_schema = \"gone.json\"", "tool::bad-value tools/t/tool.toml:3:16"),
        ("input_schema = \"../../../gone.json\"", "tool::bad-value tools/t/tool.toml:3:16"),
        ("input = { a = \"strin\" }", "tool::bad-value tools/t/tool.toml:3:15"),
        ("input = { a = 3 }", "tool::wrong-type tools/t/tool.toml:3:15"),
        ("version = \"1\"\ngroup = \"\"", "tool::bad-value tools/t/tool.toml:4:9"),
        ("when = { token = [\"x\"] }", "tool::unknown-key tools/t/tool.toml:3:10"),
    ] {
        let found = with_line(extra);
        let found: Vec<&String> = found.iter().filter(|f| !f.starts_with("tool::platform-in-root")).collect();
        assert_eq!(found, [expected], "{extra}");
    }
    assert_eq!(tool("description = \" \"\nrun = { command = [\"x\"] }\n"), ["tool::bad-value tools/t/tool.toml:1:15"]);
    assert_eq!(tool("description = \"x\"\n[run]\ncwd = \"tool\"\n"), ["tool::no-run tools/t/tool.toml:2:2"]);
    assert_eq!(
        tool("description = \"x\"\n[run]\ncommand = [\"a\"]\nwasm = \"f\"\n"),
        ["tool::two-runs tools/t/tool.toml:4:1"]
    );
    assert_eq!(tool("description = \"x\"\n[run]\ncommand = []\n"), ["tool::bad-value tools/t/tool.toml:3:11"]);
    assert_eq!(with_line("adapter = \"web\""), ["tool::platform-in-root tools/t/tool.toml:3:1"]);
    let long = format!("description = \"{}\"\nrun = {{ command = [\"x\"] }}\n", "ä".repeat(1025));
    assert_eq!(tool(&long), ["tool::long-description tools/t/tool.toml:1:15"]);
    assert_eq!(tool(&long.replace(&"ä".repeat(1025), &"ä".repeat(4097))), ["tool::bad-value tools/t/tool.toml:1:15"]);
    let bot = Bot::with(&[
        ("skills/s/SKILL.md", SKILL),
        ("skills/s/tools/t/tool.toml", &format!("{TOOL}always_loaded = true\nplatforms = [\"web\"]\n")),
    ]);
    assert_eq!(bot.found(), ["tool::private-always-loaded skills/s/tools/t/tool.toml:3:17"]);
}

#[test]
fn the_short_input_form() {
    let bot = Bot::with(&[(
        "tools/w/tool.toml",
        &format!(
            "{TOOL}deprecated = true\npreset = {{ units = \"${{config.units}}\" }}\n[when.config]\n\"a.b\" = true\n[input]\n{}",
            "city = { type = \"string\", minLength = 1 }\ndays = { type = \"integer\", default = 1 }\n\
             units = \"string\"\nnote = { type = \"string\", required = false }\n\
             at = { type = \"object\", required = [\"x\"] }\n"
        ),
    )]);
    let tree = bot.scan();
    assert_eq!(all(&tree), []);
    let tool = &tree.plugins[0].tools[0];
    assert_eq!(
        tool.def.input_schema,
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "minLength": 1},
                "days": {"type": "integer", "default": 1},
                "units": {"type": "string"},
                "note": {"type": "string"},
                "at": {"type": "object", "required": ["x"]},
            },
            "required": ["city", "units", "at"],
            "additionalProperties": false,
        })
    );
    assert_eq!(tool.schema_pointer, "/input");
    assert_eq!(tool.def.preset["units"], "${config.units}");
    assert_eq!(tool.when.config, [("a.b".to_string(), json!(true))]);
    assert!(tool.def.options.deprecation.is_some());
}

#[test]
fn a_schema_in_a_file_belongs_to_the_plugin() {
    let bot = Bot::with(&[
        ("tools/w/tool.toml", &format!("{TOOL}input_schema = \"../../schemas/in.json\"\n")),
        ("schemas/in.json", "{\"type\": \"object\"}"),
        ("tools/x/tool.toml", &format!("{TOOL}input_schema = \"in.json\"\n")),
        ("tools/x/in.json", "{\"type\": "),
    ]);
    let tree = bot.scan();
    assert_eq!(all(&tree).iter().map(line).collect::<Vec<_>>(), ["tool::syntax tools/x/in.json:1:9"]);
    let tool = &tree.plugins[0].tools[0];
    assert_eq!(tool.schema_file.as_deref(), Some("schemas/in.json"));
    assert_eq!(tool.def.input_schema, json!({"type": "object"}));
    assert!(paths(&tree.plugins[0]).contains(&"schemas/in.json"));
}

#[test]
fn paths_of_a_command_line() {
    let run = |words: &str| format!("description = \"x\"\nrun = {{ command = [{words}] }}\n");
    let bot = Bot::with(&[
        ("tools/ok/tool.toml", &run("\"./run.sh\", \"../../scripts/x.py\", \"--flag\", \"out.txt\", \"https://a/b\"")),
        ("scripts/x.py", ""),
        ("tools/out/tool.toml", &run("\"../../../x\", \"../../../y\"")),
        ("tools/abs/tool.toml", &run("\"/bin/sh\"")),
        ("tools/gone/tool.toml", &run("\"./gone.sh\"")),
        ("tools/noexec/tool.toml", &run("\"plain.sh\"")),
        ("tools/noexec/plain.sh", "#!/bin/sh\n"),
        ("tools/reach/tool.toml", &run("\"python3\", \"../ok/run.sh\"")),
        ("skills/s/SKILL.md", SKILL),
        ("skills/s/shared.py", ""),
        ("skills/s/tools/t/tool.toml", &run("\"python3\", \"../../shared.py\"")),
    ]);
    bot.program("tools/ok/run.sh", "#!/bin/sh\n");
    bot.file("tools/bare/tool.toml", run("\"./b\"")).program("tools/bare/b", "echo\n");
    bot.file("tools/cr/tool.toml", run("\"./c\"")).program("tools/cr/c", "#!/bin/sh\r\necho\r\n");
    bot.file("tools/elf/tool.toml", run("\"./e\"")).program("tools/elf/e", "\x7fELF\u{2}\0");
    assert_eq!(
        bot.found(),
        [
            "run::path-outside tools/abs/tool.toml:2:20",
            "run::not-executable tools/bare/tool.toml:2:20",
            "run::not-executable tools/cr/tool.toml:2:20",
            "run::file-missing tools/gone/tool.toml:2:20",
            "run::not-executable tools/noexec/tool.toml:2:20",
            "run::path-outside tools/out/tool.toml:2:20",
            "run::path-outside tools/out/tool.toml:2:34",
            "run::reaches-out tools/reach/tool.toml:2:31",
        ]
    );
    let tree = bot.scan();
    assert!(paths(&tree.plugins[0]).contains(&"scripts/x.py"));
    assert!(tree.watch.contains(&std::fs::canonicalize(bot.path("scripts")).unwrap()));
    let mut off = Bot::with(&[("tools/t/tool.toml", TOOL)]);
    off.toml = "[plugins]\nruntimes = [\"wasm\"]\n".into();
    assert_eq!(off.found(), ["plugin::runtime-off tools/t/tool.toml:2:9"]);
}

#[test]
fn many_always_loaded_tools_are_one_warning() {
    let bot = Bot::new();
    for n in 0..21 {
        bot.file(&format!("tools/t{n:02}/tool.toml"), format!("{TOOL}always_loaded = true\n"));
    }
    assert_eq!(bot.found(), ["tool::many-always-loaded tools/t20/tool.toml:3:17"]);
}

#[test]
fn sections() {
    let section = |front: &str, body: &str| {
        Bot::with(&[("prompt-sections/s/SECTION.md", format!("---\n{front}---\n{body}").as_str())]).found()
    };
    let at = "prompt-sections/s/SECTION.md";
    assert_eq!(section("title: T\nmax_chars: 3\n", "four"), [format!("section::cut {at}:3:12")]);
    assert_eq!(
        section("title: T\nmax_chars: 3\nretention: required\n", "four"),
        [format!("section::too-long {at}:3:12")]
    );
    assert_eq!(section("title: T\n", " \n"), [format!("section::bad-value {at}:3:1")]);
    assert_eq!(
        section("titel: T\n", "x"),
        [format!("section::missing-key {at}:2:1"), format!("section::unknown-key {at}:2:1")]
    );
    assert_eq!(
        section("title: T\nprofiles: []\nlayer: tools\n", "x"),
        [format!("section::bad-value {at}:3:11"), format!("section::bad-value {at}:4:8")]
    );
    assert_eq!(section("title: House: rules\n", "x"), [format!("text::unquoted-colon {at}:2:8")]);
}

#[test]
fn schemas_are_printed_for_every_kind() {
    for kind in ["plugin", "tool", "skill", "section"] {
        let schema = schema_of(kind).unwrap();
        assert!(schema["properties"].is_object(), "{kind}");
        assert!(jsonschema::validator_for(&schema).is_ok(), "{kind}");
    }
    assert!(schema_of("mcp").is_none());
    let validator = jsonschema::validator_for(&schema_of("tool").unwrap()).unwrap();
    assert!(validator.is_valid(&json!({"description": "x", "run": {"command": ["a"]}})));
    assert!(!validator.is_valid(&json!({"description": "x", "require_approval": "never"})));
}
