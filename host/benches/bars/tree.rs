//! Bot folders of a given number of command tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Tools of one plugin.
const PER_PLUGIN: usize = 10;

/// The tool that edits change.
pub(crate) const EDITED: &str = "plugins/p000/tools/t0003/tool.toml";

/// A manifest.
pub(crate) fn manifest(description: &str) -> String {
    format!(
        "description = \"{description}\"\ncapabilities = [\"read\"]\ntags = [\"bench\"]\nrun = {{ command = [\"./main.sh\"] }}\n\
         [input]\ncity = {{ type = \"string\", minLength = 1, description = \"City name\" }}\n\
         days = {{ type = \"integer\", minimum = 1, maximum = 7, default = 1 }}\n"
    )
}

/// A folder with `bot.toml` and `tools` tools in plugins of ten.
pub(crate) fn bot(config: &str, tools: usize) -> tempfile::TempDir {
    let bot = tempfile::tempdir().expect("a folder");
    fs::write(bot.path().join("bot.toml"), config).expect("a file");
    for n in 0..tools {
        let plugin = bot.path().join(format!("plugins/p{:03}", n / PER_PLUGIN));
        let folder = plugin.join(format!("tools/t{n:04}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(plugin.join("plugin.toml"), "version = \"1.0.0\"\ndescription = \"bench\"\n").expect("a file");
        fs::write(folder.join("tool.toml"), manifest(&format!("tool number {n}"))).expect("a file");
        fs::write(folder.join("main.sh"), "#!/bin/sh\necho '{}'\n").expect("a file");
        fs::set_permissions(folder.join("main.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    // A hash is trusted only some time after the file was written.
    std::thread::sleep(Duration::from_millis(150));
    bot
}

/// Copies a folder, without `data`.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() && entry.file_name() != "data" {
            copy(&entry.path(), &target);
        } else if entry.path().is_file() {
            fs::copy(entry.path(), &target).expect("a copied file");
        }
    }
}
