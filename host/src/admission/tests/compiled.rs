use super::*;
use plugin_sdk::OwnerPath;
use proptest::prelude::*;

const PERMITS: [&str; 16] = [
    "role(trusted)",
    "role(master)",
    "role(user)",
    "user(1)",
    "user(telegram:2)",
    "user(*)",
    "group(-1)",
    "group(-1#9)",
    "group()",
    "private()",
    "private(3)",
    "adapter(telegram/main)",
    "platform(telegram, owner)",
    "platform(discord, admin)",
    "broken(",
    "role(nobody)",
];
const PLATFORMS: [&str; 3] = ["telegram", "discord", "console"];
const SCOPES: [Scope; 3] = [Scope::Private, Scope::Group, Scope::Channel];
const OWNERS: [&str; 4] = [".", "maps", "games", "games/dice"];

fn pick<T: Clone + std::fmt::Debug + 'static>(from: &[T], most: usize) -> impl Strategy<Value = Vec<T>> + use<T> {
    proptest::sample::subsequence(from.to_vec(), 0..=most)
}

#[derive(Debug, Clone)]
struct Item {
    rules: Rules,
    owner: OwnerPath,
    names: Vec<String>,
    in_group: bool,
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let one =
        (pick(&PLATFORMS, 2), pick(&SCOPES, 2), pick(&PERMITS, 3), 0..OWNERS.len(), proptest::bool::weighted(0.9));
    proptest::collection::vec(one, 1..200).prop_map(|list| {
        let each = list.into_iter().enumerate().map(|(i, (platforms, scopes, permits, owner, in_group))| Item {
            rules: rules(&platforms, &scopes, &permits),
            owner: OwnerPath::new(OWNERS[owner]),
            names: names(&[&format!("t{i}"), &format!("alias{i}")]),
            in_group,
        });
        each.collect()
    })
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let senders = [SenderKind::User, SenderKind::Bot, SenderKind::AnonymousAdmin, SenderKind::System];
    let held = proptest::option::of(pick(&["owner", "administrator", "guild_owner"], 2));
    let role = proptest::option::of(0..3usize);
    (0..3usize, 0..3usize, 1..4u8, any::<bool>(), 0..4usize, held, role).prop_map(
        move |(platform, scope, id, threaded, sender, held, role)| {
            let thread = if threaded { "#9" } else { "" };
            let place = format!("{}:{}:-{id}{thread}", PLATFORMS[platform], SCOPES[scope]);
            let role = role.map(|r| [Role::User, Role::Trusted, Role::Master][r]);
            let mut f = with_sender(facts(&place, &id.to_string(), role), senders[sender]);
            f.platform_permissions = held.map(|h| Ok(names(&h)));
            f
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn compiled_is_the_plain_function(
        items in items(),
        all in proptest::collection::vec(any_facts(), 5),
        off in proptest::collection::vec(0..200usize, 0..5),
        plugin in proptest::option::of(1..4usize),
    ) {
        let policy = LivePolicy::new(PolicyInput {
            deny: off.iter().step_by(2).map(|i| format!("t{i}")).collect(),
            disabled: off.iter().skip(1).step_by(2).map(|i| format!("alias{i}")).collect(),
            plugins_disabled: plugin.iter().map(|p| OWNERS[*p].to_string()).collect(),
            ..PolicyInput::default()
        });
        let guarded: Vec<Guarded<'_>> = items
            .iter()
            .map(|i| Guarded { rules: &i.rules, owner: &i.owner, names: &i.names, in_group: i.in_group })
            .collect();
        let compiled = CompiledRules::new(guarded.iter().cloned());
        for facts in &all {
            let fast: Vec<usize> = compiled.admitted(facts, &policy).iter().collect();
            let plain: Vec<usize> =
                (0..guarded.len()).filter(|i| can_access_tool(&guarded[*i], facts, &policy).is_ok()).collect();
            prop_assert_eq!(fast, plain);
        }
    }
}

#[test]
fn bit_sets_hold_their_range() {
    for len in [0, 1, 63, 64, 65, 130] {
        let mut set = BitSet::full(len);
        assert_eq!((set.len(), set.is_empty()), (len, len == 0));
        assert_eq!(set.iter().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
        set.insert(len + 64);
        assert!(!set.contains(len + 64));
        set.subtract(&BitSet::full(len));
        assert!(set.is_empty());
    }
}

#[test]
fn lookups_are_asked_for_only_where_a_permit_needs_them() {
    let with = rules(&[], &[], &["platform(telegram, owner)"]);
    let without = rules(&[], &[], &["role(user)"]);
    let owner = OwnerPath::root();
    let compiled = CompiledRules::new([&with, &without, &with].map(|rules| Guarded {
        rules,
        owner: &owner,
        names: &[],
        in_group: true,
    }));
    assert!(compiled.needs_lookup("telegram") && !compiled.needs_lookup("discord"));
    assert_eq!(compiled.clause_count(), 2);
}

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn some<T: Clone>(&mut self, from: &[T], most: usize) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| from[self.below(from.len())].clone()).collect()
    }
}

fn rolled_facts(dice: &mut Dice) -> Facts {
    let senders = [SenderKind::User, SenderKind::User, SenderKind::Bot, SenderKind::AnonymousAdmin];
    let thread = if dice.below(3) == 0 { "#9" } else { "" };
    let id = dice.below(4).to_string();
    let place = format!("{}:{}:-{id}{thread}", PLATFORMS[dice.below(3)], SCOPES[dice.below(3)]);
    let role = [None, Some(Role::User), Some(Role::Trusted), Some(Role::Master)][dice.below(4)];
    let mut f = with_sender(facts(&place, &id, role), senders[dice.below(4)]);
    let held = names(&dice.some(&["owner", "administrator", "guild_owner"], 2));
    f.platform_permissions = [None, Some(Ok(held)), Some(Err("no answer".into()))][dice.below(3)].clone();
    f
}

/// The size of the contract: 10,000 tools and 1,000 people in places. Tools that differ in nothing the plain
/// function reads are judged by it once.
#[test]
fn ten_thousand_tools_and_a_thousand_facts_agree() {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let kinds: Vec<(Rules, OwnerPath, bool)> = (0..300)
        .map(|_| {
            let made = rules(&dice.some(&PLATFORMS, 2), &dice.some(&SCOPES, 2), &dice.some(&PERMITS, 3));
            (made, OwnerPath::new(OWNERS[dice.below(4)]), dice.below(10) > 0)
        })
        .collect();
    let tools: Vec<(usize, Vec<String>)> =
        (0..10_000).map(|i| (dice.below(kinds.len()), names(&[&format!("t{i}"), &format!("alias{i}")]))).collect();
    let off: Vec<usize> = (0..40).map(|_| dice.below(tools.len())).collect();
    let policy = LivePolicy::new(PolicyInput {
        deny: off[..20].iter().map(|i| format!("t{i}")).collect(),
        disabled: off[20..].iter().map(|i| format!("alias{i}")).collect(),
        plugins_disabled: vec!["games".into()],
        ..PolicyInput::default()
    });
    let guarded: Vec<Guarded<'_>> = tools
        .iter()
        .map(|(kind, names)| {
            let (rules, owner, in_group) = &kinds[*kind];
            Guarded { rules, owner, names, in_group: *in_group }
        })
        .collect();
    let compiled = CompiledRules::new(guarded.iter().cloned());
    let is_off: Vec<usize> = (0..tools.len()).map(|i| usize::from(off.contains(&i))).collect();
    let (mut seen, all) = (0, 1_000 * guarded.len());
    for _ in 0..1_000 {
        let facts = rolled_facts(&mut dice);
        let fast = compiled.admitted(&facts, &policy);
        let mut plain = vec![[None::<bool>; 2]; kinds.len()];
        for (i, (kind, _)) in tools.iter().enumerate() {
            let judged = &mut plain[*kind][is_off[i]];
            let wanted = *judged.get_or_insert_with(|| can_access_tool(&guarded[i], &facts, &policy).is_ok());
            assert_eq!(fast.contains(i), wanted, "{:?}\n{facts:?}", kinds[*kind]);
            seen += usize::from(wanted);
        }
    }
    assert!((all / 50..all / 2).contains(&seen), "{seen} of {all} are admitted: both must be seen");
}
