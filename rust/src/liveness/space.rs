//! The graph of a state space, as compact as the questions allow.
//!
//! States are numbered in breadth-first order, so the first of some states is also a nearest one.
//! The edges of a state are kept only if some property does not hold there: where all hold, neither
//! a cycle without one of them nor a state without hope can begin.
//!
//! Invariant: states below `expanded()` have all their edges; those from there on have none,
//! because nobody looked: what lies behind them is not known.

use super::ids::{Ids, prefetch, roomy};
use super::patience::{Cut, Patience};

/// The unit of a call of the workload: no fairness speaks of it, but nobody rests before it.
pub const CALL: u32 = u32::MAX;
/// The unit of a fault: it may happen, and never has to.
pub const FAULT: u32 = u32::MAX - 1;
pub const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub struct Edge {
    pub target: u32,
    /// What must be done now and then for an execution to be fair.
    pub unit: u32,
}

impl Edge {
    /// Whether fairness speaks of it.
    #[inline(always)]
    pub fn is_owed(&self) -> bool {
        self.unit < FAULT
    }
}

pub struct Space {
    pub ids: Ids,
    /// Fingerprints, by id.
    pub keys: Vec<u64>,
    /// The state each was first reached from; `NOBODY` for initial states.
    pub parents: Vec<u32>,
    /// Per property: bit per state, whether it holds there.
    pub holds: Vec<Vec<u64>>,
    starts: Vec<usize>,
    /// Of edges, apart from their units: most questions are about targets only.
    targets: Vec<u32>,
    edge_units: Vec<u32>,
    /// How often each state is entered from states whose edges are not kept.
    pub entered: Vec<u32>,
    pub units: usize,
}

impl Space {
    /// What so many states take without their edges.
    pub fn bytes(states: usize) -> usize {
        let each = 2 * size_of::<u64>() + 2 * size_of::<u32>();
        Ids::bytes(states).saturating_add(states.saturating_mul(each))
    }

    /// Room is made for so many states and edges; more is no error, only slower.
    pub fn with_room(properties: usize, (states, edges): (usize, usize)) -> Self {
        let mut starts = roomy(states + 1);
        starts.push(0);
        Space {
            ids: Ids::with_room(states),
            keys: roomy(states),
            parents: roomy(states),
            holds: vec![Vec::new(); properties],
            starts,
            targets: roomy(edges),
            edge_units: roomy(edges),
            entered: roomy(states),
            units: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn expanded(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline(always)]
    fn range(&self, state: u32) -> std::ops::Range<usize> {
        match self.starts.get(state as usize + 1) {
            Some(&end) => self.starts[state as usize]..end,
            None => 0..0,
        }
    }

    #[inline(always)]
    pub fn targets(&self, state: u32) -> &[u32] {
        &self.targets[self.range(state)]
    }

    #[inline(always)]
    pub fn prefetch_range(&self, state: u32) {
        prefetch(&self.starts, state as usize);
    }

    #[inline(always)]
    pub fn prefetch_targets(&self, state: u32) {
        prefetch(&self.targets, self.range(state).start);
    }

    #[inline(always)]
    pub fn edges(&self, state: u32) -> impl Iterator<Item = Edge> + '_ {
        let units = &self.edge_units[self.range(state)];
        let pairs = self.targets(state).iter().zip(units);
        pairs.map(|(&target, &unit)| Edge { target, unit })
    }

    #[inline(always)]
    pub fn is_expanded(&self, state: u32) -> bool {
        (state as usize) < self.expanded()
    }

    #[inline(always)]
    pub fn holds(&self, property: usize, state: u32) -> bool {
        self.holds[property][state as usize / 64] >> (state % 64) & 1 == 1
    }

    pub fn all_hold(&self, state: u32) -> bool {
        (0..self.holds.len()).all(|property| self.holds(property, state))
    }

    /// Enter a state that was just given its id, reached from `parent`.
    pub fn push(&mut self, key: u64, parent: u32) {
        let state = self.keys.len();
        self.keys.push(key);
        self.parents.push(parent);
        self.entered.push(0);
        if state.is_multiple_of(64) {
            self.holds.iter_mut().for_each(|bits| bits.push(0));
        }
    }

    pub fn set_holds(&mut self, property: usize, state: u32) {
        self.holds[property][state as usize / 64] |= 1 << (state % 64);
    }

    /// Add an edge of the state that is being expanded; `close` ends it.
    #[inline(always)]
    pub fn edge(&mut self, kept: bool, edge: Edge) {
        if kept {
            self.targets.push(edge.target);
            self.edge_units.push(edge.unit);
        } else {
            self.entered[edge.target as usize] += 1;
        }
    }

    pub fn close(&mut self) {
        self.starts.push(self.targets.len());
    }

    /// The nearest state at rest where `property` does not hold.
    pub fn rest(&self, property: usize, patience: &Patience) -> Result<Option<u32>, Cut> {
        let stays = |state: u32, edge: Edge| edge.target == state || edge.unit == FAULT;
        for state in 0..self.expanded() as u32 {
            patience.ask()?;
            let lacking = !self.holds(property, state);
            if lacking && self.edges(state).all(|edge| stays(state, edge)) {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// The states from an initial one to `state`, both included.
    pub fn stem(&self, state: u32) -> Vec<u32> {
        let mut stem = vec![state];
        let mut at = state;
        while self.parents[at as usize] != NOBODY {
            at = self.parents[at as usize];
            stem.push(at);
        }
        stem.reverse();
        stem
    }
}
