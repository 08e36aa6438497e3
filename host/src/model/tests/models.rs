use crate::config::BotConfig;
use crate::model::{ModelError, ModelState, Models, OFFLINE, estimate_tokens};
use crate::net::Http;
use crate::task::ManualClock;
use serde_json::{Value, json};

fn bot(value: Value) -> BotConfig {
    serde_json::from_value(value).unwrap()
}

fn http() -> Http {
    Http::new(ManualClock::default().shared()).unwrap()
}

fn remote(id: &str) -> Value {
    json!({"provider": "openai", "model": id, "base_url": "http://127.0.0.1:9/v1"})
}

#[test]
fn the_main_model_is_the_named_one_else_default_else_offline() {
    let none = Models::build(&bot(json!({})), &http());
    assert_eq!((none.main().name(), none.main_name()), (OFFLINE, OFFLINE));
    assert_eq!(none.states(), [(OFFLINE.to_owned(), ModelState::Up)]);
    let models = json!({"default": remote("a"), "big": remote("b")});
    let default = Models::build(&bot(json!({"models": models})), &http());
    assert_eq!(default.main().name(), "a");
    assert_eq!(default.get("big").unwrap().name(), "b");
    assert_eq!(default.get(OFFLINE).unwrap().name(), OFFLINE);
    assert_eq!(default.states().len(), 2);
    let named = Models::build(&bot(json!({"models": models, "agent": {"model": "big"}})), &http());
    assert_eq!(named.main().name(), "b");
    let other = json!({"models": {"default": {"provider": "offline"}}});
    assert_eq!(Models::build(&bot(other), &http()).main().name(), OFFLINE);
}

#[tokio::test]
async fn an_unknown_name_is_not_answered_by_somebody_else() {
    let models = Models::build(&bot(json!({"agent": {"model": "gone"}})), &http());
    let request = super::request();
    let error = models.main().complete(request).await.err().unwrap();
    assert!(matches!(error, ModelError::Unavailable(reason) if reason.contains("gone")));
}

#[tokio::test]
async fn a_model_without_its_variable_is_down_and_never_asked() {
    let mut bot = bot(json!({"models": {"default": remote("a")}}));
    bot.models.get_mut("default").unwrap().unavailable = Some("the variable KEY is not set or empty".into());
    let models = Models::build(&bot, &http());
    assert_eq!(models.states(), [("default".to_owned(), ModelState::Down)]);
    let error = models.main().complete(super::request()).await.err().unwrap();
    assert!(matches!(error, ModelError::Unavailable(reason) if reason.contains("KEY")));
}

#[test]
fn an_unchanged_model_keeps_its_client() {
    let http = http();
    let before = Models::build(&bot(json!({"models": {"a": remote("a"), "b": remote("b")}})), &http);
    let after = before.rebuild(&bot(json!({"models": {"a": remote("a"), "b": remote("c")}})), &http);
    let same = |name: &str| {
        let (x, y) = (before.get(name).unwrap(), after.get(name).unwrap());
        std::ptr::addr_eq(std::sync::Arc::as_ptr(&x), std::sync::Arc::as_ptr(&y))
    };
    assert!(same("a") && !same("b"));
}

#[test]
fn tokens_are_estimated_by_script() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("abcdefgh"), 2);
    assert_eq!(estimate_tokens("北京天气"), 4);
    assert_eq!(estimate_tokens("北京 abc"), 3);
}
