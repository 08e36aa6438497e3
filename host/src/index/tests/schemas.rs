use super::*;
use plugin_sdk::{Approval, Severity};
use serde_json::json;

fn faults(schema: Value) -> Vec<(String, String)> {
    let (compiled, faults) = InputSchema::compile(&schema, &Map::new(), None, Approval::OnRisk);
    assert_eq!(compiled.is_none(), faults.iter().any(|f| f.severity == Severity::Error), "{faults:?}");
    faults.into_iter().map(|f| (f.code.to_string(), f.pointer)).collect()
}

fn compiled(schema: Value) -> InputSchema {
    let (compiled, faults) = InputSchema::compile(&schema, &Map::new(), None, Approval::OnRisk);
    compiled.unwrap_or_else(|| panic!("{faults:?}"))
}

fn one(code: &str, pointer: &str) -> Vec<(String, String)> {
    vec![(code.to_string(), pointer.to_string())]
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn every_code_with_its_pointer() {
    assert_eq!(faults(json!(true)), one("schema::root", ""));
    assert_eq!(faults(json!({"properties": {}})), one("schema::root", "/type"));
    assert_eq!(faults(json!({"type": "object", "oneOf": [{}]})), one("schema::root", "/oneOf"));
    assert_eq!(faults(json!({"type": "object", "$schema": "https://x.example/s"})), one("schema::draft", "/$schema"));
    assert_eq!(
        faults(object(json!({"a": {"$ref": "https://x.example/s"}}))),
        one("schema::remote-ref", "/properties/a/$ref")
    );
    assert_eq!(
        faults(object(json!({"a": {"$ref": "file:///etc/passwd"}}))),
        one("schema::remote-ref", "/properties/a/$ref")
    );
    assert_eq!(faults(object(json!({"a": {"$ref": "#/$defs/x"}}))), one("schema::bad-ref", "/properties/a/$ref"));
    assert_eq!(faults(object(json!({"a b": {}}))), one("schema::property-name", "/properties/a b"));
    assert_eq!(
        faults(object(json!({"a": {"type": "object", "properties": {"ü": {}}}}))),
        one("schema::property-name", "/properties/a/properties/ü")
    );
    assert_eq!(faults(object(json!({"a": {"description": "x".repeat(70_000)}}))), one("schema::too-big", ""));
    let deep = (0..20).fold(json!({}), |inner, _| json!({"type": "object", "properties": {"x": inner}}));
    assert_eq!(faults(deep), one("schema::too-big", ""));
    assert_eq!(faults(object(json!({"a": {"type": "strng"}}))), one("tool::bad-value", "/properties/a/type"));
    assert_eq!(faults(object(json!({"a": {"pattern": "("}})))[0].0, "tool::bad-value");
    assert_eq!(faults(object(json!({"a": {"pattern": "(a{1000}){1000}"}})))[0].0, "tool::bad-value");
    assert_eq!(faults(object(json!({"a": {"type": "array"}}))), one("schema::provider", "/properties/a/type"));
    let many: Vec<usize> = (0..501).collect();
    assert_eq!(faults(object(json!({"a": {"enum": many}}))), one("schema::provider", "/properties/a/enum"));
    assert_eq!(faults(object(json!({"a": {"not": {}}}))), one("schema::provider", "/properties/a/not"));
    let several = faults(object(json!({"a b": {}, "c": {"$ref": "#/nope"}, "d": {"type": "x"}})));
    assert_eq!(several.len(), 3, "{several:?}");
}

#[test]
fn what_is_legal() {
    // a property may be called like a keyword, and an enum may hold anything
    assert_eq!(
        faults(object(json!({"$ref": {"type": "string"}, "e": {"enum": [{"$ref": "x"}]}}))),
        [("schema::property-name".to_string(), "/properties/$ref".to_string())]
    );
    assert_eq!(faults(object(json!({"e": {"enum": [{"$ref": "x"}]}, "ref": {"default": {"$ref": "x"}}}))), []);
    let tree = json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}}, "additionalProperties": false}}});
    assert_eq!(faults(tree.clone()), []);
    let tree = compiled(tree);
    assert!(tree.validate(&json!({"t": {"next": {"next": {}}}})).is_empty());
    assert_eq!(tree.validate(&json!({"t": {"next": {"x": 1}}}))[0].path, "/t/next/x");
    for draft in [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        assert_eq!(faults(json!({"type": "object", "$schema": draft})), [], "{draft}");
    }
    let four = json!({"type": "object", "$schema": "http://json-schema.org/draft-04/schema#",
        "properties": {"n": {"type": "integer", "minimum": 1, "exclusiveMinimum": true}}});
    assert_eq!(compiled(four).validate(&json!({"n": 1})).len(), 1);
}

#[test]
fn all_violations_with_paths_and_without_values() {
    let schema = compiled(json!({
        "type": "object", "additionalProperties": false, "required": ["city"],
        "properties": {
            "city": {"type": "string", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
            "unit": {"enum": ["c", "f"]},
            "token": {"type": "string", "maxLength": 3},
            "list": {"type": "array", "items": {"type": "integer"}},
        },
    }));
    let got = schema.validate(&json!({
        "days": 9, "unit": "k", "token": "s3cr3t-value", "list": [1, "x", true], "more": 1, "other": 2,
    }));
    let mut paths: Vec<&str> = got.iter().map(|v| v.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/city", "/days", "/list/1", "/list/2", "/more", "/other", "/token", "/unit"]);
    assert!(got.iter().all(|v| !v.to_string().contains("s3cr3t")), "{got:?}");
    for wrong in [json!("5"), json!(5.5), json!(true)] {
        assert_eq!(schema.validate(&json!({"city": "a", "days": wrong})).len(), 1);
    }
    assert_eq!(schema.validate(&json!([]))[0].path, "");
}

#[test]
fn at_most_five_branches_are_listed() {
    let forms: Vec<Value> = (0..9).map(|i| json!({"const": i})).collect();
    let schema = compiled(object(json!({"a": {"oneOf": forms}})));
    let got = schema.validate(&json!({"a": "x"}));
    assert_eq!(got.len(), 6, "{got:?}");
    assert!(got.iter().all(|v| v.path == "/a"));
}

#[test]
fn patterns_stop() {
    let schema = compiled(object(json!({"a": {"type": "string", "pattern": "^(a+)+(?=b)$"}})));
    assert_eq!(schema.validate(&json!({"a": "a".repeat(40)})).len(), 1);
}

#[test]
fn arguments_are_completed() {
    let schema = json!({
        "type": "object", "required": ["city", "units"], "additionalProperties": false,
        "$defs": {"p": {"type": "object", "properties": {"x": {"default": 1}}}},
        "properties": {
            "city": {"type": "string"}, "units": {"enum": ["metric"]}, "days": {"type": "integer", "default": 1},
            "at": {"$ref": "#/$defs/p"}, "all": {"type": "array", "items": {"$ref": "#/$defs/p"}},
            "key": {"type": "string", "maxLength": 3},
        },
    });
    let preset = json!({"units": "metric", "key": "${secret.MAPS_KEY}"}).as_object().unwrap().clone();
    let (schema, _) = InputSchema::compile(&schema, &preset, None, Approval::Never);
    let schema = schema.unwrap();
    assert!(schema.visible["properties"].get("units").is_none());
    assert_eq!(schema.visible["required"], json!(["city"]));
    assert_ne!(schema.visible_sha256, hash_json(&schema.original));
    let args = |v: Value| v.as_object().unwrap().clone();
    let got = schema.complete(args(json!({"city": "Paris", "at": {}, "all": [{}, {"x": 2}]})), &preset).unwrap();
    assert_eq!(
        Value::Object(got),
        json!({"city": "Paris", "at": {"x": 1}, "all": [{"x": 1}, {"x": 2}], "units": "metric",
               "key": "${secret.MAPS_KEY}", "days": 1})
    );
    let wrong = schema.complete(args(json!({"city": "a", "units": "metric"})), &preset).unwrap_err();
    assert_eq!((wrong[0].path.as_str(), wrong[0].keyword.as_str(), wrong.len()), ("/units", "preset", 1));
    let big: Value = serde_json::from_str(r#"{"city": "a", "days": 123456789012345678901234567890}"#).unwrap();
    assert!(schema.complete(args(big), &preset).is_err_and(|v| v[0].keyword == "integer"));
    let whole = schema.complete(args(json!({"city": "a", "days": u64::MAX})), &preset).unwrap();
    assert_eq!(canonical_json(&whole["days"]), u64::MAX.to_string());
}

#[test]
fn what_no_value_can_keep_is_said() {
    let of = |rule: Value| faults(object(json!({"a": rule})));
    for (rule, at) in [
        (json!({"type": "string", "default": 5}), "default"),
        (json!({"enum": ["a", "b"], "default": "c"}), "default"),
        (json!({"type": "string", "enum": []}), "enum"),
        (json!({"type": "string", "minLength": 5, "maxLength": 2}), "minLength"),
        (json!({"type": "integer", "minimum": 5, "maximum": 2}), "minimum"),
        (json!({"type": "array", "items": {}, "minItems": 2, "maxItems": 1}), "minItems"),
    ] {
        assert_eq!(of(rule.clone()), one("tool::bad-value", &format!("/properties/a/{at}")), "{rule}");
    }
    for rule in [
        json!({"type": "string", "default": "5"}),
        json!({"type": "integer", "minimum": 2, "maximum": 2, "default": 2}),
        json!({"type": ["string", "null"], "default": null}),
        json!({"$ref": "#/properties/b", "default": 5}),
    ] {
        let both = object(json!({"a": rule.clone(), "b": {"type": "string"}}));
        assert_eq!(faults(both), Vec::new(), "{rule}");
    }
    let old = json!({"type": "object", "$schema": "http://json-schema.org/draft-04/schema#", "properties": {
        "a": {"type": "integer", "minimum": 1, "exclusiveMinimum": true, "default": 2},
    }});
    assert_eq!(faults(old), Vec::new());
}

#[test]
fn references_that_only_lead_in_a_circle() {
    let circle = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}},
    });
    let found = faults(circle);
    assert!(found.iter().all(|(code, _)| code == "schema::bad-ref"), "{found:?}");
    assert!(found.iter().any(|(_, at)| at == "/properties/a/$ref"), "{found:?}");
    let tree = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}, "self": {"$ref": "#"}},
        "$defs": {"x": {"type": "object", "properties": {"child": {"$ref": "#/$defs/x"}}}},
    });
    assert_eq!(faults(tree), Vec::new(), "a tree may hold itself");
}
