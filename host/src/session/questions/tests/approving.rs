//! Cards of approvals: who is heard, and that one decision counts however many come.

use super::*;
use crate::session::StopCause;
use crate::session::lanes::tests::{lanes, ticket};
use serde_json::Map;

pub(super) fn approval(id: &str, rememberable: bool, notify: Vec<ConversationRef>) -> super::super::Asking {
    let identity = CallIdentity {
        call_id: "c1".into(),
        tool: "maps__get".into(),
        title: None,
        owner: "maps".into(),
        owner_digest: "d".into(),
        args_hash: "a".into(),
        tool_hash: "t".into(),
        call_hash: "h".into(),
        files: Vec::new(),
    };
    let call = CallRecord {
        identity,
        args: Map::new(),
        reasons: vec![Reason { source: "requires_approval".into(), value: "always".into() }],
        gravity: Gravity::default(),
        rememberable,
    };
    super::super::Asking {
        id: id.into(),
        wanted: Wanted::Approval,
        text: "May I?".into(),
        options: Vec::new(),
        asker: None,
        call: Some(call),
        attachment: None,
        notify,
        timeout: Duration::from_secs(180),
    }
}

fn yes(by: &str) -> QuestionEnd {
    QuestionEnd::Answered { answer: "yes".into(), index: None, by: by.into() }
}

#[tokio::test]
async fn in_private_the_bare_word_counts_and_the_place_is_given_back() {
    let a = asking();
    let (lanes, _) = lanes(1, 1, 5);
    let place = Arc::new(lanes.submit(ticket(1, a.w.key.as_str(), "console:1")).unwrap().await.unwrap());
    let asked_in = AskedIn { cancellation: place.cancellation(), place: Some(place.clone()), ..a.asked_in(&a.w.key) };
    let port = QuestionPort::new(a.questions.clone(), asked_in, Arc::clone(&a.redactor));
    let (end, ()) = tokio::join!(port.approve(approval("r1", false, vec![])), async {
        a.until_open().await;
        drop(lanes.submit(ticket(2, "other", "p")).unwrap().await.unwrap());
        assert_eq!(a.say("maybe").await, "nothing");
        assert_eq!(a.say("session").await, "nothing", "nobody was offered that");
        assert_eq!(a.say("允许").await, "decided");
    });
    assert_eq!(end, yes("console:1"));
    let (end, ()) = tokio::join!(port.approve(approval("r2", false, vec![])), async {
        a.until_open().await;
        lanes.stop(&a.w.key, StopCause::Person);
    });
    assert_eq!(end, QuestionEnd::Withdrawn);
    let states: Vec<QuestionState> = a.stored().await.into_iter().map(|q| q.state).collect();
    assert_eq!(states, [QuestionState::AllowedOnce, QuestionState::Withdrawn]);
    assert!(a.screen.seen().contains(&"edit 2 The turn was stopped: not run.".to_string()), "{:?}", a.screen.seen());
}

#[tokio::test]
async fn in_a_group_only_a_reply_to_the_card_counts_and_the_requester_may_cancel() {
    let a = Asking { place: place_in(Scope::Group, "-100"), ..asking() };
    let port = a.port();
    let (end, ()) = tokio::join!(port.approve(approval("r1", false, vec![])), async {
        a.until_open().await;
        assert_eq!(a.say("yes").await, "nothing");
        assert_eq!(a.hear(Heard { mention: true, ..a.heard("console:1", "yes") }).await, "nothing");
        assert_eq!(a.hear(Heard { reply_to: Some("77"), ..a.heard("console:1", "yes") }).await, "nothing");
        let elsewhere = place_in(Scope::Group, "-200");
        let wrong = Heard { conversation: &elsewhere, reply_to: Some("1"), ..a.heard("telegram:7", "yes") };
        assert_eq!(a.hear(wrong).await, "nothing");
        // Its writer has a session of its own: the card is found by the message that is replied to.
        let own = SessionKey::from_text("of the approver");
        assert_eq!(
            a.hear(Heard { session: &own, reply_to: Some("1"), ..a.heard("telegram:7", "OK") }).await,
            "decided"
        );
    });
    assert_eq!(end, yes("telegram:7"));
    let (end, ()) = tokio::join!(port.approve(approval("r2", false, vec![])), async {
        a.until_open().await;
        assert_eq!(a.hear(a.heard("telegram:9", "cancel")).await, "nothing");
        assert_eq!(a.say("取消").await, "decided");
    });
    assert_eq!(end, QuestionEnd::Answered { answer: "no".into(), index: None, by: "console:1".into() });
}

#[tokio::test]
async fn a_question_in_a_group_wants_a_reply_or_a_mention() {
    let a = Asking { place: place_in(Scope::Group, "-100"), ..asking() };
    for (text, heard, ends) in [("Paris", "reply", true), ("Rome", "mention", true), ("cancel", "bare", false)] {
        let port = a.port();
        let (answer, ()) = tokio::join!(port.ask(question(QuestionKind::Text, &[])), async {
            a.until_open().await;
            assert_eq!(a.say("Oslo").await, "nothing");
            assert_eq!(a.hear(Heard { mention: true, ..a.heard("telegram:9", "Oslo") }).await, "nothing");
            let card = a.questions.open_in(&a.w.key).unwrap().cards[0].message_id.clone();
            let said = match heard {
                "reply" => Heard { reply_to: Some(&card), ..a.heard("console:1", text) },
                "mention" => Heard { mention: true, ..a.heard("console:1", text) },
                _ => a.heard("console:1", text),
            };
            assert_eq!(a.hear(said).await, "decided");
        });
        assert_eq!(answer.is_ok(), ends);
    }
}

#[tokio::test]
async fn every_copy_has_its_own_buttons_and_of_many_presses_one_decides() {
    let a = asking();
    let approver = place_in(Scope::Private, "7");
    let port = a.port();
    let (end, ()) = tokio::join!(port.approve(approval("r1", true, vec![approver.clone()])), async {
        a.until_open().await;
        while a.questions.open_in(&a.w.key).is_none_or(|q| q.cards.len() < 2) {
            tokio::task::yield_now().await;
        }
        let (once, deny) = (a.screen.button(0, "Allow once"), a.screen.button(1, "Deny"));
        assert_ne!(once, a.screen.button(1, "Allow once"));
        assert!(a.questions.action(&once, &approver).await.unwrap().is_none(), "it stands somewhere else");
        let act = a.questions.action(&deny, &approver).await.unwrap().unwrap();
        let asked = a.questions.question(&act.session, &act.record).await.unwrap().unwrap();
        let decide = async |decision: Decision, by: &str| {
            a.questions.settle(&asked, decision, Some(by), Some("done".into())).await.unwrap()
        };
        let (first, second) =
            tokio::join!(decide(act.action.decision().unwrap(), "telegram:7"), decide(Decision::once(), "console:1"));
        assert!(matches!(first, Settled::Now(_)), "{first:?}");
        let Settled::Before(seen) = second else { panic!("{second:?}") };
        assert_eq!((seen.state, seen.result.as_deref()), (QuestionState::Rejected, Some("done")));
    });
    assert_eq!(end, QuestionEnd::Answered { answer: "no".into(), index: None, by: "telegram:7".into() });
    assert_eq!(a.screen.seen()[2..], ["edit 1 done", "edit 2 done"]);
}

#[tokio::test]
async fn at_the_deadline_either_the_answer_or_the_silence_counts() {
    for early in [true, false] {
        let a = asking();
        let port = a.port();
        let (end, late) = tokio::join!(port.approve(approval("r1", false, vec![])), async {
            a.until_open().await;
            let asked = a.questions.open_in(&a.w.key).unwrap();
            let ms = Duration::from_millis;
            a.w.clock.advance(Duration::from_secs(180) - if early { ms(50) } else { Duration::ZERO });
            if !early {
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                a.w.clock.advance(ms(50));
            }
            let said = a.questions.settle(&asked, Decision::once(), Some("console:1"), None).await.unwrap();
            a.w.clock.advance(ms(100));
            said
        });
        assert_eq!(end, if early { yes("console:1") } else { QuestionEnd::Expired });
        assert_eq!(matches!(late, Settled::Now(_)), early, "{late:?}");
        // A record never feeds another call.
        let (next, ()) = tokio::join!(port.approve(approval("r2", false, vec![])), async {
            a.until_open().await;
            a.w.clock.advance(Duration::from_secs(180));
        });
        assert_eq!(next, QuestionEnd::Expired);
    }
}

#[tokio::test]
async fn the_decision_and_the_deadline_at_the_same_instant_agree() {
    let a = asking();
    let port = a.port();
    let (end, settled) = tokio::join!(port.approve(approval("r1", false, vec![])), async {
        a.until_open().await;
        let asked = a.questions.open_in(&a.w.key).unwrap();
        a.w.clock.advance(Duration::from_secs(180));
        a.questions.settle(&asked, Decision::once(), Some("console:1"), None).await.unwrap()
    });
    assert_eq!(end == yes("console:1"), matches!(settled, Settled::Now(_)), "{end:?} {settled:?}");
}

#[tokio::test]
async fn what_cannot_be_stored_or_shown_is_not_asked() {
    let a = asking();
    a.screen.broken.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(a.port().approve(approval("r1", false, vec![])).await, QuestionEnd::Unavailable("no room".into()));
    a.w.store.close().await.unwrap();
    assert!(matches!(a.port().approve(approval("r2", false, vec![])).await, QuestionEnd::Unrecorded(_)));
    assert!(a.screen.seen().is_empty());
}

#[tokio::test]
async fn after_a_restart_every_copy_says_so_and_one_offers_to_ask_again() {
    let a = asking();
    let tasks = Tasks::new();
    let port = a.port();
    tasks.spawn("ask", async move { port.approve(approval("r1", false, vec![place_in(Scope::Private, "7")])).await });
    a.until_open().await;
    while a.stored().await[0].cards.len() < 2 {
        tokio::task::yield_now().await;
    }
    let once = a.screen.button(0, "Allow once");
    tasks.close(Duration::ZERO).await;
    let journal = Journal::new(a.w.store.clone(), a.w.clock.shared());
    let again = Questions::new(a.w.store.clone(), a.w.clock.shared(), journal.clone());
    assert_eq!(again.take_lost().await.unwrap().len(), 1);
    assert!(again.take_lost().await.unwrap().is_empty());
    let lost = again.lost().await.unwrap();
    let texts = Texts::shared(crate::config::Language::En);
    again.show_lost(&lost[0], |_| false, &*a.screen, &texts).await.unwrap();
    assert_eq!((a.screen.seen().len(), again.lost().await.unwrap().len()), (2, 1), "another connection is up");
    again.show_lost(&lost[0], |_| true, &*a.screen, &texts).await.unwrap();
    assert!(again.lost().await.unwrap().is_empty());
    assert_eq!(a.screen.seen()[2..], ["edit 1 I was restarted. Ask again", "edit 2 I was restarted."]);
    let act = again.action(&once, &a.place).await.unwrap().unwrap();
    let record = again.question(&act.session, &act.record).await.unwrap().unwrap();
    let late = again.settle(&record, Decision::once(), Some("console:1"), None).await.unwrap();
    assert!(matches!(late, Settled::Before(q) if q.state == QuestionState::Lost), "the old buttons run nothing");
    let kinds: Vec<String> = journal.recent(9).await.unwrap().into_iter().map(|r| r.kind).collect();
    assert_eq!(kinds, ["question.lost"]);
}

#[tokio::test]
async fn in_a_terminal_whatever_is_typed_stands_below_the_card() {
    let a = asking();
    let port = a.port();
    let (end, ()) = tokio::join!(port.approve(approval("r1", true, vec![])), async {
        a.until_open().await;
        a.questions.show_again(&a.w.key, "console:2");
        let typed = |text| Heard { only_answers: true, ..a.heard("console:1", text) };
        assert_eq!(a.hear(typed("what is this?")).await, "unfit");
        a.questions.show_again(&a.w.key, "console:1");
        while a.screen.seen().len() < 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(a.hear(typed("2")).await, "decided");
    });
    assert_eq!(end, QuestionEnd::Answered { answer: "session".into(), index: None, by: "console:1".into() });
    let shown = a.screen.seen().iter().filter(|line| *line == "show May I?").count();
    assert_eq!(shown, 2, "once more for whom it is asked, and for nobody else");
}
