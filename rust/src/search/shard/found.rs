//! What a shard finds, and what is made of it where all shards are driven from.

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::python::kernel::Kernel;
use crate::python::outcome::{Finding, Outcome};
use crate::python::tables::StopReason;
use crate::search::worker::Worker;
use crate::search::{Initial, Limits, Route};
use crate::services::context::Kind;
use crate::services::expand::Candidate;
use crate::services::path;
use crate::table::fingerprint::nonzero;

/// Property, number of steps, fingerprint, and whether it is a step from there.
pub type Decided = (usize, u32, u64, bool);
/// States, transitions, depth, runs of handlers and of properties, faults.
pub type Counts = (u64, u64, usize, u64, u64, Vec<u64>);

/// What a level decided: of each property the shortest, and of these the smallest.
#[derive(Default)]
pub struct Met {
    found: FxHashMap<usize, (u32, u64, bool)>,
}

impl Met {
    fn note(&mut self, property: usize, (length, key): (u32, u64), step: bool) {
        let known = self.found.entry(property).or_insert((length, key, step));
        *known = (*known).min((length, key, step));
    }

    /// Note the properties whose bits are set.
    pub fn broken(&mut self, mut broken: u64, at: (u32, u64), step: bool) {
        while broken != 0 {
            self.note(broken.trailing_zeros() as usize, at, step);
            broken &= broken - 1;
        }
    }

    /// Judge a state; `at` is its number of steps and its fingerprint.
    pub fn judge(
        &mut self,
        worker: &mut Worker<'_>,
        words: &[u32],
        at: (u32, u64),
    ) -> PyResult<()> {
        for property in 0..worker.search.shared.properties.len() {
            let telling = match worker.search.shared.properties[property].kind {
                Kind::Always => false,
                Kind::Sometimes => true,
                Kind::AtRest | Kind::Step | Kind::Seal => continue,
            };
            if worker.judge(property, words)? == Some(telling) {
                self.note(property, at, false);
            }
        }
        Ok(())
    }

    /// Judge a state that nothing but a fault leads out of.
    pub fn rest(&mut self, worker: &mut Worker<'_>, words: &[u32], at: (u32, u64)) -> PyResult<()> {
        if let Some(condition) = worker.expander.seal(words)? {
            self.note(condition, at, false);
            return Ok(());
        }
        for property in 0..worker.search.shared.properties.len() {
            let at_rest = worker.search.shared.properties[property].kind == Kind::AtRest;
            if at_rest && worker.judge(property, words)? == Some(false) {
                self.note(property, at, false);
            }
        }
        Ok(())
    }

    pub fn take(&mut self) -> Vec<Decided> {
        let found = self.found.drain();
        let mut decided: Vec<Decided> = found
            .map(|(property, (length, key, step))| (property, length, key, step))
            .collect();
        decided.sort_unstable();
        decided
    }
}

/// The finding at the end of a chain of states, or by a step from the last of them.
pub fn retrace(
    py: Python<'_>,
    kernel: &Kernel,
    property: usize,
    (chain, step): (&[u64], bool),
) -> PyResult<Finding> {
    let limits = Limits {
        keep_going: true,
        ..Limits::default()
    };
    let search = kernel.begin(py, limits, false)?;
    let first = |initial: &Initial| chain.first() == Some(&nonzero(initial.sum));
    let initial = search.initial.iter().position(first);
    let initial = initial.ok_or_else(path::lost)?;
    let mut worker = Worker::new(&search);
    worker.sync();
    let start = &search.initial[initial];
    let (mut words, mut sum) = (start.words.clone(), start.sum);
    let mut events = Vec::new();
    for &key in &chain[1..] {
        let listed = path::listed(&mut worker, &words, sum)?;
        let same = |candidate: &&Candidate| nonzero(candidate.fingerprint) == key;
        let candidate = *listed.iter().find(same).ok_or_else(path::lost)?;
        events.push(worker.happened(&candidate, &words));
        let mut next = Vec::new();
        worker.expander.build(&words, &candidate, &mut next);
        (words, sum) = (next, candidate.fingerprint);
    }
    if step {
        let listed = path::listed(&mut worker, &words, sum)?;
        let breaks = |each: &&Candidate| worker.expander.broken_by(each) >> property & 1 == 1;
        let smallest = |each: &&Candidate| each.fingerprint;
        let candidate = listed.iter().filter(breaks).min_by_key(smallest);
        let candidate = candidate.ok_or_else(path::lost)?;
        events.push(worker.happened(candidate, &words));
    }
    let route = Route::Walked(initial, events);
    path::finding(py, &search, (property, &route), None)
}

/// What all shards counted together, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Totals {
    unique: u64,
    generated: u64,
    depth: usize,
    seconds: f64,
    handler_runs: u64,
    property_runs: u64,
    faults: Vec<u64>,
    cut: bool,
    interrupted: bool,
    lost: bool,
    late: bool,
    crowded: bool,
    violated: bool,
    notes: Vec<String>,
}

impl Totals {
    /// The outcome of a search that shards have done.
    pub fn outcome(self, found: Vec<Py<Finding>>) -> Outcome {
        let reasons = [
            (self.lost, StopReason::Lost),
            (self.violated, StopReason::Violation),
            (self.interrupted, StopReason::Interrupt),
            (self.late, StopReason::Seconds),
            (self.crowded, StopReason::States),
        ];
        let stopped_by = reasons.iter().find(|(holds, _)| *holds);
        Outcome {
            unique: self.unique,
            generated: self.generated,
            depth: self.depth,
            seconds: self.seconds,
            stopped_by: stopped_by.map(|(_, reason)| *reason),
            cut: self.cut,
            handler_runs: self.handler_runs,
            property_runs: self.property_runs,
            faults: self.faults,
            notes: self.notes,
            found,
            ..Outcome::default()
        }
    }
}
