//! Texts, entities and markup.

use super::{Client, PERSON};
use serde_json::{Value, json};

async fn sent(client: &Client, fields: Value) -> Value {
    let mut all = json!({"chat_id": PERSON});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.good("sendMessage", all).await
}

async fn refused(client: &Client, fields: Value) -> String {
    let mut all = json!({"chat_id": PERSON});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.bad("sendMessage", all).await
}

#[tokio::test]
async fn a_text_has_4096_utf16_units_after_markup() {
    let client = Client::start().await;
    sent(&client, json!({"text": "😀".repeat(2048)})).await;
    sent(&client, json!({"text": "字".repeat(4096)})).await;
    let bold = format!("<b>{}</b>", "x".repeat(4096));
    assert_eq!(sent(&client, json!({"text": bold, "parse_mode": "HTML"})).await["entities"][0]["length"], 4096);
    for text in ["😀".repeat(2048) + "x", "x".repeat(4097)] {
        assert_eq!(refused(&client, json!({"text": text})).await, "Bad Request: message is too long");
    }
    assert_eq!(client.violations().len(), 2);
}

#[tokio::test]
async fn a_blank_text_is_refused() {
    let client = Client::start().await;
    assert_eq!(refused(&client, json!({"text": ""})).await, "Bad Request: message text is empty");
    for (text, mode) in [(" \n\t", ""), ("<b> </b>", "HTML"), ("* *", "MarkdownV2")] {
        let why = refused(&client, json!({"text": text, "parse_mode": mode})).await;
        assert_eq!(why, "Bad Request: text must be non-empty", "{text}");
    }
}

#[tokio::test]
async fn entities_lie_inside_the_text_on_whole_characters() {
    let client = Client::start().await;
    let entity = |offset: i64, length: i64| json!([{"type": "code", "offset": offset, "length": length}]);
    sent(&client, json!({"text": "a😀b", "entities": entity(1, 2)})).await;
    sent(&client, json!({"text": "a😀b", "entities": entity(0, 4)})).await;
    for (offset, length) in [(0, 5), (-1, 2), (0, 0), (2, 1), (1, 1), (4, 1), (i64::MAX, i64::MAX)] {
        let why = refused(&client, json!({"text": "a😀b", "entities": entity(offset, length)})).await;
        assert!(why.starts_with("Bad Request: can't parse entities"), "{offset} {length}: {why}");
    }
    let odd = [
        json!({"type": "big", "offset": 0, "length": 1}),
        json!({"type": "text_link", "offset": 0, "length": 1}),
        json!({"type": "text_mention", "offset": 0, "length": 1}),
    ];
    for entity in odd {
        let why = refused(&client, json!({"text": "abc", "entities": [entity]})).await;
        assert!(why.starts_with("Bad Request: can't parse entities"), "{why}");
    }
    let many = |n: usize| (0..n).map(|i| json!({"type": "bold", "offset": i, "length": 1})).collect::<Vec<_>>();
    sent(&client, json!({"text": "x".repeat(200), "entities": many(100)})).await;
    assert!(
        refused(&client, json!({"text": "x".repeat(200), "entities": many(101)})).await.contains("too many entities")
    );
}

#[tokio::test]
async fn white_space_around_a_text_goes_and_entities_move_with_it() {
    let client = Client::start().await;
    let message =
        sent(&client, json!({"text": "\n 😀 bold \n", "entities": [{"type": "bold", "offset": 5, "length": 6}]})).await;
    assert_eq!(message["text"], "😀 bold");
    assert_eq!(message["entities"], json!([{"type": "bold", "offset": 3, "length": 4}]));
}

#[tokio::test]
async fn markup_becomes_text_and_entities() {
    let client = Client::start().await;
    let cases = [
        ("HTML", "<b>a<i>b</i></b> &lt;&#128512;", "ab <😀", json!([["bold", 0, 2], ["italic", 1, 1]])),
        ("html", "<a href=\"https://e.x/?a=1&amp;b\">l</a>", "l", json!([["text_link", 0, 1]])),
        ("HTML", "<pre><code class=\"language-py\">x=1</code></pre>", "x=1", json!([["pre", 0, 3]])),
        (
            "HTML",
            "<span class=\"tg-spoiler\">s</span><blockquote expandable>q</blockquote>",
            "sq",
            json!([["spoiler", 0, 1], ["expandable_blockquote", 1, 1]]),
        ),
        (
            "MarkdownV2",
            "*b _i_* __u__ ~s~ ||p||",
            "b i u s p",
            json!([["bold", 0, 3], ["italic", 2, 1], ["underline", 4, 1], ["strikethrough", 6, 1], ["spoiler", 8, 1]]),
        ),
        (
            "MarkdownV2",
            "😀 `a_b` 1\\. [l](http://e.x/\\))",
            "😀 a_b 1. l",
            json!([["code", 3, 3], ["text_link", 10, 1]]),
        ),
        ("MarkdownV2", "```rust\nfn a() {}\n```", "fn a() {}", json!([["pre", 0, 9]])),
        ("MarkdownV2", ">one\n>two\nthree", "one\ntwo\nthree", json!([["blockquote", 0, 8]])),
        ("MarkdownV2", ">>a\nb", "a\nb", json!([["blockquote", 0, 2]])),
        ("MarkdownV2", "```x`y`z```", "xyz", json!([["pre", 0, 3], ["code", 1, 1]])),
        ("MarkdownV2", "```sh ls```", "ls", json!([["pre", 0, 2]])),
        ("Markdown", "[](http://e.x) x", "(http://e.x) x", json!([["url", 1, 10]])),
        (
            "Markdown",
            "*b* _i_ [l](http://e.x) \\_",
            "b i l _",
            json!([["bold", 0, 1], ["italic", 2, 1], ["text_link", 4, 1]]),
        ),
    ];
    for (mode, source, text, entities) in cases {
        let message = sent(&client, json!({"text": source, "parse_mode": mode})).await;
        assert_eq!(message["text"], text, "{source}");
        let found: Vec<Value> = message["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| json!([e["type"], e["offset"], e["length"]]))
            .collect();
        assert_eq!(Value::from(found), entities, "{source}");
    }
    assert_eq!(client.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn markup_that_cannot_be_parsed_is_refused() {
    let client = Client::start().await;
    let cases = [
        ("HTML", "<b>x", "Can't find end tag corresponding to start tag \"b\""),
        ("HTML", "use <name> here", "Unsupported start tag \"name\" at byte offset 4"),
        ("HTML", "<a@b.com>", "Unsupported start tag \"a@b.com\" at byte offset 0"),
        ("HTML", "<b>x</i>", "Unmatched end tag at byte offset 4, expected \"</b>\", found \"</i>\""),
        ("HTML", "x</b>", "Unexpected end tag at byte offset 1"),
        ("MarkdownV2", "Sure! Step 1", "Character '!' is reserved and must be escaped with the preceding '\\'"),
        ("MarkdownV2", "a_b", "Can't find end of Italic entity at byte offset 1"),
        ("MarkdownV2", "1. x", "Character '.' is reserved"),
        ("MarkdownV2", "[x](http://e", "Can't find end of a URL at byte offset 3"),
        ("MarkdownV2", "```py\nx", "Can't find end of PreCode entity at byte offset 0"),
        ("Markdown", "snake_case", "Can't find end of the entity starting at byte offset 5"),
        ("Wiki", "x", "unsupported parse_mode"),
    ];
    for (mode, text, part) in cases {
        let why = refused(&client, json!({"text": text, "parse_mode": mode})).await;
        assert!(why.contains(part), "{text}: {why}");
    }
    assert_eq!(client.violations().len(), cases.len());
}

#[tokio::test]
async fn commands_mentions_and_addresses_are_found() {
    let client = Client::start().await;
    let text = "/go@mybot @ann_x #tag https://e.x/a. a@mybot x/no";
    let message = sent(&client, json!({"text": text})).await;
    let found: Vec<String> = message["entities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| format!("{} {} {}", e["type"].as_str().unwrap(), e["offset"], e["length"]))
        .collect();
    assert_eq!(found, ["bot_command 0 9", "mention 10 6", "hashtag 17 4", "url 22 13"]);
    let code = json!({"text": "@mybot", "entities": [{"type": "code", "offset": 0, "length": 6}]});
    assert_eq!(sent(&client, code).await["entities"].as_array().unwrap().len(), 1);
}

#[test]
fn what_only_looks_like_a_command_or_a_name_is_not_found() {
    let kinds = |text: &str| -> Vec<(String, u64)> {
        let entity = |e: Value| (e["type"].as_str().unwrap().to_owned(), e["length"].as_u64().unwrap());
        crate::text::find(text).into_iter().map(entity).collect()
    };
    for text in ["@abc", "a@mybot", "/x@", "/x@no", "/x/y", "/x@mybot/y", "x/y", "#1", "#tag#two", "//x"] {
        assert_eq!(kinds(text), [], "{text}");
    }
    for (text, kind, length) in [
        ("@abcd", "mention", 5),
        ("(@mybot)", "mention", 6),
        ("/x@bot", "bot_command", 6),
        ("/x.", "bot_command", 2),
        ("字 #tag@mybot", "hashtag", 10),
        ("ahttps://e.x/y", "url", 13),
    ] {
        assert_eq!(kinds(text), [(kind.to_owned(), length)], "{text}");
    }
}

#[test]
fn no_text_makes_a_parser_panic() {
    let alphabet: Vec<char> = "_*[]()~`>#+-=|{}.!\\</&;\"'a😀\n b://=?#x1".chars().collect();
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(alphabet[usize::try_from(seed >> 33).unwrap() % alphabet.len()]);
        }
        for mode in ["HTML", "MarkdownV2", "Markdown", ""] {
            let fields = json!({"text": text, "parse_mode": mode});
            if let Ok(read) = crate::text::TEXT.read(fields.as_object().unwrap()) {
                let total = crate::text::units(&read.text);
                for entity in read.with_found().entities {
                    let end = entity["offset"].as_u64().unwrap() + entity["length"].as_u64().unwrap();
                    assert!(usize::try_from(end).unwrap() <= total, "{mode} {text:?}: {entity}");
                }
            }
        }
    }
}
