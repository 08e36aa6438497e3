//! A model with others that answer while it cannot.

use super::remote::RemoteModel;
use super::{ModelClient, ModelError, ModelEvent, ModelRequest};
use async_trait::async_trait;
use futures::channel::mpsc::{self, Sender};
use futures::stream::{self, BoxStream};
use futures::{SinkExt, StreamExt};
use std::sync::Arc;

const EVENTS_AHEAD: usize = 16;

/// One model of the row.
#[derive(Clone)]
pub(super) struct Member {
    /// Its name in the configuration.
    pub(super) name: String,
    pub(super) client: Arc<dyn ModelClient>,
    /// What is known about it; nothing of one that needs no network.
    pub(super) remote: Option<RemoteModel>,
}

/// The models of a row; the first is the one that was asked for.
#[derive(Clone)]
pub(super) struct Chain {
    members: Arc<[Member]>,
    name: String,
}

impl Chain {
    pub(super) fn new(members: Vec<Member>) -> Self {
        let name = members.first().map(|m| m.client.name().to_owned()).unwrap_or_default();
        Self { members: members.into(), name }
    }

    /// In their order, those that are spared last: each is asked once before the step is given up.
    fn order(&self) -> Vec<Member> {
        let spared = |m: &Member| m.remote.as_ref().is_some_and(RemoteModel::is_spared);
        let (last, first): (Vec<Member>, Vec<Member>) = self.members.iter().cloned().partition(spared);
        first.into_iter().chain(last).collect()
    }

    async fn run(self, request: ModelRequest, mut events: Events) {
        let first = self.members.first().map(|m| m.name.clone()).unwrap_or_default();
        let mut failed = None;
        for member in self.order() {
            if failed.is_some() && events.send(Ok(ModelEvent::Restart)).await.is_err() {
                return;
            }
            if member.name != first {
                let model = &self.name;
                tracing::info!(model, fallback = member.name, "another model answers");
                if events.send(Ok(ModelEvent::Answering(member.client.name().to_owned()))).await.is_err() {
                    return;
                }
            }
            match forward(&member, request.clone(), &mut events).await {
                // only an outage goes on to the next: a refused request would be refused there too
                Some(error @ ModelError::Unavailable(_)) => failed = Some(error),
                Some(error) => {
                    // nobody listens any more: nothing to tell
                    let _ = events.send(Err(error)).await;
                    return;
                }
                None => return,
            }
        }
        if let Some(error) = failed {
            let _ = events.send(Err(error)).await;
        }
    }
}

type Events = Sender<Result<ModelEvent, ModelError>>;

/// Passes the events of one model on; its error is not passed on, but given back.
async fn forward(member: &Member, request: ModelRequest, events: &mut Events) -> Option<ModelError> {
    let mut stream = match member.client.complete(request).await {
        Ok(stream) => stream,
        Err(error) => return Some(error),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                if events.send(Ok(event)).await.is_err() {
                    return None;
                }
            }
            Err(error) => return Some(error),
        }
    }
    None
}

#[async_trait]
impl ModelClient for Chain {
    fn name(&self) -> &str {
        &self.name
    }

    fn wants_catalog(&self) -> bool {
        self.members.iter().any(|m| m.client.wants_catalog())
    }

    fn sees_images(&self) -> bool {
        self.members.first().is_some_and(|m| m.client.sees_images())
    }

    fn max_tools(&self) -> usize {
        self.members.iter().map(|m| m.client.max_tools()).min().unwrap_or(usize::MAX)
    }

    async fn complete(
        &self,
        request: ModelRequest,
    ) -> Result<BoxStream<'static, Result<ModelEvent, ModelError>>, ModelError> {
        let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
        // The work runs inside the stream: whoever drops the stream ends the requests.
        let work = stream::once(self.clone().run(request, sender)).filter_map(|()| async { None });
        Ok(stream::select(receiver, work).boxed())
    }
}
