use super::*;
use crate::model::{ModelError, ModelState};

fn status(code: u16) -> Turn {
    Turn::fault(Fault::status(code, "body"))
}

#[tokio::test]
async fn outages_are_repeated_and_refusals_are_not() {
    let b = bench(vec![status(529), status(500), Turn::text("ok")]).await;
    assert_eq!(b.run(request(&[])).await.text(), "ok");
    for code in [401, 402, 403, 404] {
        let b = bench(vec![status(code)]).await;
        let out = b.run(request(&[])).await;
        assert!(matches!(&out.error, Some(ModelError::Unavailable(r)) if r.contains(&code.to_string())), "{code}");
        assert_eq!((b.server.requests().len(), b.model.state()), (1, ModelState::Down));
    }
    for code in [400, 413, 422] {
        let b = bench(vec![status(code)]).await;
        assert!(
            matches!(b.run(request(&[])).await.error, Some(ModelError::Rejected(_) | ModelError::TooLarge(_))),
            "{code}"
        );
        assert_eq!((b.server.requests().len(), b.model.state()), (1, ModelState::Up));
    }
    let long = Turn::fault(Fault::status(400, "prompt is too long: 210000 tokens > 200000 maximum"));
    assert_eq!(bench(vec![long]).await.run(request(&[])).await.error, Some(ModelError::TooLong));
}

#[tokio::test]
async fn a_broken_stream_starts_again_without_the_partial_text() {
    let partial = |fault| Turn { text: Some("some long partial text".into()), ..Turn::fault(fault) };
    for fault in [
        Fault::Cut { after: 4 },
        Fault::CutBytes { after: 500 },
        Fault::End { after: 4 },
        Fault::StreamError { after: 4, message: format!("overloaded, said {KEY}") },
    ] {
        let b = bench(vec![partial(fault.clone()), Turn::text("whole")]).await;
        let out = b.run(request(&[])).await;
        assert_eq!((out.text().as_str(), out.restarts()), ("whole", 1), "{fault:?}");
    }
    let page = Turn::raw(["<html><body>hello</body></html>"]);
    let b = bench(vec![page.clone(), page.clone(), page]).await;
    assert!(matches!(b.run(request(&[])).await.error, Some(ModelError::Unavailable(_))));
    assert_eq!((b.server.requests().len(), b.model.state()), (3, ModelState::Degraded));
}

#[tokio::test]
async fn an_error_inside_the_stream_is_what_its_name_says() {
    let error = |kind: &str| {
        let data = json!({"type": "error", "error": {"type": kind, "message": "no"}});
        Turn::raw([format!("event: error\ndata: {data}\n\n")])
    };
    let b = bench(vec![error("overloaded_error"), error("rate_limit_error"), Turn::text("ok")]).await;
    assert_eq!(b.run(request(&[])).await.text(), "ok");
    let b = bench(vec![error("invalid_request_error")]).await;
    assert!(matches!(b.run(request(&[])).await.error, Some(ModelError::Rejected(_))));
    let b = bench(vec![error("authentication_error")]).await;
    assert!(matches!(b.run(request(&[])).await.error, Some(ModelError::Unavailable(_))));
    assert_eq!(b.model.state(), ModelState::Down);
}
