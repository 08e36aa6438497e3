use super::*;
use crate::session::StopCause;
use crate::session::lanes::tests::{lanes, ticket};
use crate::task::{ManualClock, Tasks};
use plugin_sdk::ports::{AnswerSource, Ask, Question, QuestionKind};

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

#[derive(Default)]
struct Screen(Mutex<Vec<String>>);

#[async_trait::async_trait]
impl QuestionSink for Screen {
    async fn show(&self, question: &OpenQuestion) -> Result<(), String> {
        self.0.lock().unwrap().push(format!("show {}", question.text));
        Ok(())
    }
    async fn invalid(&self, question: &OpenQuestion) {
        self.0.lock().unwrap().push(format!("again {}", question.text));
    }
    async fn closed(&self, _: &OpenQuestion, end: &QuestionEnd) {
        self.0.lock().unwrap().push(format!("closed {end:?}"));
    }
}

struct Asking {
    w: World,
    questions: Questions,
    screen: Arc<Screen>,
    stop: CancellationSignal,
}

fn asking() -> Asking {
    let w = world();
    let journal = Journal::new(w.store.clone(), w.clock.shared());
    let questions = Questions::new(w.store.clone(), w.clock.shared(), journal);
    Asking { w, questions, screen: Arc::default(), stop: CancellationSignal::new() }
}

impl Asking {
    fn port_in(&self, session: &str) -> Arc<QuestionPort> {
        let asked_in = AskedIn {
            session: SessionKey::from_text(session),
            turn_id: "t1".into(),
            generation: 1,
            principal: "console:1".into(),
            cancellation: self.stop.clone(),
            place: None,
        };
        Arc::new(QuestionPort::new(self.questions.clone(), asked_in, self.screen.clone()))
    }

    fn port(&self) -> Arc<QuestionPort> {
        self.port_in(self.w.key.as_str())
    }

    fn say(&self, text: &str) -> Captured {
        self.questions.answer(&self.w.key, "console:1", text, false)
    }

    /// Lets the tasks run until a question is open.
    async fn until_open(&self) {
        while self.questions.open_in(&self.w.key).is_none() || self.w.clock.sleepers() == 0 {
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
            assert_eq!(a.questions.answer(&a.w.key, "console:2", text, false), Captured::No);
            a.say(text)
        });
        assert_eq!(captured, Captured::Answered);
        match wanted {
            Some(wanted) => {
                let answer = answer.unwrap();
                assert_eq!((answer.answer.as_str(), answer.option_index), (wanted, index));
                assert_eq!(answer.source, AnswerSource::Person);
            }
            None => assert_eq!(answer.unwrap_err().code, "QUESTION_CANCELLED"),
        }
        assert_eq!(a.say(text), Captured::No, "a late text is an ordinary message");
        assert!(a.w.store.scan_prefix(Tree::Questions, &Key::new(), None, 9).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn an_invalid_answer_is_asked_again_until_the_first_deadline() {
    let a = asking();
    let port = a.port();
    let (answer, ()) = tokio::join!(port.ask(question(QuestionKind::Number, &[])), async {
        a.until_open().await;
        a.w.clock.advance(Duration::from_secs(59));
        assert_eq!(a.say("nan"), Captured::Invalid);
        assert_eq!(a.say("many"), Captured::Invalid);
        while a.screen.0.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
        a.w.clock.advance(Duration::from_secs(1));
    });
    assert_eq!(answer.unwrap_err().code, "QUESTION_TIMEOUT");
    let seen = a.screen.0.lock().unwrap().clone();
    assert_eq!(seen, ["show Where to?", "again Where to?", "again Where to?", "closed Expired"]);
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
    assert_eq!(a.say("first"), Captured::Answered);
    assert_eq!(asked.remove(0).await.unwrap().unwrap().answer, "first");
    a.until_open().await;
    let stored = a.w.store.scan_prefix(Tree::Questions, &Key::new(), None, 9).await.unwrap();
    assert_eq!(stored.len(), 1, "stored before it is shown");
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
async fn an_approval_takes_only_its_words_and_gives_the_place_back() {
    let a = asking();
    let (lanes, _) = lanes(1, 1, 5);
    let place = Arc::new(lanes.submit(ticket(1, a.w.key.as_str(), "console:1")).unwrap().await.unwrap());
    let asked_in = AskedIn {
        session: a.w.key.clone(),
        turn_id: "t".into(),
        generation: 1,
        principal: "console:1".into(),
        cancellation: place.cancellation(),
        place: Some(place.clone()),
    };
    let port = QuestionPort::new(a.questions.clone(), asked_in, a.screen.clone());
    let (end, ()) = tokio::join!(port.approve("run maps__get?".into(), Duration::from_secs(180)), async {
        a.until_open().await;
        drop(lanes.submit(ticket(2, "other", "p")).unwrap().await.unwrap());
        assert_eq!(a.say("maybe"), Captured::No);
        assert_eq!(a.say("允许"), Captured::Answered);
    });
    assert_eq!(end, QuestionEnd::Answered { answer: "yes".into(), index: None, by: "console:1".into() });
    let (end, ()) = tokio::join!(port.approve("again?".into(), Duration::from_secs(180)), async {
        a.until_open().await;
        lanes.stop(&a.w.key, StopCause::Person);
    });
    assert_eq!(end, QuestionEnd::Withdrawn);
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
    let secret = Question { question: "Your apiKey?".into(), ..question(QuestionKind::Text, &[]) };
    assert_eq!(external.ask(secret).await.unwrap_err().code, "QUESTION_REFUSED");
}

#[tokio::test]
async fn where_only_answers_can_be_said_a_card_is_shown_again() {
    let a = asking();
    let port = a.port();
    let (end, said) = tokio::join!(port.approve("May I?".into(), std::time::Duration::from_secs(60)), async {
        a.until_open().await;
        let say = |text| a.questions.answer(&a.w.key, "console:1", text, true);
        a.questions.show_again(&a.w.key, "console:2");
        let unfit = say("what is this?");
        a.questions.show_again(&a.w.key, "console:1");
        [unfit, say("yes")]
    });
    assert_eq!(said, [Captured::Invalid, Captured::Answered]);
    let shown = a.screen.0.lock().unwrap().iter().filter(|line| line.starts_with("show")).count();
    assert_eq!(shown, 2, "once more for whom it is asked, and for nobody else");
    assert!(matches!(end, QuestionEnd::Answered { answer, .. } if answer == "yes"));
}
