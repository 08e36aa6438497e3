//! Everything the fake sends has the shape serenity reads.

use crate::bot::SOON;
use fake_discord::{Act, ChannelKind, Edit, FakeDiscord, Options, SaidFile, Say, ids};
use serenity::all::{
    ButtonStyle, ChannelId, ChannelType, ClientBuilder, Context, CreateActionRow, CreateButton, CreateForumPost,
    CreateMessage, CreateThread, EditMessage, Event, GatewayIntents, GetMessages, GuildId, Http, HttpBuilder,
    MessageFlags, MessageId, RawEventHandler, UserId,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

fn http(fake: &FakeDiscord) -> Http {
    HttpBuilder::new(fake.token()).proxy(fake.url()).ratelimiter_disabled(true).build()
}

#[tokio::test]
async fn answers_to_requests() {
    let fake = FakeDiscord::start_with(Options { rates: false, ..Options::default() }, 0).await.unwrap();
    let http = http(&fake);
    assert_eq!(http.get_current_user().await.unwrap().id.get(), ids::BOT.0);
    assert_eq!(http.get_current_application_info().await.unwrap().id.get(), ids::APPLICATION.0);
    assert_eq!(http.get_bot_gateway().await.unwrap().url, fake.gateway_url());
    assert_eq!(http.get_guilds(None, None).await.unwrap().len(), 1);
    let guild = GuildId::new(ids::GUILD.0);
    let whole = guild.to_partial_guild(&http).await.unwrap();
    assert_eq!((whole.owner_id.get(), whole.roles.len()), (ids::ANN.0, 2));
    assert_eq!(guild.channels(&http).await.unwrap().len(), 4);
    assert_eq!(guild.get_active_threads(&http).await.unwrap().threads.len(), 2);
    assert_eq!(guild.member(&http, UserId::new(ids::BEN.0)).await.unwrap().user.name, "ben");
    assert_eq!(http.get_guild_roles(guild).await.unwrap().len(), 2);
    assert_eq!(UserId::new(ids::ANN.0).to_user(&http).await.unwrap().name, "ann");
    let dm = UserId::new(ids::ANN.0).create_dm_channel(&http).await.unwrap();
    assert_eq!((dm.id.get(), dm.recipient.id.get()), (ids::DM_ANN.0, ids::ANN.0));
    let thread = ChannelId::new(ids::THREAD.0).to_channel(&http).await.unwrap().guild().unwrap();
    assert_eq!(thread.parent_id.map(|id| id.get()), Some(ids::GENERAL.0));
}

#[tokio::test]
async fn answers_about_messages_and_threads() {
    let fake = FakeDiscord::start_with(Options { rates: false, ..Options::default() }, 0).await.unwrap();
    let http = http(&fake);
    let general = ChannelId::new(ids::GENERAL.0);
    let file = SaidFile { name: "n.ogg".into(), mime: "audio/ogg".into(), text: "x".into(), bytes: Vec::new() };
    let said = fake.say(Say { files: vec![file], ..Say::new(ids::ANN, ids::GENERAL, "one") }).unwrap();
    let button = CreateButton::new("go").label("Go").style(ButtonStyle::Danger);
    let new = CreateMessage::new()
        .content("two")
        .components(vec![CreateActionRow::Buttons(vec![button])])
        .reference_message((general, MessageId::new(said.0)))
        .flags(MessageFlags::SUPPRESS_EMBEDS);
    let mut sent = general.send_message(&http, new).await.unwrap();
    assert_eq!(sent.referenced_message.as_ref().unwrap().attachments[0].content_type.as_deref(), Some("audio/ogg"));
    sent.edit(&http, EditMessage::new().content("three").components(Vec::new())).await.unwrap();
    sent.react(&http, '👍').await.unwrap();
    let read = general.message(&http, sent.id).await.unwrap();
    assert!(read.edited_timestamp.is_some() && read.reactions[0].me && read.content == "three");
    assert_eq!(sent.reaction_users(&http, '👍', None, None).await.unwrap().len(), 1);
    sent.delete_reaction(&http, None, '👍').await.unwrap();
    let page = general.messages(&http, GetMessages::new().after(MessageId::new(said.0)).limit(100)).await.unwrap();
    assert_eq!(page.iter().map(|m| m.id).collect::<Vec<_>>(), [sent.id]);
    let thread = general.create_thread_from_message(&http, sent.id, CreateThread::new("talk")).await.unwrap();
    assert_eq!(thread.kind, ChannelType::PublicThread);
    thread.id.say(&http, "inside").await.unwrap();
    let post = CreateForumPost::new("ask", CreateMessage::new().content("first"));
    let post = ChannelId::new(ids::FORUM.0).create_forum_post(&http, post).await.unwrap();
    assert_eq!(post.parent_id.map(|id| id.get()), Some(ids::FORUM.0));
    sent.delete(&http).await.unwrap();
    assert_eq!(fake.violations(), []);
}

/// Tells the name of every event it can read.
struct Ear(UnboundedSender<String>);

#[serenity::async_trait]
impl RawEventHandler for Ear {
    async fn raw_event(&self, _: Context, event: Event) {
        if let Some(name) = event.name() {
            self.0.send(name).unwrap();
        }
    }
}

fn acts(message: fake_discord::Id) -> Vec<Act> {
    let (guild, channel) = (ids::GUILD, ids::GENERAL);
    let react = |remove| Act::React { user: ids::ANN, channel, message, emoji: "x:123456789012345678".into(), remove };
    vec![
        Act::Edit(Edit { channel, message, content: Some("new".into()), embeds: None, stamped: true }),
        react(false),
        react(true),
        Act::Type { user: ids::ANN, channel },
        Act::Delete { channel, message },
        Act::AddChannel { guild, kind: ChannelKind::Voice, name: "hall".into() },
        Act::Permit { channel, overwrites: Vec::new() },
        Act::AddThread { user: ids::ANN, parent: channel, name: "t".into() },
        Act::Archive { thread: ids::THREAD, archived: true, locked: false },
        Act::DeleteChannel { channel: ids::POST },
        Act::DeleteChannel { channel: ids::LOUNGE },
        Act::PutRole { guild, role: None, name: "new".into(), permissions: 0, mentionable: false },
        Act::PutRole { guild, role: Some(ids::MODERATORS), name: "m".into(), permissions: 8, mentionable: false },
        Act::SetRoles { guild, user: ids::BEN, roles: vec![ids::MODERATORS] },
        Act::Leave { guild, user: ids::BEN },
        Act::Join { guild, user: ids::BEN, roles: Vec::new() },
        Act::Leave { guild, user: ids::BOT },
        Act::Join { guild, user: ids::BOT, roles: Vec::new() },
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_event() {
    let fake = FakeDiscord::start_with(Options { members: true, ..Options::default() }, 0).await.unwrap();
    let (tell, mut told) = unbounded_channel();
    let intents = GatewayIntents::non_privileged() | GatewayIntents::MESSAGE_CONTENT | GatewayIntents::GUILD_MEMBERS;
    let mut client = ClientBuilder::new_with_http(http(&fake), intents).raw_event_handler(Ear(tell)).await.unwrap();
    let shards = client.shard_manager.clone();
    #[expect(clippy::disallowed_methods, reason = "a test's own client")]
    let task = tokio::spawn(async move { client.start().await });
    fake.wait_ready(SOON).await.unwrap();
    let message = fake.say(Say::new(ids::ANN, ids::GENERAL, "x")).unwrap();
    for act in acts(message) {
        fake.act(act).unwrap();
    }
    let mut expected = vec![
        "READY",
        "GUILD_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE",
        "TYPING_START",
        "MESSAGE_DELETE",
        "CHANNEL_CREATE",
        "CHANNEL_UPDATE",
        "THREAD_CREATE",
        "THREAD_UPDATE",
        "THREAD_DELETE",
        "CHANNEL_DELETE",
        "GUILD_ROLE_CREATE",
        "GUILD_ROLE_UPDATE",
        "GUILD_MEMBER_UPDATE",
        "GUILD_MEMBER_REMOVE",
        "GUILD_MEMBER_ADD",
        "GUILD_DELETE",
        "GUILD_CREATE",
    ];
    // serenity hands each event to a task of its own: their order is lost
    while !expected.is_empty() {
        let next = tokio::time::timeout(SOON, told.recv()).await;
        let name = next.unwrap_or_else(|_| panic!("not read: {expected:?}")).unwrap();
        let at = expected.iter().position(|e| *e == name);
        expected.remove(at.unwrap_or_else(|| panic!("{name} was not expected")));
    }
    shards.shutdown_all().await;
    task.await.unwrap().unwrap();
    assert_eq!(fake.violations(), []);
}
