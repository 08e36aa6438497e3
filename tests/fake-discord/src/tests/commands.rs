use super::*;
use crate::seed::{APPLICATION, GUILD};

fn command(name: &str) -> Value {
    json!({"name": name, "description": "d"})
}

fn put(w: &mut World, list: Value) -> (u16, Value) {
    ask(w, "PUT", &format!("applications/{APPLICATION}/commands"), list)
}

#[test]
fn an_overwrite_replaces_all_and_keeps_ids_of_names() {
    let mut w = world();
    let first = put(&mut w, json!([command("a"), command("b")])).1;
    assert_eq!(first.as_array().unwrap().len(), 2);
    let mut changed = command("b");
    changed["description"] = json!("other");
    let second = put(&mut w, json!([changed, command("c")])).1;
    assert_eq!(second[0]["id"], first[1]["id"]);
    assert_ne!(second[0]["version"], first[1]["version"]);
    let here = format!("applications/{APPLICATION}/guilds/{GUILD}/commands");
    assert_eq!(ask(&mut w, "PUT", &here, json!([command("local")])).1[0]["guild_id"], json!(GUILD));
    let all = ask(&mut w, "GET", &format!("applications/{APPLICATION}/commands"), Value::Null).1;
    assert_eq!(all.as_array().unwrap().len(), 2);
    assert_eq!(w.commands.overwrites.iter().map(|o| o.names.len()).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(code(&ask(&mut w, "PUT", "applications/5/commands", json!([]))), (403, 20012));
}

#[test]
fn names_descriptions_and_options_are_checked() {
    let mut w = world();
    let with = |options: Value| json!([{"name": "a", "description": "d", "options": options}]);
    let option = |name: &str, kind: u64, required: bool| json!({"name": name, "description": "d", "type": kind, "required": required});
    let sub = |options: Value| json!({"name": "s", "description": "d", "type": 1, "options": options});
    let many: Vec<Value> = (0..26).map(|i| option(&format!("o{i}"), 3, false)).collect();
    for (list, fault) in [
        (json!([command("Upper")]), "0.name:APPLICATION_COMMAND_INVALID_NAME"),
        (json!([command("two words")]), "0.name:APPLICATION_COMMAND_INVALID_NAME"),
        (json!([command(&"x".repeat(33))]), "0.name:BASE_TYPE_BAD_LENGTH"),
        (json!([{"name": "a"}]), "0.description:BASE_TYPE_REQUIRED"),
        (json!([{"name": "a", "description": "x".repeat(101)}]), "0.description:BASE_TYPE_BAD_LENGTH"),
        (json!([command("a"), command("a")]), "1:APPLICATION_COMMANDS_DUPLICATE_NAME"),
        (with(json!(many)), "0.options:BASE_TYPE_MAX_LENGTH"),
        (
            with(json!([option("a", 3, false), option("b", 3, true)])),
            "0.options.1:APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
        ),
        (
            with(json!([option("a", 3, false), option("a", 3, false)])),
            "0.options.1.name:APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
        ),
        (with(json!([option("a", 12, false)])), "0.options.0.type:BASE_TYPE_CHOICES"),
        (with(json!([sub(json!([])), option("b", 3, false)])), "0.options:APPLICATION_COMMAND_OPTIONS_TYPE_INVALID"),
        (
            with(json!([sub(json!([sub(json!([]))]))])),
            "0.options.0.options.0.type:APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
        ),
    ] {
        let answer = put(&mut w, list.clone());
        assert_eq!(code(&answer), (400, 50035), "{list}");
        assert!(faults(&answer).iter().any(|f| f == fault), "{fault} not in {:?}", faults(&answer));
    }
    let hundred: Vec<Value> = (0..101).map(|i| command(&format!("c{i}"))).collect();
    assert_eq!(code(&put(&mut w, json!(hundred))), (400, 30032));
    assert!(w.commands.registered.is_empty());
    let group = json!({"name": "g", "description": "d", "type": 2, "options": [sub(json!([option("q", 3, true)]))]});
    assert_eq!(put(&mut w, json!([{"name": "天气-1_'", "description": "d", "options": [group]}])).0, 200);
}

#[test]
fn one_command_is_made_changed_and_taken() {
    let mut w = world();
    let path = format!("applications/{APPLICATION}/commands");
    let (status, made) = ask(&mut w, "POST", &path, command("a"));
    assert_eq!(status, 201);
    assert_eq!(ask(&mut w, "POST", &path, command("a")).0, 200);
    let one = format!("{path}/{}", made["id"].as_str().unwrap());
    assert_eq!(ask(&mut w, "PATCH", &one, json!({"description": "new"})).1["description"], "new");
    assert_eq!(ask(&mut w, "GET", &one, Value::Null).1["name"], "a");
    assert_eq!(ask(&mut w, "DELETE", &one, Value::Null).0, 204);
    assert_eq!(code(&ask(&mut w, "GET", &one, Value::Null)), (404, 10063));
    for n in 0..199 {
        assert_eq!(put(&mut w, json!([command(&format!("n{n}"))])).0, 200);
    }
    assert_eq!(code(&put(&mut w, json!([command("late")]))), (400, 30034));
    pass(&w, 25 * 3_600_000);
    assert_eq!(put(&mut w, json!([command("late")])).0, 200);
}
