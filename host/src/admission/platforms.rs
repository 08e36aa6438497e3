//! What the platforms know, as data: permission names, what implies what, where lookups make sense.

use std::collections::BTreeSet;

/// Platform of the local terminal: always configured, its person is always let in.
pub const CONSOLE: &str = "console";

/// Adapter kinds of the contract.
pub const ADAPTER_KINDS: [&str; 4] = ["console", "discord", "telegram", "web"];

/// Platforms of origins that are no adapter.
const OTHER_ORIGINS: [&str; 5] = ["http", "mcp", "plugin", "program", "schedule"];

/// Ids that many people share on their platform, so that a permit on them would mean nobody in particular.
pub const SHARED_IDS: [(&str, &str); 3] =
    [("telegram", "1087968824"), ("telegram", "136817688"), ("telegram", "777000")];

/// The permission names of one platform and how they follow from each other.
pub(super) struct PlatformTable {
    pub(super) platform: &'static str,
    /// Every known name but `admin`, which each platform has.
    pub(super) names: &'static [&'static str],
    /// A name of digits is a role id.
    pub(super) role_ids: bool,
    /// Holding one of these is `admin`.
    admin: &'static [&'static str],
    /// Holding one of the first gives the second (`*` = every name but those of the first).
    implied: &'static [(&'static [&'static str], &'static str)],
    /// Lookups hold in private chats too.
    in_private: bool,
    /// `owner` is the host role master; nothing is looked up.
    owner_is_master: bool,
}

const TELEGRAM: PlatformTable = PlatformTable {
    platform: "telegram",
    names: &[
        "administrator",
        "be_edited",
        "change_info",
        "delete_messages",
        "delete_stories",
        "edit_messages",
        "edit_stories",
        "invite_users",
        "manage_chat",
        "manage_direct_messages",
        "manage_topics",
        "manage_video_chats",
        "owner",
        "pin_messages",
        "post_messages",
        "post_stories",
        "promote_members",
        "restrict_members",
    ],
    role_ids: false,
    admin: &["administrator", "owner"],
    implied: &[(&["owner"], "administrator")],
    in_private: false,
    owner_is_master: false,
};

const DISCORD: PlatformTable = PlatformTable {
    platform: "discord",
    names: &[
        "add_reactions",
        "administrator",
        "attach_files",
        "ban_members",
        "change_nickname",
        "connect",
        "create_events",
        "create_guild_expressions",
        "create_instant_invite",
        "create_private_threads",
        "create_public_threads",
        "deafen_members",
        "embed_links",
        "guild_owner",
        "kick_members",
        "manage_channels",
        "manage_events",
        "manage_guild",
        "manage_guild_expressions",
        "manage_messages",
        "manage_nicknames",
        "manage_roles",
        "manage_threads",
        "manage_webhooks",
        "mention_everyone",
        "moderate_members",
        "move_members",
        "mute_members",
        "pin_messages",
        "priority_speaker",
        "read_message_history",
        "request_to_speak",
        "send_messages",
        "send_messages_in_threads",
        "send_polls",
        "send_tts_messages",
        "send_voice_messages",
        "speak",
        "stream",
        "use_application_commands",
        "use_embedded_activities",
        "use_external_apps",
        "use_external_emojis",
        "use_external_sounds",
        "use_external_stickers",
        "use_soundboard",
        "use_vad",
        "view_audit_log",
        "view_channel",
        "view_creator_monetization_analytics",
        "view_guild_insights",
    ],
    role_ids: true,
    admin: &["administrator", "guild_owner"],
    implied: &[(&["guild_owner", "administrator"], "*"), (&["guild_owner"], "administrator")],
    in_private: false,
    owner_is_master: false,
};

const CONSOLE_TABLE: PlatformTable = PlatformTable {
    platform: CONSOLE,
    names: &["owner"],
    role_ids: false,
    admin: &["owner"],
    implied: &[],
    in_private: true,
    owner_is_master: true,
};

const WEB: PlatformTable = PlatformTable { platform: "web", ..CONSOLE_TABLE };

const TABLES: [&PlatformTable; 4] = [&CONSOLE_TABLE, &DISCORD, &TELEGRAM, &WEB];

/// The table of a platform; `None` for one the contract does not describe (a program's own adapter).
pub(super) fn table(platform: &str) -> Option<&'static PlatformTable> {
    TABLES.into_iter().find(|t| t.platform == platform)
}

impl PlatformTable {
    /// Whether its permissions hold in private chats.
    pub(super) fn in_private(&self) -> bool {
        self.in_private
    }

    /// Whether a permit may name it.
    pub(super) fn knows(&self, name: &str) -> bool {
        name == "admin"
            || self.names.contains(&name)
            || (self.role_ids && !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()))
    }
}

/// How a platform permission is answered.
pub(super) enum PlatformAnswer {
    /// It can never hold here; why.
    Never(&'static str),
    /// The host role decides.
    ByMaster,
    /// The lookup decides.
    ByLookup,
}

/// How `perm` of `platform` is answered in a private chat or elsewhere.
pub(super) fn answer(platform: &str, private: bool) -> PlatformAnswer {
    let Some(t) = table(platform) else {
        return if private {
            PlatformAnswer::Never("no platform roles in a private chat")
        } else {
            PlatformAnswer::ByLookup
        };
    };
    if t.owner_is_master {
        return PlatformAnswer::ByMaster;
    }
    if private && !t.in_private {
        return PlatformAnswer::Never("no platform roles in a private chat");
    }
    PlatformAnswer::ByLookup
}

/// Whether people can hold anything on a platform in a private chat.
pub fn holds_in_private(platform: &str) -> bool {
    !matches!(answer(platform, true), PlatformAnswer::Never(_))
}

/// Whether somebody who holds `held` on `platform` has `perm`, what follows from it included.
pub(super) fn holds(platform: &str, perm: &str, held: &[String]) -> bool {
    let has = |name: &str| held.iter().any(|h| h == name);
    if has(perm) {
        return true;
    }
    let Some(t) = table(platform) else { return false };
    if perm == "admin" {
        return t.admin.iter().any(|a| has(a));
    }
    t.implied.iter().any(|(from, to)| {
        let fits = *to == perm || (*to == "*" && t.names.contains(&perm) && !from.contains(&perm));
        fits && from.iter().any(|f| has(f))
    })
}

/// The platforms a bot has adapters for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Platforms {
    configured: BTreeSet<String>,
}

impl Platforms {
    /// From the adapter kinds that `bot.toml` names.
    pub fn new(configured: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { configured: configured.into_iter().map(Into::into).collect() }
    }

    /// Whether the bot has an adapter for it; the console always counts.
    pub fn is_configured(&self, platform: &str) -> bool {
        platform == CONSOLE || self.configured.contains(platform)
    }

    /// Whether a bare user id could mean people of two platforms.
    pub(super) fn are_ambiguous(&self) -> bool {
        self.configured.len() > 1
    }

    /// Whether it is a platform at all.
    pub fn is_known(&self, platform: &str) -> bool {
        self.is_configured(platform) || ADAPTER_KINDS.contains(&platform) || OTHER_ORIGINS.contains(&platform)
    }

    /// The platform a help text uses for a bare user id.
    pub(super) fn known_user_platform(&self) -> &str {
        self.configured.iter().find(|p| *p != CONSOLE).map_or(CONSOLE, String::as_str)
    }

    /// Every name a `platforms` list may hold.
    pub(super) fn known(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.configured.iter().map(String::as_str).collect();
        all.extend(ADAPTER_KINDS);
        all.sort_unstable();
        all.dedup();
        all
    }
}
