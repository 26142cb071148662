//! States of which some edges are known, and the rest was not followed yet.
//!
//! A search that is bounded cuts edges. A loop of edges that were followed is a loop, but whether
//! it is fair depends on all that is enabled in its states: so each state keeps the units that it
//! lists, followed or not. Few sets of units are different, and each is kept once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

#[derive(Default)]
pub struct Partial {
    ids: FxHashMap<Arc<[u32]>, u32>,
    sets: Vec<Arc<[u32]>>,
    /// By state: its set of units, plus one; 0 where nobody looked.
    enabled: Vec<u32>,
    /// By state, a bit: all its edges were followed.
    complete: Vec<u64>,
    completed: usize,
}

impl Partial {
    /// The units that are enabled in `state`, in ascending order.
    #[inline(always)]
    pub fn enabled(&self, state: u32) -> &[u32] {
        match self.enabled.get(state as usize) {
            Some(&set) if set > 0 => &self.sets[set as usize - 1],
            _ => &[],
        }
    }

    /// Say what is enabled in `state`; units ascend.
    pub fn set_enabled(&mut self, state: u32, units: &[u32]) {
        let set = match self.ids.get(units) {
            Some(&set) => set,
            None => {
                let units: Arc<[u32]> = units.into();
                self.sets.push(units.clone());
                self.ids.insert(units, self.sets.len() as u32);
                self.sets.len() as u32
            }
        };
        let state = state as usize;
        if self.enabled.len() <= state {
            self.enabled.resize(state + 1, 0);
        }
        self.enabled[state] = set;
    }

    /// Of a graph given by hand: the edges that were followed, and the units of all others.
    pub fn of(edges: &[Option<Vec<(u32, i64)>>], cut: &[Vec<i64>]) -> Self {
        let mut partial = Partial::default();
        for (state, (edges, cut)) in edges.iter().zip(cut).enumerate() {
            let followed = edges.iter().flatten().map(|&(_, unit)| unit);
            let units = followed.chain(cut.iter().copied());
            let units = units.filter_map(|unit| u32::try_from(unit).ok());
            let units: BTreeSet<u32> = units.collect();
            partial.set_enabled(state as u32, &units.into_iter().collect::<Vec<_>>());
            if edges.is_some() && cut.is_empty() {
                partial.set_complete(state as u32);
            }
        }
        partial
    }

    pub fn set_complete(&mut self, state: u32) {
        let word = state as usize / 64;
        if self.complete.len() <= word {
            self.complete.resize(word + 1, 0);
        }
        self.complete[word] |= 1 << (state % 64);
        self.completed += 1;
    }

    #[inline(always)]
    pub fn is_complete(&self, state: u32) -> bool {
        let word = self.complete.get(state as usize / 64);
        word.is_some_and(|word| word >> (state % 64) & 1 == 1)
    }

    /// How many states have all their edges.
    pub fn completed(&self) -> usize {
        self.completed
    }
}
