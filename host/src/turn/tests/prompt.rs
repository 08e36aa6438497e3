use super::fixture::{Table, text};
use crate::tools::testing::{World, ann};

async fn system(world: World) -> String {
    let (_, requests) = Table::new(world).run(&ann(), "hi", vec![text("ok")]).await;
    requests[0].system.to_string()
}

#[tokio::test]
async fn layers_come_in_their_order_and_a_plugin_nobody_may_use_says_nothing() {
    let world = World::new()
        .shaped("vault", "open", "Open", |d| d.options.permissions = vec!["role(master)".into()])
        .tool("maps", "route", "Way")
        .agents_md(".", "ROOT")
        .agents_md("maps", "MAPS")
        .agents_md("vault", "VAULT");
    let system = system(world).await;
    let at = |word: &str| system.find(word).unwrap_or_else(|| panic!("no {word} in {system}"));
    assert!(at("## Identity") < at("ROOT") && at("ROOT") < at("## Rules") && at("## Rules") < at("## Tools"));
    assert!(at("## Tools") < at("MAPS"));
    assert!(!system.contains("VAULT") && !system.contains("vault"));
}

#[tokio::test]
async fn summaries_stay_under_their_limit_and_name_the_rest_by_number() {
    let about = "words ".repeat(40);
    let world = (0..100)
        .fold(World::new(), |w, i| w.skill("lab", &format!("skill-{i:03}"), &[], |s| s.description = about.clone()));
    let system = system(world).await;
    let block = system.split("## What can be loaded\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(block.chars().count() <= 4_000, "{}", block.chars().count());
    assert!(block.chars().count() > 3_700);
    let shown = block.lines().filter(|l| l.starts_with("- lab__skill")).count();
    assert_eq!(block.lines().last().unwrap(), format!("and {} more; use discover", 100 - shown), "items alone count");
    assert!(block.lines().all(|l| l.chars().count() <= 120 + 20));
}

#[tokio::test]
async fn without_discover_nobody_is_told_to_use_it() {
    let about = "words ".repeat(40);
    let world = (0..100)
        .fold(World::new(), |w, i| w.skill("lab", &format!("skill-{i:03}"), &[], |s| s.description = about.clone()));
    let system = system(world.configured(|b| b.tools.disabled = vec!["discover".into()])).await;
    let block = system.split("## What can be loaded\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(block.lines().last().unwrap().ends_with(" more") && !system.contains("discover"), "{block}");
}
