//! `ask_user`: the rules of a question that a schema cannot say, then the turn's port.

use async_trait::async_trait;
use plugin_sdk::ports::{Question, QuestionKind};
use plugin_sdk::{Callable, ToolError, ToolExecutionContext, ToolResult};
use serde_json::{Map, Value, json};

const DEFAULT_TIMEOUT_SECONDS: u64 = 120;

pub(super) struct AskUser;

#[async_trait]
impl Callable for AskUser {
    async fn call(&self, input: Map<String, Value>, cx: &ToolExecutionContext) -> ToolResult {
        let question = match parse(&input) {
            Ok(question) => question,
            Err(error) => return ToolResult::error(error),
        };
        match cx.ask(question).await {
            Ok(answer) => {
                let data = json!({
                    "answer": answer.answer,
                    "option_index": answer.option_index,
                    "source": answer.source,
                });
                ToolResult::text(answer.answer).with_data(data)
            }
            Err(error) => ToolResult::error(error),
        }
    }

    /// The question has a deadline of its own; the person's time is not the tool's.
    fn owns_timeout(&self) -> bool {
        true
    }
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new("VALIDATION_ERROR", message).retryable()
}

/// A checked question.
pub(super) fn parse(input: &Map<String, Value>) -> Result<Question, ToolError> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::trim);
    let listed = input.get("options").and_then(Value::as_array);
    let options: Vec<String> =
        listed.into_iter().flatten().filter_map(Value::as_str).map(|o| o.trim().to_string()).collect();
    let kind = match text("type") {
        Some("number") => QuestionKind::Number,
        Some("confirm") => QuestionKind::Confirm,
        Some("pick") => QuestionKind::Pick,
        Some("text") => QuestionKind::Text,
        _ if options.is_empty() => QuestionKind::Text,
        _ => QuestionKind::Pick,
    };
    let question = Question {
        question: text("question").unwrap_or_default().to_string(),
        kind,
        options,
        default_value: text("default_value").map(str::to_string),
        timeout_seconds: input.get("timeout_seconds").and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT_SECONDS),
    };
    check(&question)?;
    Ok(question)
}

fn check(question: &Question) -> Result<(), ToolError> {
    if question.question.is_empty() {
        return Err(invalid("question is blank"));
    }
    if question.kind == QuestionKind::Pick {
        check_options(&question.options)?;
    } else if !question.options.is_empty() {
        return Err(invalid("options belong to a pick"));
    }
    match &question.default_value {
        Some(value) if !is_answer(question, value) => Err(invalid("default_value is no valid answer")),
        _ => Ok(()),
    }
}

fn check_options(options: &[String]) -> Result<(), ToolError> {
    if !(2..=20).contains(&options.len()) {
        return Err(invalid("a pick has 2 to 20 options"));
    }
    if options.iter().any(String::is_empty) {
        return Err(invalid("an option is blank"));
    }
    let repeated = options.iter().enumerate().any(|(i, o)| options.iter().skip(i + 1).any(|p| p == o));
    if repeated { Err(invalid("an option is repeated")) } else { Ok(()) }
}

fn is_answer(question: &Question, value: &str) -> bool {
    match question.kind {
        QuestionKind::Text => !value.is_empty(),
        QuestionKind::Number => value.parse::<f64>().is_ok_and(f64::is_finite),
        QuestionKind::Confirm => matches!(value, "yes" | "no"),
        QuestionKind::Pick => question.options.iter().any(|o| o == value),
    }
}
