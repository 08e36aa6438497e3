use super::*;
use crate::config::{Mode, ToolOverride};
use plugin_sdk::{Approval, Capability, Dedicated};
use std::collections::BTreeMap;

fn decide(declared: Approval, capabilities: Option<&[Capability]>, write: Mode, execute: Mode) -> Opinion {
    let mut input = PolicyInput::default();
    input.approval.write_mode = write;
    input.approval.execute_mode = execute;
    let declared = Declared { approval: declared, source: "requires_approval".into() };
    let list = names(&["x"]);
    let tool = Gated { names: &list, declared: &declared, capabilities, builtin: false };
    approval(&tool, &facts("telegram:private:1", "1", None), &LivePolicy::new(input), &Extra::default()).decision
}

#[test]
fn the_matrix_of_declaration_capability_and_modes() {
    use Capability::{Execute, Network, Read, Write};
    use Opinion::{Allow, Ask, Deny};
    let rank = |m: Mode| match m {
        Mode::Allow => Allow,
        Mode::Confirm => Ask,
        Mode::Deny => Deny,
    };
    let rows: [(Option<&[Capability]>, Opinion); 7] = [
        (None, Ask),
        (Some(&[]), Allow),
        (Some(&[Read]), Allow),
        (Some(&[Write]), Ask),
        (Some(&[Execute]), Ask),
        (Some(&[Network]), Ask),
        (Some(&[Read, Write, Execute]), Ask),
    ];
    for (capabilities, on_risk) in rows {
        for write in [Mode::Allow, Mode::Confirm, Mode::Deny] {
            for execute in [Mode::Allow, Mode::Confirm, Mode::Deny] {
                let has = |c| capabilities.is_some_and(|l| l.contains(&c));
                let b = [(has(Write), write), (has(Execute), execute)];
                let b = b.iter().filter(|(h, _)| *h).map(|(_, m)| rank(*m)).max().unwrap_or(Allow);
                let a = [
                    (Approval::Never, Allow),
                    (Approval::OnRisk, on_risk),
                    (Approval::Once, Ask),
                    (Approval::Always, Ask),
                ];
                for (declared, opinion) in a {
                    let got = decide(declared, capabilities, write, execute);
                    assert_eq!(got, opinion.max(b), "{declared:?} {capabilities:?} {write:?} {execute:?}");
                }
            }
        }
    }
}

#[test]
fn only_the_hosts_own_mark_makes_a_meta_tool_harmless() {
    let declared = Declared { approval: Approval::OnRisk, source: "requires_approval".into() };
    let list = names(&["spawn_task"]);
    let here = facts("telegram:private:1", "1", None);
    let ask = |builtin| {
        let tool = Gated { names: &list, declared: &declared, capabilities: Some(&[Capability::Agent]), builtin };
        approval(&tool, &here, &LivePolicy::default(), &Extra::default()).decision
    };
    assert_eq!((ask(true), ask(false)), (Opinion::Allow, Opinion::Ask));
}

#[test]
fn overrides_exact_then_longest_glob_and_deny() {
    let table: BTreeMap<String, ToolOverride> =
        [("mcp__*", Approval::Always), ("mcp__time__*", Approval::Never), ("mcp__time__now", Approval::Once)]
            .into_iter()
            .map(|(k, a)| (k.to_string(), ToolOverride { requires_approval: Some(a), approval: None }))
            .collect();
    let overrides = Overrides::new(&table);
    let of = |name: &str| overrides.declared(&names(&[name]), Approval::OnRisk);
    assert_eq!(of("mcp__time__now").approval, Approval::Once);
    assert_eq!(of("mcp__time__zone").approval, Approval::Never);
    assert_eq!(of("mcp__time__zone").source, "tools.override.\"mcp__time__*\".requires_approval");
    assert_eq!(of("mcp__wiki__x").approval, Approval::Always);
    assert_eq!(of("maps__x").approval, Approval::OnRisk);

    let policy = LivePolicy::new(PolicyInput { denied_overrides: names(&["mcp__*"]), ..PolicyInput::default() });
    let declared = of("mcp__time__zone");
    let list = names(&["mcp__time__zone"]);
    let tool = Gated { names: &list, declared: &declared, capabilities: Some(&[]), builtin: false };
    let decision = approval(&tool, &facts("console:private:a", "a", Some(Role::Master)), &policy, &Extra::default());
    assert_eq!(decision.decision, Opinion::Deny);
    assert_eq!(decision.because.last().unwrap().source, "tools.override.\"mcp__*\".approval");
}

#[test]
fn a_master_is_spared_in_private_only_and_never_a_deny() {
    let mut input = PolicyInput::default();
    input.approval.auto_approve_master = true;
    let policy = LivePolicy::new(input.clone());
    input.approval.execute_mode = Mode::Deny;
    let denies = LivePolicy::new(input);
    let declared = Declared { approval: Approval::Always, source: "requires_approval".into() };
    let list = names(&["x"]);
    let tool = Gated { names: &list, declared: &declared, capabilities: Some(&[Capability::Execute]), builtin: false };
    let master = |place: &str| facts(place, "1", Some(Role::Master));
    let d = approval(&tool, &master("telegram:private:1"), &policy, &Extra::default());
    assert_eq!((d.decision, d.auto_master), (Opinion::Allow, true));
    assert_eq!(approval(&tool, &master("console:group:1"), &policy, &Extra::default()).decision, Opinion::Allow);
    assert_eq!(approval(&tool, &master("telegram:group:1"), &policy, &Extra::default()).decision, Opinion::Ask);
    assert_eq!(
        approval(&tool, &facts("telegram:private:1", "1", Some(Role::Trusted)), &policy, &Extra::default()).decision,
        Opinion::Ask
    );
    assert_eq!(approval(&tool, &master("telegram:private:1"), &denies, &Extra::default()).decision, Opinion::Deny);
}

fn ask(source: &str) -> Because {
    Because { source: source.into(), value: "v".into(), effect: Opinion::Ask }
}

#[test]
fn the_strictest_of_five_opinions_wins() {
    use Opinion::{Allow, Ask, Deny};
    let here = facts("telegram:private:1", "1", None);
    let list = names(&["x"]);
    let opinion = |o: Opinion| Because { effect: o, ..ask("agents.helper") };
    for (declared, a) in [(Approval::Never, Allow), (Approval::Once, Ask), (Approval::Always, Ask)] {
        for (mode, b) in [(Mode::Allow, Allow), (Mode::Confirm, Ask), (Mode::Deny, Deny)] {
            for c in [None, Some(Allow), Some(Ask), Some(Deny)] {
                for d in [None, Some(Allow), Some(Ask), Some(Deny)] {
                    for e in [false, true] {
                        for granted in [false, true] {
                            let mut input = PolicyInput::default();
                            input.approval.write_mode = mode;
                            input.denied_overrides = if e { names(&["x"]) } else { Vec::new() };
                            let says = Declared { approval: declared, source: "requires_approval".into() };
                            let tool = Gated {
                                names: &list,
                                declared: &says,
                                capabilities: Some(&[Capability::Write]),
                                builtin: false,
                            };
                            let dedicated = c.map(|c| match c {
                                Allow => Dedicated::Verified,
                                Ask => Dedicated::Ask("why".into()),
                                Deny => Dedicated::Deny { code: "X_DENIED".into(), reason: "why".into() },
                            });
                            let extra = Extra { dedicated, parent: d.map(opinion), granted };
                            let got = approval(&tool, &here, &LivePolicy::new(input), &extra);
                            let covered = |o: Opinion| {
                                if granted && declared != Approval::Always && o == Ask { Allow } else { o }
                            };
                            let others = [c, d, e.then_some(Deny)].into_iter().flatten().max().unwrap_or(Allow);
                            let wanted = covered(a).max(covered(b)).max(others);
                            // A grant is looked at only where somebody would be asked.
                            let plain = a.max(b).max(others);
                            let wanted = if plain == Ask { wanted } else { plain };
                            assert_eq!(got.decision, wanted, "{declared:?} {mode:?} {c:?} {d:?} {e} {granted}");
                            assert_eq!(got.granted, plain == Ask && wanted == Allow);
                            assert_eq!(got.code.is_some(), c == Some(Deny));
                            if d == Some(got.decision) {
                                assert_eq!(
                                    got.deciding().next().unwrap().source,
                                    "agents.helper",
                                    "on a tie the parent's"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
