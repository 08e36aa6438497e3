//! Messages, commands, presses, and what a break does to them.

use crate::bot::{Running, SOON, intents, ready};
use fake_discord::{
    Act, FakeDiscord, Fault, GatewayFault, InteractionKind, Options, RestEffect, RestFault, Say, Slash, bits, ids,
};
use serenity::all::{GatewayIntents, HttpBuilder};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_with_reply_button_and_file() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    let asked = fake.say(Say::new(ids::ANN, ids::GENERAL, "hello <@1200000000000000103>")).unwrap();
    let state = fake.wait_for(|s| !s.sent(ids::GENERAL).is_empty(), SOON).await.unwrap();
    let answer = state.sent(ids::GENERAL)[0];
    assert_eq!(answer.content, "you said hello <@1200000000000000103>");
    assert_eq!(answer.reference.as_ref().unwrap().message, asked);
    assert!(answer.mentions.users.is_empty(), "allowed_mentions was empty: {:?}", answer.mentions);
    assert_eq!((answer.attachments[0].name.as_str(), answer.attachments[0].size), ("note.txt", 5));
    assert_eq!(state.typed(ids::GENERAL, ids::BOT).len(), 1);
    assert!(answer.id.0 > 1 << 53);
    fake.press(ids::BEN, ids::GENERAL, answer.id, "u1:again").unwrap();
    let state = fake.wait_for(|s| s.sent(ids::GENERAL)[0].content == "pressed", SOON).await.unwrap();
    let answer = state.sent(ids::GENERAL)[0];
    assert!(answer.components.is_empty());
    assert!(answer.versions[0].content.starts_with("you said"));
    let interaction = state.interactions.values().next().unwrap();
    assert!(matches!(&interaction.kind, InteractionKind::Component { custom_id, .. } if custom_id == "u1:again"));
    assert_eq!(interaction.answered.as_ref().unwrap().kind, 7);
    assert!(fake.press(ids::BEN, ids::GENERAL, answer.id, "u1:again").unwrap_err().contains("no button"));
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_deferred_edited_and_followed_up() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    assert!(fake.slash(Slash::new(ids::ANN, ids::GENERAL, "nothing")).is_err());
    assert!(fake.slash(Slash::new(ids::ANN, ids::GENERAL, "weather")).unwrap_err().contains("required"));
    let id = fake.slash(Slash::new(ids::ANN, ids::GENERAL, "weather").with("city", "Paris")).unwrap();
    let state = fake.wait_for(|s| s.interactions[&id].messages.len() == 2, SOON).await.unwrap();
    let interaction = &state.interactions[&id];
    assert_eq!(interaction.answered.as_ref().unwrap().kind, 5);
    assert!(!interaction.loading && !interaction.lost);
    let texts: Vec<_> = state.sent(ids::GENERAL).iter().map(|m| (m.content.clone(), m.only_for)).collect();
    assert_eq!(texts, [("sunny in Paris".into(), None), ("and warm".into(), Some(ids::ANN))]);
    assert_eq!(state.commands.overwrites.len(), 1);
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_message_and_a_new_guild_reach_the_bot() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    fake.say(Say::private(ids::BEN, "psst")).unwrap();
    let dm = |s: &fake_discord::State| s.conversations.values().find(|c| c.recipient == Some(ids::BEN)).map(|c| c.id);
    let state = fake.wait_for(|s| dm(s).is_some_and(|id| !s.sent(id).is_empty()), SOON).await.unwrap();
    assert_eq!(state.sent(dm(&state).unwrap())[0].content, "you said psst");
    let guild = fake.act(Act::AddGuild { name: "Club".into(), owner: ids::BEN, premium_tier: 2 }).unwrap();
    let kind = fake_discord::ChannelKind::Text;
    let hall = fake.act(Act::AddChannel { guild, kind, name: "hall".into() }).unwrap();
    fake.act(Act::Join { guild, user: ids::BOT, roles: Vec::new() }).unwrap();
    fake.say(Say::new(ids::BEN, hall, "welcome")).unwrap();
    fake.wait_for(|s| !s.sent(hall).is_empty(), SOON).await.unwrap();
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_during_a_break_comes_with_the_resume() {
    let fake = FakeDiscord::start().await.unwrap();
    let bot = ready(&fake).await;
    fake.fault(GatewayFault::Hold { on: true });
    fake.fault(GatewayFault::Cut);
    fake.wait_for(|s| s.gateway.ready == 0, SOON).await.unwrap();
    fake.say(Say::new(ids::ANN, ids::GENERAL, "are you there?")).unwrap();
    fake.fault(GatewayFault::Hold { on: false });
    let state = fake.wait_for(|s| !s.sent(ids::GENERAL).is_empty(), SOON).await.unwrap();
    assert_eq!(state.gateway.identifies.len(), 1);
    assert!(state.gateway.resumes[0].replayed.unwrap() >= 1, "{:?}", state.gateway.resumes);
    bot.end().await;
    assert_eq!(fake.violations(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_identify_brings_nothing_back() {
    let fake = FakeDiscord::start().await.unwrap();
    ready(&fake).await.end().await;
    fake.wait_for(|s| s.gateway.ready == 0, SOON).await.unwrap();
    let missed = fake.say(Say::new(ids::ANN, ids::GENERAL, "missed")).unwrap();
    let lost = fake.slash(Slash::new(ids::ANN, ids::GENERAL, "weather").with("city", "Rome")).unwrap();
    let bot = Running::start(&fake, intents()).await;
    fake.wait_ready(SOON).await.unwrap();
    fake.say(Say::new(ids::ANN, ids::GENERAL, "heard")).unwrap();
    let state = fake.wait_for(|s| !s.sent(ids::GENERAL).is_empty(), SOON).await.unwrap();
    assert_eq!(state.sent(ids::GENERAL)[0].content, "you said heard");
    assert!(state.interactions[&lost].lost);
    assert_eq!(state.gateway.identifies.len(), 2);
    let http = HttpBuilder::new(fake.token()).proxy(fake.url()).ratelimiter_disabled(true).build();
    let after = serenity::all::MessagePagination::After((missed.0 - 1).into());
    let list = http.get_messages(ids::GENERAL.0.into(), Some(after), Some(1)).await.unwrap();
    assert_eq!(list[0].content, "missed");
    bot.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withheld_intent_and_a_wrong_token_close_for_good() {
    let options = Options { message_content: false, ..Options::default() };
    let fake = FakeDiscord::start_with(options, 0).await.unwrap();
    let bot = Running::start(&fake, intents()).await;
    let error = bot.task.await.unwrap().unwrap_err().to_string();
    assert!(error.to_lowercase().contains("intent"), "{error}");
    let state = fake.state();
    assert_eq!(state.gateway.identifies[0].closed, Some(4014));
    assert_eq!(state.violations[0].code, 4014);

    let bot = Running::start(&fake, intents() - GatewayIntents::MESSAGE_CONTENT).await;
    fake.wait_ready(SOON).await.unwrap();
    fake.say(Say::new(ids::ANN, ids::GENERAL, "unreadable")).unwrap();
    fake.say(Say::new(ids::ANN, ids::GENERAL, "<@1200000000000000001> readable")).unwrap();
    let state = fake.wait_for(|s| !s.sent(ids::GENERAL).is_empty(), SOON).await.unwrap();
    assert!(state.sent(ids::GENERAL)[0].content.ends_with("readable"));
    assert!(!state.sent(ids::GENERAL)[0].content.contains("unreadable"));
    bot.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_reach_the_client_in_the_form_it_knows() {
    let fake = FakeDiscord::start().await.unwrap();
    let http = HttpBuilder::new(fake.token()).proxy(fake.url()).ratelimiter_disabled(true).build();
    let channel = serenity::all::ChannelId::new(ids::GENERAL.0);
    let long = serde_json::json!({"content": "x".repeat(2001)});
    let error = http.send_message(channel, Vec::new(), &long).await.unwrap_err();
    let serenity::Error::Http(serenity::all::HttpError::UnsuccessfulRequest(response)) = error else {
        panic!("{error:?}")
    };
    assert_eq!((response.status_code.as_u16(), response.error.code), (400, 50035));
    assert_eq!(response.error.errors[0].path, "content");
    assert_eq!(response.error.errors[0].code, "BASE_TYPE_MAX_LENGTH");
    fake.fault(Fault::Rest(RestFault::once("POST channels/*/messages", RestEffect::ApplyThenCut)));
    let text = serde_json::json!({"content": "once", "nonce": "n1", "enforce_nonce": true});
    assert!(http.send_message(channel, Vec::new(), &text).await.is_err());
    let again = http.send_message(channel, Vec::new(), &text).await.unwrap();
    let state = fake.state();
    let sent = state.sent(ids::GENERAL);
    assert_eq!((sent.len(), sent[0].id.0), (1, again.id.get()));
    let overwrites =
        vec![fake_discord::Overwrite { id: ids::GUILD, member: false, allow: 0, deny: bits::SEND_MESSAGES }];
    fake.act(Act::Permit { channel: ids::GENERAL, overwrites }).unwrap();
    let error = http.send_message(channel, Vec::new(), &text).await.unwrap_err();
    assert!(format!("{error:?}").contains("50013"), "{error:?}");
}
