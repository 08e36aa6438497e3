//! Models that misbehave: they loop, flood, lie about ids, answer with pages, break off, stay busy, never stop. Each
//! costs a bounded number of requests and a bounded time, ends with a sentence, and leaves a usable session.

use crate::contract;
use fake_openai::{Call, Fault, Turn};
use harness::{Provider, Served, TestBot};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One test per format.
macro_rules! both {
    ($($(#[$note:meta])* fn $name:ident($p:ident: Provider) $body:block)*) => {$(
        mod $name {
            use super::*;

            fn run($p: Provider) $body

            $(#[$note])*
            #[test]
            fn openai() {
                run(Provider::OpenAi);
            }

            $(#[$note])*
            #[test]
            fn anthropic() {
                run(Provider::Anthropic);
            }
        }
    )*};
}

fn echo(message: &str) -> Call {
    Call::new("echo", json!({"message": message}))
}

/// A bot with a tool that is sent from the first step and counts its calls.
fn bot(server: &Served, more: &str) -> TestBot {
    let bot = server.bot("");
    let manifest = "description = \"Echo a message back\"\nrequires_approval = \"never\"\ncapabilities = []\n\
        always_loaded = true\nrun = { command = [\"./main.sh\"] }\n[input]\nmessage = { type = \"string\" }\n\
        times = { type = \"integer\", default = 1 }\n";
    bot.put("tools/echo/tool.toml", manifest);
    bot.put("tools/echo/main.sh", "#!/bin/sh\nsed -n 's/.*\"message\":\"\\([^\"]*\\)\".*/echo: \\1/p'\n");
    let text = std::fs::read_to_string(bot.at("bot.toml")).expect("a configuration");
    bot.put("bot.toml", &format!("{text}{more}"));
    bot
}

/// What came of a message of the session `a`.
struct Seen {
    answer: Value,
    took: Duration,
    requests: usize,
}

impl Seen {
    fn codes(&self) -> Vec<&str> {
        let calls = self.answer["tool_calls"].as_array().expect("calls").iter();
        calls.map(|c| c["error"]["code"].as_str().unwrap_or("-")).collect()
    }

    fn ran(&self) -> usize {
        self.codes().iter().filter(|c| **c == "-").count()
    }

    /// Asserts outcome and detail, and that a person gets a sentence that quotes no provider.
    #[track_caller]
    fn is(&self, outcome: &str, detail: &str) -> &Self {
        let found = (&self.answer["outcome"], &self.answer["detail"]);
        assert_eq!(found, (&outcome.into(), &detail.into()), "{:#}", self.answer);
        let text = self.answer["text"].as_str().expect("a text");
        assert!(!text.trim().is_empty(), "no sentence: {:#}", self.answer);
        assert!(!text.contains("inner-detail") && !text.contains("<html"), "{text}");
        self
    }

    #[track_caller]
    fn costs(&self, requests: std::ops::RangeInclusive<usize>, seconds: u64) -> &Self {
        assert!(requests.contains(&self.requests), "{} requests: {:#}", self.requests, self.answer);
        assert!(self.took < Duration::from_secs(seconds), "{:?}", self.took);
        self
    }
}

/// Plays turns for one message.
#[track_caller]
fn ask(server: &Served, bot: &TestBot, turns: Vec<Turn>, exit: i32) -> Seen {
    server.then(turns);
    let before = server.requests().len();
    let started = Instant::now();
    let answer = contract::ran(bot, &["ask", ".", "hello there", "--session", "a"], exit, "ask");
    let requests = server.requests();
    let refused: Vec<&str> = requests.iter().filter_map(|r| r.refused.as_deref()).collect();
    assert!(refused.is_empty(), "the server refused what was sent: {refused:?}");
    Seen { answer, took: started.elapsed(), requests: requests.len() - before }
}

/// The session still answers: with text, and with a call.
#[track_caller]
fn usable(server: &Served, bot: &TestBot) {
    let seen = ask(server, bot, vec![Turn::calls([echo("again")]), Turn::text("Here again.")], 0);
    // a sentence may follow, for example that earlier messages no longer fit
    assert!(seen.answer["text"].as_str().is_some_and(|t| t.starts_with("Here again.")), "{:#}", seen.answer);
    assert_eq!((seen.ran(), seen.requests), (1, 2), "{:#}", seen.answer);
}

/// The same with a history that is too long: it is summed up first, and the person is told when that fails.
#[track_caller]
fn usable_after_much(server: &Served, bot: &TestBot) {
    let turns = vec![Turn::text("They talked at length."), Turn::calls([echo("again")]), Turn::text("Here again.")];
    let seen = ask(server, bot, turns, 0);
    assert!(seen.answer["text"].as_str().is_some_and(|t| t.starts_with("Here again.")), "{:#}", seen.answer);
    assert_eq!((seen.ran(), seen.requests), (1, 3), "{:#}", seen.answer);
}

both! {
    fn one_call_again_and_again(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let seen = ask(&server, &bot, vec![Turn::calls([echo("x")]).always()], 6);
        seen.is("failed", "LOOP_GUARD").costs(4..=5, 20);
        assert_eq!(seen.codes(), ["-", "-", "-", "LOOP_BLOCKED", "LOOP_BLOCKED"]);
        usable(&server, &bot);
    }

    fn names_that_do_not_exist_again_and_again(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let unknown = (0..30).map(|n| Turn::calls([Call::new(format!("made-up-{n}"), json!({"n": n}))]));
        let seen = ask(&server, &bot, unknown.collect(), 6);
        seen.is("budget_exceeded", "steps").costs(15..=15, 20);
        assert!(seen.codes().iter().all(|c| *c == "NOT_FOUND"), "{:?}", seen.codes());
        usable(&server, &bot);
    }

    fn two_hundred_calls_at_once(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let flood = Turn::calls((0..200).map(|n| echo(&n.to_string())));
        let seen = ask(&server, &bot, vec![flood.clone(), Turn::text("Enough.")], 0);
        assert_eq!(seen.answer["text"], "Enough.");
        seen.costs(2..=2, 40);
        assert_eq!(seen.ran(), 20, "{:?}", seen.codes());
        assert!(seen.codes().iter().skip(20).all(|c| *c == "TOOL_LIMIT"), "{:?}", seen.codes());
        let seen = ask(&server, &bot, vec![flood.always()], 6);
        seen.is("budget_exceeded", "steps").costs(15..=15, 60);
        assert!(seen.ran() <= 50, "{} ran", seen.ran());
        usable(&server, &bot);
    }

    fn more_calls_than_anybody_can_mean(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let flood = Turn::calls((0..1_500).map(|n| echo(&n.to_string())));
        let seen = ask(&server, &bot, vec![flood.clone(), Turn::text("Enough.")], 0);
        assert_eq!((&seen.answer["text"], seen.ran()), (&"Enough.".into(), 0));
        let seen = ask(&server, &bot, vec![flood.always()], 6);
        seen.is("failed", "MODEL_TRUNCATED").costs(3..=3, 60);
        assert_eq!((seen.ran(), seen.codes().len()), (0, 40), "nothing ran, and little of it is kept");
        usable(&server, &bot);
    }

    fn a_request_that_is_too_large(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let large = || Turn::fault(Fault::status(413, "inner-detail"));
        let seen = ask(&server, &bot, vec![large()], 6);
        seen.is("failed", "MODEL_REJECTED").costs(1..=1, 20);
        // what is left out from now on is the past: that turn
        let seen = ask(&server, &bot, vec![large(), Turn::text("Now.")], 0);
        assert!(seen.answer["text"].as_str().is_some_and(|t| t.starts_with("Now.")), "{:#}", seen.answer);
        assert_eq!(seen.requests, 2);
        usable(&server, &bot);
    }

    fn ids_that_lie(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let same = || Turn::calls([echo("a").id("one"), echo("b").id("one")]);
        let odd = ["", " ", "../../x", "ü", "a b\n", &"z".repeat(300), "one"].map(|id| echo("c").id(id));
        let none = Turn { no_ids: true, ..Turn::calls([echo("d"), echo("e")]) };
        let index = Turn { same_index: true, ..Turn::calls([echo("f"), echo("g"), echo("h")]) };
        let turns = vec![same(), same(), Turn::calls(odd), none, index, Turn::text("All.")];
        let seen = ask(&server, &bot, turns, 0);
        assert_eq!(seen.answer["text"], "All.");
        assert_eq!(seen.requests, 6);
        let ids: Vec<&str> =
            seen.answer["tool_calls"].as_array().expect("calls").iter().filter_map(|c| c["id"].as_str()).collect();
        let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        usable(&server, &bot);
    }

    fn pages_instead_of_answers(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        for status in [200, 502] {
            let seen = ask(&server, &bot, vec![Turn::fault(Fault::page(status)).always()], 6);
            seen.is("failed", "MODEL_UNAVAILABLE").costs(2..=2, 20);
        }
        usable(&server, &bot);
    }

    fn every_stream_is_cut(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        for fault in [Fault::Cut { after: 4 }, Fault::CutBytes { after: 700 }, Fault::End { after: 5 }] {
            let cut = Turn { fault: Some(fault), ..Turn::calls([echo("cut off in the middle")]) };
            let seen = ask(&server, &bot, vec![cut.always()], 6);
            seen.is("failed", "MODEL_UNAVAILABLE").costs(2..=2, 20);
            assert_eq!(seen.ran(), 0, "nothing of a broken answer is run");
        }
        usable(&server, &bot);
    }

    fn an_error_inside_every_stream(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        let fault = Fault::StreamError { after: 3, message: "inner-detail".into() };
        let seen = ask(&server, &bot, vec![Turn { fault: Some(fault), ..Turn::text("Never whole") }.always()], 6);
        seen.is("failed", "MODEL_UNAVAILABLE").costs(2..=2, 20);
        usable(&server, &bot);
    }

    fn busy_for_a_minute(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let seen = ask(&server, &bot, vec![Turn::fault(Fault::busy("60")).always()], 6);
        seen.is("failed", "MODEL_UNAVAILABLE").costs(1..=1, 10);
        let seen = ask(&server, &bot, vec![Turn::fault(Fault::busy("1")).always()], 6);
        seen.is("failed", "MODEL_UNAVAILABLE").costs(3..=3, 15);
        assert!(seen.took >= Duration::from_secs(2), "{:?}", seen.took);
        let seen = ask(&server, &bot, vec![Turn::fault(Fault::busy("date+2")), Turn::text("Now.")], 0);
        assert_eq!((&seen.answer["text"], seen.requests), (&"Now.".into(), 2));
        assert!(seen.took >= Duration::from_secs(1), "a date is kept: {:?}", seen.took);
        let overloaded = Turn::fault(Fault::status(529, "inner-detail"));
        let seen = ask(&server, &bot, vec![overloaded.always()], 6);
        seen.is("failed", "MODEL_UNAVAILABLE").costs(3..=3, 15);
        usable(&server, &bot);
    }

    fn a_text_without_an_end(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        let long = Turn { fault: Some(Fault::Endless { after: 3 }), ..Turn::text("abcdefgh".repeat(200)) };
        let seen = ask(&server, &bot, vec![long], 0);
        assert_eq!(seen.requests, 1);
        assert!(seen.took < Duration::from_secs(40), "{:?}", seen.took);
        assert!(seen.answer["text"].as_str().expect("a text").len() <= (1 << 20) + 1000);
        usable_after_much(&server, &bot);
    }

    fn arguments_without_an_end(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        let endless = Turn {
            token_chars: Some(1000),
            fault: Some(Fault::Endless { after: 5 }),
            ..Turn::calls([echo(&"long ".repeat(3000))])
        };
        let seen = ask(&server, &bot, vec![endless.always()], 6);
        seen.is("failed", "MODEL_TRUNCATED").costs(1..=3, 60);
        assert_eq!(seen.ran(), 0);
        usable(&server, &bot);
    }

    fn a_huge_text(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let huge = Turn { token_chars: Some(1000), ..Turn::text("word ".repeat(600_000)) };
        let seen = ask(&server, &bot, vec![huge], 0);
        assert!(seen.answer["text"].as_str().expect("a text").len() <= (1 << 20) + 1000);
        seen.costs(1..=1, 60);
        usable_after_much(&server, &bot);
    }

    fn a_server_that_hangs(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\nfirst_byte_seconds = 1\ntimeout_seconds = 2\n");
        for after in [None, Some(0), Some(4)] {
            let hang = Turn { fault: Some(Fault::Hang { after }), ..Turn::text("This never ends well") };
            let seen = ask(&server, &bot, vec![hang.always()], 6);
            seen.is("failed", "MODEL_UNAVAILABLE").costs(2..=2, 20);
        }
        usable(&server, &bot);
    }

    fn calls_written_as_text(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let written = Turn { calls_as_text: true, ..Turn::calls([echo("nobody asked for this")]) };
        let seen = ask(&server, &bot, vec![written], 0);
        assert_eq!((seen.requests, seen.codes().len()), (1, 0), "{:#}", seen.answer);
        assert_eq!(seen.answer["outcome"], "completed");
        usable(&server, &bot);
    }

    fn arguments_that_do_not_fit(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let bad = [
            json!({"message": "x", "invented": true}),
            json!({"message": "x", "times": "three"}),
            json!("{\"message\": \"cut in"),
            json!("[]"),
            json!("null"),
        ];
        let turns = vec![Turn::calls(bad.map(|a| Call::new("echo", a))), Turn::text("Sorry.")];
        let seen = ask(&server, &bot, turns, 0);
        assert_eq!(seen.answer["text"], "Sorry.");
        assert_eq!(
            seen.codes(),
            ["VALIDATION_ERROR", "VALIDATION_ERROR", "MALFORMED_ARGUMENTS", "MALFORMED_ARGUMENTS", "MALFORMED_ARGUMENTS"]
        );
        usable(&server, &bot);
    }

    fn an_answer_cut_inside_a_string(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let finish = Some(if p == Provider::OpenAi { "length" } else { "max_tokens" }.to_owned());
        let cut = Turn { finish, ..Turn::calls([Call::new("echo", json!("{\"message\": \"cut in"))]) };
        let seen = ask(&server, &bot, vec![cut.clone(), Turn::text("Short now.")], 0);
        assert_eq!((&seen.answer["text"], seen.ran()), (&"Short now.".into(), 0));
        let seen = ask(&server, &bot, vec![cut.always()], 6);
        seen.is("failed", "MODEL_TRUNCATED").costs(3..=3, 20);
        usable(&server, &bot);
    }

    fn a_parser_error_of_the_server(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "retries = 1\n");
        let parser = || Turn::fault(Fault::status(500, "inner-detail: failed to parse tool call arguments as JSON"));
        let seen = ask(&server, &bot, vec![parser(), Turn::text("Once more.")], 0);
        assert_eq!((&seen.answer["text"], seen.requests), (&"Once more.".into(), 2));
        let seen = ask(&server, &bot, vec![parser().always()], 6);
        seen.is("failed", "MODEL_UNAVAILABLE").costs(2..=2, 20);
        usable(&server, &bot);
    }

    fn a_stream_as_odd_as_it_gets(p: Provider) {
        let server = Served::of(p, vec![]);
        let bot = bot(&server, "");
        let message = "grüße 😀 完";
        let odd = |turn: Turn| Turn { noise: true, bare_start: true, overlap: true, text: Some("Wait 😀.".into()), ..turn };
        let calls = || Turn::calls([echo(message), echo("two")]);
        let turns = vec![
            odd(Turn { split_bytes: Some(1), ..calls() }),
            odd(Turn { escape: true, interleave: true, ..calls() }),
            odd(Turn { halves: true, ..calls() }),
            Turn { halves: true, usage: fake_openai::Usage::Off, ..Turn::text("Done 😀.") },
        ];
        let seen = ask(&server, &bot, turns, 0);
        assert_eq!(seen.answer["text"], "Done 😀.");
        let calls = seen.answer["tool_calls"].as_array().expect("calls");
        let messages: Vec<&str> = calls.iter().filter_map(|c| c["arguments"]["message"].as_str()).collect();
        assert_eq!(messages, [message, "two", message, "two", message, "two"]);
        assert!(seen.answer["usage"]["output_tokens"].as_u64().is_some_and(|n| n > 0), "a missing count is estimated");
        usable(&server, &bot);
    }
}
