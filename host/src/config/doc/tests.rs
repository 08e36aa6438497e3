use super::*;

#[test]
fn toml_places() {
    let doc = Doc::parse_toml("bot", "bot.toml", "[bot]\nname = \"x\"\n[a]\n\"ß\" = 1 # c\n").unwrap();
    let (key, node) = doc.find("/bot/name").unwrap();
    assert_eq!(key.unwrap().span, Span { line: 2, column: 1, end_line: 2, end_column: 5 });
    assert_eq!(node.span, Span { line: 2, column: 8, end_line: 2, end_column: 11 });
    let (_, node) = doc.find("/a/ß").unwrap();
    assert_eq!(node.span.column, 7);
}

#[test]
fn yaml_places() {
    let doc = Doc::parse_yaml("skill", "S.md", "name: a\nlist: [1, yes, 1.0]\nm:\n  k: \"v\"\n", 1).unwrap();
    let (key, node) = doc.find("/list").unwrap();
    assert_eq!(key.unwrap().span, Span { line: 2, column: 1, end_line: 2, end_column: 5 });
    assert_eq!(node.span.column, 7);
    let (_, node) = doc.find("/list/2").unwrap();
    assert_eq!(node.plain.as_deref(), Some("1.0"));
    let (key, node) = doc.find("/m/k").unwrap();
    assert_eq!(key.unwrap().span.column, 3);
    assert_eq!(node.span, Span { line: 4, column: 6, end_line: 4, end_column: 9 });
    assert_eq!(node.plain, None);
}

#[test]
fn json_places() {
    let doc = Doc::parse_json("agent", "a.json", "{\n \"a\": [1, {\"b\\\"\": true}],\n \"n\": 18446744073709551615}")
        .unwrap();
    let (key, node) = doc.find("/a/1/b\"").unwrap();
    assert_eq!(key.unwrap().span, Span { line: 2, column: 12, end_line: 2, end_column: 17 });
    assert_eq!(node.span.column, 19);
    assert_eq!(doc.root.value()["n"], serde_json::json!(18446744073709551615u64));
}

/// `code line:column message` of the only finding.
fn yaml_fault(text: &str) -> String {
    let faults = Doc::parse_yaml("skill", "S.md", text, 1).unwrap_err();
    assert_eq!(faults.len(), 1);
    let d = &faults[0];
    format!("{} {}:{} {}", d.code, d.line.unwrap(), d.column.unwrap(), d.message)
}

#[test]
fn yaml_that_is_refused() {
    assert_eq!(yaml_fault("a: &x 1\n"), "text::yaml 2:4 an anchor is not allowed here");
    assert_eq!(yaml_fault("a: !!str 1\n"), "text::yaml 2:4 a tag is not allowed here");
    assert_eq!(
        yaml_fault("a: 1\nb: 2\na: 3\n"),
        "text::yaml 4:1 the key `a` is written twice (first on line 1 of the block)"
    );
    assert_eq!(yaml_fault("? [a]\n: 1\n"), "text::yaml 2:3 a key must be a text");
    assert_eq!(yaml_fault("a: 1\n---\nb: 1\n"), "text::yaml 3:1 only one document is allowed here");
    assert_eq!(yaml_fault("- a\n"), "skill::wrong-type 2:1 keys and values are expected here");
    assert!(yaml_fault("a: [1\n").starts_with("text::yaml 3:1 "));
    assert!(yaml_fault(&"[".repeat(100)).contains("deeper than 64"));
    assert!(yaml_fault(&format!("a: [{}]", "1,".repeat(3000))).contains("2,000 values"));
    assert!(yaml_fault(&"#".repeat(20_000)).contains("16 KiB"));
    assert!(Doc::parse_yaml("skill", "S.md", "", 1).is_ok());
    assert!(Doc::parse_yaml("skill", "S.md", "# nothing\n", 1).is_ok());
}

#[test]
fn json_that_is_refused() {
    let fault = |text: &str| {
        let faults = Doc::parse_json("agent", "a.json", text).unwrap_err();
        let d = &faults[0];
        format!("{} {}:{} {}", d.code, d.line.unwrap(), d.column.unwrap(), d.message)
    };
    assert_eq!(fault("{\n  \"a\": 1,\n  \"a\": 2\n}"), "agent::syntax 3:3 the key `a` is written twice");
    assert_eq!(fault("{\"é\": 1,}"), "agent::syntax 1:9 trailing comma");
    assert!(fault("{\"a\": ").starts_with("agent::syntax 1:"));
    assert!(fault("").starts_with("agent::syntax 1:1 "));
    assert!(fault(&"[".repeat(1000)).contains("recursion"));
}

#[test]
fn toml_that_is_refused() {
    let faults = |text: &str| {
        let faults = Doc::parse_toml("tool", "t.toml", text).unwrap_err();
        faults.iter().map(|d| (d.line.unwrap(), d.column.unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(faults("a = 1\na = 2\n"), [(2, 1)]);
    assert_eq!(faults("a = 99999999999999999999\n"), [(1, 5)]);
    assert_eq!(faults("a = \nb = 1\nc = [1 2]\n"), [(1, 5), (3, 6)]);
    assert_eq!(faults(&format!("a = {}", "[".repeat(1000))).len(), 1);
    assert!(Doc::parse_toml("tool", "t.toml", "a = inf\nb = 1979-05-27\n").is_ok());
}

#[test]
fn a_large_text_is_read_in_time_that_grows_with_its_size() {
    let line: String = (0..60_000).map(|i| format!("k{i} = \"é\", ")).collect();
    let doc = Doc::parse_toml("bot", "b.toml", &format!("a = {{ {} }}", line.trim_end_matches(", "))).unwrap();
    let NodeKind::Table(entries) = &doc.find("/a").unwrap().1.kind else { panic!() };
    assert_eq!(entries.len(), 60_000);
    assert!(entries[59_999].0.span.column > 600_000);
}
