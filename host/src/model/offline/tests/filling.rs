use super::*;
use crate::model::offline::fill::Form;
use proptest::prelude::*;

/// Arguments of a tool named `do-it` out of a text.
fn fill(properties: Value, required: &[&str], text: &str) -> Value {
    fill_with("do-it", "", properties, required, text)
}

fn fill_with(name: &str, keywords: &str, properties: Value, required: &[&str], text: &str) -> Value {
    Value::Object(Form::of(&tool(name, "d", keywords, props(properties, required))).fill(text).arguments())
}

fn string() -> Value {
    json!({"type": "string"})
}

#[test]
fn a_named_values() {
    let p = json!({"max_items": {"type": "integer"}, "name": string(), "tags": {"type": "array", "items": string()}, "on": {"type": "boolean"}});
    assert_eq!(
        fill(p.clone(), &[], "max-items=3, name: \"Ann B\" tags=a,b on=no"),
        json!({"max_items": 3, "name": "Ann B", "tags": ["a", "b"], "on": false})
    );
    assert_eq!(fill(p.clone(), &[], "Max Items: 12 NAME=Bob, rest"), json!({"max_items": 12, "name": "Bob"}));
    assert_eq!(fill(p.clone(), &[], "name：「王 五」"), json!({"name": "王 五"}));
    assert_eq!(fill(p.clone(), &["name"], "rename=Bob"), json!({"name": "rename=Bob"}));
    // Not a number: no rule takes it as one, and the only text property takes the rest.
    assert_eq!(fill(p, &[], "max_items=lots"), json!({"name": "max_items=lots"}));
    assert_eq!(fill(json!({"城市": string()}), &["城市"], "查城市=北京 吧"), json!({"城市": "北京"}));
}

#[test]
fn b_choices() {
    let size = json!({"size": {"enum": ["big", "very_big", "small"]}});
    assert_eq!(fill(size.clone(), &[], "a very big one, not small"), json!({"size": "very_big"}));
    assert_eq!(fill(size.clone(), &[], "bigger than life"), json!({}));
    assert_eq!(fill(json!({"u": {"enum": ["m", "km"]}}), &[], "I'm at 5 km"), json!({"u": "km"}));
    assert_eq!(fill(size, &[], "Small or big"), json!({"size": "small"}));
    assert_eq!(fill(json!({"c": {"enum": ["红", "红色"]}}), &[], "我要红色的"), json!({"c": "红色"}));
    assert_eq!(fill(json!({"c": {"const": "fast"}}), &[], "go fast"), json!({"c": "fast"}));
    assert_eq!(fill(json!({"n": {"enum": [1, 2]}}), &[], "take 2"), json!({"n": 2}));
    let unit = json!({"enum": ["km", "miles"]});
    assert_eq!(
        fill(json!({"v": {"type": "number"}, "from": unit, "to": unit}), &[], "5km miles"),
        json!({"v": 5, "from": "km", "to": "miles"})
    );
    let optional = json!({"u": {"anyOf": [{"$ref": "#/properties/x"}, {"type": "null"}]}, "x": {"type": "string", "enum": ["aa", "bb"]}});
    assert_eq!(fill(optional, &[], "bb"), json!({"u": "bb"}));
}

#[test]
fn c_flags() {
    let p = json!({"dry_run": {"type": "boolean"}, "verbose": {"type": "boolean"}, "详细": {"type": "boolean"}});
    assert_eq!(fill(p.clone(), &[], "dry run without verbose"), json!({"dry_run": true, "verbose": false}));
    assert_eq!(fill(p.clone(), &[], "--no-dry-run and Verbose"), json!({"dry_run": false, "verbose": true}));
    assert_eq!(fill(p.clone(), &[], "不详细"), json!({"详细": false}));
    assert_eq!(fill(p.clone(), &[], "请详细说"), json!({"详细": true}));
    assert_eq!(fill(p, &[], "verbosely casino verbose"), json!({"verbose": true}));
}

#[test]
fn d_numbers_in_range() {
    let p =
        json!({"n": {"type": "integer", "minimum": 1, "maximum": 10}, "x": {"type": "number", "exclusiveMinimum": 10}});
    assert_eq!(fill(p.clone(), &[], "50 or 3.5 or 7"), json!({"n": 7, "x": 50}));
    assert_eq!(fill(p.clone(), &[], "on 2026-03-04 at 10:30, v1.2.3 h264, 10.5"), json!({"x": 10.5}));
    assert_eq!(fill(p.clone(), &[], "3天后 1,000"), json!({"n": 3, "x": 1000}));
    assert_eq!(fill(json!({"t": {"type": "integer"}}), &[], "to -5 degrees"), json!({"t": -5}));
    assert_eq!(fill(json!({"t": {"type": "integer", "multipleOf": 5}}), &[], "3 10-20"), json!({"t": 10}));
    assert_eq!(fill(json!({"t": {"type": "integer"}}), &[], "99999999999999999999"), json!({}));
}

#[test]
fn e_formats() {
    let f = |format: &str| json!({"type": "string", "format": format});
    let p =
        json!({"site": f("uri"), "mail": f("email"), "day": f("date"), "at": f("date-time"), "n": {"type": "integer"}});
    assert_eq!(
        fill(p.clone(), &[], "see https://x.example/a?b=1, write ann@x.example, 2026-03-01, 2026-03-02T10:00:00Z, 4"),
        json!({"site": "https://x.example/a?b=1", "mail": "ann@x.example", "day": "2026-03-01", "at": "2026-03-02T10:00:00Z", "n": 4})
    );
    assert_eq!(
        fill(p.clone(), &[], "2026-13-45 and 2026-03-02 10:00:00+02:00"),
        json!({"at": "2026-03-02T10:00:00+02:00"})
    );
    assert_eq!(fill(p, &[], "明天2026-03-01发给ann@x.example"), json!({"day": "2026-03-01", "mail": "ann@x.example"}));
}

#[test]
fn f_lists() {
    let p = json!({"n": {"type": "array", "items": {"type": "integer"}}, "c": {"type": "array", "items": {"enum": ["red", "blue", "green"]}, "maxItems": 2}});
    assert_eq!(
        fill(p, &[], "blue red green 1, 2,3 and 100,200"),
        json!({"n": [1, 2, 3, 100, 200], "c": ["blue", "red"]})
    );
    let p = json!({"to": {"type": "array", "items": {"type": "string", "format": "email"}}});
    assert_eq!(fill(p, &[], "mail a@x.example and b@x.example"), json!({"to": ["a@x.example", "b@x.example"]}));
}

#[test]
fn g_quoted_texts_go_to_required_ones_first() {
    let p = json!({"note": string(), "title": string(), "n": {"type": "integer"}});
    assert_eq!(
        fill(p.clone(), &["title"], "add \"Buy 5 eggs\" then 「soon」 2"),
        json!({"note": "soon", "title": "Buy 5 eggs", "n": 2})
    );
    assert_eq!(fill(p, &["title"], "“one”"), json!({"title": "one"}));
    assert_eq!(
        fill(json!({"n": {"type": "integer"}, "text": string()}), &["text"], "say \"7\" now"),
        json!({"n": 7, "text": "say now"})
    );
}

#[test]
fn h_the_rest_is_the_one_open_text() {
    let city = || json!({"city": string(), "days": {"type": "integer"}});
    let of = |text: &str| fill_with("get-weather", "forecast 天气", city(), &["city"], text)["city"].clone();
    assert_eq!(of("weather in Paris"), "Paris");
    assert_eq!(of("What's the weather like in New York?"), "New York");
    assert_eq!(of("please show me the forecast for Berlin, please"), "Berlin, please");
    assert_eq!(of("weather in The Hague tomorrow"), "The Hague tomorrow");
    assert_eq!(of("Paris weather"), "Paris");
    assert_eq!(of("北京的天气"), "北京");
    assert_eq!(of("帮我查询在上海的天气"), "上海");
    assert_eq!(of("天气 广州"), "广州");
    assert_eq!(of("weather"), Value::Null);
    assert_eq!(of("weather for Paris in"), "Paris in");
    let echo = |text: &str| fill_with("echo", "", json!({"text": string()}), &["text"], text)["text"].clone();
    assert_eq!(echo("echo hello world"), "hello world");
    assert_eq!(echo("echo to be in or not in"), "not in");
    assert_eq!(echo("echo 你好，世界！"), "你好，世界");
    // Optional, but the only text there is.
    assert_eq!(fill(json!({"q": string()}), &[], "look for cats"), json!({"q": "cats"}));
    // Two open required texts: neither is guessed.
    assert_eq!(fill(json!({"a": string(), "b": string()}), &["a", "b"], "some words here"), json!({}));
}

#[test]
fn h_pairs_share_a_phrase() {
    let pair = |a: &str, b: &str, text: &str| {
        let v = fill_with("translate", "翻译 flight", json!({a: string(), b: string()}), &[a, b], text);
        (v[a].as_str().unwrap_or_default().to_owned(), v[b].as_str().unwrap_or_default().to_owned())
    };
    let is = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(pair("from", "to", "translate from English to French"), is("English", "French"));
    assert_eq!(pair("from", "to", "flights Berlin to New York on Friday"), is("Berlin", "New York"));
    assert_eq!(pair("source", "target", "translate good morning in French"), is("good morning", "French"));
    assert_eq!(pair("source", "target", "把人民币翻译成美元"), is("人民币", "美元"));
    assert_eq!(pair("from", "to", "请把 人民币 换成 美元。"), is("人民币", "美元"));
    assert_eq!(pair("to", "from", "from A1 to B2"), is("B2", "A1"));
    assert_eq!(pair("from", "to", "translate"), is("", ""));
}

#[test]
fn worked_examples() {
    let unit = json!({"enum": ["mm", "m", "km", "miles", "g", "公里", "英里"]});
    let units = |text: &str| {
        let p = json!({"amount": {"type": "number"}, "from": unit, "to": unit});
        fill_with("convert-units", "convert km miles 换算 公里 英里", p, &["amount", "from", "to"], text)
    };
    assert_eq!(units("convert 5 miles to km"), json!({"amount": 5, "from": "miles", "to": "km"}));
    assert_eq!(units("把10公里换算成英里"), json!({"amount": 10, "from": "公里", "to": "英里"}));
    assert_eq!(units("how many miles are 2.5 km?"), json!({"amount": 2.5, "from": "miles", "to": "km"}));
    let dice = json!({"dice": {"type": "string", "default": "1d6"}});
    assert_eq!(fill_with("roll", "dice d6 d20 throw", dice.clone(), &[], "roll 2d6"), json!({"dice": "2d6"}));
    assert_eq!(fill_with("roll", "dice d6 throw", dice, &[], "roll the dice"), json!({}));
    let text = json!({"text": string()});
    let remind =
        |t: &str| fill_with("add", "reminder remember note 提醒 remind 记住 提醒我", text.clone(), &["text"], t);
    assert_eq!(remind("remind me to water the plants"), json!({"text": "water the plants"}));
    assert_eq!(remind("提醒我买牛奶"), json!({"text": "买牛奶"}));
    let query = fill_with(
        "search-docs",
        "notes find",
        json!({"query": string()}),
        &["query"],
        "search the notes for sourdough",
    );
    assert_eq!(query, json!({"query": "sourdough"}));
    let bill = json!({"total": {"type": "number", "exclusiveMinimum": 0}, "people": {"type": "integer"}});
    assert_eq!(
        fill_with("split-bill", "", bill.clone(), &[], "split the bill total 90 people 3"),
        json!({"total": 90, "people": 3})
    );
    assert_eq!(fill_with("split-bill", "", bill, &[], "people: 3, total: 90"), json!({"total": 90, "people": 3}));
    let choices = fill_with("pick", "choose random", json!({"choices": string()}), &["choices"], "pick pizza or pasta");
    assert_eq!(choices, json!({"choices": "pizza or pasta"}));
}

#[test]
fn values_a_schema_refuses_are_left_out() {
    let p = json!({"code": {"type": "string", "pattern": "^[A-Z]{3}$"}, "n": {"type": "integer"}});
    assert_eq!(fill(p.clone(), &["code"], "code=abc"), json!({}));
    assert_eq!(fill(p, &["code"], "code=ABC 5"), json!({"code": "ABC", "n": 5}));
}

#[test]
fn a_default_is_not_asked_for() {
    let schema = props(json!({"n": {"type": "integer", "default": 3}, "x": {"type": "integer"}}), &["n", "x"]);
    let form = Form::of(&tool("t", "d", "", schema));
    let filled = form.fill("nothing");
    assert_eq!(form.missing(&filled).unwrap().name, "x");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_filled_without_panic_and_twice_alike(text in ".{0,60}", zh in "[在到给把成的北京天气不“”「」=：0-9a-z ]{0,30}") {
        let text = format!("{text}{zh}");
        for tool in [weather(), convert(), echo()] {
            let form = Form::of(&tool);
            prop_assert_eq!(form.fill(&text), form.fill(&text));
        }
        let all = json!({
            "from": string(), "to": string(), "b": {"type": "boolean"}, "n": {"type": "array", "items": {"type": "number"}},
            "u": {"type": "string", "format": "uri"}, "d": {"type": "string", "format": "date"}, "不": {"type": "boolean"}
        });
        fill(all, &["from"], &text);
    }

    #[test]
    fn any_history_is_answered(data in prop::collection::vec((0usize..6, any::<bool>(), 0usize..4), 0..6)) {
        let mut world = World::new(vec![weather(), convert()]);
        world.messages.push(ModelMessage::user("weather 5"));
        let names = ["discover", "load_tool", "load_skill", "tool_search", "ask_user", "convert"];
        let datas = [json!(null), json!({"items": [{"kind": "tool", "name": "convert"}, 3]}), json!({"tools": [{}], "unlocked": [1, "convert"]}), json!([])];
        for (i, (name, is_error, data)) in data.into_iter().enumerate() {
            let call = ModelCall { id: format!("c{i}"), name: names[name].into(), arguments: "{\"name\":\"convert\"}".into() };
            world.messages.push(ModelMessage::assistant("", vec![call]));
            world.messages.push(ModelMessage::Tool { call_id: format!("c{i}"), tool: names[name].into(), content: vec![], is_error, data: datas[data].clone(), references: vec![] });
        }
        world.loaded.push("convert".into());
        prop_assert_eq!(Offline::answer(&world.request("weather 5", 3)).len(), 3);
    }
}
