//! The graph of a state space, as compact as the questions allow.
//!
//! States are numbered in breadth-first order, so the first of some states is also a nearest one.
//! The edges of a state are kept only if some property does not hold there: where all hold, neither
//! a cycle without one of them nor a state without hope can begin.
//!
//! Invariant: states below `closed()` have all their edges; those from there on have none, because
//! nobody looked: what lies behind them is not known. In a graph that grows (`partial`) states are
//! numbered as they are met, each may have some of its edges, and says what else is enabled.

use super::fair::Fairness;
use super::ids::{Ids, prefetch, roomy};
use super::partial::Partial;
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
    /// Of a graph that grows.
    pub partial: Option<Partial>,
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
            partial: None,
        }
    }

    /// An empty graph that grows.
    pub fn growing(properties: usize) -> Self {
        Space {
            partial: Some(Partial::default()),
            ..Space::with_room(properties, (0, 0))
        }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// How many states were closed, one after the other.
    pub fn closed(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many states have all their edges.
    pub fn expanded(&self) -> usize {
        let partial = self.partial.as_ref();
        partial.map_or(self.closed(), Partial::completed)
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
        match &self.partial {
            Some(partial) => partial.is_complete(state),
            None => (state as usize) < self.closed(),
        }
    }

    /// The units that are enabled in a state, whether they are followed or not; some repeatedly.
    #[inline(always)]
    pub fn enabled(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        let (listed, followed) = match &self.partial {
            Some(partial) => (partial.enabled(state), 0..0),
            None => (&[][..], self.range(state)),
        };
        let followed = self.edge_units[followed].iter();
        let followed = followed.filter(|&&unit| unit < FAULT);
        listed.iter().chain(followed).copied()
    }

    /// The units that a state of a graph that grows may have due, in ascending order.
    #[inline(always)]
    pub fn due(&self, state: u32, fairness: Fairness) -> &[u32] {
        match &self.partial {
            Some(partial) if fairness != Fairness::Nothing => partial.enabled(state),
            _ => &[],
        }
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

    /// The id of a state of a graph that grows, be it new.
    pub fn meet(&mut self, key: u64) -> u32 {
        let (state, new) = self.ids.insert(key);
        if new {
            self.push(key, NOBODY);
        }
        state
    }

    /// Add edges, each with its source, to a graph that grows.
    pub fn extend(&mut self, mut edges: Vec<(u32, Edge)>) {
        edges.sort_by_key(|(source, _)| *source);
        let count = self.targets.len() + edges.len();
        let (mut starts, mut targets) = (roomy(self.len() + 1), roomy(count));
        let mut edge_units = roomy(count);
        starts.push(0);
        let mut edges = edges.into_iter().peekable();
        for state in 0..self.len() as u32 {
            targets.extend_from_slice(self.targets(state));
            edge_units.extend_from_slice(&self.edge_units[self.range(state)]);
            while let Some((_, edge)) = edges.next_if(|(source, _)| *source == state) {
                targets.push(edge.target);
                edge_units.push(edge.unit);
            }
            starts.push(targets.len());
        }
        (self.starts, self.targets, self.edge_units) = (starts, targets, edge_units);
    }

    /// The nearest state at rest where `property` does not hold.
    pub fn rest(&self, property: usize, patience: &Patience) -> Result<Option<u32>, Cut> {
        let stays = |state: u32, edge: Edge| edge.target == state || edge.unit == FAULT;
        for state in 0..self.closed() as u32 {
            patience.ask()?;
            let lacking = !self.holds(property, state) && self.is_expanded(state);
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
