//! Is there a cycle on which a property never holds, and that is fair?
//!
//! Weak: of a component, the whole is the best candidate: what is disabled somewhere in a part of
//! it is disabled somewhere in the whole. So a component is fair iff every unit that is enabled in
//! all its states is taken inside it. Strong: a unit that is enabled somewhere but never taken inside
//! rules out the states where it is enabled; what is left is cut into components again.

use super::scc::Components;
use super::space::Space;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    Nothing,
    Weak,
    Strong,
}

/// Per unit, of the component being looked at.
#[derive(Clone, Copy, Default)]
struct Tally {
    round: u32,
    /// The last state in which it was found enabled, plus one.
    state: u32,
    enabled: u32,
    taken: bool,
}

pub struct Fair<'a> {
    space: &'a Space,
    property: usize,
    fairness: Fairness,
    tallies: Vec<Tally>,
    met: Vec<u32>,
    round: u32,
}

/// A strongly connected set of states on which the property never holds, fair as a whole.
pub struct Witness {
    pub states: Vec<u32>,
}

impl<'a> Fair<'a> {
    pub fn new(space: &'a Space, property: usize, fairness: Fairness) -> Self {
        Fair {
            space,
            property,
            fairness,
            tallies: vec![Tally::default(); space.units],
            met: Vec::new(),
            round: 0,
        }
    }

    /// The witness that is nearest to the start, if there is one.
    pub fn nearest(&mut self) -> Option<Witness> {
        let (space, property) = (self.space, self.property);
        let mut components = Components::new(space);
        let lacking = || (0..space.expanded() as u32).filter(|&s| !space.holds(property, s));
        components.separate(lacking());
        let mut cyclic: Vec<Vec<u32>> = Vec::new();
        let mut best: Option<Vec<u32>> = None;
        components.visit(lacking(), |states| {
            if has_edge(space, states) {
                cyclic.push(states.to_vec());
            }
        });
        while let Some(states) = cyclic.pop() {
            let first = states.iter().min().copied();
            if best
                .as_ref()
                .is_some_and(|best| best.iter().min().copied() <= first)
            {
                continue; // even if it were fair, it would not be nearer
            }
            let inside = components.separate(states.iter().copied());
            let bad = self.bad(&states, &components.part, inside);
            if bad.is_empty() {
                best = Some(states);
            } else if self.fairness == Fairness::Strong {
                self.cut(&mut components, &states, &bad, &mut cyclic);
            }
        }
        best.map(|states| Witness { states })
    }

    /// Leave out the states where a unit of `bad` is enabled, and cut the rest up again.
    fn cut(
        &self,
        components: &mut Components<'_>,
        states: &[u32],
        bad: &[bool],
        cyclic: &mut Vec<Vec<u32>>,
    ) {
        let space = self.space;
        let fine = |state: &u32| {
            let mut edges = space.edges(*state).iter();
            !edges.any(|edge| edge.is_owed() && bad[edge.unit as usize])
        };
        let rest: Vec<u32> = states.iter().copied().filter(fine).collect();
        components.separate(rest.iter().copied());
        components.visit(rest.iter().copied(), |states| {
            if has_edge(space, states) {
                cyclic.push(states.to_vec());
            }
        });
    }

    /// The units that make the component unfair, as flags by unit; empty if it is fair.
    fn bad(&mut self, states: &[u32], part: &[u32], inside: u32) -> Vec<bool> {
        if self.fairness == Fairness::Nothing {
            return Vec::new();
        }
        self.round += 1;
        self.met.clear();
        for &state in states {
            for edge in self.space.edges(state) {
                if !edge.is_owed() {
                    continue;
                }
                let tally = &mut self.tallies[edge.unit as usize];
                if tally.round != self.round {
                    *tally = Tally {
                        round: self.round,
                        ..Tally::default()
                    };
                    self.met.push(edge.unit);
                }
                if tally.state != state + 1 {
                    tally.state = state + 1;
                    tally.enabled += 1;
                }
                tally.taken |= part[edge.target as usize] == inside;
            }
        }
        let always = states.len() as u32;
        let offends = |tally: &Tally| {
            !tally.taken && (self.fairness == Fairness::Strong || tally.enabled == always)
        };
        let mut bad = Vec::new();
        for &unit in &self.met {
            if offends(&self.tallies[unit as usize]) {
                bad.resize(self.tallies.len(), false);
                bad[unit as usize] = true;
            }
        }
        bad
    }
}

fn has_edge(space: &Space, states: &[u32]) -> bool {
    states.len() > 1
        || space
            .edges(states[0])
            .iter()
            .any(|edge| edge.target == states[0])
}
