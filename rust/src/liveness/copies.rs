//! Fair cycles as accepting ones: a state once for each unit that may still be due in it.
//!
//! Weak fairness wants each unit to be taken, or not to be enabled, again and again. So executions
//! go in *rounds*: units come in their order, and one after the other is served by an edge that
//! takes it or a state where it is not enabled (Choueka, "Theories of automata on omega-tapes",
//! 1974). The edge that ends a round is accepting. A cycle with such an edge serves every unit, and
//! round a fair cycle rounds end again and again.
//!
//! Only units that are enabled in a state are due there: all others are served by it, also those
//! that nobody has met yet. Without fairness nothing is due, and every edge ends a round.
//!
//! Invariant: a state has as many copies as it was first given, so nodes keep their numbers while
//! the graph grows.

const UNKNOWN: u32 = u32::MAX;

/// Numbers for the copies of states, in the order in which these are added.
#[derive(Default)]
pub struct Copies {
    /// By state: its first node.
    first: Vec<u32>,
    /// By node: its state.
    states: Vec<u32>,
}

impl Copies {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether a state was added.
    pub fn contains(&self, state: u32) -> bool {
        let first = self.first.get(state as usize);
        first.is_some_and(|&first| first != UNKNOWN)
    }

    /// Add a state with so many copies.
    pub fn add(&mut self, state: u32, count: usize) {
        let nodes = self.states.len() + count;
        assert!(nodes < UNKNOWN as usize, "the graph has too many nodes");
        if self.first.len() <= state as usize {
            self.first.resize(state as usize + 1, UNKNOWN);
        }
        self.first[state as usize] = self.states.len() as u32;
        self.states.resize(nodes, state);
    }

    /// The first node of a state that was added.
    #[inline(always)]
    pub fn first(&self, state: u32) -> u32 {
        self.first[state as usize]
    }

    /// All nodes of a state that was added.
    pub fn nodes(&self, state: u32) -> impl Iterator<Item = u32> {
        let more = self.states[self.first(state) as usize..].iter();
        let count = more.take_while(|&&owner| owner == state).count() as u32;
        self.first(state)..self.first(state) + count
    }

    /// The state of a node.
    #[inline(always)]
    pub fn state(&self, node: u32) -> u32 {
        self.states[node as usize]
    }

    /// Which copy of its state a node is.
    #[inline(always)]
    pub fn copy(&self, node: u32) -> usize {
        (node - self.first(self.state(node))) as usize
    }
}

/// How many copies a state has where these units can be due.
#[inline(always)]
pub fn count(due: &[u32]) -> usize {
    due.len().max(1)
}

/// Follow an edge of some unit from a copy of a state where `here` can be due to one where
/// `there` can; both ascend. Gives which copy that is, and whether a round ends.
#[inline(always)]
pub fn follow(here: &[u32], copy: usize, unit: u32, there: &[u32]) -> (usize, bool) {
    let next = here
        .get(copy)
        .map_or(0, |&due| due + u32::from(due == unit));
    let copy = place(there, next, copy);
    if copy < there.len() {
        (copy, false)
    } else {
        (0, true)
    }
}

/// How many of the units, which ascend, come before `next`. Neighbours have nearly the same units
/// enabled, so that is near to `guess`.
#[inline(always)]
fn place(units: &[u32], next: u32, guess: usize) -> usize {
    let mut place = guess.min(units.len());
    while place > 0 && units[place - 1] >= next {
        place -= 1;
    }
    while place < units.len() && units[place] < next {
        place += 1;
    }
    place
}
