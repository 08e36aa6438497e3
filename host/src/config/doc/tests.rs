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
