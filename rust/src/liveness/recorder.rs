//! One thread's share of writing down a graph while it is explored.
//!
//! A thread notes what it meets by fingerprints, and hands it over now and then, so that threads
//! seldom meet at the lock of the graph.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::bounded::Bounded;
use super::space::FAULT;
use super::units::Units;
use crate::search::worker::Worker;
use crate::services::expand::{Candidate, Expander};
use crate::table::fingerprint::nonzero;

/// A state that was met for the first time.
pub struct Met {
    pub key: u64,
    /// The state it was met from; 0 for an initial one.
    pub parent: u64,
    /// Bits: the claims that hold there.
    pub holds: u64,
    /// Where its units end among all; none if nobody looked what is enabled there.
    pub units: Option<usize>,
}

#[derive(Default)]
pub struct Log {
    pub states: Vec<Met>,
    pub units: Vec<u32>,
    /// From, to, and the unit.
    pub edges: Vec<(u64, u64, u32)>,
    /// States all of whose edges are noted.
    pub complete: Vec<u64>,
}

pub struct Recorder<'a> {
    graph: &'a Bounded,
    units: Units,
    log: Log,
}

impl<'a> Recorder<'a> {
    pub fn new(graph: &'a Bounded) -> Self {
        Recorder {
            graph,
            units: Units::sharing(graph.names.clone()),
            log: Log::default(),
        }
    }

    /// Note a state that was just met; `listed`: what can happen there is listed.
    pub fn state(
        &mut self,
        worker: &mut Worker<'_>,
        (words, sum): (&[u32], u64),
        parent: Option<u64>,
        listed: bool,
    ) -> PyResult<()> {
        let mut holds = 0;
        for (at, claim) in self.graph.claims.iter().enumerate() {
            let verdict = worker
                .judge
                .holds(claim.property, words, &worker.expander.mirror)?;
            // A predicate that raises is reported as an error; no claim is then made about it.
            holds |= u64::from(verdict != Some(false)) << at;
        }
        let (key, expander) = (nonzero(sum), &worker.expander);
        let first = self.log.units.len();
        for candidate in expander.candidates.iter().filter(|_| listed) {
            let unit = self.units.of(expander, candidate)?;
            if candidate.fingerprint == sum {
                self.log.edges.push((key, key, unit)); // no task, but a loop
            }
            if unit < FAULT && !self.log.units[first..].contains(&unit) {
                self.log.units.push(unit);
            }
        }
        self.log.units[first..].sort_unstable();
        self.log.states.push(Met {
            key,
            parent: parent.map_or(0, nonzero),
            holds,
            units: listed.then_some(self.log.units.len()),
        });
        Ok(())
    }

    /// Note an edge of the state with the fingerprint `sum`, and hand over what is much.
    pub fn edge(&mut self, worker: &Worker<'_>, sum: u64, candidate: &Candidate) -> PyResult<()> {
        self.note(&worker.expander, sum, candidate)?;
        if self.log.edges.len() >= self.graph.chunk.load(Relaxed) {
            let log = self.take();
            self.graph.take_amid(log, worker.search);
        }
        Ok(())
    }

    /// Note an edge.
    #[inline(always)]
    pub fn note(&mut self, expander: &Expander, sum: u64, candidate: &Candidate) -> PyResult<()> {
        let unit = self.units.of(expander, candidate)?;
        let edge = (nonzero(sum), nonzero(candidate.fingerprint), unit);
        self.log.edges.push(edge);
        Ok(())
    }

    /// Note that all edges of a state are noted, or will be before the bound is done.
    pub fn complete(&mut self, sum: u64) {
        self.log.complete.push(nonzero(sum));
    }

    pub fn hand_over(&mut self) {
        let log = self.take();
        self.graph.take(log);
    }

    /// What was noted since it was last taken.
    pub fn take(&mut self) -> Log {
        std::mem::take(&mut self.log)
    }
}
