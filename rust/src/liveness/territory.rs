//! From which states can a property still come true, and where could one go round without it?
//!
//! Live: some continuation reaches a state where it holds. Dead: none does, and all of them were
//! looked at. Unknown: none of those looked at does, and some lead to where nobody looked. The
//! components of the part where the property does not hold come in such an order that all a state
//! leads to is known before it, so one pass over the edges decides every state.

use super::scc::Components;
use super::space::Space;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
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

/// What the components of the part without a property tell of it.
pub struct Survey {
    /// By state.
    pub territories: Vec<Territory>,
    /// The components in which one can go round, each in no particular order.
    pub cyclic: Vec<Box<[u32]>>,
}

impl Survey {
    pub fn of(space: &Space, property: usize) -> Survey {
        let lacking = (0..space.len() as u32).filter(|&state| !space.holds(property, state));
        let mut territories = vec![Territory::Live; space.len()];
        for state in lacking.clone() {
            territories[state as usize] = Territory::Dead;
        }
        let mut cyclic = Vec::new();
        Components::new(space).visit(lacking, |states| {
            let best = best(space, states, &territories);
            if best != Territory::Dead {
                states
                    .iter()
                    .for_each(|&state| territories[state as usize] = best);
            }
            if goes_round(space, states) {
                cyclic.push(states.into());
            }
        });
        Survey {
            territories,
            cyclic,
        }
    }

    pub fn count(&self, territory: Territory) -> usize {
        let same = |other: &&Territory| **other == territory;
        self.territories.iter().filter(same).count()
    }

    /// How many edges lead from a live state to a dead one.
    pub fn critical(&self, space: &Space) -> u64 {
        if self.count(Territory::Dead) == 0 {
            return 0;
        }
        let mut count = 0;
        for (state, &here) in self.territories.iter().enumerate() {
            if here == Territory::Dead {
                count += u64::from(space.entered[state]);
            }
            if here == Territory::Live {
                let dead = |&&target: &&u32| self.territories[target as usize] == Territory::Dead;
                count += space.targets(state as u32).iter().filter(dead).count() as u64;
            }
        }
        count
    }
}

/// The best that a component leads to. Its own members still count as dead, which adds nothing.
fn best(space: &Space, states: &[u32], territories: &[Territory]) -> Territory {
    let mut best = Territory::Dead;
    for &state in states {
        if !space.is_expanded(state) {
            best = best.max(Territory::Unknown);
        }
        for &target in space.targets(state) {
            best = best.max(territories[target as usize]);
        }
        if best == Territory::Live {
            break;
        }
    }
    best
}

/// Whether some edge leads from the component to itself.
pub fn goes_round(space: &Space, states: &[u32]) -> bool {
    states.len() > 1 || space.targets(states[0]).contains(&states[0])
}
