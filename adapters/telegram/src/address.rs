//! Whom a message addresses: commands and mentions, by Telegram's own entities only. A name in code, in a link or in a
//! longer word is none, because Telegram makes no entity of it.

use plugin_sdk::CommandCall;
use std::ops::Range;
use teloxide_core::types::{MessageEntity, MessageEntityKind, UserId};

/// The bot's own account.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) id: UserId,
    /// Without `@`.
    pub(crate) name: String,
}

impl Account {
    fn is_named(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(&self.name)
    }
}

/// A mention in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mentioned {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    /// Whether it names this bot.
    pub(crate) is_bot: bool,
    /// Id of the person, when the entity holds one.
    pub(crate) id: Option<String>,
    /// Name without `@`.
    pub(crate) name: String,
}

/// What the entities of a text say about whom it is for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// A command for this bot, and the bytes of its word.
    pub(crate) command: Option<(CommandCall, Range<usize>)>,
    /// A command for another bot.
    pub(crate) foreign_command: bool,
    /// Mentions in order.
    pub(crate) mentions: Vec<Mentioned>,
}

/// Reads the entities. Their offsets count UTF-16 units; one that fits no characters is ignored.
pub(crate) fn addresses(text: &str, entities: &[MessageEntity], account: &Account) -> Addresses {
    let units = Units::of(text);
    let mut out = Addresses::default();
    for entity in entities {
        let Some(range) = units.bytes(entity.offset, entity.length) else { continue };
        let part = &text[range.clone()];
        match &entity.kind {
            MessageEntityKind::BotCommand if out.command.is_none() && !out.foreign_command => {
                command(text, part, range, account, &mut out);
            }
            MessageEntityKind::Mention => {
                let name = part.trim_start_matches('@').to_string();
                let is_bot = account.is_named(&name);
                let id = is_bot.then(|| account.id.to_string());
                out.mentions.push(Mentioned { range, is_bot, id, name });
            }
            MessageEntityKind::TextMention { user } => out.mentions.push(Mentioned {
                range,
                is_bot: user.id == account.id,
                id: Some(user.id.to_string()),
                name: user.full_name(),
            }),
            _ => {}
        }
    }
    out
}

/// Takes a command entity that opens the text.
fn command(text: &str, part: &str, range: Range<usize>, account: &Account, out: &mut Addresses) {
    if !text[..range.start].trim().is_empty() {
        return;
    }
    let Some(word) = part.strip_prefix('/') else { return };
    let name = match word.split_once('@') {
        Some((name, of)) if account.is_named(of) => name,
        Some(_) => {
            out.foreign_command = true;
            return;
        }
        None => word,
    };
    let args = text[range.end..].trim().to_string();
    out.command = Some((CommandCall { name: name.to_string(), args }, range));
}

/// Where the UTF-16 units of a text are in its bytes.
struct Units {
    /// Byte of each unit; `None` for the second half of a pair. One more for the end.
    bytes: Vec<Option<usize>>,
}

impl Units {
    fn of(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        for (at, c) in text.char_indices() {
            bytes.push(Some(at));
            if c.len_utf16() == 2 {
                bytes.push(None);
            }
        }
        bytes.push(Some(text.len()));
        Self { bytes }
    }

    fn bytes(&self, offset: usize, length: usize) -> Option<Range<usize>> {
        let end = offset.checked_add(length)?;
        let (from, to) = ((*self.bytes.get(offset)?)?, (*self.bytes.get(end)?)?);
        (from < to).then_some(from..to)
    }
}
