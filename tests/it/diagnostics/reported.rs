//! All faults of a tree at once, in one order, and in the form that people read.

use super::fixture::lines;
use harness::TestBot;

#[test]
fn ten_faults_are_ten_findings_in_order() {
    let bot = TestBot::new();
    bot.put("bot.toml", "[access]\nmode = \"open\"\n[bot]\nnam = \"a\"\n");
    bot.put(
        "plugins/maps/plugin.toml",
        "version = \"1.0\"\ndescription = \"Maps\"\nfeatures = []\n[permissions]\nsecrets = [\"KEY\"]\n",
    );
    bot.put(
        "plugins/maps/tools/far/tool.toml",
        "description = \"Far\"\nrequire_approval = \"never\"\nrun = { command = [\"cat\"] }\n",
    );
    bot.put(
        "tools/near/tool.toml",
        "description = \"Near\"\nrun = { command = [\"cat\"] }\n[input]\na = \"string\"\n[preset]\nb = 1\n",
    );
    bot.put("tools/cut/tool.toml", "description = \"Cut\nrun = { command = [\"cat\"] }\n");
    bot.put("skills/one/SKILL.md", "---\ndescription: One\ntools: [cut, nothing]\n---\nText.\n");
    bot.put("skills/two/SKILL.md", "no front matter\n");
    bot.put("prompt-sections/tone/SECTION.md", "---\ntitle: Tone\nlayer: roll\n---\nText.\n");
    let found = lines(&bot.run(&["check", "--json"]).exits(1).json(), &[]);
    let expected = [
        "error bot::unknown-key bot.toml:4:1 -",
        "error plugin::bad-value plugins/maps/plugin.toml:1:11 maps",
        "error plugin::unknown-key plugins/maps/plugin.toml:3:1 maps",
        "error plugin::permission-not-granted plugins/maps/plugin.toml:5:12 maps",
        "error tool::unknown-key plugins/maps/tools/far/tool.toml:2:1 maps",
        "error section::bad-value prompt-sections/tone/SECTION.md:3:8 .",
        "error skill::unknown-tool skills/one/SKILL.md:3:14 .",
        "error text::front-matter skills/two/SKILL.md:1:1 .",
        "error tool::syntax tools/cut/tool.toml:1:19 .",
        "error tool::preset-unknown tools/near/tool.toml:6:1 .",
    ];
    // the skill's tool `cut` is there, if broken: naming it is no further fault
    assert_eq!(found, expected);
}

#[test]
fn the_shown_form_has_the_line_and_carets() {
    let bot = TestBot::new();
    bot.put("plugins/maps/plugin.toml", "version = \"1.2.0\"\ndescription = \"Maps\"\n");
    bot.put(
        "plugins/maps/tools/get-weather/tool.toml",
        "description = \"Weather\"\nrequire_approval = \"never\"\nrun = { command = [\"cat\"] }\n",
    );
    bot.put("bot.toml", "[access]\nmode = \"open\"\n");
    let expected = "error[tool::unknown-key]: unknown key `require_approval`\n\
        \x20 --> plugins/maps/tools/get-weather/tool.toml:2:1\n\
        \x202 | require_approval = \"never\"\n\
        \x20  | ^^^^^^^^^^^^^^^^\n\
        \x20  = owner: maps, tool: get-weather\n\
        \x20  = help: did you mean `requires_approval`?\n";
    let shown = bot.run(&["check"]).exits(1);
    assert_eq!(shown.err.trim_end(), expected.trim_end());
    assert_eq!(shown.out, "refused: 1 error, 0 warnings, 0 remarks (2 plugins, 0 tools)\n");
}

#[test]
fn columns_count_characters_and_secrets_are_not_shown() {
    let bot = TestBot::new();
    bot.put("tools/wetter/tool.toml", "description = \"天气 ☀ x\"\nrun = { command = [\"cat\"], cwdd = \"tool\" }\n");
    bot.put("bot.toml", "[access]\nmode = \"open\"\n[secrets]\nA = \"hunter2-hunter2\"\nB = 12345678\n");
    let ran = bot.run(&["check"]).exits(1);
    assert!(!ran.err.contains("hunter2") && !ran.err.contains("12345678"), "{}", ran.err);
    assert!(ran.err.contains("A = …"), "{}", ran.err);
    bot.put("bot.toml", "[access]\nmode = \"open\"\n");
    assert_eq!(
        lines(&bot.run(&["check", "--json"]).json(), &[]),
        ["error tool::unknown-key tools/wetter/tool.toml:2:28 ."]
    );
}

#[test]
fn two_hundred_are_shown_and_all_are_listed() {
    let bot = TestBot::new();
    let keys: String = (0..250).map(|n| format!("unknown_key_{n} = 1\n")).collect();
    bot.put("tools/x/tool.toml", &format!("description = \"X\"\n{keys}run = {{ command = [\"cat\"] }}\n"));
    bot.put("bot.toml", "[access]\nmode = \"open\"\n");
    assert_eq!(lines(&bot.run(&["check", "--json"]).json(), &[]).len(), 250);
    let shown = bot.run(&["check"]).exits(1).err;
    assert_eq!(shown.matches("error[tool::unknown-key]").count(), 200);
    assert!(shown.contains("50"), "the number of the rest: {}", &shown[shown.len() - 200..]);
}

#[test]
fn a_bot_folder_that_is_none_is_exit_2() {
    let bot = TestBot::new();
    bot.run(&["check", "nowhere", "--json"]).exits(2);
    bot.put("file", "");
    bot.run(&["check", "file"]).exits(2);
}
