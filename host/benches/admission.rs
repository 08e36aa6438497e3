//! One evaluation of 10,000 tools with 64 clauses. The bars of the contract: 200 µs, and ten times one bit-set
//! AND that collects the ids.

use host::admission::{BitSet, CompiledRules, Facts, Guarded, LivePolicy, Rules};
use plugin_sdk::{ConversationRef, OwnerPath, Principal, Role, Scope};

fn main() {
    divan::main();
}

const TOOLS: usize = 10_000;
const CLAUSES: usize = 64;

fn facts() -> Facts {
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

#[divan::bench]
fn admitted(bencher: divan::Bencher<'_, '_>) {
    let permit = |i: usize| if i.is_multiple_of(2) { format!("group(-{i}, -7)") } else { format!("group(-{i})") };
    let rules: Vec<Rules> = (0..TOOLS)
        .map(|i| Rules { permissions: vec![permit(i % CLAUSES), permit((i + 17) % CLAUSES)], ..Rules::default() })
        .collect();
    let names: Vec<Vec<String>> = (0..TOOLS).map(|i| vec![format!("p__{i}")]).collect();
    let owner = OwnerPath::new("p");
    let guarded =
        rules.iter().zip(&names).map(|(rules, names)| Guarded { rules, owner: &owner, names, in_group: true });
    let compiled = CompiledRules::new(guarded);
    let (facts, policy) = (facts(), LivePolicy::default());
    bencher.bench(|| compiled.admitted(divan::black_box(&facts), &policy).iter().collect::<Vec<usize>>());
}

#[divan::bench]
fn one_and_that_collects(bencher: divan::Bencher<'_, '_>) {
    let mut half = BitSet::empty(TOOLS);
    (0..TOOLS).step_by(2).for_each(|i| half.insert(i));
    bencher.bench(|| {
        let mut set = BitSet::full(TOOLS);
        set.subtract(divan::black_box(&half));
        set.iter().collect::<Vec<usize>>()
    });
}
