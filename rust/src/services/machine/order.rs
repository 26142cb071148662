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
}

impl Ordered {
    pub fn new(machine: &mut Events<'_>, path: &[Step]) -> PyResult<Self> {
        let mut state = machine.start()?;
        let mut order = Ordered {
            steps: path.to_vec(),
            labels: Vec::with_capacity(path.len()),
            past: Vec::with_capacity(path.len()),
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
        }
        Ok(order)
    }

    /// Whether `first` happens before `later`, or is it.
    pub fn before(&self, first: usize, later: usize) -> bool {
        self.past[later].contains(first)
    }

    /// Run, from the start, the events that `keeps` lets through; `each` sees the state after it.
    pub fn run(
        &self,
        machine: &mut Events<'_>,
        keeps: impl Fn(usize) -> bool,
        mut each: impl FnMut(&State),
    ) -> PyResult<State> {
        let mut state = machine.start()?;
        for (at, &step) in self.steps.iter().enumerate() {
            if keeps(at) {
                machine.run(&mut state, step)?;
                each(&state);
            }
        }
        Ok(state)
    }
}
