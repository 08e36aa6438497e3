//! The first answer to an interaction.

use super::messages::{Draw, compose};
use super::{Answer, Call, Reply, edit};
use crate::form::{Fields, FormErrors};
use crate::id::Id;
use crate::model::{Answered, Interaction, InteractionKind, Message, Via, flags};
use crate::print;
use crate::refusal::Refusal;
use crate::rules::{Draft, Limits, draft};
use crate::upload::Body;
use crate::world::World;
use serde_json::{Value, json};
use std::sync::Arc;

const MESSAGE: u64 = 4;
const DEFERRED: u64 = 5;
const DEFERRED_UPDATE: u64 = 6;
const UPDATE: u64 = 7;
const MODAL: u64 = 9;
/// Discord's number for the answer to a command.
const COMMAND_REPLY: u8 = 20;

pub(crate) fn callback(world: &mut World, call: &Call, id: Id, token: &str) -> Answer {
    let now = world.now_ms();
    let found = world.interactions.get(&id).filter(|i| i.token == token);
    let interaction = found.ok_or_else(|| Refusal::unknown(10062))?.clone();
    if interaction.answered.is_some() {
        return Err(Refusal::new(400, 40060, "Interaction has already been acknowledged."));
    }
    if now > interaction.at_ms + Interaction::ANSWER_MS {
        return Err(Refusal::unknown(10062));
    }
    let data = call.body.json.get("data").cloned().unwrap_or_default();
    let kind = kind(&call.body.json, &interaction.kind)?;
    let draft = match kind {
        MESSAGE | UPDATE => Some(drafted(world, call, &data, interaction.channel)?),
        _ => None,
    };
    if kind == MODAL {
        modal(&data)?;
    }
    if draft.as_ref().is_some_and(Draft::is_blank) && kind == MESSAGE {
        return Err(Refusal::empty_message());
    }
    let set = Fields::new(&data, "data").number("flags", &mut FormErrors::default()).unwrap_or_default();
    let ephemeral = matches!(kind, MESSAGE | DEFERRED) && set & flags::EPHEMERAL != 0;
    act(world, &interaction, (kind, ephemeral), draft)?;
    if call.query("with_response") == Some("true") {
        let original = world.interactions.get(&id).and_then(|i| i.original);
        let message = original.and_then(|m| world.channels.get(&interaction.channel)?.messages.get(&m));
        let message = message.map(|m| print::message(world, m));
        return Ok(Reply::Json(
            200,
            json!({"interaction": {"id": id, "type": 2},
            "resource": {"type": kind, "message": message}}),
        ));
    }
    Ok(Reply::Empty)
}

fn kind(body: &Value, of: &InteractionKind) -> Result<u64, Refusal> {
    let mut errors = FormErrors::default();
    let kind = Fields::new(body, "").number("type", &mut errors);
    let fits = match (kind, of) {
        (Some(MESSAGE | DEFERRED | MODAL), _) => true,
        (Some(DEFERRED_UPDATE | UPDATE), InteractionKind::Component { .. }) => true,
        (None, _) => {
            errors.required("type");
            false
        }
        _ => false,
    };
    if !fits && errors.is_empty() {
        errors.choices("type", "4, 5, 6, 7, 9");
    }
    errors.result()?;
    Ok(kind.unwrap_or_default())
}

fn modal(data: &Value) -> Result<(), Refusal> {
    let mut errors = FormErrors::default();
    let fields = Fields::new(data, "data");
    fields.required_text("custom_id", (1, 100), &mut errors);
    fields.required_text("title", (1, 45), &mut errors);
    let rows = fields.list("components", 5, &mut errors);
    if rows.is_empty() {
        errors.required("data.components");
    }
    errors.result()
}

fn drafted(world: &World, call: &Call, data: &Value, channel: Id) -> Result<Draft, Refusal> {
    let limits = Limits { unit: world.options.unit, file_max: world.upload_max(channel), ephemeral: true };
    let body = Body { json: data.clone(), files: call.body.files.clone() };
    // the form of the message is one level deeper here
    draft(&body, limits).map_err(|mut refusal| {
        refusal.errors = refusal.errors.map(|errors| json!({"data": errors}));
        refusal
    })
}

fn act(
    world: &mut World,
    of: &Interaction,
    (kind, ephemeral): (u64, bool),
    draft: Option<Draft>,
) -> Result<(), Refusal> {
    let source = match &of.kind {
        InteractionKind::Component { message, .. } => Some(*message),
        InteractionKind::Slash { .. } => None,
    };
    let original = match (kind, draft) {
        (UPDATE, Some(draft)) => {
            let source = source.ok_or_else(|| Refusal::unknown(10008))?;
            edit::apply(world, (of.channel, source), draft)?;
            Some(source)
        }
        (DEFERRED_UPDATE, _) => source,
        (MESSAGE, Some(draft)) => Some(said(world, of, draft, (ephemeral, false))),
        (DEFERRED, _) => {
            let empty = crate::rules::draft(&Body::default(), drafting(world, of.channel))?;
            Some(said(world, of, empty, (ephemeral, true)))
        }
        _ => None,
    };
    let at_ms = world.now_ms();
    if let Some(interaction) = world.interactions.get_mut(&of.id) {
        interaction.answered = Some(Answered { kind, at_ms, ephemeral });
        interaction.loading = kind == DEFERRED;
        interaction.original = original;
    }
    Ok(())
}

pub(crate) fn drafting(world: &World, channel: Id) -> Limits {
    Limits { unit: world.options.unit, file_max: world.upload_max(channel), ephemeral: true }
}

/// A message of the bot that belongs to an interaction: (only for the person, still being written).
pub(crate) fn said(world: &mut World, of: &Interaction, draft: Draft, (ephemeral, loading): (bool, bool)) -> Id {
    let command = matches!(of.kind, InteractionKind::Slash { .. }) && of.original.is_none();
    let mut set = 0;
    if ephemeral {
        set |= flags::EPHEMERAL;
    }
    if loading {
        set |= flags::LOADING;
    }
    let draw = Draw {
        kind: if command { COMMAND_REPLY } else { 0 },
        via: Some(Via::Interaction(of.id)),
        only_for: ephemeral.then_some(of.user),
        flags: set,
        ..Draw::plain(world.bot(), of.channel)
    };
    let message = compose(world, draw, draft, None);
    if let Some(interaction) = world.interactions.get_mut(&of.id) {
        interaction.messages.push(message);
    }
    message
}

/// A message of an interaction, seen through its token.
pub(crate) fn owned<'a>(world: &'a World, of: &Interaction, message: Id) -> Result<&'a Message, Refusal> {
    let found = world.channels.get(&of.channel).and_then(|c| c.messages.get(&message)).map(Arc::as_ref);
    // the interaction may have led to more since it was looked up
    let of = world.interactions.get(&of.id).unwrap_or(of);
    let own = of.messages.contains(&message) || of.original == Some(message);
    found.filter(|m| own && m.deleted_ms.is_none()).ok_or_else(|| Refusal::unknown(10008))
}
