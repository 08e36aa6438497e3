//! Slash commands and presses.

use super::{Press, Slash};
use crate::id::Id;
use crate::model::{Command, CommandScope, Interaction, InteractionKind};
use crate::print;
use crate::world::World;
use serde_json::{Map, Value, json};

const LINK: u64 = 5;

impl World {
    pub(crate) fn slash(&mut self, slash: Slash) -> Result<Id, String> {
        let channel = self.place_of(slash.user, slash.channel)?;
        let guild = self.place(channel)?.guild;
        let mut words = slash.command.trim_start_matches('/').split_whitespace();
        let name = words.next().unwrap_or_default();
        let known = |scope: CommandScope| {
            self.commands.registered.iter().find(|c| c.kind == 1 && c.name == name && c.scope == scope)
        };
        let command = guild.and_then(|id| known(CommandScope::Guild(id))).or_else(|| known(CommandScope::Global));
        let command = command.ok_or_else(|| format!("no command /{name} is registered here"))?;
        let path: Vec<&str> = words.collect();
        let data = self.slash_data(command, &path, &slash.options, guild)?;
        self.interact(slash.user, channel, InteractionKind::Slash { name: slash.command.clone(), data })
    }

    fn slash_data(
        &self,
        command: &Command,
        path: &[&str],
        given: &Map<String, Value>,
        guild: Option<Id>,
    ) -> Result<Value, String> {
        let options = filled(&command.options, path, given)?;
        let people: Vec<Id> = given.values().filter_map(Id::of).filter(|id| self.users.contains_key(id)).collect();
        let users = people.iter().filter_map(|id| Some((id.to_string(), print::user(self.users.get(id)?))));
        let mut resolved = json!({"users": users.collect::<Map<String, Value>>()});
        let guild = guild.and_then(|id| self.guilds.get(&id));
        if let Some(guild) = guild {
            let members = people.iter().filter_map(|id| {
                let mut member = print::member(self, guild.members.get(id)?);
                member.as_object_mut()?.remove("user");
                member["permissions"] = json!("0");
                Some((id.to_string(), member))
            });
            resolved["members"] = Value::Object(members.collect());
        }
        let mut data = json!({"id": command.id, "name": command.name, "type": command.kind, "options": options,
            "resolved": resolved});
        if let CommandScope::Guild(id) = command.scope {
            data["guild_id"] = json!(id);
        }
        Ok(data)
    }

    pub(crate) fn press(&mut self, press: Press) -> Result<Id, String> {
        let channel = self.place_of(press.user, Some(press.channel))?;
        let message = self.place(channel)?.messages.get(&press.message);
        let message = message.ok_or_else(|| format!("there is no message {}", press.message))?;
        let visible = message.deleted_ms.is_none() && message.only_for.is_none_or(|who| who == press.user);
        let component = message.component(&press.custom_id).filter(|_| visible);
        let usable = component.filter(|c| {
            c.get("disabled").and_then(Value::as_bool) != Some(true)
                && c.get("style").and_then(Value::as_u64) != Some(LINK)
        });
        if usable.is_none() && !press.stale {
            return Err(format!("message {} shows no button {}", press.message, press.custom_id));
        }
        let kind = component.and_then(|c| c.get("type")).and_then(Value::as_u64).unwrap_or(2);
        let mut data = json!({"custom_id": press.custom_id, "component_type": kind});
        if kind != 2 {
            data["values"] = json!(press.values);
        }
        let kind = InteractionKind::Component { custom_id: press.custom_id, message: press.message, data };
        self.interact(press.user, channel, kind)
    }

    /// Begins an interaction. When nobody is connected to hear of it, it is lost, unless a resume brings it.
    fn interact(&mut self, user: Id, channel: Id, kind: InteractionKind) -> Result<Id, String> {
        let id = self.new_id();
        let at_ms = self.now_ms();
        let interaction = Interaction {
            id,
            token: format!("aW50ZXJhY3Rpb246{id}:fake{:016x}", id.0.rotate_left(17)),
            kind,
            user,
            channel,
            at_ms,
            answered: None,
            original: None,
            messages: Vec::new(),
            loading: false,
            lost: false,
        };
        let data = print::interaction(self, &interaction);
        let reached = self.emit(0, "INTERACTION_CREATE", &data);
        self.interactions.insert(id, Interaction { lost: reached == 0, ..interaction });
        Ok(id)
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The options as Discord sends them: nested along the path, each with its type.
fn filled(declared: &[Value], path: &[&str], given: &Map<String, Value>) -> Result<Value, String> {
    let kind = |option: &Value| option.get("type").and_then(Value::as_u64).unwrap_or_default();
    if let Some((name, rest)) = path.split_first() {
        let branch = declared.iter().find(|o| kind(o) <= 2 && text(o, "name") == *name);
        let branch = branch.ok_or_else(|| format!("there is no subcommand {name}"))?;
        let inner = branch.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        return Ok(json!([{"name": name, "type": kind(branch), "options": filled(inner, rest, given)?}]));
    }
    if declared.iter().any(|o| kind(o) <= 2) {
        return Err("a subcommand is needed".into());
    }
    if let Some(name) = given.keys().find(|name| !declared.iter().any(|o| text(o, "name") == *name)) {
        return Err(format!("there is no option {name}"));
    }
    let mut out = Vec::new();
    for option in declared {
        let name = text(option, "name");
        match given.get(name) {
            None if option.get("required").and_then(Value::as_bool) == Some(true) => {
                return Err(format!("the option {name} is required"));
            }
            None => {}
            Some(value) if fits(kind(option), value) => {
                out.push(json!({"name": name, "type": kind(option), "value": value}));
            }
            Some(value) => return Err(format!("{value} does not fit the option {name}")),
        }
    }
    Ok(Value::Array(out))
}

fn fits(kind: u64, value: &Value) -> bool {
    match kind {
        3 => value.is_string(),
        4 => value.is_i64(),
        5 => value.is_boolean(),
        10 => value.is_number(),
        _ => Id::of(value).is_some(),
    }
}
