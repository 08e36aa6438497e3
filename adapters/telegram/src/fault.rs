//! What Telegram answers instead of doing it. No text of a request, and so no token, gets into an error.

use plugin_sdk::{AdapterError, PauseScope, PieceField, SendError};
use teloxide_core::{ApiError, RequestError};

/// Longest text of one message, for the error of a server that does not name its limit.
const TEXT: usize = 4096;
/// Longest caption.
const CAPTION: usize = 1024;

/// Why a connection was not made or broke.
pub(crate) fn connecting(error: &RequestError) -> AdapterError {
    match error {
        RequestError::Api(ApiError::InvalidToken) => {
            AdapterError::lasting("telegram::bad-token", "Telegram does not know this token")
                .help("get a new one from @BotFather; it is tried again when the configuration changes")
        }
        RequestError::Api(ApiError::TerminatedByOtherGetUpdates | ApiError::CantGetUpdates) => {
            AdapterError::passing("another instance or a webhook uses this token")
        }
        RequestError::Api(other) if other.to_string().contains("Conflict") => {
            AdapterError::passing("another instance or a webhook uses this token")
        }
        RequestError::RetryAfter(pause) => AdapterError::passing(format!("Telegram asks for a pause of {pause}")),
        RequestError::Network(e) if e.is_timeout() => AdapterError::passing("Telegram did not answer in time"),
        RequestError::Network(e) if e.is_connect() => AdapterError::passing("Telegram cannot be reached"),
        RequestError::Network(_) => AdapterError::passing("the connection to Telegram broke"),
        RequestError::InvalidJson { .. } => AdapterError::passing("Telegram answered something that cannot be read"),
        RequestError::Api(_) | RequestError::MigrateToChatId(_) | RequestError::Io(_) => {
            AdapterError::passing(words(error))
        }
    }
}

/// The typed error of a request.
pub(crate) fn sending(error: &RequestError) -> SendError {
    match error {
        RequestError::RetryAfter(pause) => {
            SendError::RetryAfter { seconds: f64::from(pause.seconds()), scope: PauseScope::Chat }
        }
        RequestError::MigrateToChatId(chat) => SendError::ChatMigrated(chat.to_string()),
        RequestError::Network(e) if e.is_connect() => SendError::Transient("Telegram cannot be reached".into()),
        RequestError::Network(e) if e.is_timeout() => SendError::Ambiguous("no answer in time".into()),
        RequestError::Network(_) => SendError::Ambiguous("the connection broke".into()),
        // A proxy's page in front of Telegram: the request did not get there.
        RequestError::InvalidJson { raw, .. } if is_gateway_page(raw) => {
            SendError::Transient("a server in front of Telegram failed".into())
        }
        RequestError::InvalidJson { .. } => SendError::Ambiguous("the answer cannot be read".into()),
        RequestError::Io(e) => SendError::Permanent(format!("the file cannot be read: {}", e.kind())),
        RequestError::Api(api) => refused(api),
    }
}

/// Telegram's words about a request.
fn words(error: &RequestError) -> String {
    match error {
        RequestError::Api(ApiError::Unknown(text)) => text.chars().take(200).collect(),
        RequestError::Api(api) => api.to_string(),
        _ => "the request failed".into(),
    }
}

fn is_gateway_page(raw: &str) -> bool {
    let page = raw.trim_start();
    page.starts_with('<') && ["500", "502", "503", "504"].iter().any(|code| page.contains(code))
}

/// An answer of the Bot API itself. The variants the library knows are a part; the rest goes by the words.
fn refused(api: &ApiError) -> SendError {
    let text = match api {
        ApiError::Unknown(text) => text.clone(),
        other => other.to_string(),
    };
    let lower = text.to_lowercase();
    let has = |part: &str| lower.contains(part);
    let field = |field: PieceField| SendError::Field { field, message: text.chars().take(200).collect() };
    if has("message is not modified") {
        SendError::NotModified
    } else if has("caption is too long") {
        SendError::TooLong(CAPTION)
    } else if has("message is too long") || has("message_too_long") || has("text is too long") {
        SendError::TooLong(TEXT)
    } else if has("request entity too large") || has("file is too big") {
        SendError::Permanent(text)
    } else if has("can't parse entities") || has("entity_") || has("entities are too") {
        SendError::Parse(text)
    } else if has("message to be replied not found") || has("message to reply not found") || has("replied message") {
        field(PieceField::Reply)
    } else if has("message thread not found") || has("topic_deleted") || has("topic_closed") {
        field(PieceField::Thread)
    } else if has("image_process_failed") || has("photo_") || has("photo should be uploaded") {
        field(PieceField::Photo)
    } else if lower.starts_with("forbidden")
        || has("chat not found")
        || has("bot was kicked")
        || has("user is deactivated")
        || has("not enough rights to send")
        || has("have no rights to send")
        || has("can't initiate conversation")
        || has("chat_write_forbidden")
        || has("group is deactivated")
    {
        SendError::Forbidden(text)
    } else if has("internal server error") || has("bad gateway") || has("conflict") || has("restart") {
        SendError::Transient(text)
    } else {
        SendError::Permanent(text.chars().take(200).collect())
    }
}
