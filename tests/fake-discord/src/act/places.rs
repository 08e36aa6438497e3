//! People, guilds, channels: coming and going.

use super::Act;
use crate::gateway::intents;
use crate::id::Id;
use crate::model::{Guild, Member, Role};
use crate::print;
use crate::seed;
use crate::world::World;
use serde_json::{Value, json};

fn no_guild(id: Id) -> String {
    format!("there is no guild {id}")
}

impl World {
    pub(crate) fn arrange(&mut self, act: Act) -> Result<Id, String> {
        match act {
            Act::Join { guild, user, roles } => self.join(guild, user, roles),
            Act::Leave { guild, user } => self.leave(guild, user),
            Act::SetRoles { guild, user, roles } => self.set_roles(guild, user, roles),
            Act::AddUser { name, bot } => {
                let id = self.new_id();
                self.users.insert(id, seed::user(id, &name, bot));
                Ok(id)
            }
            Act::PutRole { guild, role, name, permissions, mentionable } => {
                let id = role.unwrap_or_else(|| self.new_id());
                self.put_role(guild, Role { id, name, permissions, mentionable })
            }
            Act::AddGuild { name, owner, premium_tier } => {
                let id = self.new_id();
                let mut guild = Guild { premium_tier, ..seed::guild(id, &name, owner) };
                let joined_ms = self.now_ms();
                guild.members.insert(owner, Member { user: owner, roles: Vec::new(), joined_ms });
                self.guilds.insert(id, guild);
                Ok(id)
            }
            Act::AddChannel { guild, kind, name } => {
                self.guilds.get(&guild).ok_or_else(|| no_guild(guild))?;
                let id = self.new_id();
                let mut channel = seed::channel(id, kind, &name);
                channel.guild = Some(guild);
                let data = print::channel(self, &channel);
                self.channels.insert(id, channel);
                self.emit_home(guild, "CHANNEL_CREATE", &data);
                Ok(id)
            }
            Act::AddThread { user, parent, name } => self.thread(user, parent, &name),
            Act::Archive { thread, archived, locked } => {
                self.place(thread)?;
                if let Some(channel) = self.channels.get_mut(&thread) {
                    (channel.archived, channel.locked) = (archived, locked);
                }
                self.changed_channel(thread, "THREAD_UPDATE")
            }
            Act::Permit { channel, overwrites } => {
                self.place(channel)?;
                if let Some(channel) = self.channels.get_mut(&channel) {
                    channel.overwrites = overwrites;
                }
                self.changed_channel(channel, "CHANNEL_UPDATE")
            }
            Act::CloseDms { user, closed } => {
                let person = self.users.get_mut(&user).ok_or_else(|| format!("there is no user {user}"))?;
                person.dm_closed = closed;
                Ok(user)
            }
            Act::DeleteChannel { channel } => {
                let thread = self.place(channel)?.kind.is_thread();
                self.changed_channel(channel, if thread { "THREAD_DELETE" } else { "CHANNEL_DELETE" })?;
                self.channels.remove(&channel);
                Ok(channel)
            }
            _ => Err("this is no arrangement".into()),
        }
    }

    /// An event of a guild the bot is in.
    fn emit_home(&mut self, guild: Id, name: &str, data: &Value) {
        if self.joined(guild).is_ok() {
            self.emit(intents::GUILDS, name, data);
        }
    }

    fn changed_channel(&mut self, id: Id, name: &str) -> Result<Id, String> {
        let channel = self.place(id)?;
        let (data, guild) = (print::channel(self, channel), channel.guild);
        if let Some(guild) = guild {
            self.emit_home(guild, name, &data);
        }
        Ok(id)
    }

    fn join(&mut self, guild: Id, user: Id, roles: Vec<Id>) -> Result<Id, String> {
        let joined_ms = self.now_ms();
        self.users.entry(user).or_insert_with(|| seed::user(user, &format!("user{user}"), false));
        let place = self.guilds.get_mut(&guild).ok_or_else(|| no_guild(guild))?;
        let member = Member { user, roles, joined_ms };
        place.members.insert(user, member.clone());
        let place = self.guilds.get(&guild).ok_or_else(|| no_guild(guild))?;
        if user == seed::BOT {
            let data = print::whole_guild(self, place, false);
            self.emit(intents::GUILDS, "GUILD_CREATE", &data);
        } else if self.joined(guild).is_ok() {
            let mut data = print::member(self, &member);
            data["guild_id"] = json!(guild);
            self.emit(intents::GUILD_MEMBERS, "GUILD_MEMBER_ADD", &data);
        }
        Ok(user)
    }

    fn leave(&mut self, guild: Id, user: Id) -> Result<Id, String> {
        let place = self.guilds.get_mut(&guild).ok_or_else(|| no_guild(guild))?;
        place.members.remove(&user).ok_or_else(|| format!("user {user} is no member"))?;
        if user == seed::BOT {
            self.emit(intents::GUILDS, "GUILD_DELETE", &json!({"id": guild}));
        } else if self.joined(guild).is_ok() {
            let person = self.users.get(&user).map(print::user);
            self.emit(intents::GUILD_MEMBERS, "GUILD_MEMBER_REMOVE", &json!({"guild_id": guild, "user": person}));
        }
        Ok(user)
    }

    fn set_roles(&mut self, guild: Id, user: Id, roles: Vec<Id>) -> Result<Id, String> {
        let place = self.guilds.get_mut(&guild).ok_or_else(|| no_guild(guild))?;
        if let Some(role) = roles.iter().find(|r| !place.roles.contains_key(r)) {
            return Err(format!("there is no role {role}"));
        }
        let member = place.members.get_mut(&user).ok_or_else(|| format!("user {user} is no member"))?;
        member.roles = roles;
        let member = member.clone();
        let mut data = print::member(self, &member);
        data["guild_id"] = json!(guild);
        // the bot hears of its own membership without the intent
        let intent = if user == seed::BOT { intents::GUILDS } else { intents::GUILD_MEMBERS };
        self.emit(intent, "GUILD_MEMBER_UPDATE", &data);
        Ok(user)
    }

    fn put_role(&mut self, guild: Id, role: Role) -> Result<Id, String> {
        let place = self.guilds.get_mut(&guild).ok_or_else(|| no_guild(guild))?;
        let id = role.id;
        let new = place.roles.insert(id, role.clone()).is_none();
        let data = json!({"guild_id": guild, "role": print::role(place, &role)});
        self.emit_home(guild, if new { "GUILD_ROLE_CREATE" } else { "GUILD_ROLE_UPDATE" }, &data);
        Ok(id)
    }
}
