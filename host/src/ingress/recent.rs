//! Values by name, so many of them: the least recently used one leaves.

use std::collections::{BTreeMap, HashMap};

/// What is remembered of many people.
pub(super) struct Recent<V> {
    most: usize,
    values: HashMap<String, (u64, V)>,
    /// Names by when they were last used.
    order: BTreeMap<u64, String>,
    stamp: u64,
}

impl<V: Default> Recent<V> {
    /// Remembers nothing yet, and later at most so many.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), values: HashMap::new(), order: BTreeMap::new(), stamp: 0 }
    }

    /// The value of a name, new where there is none; it is the most recently used one now.
    pub(super) fn of(&mut self, name: &str) -> &mut V {
        self.stamp += 1;
        let stamp = self.stamp;
        let used = self.values.get(name).map(|(used, _)| *used);
        match used {
            Some(used) => {
                self.order.remove(&used);
            }
            None if self.values.len() >= self.most => {
                if let Some((_, oldest)) = self.order.pop_first() {
                    self.values.remove(&oldest);
                }
            }
            None => {}
        }
        self.order.insert(stamp, name.to_owned());
        let entry = self.values.entry(name.to_owned()).or_default();
        entry.0 = stamp;
        &mut entry.1
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn the_least_recently_used_leaves() {
        let mut recent: Recent<u32> = Recent::new(2);
        *recent.of("a") = 1;
        *recent.of("b") = 2;
        assert_eq!(*recent.of("a"), 1);
        *recent.of("c") = 3;
        assert_eq!((recent.len(), *recent.of("a"), *recent.of("c")), (2, 1, 3));
        assert_eq!((*recent.of("b"), recent.len()), (0, 2), "it had left");
    }
}
