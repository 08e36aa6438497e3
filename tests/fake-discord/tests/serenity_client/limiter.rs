//! Serenity's own limiter works only with Discord's address: behind TLS it meets the fake's limits.

use fake_discord::{FakeDiscord, Options, RateScope, RestEffect, RestFault, Tls, ids};
use serenity::all::{ChannelId, CreateMessage, Http, HttpBuilder};

#[expect(clippy::disallowed_methods, reason = "a test's own client")]
fn http(fake: &FakeDiscord, tls: &Tls) -> Http {
    let authority = reqwest012::Certificate::from_pem(tls.ca_pem.as_bytes()).unwrap();
    let client = reqwest012::Client::builder().resolve("discord.com", tls.addr).add_root_certificate(authority);
    HttpBuilder::new(fake.token()).client(client.no_proxy().build().unwrap()).build()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limiter_keeps_within_the_headers_and_waits_for_a_429() {
    let fake = FakeDiscord::start_with(Options::default(), 0).await.unwrap();
    let tls = fake.tls().await.unwrap();
    let http = http(&fake, &tls);
    let channel = ChannelId::new(ids::GENERAL.0);
    for n in 0..6 {
        channel.send_message(&http, CreateMessage::new().content(n.to_string())).await.unwrap();
    }
    let state = fake.state();
    let sent = state.sent(ids::GENERAL);
    assert!(sent[5].at_ms - sent[0].at_ms >= 4_900, "the sixth waited for the next window");
    let what = RestEffect::RateLimit { retry_after_ms: 1_000, scope: RateScope::Shared, headers: true, html: false };
    fake.fault(RestFault::once("POST channels/*/messages", what));
    channel.send_message(&http, CreateMessage::new().content("after")).await.unwrap();
    let state = fake.state();
    let statuses: Vec<u16> = state.asked("POST channels/*/messages").iter().map(|r| r.status).collect();
    assert_eq!(statuses[6..], [429, 200]);
    assert_eq!(fake.violations(), []);
}
