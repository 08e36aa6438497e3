//! The predicate compiled for one generation: distinct clauses with the bit sets of the tools that carry them.

use super::permit::{Permit, parse_permit};
use super::predicate::{Guarded, permit_passes, platform_step, scope_step};
use super::{Facts, LivePolicy};
use plugin_sdk::{OwnerPath, Scope};
use std::collections::HashMap;

const WORD: usize = 64;

/// A set of dense ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// The empty set for ids below `len`.
    pub fn empty(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(WORD)] }
    }

    /// All ids below `len`.
    pub fn full(len: usize) -> Self {
        let mut set = Self { words: vec![u64::MAX; len.div_ceil(WORD)] };
        if let (Some(last), rest @ 1..) = (set.words.last_mut(), len % WORD) {
            *last = (1 << rest) - 1;
        }
        set
    }

    /// Adds an id of the range it was made for; others are ignored.
    pub fn insert(&mut self, id: usize) {
        if let Some(w) = self.words.get_mut(id / WORD) {
            *w |= 1 << (id % WORD);
        }
    }

    /// Removes an id.
    pub fn remove(&mut self, id: usize) {
        if let Some(w) = self.words.get_mut(id / WORD) {
            *w &= !(1 << (id % WORD));
        }
    }

    /// Whether it holds an id.
    pub fn contains(&self, id: usize) -> bool {
        self.words.get(id / WORD).is_some_and(|w| w & (1 << (id % WORD)) != 0)
    }

    /// Takes away every id of `other`.
    pub fn subtract(&mut self, other: &BitSet) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// The ids in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                if left == 0 {
                    return None;
                }
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                Some(i * WORD + bit)
            })
        })
    }
}

/// A condition that several tools share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Clause {
    Platforms(Vec<String>),
    Scopes(Vec<Scope>),
    Permit(Permit),
    /// A malformed entry: never passes.
    Never,
}

impl Clause {
    fn passes(&self, facts: &Facts) -> bool {
        match self {
            Clause::Platforms(list) => platform_step(list, &facts.conversation).is_ok(),
            Clause::Scopes(list) => scope_step(list, &facts.conversation).is_ok(),
            Clause::Permit(permit) => permit_passes(permit, facts).is_ok(),
            Clause::Never => false,
        }
    }
}

/// The rules of a generation, ready for one evaluation per message.
#[derive(Debug, Clone, Default)]
pub struct CompiledRules {
    /// In a group that is let in.
    base: BitSet,
    clauses: Vec<(Clause, BitSet)>,
    by_name: HashMap<String, Vec<usize>>,
    owners: Vec<(OwnerPath, BitSet)>,
    looks_up: Vec<String>,
}

impl CompiledRules {
    /// Compiles the tools in order of their ids.
    pub fn new<'a>(items: impl IntoIterator<Item = Guarded<'a>>) -> Self {
        let items: Vec<Guarded<'_>> = items.into_iter().collect();
        let mut out = Self { base: BitSet::full(items.len()), ..Self::default() };
        let mut clauses: HashMap<Clause, usize> = HashMap::new();
        let mut owners: HashMap<OwnerPath, usize> = HashMap::new();
        for (id, item) in items.iter().enumerate() {
            if !item.in_group {
                out.base.remove(id);
            }
            for clause in clauses_of(item) {
                let at = *clauses.entry(clause.clone()).or_insert_with(|| {
                    out.clauses.push((clause, BitSet::empty(items.len())));
                    out.clauses.len() - 1
                });
                out.clauses[at].1.insert(id);
            }
            for name in item.names {
                out.by_name.entry(name.clone()).or_default().push(id);
            }
            let at = *owners.entry(item.owner.clone()).or_insert_with(|| {
                out.owners.push((item.owner.clone(), BitSet::empty(items.len())));
                out.owners.len() - 1
            });
            out.owners[at].1.insert(id);
        }
        out.looks_up = out.lookup_platforms();
        out
    }

    fn lookup_platforms(&self) -> Vec<String> {
        let mut list: Vec<String> = self
            .clauses
            .iter()
            .filter_map(|(c, _)| match c {
                Clause::Permit(Permit::Platform { platform, .. }) => Some(platform.clone()),
                _ => None,
            })
            .collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Whether some tool has a `platform()` permit of this platform, so that a lookup is worth its request.
    pub fn needs_lookup(&self, platform: &str) -> bool {
        self.looks_up.iter().any(|p| p == platform)
    }

    /// How many distinct clauses there are.
    pub fn clause_count(&self) -> usize {
        self.clauses.len()
    }

    /// `all − switched off − ⋃(sets of failing clauses)`; each clause is evaluated once.
    pub fn admitted(&self, facts: &Facts, policy: &LivePolicy) -> BitSet {
        let mut set = self.base.clone();
        for (clause, carriers) in &self.clauses {
            if !clause.passes(facts) {
                set.subtract(carriers);
            }
        }
        let (names, off) = policy.switches();
        for id in names.filter_map(|n| self.by_name.get(n)).flatten() {
            set.remove(*id);
        }
        for (owner, tools) in &self.owners {
            if off.iter().any(|o| !o.is_root() && owner.is_within(o)) {
                set.subtract(tools);
            }
        }
        set
    }
}

fn clauses_of<'a>(item: &'a Guarded<'_>) -> impl Iterator<Item = Clause> + 'a {
    let platforms = (!item.rules.platforms.is_empty()).then(|| Clause::Platforms(item.rules.platforms.clone()));
    let scopes = (!item.rules.scopes.is_empty()).then(|| Clause::Scopes(item.rules.scopes.clone()));
    let permits = item.rules.permissions.iter().map(|p| parse_permit(p).map_or(Clause::Never, Clause::Permit));
    platforms.into_iter().chain(scopes).chain(permits)
}
