//! What to do next, from what is done: search, load, fill, ask, call, say.

use super::done::{Done, done};
use super::fill::{Filled, Form, Property};
use crate::config::Texts;
use crate::index::{ItemId, ItemKind, RankItem, Ranking, params_of, query_terms};
use crate::model::{ModelRequest, ModelTool, ToolChoice};
use serde_json::{Value, json};

/// Longest answer taken over from a result.
const MAX_RESULT: usize = 4000;
/// Most questions of one turn.
const MAX_QUESTIONS: usize = 5;
/// Longest question.
const MAX_QUESTION: usize = 4000;
const DISCOVER: &str = "discover";
const LOAD_TOOL: &str = "load_tool";
const LOAD_SKILL: &str = "load_skill";
const TOOL_SEARCH: &str = "tool_search";
const ASK: &str = "ask_user";
const GREETINGS: [&str; 15] = [
    "hi",
    "hello",
    "hey",
    "help",
    "start",
    "thanks",
    "thank you",
    "你好",
    "您好",
    "嗨",
    "在吗",
    "谢谢",
    "帮助",
    "你会什么",
    "你能做什么",
];

/// One step of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Text, and the turn ends.
    Say(String),
    /// A call.
    Call { name: String, arguments: Value },
}

/// The request and what its turn has done.
pub(super) struct Plan<'a> {
    request: &'a ModelRequest,
    text: &'a str,
    done: Vec<Done>,
}

impl<'a> Plan<'a> {
    pub(super) fn of(request: &'a ModelRequest) -> Self {
        Self { request, text: request.user_text.trim(), done: done(request) }
    }

    pub(super) fn next(&self) -> Act {
        if self.done.is_empty() && is_greeting(self.text) {
            return Act::Say(self.request.help_text.to_string());
        }
        if self.request.tool_choice == ToolChoice::None {
            return match self.done.last() {
                Some(last) if self.meta(&last.name).is_none() => self.result(last),
                // It was still looking: no answer, so that the person is told of the limit.
                Some(_) => Act::Say(String::new()),
                None => self.no_tool(),
            };
        }
        match self.done.last() {
            None => self.search(),
            Some(last) => self.after(last),
        }
    }

    fn search(&self) -> Act {
        if self.has(DISCOVER) {
            return call(DISCOVER, json!({"query": self.text, "kind": "tool"}));
        }
        if self.has(TOOL_SEARCH) {
            return call(TOOL_SEARCH, json!({"queries": [self.text]}));
        }
        let tools = self.request.tools.iter().filter(|t| !t.meta).collect();
        self.use_best(tools)
    }

    fn after(&self, last: &Done) -> Act {
        match last.name.as_str() {
            DISCOVER if last.is_error => self.result(last),
            DISCOVER if last.asked("kind") == Some("skill") => match found(last, "skill", |_| true) {
                Some(skill) => call(LOAD_SKILL, json!({"name": skill})),
                None => self.no_tool(),
            },
            DISCOVER => match found(last, "tool", |name| self.meta(name).is_none()) {
                Some(name) => self.load_or_use(name),
                None if self.has(LOAD_SKILL) => call(DISCOVER, json!({"query": self.text, "kind": "skill"})),
                None => self.no_tool(),
            },
            LOAD_TOOL | LOAD_SKILL | TOOL_SEARCH if last.is_error => self.result(last),
            LOAD_SKILL => self.use_best(self.unlocked(last)),
            LOAD_TOOL | TOOL_SEARCH | ASK => match self.chosen() {
                Some(tool) => self.fill(tool),
                None => self.no_tool(),
            },
            _ => self.result(last),
        }
    }

    fn load_or_use(&self, name: &str) -> Act {
        match self.sent(name) {
            Some(tool) => self.fill(tool),
            None if self.has(LOAD_TOOL) => call(LOAD_TOOL, json!({"name": name})),
            None => self.no_tool(),
        }
    }

    /// The tool this turn has settled on: what was loaded or found last, as far as it may be called.
    fn chosen(&self) -> Option<&'a ModelTool> {
        self.done
            .iter()
            .rev()
            .find_map(|d| match d.name.as_str() {
                LOAD_TOOL => self.sent(d.asked("name")?),
                TOOL_SEARCH => self.sent(d.list("tools").first()?.get("name")?.as_str()?),
                LOAD_SKILL => self.best(&self.unlocked(d)),
                DISCOVER => self.sent(found(d, "tool", |name| self.meta(name).is_none())?),
                _ => None,
            })
            .or_else(|| self.best(&self.request.tools.iter().filter(|t| !t.meta).collect::<Vec<_>>()))
    }

    fn unlocked(&self, skill: &Done) -> Vec<&'a ModelTool> {
        skill.list("unlocked").iter().filter_map(|name| self.sent(name.as_str()?)).collect()
    }

    fn use_best(&self, tools: Vec<&'a ModelTool>) -> Act {
        match self.best(&tools) {
            Some(tool) => self.fill(tool),
            None => self.no_tool(),
        }
    }

    fn best(&self, tools: &[&'a ModelTool]) -> Option<&'a ModelTool> {
        let ranking = Ranking::new(tools.iter().map(|t| rank_item(t)).collect());
        let (ItemId(first), _) = ranking.search(self.text, |_| true, 1).into_iter().next()?;
        tools.get(usize::try_from(first).ok()?).copied()
    }

    /// Fills the arguments, from the message and from the answers so far, and calls, asks or gives up.
    fn fill(&self, tool: &ModelTool) -> Act {
        let form = Form::of(tool);
        let mut filled = form.fill(self.text);
        let mut questions = 0;
        for answer in self.done.iter().filter(|d| d.name == ASK) {
            questions += 1;
            let Some(property) = form.missing(&filled) else { break };
            if answer.is_error {
                return self.missing(&form, &filled);
            }
            let text = answer.says("answer").unwrap_or(&answer.text).to_owned();
            form.answer(property, &text, &mut filled);
        }
        match form.missing(&filled) {
            None => call(&tool.wire, Value::Object(filled.arguments())),
            Some(property) if self.has(ASK) && questions < MAX_QUESTIONS => call(ASK, question(property)),
            Some(_) => self.missing(&form, &filled),
        }
    }

    fn missing(&self, form: &Form, filled: &Filled) -> Act {
        let names: Vec<&str> = form.all_missing(filled).into_iter().map(|p| p.name.as_str()).collect();
        self.say("offline-missing", &[("names", &names.join(", "))])
    }

    fn result(&self, last: &Done) -> Act {
        if !last.is_error {
            return Act::Say(cut(&last.text));
        }
        // The person said no: the executor's words to a model would only puzzle them.
        if last.text.starts_with("Error[APPROVAL_REJECTED]") {
            return self.say("offline-not-run", &[]);
        }
        self.say("offline-failed", &[("reason", &cut(in_words(&last.text)))])
    }

    fn no_tool(&self) -> Act {
        self.say("offline-no-tool", &[])
    }

    fn say(&self, key: &str, values: &[(&str, &str)]) -> Act {
        Act::Say(Texts::shared(self.request.language).get(key, values))
    }

    fn has(&self, name: &str) -> bool {
        self.meta(name).is_some()
    }

    /// A tool of the controller.
    fn meta(&self, name: &str) -> Option<&'a ModelTool> {
        self.sent(name).filter(|t| t.meta)
    }

    fn sent(&self, name: &str) -> Option<&'a ModelTool> {
        self.request.tools.iter().find(|t| &*t.qualified == name || &*t.wire == name)
    }
}

fn is_greeting(text: &str) -> bool {
    let plain = text.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    query_terms(text).is_empty() || GREETINGS.contains(&plain.trim())
}

/// Name of the first item of a kind that `fits`.
fn found<'d>(discovered: &'d Done, kind: &str, fits: impl Fn(&str) -> bool) -> Option<&'d str> {
    let items = discovered.list("items").iter();
    let of_kind = items.filter(|i| i.get("kind").and_then(Value::as_str) == Some(kind));
    of_kind.filter_map(|i| i.get("name")?.as_str()).find(|name| fits(name))
}

fn rank_item(tool: &ModelTool) -> RankItem {
    RankItem {
        kind: ItemKind::Tool,
        name: local_name(&tool.qualified).to_owned(),
        qualified: tool.qualified.to_string(),
        wire: tool.wire.to_string(),
        tags: tool.words.to_vec(),
        group: String::new(),
        description: tool.description.to_string(),
        params: params_of(&tool.schema),
    }
}

/// The last part of a qualified name.
pub(super) fn local_name(qualified: &str) -> &str {
    qualified.rsplit("__").next().unwrap_or(qualified)
}

fn question(property: &Property) -> Value {
    let text: String = property.question.chars().take(MAX_QUESTION).collect();
    let options = property.options();
    let kind = if options.is_some() { "pick" } else { property.question_type() };
    match options {
        Some(options) => json!({"question": text, "type": kind, "options": options}),
        None => json!({"question": text, "type": kind}),
    }
}

fn call(name: &str, arguments: Value) -> Act {
    Act::Call { name: name.to_owned(), arguments }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_RESULT).collect()
}

/// The message of `Error[CODE]: message`.
fn in_words(text: &str) -> &str {
    let message = text.strip_prefix("Error[").and_then(|t| t.split_once("]: ")).map(|(_, message)| message);
    message.unwrap_or(text)
}
