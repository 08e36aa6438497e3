//! Who is answered at all: lists, their absence, their misspelling, and how often.

use crate::asking::{Scene, Told, person, place, text};
use crate::channel::Channel;
use harness::TestBot;
use host::model::ModelRequest;
use host::reload::{Outcome, Trigger};
use plugin_sdk::{ConversationRef, Principal, Role, Scope};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Says something and gives what was said to it.
async fn ask(channel: &Channel, who: &Principal, at: &ConversationRef, what: &str) -> String {
    let before = channel.said(at).len();
    let id = channel.say(who, at, what);
    channel.settled(&id).await;
    channel.said(at)[before..].trim().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_lists_only_the_console_is_answered() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let model = Told(move |_: &ModelRequest| {
        counted.fetch_add(1, Ordering::SeqCst);
        text("Hello.")
    });
    let scene = Scene::open(&TestBot::new(), model).await;
    let stranger = "I do not know you. Ask the admin to add you: telegram:5";
    assert_eq!(ask(&scene.channel, &person("5"), &place(Scope::Private, "5"), "hi").await, stranger);
    assert_eq!(ask(&scene.channel, &person("5"), &place(Scope::Private, "5"), "/help").await, "", "once a day");
    assert_eq!(ask(&scene.channel, &person("5"), &place(Scope::Group, "-1"), "hi").await, "");
    let console = Channel::new("console");
    let serving = console.attach(&scene.host);
    let ann = Principal::person("console", "ann", Some(Role::Master));
    let mut desk = place(Scope::Private, "ann");
    desk.platform = "console".into();
    assert_eq!(ask(&console, &ann, &desk, "hi").await, "Hello.");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the model heard of nobody else");
    serving.abort();
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_twenty_first_message_of_a_minute_gets_one_sentence() {
    let bot = TestBot::new().write("bot.toml", "[access]\nusers = [\"telegram:5\"]\n");
    let scene = Scene::open(&bot, Told(|_: &ModelRequest| text("Hello."))).await;
    let (who, at) = (person("5"), place(Scope::Private, "5"));
    for n in 0..20 {
        assert_eq!(ask(&scene.channel, &who, &at, "hi").await, "Hello.", "{n}");
    }
    assert_eq!(ask(&scene.channel, &who, &at, "hi").await, "You are very fast. Please wait 10 seconds.");
    assert_eq!(ask(&scene.channel, &who, &at, "hi").await, "", "dropped in silence");
    assert_eq!(ask(&scene.channel, &who, &at, "/stop").await, "Nothing is running.", "control is not counted");
    scene.clock.advance(Duration::from_secs(61));
    assert_eq!(ask(&scene.channel, &who, &at, "hi").await, "Hello.");
    let journal = scene.journal().await;
    let limited: Vec<_> = journal.iter().filter(|r| r.kind == "access.rate_limited").collect();
    assert_eq!((limited.len(), limited[0].principal.as_deref()), (1, Some("telegram:5")));
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_beside_a_half_saved_tool_silences_the_person_and_their_buttons() {
    let config = |more: &str| format!("[access]\nmode = \"open\"\ntrusted = [\"telegram:5\"]\n{more}");
    let bot = TestBot::new().write("bot.toml", &config(""));
    bot.put(
        "tools/erase/tool.toml",
        "description = \"Erase it\"\nrequires_approval = \"always\"\ncapabilities = []\n\
         run = { command = [\"sh\", \"./main.sh\"] }\n[command]\nname = \"erase\"\n",
    );
    bot.put("tools/erase/main.sh", "cat >/dev/null\necho 'did erase'\n");
    let scene = Scene::open(&bot, Told(|_: &ModelRequest| text("Hello."))).await;
    let (who, other, group) = (person("5"), person("6"), place(Scope::Group, "-1"));
    assert_eq!(ask(&scene.channel, &who, &group, "hi").await, "Hello.");
    let id = scene.channel.say(&other, &group, "/erase");
    assert!(scene.channel.card_or_end(&id, &group, 0).await);
    bot.put("bot.toml", &config("deny = [\"telegram:5\"]\n"));
    bot.put("tools/erase/tool.toml", "description = \"half");
    let record = scene.host.reload(Trigger::Command).await.expect("a record");
    assert_eq!((record.outcome, record.policy_applied), (Outcome::Rejected, true));
    let refused = scene.channel.press("Allow once", &who, &group).await;
    assert_eq!(refused, "Only people allowed to approve can answer.");
    assert_eq!(ask(&scene.channel, &who, &group, "hi").await, "");
    scene.channel.press("Deny", &other, &group).await;
    scene.channel.settled(&id).await;
    assert!(!scene.channel.said(&group).contains("did erase"));
    let journal = scene.journal().await;
    let refused: Vec<_> = journal.iter().filter(|r| r.kind == "access.refused").collect();
    assert_eq!(refused.len(), 2, "the press and the message: {refused:?}");
    assert!(refused.iter().all(|r| r.principal.as_deref() == Some("telegram:5")));
    assert_eq!(refused[0].data["reason"], "press");
    scene.end().await;
}

/// The platform is asked once a minute at most, and again before the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_platform_role_lost_while_the_card_waits_wins_over_the_yes() {
    let config =
        "[access]\nmode = \"open\"\ntrusted = [\"telegram:boss\"]\n[adapters.telegram.main]\nenabled = false\n";
    let bot = TestBot::new().write("bot.toml", config);
    bot.put(
        "tools/pin/tool.toml",
        "description = \"Pin it\"\nrequires_approval = \"always\"\ncapabilities = []\n\
         permissions = [\"platform(telegram, administrator)\"]\nrun = { command = [\"sh\", \"./main.sh\"] }\n\
         [command]\nname = \"pin\"\n",
    );
    bot.put("tools/pin/main.sh", "cat >/dev/null\necho 'did pin'\n");
    let scene = Scene::open(&bot, Told(|_: &ModelRequest| text("Hello."))).await;
    let (ann, boss, group) = (person("ann"), person("boss"), place(Scope::Group, "-1"));
    scene.channel.with(|b| b.held.insert("ann".into(), vec!["administrator".into()]));
    for cards in 0..2 {
        let id = scene.channel.say(&ann, &group, "/pin");
        assert!(scene.channel.card_or_end(&id, &group, cards).await, "{}", scene.channel.said(&group));
        if cards == 1 {
            scene.channel.with(|b| b.held.clear());
            scene.clock.advance(Duration::from_secs(61));
        }
        assert_eq!(scene.channel.press("Allow once", &boss, &group).await, "Approved by telegram:boss.");
        scene.channel.settled(&id).await;
    }
    assert_eq!(scene.channel.said(&group).matches("did pin").count(), 1, "{}", scene.channel.said(&group));
    assert_eq!(scene.channel.with(|b| b.lookups), 2);
    let journal = scene.journal().await;
    let refused: Vec<_> = journal.iter().filter(|r| r.kind == "tool.denied").collect();
    assert_eq!((refused.len(), &refused[0].data["reason"]), (1, &"TOOL_NOT_ALLOWED".into()));
    scene.end().await;
}

#[test]
fn a_misspelt_list_never_opens_the_bot() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"open\"\nalow_users = [\"telegram:5\"]\n");
    let refused = bot.run(&["run", "."]).exits(1).err;
    assert!(refused.contains("bot::unknown-key") && refused.contains("alow_users"), "{refused}");
    let checked = bot.run(&["check", ".", "--json"]).exits(1).json();
    assert_eq!(checked["diagnostics"][0]["code"], "bot::unknown-key", "{checked:#}");
    assert_eq!(checked["diagnostics"][0]["line"], 3);
}

/// What an author is only warned about still denies.
#[test]
fn a_permit_of_an_absent_platform_denies() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"open\"\nmasters = [\"telegram:7\"]\n");
    bot.put_tool("tools/pin", "Pin it", "pinned");
    let manifest = "description = \"Pin it\"\ncapabilities = []\npermissions = [\"platform(discord,guild_owner)\"]\n\
        run = { command = [\"./main.sh\"] }\n";
    bot.put("tools/pin/tool.toml", manifest);
    let checked = bot.run(&["check", ".", "--json"]).exits(0).json();
    let found = checked["diagnostics"].as_array().expect("a list");
    assert!(found.iter().any(|d| d["code"] == "permit::adapter-absent" && d["line"] == 3), "{checked:#}");
    for who in ["telegram:group:-1:user:7", "discord:channel:1:user:7"] {
        let why = bot.run(&["explain", "pin", "--as", who, "--json"]).exits(1).json();
        assert_eq!((&why["admitted"], &why["reason"]), (&false.into(), &"admission::permit".into()), "{why:#}");
    }
}
