//! What happens before what in one execution, worked out anew from its steps.

use pyo3::prelude::*;

use super::events::Events;
use super::label::Label;
use super::state::State;
use crate::reduce::por::{Machine, Step};

/// Sets of events of one execution, a bit each.
pub struct EventSet(Vec<u64>);

impl EventSet {
    pub fn empty(length: usize) -> Self {
        EventSet(vec![0; length.div_ceil(64)])
    }

    pub fn contains(&self, event: usize) -> bool {
        self.0[event / 64] >> (event % 64) & 1 == 1
    }

    pub fn insert(&mut self, event: usize) {
        self.0[event / 64] |= 1 << (event % 64);
    }

    pub fn remove(&mut self, event: usize) {
        self.0[event / 64] &= !(1 << (event % 64));
    }

    /// Whether they have an event in common.
    pub fn meets(&self, other: &EventSet) -> bool {
        let mut both = self.0.iter().zip(&other.0);
        both.any(|(mine, its)| mine & its != 0)
    }

    fn join(&mut self, other: &EventSet) {
        let both = self.0.iter_mut().zip(&other.0);
        both.for_each(|(mine, its)| *mine |= its);
    }
}

/// An execution with its order.
pub struct Ordered {
    pub steps: Vec<Step>,
    pub labels: Vec<Label>,
    /// Per event, those that happen before it, and itself.
    pub past: Vec<EventSet>,
    /// The states that it passes, from the start.
    pub states: Vec<State>,
}

impl Ordered {
    pub fn new(machine: &mut Events<'_>, path: &[Step]) -> PyResult<Self> {
        let mut state = machine.start()?;
        let mut order = Ordered {
            steps: path.to_vec(),
            labels: Vec::with_capacity(path.len()),
            past: Vec::with_capacity(path.len()),
            states: vec![state.clone()],
        };
        for (at, &step) in path.iter().enumerate() {
            let label = machine.run(&mut state, step)?;
            let mut past = EventSet::empty(path.len());
            for before in (0..at).rev() {
                let same = path[before].process == step.process;
                if !past.contains(before)
                    && (same || machine.dependent(&order.labels[before], &label))
                {
                    past.join(&order.past[before]);
                }
            }
            past.insert(at);
            order.labels.push(label);
            order.past.push(past);
            order.states.push(state.clone());
        }
        Ok(order)
    }

    /// Whether `first` happens before `later`, or is it.
    pub fn before(&self, first: usize, later: usize) -> bool {
        self.past[later].contains(first)
    }
}

/// The labels of the steps of an execution.
pub fn labels(machine: &mut Events<'_>, path: &[Step]) -> PyResult<Vec<Label>> {
    let mut state = machine.start()?;
    path.iter()
        .map(|&step| machine.run(&mut state, step))
        .collect()
}

/// Per event, whether it happens after `first`, or is it. Needs no memory for the whole order.
pub fn after(machine: &Events<'_>, (path, labels): (&[Step], &[Label]), first: usize) -> Vec<bool> {
    let mut after = vec![false; path.len()];
    after[first] = true;
    let mut later = vec![first];
    for event in first + 1..path.len() {
        let follows = |&&known: &&usize| {
            path[known].process == path[event].process
                || machine.dependent(&labels[known], &labels[event])
        };
        if later.iter().rev().find(follows).is_some() {
            after[event] = true;
            later.push(event);
        }
    }
    after
}
