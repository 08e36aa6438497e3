use super::*;

#[test]
fn weather_in_paris_is_found_loaded_and_called() {
    let mut world = World::new(vec![weather(), echo(), convert()]);
    world.result = Ok("18 °C".into());
    assert_eq!(world.say("weather in Paris"), "18 °C");
    assert_eq!(
        world.calls,
        [
            ("discover".into(), json!({"query": "weather in Paris", "kind": "tool"})),
            ("load_tool".into(), json!({"name": "maps__get-weather"})),
            ("maps__get-weather".into(), json!({"city": "Paris"})),
        ]
    );
    // A second turn reads only its own message and needs no loading.
    world.calls.clear();
    world.say("what is the weather in Rome?");
    assert_eq!(world.names(), ["discover", "maps__get-weather"]);
    assert_eq!(world.calls[1].1, json!({"city": "Rome"}));
}

#[test]
fn echo_and_beijing() {
    let mut world = World::new(vec![weather(), echo(), convert()]);
    world.say("echo hello world");
    assert_eq!(world.calls[2], ("echo".into(), json!({"text": "hello world"})));
    world.calls.clear();
    world.say("北京天气");
    assert_eq!(world.calls[2], ("maps__get-weather".into(), json!({"city": "北京"})));
}

#[test]
fn five_miles_to_km() {
    let mut world = World::new(vec![weather(), echo(), convert()]);
    world.say("convert 5 miles to km");
    assert_eq!(world.calls[2], ("convert".into(), json!({"value": 5, "from": "miles", "to": "km"})));
}

#[test]
fn greetings_and_stop_words_get_help_without_a_call() {
    let mut world = World::new(vec![weather()]);
    for text in [
        "what can you do",
        "What can you do?",
        "谢谢",
        "谢谢！",
        "Hello",
        "hi!",
        " THANK YOU. ",
        "thanks…",
        "你会什么？",
        "help",
        "",
        "?",
    ] {
        assert_eq!(world.say(text), "HELP", "{text}");
    }
    assert!(world.calls.is_empty());
}

#[test]
fn a_joke_has_no_tool() {
    let mut world = World::new(vec![weather(), echo(), convert()]);
    let text = world.say("tell me a joke");
    assert!(text.contains("no tool for that") && text.contains("/help"), "{text}");
    assert_eq!(world.names(), ["discover", "discover"]);
    assert_eq!(world.calls[1].1["kind"], "skill");
    world.language = Language::Zh;
    assert!(world.say("讲个笑话").contains("/help"));
}

#[test]
fn a_skill_unlocks_its_tools() {
    let mut world = World::new(vec![weather(), tool("skill__brew__tea", "Makes tea", "", props(json!({}), &[]))]);
    world.skills = vec![("brew-tea", vec!["skill__brew__tea"]), ("empty", vec![])];
    assert_eq!(world.say("brew me some tea"), "done");
    assert_eq!(world.names(), ["discover", "discover", "load_skill", "skill__brew__tea"]);
    assert!(world.say("empty the bin").contains("no tool"));
}

#[test]
fn the_search_form_and_no_form() {
    let mut world = World::new(vec![weather(), echo()]);
    world.metas = vec!["tool_search", "load_skill", "ask_user"];
    world.say("weather in Paris");
    assert_eq!(world.calls[0], ("tool_search".into(), json!({"queries": ["weather in Paris"]})));
    assert_eq!(world.calls[1], ("maps__get-weather".into(), json!({"city": "Paris"})));
    assert!(world.say("show me a joke").contains("no tool"));
    let mut world = World::new(vec![weather(), echo()]);
    world.metas = vec![];
    world.say("weather in Paris");
    assert_eq!(world.names(), ["maps__get-weather"]);
    assert!(world.say("show me a joke").contains("no tool"));
    assert!(world.say("echo").contains("text"));
}

#[test]
fn what_is_missing_is_asked() {
    let mut world = World::new(vec![convert()]);
    world.answers = VecDeque::from([json!("seven"), json!("7"), json!("miles")]);
    world.say("convert to km");
    assert_eq!(world.names(), ["discover", "load_tool", "ask_user", "ask_user", "ask_user", "convert"]);
    assert_eq!(world.calls[2].1, json!({"question": "How much", "type": "number"}));
    assert_eq!(world.calls[4].1, json!({"question": "to", "type": "pick", "options": ["km", "miles"]}));
    assert_eq!(world.calls[5].1, json!({"value": 7, "from": "km", "to": "miles"}));
}

#[test]
fn five_questions_are_the_most_and_no_answer_ends_it() {
    let mut world = World::new(vec![convert()]);
    world.answers = std::iter::repeat_n(json!("nothing"), 9).collect();
    assert_eq!(world.say("convert distance"), "I still need: value, from, to.");
    assert_eq!(world.names().iter().filter(|n| **n == "ask_user").count(), 5);
    let mut world = World::new(vec![convert()]);
    assert_eq!(world.say("convert 3 km distance"), "I still need: to.");
    assert_eq!(world.names().iter().filter(|n| **n == "ask_user").count(), 1);
    world.metas.retain(|m| *m != "ask_user");
    world.calls.clear();
    world.language = Language::Zh;
    assert!(world.say("convert 3 km distance").contains("to"));
    assert_eq!(world.names(), ["discover"]);
}

#[test]
fn answers_may_be_whole_phrases() {
    for (answer, city) in [
        ("Isle of Man", "Isle of Man"),
        ("in Paris", "Paris"),
        ("city=Rome", "Rome"),
        ("“New York”", "New York"),
        ("weather", "weather"),
    ] {
        let mut world = World::new(vec![weather()]);
        world.answers = VecDeque::from([json!(answer)]);
        world.say("weather forecast");
        assert_eq!(world.calls.last().unwrap().1["city"], city, "{answer}");
    }
}

#[test]
fn errors_are_said_in_words_and_long_results_are_cut() {
    let mut world = World::new(vec![echo()]);
    world.result = Err("Error[APPROVAL_REJECTED]: you said no".into());
    assert_eq!(world.say("echo hello"), "I did not run it.");
    world.result = Err("Error[COMMAND_FAILED]: it broke".into());
    assert_eq!(world.say("echo hello"), "That did not work: it broke");
    world.result = Ok("界".repeat(5000));
    assert_eq!(world.say("echo hello").chars().count(), 4000);
}

#[test]
fn the_last_step_answers_with_what_there_is() {
    let mut world = World::new(vec![echo()]);
    world.say("echo hello");
    world.messages.pop();
    world.messages.push(ModelMessage::user("limit reached, answer now"));
    let request = ModelRequest { tool_choice: ToolChoice::None, ..world.request("echo hello", 15) };
    assert_eq!(Offline::answer(&request)[0], ModelEvent::Text("done".into()));
    let request = ModelRequest { tool_choice: ToolChoice::None, ..World::new(vec![]).request("echo hello", 1) };
    assert!(matches!(&Offline::answer(&request)[0], ModelEvent::Text(t) if t.contains("no tool")));
}

#[test]
fn a_last_step_that_still_looks_for_a_tool_says_nothing() {
    let mut world = World::new(vec![echo()]);
    world.say("echo hello");
    let looked = world.messages.iter().position(|m| matches!(m, ModelMessage::Tool { .. })).expect("a result");
    world.messages.truncate(looked + 1);
    world.messages.push(ModelMessage::user("limit reached, answer now"));
    let request = ModelRequest { tool_choice: ToolChoice::None, ..world.request("echo hello", 2) };
    let said = Offline::answer(&request);
    assert!(!said.iter().any(|e| matches!(e, ModelEvent::Text(t) if !t.is_empty())), "{said:?}");
}

#[test]
fn usage_is_estimated_and_free() {
    let events = Offline::answer(&World::new(vec![]).request("hi", 1));
    assert!(matches!(&events[1], ModelEvent::Usage(u) if u.estimated && u.cost_usd == 0.0 && u.output > 0));
}

#[test]
fn meta_tools_are_never_the_answer() {
    let mut world = World::new(vec![weather()]);
    world.messages.push(ModelMessage::user("x y"));
    let call = ModelCall { id: "c".into(), name: "discover".into(), arguments: "{\"kind\":\"tool\"}".into() };
    world.messages.push(ModelMessage::assistant("", vec![call]));
    world.messages.push(ModelMessage::Tool {
        call_id: "c".into(),
        tool: "discover".into(),
        content: vec![],
        is_error: false,
        data: json!({"items": [{"kind": "tool", "name": "ask_user"}, {"kind": "tool", "name": "maps__get-weather"}]}),
        references: vec![],
    });
    let events = Offline::answer(&world.request("x y", 2));
    assert!(
        matches!(&events[0], ModelEvent::Call(c) if c.name == "load_tool" && c.arguments.contains("maps__get-weather"))
    );
}

#[test]
fn two_runs_of_a_talk_are_equal() {
    let talk = || {
        let mut world = World::new(vec![weather(), echo(), convert()]);
        let words =
            ["weather in Paris", "echo hello world", "北京天气", "convert 5 miles to km", "tell me a joke", "谢谢"];
        (words.map(|text| world.say(text)), world.calls)
    };
    assert_eq!(talk(), talk());
}
