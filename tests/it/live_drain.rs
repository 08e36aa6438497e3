//! Retired generations: leases, deadlines, reloads that wait for a drain.

use crate::contract;
use harness::{Gate, LiveHost, TestBot, command, wait_for};
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

fn status(bot: &TestBot) -> Value {
    command(bot, "status", &json!({})).1
}

fn reload(bot: &TestBot) -> Value {
    command(bot, "reload", &json!({})).1["record"].clone()
}

#[test]
fn a_stuck_turn_is_cancelled_at_its_deadline() {
    let (bot, gate) = (TestBot::new(), Gate::new());
    bot.put("bot.toml", "[reload]\nlease_deadline_seconds = 1\n");
    gate.tool(&bot, "tools/stand", "never");
    let host = LiveHost::start_with(&bot, &["--no-watch"]);
    let turn = bot.begin(&["ask", ".", "wait at the gate", "--json"]);
    gate.await_calls(1);
    bot.put_tool("tools/say", "Say something", "new");
    let record = reload(&bot);
    assert_eq!(record["to"], 2);
    let turn = turn.finish().exits(6).json();
    contract::is("ask", &turn);
    assert_eq!((&turn["outcome"], &turn["detail"]), (&"cancelled".into(), &"lease_deadline".into()), "{turn:#}");
    assert_eq!(turn["generation"], 1);
    let told = wait_for("generation 1 is gone", SOON, || {
        let (_, body) = command(&bot, "generations", &json!({"records": true}));
        let records = body["records"].as_array()?.clone();
        records.into_iter().find(|r| r["id"] == record["id"] && !r["disposed_at"].is_null())
    });
    assert_eq!((&told["turns_cancelled"], &told["quarantined"]), (&1.into(), &json!([])), "{told:#}");
    assert!(!told["drained_at"].is_null());
    assert_eq!(contract::ran(&bot, &["call", "say", "{}"], 0, "call")["text"], "new");
    assert_eq!(host.stop(), 0);
}

#[test]
fn saves_wait_for_a_drain_and_no_turn_is_shortened() {
    let bot = TestBot::new();
    bot.put("bot.toml", "[reload]\nmax_retired = 2\n");
    let gates: Vec<Gate> = (0..3).map(|_| Gate::new()).collect();
    gates[0].tool(&bot, "tools/stand", "words 0");
    let host = LiveHost::start(&bot);
    let mut turns = Vec::new();
    for (n, gate) in gates.iter().enumerate() {
        if n > 0 {
            gate.tool(&bot, "tools/stand", &format!("words {n}"));
            wait_for("published", SOON, || (status(&bot)["generation"]["active"] == n + 1).then_some(()));
        }
        turns.push(bot.begin(&["ask", ".", "wait at the gate", "--json"]));
        gate.await_calls(1);
    }
    // generations 1 and 2 are retired and held: what comes now waits and merges
    for n in 0..4 {
        bot.put_tool("tools/say", "Say something", &format!("save {n}"));
        wait_for("it waits", SOON, || (status(&bot)["generation"]["waiting_for_drain"] == true).then_some(()));
    }
    let seen = status(&bot);
    assert_eq!((&seen["generation"]["active"], &seen["ready"]), (&3.into(), &true.into()), "{seen:#}");
    assert!(turns.iter().all(|t| !t.is_finished()), "no turn was cancelled");
    // what is denied acts already, and is taken back as soon
    let admitted = || command(&bot, "explain", &json!({"tool": "stand"})).1["admitted"].clone();
    assert_eq!(admitted(), true);
    bot.put("bot.toml", "[reload]\nmax_retired = 2\n[tools]\ndeny = [\"stand\"]\n");
    wait_for("the denial acts", SOON, || (admitted() == false).then_some(()));
    assert_eq!(status(&bot)["generation"]["waiting_for_drain"], true);
    bot.put("bot.toml", "[reload]\nmax_retired = 2\n");
    wait_for("it is taken back", SOON, || (admitted() == true).then_some(()));
    gates[0].open();
    let first = contract::shaped(turns.remove(0).finish(), 0, "ask");
    assert_eq!((&first["generation"], &first["outcome"]), (&1.into(), &"completed".into()));
    wait_for("one drain makes all live", SOON, || (status(&bot)["generation"]["active"] == 4).then_some(()));
    assert_eq!(command(&bot, "call", &json!({"tool": "say", "input": {}})).1["text"], "save 3");
    // by force the oldest goes at once, and only that one
    bot.put_tool("tools/say", "Say something", "forced");
    let forced = contract::ran(&bot, &["reload", "--force"], 0, "reload");
    assert_eq!(forced["record"]["to"], 5, "{forced:#}");
    let second = turns.remove(0).finish().exits(6).json();
    assert_eq!((&second["generation"], &second["detail"]), (&2.into(), &"lease_deadline".into()), "{second:#}");
    assert!(!turns[0].is_finished(), "the younger turn goes on");
    gates[2].open();
    assert_eq!(contract::shaped(turns.remove(0).finish(), 0, "ask")["generation"], 3);
    assert_eq!(host.stop(), 0);
}
