//! A closed walk that shows what a fair component only promises: short, and fair by itself.
//!
//! From the state nearest to the start, go again and again to the nearest place that settles a unit
//! still owed, and at last back. Weak: a unit is owed while it was enabled in every state passed
//! and never taken, so a state where it is disabled settles it too. Strong: it is owed once it was
//! enabled in a state passed, until it is taken.

use rustc_hash::{FxHashMap, FxHashSet};

use super::fair::{Fairness, Witness};
use super::patience::{Cut, Patience};
use super::space::{Edge, Space};

/// An edge, and the state it starts from.
#[derive(Clone, Copy)]
pub struct Taken {
    pub state: u32,
    pub edge: Edge,
}

pub struct Walk<'a> {
    space: &'a Space,
    fairness: Fairness,
    inside: &'a [bool],
    patience: &'a Patience<'a>,
    taken: FxHashSet<u32>,
    owed: FxHashSet<u32>,
    steps: Vec<Taken>,
    at: u32,
}

impl<'a> Walk<'a> {
    /// The loop through `witness`, from its first state back to it.
    pub fn around(
        space: &'a Space,
        fairness: Fairness,
        witness: &'a Witness,
        patience: &'a Patience<'a>,
    ) -> Result<Vec<Taken>, Cut> {
        let start = witness.states[0];
        let mut walk = Walk {
            space,
            fairness,
            inside: &witness.inside,
            patience,
            taken: FxHashSet::default(),
            owed: FxHashSet::default(),
            steps: Vec::new(),
            at: start,
        };
        if fairness != Fairness::Nothing {
            walk.owed = space.enabled(start).collect();
        }
        loop {
            if !walk.owed.is_empty() {
                walk.go(|walk, taken| walk.settles(taken))?;
            } else if walk.at != start || walk.steps.is_empty() {
                // On the way back something new may be owed: then it is not over yet.
                walk.go(|_, taken| taken.edge.target == start)?;
            } else {
                return Ok(walk.steps);
            }
        }
    }

    /// Whether `taken` settles something that is owed.
    fn settles(&self, taken: &Taken) -> bool {
        if self.owed.contains(&taken.edge.unit) {
            return true;
        }
        if self.fairness == Fairness::Strong {
            return false;
        }
        let there: FxHashSet<u32> = self.space.enabled(taken.edge.target).collect();
        self.owed.iter().any(|unit| !there.contains(unit))
    }

    /// Take the shortest way inside to the first edge that is `wanted`, and that edge.
    fn go(&mut self, wanted: impl Fn(&Self, &Taken) -> bool) -> Result<(), Cut> {
        let mut came: FxHashMap<u32, Taken> = FxHashMap::default();
        let mut queue = vec![self.at];
        let mut next = 0;
        while next < queue.len() {
            self.patience.ask()?;
            let state = queue[next];
            next += 1;
            for edge in self.space.edges(state) {
                if !self.inside[edge.target as usize] {
                    continue;
                }
                let taken = Taken { state, edge };
                if wanted(self, &taken) {
                    self.follow(&came, taken);
                    return Ok(());
                }
                if edge.target != self.at && !came.contains_key(&edge.target) {
                    came.insert(edge.target, taken);
                    queue.push(edge.target);
                }
            }
        }
        unreachable!("inside a fair component every unit owed can be settled");
    }

    fn follow(&mut self, came: &FxHashMap<u32, Taken>, last: Taken) {
        let mut way = vec![last];
        while way[way.len() - 1].state != self.at {
            way.push(came[&way[way.len() - 1].state]);
        }
        for taken in way.into_iter().rev() {
            self.step(taken);
        }
    }

    fn step(&mut self, taken: Taken) {
        self.steps.push(taken);
        self.at = taken.edge.target;
        self.taken.insert(taken.edge.unit);
        self.owed.remove(&taken.edge.unit);
        let there: FxHashSet<u32> = self.space.enabled(self.at).collect();
        match self.fairness {
            Fairness::Nothing => {}
            Fairness::Weak => self.owed.retain(|unit| there.contains(unit)),
            Fairness::Strong => {
                let new = there.into_iter().filter(|unit| !self.taken.contains(unit));
                self.owed.extend(new);
            }
        }
    }
}
