//! The bot.

use fake_discord::FakeDiscord;
use serenity::all::{
    ButtonStyle, Client, ClientBuilder, Command, CommandOptionType, Context, CreateActionRow, CreateAllowedMentions,
    CreateAttachment, CreateButton, CreateCommand, CreateCommandOption, CreateInteractionResponse,
    CreateInteractionResponseFollowup, CreateInteractionResponseMessage, CreateMessage, EditInteractionResponse,
    EventHandler, GatewayIntents, HttpBuilder, Interaction, Message, Ready, ShardManager,
};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Answers messages with a button, a command with a deferred text, and a press with an update.
struct Bot;

#[serenity::async_trait]
impl EventHandler for Bot {
    async fn ready(&self, ctx: Context, _: Ready) {
        let option = CreateCommandOption::new(CommandOptionType::String, "city", "Where").required(true);
        let command = CreateCommand::new("weather").description("Tells the weather").add_option(option);
        Command::set_global_commands(&ctx.http, vec![command]).await.unwrap();
    }

    async fn message(&self, ctx: Context, message: Message) {
        if message.author.bot || message.content.is_empty() {
            return;
        }
        message.channel_id.broadcast_typing(&ctx.http).await.unwrap();
        let button = CreateButton::new("u1:again").label("Again").style(ButtonStyle::Primary);
        let answer = CreateMessage::new()
            .content(format!("you said {}", message.content))
            .reference_message(&message)
            .allowed_mentions(CreateAllowedMentions::new())
            .components(vec![CreateActionRow::Buttons(vec![button])])
            .add_file(CreateAttachment::bytes(b"hello".to_vec(), "note.txt"));
        message.channel_id.send_message(&ctx.http, answer).await.unwrap();
    }

    async fn interaction_create(&self, ctx: Context, interaction: Interaction) {
        match interaction {
            Interaction::Command(command) => {
                command.defer(&ctx.http).await.unwrap();
                let city = command.data.options.first().and_then(|o| o.value.as_str()).unwrap_or_default();
                let text = format!("sunny in {city}");
                command.edit_response(&ctx.http, EditInteractionResponse::new().content(text)).await.unwrap();
                let more = CreateInteractionResponseFollowup::new().content("and warm").ephemeral(true);
                command.create_followup(&ctx.http, more).await.unwrap();
            }
            Interaction::Component(press) => {
                let update = CreateInteractionResponseMessage::new().content("pressed").components(Vec::new());
                press.create_response(&ctx.http, CreateInteractionResponse::UpdateMessage(update)).await.unwrap();
            }
            _ => {}
        }
    }
}

/// A running bot; ends with the test.
pub(crate) struct Running {
    shards: Arc<ShardManager>,
    pub(crate) task: tokio::task::JoinHandle<serenity::Result<()>>,
}

impl Running {
    pub(crate) async fn start(fake: &FakeDiscord, intents: GatewayIntents) -> Self {
        let http = HttpBuilder::new(fake.token()).proxy(fake.url()).ratelimiter_disabled(true).build();
        let mut client: Client = ClientBuilder::new_with_http(http, intents).event_handler(Bot).await.unwrap();
        let shards = client.shard_manager.clone();
        #[expect(clippy::disallowed_methods, reason = "a test's own client")]
        let task = tokio::spawn(async move { client.start().await });
        Self { shards, task }
    }

    pub(crate) async fn end(self) {
        self.shards.shutdown_all().await;
        self.task.await.unwrap().unwrap();
    }
}

pub(crate) fn intents() -> GatewayIntents {
    GatewayIntents::GUILDS
        | GatewayIntents::GUILD_MESSAGES
        | GatewayIntents::DIRECT_MESSAGES
        | GatewayIntents::MESSAGE_CONTENT
}

/// A bot that has registered its command.
pub(crate) async fn ready(fake: &FakeDiscord) -> Running {
    let bot = Running::start(fake, intents()).await;
    fake.wait_for(|s| s.gateway.ready > 0 && !s.commands.registered.is_empty(), SOON).await.unwrap();
    bot
}
