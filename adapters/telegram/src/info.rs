//! What Telegram allows, as the Bot API documents it.

use plugin_sdk::{Ability, AdapterInfo, AdapterLimits, Dialect, EditInterval, SendRate, TextUnit};

const MB: u64 = 1024 * 1024;

/// Limits and abilities.
pub(crate) fn info() -> AdapterInfo {
    let limits = AdapterLimits {
        caption_max: 1024,
        entities_max: 100,
        action_id_max_bytes: 64,
        buttons_per_row: 8,
        button_rows: 20,
        image_max: 10 * MB,
        upload_max: 50 * MB,
        download_max: 20 * MB,
        album_max: 10,
        typing_refresh_s: 4,
        edit_interval_ms: EditInterval { private: 1000, group: 3000 },
        rate: SendRate { per_chat_per_s: Some(1.0), per_group_per_min: Some(20.0), total_per_s: Some(30.0) },
        commands_max: 100,
        idempotent_send: false,
        ..AdapterLimits::text(4096, TextUnit::Utf16)
    };
    let abilities = vec![
        Ability::Edit,
        Ability::Delete,
        Ability::React,
        Ability::Typing,
        Ability::Buttons,
        Ability::Commands,
        Ability::Threads,
        Ability::MediaIn,
        Ability::MediaOut,
        Ability::Reply,
        Ability::Roles,
    ];
    AdapterInfo { kind: crate::place::PLATFORM.into(), limits, abilities, dialect: Dialect::Entities }
}
