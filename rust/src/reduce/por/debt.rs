//! What races ask for at levels that another thread has: noted, and handed in with the part.
//!
//! To ask twice for the same is to ask once: what covers it at a level goes on to do so as long as
//! the branch at hand there is explored, since branches are only ever added on the right.

use rustc_hash::FxHashSet;

use super::stack::Labelled;
use super::{Machine, Step};

pub enum Debt<M: Machine> {
    /// Of `odpor`: a sequence to be covered.
    Sequence(Vec<Labelled<M>>),
    /// Of `sdpor`: steps one of which must be tried.
    Initials(Vec<Step>),
    /// Of `dpor`: processes one of which must be tried.
    Processes(Vec<u32>),
}

pub struct Debts<M: Machine> {
    /// In the order in which they arose, each with its level.
    all: Vec<(usize, Debt<M>)>,
    sequences: FxHashSet<(usize, Vec<Step>)>,
    processes: FxHashSet<(usize, Vec<u32>)>,
}

impl<M: Machine> Default for Debts<M> {
    fn default() -> Self {
        Debts {
            all: Vec::new(),
            sequences: FxHashSet::default(),
            processes: FxHashSet::default(),
        }
    }
}

impl<M: Machine> Debts<M> {
    /// `once`: leave it out if it was asked for. Else what it takes to see that it is covered would
    /// not be counted.
    pub fn add_sequence(&mut self, level: usize, sequence: &[Labelled<M>], once: bool) {
        let steps = || sequence.iter().map(|(step, _)| *step).collect();
        if !once || self.sequences.insert((level, steps())) {
            self.all.push((level, Debt::Sequence(sequence.to_vec())));
        }
    }

    pub fn add_initials(&mut self, level: usize, steps: Vec<Step>) {
        if self.sequences.insert((level, steps.clone())) {
            self.all.push((level, Debt::Initials(steps)));
        }
    }

    pub fn add_processes(&mut self, level: usize, processes: Vec<u32>) {
        if self.processes.insert((level, processes.clone())) {
            self.all.push((level, Debt::Processes(processes)));
        }
    }

    /// What another part asks for, above this one's floor, too.
    pub fn pass_on(&mut self, level: usize, debt: Debt<M>, once: bool) {
        match debt {
            Debt::Sequence(sequence) => self.add_sequence(level, &sequence, once),
            Debt::Initials(steps) => self.add_initials(level, steps),
            Debt::Processes(processes) => self.add_processes(level, processes),
        }
    }

    pub fn into_all(self) -> Vec<(usize, Debt<M>)> {
        self.all
    }
}
