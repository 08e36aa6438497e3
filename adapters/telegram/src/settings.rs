//! The table of one endpoint, as the host hands it over.

use plugin_sdk::AdapterError;
use serde::Deserialize;
use std::fmt;
use std::time::Duration;
use teloxide_core::Bot;

/// Settings of a connection. The host has read and checked its own keys by then.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of the endpoint (`main` of `telegram/main`).
    pub name: String,
    /// The bot's token.
    pub token: String,
    /// Address of the Bot API server; Telegram's own when left out.
    #[serde(default)]
    pub api_url: Option<String>,
    /// Whether links unfold under a message.
    #[serde(default)]
    pub link_previews: bool,
    /// Whether messages can be passed on and saved.
    #[serde(default)]
    pub protect_content: bool,
}

/// The token is no part of it.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("name", &self.name).field("api_url", &self.api_url).finish_non_exhaustive()
    }
}

/// Whether a text has the form of a token: 6–12 digits, a colon, 30–50 letters, digits, `_` or `-`.
pub fn is_token(text: &str) -> bool {
    let Some((id, key)) = text.split_once(':') else { return false };
    (6..=12).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_digit())
        && (30..=50).contains(&key.len())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

impl Settings {
    /// Reads the table; the error never shows the token.
    pub(crate) fn read(config: serde_json::Value) -> Result<Self, AdapterError> {
        // The parser's own words may hold a value, and the value may be the token.
        let settings: Self =
            serde_json::from_value(config).map_err(|e| AdapterError::lasting("bot::bad-value", shape_of(&e)))?;
        if !is_token(&settings.token) {
            return Err(AdapterError::lasting("channel::bad-token", "the token does not look like one of Telegram's")
                .help("copy the whole token from @BotFather: digits, a colon and about 35 characters, no quotes or spaces"));
        }
        Ok(settings)
    }

    /// A client whose requests end after `deadline`.
    pub(crate) fn bot(&self, deadline: Duration) -> Result<Bot, AdapterError> {
        let client = teloxide_core::net::default_reqwest_settings()
            .timeout(deadline)
            .no_proxy()
            .build()
            .map_err(|e| AdapterError::passing(format!("no client for requests: {}", e.without_url())))?;
        let bot = Bot::with_client(self.token.clone(), client);
        let Some(address) = &self.api_url else { return Ok(bot) };
        let url = url::Url::parse(address).ok().filter(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
        let url = url.ok_or_else(|| AdapterError::lasting("bot::bad-value", "`api_url` is no web address"))?;
        Ok(bot.set_api_url(url))
    }
}

/// What kind of fault a table has, without its values.
fn shape_of(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let safe = words.starts_with("unknown field") || words.starts_with("missing field");
    if safe { words } else { "a setting has a wrong type".into() }
}
