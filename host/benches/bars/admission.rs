//! One evaluation of all tools with 64 clauses.

use crate::measure::pair;
use crate::table::{Bar, Probe, Table};
use host::admission::{BitSet, CompiledRules, Facts, Guarded, LivePolicy, Rules};
use plugin_sdk::{ConversationRef, OwnerPath, Principal, Role, Scope};
use std::hint::black_box;
use std::time::Duration;

const CLAUSES: usize = 64;

/// An ordinary member in a group.
pub(crate) fn facts() -> Facts {
    Facts {
        conversation: ConversationRef {
            platform: "telegram".into(),
            endpoint: "main".into(),
            scope: Scope::Group,
            scene: "-7".into(),
            parent: None,
            thread: None,
        },
        principal: Principal::person("telegram", "42", Some(Role::User)),
        platform_permissions: None,
        attended: true,
    }
}

fn compiled(tools: usize) -> CompiledRules {
    let permit = |i: usize| if i.is_multiple_of(2) { format!("group(-{i}, -7)") } else { format!("group(-{i})") };
    let rules: Vec<Rules> = (0..tools)
        .map(|i| Rules { permissions: vec![permit(i % CLAUSES), permit((i + 17) % CLAUSES)], ..Rules::default() })
        .collect();
    let names: Vec<Vec<String>> = (0..tools).map(|i| vec![format!("p__{i}")]).collect();
    let owner = OwnerPath::new("p");
    let guarded =
        rules.iter().zip(&names).map(|(rules, names)| Guarded { rules, owner: &owner, names, in_group: true });
    CompiledRules::new(guarded)
}

pub(crate) fn rows(table: &mut Table) {
    let (facts, policy) = (facts(), LivePolicy::default());
    for tools in [1_000, 10_000] {
        let rules = compiled(tools);
        let mut half = BitSet::empty(tools);
        (0..tools).step_by(2).for_each(|i| half.insert(i));
        let (took, probe) = pair(
            || rules.admitted(black_box(&facts), &policy).iter().collect::<Vec<usize>>(),
            || {
                let mut set = BitSet::full(tools);
                set.subtract(black_box(&half));
                set.iter().collect::<Vec<usize>>()
            },
        );
        let probe = Probe { name: "one bit-set AND that collects the ids", took: probe };
        let bars = [Bar::Time(Duration::from_micros(200)), Bar::Times(10.0)];
        table.ratio(&format!("{tools} tools, {CLAUSES} clauses"), took, probe, &bars);
    }
}
