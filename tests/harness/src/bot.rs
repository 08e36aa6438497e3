//! A bot folder in a temporary place.

use crate::process::{Ran, Running, run_in, run_with_env};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A bot folder; removed when dropped.
pub struct TestBot {
    dir: tempfile::TempDir,
}

impl Default for TestBot {
    fn default() -> Self {
        Self::new()
    }
}

impl TestBot {
    /// An empty `bot.toml`.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("bot-").tempdir().expect("a temporary folder");
        let bot = Self { dir };
        bot.write("bot.toml", "")
    }

    /// A copy of a folder of the repository.
    pub fn copy_of(relative: &str) -> Self {
        let bot = Self::new();
        copy(&repository().join(relative), bot.path());
        bot
    }

    /// Copies a folder of the repository to a place in the bot.
    pub fn put_copy(&self, from: &str, to: &str) {
        copy(&repository().join(from), &self.at(to));
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path in it.
    pub fn at(&self, relative: &str) -> PathBuf {
        self.path().join(relative)
    }

    /// Writes a file; parents are made. Scripts (`.sh`) become executable.
    pub fn write(self, relative: &str, text: &str) -> Self {
        self.put(relative, text);
        self
    }

    /// As `write`, on a borrowed bot.
    pub fn put(&self, relative: &str, text: &str) {
        let path = self.at(relative);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(&path, text).expect("a written file");
        if relative.ends_with(".sh") {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        }
    }

    /// A pure shell tool that prints `text`.
    pub fn tool(self, folder: &str, description: &str, text: &str) -> Self {
        self.put_tool(folder, description, text);
        self
    }

    /// As `tool`, on a borrowed bot.
    pub fn put_tool(&self, folder: &str, description: &str, text: &str) {
        let manifest =
            format!("description = \"{description}\"\ncapabilities = []\nrun = {{ command = [\"./main.sh\"] }}\n");
        self.put(&format!("{folder}/main.sh"), &format!("#!/bin/sh\ncat >/dev/null\nprintf %s '{text}'\n"));
        self.put(&format!("{folder}/tool.toml"), &manifest);
    }

    /// The usual echo tool.
    pub fn echo(self) -> Self {
        let manifest = "description = \"Echo a message back\"\nrequires_approval = \"never\"\ncapabilities = []\n\
            run = { command = [\"./main.sh\"] }\n[input]\nmessage = { type = \"string\", minLength = 1 }\n";
        let script = "#!/bin/sh\nsed -n 's/.*\"input\":{\"message\":\"\\([^\"]*\\)\".*/echo: \\1/p'\n";
        self.write("tools/echo/tool.toml", manifest).write("tools/echo/main.sh", script)
    }

    /// Runs the binary in the folder.
    pub fn run(&self, args: &[&str]) -> Ran {
        run_in(self.path(), args, "")
    }

    /// Begins to run the binary in the folder.
    pub fn begin(&self, args: &[&str]) -> Running {
        Running::new(self.path(), args)
    }

    /// As `run`, with further variables.
    pub fn run_env(&self, args: &[&str], env: &[(&str, &str)]) -> Ran {
        run_with_env(self.path(), args, "", env)
    }

    /// Runs the binary with standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Ran {
        run_in(self.path(), args, input)
    }

    /// Runs with `--json` and gives the one object.
    pub fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        self.run(&all).json()
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder to copy").flatten() {
        if entry.file_name() == "data" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("a copied file");
        }
    }
}
