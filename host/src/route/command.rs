//! Command words: case-folded, `-` equals `_`; a built-in word is never a plugin's.

use crate::config::nearest;

/// The built-in chat commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// What the bot can do here.
    Help,
    /// The greeting.
    Start,
    /// The newest message answered again.
    Retry,
    /// A new session.
    New,
    /// A summary of the older history, now.
    Compact,
    /// Ends the turn.
    Stop,
    /// Admitted tools.
    Tools,
    /// Admitted skills.
    Skills,
    /// The person's own case of one tool.
    Why,
    /// What waits for a yes, and what is allowed for the session.
    Approvals,
    /// State of the bot.
    Status,
    /// What the person used.
    Usage,
    /// Reload, masters only.
    Reload,
    /// Lets a stranger in who has a code, masters only.
    Pair,
}

impl Builtin {
    /// All, in the order of `/help`.
    pub const ALL: [(Builtin, &'static str); 14] = [
        (Builtin::Help, "help"),
        (Builtin::Start, "start"),
        (Builtin::Retry, "retry"),
        (Builtin::New, "new"),
        (Builtin::Compact, "compact"),
        (Builtin::Stop, "stop"),
        (Builtin::Tools, "tools"),
        (Builtin::Skills, "skills"),
        (Builtin::Why, "why"),
        (Builtin::Approvals, "approvals"),
        (Builtin::Status, "status"),
        (Builtin::Usage, "usage"),
        (Builtin::Reload, "reload"),
        (Builtin::Pair, "pair"),
    ];

    /// The command of a folded word; `cancel` alone is `stop`.
    pub fn of(word: &str) -> Option<Self> {
        if word == "cancel" {
            return Some(Builtin::Stop);
        }
        Self::ALL.iter().find(|(_, w)| *w == word).map(|(b, _)| *b)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(b, _)| *b == self).map_or("", |(_, word)| word)
    }

    /// Only masters may use it.
    pub fn is_masters(self) -> bool {
        matches!(self, Builtin::Reload | Builtin::Pair)
    }

    /// Handled at once, outside the queue.
    pub fn is_control(self) -> bool {
        matches!(
            self,
            Builtin::Help | Builtin::New | Builtin::Stop | Builtin::Why | Builtin::Status | Builtin::Approvals
        )
    }
}

/// A command line as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Folded word.
    pub word: String,
    /// Rest of the line, trimmed.
    pub args: String,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A built-in command.
    Builtin(Builtin, String),
    /// A plugin's command: position in the list and the rest of the line.
    Plugin(usize, String),
    /// A slash word that nobody has.
    Unknown {
        /// As written.
        word: String,
        /// The nearest word.
        nearest: Option<String>,
    },
    /// A message for the model.
    Turn,
}

/// Case-folded, `-` and the space between two words as `_`.
pub fn fold(word: &str) -> String {
    crate::index::fold_word(word)
}

/// `/word rest`, or nothing. A slash that is followed by no letter or digit is text (`/ `, `//`, a path like `/etc/x`).
pub fn parse(text: &str) -> Option<Words> {
    let rest = text.trim().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, args) = rest.split_at(end);
    // `/help@bot` names the addressed bot.
    let word = word.split('@').next().unwrap_or(word);
    let legal = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if word.is_empty() || word.chars().count() > 64 || !word.chars().all(legal) {
        return None;
    }
    Some(Words { word: fold(word), args: args.trim().to_string() })
}

/// A control command, or one of the bare stop words as the whole message.
pub fn control(text: &str) -> Option<(Builtin, String)> {
    if matches!(text.trim().to_lowercase().as_str(), "stop" | "cancel" | "取消" | "停止") {
        return Some((Builtin::Stop, "bare".into()));
    }
    let words = parse(text)?;
    let builtin = Builtin::of(&words.word)?;
    builtin.is_control().then_some((builtin, words.args))
}

/// `/todo add milk`: a command of two words goes before one that is called like the first.
fn two_words<'a>(words: &Words, plugin_words: impl Iterator<Item = (usize, &'a str)>) -> Option<Route> {
    let end = words.args.find(char::is_whitespace).unwrap_or(words.args.len());
    let (second, rest) = words.args.split_at(end);
    let both = fold(&format!("{} {second}", words.word));
    let mut two = plugin_words.filter(|(_, w)| w.contains(' '));
    two.find(|(_, w)| fold(w) == both).map(|(n, _)| Route::Plugin(n, rest.trim().to_string()))
}

/// What a message is, given the command words of the generation (folded, in order).
pub fn route<'a>(text: &str, plugin_words: impl Iterator<Item = (usize, &'a str)> + Clone) -> Route {
    let Some(words) = parse(text) else { return Route::Turn };
    if let Some(builtin) = Builtin::of(&words.word) {
        return Route::Builtin(builtin, words.args);
    }
    if let Some(found) = two_words(&words, plugin_words.clone()) {
        return found;
    }
    if let Some((n, _)) = plugin_words.clone().find(|(_, w)| fold(w) == words.word) {
        return Route::Plugin(n, words.args);
    }
    let inside = |w: &str| w.split_once(' ').is_some_and(|(group, _)| fold(group) == words.word);
    if let Some((_, first)) = plugin_words.clone().find(|(_, w)| inside(w)) {
        return Route::Unknown { nearest: Some(first.to_string()), word: words.word };
    }
    let known = Builtin::ALL.iter().map(|(_, w)| *w).chain(plugin_words.map(|(_, w)| w));
    Route::Unknown { nearest: nearest(&words.word, known), word: words.word }
}
