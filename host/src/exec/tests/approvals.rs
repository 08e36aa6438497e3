//! Questions before a call.

use super::*;

fn yes() -> ApprovalAnswer {
    ApprovalAnswer::Allowed("telegram:1".into())
}

fn no() -> ApprovalAnswer {
    ApprovalAnswer::Rejected("telegram:1".into())
}

#[tokio::test]
async fn a_yes_runs_exactly_what_was_shown() {
    let person = Arc::new(Person::says([yes()]));
    let secret = asks().input_schema(json!({
        "type": "object",
        "properties": {"pin": {"type": "string", "x-secret": true}, "to": {"type": "string"}},
    }));
    let w = World::new().tool("t", secret, echo()).person(&person);
    let result = w.call("t", json!({"pin": "1234", "to": "a\u{202e}b\nc"})).await;
    assert!(!result.is_error, "{result:?}");
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked[0].shown, ["pin: \"•••\"", "to: \"a\\u202eb\\u000ac\""]);
    assert_eq!(asked[0].arguments["pin"], json!("1234"));
    assert_eq!(asked[0].timeout, Duration::from_secs(180));
    assert_eq!(asked[0].because[0].source, "requires_approval");
    let events = w.events().await;
    let kinds: Vec<&str> = events.iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(kinds, ["question.asked", "question.answered", "tool.started", "tool.finished"]);
    assert_eq!(events[2].1["answered_by"], json!("telegram:1"));
    assert!(!format!("{events:?}").contains("1234"));
}

#[tokio::test]
async fn a_no_is_remembered_for_the_turn() {
    let person = Arc::new(Person::says([no(), yes()]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let executor = w.turn();
    let run = async |n: u64| executor.execute_one(ToolUse::new("c", "t", json!({"n": n})), &w.cx, None).await;
    assert_eq!(code(&run(1).await), "APPROVAL_REJECTED");
    assert_eq!(code(&run(1).await), "APPROVAL_REJECTED");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    assert!(!run(2).await.is_error);
}

#[tokio::test]
async fn nobody_to_ask_is_never_called_a_refusal() {
    let w = World::new().tool("t", asks(), echo());
    assert_eq!(code(&w.call("t", json!({})).await), "APPROVAL_UNAVAILABLE");
    let person = Arc::new(Person::says([yes(), yes(), ApprovalAnswer::Unavailable("no room".into())]));
    let mut w = World::new().tool("t", asks(), echo()).person(&person);
    w.facts.attended = false;
    assert_eq!(code(&w.call("t", json!({})).await), "APPROVAL_UNAVAILABLE");
    w.facts.attended = true;
    w.facts.principal = Principal::system("telegram");
    assert_eq!(code(&w.call("t", json!({})).await), "APPROVAL_UNAVAILABLE");
    w.facts.principal = w.cx.principal.clone();
    person.answers.lock().unwrap().drain(..2);
    let unshown = w.call("t", json!({})).await;
    assert_eq!(code(&unshown), "APPROVAL_UNAVAILABLE");
    assert!(error(&unshown).message.contains("no room"));
}

#[tokio::test]
async fn too_many_questions_of_a_turn_are_refused() {
    let person = Arc::new(Person::says((0..3).map(|_| yes())));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    w.set_policy(|p| p.approval.max_per_turn = 2);
    let executor = w.turn();
    let calls = (0..3).map(|n| ToolUse::new(format!("c{n}"), "t", json!({"n": n}))).collect();
    let codes: Vec<String> = executor.execute_many(calls, &w.cx).await.iter().map(|r| code(r).to_string()).collect();
    assert_eq!(codes, ["", "", "APPROVAL_LIMIT"]);
}

/// Nobody answers until the deadline.
struct Silent(crate::task::SharedClock);

#[async_trait]
impl ApprovalPort for Silent {
    async fn ask(&self, request: ApprovalRequest) -> ApprovalAnswer {
        self.0.sleep(request.timeout).await;
        ApprovalAnswer::Expired
    }
}

#[tokio::test]
async fn silence_means_no_and_stops_the_clock() {
    let mut w = World::new().tool("t", asks(), echo());
    w.person = Some(Arc::new(Silent(w.clock.shared())));
    let index = w.index();
    let ports = w.ports(&index);
    let countdown = ports.countdown.clone();
    let executor = ToolExecutor::with(index, Arc::new(w.bot.clone()), w.clock.shared()).for_turn(ports);
    let (result, ()) = tokio::join!(executor.execute_one(ToolUse::new("c", "t", json!({})), &w.cx, None), async {
        settle().await;
        w.clock.advance(Duration::from_secs(180));
    });
    assert_eq!(code(&result), "APPROVAL_EXPIRED");
    assert_eq!(countdown.left(), Duration::from_secs(120));
    assert!(w.kinds().await.contains(&"question.expired".to_string()));
}

#[tokio::test]
async fn stopping_withdraws_the_question() {
    let person = Arc::new(Person::default());
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let (result, ()) = tokio::join!(w.call("t", json!({})), async {
        settle().await;
        w.cx.cancellation.request();
        settle().await;
        w.clock.advance(Duration::from_secs(5));
    });
    assert_eq!(code(&result), "CANCELLED");
    assert!(w.kinds().await.contains(&"question.withdrawn".to_string()));
}

#[tokio::test]
async fn a_deny_meanwhile_beats_the_yes() {
    for (expected, change) in [
        ("TOOL_NOT_ALLOWED", (|p: &mut PolicyInput| p.disabled = vec!["t".into()]) as fn(&mut PolicyInput)),
        ("PERMISSION_ERROR", |p| p.denied_overrides = vec!["t".into()]),
    ] {
        let mut w = World::new().tool("t", asks(), echo());
        let policy = Arc::clone(&w.policy);
        let mut person = Person::says([yes()]);
        person.meanwhile = Some(Box::new(move || {
            let mut input = policy.read().input().clone();
            change(&mut input);
            policy.replace(LivePolicy::new(input));
        }));
        w.person = Some(Arc::new(person));
        assert_eq!(code(&w.call("t", json!({})).await), expected);
        assert!(!w.kinds().await.contains(&"tool.started".to_string()));
    }
}

#[tokio::test]
async fn policies_deny_and_masters_need_not_be_asked() {
    let mut w = World::new().tool("w", writes(), echo()).tool("t", asks(), echo());
    w.set_policy(|p| p.approval.write_mode = crate::config::Mode::Deny);
    let denied = w.call("w", json!({})).await;
    assert_eq!((code(&denied), &error(&denied).details["policy"]), ("PERMISSION_ERROR", &json!("approval.write_mode")));
    let given = w.turn().execute_one(ToolUse::new("c", "w", json!({})), &w.cx, Some("c")).await;
    assert_eq!(code(&given), "PERMISSION_ERROR");
    w.set_policy(|p| {
        p.approval.auto_approve_master = true;
        p.access.masters = vec!["telegram:7".into()];
    });
    assert!(!w.call("t", json!({})).await.is_error);
    let started = w.events().await.into_iter().rfind(|(k, _)| k == "tool.started").unwrap();
    assert_eq!(started.1["reason"], json!("auto_master"));
    w.person = None;
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let count = body(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { ToolResult::text("ran") }
    });
    let person = Arc::new(Person::says([yes()]));
    let w = World::new().tool("w", writes(), Arc::clone(&count)).tool("t", asks(), count).person(&person);
    w.store.close().await.unwrap();
    assert_eq!(code(&w.call("w", json!({})).await), "JOURNAL_UNAVAILABLE");
    assert_eq!(code(&w.call("t", json!({})).await), "JOURNAL_UNAVAILABLE");
    assert_eq!((runs.load(Ordering::SeqCst), person.asked.lock().unwrap().len()), (0, 0));
}

/// What a platform says, as long as it says it.
struct Holds(Mutex<Vec<String>>);

#[async_trait]
impl Membership for Holds {
    async fn held(&self) -> Result<Vec<String>, String> {
        Ok(self.0.lock().unwrap().clone())
    }
}

#[tokio::test]
async fn a_permission_of_the_platform_that_was_taken_away_counts_no_more() {
    let mut def = asks();
    def.options.permissions = vec!["platform(telegram, administrator)".into()];
    let holds = Arc::new(Holds(Mutex::new(vec!["administrator".into()])));
    let mut w = World::new().tool("t", def, echo());
    w.facts.conversation.scope = plugin_sdk::Scope::Group;
    w.facts.platform_permissions = Some(Ok(vec!["administrator".into()]));
    w.member = Some(holds.clone());
    let mut person = Person::says([yes(), yes()]);
    let taken = holds.clone();
    let times = AtomicUsize::new(0);
    person.meanwhile = Some(Box::new(move || {
        if times.fetch_add(1, Ordering::SeqCst) == 1 {
            taken.0.lock().unwrap().clear();
        }
    }));
    w.person = Some(Arc::new(person));
    let executor = w.turn();
    let run = async |id: &str| executor.execute_one(ToolUse::new(id, "t", json!({"id": id})), &w.cx, None).await;
    assert!(!run("c1").await.is_error);
    assert_eq!(code(&run("c2").await), "TOOL_NOT_ALLOWED", "taken away while the card waited");
    assert_eq!(code(&run("c3").await), "TOOL_NOT_ALLOWED", "and before a call");
    let started = w.kinds().await.iter().filter(|k| *k == "tool.started").count();
    assert_eq!(started, 1);
}

#[tokio::test]
async fn whoever_is_let_in_no_more_runs_nothing_more() {
    let w = World::new().tool("t", reads(), echo());
    w.set_policy(|p| p.access.users = vec!["telegram:7".into()]);
    let executor = w.turn();
    let run = async |id: &str| executor.execute_one(ToolUse::new(id, "t", json!({"id": id})), &w.cx, None).await;
    assert!(!run("c1").await.is_error);
    w.set_policy(|p| p.access.users.clear());
    let refused = run("c2").await;
    assert_eq!((code(&refused), &error(&refused).details["because"]), ("TOOL_NOT_ALLOWED", &json!("access")));
    // Whom the command line speaks for was never let in by a list.
    assert!(!w.call("t", json!({})).await.is_error);
}

#[tokio::test]
async fn secrets_are_masked_wherever_the_schema_says_so() {
    let secret = json!({"type": "string", "x-secret": true});
    let def = asks().input_schema(json!({
        "type": "object",
        "$defs": {"login": {"type": "object", "properties": {"pin": secret, "next": {"$ref": "#/$defs/login"}}}},
        "properties": {
            "login": {"$ref": "#/$defs/login"},
            "either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/login/properties/pin"}]},
            "list": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/login"}]}},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, secret]},
            "map": {"type": "object", "additionalProperties": secret},
            "plain": {"type": "string"},
        },
    }));
    let person = Arc::new(Person::says([yes()]));
    let w = World::new().tool("t", def, echo()).person(&person);
    let arguments = json!({
        "login": {"pin": "s1", "next": {"pin": "s2", "next": {"pin": "s3"}}},
        "either": "s4", "list": [{"pin": "s5"}], "pair": ["seen", "s6"], "map": {"k": "s7"}, "plain": "shown",
    });
    let result = w.call("t", arguments).await;
    assert!(!result.is_error, "{result:?}");
    let shown = person.asked.lock().unwrap()[0].shown.join("\n");
    assert!(!(1..=7).any(|n| shown.contains(&format!("s{n}\""))), "{shown}");
    assert!(shown.contains("seen") && shown.contains("shown") && shown.matches("•••").count() == 7, "{shown}");
    assert!(result.model_content().contains("s3"), "the body gets them");
}

#[tokio::test]
async fn a_card_and_its_record_hold_no_secret_but_the_body_gets_it() {
    let person = Arc::new(Person::says([yes()]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    w.redactor.register("s3cr3t-w0rt");
    let input = json!({"header": {"key": "x s3cr3t-w0rt"}});
    let hash = crate::index::sha256_hex(crate::index::canonical_json(&input));
    let result = w.call("t", input).await;
    assert!(!result.is_error, "{result:?}");
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked[0].arguments["header"], json!({"key": "x [redacted]"}));
    assert_eq!(asked[0].shown, ["header: {\"key\":\"x [redacted]\"}"]);
    assert_eq!(asked[0].call.args_hash, hash, "the yes is bound to the real arguments");
}

#[tokio::test]
async fn nothing_on_a_card_passes_for_nothing() {
    let person = Arc::new(Person::says([yes()]));
    let w = World::new().tool("t", asks(), echo()).person(&person);
    let hidden = "\u{2800}\u{fe0f}\u{e0100}\u{17b4}\u{1d173}\u{13430}\u{1bca0}\u{a0}\u{2003}\u{202f}\u{205f}\u{3000}";
    w.call("t", json!({"a": hidden, "b": format!("x{}y{}z", " ".repeat(8), " ".repeat(300))})).await;
    let asked = person.asked.lock().unwrap();
    assert!(asked[0].shown[0].is_ascii(), "{}", asked[0].shown[0]);
    assert_eq!(asked[0].shown[0].matches("\\u").count(), 12 + 4, "four of them take two halves");
    assert_eq!(asked[0].shown[1], "b: \"x        y\u{27e8}300 spaces\u{27e9}z\"");
}
