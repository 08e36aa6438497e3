//! Where the data of a bot may lie: nothing of somebody else is touched, and programs get whole paths.

use harness::TestBot;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// What a person keeps in a folder, under names that a data folder has too.
const KEPT: [&str; 6] =
    ["files/a.jpg", "trees/oak/b.jpg", "children/c.jpg", "content/d.jpg", "store/e.jpg", "artifacts/f.jpg"];

fn mode(bot: &TestBot, folder: &str) -> u32 {
    std::fs::metadata(bot.at(folder)).expect("a folder").permissions().mode() & 0o777
}

fn greet() -> TestBot {
    TestBot::new().tool("bot/tools/greet", "Greet somebody", "hello").write("bot/bot.toml", "")
}

fn codes(answer: &Value) -> Vec<(String, Option<u64>)> {
    let found = answer["diagnostics"].as_array().expect("diagnostics").iter();
    let errors = found.filter(|d| d["severity"] == "error");
    errors.map(|d| (d["code"].as_str().unwrap_or_default().to_string(), d["line"].as_u64())).collect()
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_stays_as_it_is() {
    let bot = greet();
    for file in KEPT {
        bot.put(&format!("home/{file}"), "mine");
    }
    std::fs::set_permissions(bot.at("home"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    for command in [&["ask", "bot", "greet X"][..], &["run", "bot"], &["call", "greet", "{}", "--dir", "bot"]] {
        let refused = bot.run(&[command, &["--data-dir", "home", "--json"]].concat()).exits(1);
        assert!(refused.out.contains("store::foreign-folder"), "{}{}", refused.out, refused.err);
        assert!(refused.out.contains("--data-dir"), "help: {}", refused.out);
    }
    for file in KEPT {
        assert_eq!(std::fs::read_to_string(bot.at(&format!("home/{file}"))).expect(file), "mine");
    }
    assert_eq!(std::fs::read_dir(bot.at("home")).expect("home").count(), KEPT.len(), "nothing came in");
    assert_eq!(mode(&bot, "home"), 0o755);
    let doctor = bot.run(&["doctor", "bot", "--data-dir", "home"]).exits(1);
    assert!(doctor.out.contains("is no data folder"), "{}", doctor.out);
}

#[test]
fn an_empty_folder_and_one_from_before_the_mark_are_taken() {
    let bot = greet();
    std::fs::create_dir(bot.at("empty")).expect("a folder");
    bot.run(&["ask", "bot", "greet X", "--data-dir", "empty"]).exits(0);
    assert_eq!(mode(&bot, "empty"), 0o700);
    std::fs::remove_file(bot.at("empty/.understudy")).expect("the mark");
    bot.put("empty/files/mine.txt", "mine");
    bot.put("empty/trees/mine/mine.txt", "mine");
    bot.put("empty/content/mine.txt", "mine");
    bot.run(&["ask", "bot", "greet X", "--data-dir", "empty"]).exits(0);
    assert!(bot.at("empty/.understudy").is_file(), "it is marked now");
    for file in ["files/mine.txt", "trees/mine/mine.txt", "content/mine.txt"] {
        assert!(bot.at(&format!("empty/{file}")).is_file(), "{file} was removed though the host did not make it");
    }
}

#[test]
fn data_in_the_bot_s_own_folders_is_an_error_of_its_line() {
    let bot = greet();
    bot.put("bot/files/mine.txt", "mine");
    bot.put("bot/trees/old/mine.txt", "mine");
    bot.put("bot/plugins/p/plugin.toml", "version = \"1.0.0\"\ndescription = \"P\"\n");
    let wrong =
        [".", "..", "", "plugins", "plugins/p/data", "tools/greet", "skills/x", "../bot", "a/../tools", "~/x", "~"];
    for folder in wrong {
        bot.put("bot/bot.toml", &format!("[bot]\nname = \"a\"\ndata_dir = \"{folder}\"\n"));
        for command in [&["check", "bot", "--json"][..], &["ask", "bot", "greet X", "--json"]] {
            let refused = bot.run(command).exits(1).json();
            let found = codes(&refused);
            assert!(found.contains(&("bot::bad-value".into(), Some(3))), "{folder}: {command:?}: {found:?}");
        }
    }
    bot.put("bot/bot.toml", "");
    for folder in [".", "bot", "bot/plugins", "bot/tools/greet", "bot/tools/new", "~/x"] {
        let refused = bot.run(&["ask", "bot", "greet X", "--data-dir", folder, "--json"]).exits(1).json();
        assert_eq!(codes(&refused), [("store::foreign-folder".into(), None)], "{folder}");
    }
    let mut left: Vec<_> = std::fs::read_dir(bot.at("bot")).expect("bot").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["bot.toml", "files", "plugins", "tools", "trees"]);
    assert!(bot.at("bot/files/mine.txt").is_file() && bot.at("bot/trees/old/mine.txt").is_file());
    assert!(!bot.at("~").exists());
    for (key, text) in [("workspace", "root = \"~/w\""), ("telemetry", "log_file = \"~/log\"")] {
        bot.put("bot/bot.toml", &format!("[{key}]\n{text}\n"));
        assert_eq!(codes(&bot.run(&["check", "bot", "--json"]).exits(1).json())[0].1, Some(2), "{key}");
    }
}

#[test]
fn programs_are_given_whole_paths() {
    let bot = TestBot::new().write("bot/bot.toml", "");
    let manifest = "description = \"Where am I\"\ncapabilities = []\nrun = { command = [\"./main.sh\"] }\n";
    bot.put("bot/tools/where/tool.toml", manifest);
    let script = "#!/bin/sh\ntr ',{}' '\\n' | grep -E '\"(data_dir|workspace_root)\"' \n\
        echo \"env:$UNDERSTUDY_DATA_DIR home:$HOME tmp:$TMPDIR\"\n";
    bot.put("bot/tools/where/main.sh", script);
    let root = std::fs::canonicalize(bot.path()).expect("a path").display().to_string();
    let told = |args: &[&str], folder: &str| {
        let answer = bot.run(&[&["call", "where", "{}", "--dir", "bot", "--json"], args].concat()).exits(0).json();
        let text = answer["text"].as_str().expect("text").to_string();
        let own = format!("{root}/{folder}/plugins/root");
        for line in [format!("\"data_dir\":\"{own}\""), format!("env:{own} home:{own} tmp:{own}/tmp")] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(text.contains(&format!("\"workspace_root\":\"{root}/{folder}/workspace")), "{text}");
    };
    told(&["--data-dir", "fd1"], "fd1");
    told(&["--data-dir", "./x/../fd2/"], "fd2");
    bot.put("bot/bot.toml", "[bot]\ndata_dir = \"../dd4\"\n");
    told(&[], "dd4");
}

#[test]
fn a_workspace_that_was_there_keeps_its_mode() {
    let bot = TestBot::new()
        .echo()
        .write("bot.toml", "[bot]\ndata_dir = \"d\"\n[workspace]\nscope = \"bot\"\nroot = \"w\"\n");
    bot.run(&["call", "echo", "{\"message\":\"a\"}"]).exits(0);
    assert_eq!(mode(&bot, "d/w"), 0o700, "a new one is private");
    std::fs::set_permissions(bot.at("d/w"), std::fs::Permissions::from_mode(0o750)).expect("a mode");
    bot.run(&["call", "echo", "{\"message\":\"a\"}"]).exits(0);
    assert_eq!(mode(&bot, "d/w"), 0o750);
}
