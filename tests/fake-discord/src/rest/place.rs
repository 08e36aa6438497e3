//! Whether the bot may write in a place.

use crate::id::Id;
use crate::model::Channel;
use crate::permissions::bits;
use crate::refusal::Refusal;
use crate::seed;
use crate::world::World;

/// A place the bot may write in.
pub(crate) fn writable(world: &World, id: Id) -> Result<&Channel, Refusal> {
    let channel = world.seen(id)?;
    if let Some(person) = channel.recipient.and_then(|id| world.users.get(&id))
        && person.dm_closed
    {
        return Err(Refusal::new(403, 50007, "Cannot send messages to this user"));
    }
    if !channel.kind.holds_messages() {
        return Err(Refusal::new(400, 50008, "Cannot send messages in a non-text channel"));
    }
    let needed = if channel.kind.is_thread() { bits::SEND_MESSAGES_IN_THREADS } else { bits::SEND_MESSAGES };
    if world.may(seed::BOT, channel) & needed == 0 {
        return Err(Refusal::permission());
    }
    Ok(channel)
}

pub(crate) fn archived() -> Refusal {
    Refusal::new(400, 50083, "Thread is archived")
}

/// A thread that is awake, or no thread.
pub(crate) fn awake(channel: &Channel) -> Result<(), Refusal> {
    if channel.archived { Err(archived()) } else { Ok(()) }
}

pub(crate) fn history(world: &World, channel: &Channel) -> Result<(), Refusal> {
    let may = world.may(seed::BOT, channel) & bits::READ_MESSAGE_HISTORY != 0;
    if may { Ok(()) } else { Err(Refusal::permission()) }
}
