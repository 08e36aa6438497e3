//! Finding, loading and calling among many tools; what stays loaded and for whom.

use crate::contract;
use harness::TestBot;
use serde_json::Value;

const VERBS: [&str; 15] = [
    "Archive",
    "Approve",
    "Cancel",
    "Compare",
    "Count",
    "Export",
    "Forward",
    "Import",
    "Merge",
    "Pause",
    "Publish",
    "Rename",
    "Restore",
    "Schedule",
    "Translate",
];
const THINGS: [(&str, &str); 20] = [
    ("invoice", "an invoice of the accounting system"),
    ("calendar", "an appointment in the shared calendar"),
    ("ticket", "a support ticket in the help desk"),
    ("photo", "a photo in the family album"),
    ("recipe", "a recipe in the cook book"),
    ("playlist", "a playlist of the music player"),
    ("deployment", "a deployment of the web service"),
    ("backup", "a backup of the database"),
    ("shipment", "a shipment with the parcel carrier"),
    ("contract", "a contract with a supplier"),
    ("newsletter", "a newsletter to subscribers"),
    ("sensor", "a temperature sensor in the greenhouse"),
    ("booking", "a booking of a meeting room"),
    ("survey", "a survey among customers"),
    ("branch", "a branch of the source repository"),
    ("podcast", "an episode of the podcast"),
    ("warranty", "a warranty claim for a device"),
    ("timesheet", "a timesheet of an employee"),
    ("vaccine", "a vaccination record of a pet"),
    ("bookmark", "a bookmark in the reading list"),
];

/// Three hundred tools of four plugins that have nothing to do with echoing.
fn crowd(bot: &TestBot) {
    for (n, (word, thing)) in THINGS.iter().enumerate() {
        let plugin = ["office", "home", "shop", "ops"][n % 4];
        bot.put(&format!("plugins/{plugin}/plugin.toml"), "version = \"1.0.0\"\ndescription = \"One of four\"\n");
        for verb in VERBS {
            let folder = format!("plugins/{plugin}/tools/{}-{word}", verb.to_lowercase());
            bot.put(&format!("{folder}/main.sh"), "#!/bin/sh\necho done\n");
            let manifest = format!(
                "description = \"{verb} {thing}\"\ncapabilities = []\ntags = [\"{plugin}\"]\n\
                 run = {{ command = [\"./main.sh\"] }}\n[input]\nid = {{ type = \"string\", description = \"Which {word}\" }}\n"
            );
            bot.put(&format!("{folder}/tool.toml"), &manifest);
        }
    }
}

fn calls(turn: &Value) -> Vec<&str> {
    turn["tool_calls"].as_array().expect("calls").iter().filter_map(|c| c["tool"].as_str()).collect()
}

#[test]
fn one_tool_is_found_among_three_hundred_others() {
    let bot = TestBot::new().echo();
    crowd(&bot);
    let listed = contract::ran(&bot, &["list"], 0, "list-tools");
    let plugin = listed["items"].as_array().expect("items").iter().filter(|t| t["source"] == "folder").count();
    assert_eq!(plugin, 301);
    let asked = contract::ran(&bot, &["ask", ".", "echo hello world"], 0, "ask");
    assert_eq!(calls(&asked), ["discover", "load_tool", "echo"], "{asked:#}");
    assert_eq!(asked["tool_calls"][1]["arguments"]["name"], "echo");
    assert_eq!(asked["tool_calls"][2]["arguments"]["message"], "hello world");
    assert_eq!(asked["text"], "echo: hello world");
    for absent in ["tell me a joke", "what is the meaning of life?", "juggle seven flaming torches"] {
        let asked = contract::ran(&bot, &["ask", ".", absent], 0, "ask");
        assert!(calls(&asked).iter().all(|name| *name == "discover"), "{absent}: {asked:#}");
        let text = asked["text"].as_str().expect("text");
        assert!(text.contains("no tool") && text.contains("/help"), "{absent}: {text}");
    }
}
