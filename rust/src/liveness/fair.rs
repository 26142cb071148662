//! Is there a cycle on which a property never holds, and that is fair?
//!
//! Weak: of a component, the whole is the best candidate: what is disabled somewhere in a part of
//! it is disabled somewhere in the whole. So a component is fair iff every unit that is enabled in
//! all its states is taken inside it.
//!
//! Strong: a unit that is enabled somewhere but never taken inside rules out the states where it is
//! enabled; what is left is cut into components again.

use super::patience::{Cut, Patience};
use super::reachability::goes_round;
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
    fairness: Fairness,
    tallies: Vec<Tally>,
    met: Vec<u32>,
    round: u32,
    /// Flags the states of the component being looked at.
    inside: Vec<bool>,
}

/// A strongly connected set of states on which the property never holds, fair as a whole.
pub struct Witness {
    /// In order: the first is a nearest one.
    pub states: Vec<u32>,
    /// The same, as flags by state.
    pub inside: Vec<bool>,
}

impl<'a> Fair<'a> {
    pub fn new(space: &'a Space, fairness: Fairness) -> Self {
        Fair {
            space,
            fairness,
            tallies: vec![Tally::default(); space.units],
            met: Vec::new(),
            round: 0,
            inside: vec![false; space.len()],
        }
    }

    /// The witness that is nearest to the start, if there is one. `cyclic` are the components in
    /// which one can go round without the property.
    pub fn nearest(
        mut self,
        cyclic: &[Box<[u32]>],
        patience: &Patience,
    ) -> Result<Option<Witness>, Cut> {
        let mut components = None;
        let mut best: Option<(u32, Vec<u32>)> = None;
        for whole in cyclic {
            let mut parts = vec![whole.to_vec()];
            while let Some(mut states) = parts.pop() {
                states.sort_unstable(); // so that their edges are read in the order of memory
                let first = states[0];
                if best.as_ref().is_some_and(|best| best.0 < first) {
                    continue; // even if it were fair, it would not be nearer
                }
                let bad = self.bad(&states, patience)?;
                if bad.is_empty() {
                    best = Some((first, states));
                } else if self.fairness == Fairness::Strong {
                    let components = components.get_or_insert_with(|| Components::new(self.space));
                    self.cut(components, (&states, &bad), &mut parts, patience)?;
                }
            }
        }
        let Some((_, states)) = best else {
            return Ok(None);
        };
        flag(&mut self.inside, &states, true);
        let inside = self.inside;
        Ok(Some(Witness { states, inside }))
    }

    /// Leave out the states where a unit of `bad` is enabled, and cut the rest up again.
    fn cut(
        &self,
        components: &mut Components<'_>,
        (states, bad): (&[u32], &[bool]),
        parts: &mut Vec<Vec<u32>>,
        patience: &Patience,
    ) -> Result<(), Cut> {
        let space = self.space;
        let mut rest = Vec::new();
        for &state in states {
            patience.ask()?;
            let mut edges = space.edges(state);
            if !edges.any(|edge| edge.is_owed() && bad[edge.unit as usize]) {
                rest.push(state);
            }
        }
        components.visit(rest.iter().copied(), patience, |states| {
            if goes_round(space, states) {
                parts.push(states.to_vec());
            }
            Ok(())
        })
    }

    /// The units that make the component unfair, as flags by unit; empty if it is fair.
    fn bad(&mut self, states: &[u32], patience: &Patience) -> Result<Vec<bool>, Cut> {
        if self.fairness == Fairness::Nothing {
            return Ok(Vec::new());
        }
        flag(&mut self.inside, states, true);
        self.tally(states, patience)?;
        flag(&mut self.inside, states, false);
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
        Ok(bad)
    }

    /// Count where each unit is enabled, and whether it is taken inside.
    fn tally(&mut self, states: &[u32], patience: &Patience) -> Result<(), Cut> {
        self.round += 1;
        self.met.clear();
        for &state in states {
            patience.ask()?;
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
                tally.taken = tally.taken || self.inside[edge.target as usize];
            }
        }
        Ok(())
    }
}

fn flag(flags: &mut [bool], states: &[u32], value: bool) {
    states
        .iter()
        .for_each(|&state| flags[state as usize] = value);
}
