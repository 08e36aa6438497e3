use super::*;
use crate::fault::{RestEffect, RestFault};
use crate::limits::RateScope;
use crate::log::ViolationKind;
use crate::seed::{DM_ANN, GENERAL, NEWS};

fn limited() -> World {
    let mut w = world();
    w.options.rates = true;
    w
}

fn header<'a>(settled: &'a Settled, name: &str) -> Option<&'a str> {
    settled.headers.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
}

fn text(w: &mut World, channel: Id) -> Settled {
    settle(w, &asked("POST", &format!("channels/{channel}/messages"), json!({"content": "x"})))
}

#[test]
fn a_bucket_belongs_to_a_route_and_a_place() {
    let mut w = limited();
    for left in (0..5).rev() {
        let answer = text(&mut w, GENERAL);
        assert_eq!((answer.status, header(&answer, "x-ratelimit-remaining")), (200, Some(left.to_string().as_str())));
        assert_eq!(header(&answer, "x-ratelimit-reset-after"), Some("5.000"));
    }
    pass(&w, 1_500);
    let refused = text(&mut w, GENERAL);
    assert_eq!((refused.status, header(&refused, "retry-after")), (429, Some("4")));
    assert_eq!(header(&refused, "x-ratelimit-scope"), Some("user"));
    let Shown::Json(body) = &refused.body else { panic!("{refused:?}") };
    assert_eq!((body["retry_after"].as_f64(), body["global"].as_bool()), (Some(3.5), Some(false)));
    assert_eq!(text(&mut w, NEWS).status, 200, "another channel has a bucket of its own");
    assert_eq!(text(&mut w, GENERAL).status, 429);
    let kinds: Vec<_> = w.log.violations.iter().map(|v| v.kind).collect();
    assert_eq!(kinds, [ViolationKind::Limited, ViolationKind::Early]);
    pass(&w, 3_500);
    assert_eq!(text(&mut w, GENERAL).status, 200);
}

#[test]
fn fifty_requests_a_second_are_the_limit_of_all() {
    let mut w = limited();
    let get = asked("GET", "users/@me", Value::Null);
    for _ in 0..25 {
        assert_eq!(settle(&mut w, &get).status, 200);
        assert_eq!(settle(&mut w, &asked("GET", &format!("channels/{GENERAL}"), Value::Null)).status, 200);
    }
    let refused = text(&mut w, DM_ANN);
    assert_eq!((refused.status, header(&refused, "x-ratelimit-global")), (429, Some("true")));
    let answer = settle(&mut w, &asked("POST", "interactions/1/t/callback", json!({"type": 5})));
    assert_eq!(answer.status, 404, "interactions have no part in it");
    pass(&w, 1_000);
    assert_eq!(text(&mut w, DM_ANN).status, 200);
}

#[test]
fn a_scripted_429_forbids_its_scope_until_its_end() {
    for (scope, channel, status) in
        [(RateScope::Shared, NEWS, 200), (RateScope::User, NEWS, 200), (RateScope::Global, NEWS, 429)]
    {
        let mut w = world();
        let what = RestEffect::RateLimit { retry_after_ms: 3_000, scope, headers: true, html: false };
        w.load(RestFault { nth: 2, ..RestFault::once("POST channels/*/messages", what) }.into());
        assert_eq!(text(&mut w, GENERAL).status, 200);
        let refused = text(&mut w, GENERAL);
        assert_eq!((refused.status, header(&refused, "x-ratelimit-scope")), (429, Some(scope.name())));
        assert_eq!(w.log.violations, [], "the script did it, not the bot");
        pass(&w, 2_999);
        assert_eq!(text(&mut w, GENERAL).status, 429);
        assert_eq!(text(&mut w, channel).status, status, "{scope:?}");
        assert_eq!(w.log.violations[0].kind, ViolationKind::Early);
        pass(&w, 1);
        assert_eq!(text(&mut w, GENERAL).status, 200);
        let others = if scope == RateScope::Global { 1 } else { 0 };
        let counted = if scope == RateScope::Shared { 0 } else { 2 + others };
        assert_eq!(w.log.invalid(w.now_ms()), counted, "{scope:?}");
    }
}

#[test]
fn pages_and_errors_come_as_scripted() {
    let mut w = world();
    let html = RestEffect::RateLimit { retry_after_ms: 0, scope: RateScope::User, headers: false, html: true };
    w.load(RestFault::once("channels/**", html).into());
    let page = text(&mut w, GENERAL);
    assert!(matches!(&page.body, Shown::Page(text) if text.starts_with("<html>")));
    assert_eq!((page.status, page.headers), (429, Vec::new()));
    w.load(RestFault::member_fetch().into());
    let path = format!("guilds/{}/members/{}", seed::GUILD, seed::ANN);
    assert_eq!(ask(&mut w, "GET", &path, Value::Null).0, 500);
    assert_eq!(ask(&mut w, "GET", &path, Value::Null).0, 500, "as long as it is loaded");
    w.load(RestFault::once("POST interactions/*/*/callback", RestEffect::UnknownInteraction).into());
    assert_eq!(code(&ask(&mut w, "POST", "interactions/1/t/callback", json!({"type": 5}))), (404, 10062));
    assert_eq!(w.log.violations, []);
    assert_eq!(text(&mut w, GENERAL).status, 200);
}

#[test]
fn ten_thousand_refused_requests_are_a_ban() {
    let mut w = world();
    w.log.invalid_ms = vec![NOON; 10_000];
    assert!(matches!(text(&mut w, GENERAL), Settled { status: 429, body: Shown::Page(_), .. }));
    pass(&w, 600_001);
    assert_eq!(text(&mut w, GENERAL).status, 200);
}
