//! An execution under way: where it began, what happened, and the state it is in.

use pyo3::prelude::*;

use crate::search::worker::Worker;
use crate::search::{EventId, Route, Search};
use crate::services::expand::Candidate;

#[derive(Clone)]
pub struct Execution {
    /// The initial state it began in, by index.
    pub start: usize,
    pub events: Vec<EventId>,
    pub words: Vec<u32>,
    pub sum: u64,
    /// The state before the last step.
    pub before: Vec<u32>,
}

impl Execution {
    pub fn begin(search: &Search, start: usize) -> Self {
        let initial = &search.initial[start];
        Execution {
            start,
            events: Vec::new(),
            words: initial.words.clone(),
            sum: initial.sum,
            before: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Judge the state it is in. Before going on from a state that another thread has judged.
    pub fn arrive(&self, worker: &mut Worker<'_>) -> PyResult<()> {
        worker.sync();
        let length = self.len() as u32;
        worker.check_state(&self.words, None, length, || self.route())
    }

    /// Take a step, and judge where it leads.
    pub fn go(&mut self, worker: &mut Worker<'_>, candidate: &Candidate) -> PyResult<()> {
        self.events.push(worker.happened(candidate, &self.words));
        worker.count_fault(candidate);
        std::mem::swap(&mut self.words, &mut self.before);
        self.words.clear();
        worker
            .expander
            .build(&self.before, candidate, &mut self.words);
        self.sum = candidate.fingerprint;
        let length = self.len() as u32;
        let broken = worker.expander.broken_by(candidate);
        worker.broken(broken, length, || self.route());
        worker.check_state(&self.words, Some(&self.before), length, || self.route())
    }

    /// Report the state it is in if that is sealed for ever; true if it is.
    pub fn check_sealed(&self, worker: &mut Worker<'_>) -> PyResult<bool> {
        worker.check_sealed(&self.words, self.len() as u32, || self.route())
    }

    pub fn route(&self) -> Route {
        Route::Walked(self.start, self.events.clone())
    }
}
