use super::*;
use crate::model::remote::{Fault as Class, named_tool, retry_after};
use crate::model::{ModelState, StopReason};
use chrono::{TimeZone, Utc};
use fake_openai::Fault;

fn status(status: u16) -> Turn {
    Turn::fault(Fault::status(status, format!("secret body with {KEY}")))
}

fn busy(wait: &str) -> Turn {
    Turn::fault(Fault::Status {
        status: 429,
        message: String::new(),
        code: None,
        param: None,
        retry_after: Some(wait.into()),
        html: false,
    })
}

#[tokio::test]
async fn outages_are_repeated_with_growing_pauses() {
    for code in [408, 409, 429, 500, 502, 503, 504, 529] {
        let b = bench(vec![status(code), status(code), Turn::text("there")]).await;
        let start = crate::task::Clock::monotonic(&b.clock);
        let out = b.run(request(&[])).await;
        assert_eq!((out.text().as_str(), out.restarts()), ("there", 2), "{code}");
        let passed = crate::task::Clock::monotonic(&b.clock) - start;
        assert!((2400..=3600).contains(&passed.as_millis()), "{passed:?}");
        assert_eq!(b.model.state(), ModelState::Up);
    }
}

#[tokio::test]
async fn after_all_repeats_it_is_degraded_and_asked_only_once_for_a_minute() {
    let b = bench(vec![status(500), status(500), status(500), status(500), status(500), Turn::text("back")]).await;
    let out = b.run(request(&[])).await;
    assert_eq!(out.error, Some(ModelError::Unavailable("HTTP 500".into())));
    assert_eq!(b.model.state(), ModelState::Degraded);
    assert_eq!(b.server.requests().len(), 3);
    assert!(b.run(request(&[])).await.error.is_some());
    assert_eq!(b.server.requests().len(), 4);
    b.clock.advance(Duration::from_secs(61));
    assert_eq!(b.run(request(&[])).await.text(), "back");
    assert_eq!(b.model.state(), ModelState::Up);
}

#[tokio::test]
async fn retry_after_is_honoured_and_a_long_one_ends_the_step() {
    let b = bench(vec![busy("2"), Turn::text("ok"), busy("31"), Turn::text("never")]).await;
    let out = b.run(request(&[])).await;
    assert_eq!(out.text(), "ok");
    assert_eq!(crate::task::Clock::monotonic(&b.clock), Duration::from_secs(2));
    let out = b.run(request(&[])).await;
    assert!(matches!(out.error, Some(ModelError::Unavailable(_))));
    assert_eq!(b.server.requests().len(), 3);
}

#[test]
fn retry_after_forms() {
    let now = Utc.with_ymd_and_hms(2026, 3, 1, 10, 0, 0).unwrap();
    assert_eq!(retry_after("2", now), Some(Duration::from_secs(2)));
    assert_eq!(retry_after("0.5", now), Some(Duration::from_millis(500)));
    assert_eq!(retry_after("Sun, 01 Mar 2026 10:00:05 GMT", now), Some(Duration::from_secs(5)));
    assert_eq!(retry_after("Sun, 01 Mar 2026 09:00:05 GMT", now), Some(Duration::ZERO));
    for bad in ["soon", "-1", "", "NaN", "inf", "1e400"] {
        assert_eq!(retry_after(bad, now), None, "{bad}");
    }
}

#[tokio::test]
async fn refused_keys_and_addresses_are_not_repeated() {
    for code in [401, 402, 403, 404] {
        let b = bench(vec![status(code), Turn::text("ok")]).await;
        let out = b.run(request(&[])).await;
        let Some(ModelError::Unavailable(reason)) = out.error else { panic!("{code}") };
        assert!(reason.starts_with(&format!("HTTP {code}")) && !reason.contains("body"), "{reason}");
        assert_eq!((b.server.requests().len(), b.model.state()), (1, ModelState::Down));
        b.run(request(&[])).await;
        assert_eq!(b.model.state(), ModelState::Up);
    }
}

#[tokio::test]
async fn our_own_faults_are_neither_repeated_nor_cooled() {
    for code in [400, 413, 422] {
        let b = bench(vec![status(code)]).await;
        let out = b.run(request(&[])).await;
        let reason = match out.error {
            Some(ModelError::TooLarge(reason)) if code == 413 => reason,
            Some(ModelError::Rejected(reason)) if code != 413 => reason,
            other => panic!("{code}: {other:?}"),
        };
        assert!(!reason.contains(KEY), "{reason}");
        assert_eq!((b.server.requests().len(), b.model.state()), (1, ModelState::Up));
    }
}

#[tokio::test]
async fn too_long_and_filtered_have_their_own_ends() {
    let coded = |code: &str| {
        Turn::fault(Fault::Status {
            status: 400,
            message: "no".into(),
            code: Some(code.into()),
            param: None,
            retry_after: None,
            html: false,
        })
    };
    let long = Turn::fault(Fault::status(400, "This model's maximum context length is 8 tokens"));
    let b = bench(vec![long, coded("context_length_exceeded"), coded("content_filter")]).await;
    assert_eq!(b.run(request(&[])).await.error, Some(ModelError::TooLong));
    assert_eq!(b.run(request(&[])).await.error, Some(ModelError::TooLong));
    assert_eq!(b.run(request(&[])).await.stopped(), Some(StopReason::Refusal));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let b = bench(vec![Turn::fault(Fault::Redirect { to: "/v1/models".into() })]).await;
    let out = b.run(request(&[])).await;
    assert!(matches!(out.error, Some(ModelError::Unavailable(r)) if r.contains("307")));
}

#[tokio::test]
async fn a_broken_stream_starts_again_without_the_partial_text() {
    let partial = |fault| Turn { text: Some("some long partial text".into()), ..Turn::fault(fault) };
    let b = bench(vec![
        partial(Fault::Cut { after: 3 }),
        partial(Fault::StreamError { after: 3, message: format!("parser said {KEY}") }),
        Turn::text("whole"),
    ])
    .await;
    let out = b.run(request(&[])).await;
    assert_eq!((out.text().as_str(), out.restarts()), ("whole", 2));
    assert!(out.events.contains(&ModelEvent::Text("some".into())));
    let b =
        bench(vec![Turn::raw([delta("{\"content\":\"x\"}")]), Turn::raw(["data: {\"nonsense\n\n"]), Turn::text("ok")])
            .await;
    assert_eq!(b.run(request(&[])).await.text(), "ok");
    let html = Turn::fault(Fault::Status {
        status: 502,
        message: "x".into(),
        code: None,
        param: None,
        retry_after: None,
        html: true,
    });
    let page = Turn::raw(["<html><body>hello</body></html>"]);
    let b = bench(vec![html, page, Turn::text("ok")]).await;
    assert_eq!(b.run(request(&[])).await.text(), "ok");
}

#[tokio::test]
async fn a_silent_server_is_given_up_by_the_clock() {
    for after in [None, Some(0)] {
        let hang = || Turn::fault(Fault::Hang { after });
        let b = bench_with(vec![hang(), hang()], json!({"retries": 1})).await;
        let out = b.run_skipping(request(&[]), Duration::from_secs(31)).await;
        assert_eq!(out.error, Some(ModelError::Unavailable("no answer within 30 s".into())));
        assert_eq!(b.server.requests().len(), 2);
    }
    let hang = Turn { text: Some("abcdefgh".into()), ..Turn::fault(Fault::Hang { after: Some(2) }) };
    let b = bench_with(vec![hang], json!({"retries": 0, "timeout_seconds": 20, "first_byte_seconds": 600})).await;
    let step = b.run_skipping(request(&[]), Duration::from_secs(21)).await;
    assert_eq!(step.error, Some(ModelError::Unavailable("no whole answer within 20 s".into())));
}

#[tokio::test]
async fn a_dead_address_is_unavailable_and_names_nothing() {
    let b = bench_with(vec![], json!({"base_url": "http://127.0.0.1:9/hidden-path", "retries": 1})).await;
    let out = b.run(request(&[])).await;
    let Some(ModelError::Unavailable(reason)) = out.error else { panic!() };
    assert!(reason.starts_with("cannot connect") && !reason.contains("hidden-path"), "{reason}");
}

#[tokio::test]
async fn stop_ends_it_at_once_wherever_it_is() {
    for turn in [
        Turn::fault(Fault::Hang { after: None }),
        Turn { text: Some("abcdefgh".into()), ..Turn::fault(Fault::Hang { after: Some(2) }) },
        status(500),
    ] {
        let b = bench(vec![turn]).await;
        let r = request(&[]);
        let stop = r.cancellation.clone();
        let model = b.model.clone();
        let step = crate::task::Tasks::new()
            .spawn("step", async move { model.complete(r).await.unwrap().collect::<Vec<_>>().await });
        while b.server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        stop.request();
        let events = step.await.unwrap();
        assert_eq!(events.last().unwrap(), &Err(ModelError::Cancelled));
    }
    let b = bench(vec![]).await;
    let r = request(&[]);
    r.cancellation.request();
    assert_eq!(b.run(r).await.error, Some(ModelError::Cancelled));
    assert!(b.server.requests().is_empty());
}

#[test]
fn a_tool_is_named_by_index_quotes_or_after_its_word() {
    let sent = ["search", "get-weather", "get-weather-now"];
    let named = |text: &str| named_tool(text, None, &sent);
    assert_eq!(named("Invalid 'tools[1].function.name': bad"), Some("get-weather"));
    assert_eq!(named("tools.2.custom.input_schema: bad"), Some("get-weather-now"));
    assert_eq!(named("Invalid schema for function 'get-weather': x"), Some("get-weather"));
    assert_eq!(named("tool get-weather-now has no schema"), Some("get-weather-now"));
    assert_eq!(named("please search your request"), None);
    assert_eq!(named("'search' and 'get-weather'"), None);
    assert_eq!(named_tool("bad", Some("tools[0].function.parameters"), &sent), Some("search"));
    assert_eq!(named("tools[9] is bad"), None);
}

#[test]
fn errors_of_the_network_are_outages() {
    let fault = Class::from(crate::net::NetError::Broken("x".into()));
    assert!(matches!(fault, Class::Transient { .. }));
}
