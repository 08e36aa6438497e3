use super::*;
use crate::config::AccessMode;

fn policy(mode: AccessMode, edit: impl FnOnce(&mut PolicyInput)) -> LivePolicy {
    let mut input = PolicyInput::default();
    input.access.mode = mode;
    input.access.masters = names(&["telegram:7"]);
    input.access.trusted = names(&["telegram:8"]);
    input.access.users = names(&["telegram:42"]);
    input.access.groups = names(&["telegram:-100"]);
    edit(&mut input);
    LivePolicy::new(input)
}

fn verdict(policy: &LivePolicy, place: &str, user: &str) -> AccessVerdict {
    access(&facts(place, user, None), policy)
}

use AccessVerdict::{Denied, Granted, MayPair, Stranger};

#[test]
fn modes_in_private_and_groups() {
    let listed = policy(AccessMode::Allowlist, |_| {});
    for (place, user, expected) in [
        ("telegram:private:42", "42", Granted),
        ("telegram:private:8", "8", Granted),
        ("telegram:private:7", "7", Granted),
        ("telegram:private:9", "9", Stranger { reply: true }),
        ("discord:private:42", "42", Stranger { reply: true }),
        ("telegram:group:-100", "9", Granted),
        ("telegram:group:-100#5", "9", Granted),
        ("telegram:group:-200", "9", Stranger { reply: false }),
        ("telegram:group:-200", "42", Stranger { reply: false }),
        ("telegram:group:-200", "8", Granted),
        ("telegram:channel:-200", "7", Granted),
        ("console:private:ann", "ann", Granted),
    ] {
        assert_eq!(verdict(&listed, place, user), expected, "{place} {user}");
    }
    let open = policy(AccessMode::Open, |_| {});
    assert_eq!(verdict(&open, "discord:group:1", "9"), Granted);
    let pairing = policy(AccessMode::Pairing, |_| {});
    assert_eq!(verdict(&pairing, "telegram:private:9", "9"), MayPair);
    assert_eq!(verdict(&pairing, "telegram:group:-200", "9"), Stranger { reply: false });
    assert_eq!(verdict(&pairing, "telegram:private:42", "42"), Granted);
    let every = policy(AccessMode::Allowlist, |i| i.access.groups = names(&["telegram:*"]));
    assert_eq!(verdict(&every, "telegram:group:-200", "9"), Granted);
    assert_eq!(verdict(&every, "discord:group:-200", "9"), Stranger { reply: false });
    let silent = policy(AccessMode::Allowlist, |i| i.access.stranger_reply = false);
    assert_eq!(verdict(&silent, "telegram:private:9", "9"), Stranger { reply: false });
}

#[test]
fn deny_wins_over_all_but_masters() {
    let deny = |list: &[&str]| {
        let list = names(list);
        policy(AccessMode::Open, |i| i.access.deny = list)
    };
    assert_eq!(verdict(&deny(&["telegram:42"]), "telegram:private:42", "42"), Denied);
    assert_eq!(verdict(&deny(&["telegram:8"]), "telegram:private:8", "8"), Denied);
    assert_eq!(verdict(&deny(&["telegram:7"]), "telegram:private:7", "7"), Granted);
    assert_eq!(verdict(&deny(&["telegram:4"]), "telegram:private:42", "42"), Granted);
    let thread = deny(&["telegram:-100#9"]);
    assert_eq!(verdict(&thread, "telegram:group:-100#9", "42"), Denied);
    assert_eq!(verdict(&thread, "telegram:group:-100#8", "42"), Granted);
    assert_eq!(verdict(&thread, "telegram:group:-100#9", "7"), Granted);
    assert_eq!(verdict(&deny(&["telegram:-100"]), "telegram:group:-100#8", "42"), Denied);
}

#[test]
fn roles_come_from_lists_and_endpoints() {
    let p = policy(AccessMode::Open, |i| {
        i.endpoint_roles = vec![EndpointRoles {
            endpoint: "telegram/second".into(),
            masters: names(&["50"]),
            trusted: names(&["51"]),
        }];
    });
    let role =
        |platform: &str, user: &str, endpoint: &str| p.role_of(&Principal::person(platform, user, None), endpoint);
    assert_eq!(role("telegram", "7", "telegram/main"), Some(Role::Master));
    assert_eq!(role("telegram", "8", "telegram/main"), Some(Role::Trusted));
    assert_eq!(role("telegram", "50", "telegram/second"), Some(Role::Master));
    assert_eq!(role("telegram", "51", "telegram/second"), Some(Role::Trusted));
    assert_eq!(role("telegram", "50", "telegram/main"), Some(Role::User));
    assert_eq!(role("discord", "7", "discord/main"), Some(Role::User));
    assert_eq!(role("console", "ann", "console/main"), Some(Role::Master));
    assert_eq!(p.role_of(&Principal::system("plugin"), "plugin/main"), None);
}

#[test]
fn policy_comes_from_the_file_and_is_exchanged() {
    let bot: crate::config::BotConfig = serde_json::from_value(serde_json::json!({
        "access": {"masters": ["telegram:7"]},
        "tools": {"deny": ["a"], "disabled": ["b"], "override": {"m__*": {"approval": "deny"}}},
        "plugins": {"disabled": ["games"]},
        "adapters": {"telegram": {"main": {"masters": [70], "trusted": ["71"]}}},
    }))
    .unwrap();
    let policy = LivePolicy::new(PolicyInput::from(&bot));
    let owner = plugin_sdk::OwnerPath::new;
    assert_eq!(policy.denied_by(&names(&["x", "a"])), Some("a"));
    assert!(
        policy.is_disabled(&names(&["b"]), &owner(".")) && policy.is_disabled(&names(&["c"]), &owner("games/dice"))
    );
    assert!(!policy.is_disabled(&names(&["c"]), &owner("gamesx")));
    assert_eq!(policy.role_of(&Principal::person("telegram", "70", None), "telegram/main"), Some(Role::Master));
    let cell = PolicyCell::default();
    assert!(cell.read().denied_by(&names(&["a"])).is_none());
    cell.replace(policy);
    assert!(cell.read().denied_by(&names(&["a"])).is_some());
}

#[test]
fn approvers_are_checked() {
    let codes = |input: &PolicyInput| -> Vec<(String, String)> {
        check_policy(input, &Platforms::new(["telegram"])).into_iter().map(|(p, d)| (p, d.code)).collect()
    };
    let mut input = PolicyInput { has_endpoints: true, ..PolicyInput::default() };
    assert_eq!(codes(&input), [("/approval/approvers".to_string(), "approval::no-approver".to_string())]);
    input.access.trusted = names(&["telegram:1"]);
    input.approval.approvers = names(&["role(boss)"]);
    assert_eq!(codes(&input), [("/approval/approvers/0".to_string(), "permit::unknown".to_string())]);
    input.approval.approvers = names(&["role(trusted)"]);
    input.endpoint_roles =
        vec![EndpointRoles { endpoint: "telegram/main".into(), masters: names(&["777000"]), trusted: Vec::new() }];
    assert_eq!(codes(&input), [("/adapters/telegram/main/masters/0".to_string(), "access::shared-id".to_string())]);
}
