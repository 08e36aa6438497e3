use crate::config::BotConfig;
use crate::model::openai::tests::{KEY, Outcome, request};
use crate::model::{ModelError, ModelEvent, ModelMessage, ModelState, Models};
use crate::net::Http;
use crate::task::ManualClock;
use fake_anthropic::FakeAnthropic;
use fake_openai::{FakeOpenAi, Fault, Handle, Script, Turn};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;

/// A model of each format; `main` falls back on `spare`, and that on `main`.
struct Row {
    clock: ManualClock,
    models: Models,
    main: Handle,
    spare: Handle,
}

fn script(turns: Vec<Turn>) -> Script {
    Script { key: Some(KEY.into()), turns, ..Script::default() }
}

async fn row(main: Vec<Turn>, spare: Vec<Turn>) -> Row {
    let (main_at, main) = FakeAnthropic::start(script(main)).await.unwrap();
    let (spare_at, spare) = FakeOpenAi::start(script(spare)).await.unwrap();
    let model = |provider: &str, at: std::net::SocketAddr, fallback: &str| {
        json!({"provider": provider, "model": format!("{provider}-model"), "base_url": format!("http://{at}/v1"),
            "api_key": KEY, "fallback": [fallback]})
    };
    let bot: BotConfig = serde_json::from_value(json!({"agent": {"model": "main"}, "models": {
        "main": model("anthropic", main_at, "spare"), "spare": model("openai", spare_at, "main")
    }}))
    .unwrap();
    let clock = ManualClock::default();
    let models = Models::build(&bot, &Http::new(clock.shared()).unwrap());
    Row { clock, models, main, spare }
}

impl Row {
    async fn ask(&self) -> Outcome {
        let client = self.models.main();
        let step = async {
            let mut events = Vec::new();
            let mut stream = client.complete(request(&["a"])).await.unwrap();
            while let Some(event) = stream.next().await {
                match event {
                    Ok(event) => events.push(event),
                    Err(error) => return Outcome { events, error: Some(error) },
                }
            }
            Outcome { events, error: None }
        };
        let time = async {
            loop {
                tokio::task::yield_now().await;
                if let Some(due) = self.clock.next_due().filter(|due| *due < Duration::from_millis(4900)) {
                    self.clock.advance(due);
                }
            }
        };
        tokio::select! { out = step => out, () = time => unreachable!() }
    }

    fn asked(&self) -> (usize, usize) {
        (self.main.requests().len(), self.spare.requests().len())
    }

    fn state(&self) -> ModelState {
        self.models.states().into_iter().find(|(name, _)| name == "main").unwrap().1
    }
}

fn status(code: u16) -> Turn {
    Turn::fault(Fault::status(code, "body"))
}

#[tokio::test]
async fn three_outages_bring_the_next_with_tools_and_history() {
    let cut = Turn { text: Some("partial text".into()), ..Turn::fault(Fault::Cut { after: 4 }) };
    let row = row(vec![status(500), status(500), cut], vec![Turn::text("from the other"), Turn::text("again")]).await;
    let out = row.ask().await;
    assert_eq!((out.error.clone(), out.text().as_str()), (None, "from the other"));
    assert!(out.events.contains(&ModelEvent::Answering("openai-model".into())));
    assert_eq!((row.asked(), row.state()), ((3, 1), ModelState::Degraded));
    let (main, spare) = (&row.main.requests()[0].body, &row.spare.requests()[0].body);
    assert_eq!(main["tools"][0]["name"], spare["tools"][0]["function"]["name"]);
    assert_eq!(spare["messages"][1]["content"], "hi");
    // it rests for a minute, then it is asked again
    assert_eq!((row.ask().await.text().as_str(), row.asked()), ("again", (3, 2)));
    row.main.set_script(script(vec![Turn::text("back")]));
    row.clock.advance(Duration::from_secs(60));
    let out = row.ask().await;
    assert_eq!((out.text().as_str(), row.state()), ("back", ModelState::Up));
    assert!(!out.events.iter().any(|e| matches!(e, ModelEvent::Answering(_))));
}

#[tokio::test]
async fn a_refused_request_goes_to_nobody_else() {
    for code in [400, 413, 422] {
        let row = row(vec![status(code)], vec![Turn::text("never")]).await;
        let error = row.ask().await.error;
        assert!(matches!(error, Some(ModelError::Rejected(_) | ModelError::TooLarge(_))), "{code}: {error:?}");
        assert_eq!((row.asked(), row.state()), ((1, 0), ModelState::Up));
    }
    let refusal = Turn { finish: Some("refusal".into()), ..Turn::default() };
    let row = row(vec![refusal], vec![Turn::text("never")]).await;
    assert_eq!((row.ask().await.stopped(), row.asked()), (Some(crate::model::StopReason::Refusal), (1, 0)));
}

#[tokio::test]
async fn a_refused_key_is_down_and_not_asked_again() {
    for code in [401, 402, 403, 404] {
        let row = row(vec![status(code)], vec![Turn::text("one"), Turn::text("two")]).await;
        assert_eq!((row.ask().await.text().as_str(), row.asked()), ("one", (1, 1)), "{code}");
        row.clock.advance(Duration::from_secs(3600));
        assert_eq!((row.ask().await.text().as_str(), row.asked()), ("two", (1, 2)));
        assert_eq!(row.state(), ModelState::Down);
    }
}

#[tokio::test]
async fn a_pause_that_is_too_long_is_not_waited_for() {
    let busy = |after: &str| {
        Turn::fault(Fault::Status {
            status: 429,
            message: "slow down".into(),
            code: None,
            param: None,
            retry_after: Some(after.into()),
            html: false,
        })
    };
    let row_of = |after: &str| row(vec![busy(after), Turn::text("waited")], vec![Turn::text("other")]);
    let row = row_of("31").await;
    assert_eq!((row.ask().await.text().as_str(), row.asked()), ("other", (1, 1)));
    let row = row_of("2").await;
    let before = crate::task::Clock::monotonic(&row.clock);
    assert_eq!((row.ask().await.text().as_str(), row.asked()), ("waited", (2, 0)));
    assert!(crate::task::Clock::monotonic(&row.clock) - before >= Duration::from_secs(2));
}

#[tokio::test]
async fn all_failed_is_unavailable_and_the_spared_are_tried_once_more() {
    let row = row(vec![status(500).always()], vec![status(401)]).await;
    assert!(matches!(row.ask().await.error, Some(ModelError::Unavailable(_))));
    assert_eq!(row.asked(), (3, 1));
    // one rests, one is down: each is asked once, without repeats
    row.spare.set_script(script(vec![Turn::text("paid")]));
    assert_eq!((row.ask().await.text().as_str(), row.asked()), ("paid", (4, 2)));
}

#[tokio::test]
async fn what_one_signed_stays_with_it() {
    let thinking = Some(fake_anthropic::Thinking::signed("hm", "sig"));
    let row = row(vec![Turn { thinking, ..Turn::text("x") }], vec![]).await;
    let out = row.ask().await;
    let opaque = out.events.iter().find_map(|e| match e {
        ModelEvent::Opaque(o) => Some(o.clone()),
        _ => None,
    });
    let mut r = request(&["a"]);
    r.messages.push(ModelMessage::Assistant { text: "x".into(), calls: vec![], opaque: vec![opaque.unwrap()] });
    r.messages.push(ModelMessage::user("more"));
    for (name, there) in [("main", true), ("spare", false)] {
        let client = row.models.get(name).unwrap();
        client.complete(r.clone()).await.unwrap().collect::<Vec<_>>().await;
        let handle = if there { &row.main } else { &row.spare };
        let body: Value = handle.requests().pop().unwrap().body;
        assert_eq!(body.to_string().contains("sig"), there, "{name}");
    }
}
