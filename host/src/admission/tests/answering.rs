use super::*;
use crate::config::RequesterMayAnswer;
use plugin_sdk::{Principal, Role, Scope, SenderKind};

fn policy(may: RequesterMayAnswer, approvers: &[&str]) -> LivePolicy {
    let mut input = PolicyInput::default();
    input.approval.requester_may_answer = may;
    input.approval.approvers = approvers.iter().map(|a| (*a).to_string()).collect();
    LivePolicy::new(input)
}

/// Every place, gravity, person and answer, against the table of the contract.
#[test]
fn who_may_say_what_where() {
    use RequesterMayAnswer::{Always, ByPlace};
    for scope in [Scope::Private, Scope::Group, Scope::Channel] {
        for (grave, approvers_only) in [(false, false), (true, false), (false, true), (true, true)] {
            for setting in [ByPlace, Always] {
                for role in [Role::User, Role::Trusted, Role::Master] {
                    for requester in [true, false] {
                        for yes in [true, false] {
                            let mut here = facts("telegram:group:-100", "42", Some(role));
                            here.conversation.scope = scope;
                            let asks = if requester { "telegram:42" } else { "telegram:1" };
                            let pending = Pending { requester: asks, scope, grave, approvers_only };
                            let approver = role != Role::User;
                            let alone = match scope {
                                Scope::Private => !grave && !approvers_only,
                                _ => setting == Always && !approvers_only,
                            };
                            let wanted = approver || (requester && (!yes || alone));
                            let got = may_decide(&pending, &here, &policy(setting, &["role(trusted)"]), yes);
                            assert_eq!(got, wanted, "{pending:?} {setting:?} {role:?} yes={yes}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn who_is_no_identified_person_never_answers_and_an_empty_list_names_nobody() {
    let open = policy(RequesterMayAnswer::Always, &["adapter()"]);
    let pending = Pending { requester: "telegram:42", scope: Scope::Group, grave: false, approvers_only: false };
    let mut here = facts("telegram:group:-100", "42", Some(Role::Master));
    assert!(may_decide(&pending, &here, &open, true));
    for sender in [SenderKind::Bot, SenderKind::AnonymousAdmin, SenderKind::Channel, SenderKind::System] {
        here.principal = Principal { sender, ..here.principal.clone() };
        assert!(!may_decide(&pending, &here, &open, true) && !may_decide(&pending, &here, &open, false), "{sender:?}");
    }
    let nobody = policy(RequesterMayAnswer::ByPlace, &[]);
    let master = facts("telegram:group:-100", "7", Some(Role::Master));
    assert!(!is_approver(&master, &nobody) && !may_decide(&pending, &master, &nobody, true));
}

#[test]
fn a_platform_permit_wants_its_lookup() {
    let admins = policy(RequesterMayAnswer::ByPlace, &["platform(telegram, administrator)"]);
    let mut here = facts("telegram:group:-100", "42", Some(Role::Master));
    assert!(!is_approver(&here, &admins), "not looked up");
    here.platform_permissions = Some(Ok(vec!["administrator".into()]));
    assert!(is_approver(&here, &admins));
    here.platform_permissions = Some(Err("no answer".into()));
    assert!(!is_approver(&here, &admins));
}
