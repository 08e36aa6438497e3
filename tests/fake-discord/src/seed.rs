//! The world a server starts with. Every id is beyond 2^53: a client that reads one into a float meets a stranger.

use crate::id::Id;
use crate::model::{Channel, ChannelKind, Guild, Member, Role, User};
use crate::permissions::bits;
use crate::world::World;
use std::collections::BTreeMap;

/// Token of the bot.
pub const TOKEN: &str = "MTIwMDAwMDAwMDAwMDAwMDAwMQ.GfakeX.not-a-real-token-for-loopback-only";
/// Account of the bot.
pub const BOT: Id = Id(1_200_000_000_000_000_001);
/// Application of the bot.
pub const APPLICATION: Id = BOT;
/// Ann, the owner of the guild.
pub const ANN: Id = Id(1_200_000_000_000_000_101);
/// Ben, a member without roles.
pub const BEN: Id = Id(1_200_000_000_000_000_103);
/// Another bot.
pub const OTHER_BOT: Id = Id(1_200_000_000_000_000_105);
/// The guild; also its role `@everyone`.
pub const GUILD: Id = Id(1_200_000_000_000_000_201);
/// The text channel `general`.
pub const GENERAL: Id = Id(1_200_000_000_000_000_301);
/// The announcement channel `news`.
pub const NEWS: Id = Id(1_200_000_000_000_000_303);
/// The forum `help`.
pub const FORUM: Id = Id(1_200_000_000_000_000_305);
/// The voice channel `lounge`.
pub const LOUNGE: Id = Id(1_200_000_000_000_000_307);
/// The thread `plans` of `general`.
pub const THREAD: Id = Id(1_200_000_000_000_000_309);
/// The post `question` of the forum.
pub const POST: Id = Id(1_200_000_000_000_000_311);
/// The private conversation with Ann.
pub const DM_ANN: Id = Id(1_200_000_000_000_000_313);
/// The role `moderators`; nobody has it at the start.
pub const MODERATORS: Id = Id(1_200_000_000_000_000_401);

pub(crate) fn user(id: Id, name: &str, bot: bool) -> User {
    User { id, name: name.into(), bot, dm_closed: false }
}

pub(crate) fn channel(id: Id, kind: ChannelKind, name: &str) -> Channel {
    Channel {
        id,
        kind,
        name: name.into(),
        guild: Some(GUILD),
        parent: None,
        recipient: None,
        owner: None,
        archived: false,
        locked: false,
        overwrites: Vec::new(),
        messages: BTreeMap::new(),
        typing: Vec::new(),
    }
}

pub(crate) fn guild(id: Id, name: &str, owner: Id) -> Guild {
    let everyone = Role { id, name: "@everyone".into(), permissions: bits::EVERYONE, mentionable: false };
    Guild {
        id,
        name: name.into(),
        owner,
        premium_tier: 0,
        roles: BTreeMap::from([(id, everyone)]),
        members: BTreeMap::new(),
    }
}

pub(crate) fn fill(world: &mut World) {
    let now = world.now_ms();
    for (id, name, bot) in
        [(BOT, "mybot", true), (ANN, "ann", false), (BEN, "ben", false), (OTHER_BOT, "otherbot", true)]
    {
        world.users.insert(id, user(id, name, bot));
    }
    let mut home = guild(GUILD, "Home", ANN);
    let moderators = bits::MANAGE_MESSAGES | (1 << 40);
    home.roles.insert(
        MODERATORS,
        Role { id: MODERATORS, name: "moderators".into(), permissions: moderators, mentionable: true },
    );
    for user in [BOT, ANN, BEN, OTHER_BOT] {
        home.members.insert(user, Member { user, roles: Vec::new(), joined_ms: now });
    }
    world.guilds.insert(GUILD, home);
    for (id, kind, name) in [
        (GENERAL, ChannelKind::Text, "general"),
        (NEWS, ChannelKind::Announcement, "news"),
        (FORUM, ChannelKind::Forum, "help"),
        (LOUNGE, ChannelKind::Voice, "lounge"),
    ] {
        world.channels.insert(id, channel(id, kind, name));
    }
    for (id, name, parent) in [(THREAD, "plans", GENERAL), (POST, "question", FORUM)] {
        let thread = Channel { parent: Some(parent), owner: Some(ANN), ..channel(id, ChannelKind::Thread, name) };
        world.channels.insert(id, thread);
    }
    let dm = Channel { guild: None, recipient: Some(ANN), ..channel(DM_ANN, ChannelKind::Dm, "") };
    world.channels.insert(DM_ANN, dm);
}
