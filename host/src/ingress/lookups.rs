//! What people hold on their platforms: asked at most once a minute for each person in a place.

use super::recent::Recent;
use crate::admission::holds_in_private;
use crate::endpoint::Endpoint;
use crate::exec::Membership;
use crate::task::SharedClock;
use async_trait::async_trait;
use plugin_sdk::{ConversationRef, Lookup, Scope};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a platform may take.
const LIMIT: Duration = Duration::from_secs(3);
/// How long an answer counts.
const FRESH: Duration = Duration::from_secs(60);
/// How long a failure counts.
const FAILED: Duration = Duration::from_secs(10);
/// Answers remembered.
const KEPT: usize = 2_000;

/// Permissions, or why they are not known.
pub(super) type Held = Result<Vec<String>, String>;

/// The lookups of all endpoints.
pub struct Lookups {
    clock: SharedClock,
    kept: Mutex<Recent<Option<(Duration, Held)>>>,
}

impl Lookups {
    /// Nothing was asked yet.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, kept: Mutex::new(Recent::new(KEPT)) }
    }

    /// What a person holds in a place of this endpoint. Where nobody can hold anything it is not asked.
    pub(super) async fn held(&self, endpoint: &Endpoint, place: &ConversationRef, user: &str) -> Held {
        self.ask((&endpoint.id, &*endpoint.connection.lookup), place, user).await
    }

    async fn ask(&self, (endpoint, lookup): (&str, &dyn Lookup), place: &ConversationRef, user: &str) -> Held {
        if place.scope == Scope::Private && !holds_in_private(&place.platform) {
            return Ok(Vec::new());
        }
        let name = format!("{endpoint}\n{place}\n{user}");
        if let Some(held) = self.known(&name) {
            return held;
        }
        let held = tokio::select! {
            held = lookup.member(place, user) => held.map_err(|e| e.to_string()),
            () = self.clock.sleep(LIMIT) => Err("the platform did not answer in time".to_string()),
        };
        let at = self.clock.monotonic();
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner).of(&name) = Some((at, held.clone()));
        held
    }

    fn known(&self, name: &str) -> Option<Held> {
        let now = self.clock.monotonic();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, held) = kept.of(name).as_ref()?;
        let lasts = if held.is_ok() { FRESH } else { FAILED };
        (now.saturating_sub(*at) < lasts).then(|| held.clone())
    }
}

/// The person of one turn, looked up again when a call comes late.
pub(super) struct Asker {
    pub(super) lookups: Arc<Lookups>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) place: ConversationRef,
    pub(super) user: String,
}

#[async_trait]
impl Membership for Asker {
    async fn held(&self) -> Held {
        self.lookups.held(&self.endpoint, &self.place, &self.user).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::ManualClock;
    use plugin_sdk::{MediaRef, SendError};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often it is asked; a user without a name fails, one called `slow` is never answered.
    #[derive(Default)]
    struct Platform(AtomicUsize);

    #[async_trait]
    impl Lookup for Platform {
        async fn member(&self, _: &ConversationRef, user: &str) -> Result<Vec<String>, SendError> {
            let n = self.0.fetch_add(1, Ordering::SeqCst);
            match user {
                "" => Err(SendError::Forbidden("no such member".into())),
                "slow" => std::future::pending().await,
                _ => Ok(vec![format!("answer {n}")]),
            }
        }
        async fn download(&self, _: &MediaRef, _max: u64) -> Result<Vec<u8>, SendError> {
            Ok(Vec::new())
        }
        async fn set_commands(&self, _: Option<&str>, _: &[(String, String)]) -> Result<(), SendError> {
            Ok(())
        }
        async fn probe(&self) -> Result<(), SendError> {
            Ok(())
        }
    }

    fn place(scope: Scope, scene: &str) -> ConversationRef {
        ConversationRef {
            platform: "telegram".into(),
            endpoint: "main".into(),
            scope,
            scene: scene.into(),
            parent: None,
            thread: None,
        }
    }

    #[tokio::test]
    async fn an_answer_counts_a_minute_and_a_failure_ten_seconds() {
        let clock = ManualClock::default();
        let (lookups, platform) = (Lookups::new(clock.shared()), Platform::default());
        let group = place(Scope::Group, "-1");
        let ask = async |at: &ConversationRef, user: &str| lookups.ask(("telegram/main", &platform), at, user).await;
        let first = ask(&group, "1").await;
        clock.advance(Duration::from_secs(59));
        assert_eq!(ask(&group, "1").await, first);
        clock.advance(Duration::from_secs(1));
        assert_ne!(ask(&group, "1").await, first, "after a minute it is asked again");
        assert_ne!(ask(&group, "2").await, ask(&place(Scope::Group, "-2"), "1").await, "each person in each place");
        let before = platform.0.load(Ordering::SeqCst);
        assert!(ask(&group, "").await.is_err());
        clock.advance(Duration::from_secs(9));
        assert!(ask(&group, "").await.is_err());
        assert_eq!(platform.0.load(Ordering::SeqCst), before + 1);
        clock.advance(Duration::from_secs(1));
        assert!(ask(&group, "").await.is_err());
        assert_eq!(platform.0.load(Ordering::SeqCst), before + 2);
        assert_eq!(ask(&place(Scope::Private, "1"), "1").await, Ok(Vec::new()));
        assert_eq!(platform.0.load(Ordering::SeqCst), before + 2, "in private nobody is asked about");
    }

    #[tokio::test]
    async fn a_platform_that_does_not_answer_holds_nobody_up() {
        let clock = ManualClock::default();
        let (lookups, platform) = (Lookups::new(clock.shared()), Platform::default());
        let group = place(Scope::Group, "-1");
        let asked = lookups.ask(("telegram/main", &platform), &group, "slow");
        let (held, ()) = tokio::join!(asked, async {
            while clock.sleepers() == 0 {
                tokio::task::yield_now().await;
            }
            clock.advance(Duration::from_secs(3));
        });
        assert!(held.unwrap_err().contains("in time"));
    }
}
