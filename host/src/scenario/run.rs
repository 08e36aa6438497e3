//! Runs one scenario file, step by step.

use super::file::{ExpectReply, ExpectTool, ScenarioFile, Step};
use super::script::Scripted;
use super::stage::{More, Stage, StageCall, StageFactory, StagePlan};
use crate::model::ModelClient;
use regex::RegexBuilder;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Why a case failed.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseFailure {
    /// `7 expect_reply`.
    pub step: String,
    /// What was wanted.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// One sentence.
    pub message: String,
}

/// A running case.
struct Case {
    stage: Box<dyn Stage>,
    model: Arc<Scripted>,
    replies: VecDeque<String>,
    calls: VecDeque<StageCall>,
    record: Value,
}

/// What a failing step gives.
type Verdict = Result<(), (String, String, String)>;

fn fail(expected: impl ToString, actual: impl ToString, message: impl ToString) -> Verdict {
    Err((expected.to_string(), actual.to_string(), message.to_string()))
}

/// Runs a checked file in a fresh world.
pub async fn run(
    file: &ScenarioFile,
    bot_dir: &Path,
    offline: Arc<dyn ModelClient>,
    stages: &dyn StageFactory,
) -> Result<(), CaseFailure> {
    let model = Arc::new(Scripted::new(offline));
    let plan = StagePlan {
        bot_dir: bot_dir.to_path_buf(),
        overlay: file.bot.clone(),
        model: model.clone(),
        edits: file.steps.iter().any(|s| s.edit.is_some()),
    };
    let at_start = |message: String| CaseFailure {
        step: "start".into(),
        expected: "a started bot".into(),
        actual: "it did not start".into(),
        message,
    };
    let stage = stages.build(plan).await.map_err(at_start)?;
    let mut case = Case { stage, model, replies: VecDeque::new(), calls: VecDeque::new(), record: Value::Null };
    let mut result = Ok(());
    for (i, step) in file.steps.iter().enumerate() {
        let ahead = &file.steps[i + 1..];
        if let Err((expected, actual, message)) = case.step(step, ahead).await {
            let name = step.keys().first().copied().unwrap_or("step");
            result = Err(CaseFailure { step: format!("{} {name}", i + 1), expected, actual, message });
            break;
        }
    }
    let left = case.model.left();
    if result.is_ok() && left > 0 {
        result = Err(CaseFailure {
            step: "end".into(),
            expected: "every model_says is used".into(),
            actual: format!("{left} left"),
            message: "the bot asked the model less often than the file says".into(),
        });
    }
    // A world that does not stop cleanly is reported only when the case was good until then.
    if let (Err(message), true) = (case.stage.set_running(false).await, result.is_ok()) {
        result =
            Err(CaseFailure { step: "end".into(), expected: "a clean stop".into(), actual: message.clone(), message });
    }
    result
}

impl Case {
    async fn step(&mut self, step: &Step, ahead: &[Step]) -> Verdict {
        if let Some(say) = &step.message {
            self.model.forget_requests();
            for says in ahead.iter().take_while(|s| s.message.is_none()).filter_map(|s| s.model_says.clone()) {
                self.model.add(says);
            }
            self.stage.say(say).await.or_else(|e| fail("the message is taken", &e, "the message was not taken"))?;
            return self.listen().await;
        }
        if let Some(press) = &step.press {
            self.stage.press(press).await.or_else(|e| fail("the button is pressed", &e, "the press did not work"))?;
            return self.listen().await;
        }
        if let Some(reply) = &step.expect_reply {
            return self.reply(reply).await;
        }
        if let Some(tool) = &step.expect_tool {
            return self.tool(tool).await;
        }
        if let Some(request) = &step.expect_request {
            return self.request(request);
        }
        if let Some(catalog) = &step.expect_catalog {
            return self.catalog(catalog).await;
        }
        self.world(step).await
    }

    /// Steps that change the world.
    async fn world(&mut self, step: &Step) -> Verdict {
        let refused = |e: String| fail("it works", &e, "the step failed");
        if let Some(edit) = &step.edit {
            return self.stage.edit(edit).await.or_else(refused);
        }
        if let Some(reload) = &step.reload {
            match self.stage.reload().await {
                Ok(record) => self.record = record,
                Err(e) => return refused(e),
            }
            return self.verdict(reload);
        }
        if let Some(fields) = &step.expect_record {
            for (key, want) in fields {
                let got = &self.record[key.as_str()];
                if got != want {
                    return fail(format!("{key} = {want}"), format!("{key} = {got}"), "the reload record differs");
                }
            }
            return Ok(());
        }
        if let Some(clock) = &step.clock {
            self.stage.advance(Duration::from_secs_f64(clock.advance_seconds.clamp(0.0, 1e9))).await;
            return self.listen().await;
        }
        if step.stop == Some(true) {
            return self.stage.set_running(false).await.or_else(refused);
        }
        if step.start == Some(true) {
            return self.stage.set_running(true).await.or_else(refused);
        }
        Ok(())
    }

    fn verdict(&self, want: &super::file::ExpectReload) -> Verdict {
        let outcome = self.record["outcome"].as_str().unwrap_or("none");
        if want.outcome.as_deref().is_some_and(|o| o != outcome) {
            let shown = self.record["diagnostics"].to_string();
            return fail(want.outcome.clone().unwrap_or_default(), outcome, format!("diagnostics: {shown}"));
        }
        let codes: Vec<&str> =
            self.record["diagnostics"].as_array().into_iter().flatten().filter_map(|d| d["code"].as_str()).collect();
        match &want.code {
            Some(code) if !codes.contains(&code.as_str()) => {
                fail(code, codes.join(", "), "no diagnostic has this code")
            }
            _ => Ok(()),
        }
    }

    async fn listen(&mut self) -> Verdict {
        self.hear(None).await;
        Ok(())
    }

    async fn hear(&mut self, wanted: Option<More>) {
        let heard = self.stage.heard(wanted).await;
        self.replies.extend(heard.replies);
        self.calls.extend(heard.calls);
    }

    async fn reply(&mut self, want: &ExpectReply) -> Verdict {
        self.listen().await?;
        // What is said beside a settled message may still be on its way.
        if self.replies.is_empty() {
            self.hear(Some(More::Reply)).await;
        }
        let Some(got) = self.replies.pop_front() else {
            return fail(describe(want), "no reply", "the bot said nothing (more)");
        };
        let good = match (&want.equals, &want.contains, &want.matches) {
            (Some(t), None, None) => got == *t,
            (None, Some(t), None) => got.contains(t.as_str()),
            (None, None, Some(p)) => match RegexBuilder::new(p).size_limit(1 << 20).build() {
                Ok(r) => r.is_match(&got),
                Err(e) => return fail(describe(want), "-", format!("the pattern is broken: {e}")),
            },
            _ => return fail("exactly one of equals, contains, matches", describe(want), "the step is unclear"),
        };
        if good { Ok(()) } else { fail(describe(want), &got, "the reply differs") }
    }

    async fn tool(&mut self, want: &ExpectTool) -> Verdict {
        self.listen().await?;
        if self.calls.is_empty() {
            self.hear(Some(More::Call)).await;
        }
        let calls: Vec<String> =
            self.calls.iter().map(|c| format!("{} {} {}", c.tool, c.arguments, c.status)).collect();
        while let Some(call) = self.calls.pop_front() {
            let same = call.tool == want.tool
                && want.arguments.iter().all(|(k, v)| call.arguments.get(k) == Some(v))
                && want.status.as_ref().is_none_or(|s| *s == call.status);
            if same {
                return Ok(());
            }
        }
        let want = json!({"tool": want.tool, "arguments": want.arguments, "status": want.status});
        fail(want, if calls.is_empty() { "no call".into() } else { calls.join("\n") }, "no further call is like this")
    }

    fn request(&mut self, want: &super::file::ExpectRequest) -> Verdict {
        let Some(seen) = self.model.next_request() else {
            return fail("a model request", "none (more)", "the model was not asked");
        };
        for tool in &want.tools_include {
            if !seen.tools.contains(tool) {
                return fail(format!("{tool} is sent"), seen.tools.join(", "), "a tool is missing in the request");
            }
        }
        for tool in &want.tools_exclude {
            if seen.tools.contains(tool) {
                return fail(format!("{tool} is not sent"), seen.tools.join(", "), "a tool is in the request");
            }
        }
        match &want.text_contains {
            Some(text) if !seen.text.contains(text.as_str()) => {
                fail(text, &seen.text, "the request does not hold the text")
            }
            _ => Ok(()),
        }
    }

    async fn catalog(&mut self, want: &super::file::ExpectCatalog) -> Verdict {
        let names = match self.stage.catalog(&want.subject).await {
            Ok(names) => names,
            Err(e) => return fail("a catalog", &e, "the subject is not understood"),
        };
        for name in &want.include {
            if !names.contains(name) {
                return fail(format!("{name} is offered"), names.join(", "), "a tool is not in the catalog");
            }
        }
        for name in &want.exclude {
            if names.contains(name) {
                return fail(format!("{name} is not offered"), names.join(", "), "a tool is in the catalog");
            }
        }
        Ok(())
    }
}

fn describe(want: &ExpectReply) -> String {
    match (&want.equals, &want.contains, &want.matches) {
        (Some(t), _, _) => format!("equals {t:?}"),
        (_, Some(t), _) => format!("contains {t:?}"),
        (_, _, Some(t)) => format!("matches {t:?}"),
        _ => "nothing".into(),
    }
}
