//! The port a turn's tools ask through, and the yes or no of an approval.

use super::words::{fault_of, value_of};
use super::{AskedIn, Asking, QuestionEnd, Questions, Wanted};
use crate::config::Redactor;
use crate::session::fresh_id;
use async_trait::async_trait;
use plugin_sdk::ToolError;
use plugin_sdk::ports::{Answer, AnswerSource, Ask, Question, QuestionKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Characters of a question somebody else than the model asks.
const EXTERNAL_CHARS: usize = 1000;
/// Questions of one call of a plugin or server.
const EXTERNAL_ASKS: usize = 3;
/// A field that asks for one of these by name is declined when a plugin or server asks it.
const SECRET_WORDS: [&str; 6] = ["password", "token", "secret", "key", "apikey", "card"];

/// Asks the person of one turn.
pub struct QuestionPort {
    questions: Questions,
    asked_in: AskedIn,
    redactor: Arc<Redactor>,
    asker: Option<String>,
    asked: AtomicUsize,
}

impl QuestionPort {
    /// The port of a turn.
    pub fn new(questions: Questions, asked_in: AskedIn, redactor: Arc<Redactor>) -> Self {
        Self { questions, asked_in, redactor, asker: None, asked: AtomicUsize::new(0) }
    }

    /// The port for one call of `owner`'s code: the question says who asks, and narrower bounds hold.
    #[must_use]
    pub fn external(&self, owner: &str) -> Self {
        Self {
            questions: self.questions.clone(),
            asked_in: self.asked_in.clone(),
            redactor: Arc::clone(&self.redactor),
            asker: Some(owner.to_owned()),
            asked: AtomicUsize::new(0),
        }
    }

    /// Asks whether a call may run.
    pub async fn approve(&self, asking: Asking) -> QuestionEnd {
        self.questions.ask(&self.asked_in, asking).await
    }

    fn asking(&self, wanted: Wanted, question: &Question) -> Asking {
        let texts = &self.asked_in.showing.texts;
        let text = question.question.trim();
        Asking {
            id: fresh_id(),
            wanted,
            text: match &self.asker {
                // Fenced: no mark and no link of it is live, and nothing in it ends the fence.
                Some(asker) => {
                    let by = texts.get("question-external", &[("owner", asker)]);
                    format!("{by}\n```\n{}\n```", text.replace("```", "\u{2032}\u{2032}\u{2032}"))
                }
                None => text.to_owned(),
            },
            options: question.options.iter().map(|option| option.trim().to_owned()).collect(),
            asker: self.asker.clone(),
            call: None,
            attachment: None,
            notify: Vec::new(),
            timeout: Duration::from_secs(question.timeout_seconds),
        }
    }

    fn is_secret(&self, answer: &str) -> bool {
        self.redactor.redact(answer) != answer
    }

    fn refuse_external(&self, question: &Question) -> Result<(), ToolError> {
        if self.asker.is_none() {
            return Ok(());
        }
        let refused = |why: &str| Err(ToolError::new("QUESTION_REFUSED", why));
        if question.question.trim().chars().count() > EXTERNAL_CHARS {
            return refused("a plugin's question may have 1000 characters");
        }
        let typed = matches!(question.kind, QuestionKind::Text | QuestionKind::Number);
        if typed && names_a_secret(&question.question) {
            return refused("a plugin may not ask a person for a secret");
        }
        if self.asked.fetch_add(1, Ordering::SeqCst) >= EXTERNAL_ASKS {
            return refused("one call may ask 3 questions");
        }
        Ok(())
    }
}

#[async_trait]
impl Ask for QuestionPort {
    async fn ask(&self, question: Question) -> Result<Answer, ToolError> {
        if let Some(fault) = fault_of(&question) {
            return Err(ToolError::new("VALIDATION_ERROR", fault).retryable());
        }
        self.refuse_external(&question)?;
        let asking = self.asking(question.kind.into(), &question);
        match self.questions.ask(&self.asked_in, asking).await {
            QuestionEnd::Answered { answer, .. } if self.asker.is_some() && self.is_secret(&answer) => {
                Err(ToolError::new("QUESTION_REFUSED", "the answer is a secret of the host and was not passed on"))
            }
            QuestionEnd::Answered { answer, index, .. } => {
                Ok(Answer { answer, option_index: index, source: AnswerSource::Person })
            }
            QuestionEnd::Expired => unanswered(&question),
            QuestionEnd::Cancelled => Err(ToolError::new("QUESTION_CANCELLED", "the person ended the question")),
            QuestionEnd::Withdrawn => Err(ToolError::new("QUESTION_CANCELLED", "the turn was stopped")),
            QuestionEnd::Busy => Err(ToolError::new("QUESTION_BUSY", "too many questions are open already")),
            QuestionEnd::Unavailable(why) => Err(ToolError::new("QUESTION_UNAVAILABLE", why)),
            QuestionEnd::Unrecorded(why) => {
                let message = "the question could not be recorded, so it was not asked";
                Err(ToolError::new("JOURNAL_UNAVAILABLE", message).detail("cause", why))
            }
        }
    }

    fn for_owner(&self, owner: &str) -> Option<Arc<dyn Ask>> {
        Some(Arc::new(self.external(owner)))
    }
}

fn unanswered(question: &Question) -> Result<Answer, ToolError> {
    if let Some((answer, option_index)) = question.default_value.as_ref().and_then(|d| value_of(question, d)) {
        return Ok(Answer { answer, option_index, source: AnswerSource::Default });
    }
    if question.kind == QuestionKind::Confirm {
        return Ok(Answer { answer: "no".into(), option_index: None, source: AnswerSource::Timeout });
    }
    Err(ToolError::new("QUESTION_TIMEOUT", "nobody answered in time"))
}

/// Whether a text asks for a secret by name, one or several.
pub(super) fn names_a_secret(text: &str) -> bool {
    let is =
        |word: &str| SECRET_WORDS.contains(&word) || word.strip_suffix('s').is_some_and(|w| SECRET_WORDS.contains(&w));
    words_of(text).iter().any(|word| is(word))
}

/// Lower-case words, also those inside `apiKey`, `APIKey` and `api_key`.
fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_acronym = chars.peek().is_some_and(|next| next.is_lowercase());
        let new = !c.is_alphanumeric() || (c.is_uppercase() && (before_lower || ends_acronym));
        before_lower = c.is_lowercase();
        if new {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}
