use super::*;
use plugin_sdk::{Approval, OwnerPath};
use serde_json::json;

fn explained(subject: &str, edit: impl FnOnce(&mut ExplainInput<'_>)) -> Explanation {
    let mut who = PolicyInput::default();
    who.access.groups = names(&["telegram:-100"]);
    let policy = LivePolicy::new(who);
    let rules = rules(&["telegram", "discord"], &[Scope::Group, Scope::Private], &["role(trusted)"]);
    let owner = OwnerPath::new("maps");
    let list = names(&["maps__get-weather"]);
    let declared = Declared { approval: Approval::OnRisk, source: "requires_approval".into() };
    let mut input = ExplainInput {
        guarded: Guarded { rules: &rules, owner: &owner, names: &list, in_group: true },
        exposure: Exposure::Listed,
        group: Some("core"),
        always: false,
        gated: Some(Gated { names: &list, declared: &declared, capabilities: None, builtin: false }),
        file: Some("plugins/maps/tools/get-weather/tool.toml"),
        generation: Some(12),
    };
    edit(&mut input);
    let facts = Subject::parse(subject, None).unwrap().facts(&policy, None, &[]);
    explain(&input, &facts, &policy)
}

#[test]
fn text_is_the_form_of_the_contract() {
    let text = explained("telegram:group:-100:user:42", |_| {}).to_string();
    let expected = "\
maps__get-weather   owner maps   generation 12   plugins/maps/tools/get-weather/tool.toml
as telegram:42 in group -100   host role user   platform roles none
  exists pass   deny pass   disabled pass   hidden no
  access       allowlist             pass
  platforms    telegram, discord     pass
  scopes       group, private        pass
  permission 1 role(trusted)         FAIL  host role is user
  group        core                  pass
  placement    public, deferred
denied  admission::permit  role(trusted)
approval if admitted: ask (on-risk: capabilities not declared)   approvers role(trusted)";
    assert_eq!(text, expected);
}

#[test]
fn json_has_every_check_in_order() {
    let e = explained("telegram:group:-100:user:42", |i| {
        i.exposure = Exposure::Private { agent: None, skill: Some("trip".into()) };
    });
    let value = e.to_json();
    let checks: Vec<&str> = value["checks"].as_array().unwrap().iter().map(|c| c["check"].as_str().unwrap()).collect();
    assert_eq!(
        checks,
        ["exists", "deny", "disabled", "hidden", "access", "platforms", "scopes", "permission", "group", "placement"]
    );
    assert_eq!(value["checks"][7]["index"], 1);
    assert_eq!((&value["admitted"], &value["reason"]), (&json!(false), &json!("admission::permit")));
    assert_eq!(value["unlock"], json!({"agent": null, "skill": "trip"}));
    assert_eq!(value["exposure"], "private");
    assert_eq!(value["approval"]["decision"], "ask");
    assert_eq!(
        value["subject"],
        json!({"platform": "telegram", "endpoint": "main", "scope": "group", "scene": "-100", "thread": null,
               "user_id": "42", "role": "user", "platform_roles": []})
    );
}

#[test]
fn whoever_is_not_let_in_is_denied_before_any_rule() {
    let e = explained("telegram:group:-200:user:42", |_| {});
    assert_eq!(e.denial.as_ref().map(|d| d.reason), Some("access::refused"));
    let text = e.to_string();
    assert!(
        text.contains("  access       allowlist             FAIL  telegram:-200 is not in access.groups"),
        "{text}"
    );
    assert!(text.contains("denied  access::refused  telegram:-200 is not in access.groups"), "{text}");
}

#[test]
fn people_with_tokens_and_the_host_itself_are_not_judged_by_the_lists() {
    let policy = LivePolicy::default();
    let of = |subject: &str| answered(&Subject::parse(subject, None).unwrap().facts(&policy, None, &[]), &policy);
    for subject in ["ann", "web:desk", "mcp:ci", "http:ci", "schedule:daily"] {
        assert_eq!(of(subject), Ok(()), "{subject}");
    }
    assert!(of("telegram:42").is_err());
}

#[test]
fn subjects_of_every_form() {
    let s = |text: &str| Subject::parse(text, None).map(|s| (s.conversation.to_string(), s.user_id));
    let ok = |a: &str, b: &str| Ok((a.to_string(), b.to_string()));
    assert_eq!(s("telegram/second:group:-100#9:user:42"), ok("telegram/second/group/-100/9", "42"));
    assert_eq!(s("discord:channel:a:b:user:1"), ok("discord/main/channel/a:b", "1"));
    assert_eq!(s("telegram:42"), ok("telegram/main/private/42", "42"));
    assert_eq!(s("ann"), ok("console/main/private/ann", "ann"));
    let scoped = Subject::parse("telegram:42", Some("group")).unwrap();
    assert_eq!((scoped.conversation.scope, scoped.conversation.scene.as_str()), (Scope::Group, ""));
    for bad in [
        "",
        "telegram:",
        ":42",
        "telegram:a:b",
        "telegram:group::user:1",
        "telegram:group:1:user:",
        "telegram:grp:1:user:2",
    ] {
        assert!(s(bad).is_err(), "{bad}");
    }
    assert!(Subject::parse("a", Some("grp")).is_err() && parse_role("boss").is_err());
    let policy = LivePolicy::default();
    assert_eq!(Subject::parse("ann", None).unwrap().facts(&policy, None, &[]).principal.role, Some(Role::Master));
    let given = Subject::parse("telegram:group:1:user:2", None).unwrap().facts(
        &policy,
        Some(Role::Trusted),
        &names(&["owner"]),
    );
    assert_eq!(given.principal.role, Some(Role::Trusted));
    assert_eq!(given.platform_permissions, Some(Ok(names(&["owner"]))));
}
