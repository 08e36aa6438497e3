mod approving;

use super::*;
use crate::task::{ManualClock, Tasks};
use plugin_sdk::Scope;
use plugin_sdk::ports::{AnswerSource, Ask, Card, CardCopy, CardSink, Question, QuestionKind};

struct World {
    store: SharedStore,
    clock: ManualClock,
    key: SessionKey,
}

fn world() -> World {
    let clock = ManualClock::default();
    World {
        store: crate::store::in_memory(clock.shared()),
        clock,
        key: SessionKey::from_text("console/main/private/c"),
    }
}

/// Shows cards to nobody and remembers what became of them.
#[derive(Default)]
struct Screen {
    seen: Mutex<Vec<String>>,
    cards: Mutex<Vec<Card>>,
    places: Mutex<Vec<ConversationRef>>,
    broken: std::sync::atomic::AtomicBool,
}

#[async_trait::async_trait]
impl CardSink for Screen {
    async fn show(&self, to: &ConversationRef, card: &Card) -> Result<CardCopy, String> {
        if self.broken.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("no room".into());
        }
        self.seen.lock().unwrap().push(format!("show {}", card.text));
        self.places.lock().unwrap().push(to.clone());
        let mut cards = self.cards.lock().unwrap();
        cards.push(card.clone());
        Ok(CardCopy { conversation: to.clone(), message_id: cards.len().to_string() })
    }
    async fn edit(&self, copy: &CardCopy, card: &Card) {
        let end = card.end.as_ref().map_or("", |e| e.text.as_str());
        let buttons: Vec<&str> = card.buttons.iter().map(|b| b.label.as_str()).collect();
        self.seen
            .lock()
            .unwrap()
            .push(format!("edit {} {end} {}", copy.message_id, buttons.join(",")).trim_end().into());
    }
}

impl Screen {
    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn button(&self, card: usize, label: &str) -> String {
        let cards = self.cards.lock().unwrap();
        cards[card].buttons.iter().find(|b| b.label == label).map(|b| b.id.clone()).unwrap()
    }
}

fn place_in(scope: Scope, scene: &str) -> ConversationRef {
    ConversationRef {
        platform: "telegram".into(),
        endpoint: "main".into(),
        scope,
        scene: scene.into(),
        parent: None,
        thread: None,
    }
}

struct Asking {
    w: World,
    questions: Questions,
    screen: Arc<Screen>,
    stop: CancellationSignal,
    place: ConversationRef,
    redactor: Arc<crate::config::Redactor>,
}

fn asking() -> Asking {
    let w = world();
    let journal = Journal::new(w.store.clone(), w.clock.shared());
    let questions = Questions::new(w.store.clone(), w.clock.shared(), journal);
    let place = place_in(Scope::Private, "1");
    let redactor = crate::config::Redactor::new();
    Asking { w, questions, screen: Arc::default(), stop: CancellationSignal::new(), place, redactor }
}

impl Asking {
    fn asked_in(&self, session: &SessionKey) -> AskedIn {
        AskedIn {
            session: session.clone(),
            turn_id: "t1".into(),
            generation: 1,
            principal: "console:1".into(),
            conversation: self.place.clone(),
            message_id: None,
            cancellation: self.stop.clone(),
            place: None,
            showing: Showing {
                sink: self.screen.clone(),
                texts: Texts::shared(crate::config::Language::En),
                waits: Arc::new(|_| {}),
            },
            limit: 3,
        }
    }

    fn port_in(&self, session: &str) -> Arc<QuestionPort> {
        let asked_in = self.asked_in(&SessionKey::from_text(session));
        Arc::new(QuestionPort::new(self.questions.clone(), asked_in, Arc::clone(&self.redactor)))
    }

    fn port(&self) -> Arc<QuestionPort> {
        self.port_in(self.w.key.as_str())
    }

    async fn stored(&self) -> Vec<OpenQuestion> {
        let found = self.w.store.scan_prefix(Tree::Questions, &crate::store::Key::new(), None, 99).await.unwrap();
        found.into_iter().map(|(_, v)| serde_json::from_value(v).unwrap()).collect()
    }

    fn heard<'a>(&'a self, principal: &'a str, text: &'a str) -> Heard<'a> {
        Heard {
            session: &self.w.key,
            conversation: &self.place,
            principal,
            text,
            reply_to: None,
            mention: false,
            only_answers: false,
        }
    }

    /// What a message of the requester comes to; a decision is made.
    async fn say(&self, text: &str) -> &'static str {
        self.hear(self.heard("console:1", text)).await
    }

    async fn hear(&self, heard: Heard<'_>) -> &'static str {
        match self.questions.meant(&heard) {
            Meant::Nothing => "nothing",
            Meant::Unfit(q) => {
                assert!(self.questions.ask_again(&q));
                "unfit"
            }
            Meant::Decides(q, decision) => {
                let settled = self.questions.settle(&q, decision, Some(heard.principal), None).await.unwrap();
                if matches!(settled, Settled::Now(_)) { "decided" } else { "late" }
            }
        }
    }

    /// Lets the tasks run until a question is open.
    async fn until_open(&self) {
        while self.questions.open_in(&self.w.key).is_none_or(|q| q.cards.is_empty()) || self.w.clock.sleepers() == 0 {
            tokio::task::yield_now().await;
        }
    }
}

fn question(kind: QuestionKind, options: &[&str]) -> Question {
    Question {
        question: " Where to? ".into(),
        kind,
        options: options.iter().map(|o| (*o).to_owned()).collect(),
        default_value: None,
        timeout_seconds: 60,
    }
}

/// Kind, options, typed text, answer (`None` = cancelled), index.
type Case = (QuestionKind, &'static [&'static str], &'static str, Option<&'static str>, Option<usize>);

#[tokio::test]
async fn answers_are_captured_by_their_kind() {
    let cases: [Case; 9] = [
        (QuestionKind::Text, &[], " Paris ", Some("Paris"), None),
        (QuestionKind::Number, &[], "-3.50", Some("-3.50"), None),
        (QuestionKind::Confirm, &[], "OK", Some("yes"), None),
        (QuestionKind::Confirm, &[], "取消", Some("no"), None),
        (QuestionKind::Pick, &["km", "miles"], "2", Some("miles"), Some(1)),
        (QuestionKind::Pick, &["2", "1"], "1", Some("1"), Some(1)),
        (QuestionKind::Pick, &["km", "miles"], "km", Some("km"), Some(0)),
        (QuestionKind::Text, &[], "cancel", None, None),
        (QuestionKind::Pick, &["km", "miles"], "取消", None, None),
    ];
    for (kind, options, text, wanted, index) in cases {
        let a = asking();
        let (port, q) = (a.port(), question(kind, options));
        let (answer, captured) = tokio::join!(port.ask(q), async {
            a.until_open().await;
            assert_eq!(a.hear(a.heard("console:2", text)).await, "nothing");
            a.say(text).await
        });
        assert_eq!(captured, "decided");
        match wanted {
            Some(wanted) => {
                let answer = answer.unwrap();
                assert_eq!((answer.answer.as_str(), answer.option_index), (wanted, index));
                assert_eq!(answer.source, AnswerSource::Person);
            }
            None => assert_eq!(answer.unwrap_err().code, "QUESTION_CANCELLED"),
        }
        assert_eq!(a.say(text).await, "nothing", "a late text is an ordinary message");
        assert!(a.stored().await.iter().all(|q| q.state != QuestionState::Pending));
    }
}

#[tokio::test]
async fn an_invalid_answer_is_asked_again_until_the_first_deadline() {
    let a = asking();
    let port = a.port();
    let (answer, ()) = tokio::join!(port.ask(question(QuestionKind::Number, &[])), async {
        a.until_open().await;
        a.w.clock.advance(Duration::from_secs(59));
        assert_eq!(a.say("nan").await, "unfit");
        assert_eq!(a.say("many").await, "unfit");
        while a.screen.seen().len() < 3 {
            tokio::task::yield_now().await;
        }
        a.w.clock.advance(Duration::from_secs(1));
    });
    assert_eq!(answer.unwrap_err().code, "QUESTION_TIMEOUT");
    let again = "show That does not fit: Where to?";
    let closed = ["edit 1", "edit 2", "edit 3"].map(|e| format!("{e} No answer came in time."));
    assert_eq!(a.screen.seen(), [&["show Where to?".into(), again.into(), again.into()], &closed[..]].concat());
}

#[tokio::test]
async fn silence_means_the_default_or_no() {
    let with_default = Question { default_value: Some("2".into()), ..question(QuestionKind::Pick, &["km", "miles"]) };
    let cases = [
        (with_default, "miles", AnswerSource::Default),
        (question(QuestionKind::Confirm, &[]), "no", AnswerSource::Timeout),
    ];
    for (q, wanted, source) in cases {
        let a = asking();
        let port = a.port();
        let (answer, ()) = tokio::join!(port.ask(q), async {
            a.until_open().await;
            a.w.clock.advance(Duration::from_secs(60));
        });
        let answer = answer.unwrap();
        assert_eq!((answer.answer.as_str(), answer.source), (wanted, source));
    }
}

#[tokio::test]
async fn questions_of_a_session_wait_for_each_other_and_end_with_the_turn() {
    let a = asking();
    let tasks = Tasks::new();
    let mut asked: Vec<_> = (0..9)
        .map(|_| {
            let port = a.port();
            tasks.spawn("ask", async move { port.ask(question(QuestionKind::Text, &[])).await })
        })
        .collect();
    a.until_open().await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    let tenth = a.port().ask(question(QuestionKind::Text, &[])).await;
    assert_eq!(tenth.unwrap_err().code, "QUESTION_BUSY");
    assert_eq!(a.say("first").await, "decided");
    assert_eq!(asked.remove(0).await.unwrap().unwrap().answer, "first");
    a.until_open().await;
    let pending = a.stored().await.into_iter().filter(|q| q.state == QuestionState::Pending).count();
    assert_eq!(pending, 1, "stored before it is shown");
    a.stop.request();
    for handle in asked {
        assert_eq!(handle.await.unwrap().unwrap_err().code, "QUESTION_CANCELLED");
    }
    assert!(a.questions.open_in(&a.w.key).is_none());
}

#[tokio::test]
async fn one_person_has_three_open_and_what_a_crash_leaves_is_lost() {
    let a = asking();
    let tasks = Tasks::new();
    for n in 0..3 {
        let port = a.port_in(&format!("s{n}"));
        tasks.spawn("ask", async move { port.ask(question(QuestionKind::Text, &[])).await });
    }
    while a.w.clock.sleepers() < 3 {
        tokio::task::yield_now().await;
    }
    let fourth = a.port().ask(question(QuestionKind::Text, &[])).await;
    assert_eq!(fourth.unwrap_err().code, "QUESTION_BUSY");
    tasks.close(Duration::ZERO).await;
    let again =
        Questions::new(a.w.store.clone(), a.w.clock.shared(), Journal::new(a.w.store.clone(), a.w.clock.shared()));
    assert_eq!(again.take_lost().await.unwrap().len(), 3);
    assert!(again.take_lost().await.unwrap().is_empty());
}

#[tokio::test]
async fn bad_questions_and_secrets_asked_by_plugins_are_refused() {
    let a = asking();
    let bad = [
        Question { question: "  ".into(), ..question(QuestionKind::Text, &[]) },
        Question { timeout_seconds: 301, ..question(QuestionKind::Text, &[]) },
        Question { default_value: Some("x".into()), ..question(QuestionKind::Number, &[]) },
        question(QuestionKind::Text, &["a", "b"]),
        question(QuestionKind::Pick, &["a"]),
        question(QuestionKind::Pick, &["a", " a "]),
        question(QuestionKind::Pick, &["a", " "]),
    ];
    for q in bad {
        assert_eq!(a.port().ask(q).await.unwrap_err().code, "VALIDATION_ERROR");
    }
    let external = a.port().external("maps");
    for asked in
        ["Your apiKey?", "enter your API key", "the APIKey", "APIKEY", "all tokens", "Passwords:", "card_number"]
    {
        let secret = Question { question: asked.into(), ..question(QuestionKind::Text, &[]) };
        assert_eq!(external.ask(secret).await.unwrap_err().code, "QUESTION_REFUSED", "{asked}");
    }
    assert!(
        ["Which keyboard?", "Does the monkey bite?", "cardinal points"].iter().all(|t| !super::port::names_a_secret(t))
    );
    let long = Question { question: "x".repeat(1001), ..question(QuestionKind::Text, &[]) };
    assert_eq!(external.ask(long).await.unwrap_err().code, "QUESTION_REFUSED");
}
