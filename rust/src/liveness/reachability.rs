//! From which states can a property still come true, and where could one go round without it?
//!
//! Live: some continuation reaches a state where it holds. Dead: none does, and all of them were
//! looked at. Unknown: none of those looked at does, and some lead to where nobody looked. The
//! components of the part where the property does not hold come in such an order that all a state
//! leads to is known before it, so one pass over the edges decides every state.

use super::patience::{Cut, Patience};
use super::scc::Components;
use super::space::Space;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Reachability {
    Dead,
    Unknown,
    Live,
}

impl Reachability {
    pub fn name(self) -> &'static str {
        match self {
            Reachability::Dead => "dead",
            Reachability::Unknown => "unknown",
            Reachability::Live => "live",
        }
    }
}

/// What the components of the part without a property tell of it.
pub struct Survey {
    /// By state.
    pub territories: Vec<Reachability>,
    /// The components in which one can go round, each in no particular order.
    pub cyclic: Vec<Box<[u32]>>,
}

impl Survey {
    /// What so many states take, whatever the graph is.
    pub fn bytes(states: usize) -> usize {
        states.saturating_mul(size_of::<Reachability>() + size_of::<u32>())
    }

    pub fn of(space: &Space, property: usize, patience: &Patience) -> Result<Survey, Cut> {
        let lacking = (0..space.len() as u32).filter(|&state| !space.holds(property, state));
        let mut territories = vec![Reachability::Live; space.len()];
        for state in lacking.clone() {
            territories[state as usize] = Reachability::Dead;
        }
        let mut cyclic = Vec::new();
        Components::new(space).visit(lacking, patience, |states| {
            let best = best(space, states, &territories, patience)?;
            if best != Reachability::Dead {
                states
                    .iter()
                    .for_each(|&state| territories[state as usize] = best);
            }
            if goes_round(space, states) {
                cyclic.push(states.into());
            }
            Ok(())
        })?;
        Ok(Survey {
            territories,
            cyclic,
        })
    }

    pub fn count(&self, reachability: Reachability) -> usize {
        let same = |other: &&Reachability| **other == reachability;
        self.territories.iter().filter(same).count()
    }

    /// How many edges lead from a live state to a dead one.
    pub fn critical(&self, space: &Space, patience: &Patience) -> Result<u64, Cut> {
        if self.count(Reachability::Dead) == 0 {
            return Ok(0);
        }
        let mut count = 0;
        for (state, &here) in self.territories.iter().enumerate() {
            patience.ask()?;
            if here == Reachability::Dead {
                count += u64::from(space.entered[state]);
            }
            if here == Reachability::Live {
                let dead =
                    |&&target: &&u32| self.territories[target as usize] == Reachability::Dead;
                count += space.targets(state as u32).iter().filter(dead).count() as u64;
            }
        }
        Ok(count)
    }
}

/// The best that a component leads to. Its own members still count as dead, which adds nothing.
fn best(
    space: &Space,
    states: &[u32],
    territories: &[Reachability],
    patience: &Patience,
) -> Result<Reachability, Cut> {
    let mut best = Reachability::Dead;
    for &state in states {
        patience.ask()?;
        if !space.is_expanded(state) {
            best = best.max(Reachability::Unknown);
        }
        for &target in space.targets(state) {
            best = best.max(territories[target as usize]);
        }
        if best == Reachability::Live {
            break;
        }
    }
    Ok(best)
}

/// Whether some edge leads from the component to itself.
pub fn goes_round(space: &Space, states: &[u32]) -> bool {
    states.len() > 1 || space.targets(states[0]).contains(&states[0])
}
