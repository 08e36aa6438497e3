//! A tool that stands still until a test lets it go on.

use crate::{TestBot, wait_for};
use std::path::PathBuf;
use std::time::Duration;

/// The gate. Dropped, it is open: no tool waits for a test that has failed.
pub struct Gate {
    dir: tempfile::TempDir,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("gate-").tempdir().expect("a temporary folder") }
    }

    /// Lines of a script that come to the gate and wait.
    pub fn lines(&self) -> String {
        let gate = self.dir.path().display();
        format!(
            "mktemp '{gate}/came.XXXXXX' >/dev/null\n\
             while [ -d '{gate}' ] && [ ! -e '{gate}/open' ]; do sleep 0.02; done\n"
        )
    }

    /// Writes a tool that waits here and then says the words of its helper file.
    pub fn tool(&self, bot: &TestBot, folder: &str, words: &str) {
        let script = format!("#!/bin/sh\ncat >/dev/null\n{}. ./words.sh\nprintf %s \"$WORDS\"\n", self.lines());
        let manifest = "description = \"Wait at the gate\"\nrequires_approval = \"never\"\ncapabilities = []\n\
            timeout_seconds = 100\nrun = { command = [\"./main.sh\"] }\n";
        Self::words(bot, folder, words);
        bot.put(&format!("{folder}/main.sh"), &script);
        bot.put(&format!("{folder}/tool.toml"), manifest);
    }

    /// Changes the helper file alone.
    pub fn words(bot: &TestBot, folder: &str, words: &str) {
        bot.put(&format!("{folder}/words.sh"), &format!("WORDS='{words}'\n"));
    }

    /// Waits until so many calls stand here.
    #[track_caller]
    pub fn await_calls(&self, number: usize) {
        wait_for("calls at the gate", Duration::from_secs(60), || (self.came() >= number).then_some(()));
    }

    fn came(&self) -> usize {
        let entries = std::fs::read_dir(self.dir.path()).expect("the gate");
        entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with("came.")).count()
    }

    /// Lets everybody through from now on.
    pub fn open(&self) {
        std::fs::write(self.path(), "").expect("an open gate");
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("open")
    }
}
