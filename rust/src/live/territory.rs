//! From which states can a property still come true?
//!
//! Live: some continuation reaches a state where it holds. Dead: none does, and all of them were
//! looked at. Unknown: none of those looked at does, and some lead to where nobody looked. The
//! components of the part where the property does not hold come in such an order that all a state
//! leads to is known before it, so one pass over the edges decides every state.

use super::scc::Components;
use super::space::Space;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Territory {
    Dead,
    Unknown,
    Live,
}

impl Territory {
    pub fn name(self) -> &'static str {
        match self {
            Territory::Dead => "dead",
            Territory::Unknown => "unknown",
            Territory::Live => "live",
        }
    }
}

/// The territory of every state.
pub fn survey(space: &Space, property: usize) -> Vec<Territory> {
    let mut found = vec![Territory::Live; space.len()];
    let lacking = || (0..space.len() as u32).filter(|&state| !space.holds(property, state));
    lacking().for_each(|state| found[state as usize] = Territory::Dead);
    let mut components = Components::new(space);
    components.separate(lacking());
    components.visit(lacking(), |states| {
        let mut best = Territory::Dead;
        for &state in states {
            if !space.is_expanded(state) {
                best = best.max(Territory::Unknown);
            }
            for edge in space.edges(state) {
                // A member of the component itself still counts as dead here, which adds nothing.
                best = best.max(found[edge.target as usize]);
            }
        }
        states
            .iter()
            .for_each(|&state| found[state as usize] = best);
    });
    found
}

/// How many edges lead from a live state to a dead one.
pub fn critical(space: &Space, found: &[Territory]) -> u64 {
    let mut count = 0;
    for state in 0..space.len() as u32 {
        let here = found[state as usize];
        if here == Territory::Dead {
            count += u64::from(space.entered[state as usize]);
        }
        if here == Territory::Live {
            let dead = |edge: &&super::space::Edge| found[edge.target as usize] == Territory::Dead;
            count += space.edges(state).iter().filter(dead).count() as u64;
        }
    }
    count
}
