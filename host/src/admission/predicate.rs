//! The predicate: pure, synchronous, the first failing step decides.

use super::permit::{Args, Permit, parse_permit};
use super::platforms::{self, PlatformAnswer};
use super::{Denial, Facts, LivePolicy, Rules};
use plugin_sdk::{ConversationRef, OwnerPath, Role, Scope, SenderKind};

/// What is admitted or not: rules and what the switches know it by.
#[derive(Debug, Clone)]
pub struct Guarded<'a> {
    /// Admission fields.
    pub rules: &'a Rules,
    /// Declaring owner.
    pub owner: &'a OwnerPath,
    /// Qualified name, then aliases.
    pub names: &'a [String],
    /// Inside `tools.include_groups`, or let in by `tools.allow`.
    pub in_group: bool,
}

/// The whole predicate: switches (step 1), then the rules.
pub fn can_access_tool(guarded: &Guarded<'_>, facts: &Facts, policy: &LivePolicy) -> Result<(), Denial> {
    if let Some(detail) = policy.switched_off(guarded.names, guarded.owner) {
        return Err(Denial { reason: "admission::disabled", detail });
    }
    if !guarded.in_group {
        return Err(Denial {
            reason: "admission::disabled",
            detail: "its group is not in tools.include_groups".into(),
        });
    }
    can_access(guarded.rules, facts)
}

/// Steps 2 to 4: platforms, scopes, permissions.
pub fn can_access(rules: &Rules, facts: &Facts) -> Result<(), Denial> {
    platform_step(&rules.platforms, &facts.conversation)?;
    scope_step(&rules.scopes, &facts.conversation)?;
    rules.permissions.iter().try_for_each(|entry| permit_step(entry, facts))
}

pub(super) fn platform_step(platforms: &[String], place: &ConversationRef) -> Result<(), Denial> {
    if platforms.is_empty() || platforms.contains(&place.platform) {
        return Ok(());
    }
    let detail = format!("{} is not one of {}", place.platform, platforms.join(", "));
    Err(Denial { reason: "admission::platform", detail })
}

pub(super) fn scope_step(scopes: &[Scope], place: &ConversationRef) -> Result<(), Denial> {
    if scopes.is_empty() || scopes.contains(&place.scope) {
        return Ok(());
    }
    let list: Vec<&str> = scopes.iter().map(|s| s.as_str()).collect();
    Err(Denial { reason: "admission::scope", detail: format!("{} is not one of {}", place.scope, list.join(", ")) })
}

/// One entry of `permissions`; malformed text denies.
pub(super) fn permit_step(entry: &str, facts: &Facts) -> Result<(), Denial> {
    match parse_permit(entry) {
        Ok(permit) => permit_passes(&permit, facts).map_err(|(reason, why)| denial(reason, entry, &why)),
        Err(e) => Err(denial("admission::unknown-permit", entry, &e.message)),
    }
}

fn denial(reason: &'static str, entry: &str, why: &str) -> Denial {
    Denial { reason, detail: format!("{entry}: {why}") }
}

const FAILS: &str = "admission::permit";

/// Whether a checked permit holds; otherwise reason and cause.
pub(super) fn permit_passes(permit: &Permit, facts: &Facts) -> Result<(), (&'static str, String)> {
    let place = &facts.conversation;
    let (ok, why) = match permit {
        Permit::Adapter(args) => {
            let endpoint = place.endpoint_id();
            (args.fits([place.platform.as_str(), &endpoint].into_iter()), format!("here is {endpoint}"))
        }
        Permit::Place(scope, args) => {
            (place_fits(*scope, args, facts), format!("here is {} {}", place.scope, place.scene))
        }
        Permit::User(args) => (user_fits(args, facts), format!("the sender is {}", facts.principal.id())),
        Permit::Role(roles) => {
            let own = effective_role(facts);
            let why = own.map_or("no host role".to_string(), |r| format!("host role is {}", r.as_str()));
            (own.is_some_and(|r| roles.iter().any(|n| r.reaches(*n))), why)
        }
        Permit::Platform { platform, permission } => return platform_holds(platform, permission, facts),
    };
    if ok { Ok(()) } else { Err((FAILS, why)) }
}

fn place_fits(scope: Scope, args: &Args, facts: &Facts) -> bool {
    let place = &facts.conversation;
    if place.scope != scope {
        return false;
    }
    let with_thread = place.thread.as_ref().map(|t| format!("{}#{t}", place.scene));
    let person =
        (scope == Scope::Private && !facts.principal.user_id.is_empty()).then_some(facts.principal.user_id.as_str());
    args.fits([Some(place.scene.as_str()), with_thread.as_deref(), person].into_iter().flatten())
}

/// People by id or `*`, bots by id only, nobody else.
fn user_fits(args: &Args, facts: &Facts) -> bool {
    let who = &facts.principal;
    let by_id = matches!(who.sender, SenderKind::User | SenderKind::Bot) && !who.user_id.is_empty();
    match args {
        Args::Any => who.is_identified(),
        list => by_id && list.fits([who.user_id.as_str(), &who.id()].into_iter()),
    }
}

/// The host role that counts: every identified person has at least `user`, nobody else has any.
pub fn effective_role(facts: &Facts) -> Option<Role> {
    facts.principal.is_identified().then(|| facts.principal.role.unwrap_or(Role::User))
}

fn platform_holds(platform: &str, permission: &str, facts: &Facts) -> Result<(), (&'static str, String)> {
    let place = &facts.conversation;
    let fail = |why: &str| Err((FAILS, why.to_string()));
    if place.platform != platform {
        return fail(&format!("the platform is {}", place.platform));
    }
    if !facts.principal.is_identified() {
        return fail("the sender is no identified person");
    }
    match platforms::answer(platform, place.scope == Scope::Private) {
        PlatformAnswer::Never(why) => fail(why),
        PlatformAnswer::ByMaster => {
            let mut held = facts.platform_permissions.clone().and_then(Result::ok).unwrap_or_default();
            if effective_role(facts) == Some(Role::Master) {
                held.push("owner".into());
            }
            if platforms::holds(platform, permission, &held) { Ok(()) } else { fail("not held") }
        }
        PlatformAnswer::ByLookup => match &facts.platform_permissions {
            None => fail("not looked up"),
            Some(Err(why)) => Err(("admission::lookup-failed", why.clone())),
            Some(Ok(held)) if platforms::holds(platform, permission, held) => Ok(()),
            Some(Ok(_)) => fail("not held here"),
        },
    }
}
