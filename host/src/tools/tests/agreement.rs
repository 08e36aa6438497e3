//! What is found is what can be loaded is what can be called, whoever asks.

use crate::admission::Facts;
use crate::catalog::DiscoverQuery;
use crate::index::Indexes;
use crate::session::LoadedSnapshot;
use crate::tools::testing::{World, facts};
use plugin_sdk::{Role, Scope, SenderKind};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

const PERMITS: [&str; 6] = ["role(master)", "role(trusted)", "user(*)", "user(telegram:3)", "group(*)", "private(*)"];

/// A tool for every pair of permits, and one that is hidden.
fn world() -> World {
    let choices = || std::iter::once(None).chain(PERMITS.into_iter().map(Some));
    let pairs: Vec<Vec<String>> = choices()
        .flat_map(|a| choices().map(move |b| [a, b].into_iter().flatten().map(str::to_string).collect()))
        .collect();
    let world = World::new()
        .shaped("lab", "ghost", "Gadget", |d| d.options.hidden = true)
        .configured(|b| b.agent.deferred_tools.max_loaded_per_session = 100);
    pairs.into_iter().enumerate().fold(world, |w, (i, permits)| {
        w.shaped("lab", &format!("t{i}"), "Gadget for tests", |d| d.options.permissions = permits)
    })
}

static WORLD: LazyLock<(World, Arc<Indexes>)> = LazyLock::new(|| {
    let world = world();
    let indexes = world.build();
    (world, indexes)
});

fn person() -> impl Strategy<Value = Facts> {
    let role = prop::sample::select(vec![Role::User, Role::Trusted, Role::Master]);
    let scope = prop::sample::select(vec![Scope::Private, Scope::Group, Scope::Channel]);
    (0..6u8, role, scope, any::<bool>()).prop_map(|(id, role, scope, known)| {
        let mut facts = facts(&id.to_string(), role, scope);
        if !known {
            facts.principal.sender = SenderKind::AnonymousAdmin;
            facts.principal.role = None;
        }
        facts
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn found_is_loadable_is_callable(who in person()) {
        let (world, indexes) = &*WORLD;
        let c = world.controller_of(indexes.clone(), &who, &LoadedSnapshot::default());
        c.begin_step();
        let names: Vec<String> = indexes.tools.tools().iter().map(|t| t.qualified.to_string())
            .filter(|n| n.starts_with("lab__")).collect();
        let mut found = Vec::new();
        for name in &names {
            let query = DiscoverQuery { query: name.clone(), ..DiscoverQuery::default() };
            let hit = c.discover(&query).unwrap().data["items"].as_array().unwrap().iter().any(|i| i["name"] == **name);
            prop_assert_eq!(hit, c.load_tool(name, "c").is_ok(), "{}", name);
            found.push(hit);
        }
        prop_assert!(!found[names.iter().position(|n| n == "lab__ghost").unwrap()]);
        let sent: Vec<String> = c.begin_step().iter().map(|t| t.qualified.to_string()).collect();
        for (name, found) in names.iter().zip(found) {
            prop_assert_eq!(found, c.may_call(name).is_ok());
            prop_assert_eq!(found, sent.contains(name));
        }
    }
}
