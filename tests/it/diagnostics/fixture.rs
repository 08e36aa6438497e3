//! One fixture: what it writes, what it expects.

use harness::TestBot;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toml::{Table, Value as Toml};

/// A case of a fixture file.
pub(super) struct Case {
    pub(super) name: String,
    table: Table,
}

/// Keys of a case.
const KEYS: [&str; 22] = [
    "name", "bot", "tool", "skill", "section", "agent", "hook", "command", "plugin", "files", "utf16", "hex", "big",
    "dirs", "fifos", "links", "modes", "raw_name", "env", "never", "help", "expect",
];

/// Every case of every fixture file.
pub(super) fn all() -> Vec<Case> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("the fixtures").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("a fixture file");
        let file: Table = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", entry.path().display()));
        let group = entry.path().file_stem().expect("a name").to_string_lossy().into_owned();
        for case in file["case"].as_array().expect("cases") {
            let table = case.as_table().expect("a case").clone();
            let unknown: Vec<&String> = table.keys().filter(|k| !KEYS.contains(&k.as_str())).collect();
            let name = format!("{group}/{}", table["name"].as_str().expect("a name"));
            assert!(unknown.is_empty(), "{name}: unknown keys {unknown:?}");
            out.push(Case { name, table });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(out.windows(2).all(|w| w[0].name != w[1].name), "two fixtures of one name");
    out
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/diagnostics")
}

/// One finding as a fixture writes it.
pub(super) fn line(d: &Value) -> String {
    let text = |key: &str| d[key].as_str().unwrap_or("-").to_string();
    let place = match (d["line"].as_u64(), d["column"].as_u64()) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", text("file")),
        _ => text("file"),
    };
    format!("{} {} {place} {}", text("severity"), text("code"), text("owner"))
}

/// The findings of a `check` without the remark that a bot without `[access]` always has.
pub(super) fn lines(checked: &Value, expected: &[String]) -> Vec<String> {
    let quiet =
        |l: &String| !l.contains("access::nobody-listed") || expected.iter().any(|e| e.contains("nobody-listed"));
    checked["diagnostics"].as_array().expect("a list").iter().map(line).filter(quiet).collect()
}

impl Case {
    /// Codes it expects.
    pub(super) fn codes(&self) -> Vec<String> {
        self.expected().iter().map(|e| e.split(' ').nth(1).expect("a code").to_string()).collect()
    }

    fn expected(&self) -> Vec<String> {
        self.table["expect"].as_array().expect("a list").iter().map(|e| text(e).to_string()).collect()
    }

    /// The part of it that is one file of a kind, for the schemas.
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.table.get(key).map(text)
    }

    fn pairs(&self, key: &str) -> BTreeMap<&str, &Toml> {
        let table = self.table.get(key).and_then(Toml::as_table);
        table.into_iter().flatten().map(|(k, v)| (k.as_str(), v)).collect()
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &str> {
        self.table.get(key).and_then(Toml::as_array).into_iter().flatten().map(text)
    }

    /// Writes the folder.
    pub(super) fn bot(&self) -> TestBot {
        let bot = TestBot::new();
        for (key, path) in [
            ("bot", "bot.toml"),
            ("tool", "tools/x/tool.toml"),
            ("skill", "skills/x/SKILL.md"),
            ("section", "prompt-sections/x/SECTION.md"),
            ("agent", "agents/x/agent.json"),
            ("hook", "hooks/x/hook.toml"),
            ("command", "commands/x/command.toml"),
            ("plugin", "plugins/p/plugin.toml"),
        ] {
            if let Some(text) = self.text_of(key) {
                bot.put(path, text);
            }
        }
        if self.table.contains_key("tool") {
            bot.put("tools/x/main.sh", "#!/bin/sh\n");
        }
        if self.table.contains_key("agent") {
            for file in ["system", "boundaries", "conventions"] {
                bot.put(&format!("agents/x/{file}.md"), &format!("The {file}.\n"));
            }
        }
        for (path, value) in self.pairs("files") {
            bot.put(path, text(value));
        }
        self.odd(&bot);
        bot
    }

    /// What is no plain text file.
    fn odd(&self, bot: &TestBot) {
        let bytes = |path: &str, bytes: &[u8]| {
            bot.put(path, "");
            std::fs::write(bot.at(path), bytes).expect("a written file");
        };
        for (path, value) in self.pairs("utf16") {
            let mut out = vec![0xff, 0xfe];
            out.extend(text(value).encode_utf16().flat_map(u16::to_le_bytes));
            bytes(path, &out);
        }
        for (path, value) in self.pairs("hex") {
            let digits = text(value);
            let byte = |n: usize| u8::from_str_radix(&digits[n..n + 2], 16).expect("hexadecimal digits");
            bytes(path, &(0..digits.len()).step_by(2).map(byte).collect::<Vec<u8>>());
        }
        for (path, value) in self.pairs("big") {
            bytes(path, &vec![b'a'; usize::try_from(value.as_integer().expect("a size")).expect("a size")]);
        }
        for path in self.list("dirs") {
            std::fs::create_dir_all(bot.at(path)).expect("a folder");
        }
        for path in self.list("fifos") {
            let at = bot.at(path);
            std::fs::create_dir_all(at.parent().expect("a parent")).expect("a folder");
            let done = std::process::Command::new("mkfifo").arg(&at).status().expect("mkfifo runs");
            assert!(done.success());
        }
        for (path, value) in self.pairs("links") {
            let at = bot.at(path);
            std::fs::create_dir_all(at.parent().expect("a parent")).expect("a folder");
            std::os::unix::fs::symlink(text(value), at).expect("a link");
        }
        if let Some(name) = self.text_of("raw_name") {
            let (parent, last) = name.rsplit_once('/').expect("a folder");
            let raw = last.replace("\\xe9", "\u{e9}").chars().map(|c| c as u8).collect::<Vec<u8>>();
            let at = bot.at(parent).join(std::ffi::OsStr::from_bytes(&raw));
            std::fs::create_dir_all(&at).expect("a folder");
            std::fs::write(at.join("tool.toml"), "").expect("a file");
        }
        for (path, value) in self.pairs("modes") {
            let mode = u32::try_from(value.as_integer().expect("a mode")).expect("a mode");
            std::fs::set_permissions(bot.at(path), std::fs::Permissions::from_mode(mode)).expect("a mode");
        }
    }

    /// Checks it; the difference when there is one.
    pub(super) fn run(&self) -> Result<(), String> {
        let bot = self.bot();
        let env: Vec<(&str, &str)> = self.pairs("env").into_iter().map(|(k, v)| (k, text(v))).collect();
        let ran = bot.run_env(&["check", "--json"], &env);
        let said = format!("{}{}", ran.out, ran.err);
        let checked: Value = serde_json::from_str(ran.out.trim()).map_err(|e| format!("{}: {e}\n{said}", self.name))?;
        let expected = self.expected();
        let found = lines(&checked, &expected);
        if found != expected {
            let shown = serde_json::to_string_pretty(&checked["diagnostics"]).unwrap_or_default();
            return Err(format!("{}\n  expected {expected:#?}\n  found {found:#?}\n{shown}", self.name));
        }
        let refused = expected.iter().any(|e| e.starts_with("error "));
        if ran.code != i32::from(refused) {
            return Err(format!("{}: exit {}", self.name, ran.code));
        }
        if let Some(hidden) = self.text_of("never").filter(|h| said.contains(*h)) {
            return Err(format!("{}: `{hidden}` is in the output", self.name));
        }
        match self.text_of("help") {
            Some(help) if !checked["diagnostics"].to_string().contains(help) => {
                Err(format!("{}: no help says {help}", self.name))
            }
            _ => Ok(()),
        }
    }
}

fn text(value: &Toml) -> &str {
    value.as_str().expect("a text")
}
