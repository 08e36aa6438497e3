//! A stranger on a platform, the code, and the master who takes it.

use crate::channel::Channel;
use harness::TestBot;
use host::app::{Host, HostOptions, StoreKind};
use host::store::in_memory;
use host::task::ManualClock;
use plugin_sdk::{ConversationRef, Principal, Role, Scope};
use std::sync::Arc;
use std::time::Duration;

fn place(platform: &str, user: &str) -> ConversationRef {
    ConversationRef {
        platform: platform.into(),
        endpoint: "main".into(),
        scope: Scope::Private,
        scene: user.into(),
        parent: None,
        thread: None,
    }
}

/// Says one thing and gives what was answered to it.
async fn ask(channel: &Arc<Channel>, user: &str, text: &str) -> String {
    let role = (channel.kind == "console").then_some(Role::Master);
    let (who, place) = (Principal::person(channel.kind, user, role), place(channel.kind, user));
    let before = channel.said(&place).len();
    let id = channel.say(&who, &place, text);
    channel.settled(&id).await;
    channel.said(&place)[before..].trim().to_string()
}

fn code_in(text: &str) -> String {
    let at = text.find("/pair ").unwrap_or_else(|| panic!("no code: {text}")) + "/pair ".len();
    text[at..].chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_works_once_and_lasts_over_a_restart() {
    let bot = TestBot::new().write("bot.toml", "[access]\nmode = \"pairing\"\nmasters = [\"telegram:7\"]\n");
    let clock = ManualClock::default();
    let memory = in_memory(clock.shared());
    let start = || async {
        let mut options = HostOptions::new(bot.path(), clock.shared());
        options.store = StoreKind::Scratch;
        options.memory = Some(memory.clone());
        let host = Arc::new(Host::start(options).await.expect("a host"));
        let (telegram, console) = (Channel::new("telegram"), Channel::new("console"));
        telegram.attach(&host);
        console.attach(&host);
        (host, telegram, console)
    };
    let (host, telegram, console) = start().await;
    let offered = ask(&telegram, "42", "hello").await;
    let code = code_in(&offered);
    assert_eq!(code.len(), 8, "{offered}");
    assert_eq!(ask(&telegram, "42", "hello?").await, "", "one message per person and hour");
    // only a master takes a code
    assert!(ask(&console, "ann", "/pair AAAAAAAA").await.contains("unknown"));
    assert!(ask(&console, "ann", "/pair").await.contains("/pair CODE"));
    let done = ask(&console, "ann", &format!("/pair {}", code.to_lowercase())).await;
    assert!(done.contains("telegram:42"), "{done}");
    assert!(ask(&console, "ann", &format!("/pair {code}")).await.contains("unknown"), "it works once");
    assert!(ask(&telegram, "42", "hello").await.contains("Help") || !ask(&telegram, "42", "/help").await.is_empty());
    assert!(ask(&telegram, "42", &format!("/pair {code}")).await.contains("may not use"), "no master");
    // a code that is an hour old is none
    let late = code_in(&ask(&telegram, "50", "hello").await);
    clock.advance(Duration::from_secs(3601));
    assert!(ask(&telegram, "7", &format!("/pair {late}")).await.contains("unknown"));
    // twenty wait at most
    for n in 0..20 {
        code_in(&ask(&telegram, &format!("{}", 100 + n), "hello").await);
    }
    let full = ask(&telegram, "120", "hello").await;
    assert!(full.contains("do not know you. Ask the admin") && !full.contains("/pair"), "{full}");
    host.shutdown().await;
    let (host, telegram, _console) = start().await;
    assert!(!ask(&telegram, "42", "/help").await.is_empty(), "still let in");
    host.shutdown().await;
}
