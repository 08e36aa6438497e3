use super::*;
use std::fs;

fn env() -> Env {
    Env::of([("KEY", "sk-secret-1"), ("PORT", "9"), ("EMPTY", "")])
}

fn load(text: &str) -> LoadedBot {
    let dir = tempfile::tempdir().unwrap();
    load_bot(LoadInput { bot_dir: dir.path(), text: Some(text), env: &env() })
}

/// `code line:column message | help` of every finding but the standing warning.
fn findings(text: &str) -> Vec<String> {
    show(&load(text))
}

fn show(loaded: &LoadedBot) -> Vec<String> {
    loaded
        .diagnostics
        .iter()
        .filter(|d| d.code != "access::nobody-listed")
        .map(|d| {
            let at = d.line.map_or(String::new(), |l| format!(" {l}:{}", d.column.unwrap()));
            let help = d.help.as_ref().map_or(String::new(), |h| format!(" | {h}"));
            format!("{}{at} {}{help}", d.code, d.message)
        })
        .collect()
}

#[test]
fn empty_file_is_the_defaults() {
    let loaded = load("");
    assert_eq!(loaded.config, Some(BotConfig::default()));
    assert_eq!(loaded.policy, Some(PolicyConfig::default()));
    assert!(loaded.is_empty());
    assert!(loaded.diagnostics.is_empty(), "an empty file is clean: {:?}", loaded.diagnostics);
    assert_eq!(loaded.digest.len(), 64);
}

#[test]
fn one_finding_for_each_mistake() {
    let found = findings(concat!(
        "[access]\n",
        "alow_users = []\n",
        "masters = [\"telegram:7\", \"telegram\", \"telegram:777000\", \"telegram:*\", \"telegram:7\"]\n",
        "[bot]\n",
        "language = \"fr\"\n",
        "timezone = \"Europe/Berlim\"\n",
        "name = 3\n",
        "[agent]\n",
        "max_iterations = 0\n",
        "model = \"mian\"\n",
        "turn_timeout_seconds = inf\n",
        "[agent.skills]\n",
        "root = \"../x\"\n",
        "[models.main]\n",
        "provider = \"openai\"\n",
        "timeout_seconds = 0\n",
        "[models.other]\n",
        "model = \"m\"\n",
        "[tools]\n",
        "builtin = [\"human.ask\", \"file.raed\", \"human.ask\", \"web.fetch\", \"discover\", \"read_file\"]\n",
        "preview_chars = 60000\n",
        "[tools.permissions]\n",
        "\"file.write\" = []\n",
        "dicover = []\n",
        "[plugins]\n",
        "runtimes = [\"comand\"]\n",
    ));
    assert_eq!(
        found,
        [
            "bot::unknown-key 2:1 unknown key `access.alow_users` | known here: `deny`, `groups`, `masters`, `mode`, `stranger_reply`, `trusted`, `users`",
            "bot::bad-value 3:26 `access.masters`: `telegram` has not the form `platform:id` | for example \"telegram:42\"",
            "access::shared-id 3:38 `telegram:777000` is an id that many senders share | name the people themselves",
            "bot::bad-value 3:57 `access.masters` names people one by one; `*` is nobody | to let everybody in: `access.mode = \"open\"`",
            "bot::bad-value 3:71 `access.masters` has the entry \"telegram:7\" twice | remove one of them",
            "bot::bad-value 5:12 `bot.language` must be one of `en`, `zh`",
            "bot::bad-value 6:12 `bot.timezone`: there is no time zone `Europe/Berlim` | did you mean `Europe/Berlin`?",
            "bot::wrong-type 7:8 `bot.name` must be a string, not an integer",
            "bot::bad-value 9:18 `agent.max_iterations` must be between 1 and 200",
            "bot::bad-value 10:9 `agent.model`: there is no model `mian` | did you mean `main`?",
            "bot::bad-value 11:24 `agent.turn_timeout_seconds` must be a finite number",
            "bot::bad-value 13:8 `agent.skills.root` must stay inside the workspace",
            "bot::missing-key 14:9 missing key `models.main.model` | name the model as its server does",
            "bot::bad-value 16:19 `models.main.timeout_seconds` must be more than 0",
            "bot::missing-key 17:9 missing key `models.other.provider`",
            "tools::unknown-builtin 20:25 there is no built-in key `file.raed` | did you mean `file.read`?",
            "tools::duplicate-builtin 20:38 `human.ask` is listed twice | remove one of them",
            "bot::not-built 20:51 the built-in `web.fetch` is not part of this build yet | remove it: a setting is never ignored silently",
            "tools::unknown-builtin 20:64 there is no built-in key `discover` | what switches this tool on is agent.deferred_tools.form",
            "tools::unknown-builtin 20:76 there is no built-in key `read_file` | the key of this tool is `file.read`",
            "bot::bad-value 21:17 `tools.preview_chars` must be at most `tools.max_result_chars` (50000)",
            "tools::unknown-builtin 24:1 there is no built-in `dicover` | did you mean `discover`?",
            "bot::bad-value 26:13 `plugins.runtimes`: there is no runtime `comand` | did you mean `command`?",
        ]
    );
}

#[test]
fn keys_of_later_builds_are_named() {
    let found = findings(
        "[memory]\nenabled = true\n[mcp]\nx = 1\n[limits]\nwasm_memory_mb = 1\n[reload]\non_broken_plugin = \"keep-previous\"\n[store]\nzzzzzzzz = 1\n",
    );
    let places: Vec<&str> = found.iter().map(|f| f.split(" | ").next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "bot::not-built 1:2 `memory` is not part of this build yet",
            "bot::not-built 3:2 `mcp` is not part of this build yet",
            "bot::not-built 6:1 `limits.wasm_memory_mb` is not part of this build yet",
            "bot::not-built 8:20 this value of `reload.on_broken_plugin` is not part of this build yet",
            "bot::unknown-key 10:1 unknown key `store.zzzzzzzz`",
        ]
    );
}

#[test]
fn a_fallback_is_another_model_named_once() {
    let found = findings(
        "[models.a]\nprovider = \"anthropic\"\nmodel = \"m\"\nfallback = [\"b\", \"a\", \"c\", \"b\", \"offline\"]\ndefer_loading = \"off\"\n[models.b]\nprovider = \"openai\"\nmodel = \"m\"\nfallback = [\"a\"]\nbetas = []\nimages = true\n[models.d]\nprovider = \"anthropic\"\n",
    );
    assert_eq!(
        found,
        [
            "bot::bad-value 4:18 the model `a` is its own fallback | remove it: its own repeats are `retries`",
            "bot::bad-value 4:23 `models.a.fallback.2`: there is no model `c` | known here: `a`, `b`, `d`, `offline`",
            "bot::bad-value 4:28 `models.a.fallback` names `b` twice | remove one of them",
            "bot::bad-value 10:1 `models.b.betas` is only for `provider = \"anthropic\"` | remove it",
            "bot::missing-key 12:9 missing key `models.d.model` | name the model as its server does",
        ]
    );
}

#[test]
fn syntax_faults_have_their_line() {
    assert_eq!(findings("[bot]\nname = \"a\"\nname = \"b\"\n"), ["bot::syntax 3:1 duplicate key"],);
    let cut = findings("[access]\nmasters = [\"telegram:7\"");
    assert!(cut[0].starts_with("bot::syntax 2:"), "{cut:?}");
    assert_eq!(cut.len(), 1);
}

#[test]
fn expressions() {
    let loaded = load(
        "[bot]\nname = \"a ${PORT} $$b ${NO:-d} $x\"\n[limits]\nshutdown_seconds = \"${PORT}\"\nplaces_per_principal = \"${EMPTY:-3}\"\n",
    );
    assert_eq!(show(&loaded), Vec::<String>::new());
    let config = loaded.config.unwrap();
    assert_eq!(config.bot.name.as_deref(), Some("a 9 $b d $x"));
    assert_eq!((config.limits.shutdown_seconds, config.limits.places_per_principal), (9, 3));
    assert_eq!(
        findings(
            "[bot]\nname = \"${X} ${EMPTY}\"\ngreeting = \"${ } \"\ndata_dir = \"${X\"\n[limits]\nshutdown_seconds = \"x${PORT}\"\nartifact_days = \"${KEY}\"\n"
        ),
        [
            "bot::missing-variable 2:8 the variable EMPTY is not set or empty | set it in the environment or in .env, or give a default: ${EMPTY:-…}",
            "bot::missing-variable 2:8 the variable X is not set or empty | set it in the environment or in .env, or give a default: ${X:-…}",
            "bot::bad-expression 3:12 `${ }` is no expression | write ${NAME} or ${NAME:-default}; $$ is a plain $",
            "bot::bad-expression 4:12 `${X` is no expression | write ${NAME} or ${NAME:-default}; $$ is a plain $",
            "bot::wrong-type 6:20 `limits.shutdown_seconds` must be an integer, not a string",
            "bot::wrong-type 7:17 `limits.artifact_days` must be an integer, not a string",
        ]
    );
}

#[test]
fn a_value_of_a_variable_is_not_read_again() {
    let env = Env::of([("A", "${B}$$"), ("B", "b")]);
    let loaded = load_bot(LoadInput { bot_dir: Path::new("."), text: Some("[bot]\nname = \"${A}\""), env: &env });
    assert_eq!(loaded.config.unwrap().bot.name.as_deref(), Some("${B}$$"));
}

#[test]
fn optional_model_without_its_variable_is_off() {
    let text = "[models.default]\nprovider = \"openai\"\nmodel = \"${NO_MODEL}\"\napi_key = \"${NO_KEY}\"\nretries = \"${NO_N}\"\n";
    let loaded = load(text);
    assert_eq!(loaded.diagnostics.iter().filter(|d| d.code == "bot::missing-variable" && !d.is_error()).count(), 3);
    let config = loaded.config.unwrap();
    assert_eq!(config.models["default"].unavailable.as_deref(), Some("the variable NO_MODEL is not set or empty"));
    assert!(loaded.secret_variables.contains("NO_KEY"));
    let loaded = load(&format!("{text}required = true\n"));
    assert!(loaded.config.is_none());
    assert_eq!(loaded.diagnostics.iter().filter(|d| d.code == "bot::missing-variable" && d.is_error()).count(), 3);
}

#[test]
fn secrets_come_from_variables_and_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("k"), "from-file\n").unwrap();
    fs::write(dir.path().join("open"), "from-open").unwrap();
    let mode = |name: &str, mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("k", 0o600);
    mode("open", 0o644);
    fs::write(dir.path().join(".env"), "# c\nexport FROM_ENV = \"quoted value\" # x\nKEY=loses\nnonsense\n").unwrap();
    let text = concat!(
        "[secrets]\n",
        "A_file = \"k\"\n",
        "B = \"literal-value\"\n",
        "C = \"${KEY}\"\n",
        "D_file = \"open\"\n",
        "E = \"${FROM_ENV}\"\n",
        "[adapters.telegram.main]\n",
        "token_file = \"secrets/t\"\n",
        "webhook_url = \"${UNSET}\"\n",
    );
    let loaded = load_bot(LoadInput { bot_dir: dir.path(), text: Some(text), env: &env() });
    assert_eq!(
        show(&loaded),
        [
            "bot::env-line 4:1 this line is left out: it is no `NAME=value`",
            "bot::literal-secret 3:5 `secrets.B` holds a secret in clear | put it into the environment or a file: \"${NAME}\", or the key with `_file`",
            "bot::secret-mode 5:10 open can be read by every user of this machine | take the permission away: chmod 600",
            "bot::adapter-absent 7:20 endpoint telegram/main stays down: this build has no telegram adapter | remove the table, or use a build that has it",
        ]
    );
    let config = loaded.config.unwrap();
    let value = |name: &str| config.secrets[name].expose().to_string();
    assert_eq!(
        [value("A"), value("C"), value("D"), value("E")],
        ["from-file", "sk-secret-1", "from-open", "quoted value"]
    );
    assert_eq!(loaded.secret_variables.iter().map(String::as_str).collect::<Vec<_>>(), ["FROM_ENV", "KEY"]);
    let sources: Vec<_> =
        loaded.secret_sources.iter().map(|p| p.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(sources, ["k", "open", "secrets/t", ".env"]);
    assert_eq!(loaded.secrets.len(), 5);
    // no secret value is in anything that is shown
    let shown = format!("{:?}", loaded.diagnostics);
    for secret in &loaded.secrets {
        assert!(!shown.contains(secret.expose()));
    }
}

#[test]
fn secret_files_have_their_faults() {
    assert_eq!(
        findings("[secrets]\nA = \"x\"\nA_file = \"k\"\nB_file = \"absent\"\nC_file = 4\n[models.m]\nprovider = \"offline\"\napi_key_file = \"\"\n")
            .iter()
            .map(|f| f.split(" | ").next().unwrap().to_string())
            .collect::<Vec<_>>(),
        [
            "bot::literal-secret 2:5 `secrets.A` holds a secret in clear",
            "bot::secret-twice 3:1 `A` and `A_file` are both given",
            "bot::bad-value 4:10 the file of `secrets.B_file` cannot be read: No such file or directory (os error 2)",
            "bot::wrong-type 5:10 `secrets.C_file` must be the path of a file",
            "bot::wrong-type 8:16 `models.m.api_key_file` must be the path of a file",
        ]
    );
}

#[test]
fn policy_is_read_beside_other_mistakes() {
    let good = "[access]\nmode = \"open\"\n[tools]\ndeny = [\"x\"]\n[tools.override.\"a__*\"]\napproval = \"deny\"\nrequires_aproval = \"never\"\n[agent]\nmodel = 5\n";
    let loaded = load(good);
    assert!(loaded.config.is_none());
    let policy = loaded.policy.unwrap();
    assert_eq!((policy.access.mode, policy.tools_deny), (crate::config::AccessMode::Open, vec!["x".to_string()]));
    assert_eq!(policy.override_approvals.len(), 1);
    for bad in [
        "[access]\nmode = 5\n",
        "[access]\nmasters = [\"${NO}\"]\n",
        "[acess]\nmode = \"open\"\n",
        "[tools]\ndenny = []\n",
        "[tools.override.x]\naproval = \"deny\"\n",
        "[approval]\nnotfy = []\n",
        "tools = 4\n",
    ] {
        assert_eq!(load(bad).policy, None, "{bad}");
    }
}

#[test]
fn workspace_overlaps() {
    let code =
        |text: &str| findings(text).iter().map(|f| f.split(" the ").next().unwrap().to_string()).collect::<Vec<_>>();
    assert_eq!(code("[workspace]\nroot = \".\"\n"), ["tools::workspace-overlaps-data 2:8"]);
    assert_eq!(code("[workspace]\nroot = \"../files\"\n"), ["tools::workspace-overlaps-bot 2:8"]);
    assert_eq!(code("[bot]\ndata_dir = \"/nowhere/data\"\n[workspace]\nroot = \"ws\"\n"), Vec::<String>::new());
    let loaded = load("[workspace]\nroot = \"../files\"\nallow_bot_folder = true\n");
    assert!(loaded.config.is_some());
}

#[test]
fn unknown_adapter_kinds_are_refused() {
    assert_eq!(
        findings("[adapters.telegrm.main]\n[adapters.web.a]\n[adapters.console.main]\n"),
        [
            "bot::unknown-key 1:11 unknown adapter `telegrm` | did you mean `telegram`?",
            "bot::adapter-absent 2:15 endpoint web/a stays down: this build has no web adapter | remove the table, or use a build that has it",
        ]
    );
}

#[test]
fn files_that_are_no_text() {
    let dir = tempfile::tempdir().unwrap();
    let code = |bytes: &[u8]| {
        fs::write(dir.path().join(BOT_FILE), bytes).unwrap();
        let loaded = load_bot(LoadInput { bot_dir: dir.path(), text: None, env: &env() });
        loaded.diagnostics.first().map_or(String::new(), |d| d.code.clone())
    };
    assert_eq!(code(b"\xEF\xBB\xBF[bot]\r\nname = \"a\"\r\n"), "");
    assert_eq!(code(b"\xFF\xFE["), "text::encoding");
    assert_eq!(code(b"[bot]\n\xC3"), "text::encoding");
    assert_eq!(code(b"\0"), "text::nul");
    assert_eq!(code(&vec![b' '; 1024 * 1024 + 1]), "layout::too-big");
    fs::remove_file(dir.path().join(BOT_FILE)).unwrap();
    fs::create_dir(dir.path().join(BOT_FILE)).unwrap();
    let loaded = load_bot(LoadInput { bot_dir: dir.path(), text: None, env: &env() });
    assert_eq!(loaded.diagnostics[0].code, "layout::not-a-file");
}

#[test]
fn digest_is_of_values() {
    let digest = |text: &str| load(text).digest;
    assert_eq!(digest(""), digest("[bot]\ntimezone = \"UTC\"\n"));
    assert_ne!(digest(""), digest("[bot]\ntimezone = \"Europe/Berlin\"\n"));
    assert_ne!(digest("[secrets]\nA = \"one\"\n"), digest("[secrets]\nA = \"two\"\n"));
    let a = "[plugins.config.x]\na = 1\nb = 2\n";
    let b = "[plugins.config.x]\nb = 2\na = 1\n";
    assert_eq!(digest(a), digest(b));
}

#[test]
fn plugin_values_take_the_type_of_their_schema() {
    let loaded = load(
        "[plugins.config.x]\nport = \"${PORT}\"\nname = \"${PORT}\"\nplain = \"9\"\n[plugins.config.x.deep]\non = \"${NO:-true}\"\n",
    );
    let mut given = loaded.config.unwrap().plugins.config["x"].clone();
    let doc = loaded.doc.unwrap();
    let (_, written) = doc.find("/plugins/config/x").unwrap();
    let schema = serde_json::json!({"properties": {
        "port": {"type": "integer"}, "name": {"type": "string"}, "plain": {"type": "integer"},
        "deep": {"properties": {"on": {"type": "boolean"}}},
    }});
    take_types(&mut given, written, &schema);
    assert_eq!(
        serde_json::Value::Object(given),
        serde_json::json!({"port": 9, "name": "9", "plain": "9", "deep": {"on": true}})
    );
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        if let Ok(text) = files::decode("x", &bytes, 1000) {
            let _ = load(&text);
        }
    }

    #[test]
    fn arbitrary_lines_never_panic(text in "[\\[\\]{}\"'=:,.#$&*!|>%@`\\-\\n ?a-c0-9é天]{0,80}") {
        let _ = load(&text);
        let _ = Doc::parse_yaml("skill", "x", &text, 1);
        let _ = Doc::parse_json("agent", "x", &text);
    }
}
