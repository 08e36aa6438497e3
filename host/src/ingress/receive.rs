//! The message spine. Nothing here judges or answers; it only knows the order.

use super::answer::{self, Said};
use super::arrive::Arrived;
use super::command;
use super::decide::{Press, capture, press};
use super::desk::Desk;
use super::lost;
use super::owed;
use super::rate::Pace;
use super::repeat::{Repeat, repeat};
use super::stranger;
use crate::admission::{CONSOLE, access, answered};
use crate::config::{BotConfig, OnNewMessage};
use crate::endpoint::Endpoint;
use crate::outbound::Piece;
use crate::route::{self, Builtin};
use crate::session::{LaneError, Place, Ticket, Waiting};
use plugin_sdk::{Delivery, Inbound, Message, Segment, Settled};
use serde_json::{Value, json};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Reads deliveries of a connection until it closes; ends when everything it started is settled.
pub async fn serve(desk: Arc<Desk>, endpoint: Arc<Endpoint>) {
    lost::show(&desk, &endpoint).await;
    let mut open = owed::pay(&desk, &endpoint).await;
    loop {
        let next = tokio::select! {
            next = endpoint.connection.receive.next() => next,
            () = desk.core.tasks.closing() => None,
        };
        let Some(Delivery { token, event, .. }) = next else { break };
        match event {
            Inbound::Message(message) => {
                endpoint.connection.receive.accept(token).await;
                open.retain(|task: &tokio::task::JoinHandle<()>| !task.is_finished());
                open.extend(receive(&desk, &endpoint, message).await);
            }
            Inbound::Button { action, by, conversation, .. } => {
                endpoint.connection.receive.accept(token).await;
                open.retain(|task: &tokio::task::JoinHandle<()>| !task.is_finished());
                let (desk, endpoint) = (Arc::clone(&desk), Arc::clone(&endpoint));
                let tasks = desk.core.tasks.clone();
                let pressed = Press { token, action, by, conversation };
                open.push(tasks.spawn("press", async move { press(&desk, &endpoint, pressed).await }));
            }
            Inbound::Closed => break,
            // An edit never starts a turn.
            _ => endpoint.connection.receive.accept(token).await,
        }
    }
    for task in open {
        if let Err(e) = task.await {
            tracing::error!(error = %e, "a message was not settled");
        }
    }
}

/// A message that waits so long for its turn is told so, once.
const STILL_WAITING: Duration = Duration::from_secs(180);

/// One message: access → answers and control → ticket; the rest runs in its lane.
pub async fn receive(
    desk: &Arc<Desk>,
    endpoint: &Arc<Endpoint>,
    message: Message,
) -> Option<tokio::task::JoinHandle<()>> {
    // Session scope and queueing are rules of the process until the lease is taken.
    let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
    let arrived = Arrived::new(desk, endpoint, message, bot.agent.session_scope);
    if arrived.over_console() {
        // Whoever types here may speak for somebody else, but not for somebody who is not let in.
        let denial = answered(&arrived.who.facts, &desk.policy.read()).err();
        if let Some(denial) = denial {
            let who = arrived.who.facts.principal.id();
            let text = desk.texts(&bot).get("access-as", &[("principal", &who), ("reason", &denial.detail)]);
            let said = Said { outcome: "refused", ..Said::notice(text) };
            say(desk, &arrived, &said).await;
            settle(&arrived, Some(&said)).await;
            return None;
        }
    } else {
        let verdict = access(&arrived.who.facts, &desk.policy.read());
        if !verdict.is_granted() {
            if let Some(said) = stranger::refuse(desk, &arrived, verdict, &bot).await {
                say(desk, &arrived, &said).await;
            }
            settle(&arrived, None).await;
            return None;
        }
    }
    let control = route::control(&arrived.text);
    let always =
        matches!(&control, Some((b, how)) if *b != Builtin::Stop || !is_cancel(&arrived.text) || how != "bare");
    if !always && capture(desk, &arrived).await {
        settle(&arrived, None).await;
        return None;
    }
    if let Some((builtin, args)) = control
        && (args != "bare" || (desk.talk.lanes.is_busy(&arrived.who.session) && command::may_stop(desk, &arrived)))
    {
        let said = command::control(desk, &arrived, builtin, &args).await;
        say(desk, &arrived, &said).await;
        if arrived.over_console() && !matches!(builtin, Builtin::Stop | Builtin::New) {
            desk.talk.questions.show_again(&arrived.who.session, &arrived.who.facts.principal.id());
        }
        settle(&arrived, None).await;
        return None;
    }
    if too_fast(desk, &arrived, &bot).await {
        return None;
    }
    let arrived = match repeat(desk, &arrived, &bot).await {
        Repeat::No => arrived,
        Repeat::Turn(again) => *again,
        Repeat::Said(said) => {
            say(desk, &arrived, &said).await;
            settle(&arrived, None).await;
            return None;
        }
    };
    match queue(desk, arrived, &bot) {
        Ok(task) => Some(task),
        Err(arrived) => {
            say(desk, &arrived, &Said::notice(desk.texts(&bot).get("queue-full", &[]))).await;
            settle(&arrived, None).await;
            None
        }
    }
}

/// Takes a ticket and starts the rest of the way; the message comes back when too many wait.
pub(super) fn queue(
    desk: &Arc<Desk>,
    arrived: Arrived,
    bot: &BotConfig,
) -> Result<tokio::task::JoinHandle<()>, Box<Arrived>> {
    let ticket = Ticket {
        number: desk.next_ticket(),
        session: arrived.who.session.clone(),
        principal: arrived.place_holder(),
        // a command is no message that could stand for others
        supersede: bot.agent.on_new_message == OnNewMessage::Supersede && route::parse(&arrived.text).is_none(),
        message: serde_json::to_value(&arrived.who.message).unwrap_or(Value::Null),
    };
    match desk.talk.lanes.submit(ticket) {
        Ok(waiting) => Ok(desk.core.tasks.spawn("message", lane(Arc::clone(desk), arrived, waiting))),
        Err(_full) => Err(Box::new(arrived)),
    }
}

fn is_cancel(text: &str) -> bool {
    matches!(text.trim().to_lowercase().as_str(), "cancel" | "取消")
}

/// The rest of a message's way, once its lane starts it.
async fn lane(desk: Arc<Desk>, arrived: Arrived, waiting: Waiting) {
    match placed(&desk, &arrived, waiting).await {
        Ok(place) => {
            let (arrived, said) = answer::answer(&desk, arrived, &place).await;
            let sent = say_first(&desk, &arrived, &said, place).await;
            settle(&arrived, Some(&said)).await;
            if let (true, Some(turn_id)) = (sent, &said.turn_id) {
                owed::paid(&desk, &arrived.who.session, turn_id).await;
            }
        }
        // The newer message answers for both; a closing host says nothing new.
        Err(LaneError::Superseded | LaneError::Closing) => settle(&arrived, None).await,
    }
}

/// Waits for its place.
async fn placed(desk: &Arc<Desk>, arrived: &Arrived, mut waiting: Waiting) -> Result<Arc<Place>, LaneError> {
    let place = tokio::select! {
        biased;
        place = &mut waiting => Some(place),
        () = desk.core.clock.sleep(STILL_WAITING) => None,
    };
    let place = match place {
        Some(place) => place,
        None => {
            let bot = Arc::clone(&desk.publisher.published().active.contents().bot);
            say(desk, arrived, &Said::notice(desk.texts(&bot).get("queue-still-waiting", &[]))).await;
            waiting.await
        }
    };
    place.map(Arc::new)
}

/// Says it and gives the place of its turn back as soon as nothing of the next turn can be sent before it; how
/// long the platform takes keeps nobody waiting.
async fn say_first(desk: &Arc<Desk>, arrived: &Arrived, said: &Said, place: Arc<Place>) -> bool {
    let saying = say(desk, arrived, said);
    tokio::pin!(saying);
    match futures::poll!(&mut saying) {
        Poll::Ready(sent) => sent,
        Poll::Pending => {
            drop(place);
            saying.await
        }
    }
}

/// Whether a person starts turns too fast: then nothing runs, and one sentence says for how long.
async fn too_fast(desk: &Arc<Desk>, arrived: &Arrived, bot: &BotConfig) -> bool {
    // Whoever holds the data folder is not kept from it; lines that come in a row are answered in a row.
    if arrived.over_console() && arrived.who.facts.principal.platform == CONSOLE {
        return false;
    }
    let (who, limits) = (arrived.place_holder(), &bot.limits);
    let cooldown = Duration::from_secs(limits.cooldown_seconds);
    match desk.talk.rates.pace(&who, desk.core.clock.monotonic(), limits.turns_per_user_per_minute, cooldown) {
        Pace::Fine => return false,
        Pace::Dropped => {}
        Pace::Pause(seconds) => {
            stranger::note(desk, "access.rate_limited", &who, json!({"seconds": seconds})).await;
            let text = desk.texts(bot).get("rate-limited", &[("seconds", &seconds.to_string())]);
            say(desk, arrived, &Said::notice(text)).await;
        }
    }
    settle(arrived, None).await;
    true
}

/// Sends what there is to say; whether it was sent.
pub(super) async fn say(desk: &Arc<Desk>, arrived: &Arrived, said: &Said) -> bool {
    let mut segments = said.segments.clone();
    // A plain segment behind the answer: no part of the model's text.
    segments.extend(said.footer.iter().map(|f| Segment::plain(format!("\n\n{f}"))));
    if segments.is_empty() {
        return false;
    }
    let piece = Piece {
        kind: said.kind,
        conversation: arrived.who.message.conversation.clone(),
        segments,
        reply_to: Some(arrived.who.message.id.clone()),
    };
    match desk.talk.outbound.send(&arrived.endpoint, piece).await {
        Ok(()) => true,
        Err(e) => {
            tracing::warn!(endpoint = arrived.endpoint.id, error = %e, "an answer was not sent");
            false
        }
    }
}

async fn settle(arrived: &Arrived, said: Option<&Said>) {
    let settled = Settled {
        conversation: arrived.who.message.conversation.clone(),
        message_id: arrived.who.message.id.clone(),
        turn_id: said.and_then(|s| s.turn_id.clone()),
        outcome: said.map_or("handled", |s| s.outcome).to_string(),
        detail: said.and_then(|s| s.detail).map(str::to_string),
    };
    if let Err(e) = arrived.endpoint.connection.edit.settled(settled).await {
        tracing::debug!(error = %e, "nobody was told that a message is settled");
    }
}
