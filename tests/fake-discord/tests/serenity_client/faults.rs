//! What serenity makes of the gateway's faults.

use crate::bot::{SOON, ready};
use fake_discord::{FakeDiscord, GatewayFault, Options, Say, State, ids};
use std::time::Duration;

async fn beating(heartbeat_ms: u64) -> FakeDiscord {
    FakeDiscord::start_with(Options { heartbeat_ms, ..Options::default() }, 0).await.unwrap()
}

fn answered(state: &State, text: &str) -> bool {
    state.sent(ids::GENERAL).iter().any(|m| m.content == format!("you said {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn without_acknowledgements_the_client_connects_anew() {
    let fake = beating(1_000).await;
    let bot = ready(&fake).await;
    fake.wait_for(|s| s.gateway.acks >= 1, SOON).await.unwrap();
    fake.fault(GatewayFault::StopAcks { on: true });
    let before = fake.state().gateway.connections;
    let acks = fake.wait_for(|s| s.gateway.connections > before, SOON).await.unwrap().gateway.acks;
    fake.fault(GatewayFault::StopAcks { on: false });
    // what is sent to a connection the client is about to give up is lost with it: first the new one must live
    fake.wait_for(|s| s.gateway.acks > acks && s.gateway.ready == 1, SOON).await.unwrap();
    fake.say(Say::new(ids::ANN, ids::GENERAL, "still there?")).unwrap();
    fake.wait_for(|s| answered(s, "still there?"), SOON).await.unwrap();
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconnect_resumes_and_an_invalid_session_identifies() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    fake.fault(GatewayFault::Reconnect);
    let state = fake.wait_for(|s| s.gateway.resumes.len() == 1, SOON).await.unwrap();
    assert!(state.gateway.resumes[0].replayed.is_some());
    fake.fault(GatewayFault::RefuseResume { times: 1 });
    fake.fault(GatewayFault::Close { code: 4000 });
    let state = fake.wait_for(|s| s.gateway.identifies.len() == 2 && s.gateway.ready == 1, SOON).await.unwrap();
    assert_eq!(state.gateway.resumes.last().unwrap().replayed, None);
    fake.say(Say::new(ids::ANN, ids::GENERAL, "again")).unwrap();
    fake.wait_for(|s| answered(s, "again"), SOON).await.unwrap();
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_brings_an_event_twice() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    fake.say(Say::new(ids::ANN, ids::GENERAL, "once")).unwrap();
    fake.wait_for(|s| answered(s, "once"), SOON).await.unwrap();
    // the bot's own answer and its typing may have come after the message
    fake.fault(GatewayFault::Replay { last: 2 });
    fake.fault(GatewayFault::Cut);
    let state = fake.wait_for(|s| s.gateway.resumes.len() == 1, SOON).await.unwrap();
    assert_eq!(state.gateway.resumes[0].replayed, Some(2), "serenity had them all");
    fake.wait_for(|s| s.sent(ids::GENERAL).len() == 2, SOON).await.unwrap();
    bot.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_burst_before_the_first_acknowledgement_is_survived() {
    let fake = beating(3_000).await;
    fake.fault(GatewayFault::SlowBurst { guilds: 500, pause_ms: 0 });
    let bot = ready(&fake).await;
    fake.wait_for(|s| s.gateway.acks >= 1, SOON).await.unwrap();
    let state = fake.state();
    assert_eq!((state.gateway.connections, state.gateway.identifies.len()), (1, 1));
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_is_down_is_tried_again() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    fake.fault(GatewayFault::RefuseConnection { times: 1 });
    fake.fault(GatewayFault::Cut);
    fake.wait_for(|s| s.gateway.connections == 2 && s.gateway.ready == 1, Duration::from_secs(40)).await.unwrap();
    bot.end().await;
    assert_eq!(fake.violations(), []);
}
