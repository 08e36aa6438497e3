use super::fixture::{Step, Table, calling, codes, ending, raw_call, text};
use crate::model::{ModelError, ModelEvent, ModelMessage, StopReason};
use crate::session::SessionKey;
use crate::task::Tasks;
use crate::tools::testing::{World, ann};
use crate::turn::{CancelledBy, FailCode, TurnOutcome, run};
use serde_json::json;

fn world() -> World {
    World::new().shaped("lab", "echo", "Say it", |d| d.options.always_loaded = true)
}

async fn ends(script: Vec<Step>) -> (TurnOutcome, String) {
    let (report, _) = Table::new(world()).run(&ann(), "hi", script).await;
    (report.outcome, report.text)
}

fn failed(code: FailCode, retryable: bool) -> TurnOutcome {
    TurnOutcome::Failed { code, retryable }
}

#[tokio::test]
async fn text_completes_and_blank_text_has_a_sentence() {
    assert_eq!(ends(vec![text("Hello")]).await, (TurnOutcome::Completed, "Hello".into()));
    assert_eq!(ends(vec![text(" ")]).await, (TurnOutcome::Completed, "I have nothing to add.".into()));
}

#[tokio::test]
async fn failures_of_the_model_have_a_sentence_with_the_turn() {
    let (outcome, said) = ends(vec![Step::Fails(ModelError::Unavailable("secret body".into()))]).await;
    assert_eq!(outcome, failed(FailCode::ModelUnavailable, true));
    assert!(said.contains("t1") && !said.contains("secret body"));
    let (outcome, _) = ends(vec![Step::Fails(ModelError::Rejected("400".into()))]).await;
    assert_eq!(outcome, failed(FailCode::ModelRejected, false));
    let (outcome, _) = ends(vec![Step::Fails(ModelError::TooLong)]).await;
    assert_eq!(outcome, failed(FailCode::ContextOverflow, false));
}

#[tokio::test]
async fn a_refusal_fails_unless_text_came() {
    let refused = |events| vec![ending(events, StopReason::Refusal)];
    assert_eq!(ends(refused(vec![])).await.0, failed(FailCode::ModelRefused, false));
    assert_eq!(ends(refused(vec![ModelEvent::Text("No.".into())])).await, (TurnOutcome::Completed, "No.".into()));
}

#[tokio::test]
async fn calls_cut_by_length_are_not_run_and_two_repeats_are_all() {
    let cut = || ending(vec![raw_call("a", "lab__echo", "{\"city\": \"Par")], StopReason::Length);
    let table = Table::new(world());
    let (report, requests) = table.run(&ann(), "hi", vec![cut(), cut(), cut()]).await;
    assert_eq!(report.outcome, failed(FailCode::ModelTruncated, true));
    assert_eq!(codes(&report), ["MODEL_TRUNCATED", "MODEL_TRUNCATED"]);
    let ModelMessage::Assistant { calls, .. } = &requests[1].messages[1] else { panic!("no assistant") };
    assert_eq!(calls[0].arguments, "{}");
    let (outcome, _) = ends(vec![ending(vec![], StopReason::Length), text("short")]).await;
    assert_eq!(outcome, TurnOutcome::Completed);
    let (outcome, said) = ends(vec![ending(vec![ModelEvent::Text("long".into())], StopReason::Length)]).await;
    assert_eq!(outcome, TurnOutcome::Completed);
    assert!(said.starts_with("long\n\n") && said.len() > 10);
}

#[tokio::test]
async fn of_a_cut_answer_of_very_many_calls_few_are_kept() {
    let table = Table::new(world());
    let calls = (0..900).map(|n| raw_call(&format!("c{n}"), "maps__get-weather", "{}")).collect();
    let (report, requests) = table.run(&ann(), "hi", vec![ending(calls, StopReason::Length), text("short")]).await;
    assert_eq!(codes(&report), vec!["MODEL_TRUNCATED"; 20]);
    assert_eq!(report.outcome, TurnOutcome::Completed);
    let again = format!("{:?}", requests[1].messages);
    assert_eq!(again.matches("further calls of it are not shown").count(), 20);
    assert!(again.contains("(880 further calls") && requests[1].messages.len() == 22);
}

#[tokio::test]
async fn a_prompt_that_cannot_fit_makes_no_request() {
    let world = world().configured(|b| b.agent.system_prompt_max_chars = 50);
    let (report, requests) = Table::new(world).run(&ann(), "hi", vec![]).await;
    assert_eq!(report.outcome, failed(FailCode::PromptOverflow, false));
    assert!(requests.is_empty());
    assert_eq!(report.prompt["budget"], 50);
    assert!(report.prompt["blocks"].as_array().is_some_and(|b| !b.is_empty()));
}

#[tokio::test]
async fn a_stop_ends_a_turn_before_the_first_byte() {
    for (by, said) in [(CancelledBy::Person, "Stopped."), (CancelledBy::Superseded, "")] {
        let table = Table::new(world());
        let (cx, model) = table.turn("k", &ann(), "hi", vec![Step::Hangs]);
        let stop = cx.ports.stop.clone();
        let running = Tasks::new().spawn("turn", run(cx));
        while model.requests.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        stop.request(by);
        let report = running.await.unwrap();
        assert_eq!(report.outcome, TurnOutcome::Cancelled { by });
        assert_eq!(report.text, said);
        // the message stays in the history
        assert_eq!(table.sessions().history(&SessionKey::from_text("k")).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_store_that_is_closed_fails_the_turn() {
    let table = Table::new(world());
    table.store.close().await.unwrap();
    let (report, requests) = table.run(&ann(), "hi", vec![]).await;
    assert_eq!(report.outcome, failed(FailCode::JournalUnavailable, true));
    assert!(requests.is_empty());
}

#[tokio::test]
async fn wrong_calls_get_their_code_and_the_turn_goes_on() {
    let table = Table::new(world().shaped(".", "ghost", "Hidden", |d| d.options.hidden = true).shaped(
        ".",
        "safe",
        "Masters",
        |d| d.options.permissions = vec!["role(master)".into()],
    ));
    let events = vec![
        raw_call("a", "nothing", "{}"),
        raw_call("b", "ghost", "{}"),
        raw_call("c", "safe", "{}"),
        raw_call("d", "lab__echo", "[1"),
        raw_call("e", "lab__echo", "{\"city\": 5}"),
        raw_call("f", "lab__echo", "\"{\\\"city\\\": \\\"x\\\"}\""),
        raw_call("", "lab__echo", ""),
        raw_call("a", "lab__echo", "{}"),
    ];
    let (report, requests) = table.run(&ann(), "hi", vec![ending(events, StopReason::ToolUse), text("done")]).await;
    assert_eq!(
        codes(&report),
        ["NOT_FOUND", "TOOL_NOT_ALLOWED", "TOOL_NOT_ALLOWED", "MALFORMED_ARGUMENTS", "VALIDATION_ERROR", "-", "-", "-"]
    );
    assert_eq!((report.outcome, report.text.as_str()), (TurnOutcome::Completed, "done"));
    let ids: Vec<&str> = report.tool_calls.iter().map(|c| c.call_id.as_str()).collect();
    assert_eq!(ids[6..], ["call_1_6", "call_1_7"]);
    let results = requests[1].messages.iter().filter(|m| matches!(m, ModelMessage::Tool { .. })).count();
    assert_eq!(results, 8);
}

#[tokio::test]
async fn only_the_first_answer_of_the_offline_model_has_the_footer() {
    let mut table = Table::new(world());
    table.offline = true;
    let (first, _) = table.run(&ann(), "hi", vec![text("a")]).await;
    let (second, _) = table.run(&ann(), "hi", vec![text("b")]).await;
    assert!(first.footer.unwrap().contains("offline responder"));
    assert_eq!((second.footer, first.text.as_str()), (None, "a"));
}

#[tokio::test]
async fn without_a_question_port_ask_user_is_not_offered() {
    let table = Table::new(world());
    let (report, requests) =
        table.run(&ann(), "hi", vec![calling(&[("a", "ask_user", json!({"question": "?"}))]), text("ok")]).await;
    assert!(!requests[0].tools.iter().any(|t| &*t.wire == "ask_user"));
    assert_eq!(codes(&report), ["TOOL_NOT_ALLOWED"]);
}
