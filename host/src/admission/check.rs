//! Findings about admission fields and the access lists, each with the pointer of the value it is about.

use super::permit::{Args, Permit, known_permissions, parse_permit};
use super::platforms::{self, PlatformTable, Platforms, SHARED_IDS};
use super::{PolicyInput, Rules};
use crate::config::nearest_help;
use plugin_sdk::{Diagnostic, Role, Scope};

/// A finding and the pointer of its value in the document it was read from.
pub type Finding = (String, Diagnostic);

/// Checks `platforms` and `permissions`; pointers start at the item (`/permissions/0`).
pub fn check_rules(rules: &Rules, bot: &Platforms) -> Vec<Finding> {
    let mut out = Vec::new();
    for (i, p) in rules.platforms.iter().enumerate().filter(|(_, p)| !bot.is_known(p)) {
        let d = Diagnostic::warning("admission::unknown-platform", format!("unknown platform `{p}`"))
            .help(nearest_help(p, bot.known()));
        out.push((format!("/platforms/{i}"), d));
    }
    let parsed: Vec<Option<Permit>> = check_permits(&rules.permissions, "/permissions", bot, &mut out);
    for (i, permit) in parsed.iter().enumerate() {
        let earlier = parsed[..i].iter().flatten();
        if let Some(why) = permit.as_ref().and_then(|p| excluded(p, rules, earlier)) {
            let text = &rules.permissions[i];
            let d = Diagnostic::warning("permit::never-passes", format!("`{text}` can never pass: {why}"))
                .help("remove one of the two, or widen the other");
            out.push((format!("/permissions/{i}"), d));
        }
    }
    out
}

/// Checks a list of permits at `pointer`; `None` for an entry that is none.
pub fn check_permits(list: &[String], pointer: &str, bot: &Platforms, out: &mut Vec<Finding>) -> Vec<Option<Permit>> {
    list.iter()
        .enumerate()
        .map(|(i, text)| {
            let at = format!("{pointer}/{i}");
            match parse_permit(text) {
                Ok(permit) => {
                    out.extend(judge(&permit, text, bot).into_iter().map(|d| (at.clone(), d)));
                    Some(permit)
                }
                Err(e) => {
                    out.push((at, Diagnostic::error("permit::unknown", e.message).help(e.help)));
                    None
                }
            }
        })
        .collect()
}

fn judge(permit: &Permit, text: &str, bot: &Platforms) -> Vec<Diagnostic> {
    match permit {
        Permit::Platform { platform, permission } => judge_platform(platform, permission, bot).into_iter().collect(),
        Permit::User(Args::OneOf(ids)) => ids.iter().filter_map(|id| judge_user(id, text, bot)).collect(),
        _ => Vec::new(),
    }
}

fn judge_platform(platform: &str, permission: &str, bot: &Platforms) -> Option<Diagnostic> {
    if !bot.is_configured(platform) {
        let message = format!("this bot has no adapter `{platform}`; the permit denies until it has");
        let help = match bot.is_known(platform) {
            true => format!("configure `[adapters.{platform}.NAME]` in bot.toml"),
            false => nearest_help(platform, bot.known()),
        };
        return Some(Diagnostic::warning("permit::adapter-absent", message).help(help));
    }
    let known = |t: &PlatformTable| t.knows(permission);
    if platforms::table(platform).is_none_or(known) {
        return None;
    }
    let names = known_permissions(platform);
    let mut help = format!("{platform} knows {}", names.join(", "));
    if let Some(near) = crate::config::nearest(permission, names) {
        help = format!("did you mean `{near}`? {help}");
    }
    Some(Diagnostic::error("permit::unknown", format!("unknown permission `{permission}` of {platform}")).help(help))
}

fn judge_user(id: &str, text: &str, bot: &Platforms) -> Option<Diagnostic> {
    if let Some(d) = shared_id(id) {
        return Some(d);
    }
    if id.contains(':') || !bot.are_ambiguous() {
        return None;
    }
    let message = format!("`{text}` means this id on every platform of the bot");
    let platform = bot.known_user_platform();
    Some(Diagnostic::warning("permit::ambiguous-user", message).help(format!("write `user({platform}:{id})`")))
}

/// A bare or prefixed id that many people share.
fn shared_id(id: &str) -> Option<Diagnostic> {
    let hit =
        SHARED_IDS.iter().find(|(p, shared)| id == *shared || id.strip_prefix(p) == Some(&format!(":{shared}")))?;
    let message = format!("`{id}` is shared by many people on {}", hit.0);
    Some(Diagnostic::error("access::shared-id", message).help("name the person's own id; anonymous senders have none"))
}

/// Why a permit contradicts the other fields.
fn excluded<'a>(permit: &Permit, rules: &Rules, earlier: impl Iterator<Item = &'a Permit>) -> Option<String> {
    let platform_of = |arg: &str| arg.split(['/', ':']).next().unwrap_or(arg).to_string();
    let out_of_list = |arg: &str| !rules.platforms.is_empty() && !rules.platforms.contains(&platform_of(arg));
    match permit {
        Permit::Place(scope, _) if !rules.scopes.is_empty() && !rules.scopes.contains(scope) => {
            Some(format!("`scopes` does not hold {scope}"))
        }
        Permit::Place(scope, _) => earlier
            .filter_map(|p| match p {
                Permit::Place(other, _) if other != scope => Some(format!("`{p}` needs another scope")),
                _ => None,
            })
            .next(),
        Permit::Adapter(Args::OneOf(list)) if list.iter().all(|a| out_of_list(a)) => {
            Some("`platforms` holds none of them".into())
        }
        Permit::User(Args::OneOf(list)) if list.iter().all(|a| a.contains(':') && out_of_list(a)) => {
            Some("`platforms` holds none of theirs".into())
        }
        Permit::Platform { platform, .. } if out_of_list(platform) => {
            Some(format!("`platforms` does not hold {platform}"))
        }
        Permit::Platform { platform, .. } if rules.scopes == [Scope::Private] => platforms::table(platform)
            .filter(|t| !t.in_private())
            .map(|_| "there are no platform roles in private".into()),
        _ => None,
    }
}

/// Checks what `bot.toml` says about roles of one endpoint and about approvers; the lists of `[access]` are
/// the configuration's own business. Pointers start at the root of the file.
pub fn check_policy(input: &PolicyInput, bot: &Platforms) -> Vec<Finding> {
    let mut out = Vec::new();
    for e in &input.endpoint_roles {
        let kind = e.endpoint.split('/').next().unwrap_or_default();
        for (key, list) in [("masters", &e.masters), ("trusted", &e.trusted)] {
            for (i, id) in list.iter().enumerate().filter(|(_, id)| SHARED_IDS.contains(&(kind, id.as_str()))) {
                out.extend(shared_id(id).map(|d| (format!("/adapters/{}/{key}/{i}", e.endpoint), d)));
            }
        }
    }
    check_permits(&input.approval.approvers, "/approval/approvers", bot, &mut out);
    out.extend(no_approver(input));
    out
}

fn no_approver(input: &PolicyInput) -> Option<Finding> {
    let needs_list = |p: &String| matches!(parse_permit(p), Ok(Permit::Role(r)) if !r.contains(&Role::User));
    // without an adapter there is only the console, whose person is a master
    let approvers = &input.approval.approvers;
    let nobody = approvers.is_empty() || (approvers.iter().any(needs_list) && !input.has_trusted());
    if !nobody || !input.has_endpoints {
        return None;
    }
    let message = "nobody but the console's person can pass `approval.approvers`: cards in groups expire";
    let d = Diagnostic::warning("approval::no-approver", message)
        .help("list a master in `access.masters`, or somebody in `access.trusted`");
    Some(("/approval/approvers".to_string(), d))
}
