use super::*;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn wire_names_of_the_contract() {
    let long = format!("games__{}", "a".repeat(60));
    let names = ["maps__get-weather", "2048", "天气__查询", "mcp__my-server__read.file", &long];
    let wires = wire_names(names.into_iter());
    let expected = [
        "maps__get-weather".to_string(),
        "_2048__bfa0ec8bdf".to_string(),
        "________d379893394".to_string(),
        "mcp__my-server__read_file__a947c452ba".to_string(),
        format!("games__{}__2a1304659d", "a".repeat(45)),
    ];
    assert_eq!(wires, expected);
}

#[test]
fn long_names_equal_in_the_first_sixty_differ_and_order_never_matters() {
    let (a, b) = (format!("{}x{}", "n".repeat(60), "1".repeat(19)), format!("{}x{}", "n".repeat(60), "2".repeat(19)));
    let one = wire_names([a.as_str(), b.as_str()].into_iter());
    let other = wire_names([b.as_str(), a.as_str()].into_iter());
    assert_ne!(one[0], one[1]);
    assert_eq!((&one[0], &one[1]), (&other[1], &other[0]));
    assert!(one.iter().all(|w| is_plain(w) && w.len() == 64));
}

#[test]
fn a_plain_name_that_equals_a_digest_form_takes_its_own() {
    let taken = digest_form("2048");
    let wires = wire_names(["2048", taken.as_str()].into_iter());
    assert_eq!(wires[0], taken);
    assert_eq!(wires[1], digest_form(&taken));
}

proptest! {
    #[test]
    fn wire_names_are_plain_and_unique(names in proptest::collection::btree_set(".{1,80}", 1..30)) {
        let wires = wire_names(names.iter().map(String::as_str));
        let distinct: std::collections::HashSet<&String> = wires.iter().collect();
        prop_assert_eq!(distinct.len(), names.len());
        prop_assert!(wires.iter().all(|w| is_plain(w)));
    }

    #[test]
    fn canonical_json_reads_back_and_ignores_key_order(f in any::<f64>(), i in any::<i64>(), u in any::<u64>(), s in ".{0,20}") {
        let a = json!({"s": s, "n": [f, i, u], "z": {"b": 1, "a": null}});
        let b = json!({"z": {"a": null, "b": 1}, "n": [f, i, u], "s": s});
        let text = canonical_json(&a);
        prop_assert_eq!(&text, &canonical_json(&b));
        let back: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back["n"][1].as_i64(), Some(i));
        prop_assert_eq!(back["n"][2].as_u64(), Some(u));
        if f.is_finite() {
            prop_assert_eq!(back["n"][0].as_f64(), Some(f));
        }
    }
}

#[test]
fn canonical_json_and_hashes_of_the_contract() {
    let hash = |v: Value| hash_json(&v);
    assert_eq!(
        hash(json!({"days": 2, "city": "Paris"})),
        "6894516078344e17248e042712e84a47f3b23f970892020432d3fae33c6e1156"
    );
    assert_eq!(
        hash(json!({"user_id": 1_234_567_890_123_456_789_i64})),
        "87fdb581bf965619fa0b9614344111163d62bcdcf6010af1a987a4d9faa988d8"
    );
    let numbers = json!([1.0, -0.0, 1e21, 1e20, 1e-7, 0.000_001, 123.456, -2.5e-9, u64::MAX, i64::MIN, 5e-324]);
    assert_eq!(
        canonical_json(&numbers),
        "[1,0,1e+21,100000000000000000000,1e-7,0.000001,123.456,-2.5e-9,18446744073709551615,-9223372036854775808,5e-324]"
    );
    assert_eq!(canonical_json(&json!("a\"\\\u{8}\n\u{1f}é\u{7f}")), "\"a\\\"\\\\\\b\\n\\u001fé\u{7f}\"");
    // U+1F600 sorts before U+FB01 by UTF-16 units, after it by bytes
    assert_eq!(canonical_json(&json!({"\u{fb01}": 1, "\u{1f600}": 2})), "{\"\u{1f600}\":2,\"\u{fb01}\":1}");
    assert_eq!(sha256_hex("2048")[..10], *"bfa0ec8bdf");
}

#[test]
fn hashes_follow_what_they_cover() {
    let of = |text: &str| {
        let index = registry([tool(".", "a", text)]).seal();
        let t = &index.tools()[0];
        (t.input.schema_hash.clone(), t.tool_hash())
    };
    let plain = of("capabilities = []");
    assert_eq!(plain, of("capabilities = []\ntags = [\"x\"]"));
    assert_ne!(plain.0, of("capabilities = [\"read\"]").0);
    let described = of("capabilities = []\ndescription = \"B\"");
    assert_eq!((described.0 == plain.0, described.1 == plain.1), (true, false));
    let by_hand = hash_json(&json!({
        "capabilities": [],
        "input_schema": {"type": "object", "properties": {}, "required": []},
        "requires_approval": "on-risk",
    }));
    assert_eq!(plain.0, by_hand);
}
