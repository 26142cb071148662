//! Sleep sets: what need not be tried in a state, since it was tried before a swap.
//!
//! When `a` was followed before `b` in a state and the two may swap places, then after `b` event
//! `a` sleeps: everything behind `b a` lies behind `a b`. What sleeps is kept with each state. A
//! state met again with fewer sleepers wakes the difference, and only that is followed (Godefroid,
//! "Partial-Order Methods", 1996, section 6.5). All states are still met, by fewer transitions.
//!
//! Invariant: for each request (state, sleepers), every state that a shortest path leads to whose
//! equivalent orders do not begin with a sleeper is met; see `docs/decisions`.

use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::search::EventId;
use crate::table::fingerprint::scramble;

/// Enough that threads rarely meet at one lock.
const SHARDS: usize = 64;

/// An event as one word: what, where, which stimulus or envelope, which branch.
pub fn label(event: &EventId) -> u64 {
    debug_assert!(event.node < 1 << 11 && event.branch < 1 << 17);
    u64::from(event.origin)
        | u64::from(event.branch) << 32
        | u64::from(event.node) << 49
        | (event.what as u64) << 60
}

/// What is to be done in a state.
pub enum Visit {
    /// It is new: follow all that does not sleep.
    New,
    /// It was met, but too deep within a depth limit: as if it were new.
    Shallower,
    /// Follow these, with those asleep.
    Woken {
        awake: Vec<u64>,
        asleep: Vec<u64>,
    },
    Nothing,
}

#[derive(Default)]
struct Shard {
    states: FxHashMap<u64, (u32, u32)>, // fingerprint -> (id of its sleepers, depth)
    sets: Vec<Arc<[u64]>>,
    ids: FxHashMap<Arc<[u64]>, u32>,
}

impl Shard {
    fn set(&mut self, labels: &[u64]) -> u32 {
        if let Some(&id) = self.ids.get(labels) {
            return id;
        }
        let labels: Arc<[u64]> = labels.into();
        let id = self.sets.len() as u32;
        self.sets.push(labels.clone());
        self.ids.insert(labels, id);
        id
    }
}

/// The sleepers of every state met.
pub struct Table {
    shards: Vec<Mutex<Shard>>,
    /// Does a depth limit make it matter how deep a state was when it was met?
    depths: bool,
}

impl Table {
    pub fn new(depths: bool) -> Self {
        Table {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            depths,
        }
    }

    /// Ask for `key` to be visited with these sleepers, in ascending order.
    pub fn visit(&self, key: u64, sleepers: &[u64], depth: u32) -> Visit {
        let mut shard = self.shards[scramble(key) as usize % SHARDS].lock();
        let Some(&(set, met)) = shard.states.get(&key) else {
            let set = shard.set(sleepers);
            shard.states.insert(key, (set, depth));
            return Visit::New;
        };
        if self.depths && depth < met {
            let set = shard.set(sleepers);
            shard.states.insert(key, (set, depth));
            return Visit::Shallower;
        }
        let known = shard.sets[set as usize].clone();
        let sleeps = |label: &u64| sleepers.binary_search(label).is_ok();
        let (asleep, awake): (Vec<u64>, Vec<u64>) = known.iter().partition(|label| sleeps(label));
        if awake.is_empty() {
            return Visit::Nothing;
        }
        let set = shard.set(&asleep);
        // What is woken here is followed from here: no shallower than this counts as done.
        shard.states.insert(key, (set, depth.max(met)));
        Visit::Woken { awake, asleep }
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, Visit, label};
    use crate::search::EventId;
    use crate::services::expand::EventKind;

    fn woken(visit: Visit) -> Option<(Vec<u64>, Vec<u64>)> {
        match visit {
            Visit::Woken { awake, asleep } => Some((awake, asleep)),
            _ => None,
        }
    }

    #[test]
    fn a_state_met_again_wakes_what_does_not_sleep_any_more() {
        let table = Table::new(false);
        assert!(matches!(table.visit(7, &[1, 2, 3], 1), Visit::New));
        assert!(matches!(table.visit(7, &[1, 2, 3, 4], 1), Visit::Nothing));
        let again = woken(table.visit(7, &[2], 2)).unwrap();
        assert_eq!(again, (vec![1, 3], vec![2]));
        assert!(matches!(table.visit(7, &[2, 9], 2), Visit::Nothing));
        assert_eq!(woken(table.visit(7, &[], 3)).unwrap(), (vec![2], vec![]));
        assert!(matches!(table.visit(7, &[], 3), Visit::Nothing));
    }

    #[test]
    fn events_that_differ_have_different_labels() {
        let mut labels = Vec::new();
        for what in [EventKind::Internal, EventKind::Deliver, EventKind::Heal] {
            for (node, origin, branch) in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)] {
                labels.push(label(&EventId {
                    what,
                    node,
                    origin,
                    branch,
                }));
            }
        }
        let all = labels.len();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), all);
    }

    #[test]
    fn within_a_depth_limit_a_shallower_visit_begins_anew() {
        let table = Table::new(true);
        assert!(matches!(table.visit(7, &[1], 5), Visit::New));
        assert!(matches!(table.visit(7, &[1], 3), Visit::Shallower));
        assert!(matches!(table.visit(7, &[1], 3), Visit::Nothing));
        assert!(woken(table.visit(7, &[], 6)).is_some());
        assert!(matches!(table.visit(7, &[], 4), Visit::Shallower));
    }
}
