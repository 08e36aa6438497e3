use crate::config::SchemaProfile::{self, Anthropic, Minimal, Openai};
use crate::model::{MAX_DESCRIPTION, cut_description, wire_schema};
use proptest::prelude::*;
use serde_json::{Value, json};

fn all() -> [SchemaProfile; 3] {
    [Openai, Anthropic, Minimal]
}

fn everything() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:x", "$comment": "c", "examples": [{}],
        "type": "object",
        "$defs": {"unit": {"type": "string", "enum": ["km", "miles"], "description": "Unit"}},
        "properties": {
            "unit": {"$ref": "#/$defs/unit", "description": "Into"},
            "when": {"type": "string", "format": "date-time"},
            "site": {"type": "string", "format": "uri", "minLength": 3, "pattern": "^h"},
            "mode": {"const": "fast"},
            "note": {"type": ["string", "null"], "maxLength": 9, "description": "d"},
            "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3, "description": "How many"},
            "examples": {"type": "array", "items": {"$ref": "#/$defs/unit"}, "examples": [[]]}
        },
        "required": ["unit"],
        "additionalProperties": false,
        "if": {"required": ["note"]}, "then": {}, "else": {"not": {"required": ["count"]}},
        "patternProperties": {"^x-": {"type": "string"}}
    })
}

#[test]
fn golden_anthropic() {
    assert_eq!(
        wire_schema(&everything(), Anthropic).to_string(),
        json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "enum": ["km", "miles"], "description": "Into"},
                "when": {"type": "string", "format": "date-time"},
                "site": {"type": "string", "format": "uri", "minLength": 3, "pattern": "^h"},
                "mode": {"const": "fast"},
                "note": {"type": ["string", "null"], "maxLength": 9, "description": "d"},
                "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3, "description": "How many"},
                "examples": {"type": "array", "items": {"type": "string", "enum": ["km", "miles"], "description": "Unit"}}
            },
            "required": ["unit"],
            "additionalProperties": false,
            "if": {"required": ["note"]}, "then": {}, "else": {"not": {"required": ["count"]}},
            "patternProperties": {"^x-": {"type": "string"}}
        })
        .to_string()
    );
}

#[test]
fn golden_openai() {
    assert_eq!(
        wire_schema(&everything(), Openai).to_string(),
        json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "enum": ["km", "miles"], "description": "Into"},
                "when": {"type": "string", "format": "date-time"},
                "site": {"type": "string", "minLength": 3, "pattern": "^h"},
                "mode": {"enum": ["fast"]},
                "note": {"description": "d", "anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
                "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3, "description": "How many"},
                "examples": {"type": "array", "items": {"type": "string", "enum": ["km", "miles"], "description": "Unit"}}
            },
            "required": ["unit"],
            "additionalProperties": false,
            "if": {"required": ["note"]}, "then": {}, "else": {"not": {"required": ["count"]}},
            "patternProperties": {"^x-": {"type": "string"}}
        })
        .to_string()
    );
}

#[test]
fn golden_minimal() {
    assert_eq!(
        wire_schema(&everything(), Minimal).to_string(),
        json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "enum": ["km", "miles"], "description": "Into"},
                "when": {"type": "string", "format": "date-time"},
                "site": {"type": "string", "minLength": 3},
                "mode": {"enum": ["fast"]},
                "note": {"description": "d", "anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
                "count": {"type": "integer", "description": "How many (minimum 1, maximum 10)"},
                "examples": {"type": "array", "items": {"type": "string", "enum": ["km", "miles"], "description": "Unit"}}
            },
            "required": ["unit"]
        })
        .to_string()
    );
}

#[test]
fn an_empty_or_odd_root_is_an_empty_object() {
    for profile in all() {
        for odd in [json!({}), json!(true), json!(null), json!([]), json!({"type": "object"})] {
            assert_eq!(wire_schema(&odd, profile), json!({"type": "object", "properties": {}}));
        }
        let union = wire_schema(&json!({"anyOf": [{"required": ["a"]}]}), profile);
        assert_eq!(union, json!({"type": "object", "anyOf": [{"required": ["a"]}], "properties": {}}));
    }
}

#[test]
fn recursion_is_cut_at_the_fifth_level() {
    let tree = json!({
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
    });
    for profile in all() {
        let mut at = &wire_schema(&tree, profile)["properties"]["node"];
        for _ in 0..4 {
            at = &at["properties"]["next"];
        }
        assert_eq!(*at, json!({"type": "object", "properties": {"next": {}}}));
    }
}

#[test]
fn a_reference_may_point_anywhere_local_and_nowhere_else() {
    let schema = json!({
        "properties": {
            "headers": {"type": "object", "description": "H"},
            "list": {"type": "array", "items": {"$ref": "#/properties/headers"}},
            "odd": {"$ref": "#/$defs/a~1b%20c"},
            "gone": {"$ref": "#/$defs/none"},
            "remote": {"$ref": "https://x.example/s.json", "description": "R"},
            "me": {"$ref": "#"},
            "both": {"$ref": "#/properties/headers", "type": "object"}
        },
        "$defs": {"a/b c": {"type": "integer"}}
    });
    let wire = wire_schema(&schema, Openai);
    assert_eq!(wire["properties"]["list"]["items"], json!({"type": "object", "description": "H"}));
    assert_eq!(wire["properties"]["odd"], json!({"type": "integer"}));
    assert_eq!(wire["properties"]["gone"], json!({}));
    assert_eq!(wire["properties"]["remote"], json!({"description": "R"}));
    assert_eq!(
        wire["properties"]["both"],
        json!({"allOf": [{"type": "object", "description": "H"}, {"type": "object"}]})
    );
}

#[test]
fn references_that_grow_by_powers_stay_small() {
    let defs: serde_json::Map<String, Value> = (0..12)
        .map(|i| {
            let next: serde_json::Map<String, Value> =
                (0..12).map(|j| (format!("p{j}"), json!({"$ref": format!("#/$defs/d{j}")}))).collect();
            (format!("d{i}"), json!({"type": "object", "properties": next}))
        })
        .collect();
    let bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    assert!(wire_schema(&bomb, Openai).to_string().len() < 2_000_000);
}

#[test]
fn a_long_enum_becomes_its_type_and_the_first_values() {
    let values: Vec<String> = (0..5000).map(|i| format!("v{i}")).collect();
    let schema = json!({"properties": {"v": {"enum": values, "description": "x".repeat(200_000)}}});
    for profile in all() {
        let v = &wire_schema(&schema, profile)["properties"]["v"];
        assert_eq!(v["type"], "string");
        assert!(v.get("enum").is_none());
        let text = v["description"].as_str().unwrap();
        assert_eq!(text.chars().count(), MAX_DESCRIPTION);
        assert!(text.ends_with("One of 5000 values: v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, …"));
    }
    let exact: Vec<u32> = (0..200).collect();
    assert!(wire_schema(&json!({"properties": {"v": {"enum": exact}}}), Openai)["properties"]["v"]["enum"].is_array());
}

#[test]
fn type_lists_take_their_keywords_along() {
    let schema = json!({"properties": {
        "a": {"type": ["string", "integer", "null"], "enum": ["x", 1, null], "minimum": 0, "minLength": 1},
        "b": {"type": ["string"], "maxLength": 2},
        "c": {"type": ["array", "string"], "items": {"const": 1}, "anyOf": [{"minLength": 1}]}
    }});
    let wire = wire_schema(&schema, Openai);
    assert_eq!(
        wire["properties"]["a"]["anyOf"],
        json!([
            {"type": "string", "enum": ["x"], "minLength": 1},
            {"type": "integer", "enum": [1], "minimum": 0},
            {"type": "null", "enum": [null]}
        ])
    );
    assert_eq!(wire["properties"]["b"], json!({"type": "string", "maxLength": 2}));
    assert_eq!(
        wire["properties"]["c"]["allOf"],
        json!([{"anyOf": [{"minLength": 1}]}, {"anyOf": [{"type": "array", "items": {"enum": [1]}}, {"type": "string"}]}])
    );
}

#[test]
fn descriptions_are_cut_on_characters() {
    assert_eq!(cut_description("short"), "short");
    let long = cut_description(&"界".repeat(2000));
    assert_eq!(long.chars().count(), MAX_DESCRIPTION);
    assert!(long.ends_with('…'));
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "$ref",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "format",
        "description",
        "not",
        "x",
        "$defs",
        "required",
        "default",
        "minimum",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec!["string", "object", "#", "#/properties", "#/$defs/x", "date"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_gives_an_object_without_references(schema in any_json()) {
        for profile in all() {
            let wire = wire_schema(&schema, profile);
            prop_assert_eq!(&wire["type"], "object");
            prop_assert!(wire["properties"].is_object());
        }
    }
}
