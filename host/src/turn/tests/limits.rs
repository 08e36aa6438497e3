use super::fixture::{Step, Table, calling, codes, ending, text};
use crate::model::{ModelEvent, ModelMessage, StopReason, ToolChoice};
use crate::task::Tasks;
use crate::tools::testing::{World, ann};
use crate::turn::{Budget, FailCode, TurnOutcome, run};
use async_trait::async_trait;
use plugin_sdk::ports::{Answer, AnswerSource, Ask, Question};
use plugin_sdk::{Callable, ToolDef, ToolError, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

fn world() -> World {
    World::new().shaped("lab", "echo", "Say it", |d| d.options.always_loaded = true)
}

fn echo(id: &str, city: &str) -> Step {
    calling(&[(id, "lab__echo", json!({"city": city}))])
}

#[tokio::test]
async fn the_last_step_may_not_call_and_says_so() {
    let world = world().configured(|b| b.agent.max_iterations = 2);
    let (report, requests) = Table::new(world).run(&ann(), "hi", vec![echo("a", "x"), text("enough")]).await;
    assert_eq!((report.outcome, report.text.as_str()), (TurnOutcome::Completed, "enough"));
    assert_eq!(requests[0].tool_choice, ToolChoice::Auto);
    assert_eq!(requests[1].tool_choice, ToolChoice::None);
    let Some(ModelMessage::User { text, .. }) = requests[1].messages.last() else { panic!("no note") };
    assert!(text.contains("limit reached, answer now"));
}

#[tokio::test]
async fn no_text_in_the_last_step_is_budget_exceeded() {
    let world = world().configured(|b| b.agent.max_iterations = 2);
    let (report, _) = Table::new(world).run(&ann(), "hi", vec![echo("a", "x"), echo("b", "y")]).await;
    assert_eq!(report.outcome, TurnOutcome::BudgetExceeded { what: Budget::Steps });
    assert!(report.text.contains("limit of steps"));
    assert_eq!(report.tool_calls.len(), 1);
}

#[tokio::test]
async fn equal_calls_are_blocked_and_the_second_block_ends_the_turn() {
    let script = (0..5).map(|i| echo(&format!("c{i}"), "same")).collect();
    let (report, _) = Table::new(world()).run(&ann(), "hi", script).await;
    assert_eq!(codes(&report), ["-", "-", "-", "LOOP_BLOCKED", "LOOP_BLOCKED"]);
    assert_eq!(report.outcome, TurnOutcome::Failed { code: FailCode::LoopGuard, retryable: false });
}

#[tokio::test]
async fn the_clock_ends_a_silent_model_and_keeps_the_text_so_far() {
    let table = Table::new(world());
    let said = ending(
        vec![ModelEvent::Text("Let me see.".into()), super::fixture::raw_call("a", "lab__echo", "{}")],
        StopReason::ToolUse,
    );
    let (cx, model) = table.turn("k", &ann(), "hi", vec![said, Step::Hangs]);
    let running = Tasks::new().spawn("turn", run(cx));
    while model.requests.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    while table.clock.sleepers() == 0 {
        tokio::task::yield_now().await;
    }
    table.advance(121);
    let report = running.await.unwrap();
    assert_eq!(report.outcome, TurnOutcome::BudgetExceeded { what: Budget::Time });
    assert!(report.text.starts_with("Let me see.\n\n"), "{}", report.text);
}

/// Moves the clock while it is asked.
struct Slow(crate::task::ManualClock);

#[async_trait]
impl Ask for Slow {
    async fn ask(&self, _question: Question) -> Result<Answer, ToolError> {
        self.0.advance(Duration::from_secs(1000));
        Ok(Answer { answer: "Paris".into(), option_index: None, source: AnswerSource::Person })
    }
}

#[tokio::test]
async fn the_clock_stands_while_a_person_is_asked() {
    let mut table = Table::new(world());
    table.question = Some(Arc::new(Slow(table.clock.clone())));
    let script = vec![calling(&[("a", "ask_question", json!({"question": "Where?"}))]), text("Paris it is")];
    let (report, requests) = table.run(&ann(), "hi", script).await;
    assert_eq!((report.outcome, report.text.as_str()), (TurnOutcome::Completed, "Paris it is"));
    assert_eq!(report.questions.len(), 1);
    assert_eq!(report.questions[0].answer.as_deref(), Some("Paris"));
    assert!(requests[0].tools.iter().any(|t| &*t.wire == "ask_user"));
    assert_eq!(report.tool_calls[0].tool, "ask_user");
}

/// Waits for the turn to be stopped.
struct Waits;

#[async_trait]
impl Callable for Waits {
    async fn call(&self, _input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        cx.cancellation.cancelled().await;
        ToolResult::text("stopped in time")
    }
}

#[tokio::test]
async fn a_stop_inside_a_call_keeps_the_history_paired() {
    let mut def = ToolDef::new("Waits").capabilities([]).requires_approval(plugin_sdk::Approval::Never);
    def.options.always_loaded = true;
    let table = Table::new(World::new().running("lab", "wait", def, Arc::new(Waits)));
    let script = vec![calling(&[("a", "lab__wait", json!({})), ("b", "lab__wait", json!({}))])];
    let (cx, model) = table.turn("k", &ann(), "hi", script);
    let stop = cx.ports.stop.clone();
    let running = Tasks::new().spawn("turn", run(cx));
    while model.requests.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    stop.request(crate::turn::CancelledBy::Person);
    let report = running.await.unwrap();
    assert_eq!(report.outcome.as_str(), "cancelled");
    let history = table.sessions().history(&crate::session::SessionKey::from_text("k")).await.unwrap();
    assert!(crate::session::is_sendable(&history));
}

#[tokio::test]
async fn the_tokens_of_a_day_end_turns_before_their_request_and_are_announced_once() {
    // a step uses 12 tokens
    let world = world().configured(|b| b.limits.tokens_per_user_per_day = 30);
    let table = Table::new(world);
    let (first, _) = table.run(&ann(), "one", vec![text("first")]).await;
    assert_eq!(first.text, "first");
    let (near, _) = table.run(&ann(), "two", vec![text("second")]).await;
    assert!(near.text.starts_with("second\n\n") && near.text.contains("80 %"), "{}", near.text);
    let (over, requests) = table.run(&ann(), "three", vec![text("third"), text("-")]).await;
    assert_eq!((over.text.as_str(), requests.len()), ("third", 1), "told once a day, and 24 of 30 are not all");
    let (over, requests) = table.run(&ann(), "four", Vec::new()).await;
    assert_eq!(over.outcome, TurnOutcome::BudgetExceeded { what: Budget::Tokens });
    assert!(requests.is_empty() && over.text.contains("limit of tokens"), "{}", over.text);
    let mut other = ann();
    other.principal.user_id = "43".into();
    let (other, _) = table.run(&other, "five", vec![text("fifth")]).await;
    assert_eq!(other.outcome, TurnOutcome::Completed, "everybody has a day of their own");
    table.advance(86_400);
    let (next, _) = table.run(&ann(), "six", vec![text("sixth")]).await;
    assert_eq!(next.outcome, TurnOutcome::Completed);
}

#[tokio::test]
async fn a_step_inside_a_turn_is_refused_too_and_keeps_the_text() {
    let world = world().configured(|b| b.limits.tokens_per_user_per_day = 10);
    let said = ending(
        vec![ModelEvent::Text("Let me see.".into()), super::fixture::raw_call("a", "lab__echo", "{}")],
        StopReason::ToolUse,
    );
    let (report, requests) = Table::new(world).run(&ann(), "hi", vec![said]).await;
    assert_eq!(report.outcome, TurnOutcome::BudgetExceeded { what: Budget::Tokens });
    assert_eq!(requests.len(), 1);
    assert!(report.text.starts_with("Let me see.\n\n"), "{}", report.text);
}

#[tokio::test]
async fn a_panic_of_the_hosts_own_code_ends_the_turn_and_nothing_else() {
    let table = Table::new(world());
    let (report, _) = table.run(&ann(), "hi", Vec::new()).await;
    assert_eq!(report.outcome, TurnOutcome::Failed { code: FailCode::Internal, retryable: false });
    assert!(report.text.contains(&report.turn_id) && !report.text.contains("script"), "{}", report.text);
    let (next, _) = table.run(&ann(), "hi", vec![text("fine")]).await;
    assert_eq!(next.text, "fine");
}
