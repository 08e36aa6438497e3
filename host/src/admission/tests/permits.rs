use super::*;
use plugin_sdk::Severity;

fn passes(permit: &str, facts: &Facts) -> bool {
    can_access(&rules(&[], &[], &[permit]), facts).is_ok()
}

#[test]
fn grammar_accepts_and_refuses() {
    for good in [
        "role(trusted)",
        "role(user,master)",
        "group(-1001, -1002)",
        "group()",
        "group(*)",
        "user(telegram:42)",
        "user(*)",
        "adapter(telegram/main)",
        "private( 7 )",
        "channel(天气)",
        "platform(telegram, restrict_members)",
        "platform(discord,123456)",
    ] {
        assert!(parse_permit(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "  ",
        "role(trusted",
        "role trusted)",
        "group(1,,2)",
        " role(user)",
        "role(user) ",
        "role(user)x",
        "user()",
        "role()",
        "platform()",
        "platform(telegram)",
        "platform(telegram,a,b)",
        "platform(*,a)",
        "group(1,*)",
        "group((1))",
        "group( )",
        "Role(user)",
        "role(User)",
        "role(admin)",
        "rol(master)",
        "group(a\u{7})",
        "role(user) role(user)",
    ] {
        assert!(parse_permit(bad).is_err(), "{bad:?}");
        assert_eq!(
            can_access(&rules(&[], &[], &[bad]), &facts("console:private:a", "a", None)).unwrap_err().reason,
            "admission::unknown-permit"
        );
    }
    assert_eq!(parse_permit("rol(master)").unwrap_err().help, "did you mean `role`?");
    assert!(parse_permit("role(admin)").unwrap_err().help.contains("platform(telegram,administrator)"));
}

#[test]
fn ids_are_compared_whole() {
    let here = facts("telegram/main:group:-100#9", "12", None);
    for (permit, expected) in [
        ("user(12)", true),
        ("user(123)", false),
        ("user(1)", false),
        ("user(telegram:12)", true),
        ("user(discord:12)", false),
        ("user( 12 , 7 )", true),
        ("user(*)", true),
        ("group(-100)", true),
        ("group(100)", false),
        ("group(-100#9)", true),
        ("group(-100#8)", false),
        ("group(-1001, -100)", true),
        ("group()", true),
        ("private()", false),
        ("channel(-100)", false),
        ("adapter(telegram)", true),
        ("adapter(telegram/main)", true),
        ("adapter(telegram/other)", false),
        ("adapter(tele)", false),
        ("adapter()", true),
    ] {
        assert_eq!(passes(permit, &here), expected, "{permit}");
    }
    let private = facts("telegram:private:55", "12", None);
    assert!(passes("private(12)", &private) && passes("private(55)", &private) && !passes("private(5)", &private));
}

#[test]
fn roles_are_a_ladder_for_people_only() {
    let at = |role| facts("telegram:group:-1", "5", role);
    for role in [None, Some(Role::User), Some(Role::Trusted), Some(Role::Master)] {
        assert!(passes("role(user)", &at(role)), "{role:?}");
        assert_eq!(passes("role(trusted)", &at(role)), role >= Some(Role::Trusted));
        assert_eq!(passes("role(master)", &at(role)), role == Some(Role::Master));
        assert_eq!(passes("role(master, trusted)", &at(role)), role >= Some(Role::Trusted));
    }
    let mut named = at(None);
    named.principal.platform_roles = vec!["master".into()];
    assert!(!passes("role(master)", &named));
    for sender in [SenderKind::AnonymousAdmin, SenderKind::Channel, SenderKind::System] {
        let hidden = holding(with_sender(at(Some(Role::Master)), sender), &["administrator"]);
        for permit in ["user(*)", "user(5)", "role(user)", "role(master)", "platform(telegram,administrator)"] {
            assert!(!passes(permit, &hidden), "{sender:?} {permit}");
        }
    }
    let bot = holding(with_sender(at(Some(Role::Master)), SenderKind::Bot), &["administrator"]);
    assert!(passes("user(5)", &bot));
    for permit in ["user(*)", "role(user)", "platform(telegram,administrator)"] {
        assert!(!passes(permit, &bot), "{permit}");
    }
}

#[test]
fn platform_permissions_follow_the_lookup() {
    let group = |held: &[&str]| holding(facts("telegram:group:-1", "5", None), held);
    assert!(passes("platform(telegram,restrict_members)", &group(&["restrict_members"])));
    assert!(!passes("platform(telegram,pin_messages)", &group(&["restrict_members"])));
    assert!(passes("platform(telegram,administrator)", &group(&["owner"])));
    assert!(passes("platform(telegram,admin)", &group(&["administrator"])));
    assert!(!passes("platform(telegram,owner)", &group(&["administrator"])));
    assert!(!passes("platform(discord,admin)", &group(&["administrator"])));
    let guild = holding(facts("discord:channel:7", "5", None), &["administrator", "900"]);
    assert!(passes("platform(discord,manage_roles)", &guild) && passes("platform(discord,900)", &guild));
    assert!(!passes("platform(discord,guild_owner)", &guild) && !passes("platform(discord,901)", &guild));
    assert!(!passes("platform(telegram,owner)", &holding(facts("telegram:private:5", "5", None), &["owner"])));
    assert!(passes("platform(console,owner)", &facts("console:private:a", "a", Some(Role::Master))));
    assert!(passes("platform(web,admin)", &facts("web:private:a", "a", Some(Role::Master))));
    assert!(!passes("platform(web,owner)", &facts("web:private:a", "a", Some(Role::Trusted))));
    let mut failed = group(&[]);
    let reason = |f: &Facts| can_access(&rules(&[], &[], &["platform(telegram,owner)"]), f).unwrap_err();
    failed.platform_permissions = Some(Err("timed out".into()));
    assert_eq!(reason(&failed).reason, "admission::lookup-failed");
    failed.platform_permissions = None;
    assert_eq!((reason(&failed).reason, reason(&failed).detail.contains("not looked up")), ("admission::permit", true));
}

#[test]
fn steps_decide_in_order() {
    let r = rules(&["discord"], &[Scope::Private], &["role(master)"]);
    let reason = |r: &Rules, place: &str| can_access(r, &facts(place, "1", None)).map_err(|d| d.reason);
    assert_eq!(reason(&r, "telegram:group:1"), Err("admission::platform"));
    assert_eq!(reason(&r, "discord:group:1"), Err("admission::scope"));
    assert_eq!(reason(&r, "discord:private:1"), Err("admission::permit"));
    assert_eq!(reason(&Rules::default(), "discord:private:1"), Ok(()));
    assert_eq!(reason(&rules(&["Discord"], &[], &[]), "discord:private:1"), Err("admission::platform"));
}

fn found(rules: &Rules, adapters: &[&str]) -> Vec<(String, String, Severity)> {
    let found = check_rules(rules, &Platforms::new(adapters.iter().copied()));
    found.into_iter().map(|(p, d)| (p, d.code, d.severity)).collect()
}

#[test]
fn every_row_of_the_diagnostics_table() {
    let one = |permit: &str, adapters: &[&str]| found(&rules(&[], &[], &[permit]), adapters);
    let at = |code: &str, s: Severity| vec![("/permissions/0".to_string(), code.to_string(), s)];
    for bad in [
        "role(trusted",
        "group(1,,2)",
        " role(user)",
        "user()",
        "rol(master)",
        "role(admin)",
        "platform(telegram,fly)",
        "platform(console,fly)",
    ] {
        assert_eq!(one(bad, &["telegram"]), at("permit::unknown", Severity::Error), "{bad}");
    }
    assert_eq!(one("platform(discord,guild_owner)", &["telegram"]), at("permit::adapter-absent", Severity::Warning));
    assert_eq!(one("platform(discord,fly)", &["telegram"]), at("permit::adapter-absent", Severity::Warning));
    assert_eq!(one("user(42)", &["telegram", "discord"]), at("permit::ambiguous-user", Severity::Warning));
    assert_eq!(one("user(42)", &["telegram"]), []);
    assert_eq!(one("user(telegram:42)", &["telegram", "discord"]), []);
    assert_eq!(one("user(777000)", &["telegram"]), at("access::shared-id", Severity::Error));
    assert_eq!(one("user(telegram:1087968824)", &["telegram"]), at("access::shared-id", Severity::Error));
    assert_eq!(one("platform(telegram, restrict_members)", &["telegram"]), []);
    assert_eq!(one("platform(console, owner)", &[]), []);
    let never = at("permit::never-passes", Severity::Warning);
    assert_eq!(found(&rules(&[], &[Scope::Private], &["group()"]), &[]), never);
    assert_eq!(found(&rules(&["telegram"], &[], &["adapter(discord)"]), &[]), never);
    assert_eq!(found(&rules(&["telegram"], &[], &["adapter(discord, telegram/x)"]), &[]), []);
    assert_eq!(found(&rules(&["telegram"], &[], &["user(discord:1)"]), &[]), never);
    let two = found(&rules(&[], &[], &["group()", "private()"]), &[]);
    assert_eq!(two, [("/permissions/1".to_string(), "permit::never-passes".to_string(), Severity::Warning)]);
    let unknown = found(&rules(&["Telegram", "mars"], &[], &[]), &[]);
    assert_eq!(unknown.iter().map(|u| u.0.as_str()).collect::<Vec<_>>(), ["/platforms/0", "/platforms/1"]);
    assert!(unknown.iter().all(|u| u.1 == "admission::unknown-platform" && u.2 == Severity::Warning));
    assert_eq!(found(&rules(&["mars"], &[], &[]), &["mars"]), []);
}
