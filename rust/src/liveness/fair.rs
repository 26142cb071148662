//! Is there a cycle on which a property never holds, and that is fair?
//!
//! Weak: of a component, the whole is the best candidate: what is disabled somewhere in a part of
//! it is disabled somewhere in the whole. So a component is fair iff every unit that is enabled in
//! all its states is taken inside it.
//!
//! Strong: a unit that is enabled somewhere but never taken inside rules out the states where it is
//! enabled; what is left is cut into components again.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::patience::{Cut, Patience};
use super::reachability::goes_round;
use super::scc::Components;
use super::space::{Edge, Space};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    Nothing,
    Weak,
    Strong,
}

impl Fairness {
    pub fn of(name: &str) -> PyResult<Self> {
        match name {
            "none" => Ok(Fairness::Nothing),
            "weak" => Ok(Fairness::Weak),
            "strong" => Ok(Fairness::Strong),
            _ => Err(PyValueError::new_err(format!("no fairness is `{name}`"))),
        }
    }
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

/// States on which the property never holds, and among which a fair walk leads from the first back
/// to it.
pub struct Witness {
    pub states: Vec<u32>,
    /// The same, as flags by state.
    pub inside: Vec<bool>,
}

impl Witness {
    /// Of a graph with so many states.
    pub fn of(states: Vec<u32>, count: usize) -> Self {
        let mut inside = vec![false; count];
        flag(&mut inside, &states, true);
        Witness { states, inside }
    }
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
        Ok(best.map(|(_, states)| Witness::of(states, self.space.len())))
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
            if !space.enabled(state).any(|unit| bad[unit as usize]) {
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
            for unit in self.space.enabled(state) {
                let tally = &mut self.tallies[unit as usize];
                if tally.round != self.round {
                    *tally = Tally {
                        round: self.round,
                        ..Tally::default()
                    };
                    self.met.push(unit);
                }
                if tally.state != state + 1 {
                    tally.state = state + 1;
                    tally.enabled += 1;
                }
            }
            for edge in self.space.edges(state).filter(Edge::is_owed) {
                let tally = &mut self.tallies[edge.unit as usize];
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
