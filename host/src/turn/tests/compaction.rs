use super::fixture::{Step, Table, calling, ending, text};
use crate::admission::Facts;
use crate::model::{ModelError, ModelMessage, ModelRequest, StopReason};
use crate::session::{SUMMARY, SessionKey, is_sendable};
use crate::tools::testing::{World, facts};
use crate::turn::{Compacted, FailCode, TurnOutcome, TurnReport, compact};
use plugin_sdk::{Role, Scope};
use serde_json::json;

const KEY: &str = "telegram/main/private/-100";
const SENTENCE: &str = "replaced by a summary";

fn small(world: World) -> Table {
    let mut table = Table::new(world);
    table.window = 4_000;
    table
}

fn long(n: usize) -> String {
    format!("{n} {}", "word ".repeat(100))
}

fn first_text(request: &ModelRequest) -> String {
    match &request.messages[0] {
        ModelMessage::User { text, .. } => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn all_text(request: &ModelRequest) -> String {
    format!("{:?}", request.messages)
}

/// Talks until a turn makes two requests: a summary, then the answer.
async fn until_summed(
    table: &Table,
    who: &Facts,
    summary: impl Fn() -> Step,
) -> (usize, TurnReport, Vec<ModelRequest>) {
    for n in 0..40 {
        let (report, requests) = table.run(who, &long(n), vec![summary(), text("noted")]).await;
        if requests.len() == 2 {
            return (n, report, requests);
        }
    }
    panic!("no summary was asked for");
}

async fn stored_summaries(table: &Table) -> usize {
    let history = table.sessions().history(&SessionKey::from_text(KEY)).await.unwrap();
    history.iter().filter(|e| e.role() == SUMMARY).count()
}

#[tokio::test]
async fn older_messages_become_a_summary_that_later_turns_use() {
    let table = small(World::new().skill("lab", "cook", &[], |_| {}));
    let ann = facts("1", Role::User, Scope::Private);
    let load = calling(&[("a", "load_skill", json!({"name": "cook"}))]);
    table.run(&ann, "learn", vec![load, text("learned")]).await;
    let before = table.sessions().loaded(&SessionKey::from_text(KEY)).await.unwrap();
    let (n, report, requests) = until_summed(&table, &ann, || text("They counted words.")).await;
    assert!(requests[0].tools.is_empty());
    assert!(all_text(&requests[0]).contains("0 word") && !all_text(&requests[0]).contains(&format!("\"{n} word")));
    let head = first_text(&requests[1]);
    assert!(head.starts_with("[host: summary of the earlier messages") && head.contains("They counted words."));
    assert!(head.contains("[host: text of the loaded skill lab__cook]\nText of cook."), "{head}");
    assert!(is_sendable(&requests[1].messages));
    assert!(!all_text(&requests[1]).contains("\"0 word"));
    assert!(report.text.starts_with("noted") && report.text.contains(SENTENCE));
    let (next, seen) = table.run(&ann, "and now?", vec![text("on")]).await;
    assert!(first_text(&seen[0]).contains("They counted words.") && !next.text.contains(SENTENCE));
    assert!(!all_text(&seen[0]).contains(" 0 word"));
    let whole = table.sessions().history(&SessionKey::from_text(KEY)).await.unwrap();
    assert!(whole.iter().any(|e| e.message["text"].as_str().is_some_and(|t| t.starts_with("0 word"))));
    let after = table.sessions().loaded(&SessionKey::from_text(KEY)).await.unwrap();
    assert_eq!(before.skills, after.skills);
}

#[tokio::test]
async fn a_second_summary_takes_the_first_one_in() {
    let table = small(World::new());
    let ann = facts("1", Role::User, Scope::Private);
    until_summed(&table, &ann, || text("FIRST")).await;
    let (_, _, requests) = until_summed(&table, &ann, || text("SECOND")).await;
    assert!(all_text(&requests[0]).contains("earlier summary") && all_text(&requests[0]).contains("FIRST"));
    assert!(first_text(&requests[1]).contains("SECOND") && !first_text(&requests[1]).contains("FIRST"));
    assert_eq!(stored_summaries(&table).await, 2);
}

#[tokio::test]
async fn a_failed_summary_changes_nothing_and_the_next_turn_tries_again() {
    let failures: [fn() -> Step; 4] = [
        || Step::Fails(ModelError::Unavailable("down".into())),
        || text("  "),
        || ending(vec![crate::model::ModelEvent::Text("cut".into())], StopReason::Length),
        || text(&"longer than what it stands for ".repeat(2_000)),
    ];
    for failure in failures {
        let table = small(World::new());
        let ann = facts("1", Role::User, Scope::Private);
        let (_, report, requests) = until_summed(&table, &ann, failure).await;
        assert_eq!(stored_summaries(&table).await, 0);
        assert_eq!(first_text(&requests[1]), "[earlier messages not shown]");
        assert!(report.text.contains("no longer fit") && !report.text.contains(SENTENCE), "{}", report.text);
        assert_eq!(report.outcome, TurnOutcome::Completed);
        let (_, again) = table.run(&ann, "again", vec![text("It worked."), text("ok")]).await;
        assert_eq!(again.len(), 2);
        assert!(first_text(&again[1]).contains("It worked."));
    }
}

#[tokio::test]
async fn the_offline_model_writes_no_summary_and_the_limit_acts() {
    let mut table = small(World::new());
    table.offline = true;
    let ann = facts("1", Role::User, Scope::Private);
    let mut limited = false;
    for n in 0..20 {
        let (_, requests) = table.run(&ann, &long(n), vec![text("noted")]).await;
        limited |= first_text(&requests[0]) == "[earlier messages not shown]";
    }
    assert!(limited);
    let (cx, _) = table.turn(KEY, &ann, "/compact", Vec::new());
    assert_eq!(compact(&cx).await, Compacted::Offline);
}

#[tokio::test]
async fn too_long_is_answered_by_one_summary_and_one_repeat() {
    let table = Table::new(World::new());
    let ann = facts("1", Role::User, Scope::Private);
    for n in 0..4 {
        table.run(&ann, &long(n), vec![text("noted")]).await;
    }
    let too_long = || Step::Fails(ModelError::TooLong);
    let (report, requests) = table.run(&ann, "go", vec![too_long(), text("Words."), text("done")]).await;
    assert!(report.text.starts_with("done") && first_text(&requests[2]).contains("Words."));
    let script = vec![too_long(), text("Words again."), too_long()];
    let (report, requests) = table.run(&ann, "go", script).await;
    assert_eq!(report.outcome, TurnOutcome::Failed { code: FailCode::ContextOverflow, retryable: false });
    assert_eq!(requests.len(), 3);
}

#[tokio::test]
async fn too_long_without_summaries_drops_the_past_once() {
    let table = Table::new(World::new().configured(|b| b.agent.compaction.enabled = false));
    let ann = facts("1", Role::User, Scope::Private);
    table.run(&ann, &long(1), vec![text("noted")]).await;
    let too_long = || Step::Fails(ModelError::TooLong);
    let (report, requests) = table.run(&ann, "go", vec![too_long(), text("done")]).await;
    assert!(report.text.starts_with("done") && requests.len() == 2);
    let (report, _) = table.run(&ann, "go", vec![too_long(), too_long()]).await;
    assert_eq!(report.outcome, TurnOutcome::Failed { code: FailCode::ContextOverflow, retryable: false });
}

#[tokio::test]
async fn too_many_bytes_are_answered_the_same_way_and_end_as_a_refusal() {
    let table = Table::new(World::new().configured(|b| b.agent.compaction.enabled = false));
    let ann = facts("1", Role::User, Scope::Private);
    let too_large = || Step::Fails(ModelError::TooLarge("HTTP 413".into()));
    let rejected = TurnOutcome::Failed { code: FailCode::ModelRejected, retryable: false };
    let (report, requests) = table.run(&ann, "first", vec![too_large()]).await;
    assert_eq!((report.outcome, requests.len()), (rejected.clone(), 1), "nothing could be left out");
    let (report, requests) = table.run(&ann, "go", vec![too_large(), text("done")]).await;
    assert!(report.text.starts_with("done") && requests.len() == 2, "{}", report.text);
    let (report, requests) = table.run(&ann, "go", vec![too_large(), too_large()]).await;
    assert_eq!((report.outcome, requests.len()), (rejected, 2));
    // the message of a turn that failed says so, the others do not
    let history = table.sessions().history(&SessionKey::from_text(KEY)).await.unwrap();
    let marks: Vec<&str> =
        history.iter().filter(|e| e.role() == "user").map(|e| e.meta["failed"].as_str().unwrap_or("-")).collect();
    assert_eq!(marks, ["MODEL_REJECTED", "-", "MODEL_REJECTED"]);
}

#[tokio::test]
async fn a_shared_summary_is_written_without_results_that_need_a_permit() {
    let world = || {
        World::new()
            .shaped("db", "query", "Ask the books", |d| {
                d.options.always_loaded = true;
                d.options.permissions = vec!["role(master)".into()];
            })
            .shaped("lab", "look", "Look", |d| d.options.always_loaded = true)
    };
    let script = || {
        vec![
            calling(&[("a", "db__query", json!({})), ("b", "lab__look", json!({"city": "open"}))]),
            text("Nothing to say."),
        ]
    };
    for (scope, shown) in [(Scope::Group, false), (Scope::Private, true)] {
        let table = small(world());
        let master = facts("1", Role::Master, scope);
        table.run(&master, "how much?", script()).await;
        let (_, _, requests) = until_summed(&table, &master, || text("Sums.")).await;
        let asked = all_text(&requests[0]);
        assert!(asked.contains("lab__look: {"), "{asked}");
        assert_eq!(asked.contains("db__query: {"), shown, "{asked}");
        assert_eq!(asked.contains("[not for everybody here: left out]"), !shown);
    }
}

#[tokio::test]
async fn compact_sums_up_at_once_or_says_why_not() {
    let configured = |b: &mut crate::config::BotConfig| {
        b.agent.compaction.keep_tokens = 200;
        b.agent.compaction.at_percent = 95;
    };
    let table = Table::new(World::new().configured(configured));
    let ann = facts("1", Role::User, Scope::Private);
    let (cx, _) = table.turn(KEY, &ann, "/compact", Vec::new());
    assert_eq!(compact(&cx).await, Compacted::Nothing);
    for n in 0..6 {
        table.run(&ann, &long(n), vec![text("noted")]).await;
    }
    let (cx, _) = table.turn(KEY, &ann, "/compact", vec![Step::Fails(ModelError::Unavailable("down".into()))]);
    assert_eq!(compact(&cx).await, Compacted::Failed);
    assert_eq!(stored_summaries(&table).await, 0);
    let (cx, model) = table.turn(KEY, &ann, "/compact", vec![text("All about words.")]);
    assert_eq!(compact(&cx).await, Compacted::Done);
    assert!(all_text(&model.requests.lock().unwrap()[0]).contains("3 word"));
    let head = table.sessions().head(&SessionKey::from_text(KEY)).await.unwrap().unwrap();
    assert!(head.running.is_none() && head.covered().is_some());
    let (_, seen) = table.run(&ann, "and?", vec![text("ok")]).await;
    assert!(first_text(&seen[0]).contains("All about words.") && all_text(&seen[0]).contains("5 word"));
    let mut table = table;
    table.world = World::new().configured(|b| b.agent.compaction.enabled = false);
    let (cx, _) = table.turn(KEY, &ann, "/compact", Vec::new());
    assert_eq!(compact(&cx).await, Compacted::Off);
}

#[tokio::test]
async fn a_summary_survives_a_history_longer_than_what_is_read() {
    let table = Table::new(World::new().configured(|b| b.agent.compaction.keep_tokens = 50));
    let ann = facts("1", Role::User, Scope::Private);
    for n in 0..3 {
        table.run(&ann, &long(n), vec![text("noted")]).await;
    }
    let (cx, _) = table.turn(KEY, &ann, "/compact", vec![text("Old times.")]);
    assert_eq!(compact(&cx).await, Compacted::Done);
    let key = SessionKey::from_text(KEY);
    let mut transcript = table.sessions().begin(&key, "bulk", json!({}), 10).await.unwrap();
    let entries = (0..2_100).map(|n| {
        let message = json!({"role": "user", "text": format!("m{n}")});
        crate::session::HistoryEntry::new("bulk", chrono::DateTime::UNIX_EPOCH, Some("telegram:1".into()), message)
    });
    transcript.append(entries.collect()).await.unwrap();
    transcript.commit(crate::session::Commit::default()).await.unwrap();
    let (_, seen) = table.run(&ann, "and?", vec![text("ok")]).await;
    assert!(first_text(&seen[0]).contains("Old times."));
}
