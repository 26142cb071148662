//! All that can still happen calmly from one state, as far as it is finite: without further faults,
//! and without what weighs nothing, just as in walks.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use crate::search::dice::Weighing;
use crate::search::worker::{HEADER, Worker, store, stored};
use crate::table::fingerprint::nonzero;

/// A region is finite only if its steps are: those that must be run are limited more strictly.
const RUNS_SHARE: usize = 20;

/// What became of a property in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Region {
    /// It holds somewhere, after so many steps.
    Live(u32),
    /// It holds nowhere in all of it: so many states.
    Dead(usize),
    /// It was not found in as many states as were allowed.
    Unknown,
}

/// Look for `property` in all that can follow `words`, in at most so many states.
pub fn survey(
    worker: &mut Worker<'_>,
    (words, sum): (&[u32], u64),
    property: usize,
    (calm, most): (&Weighing, usize),
) -> PyResult<Region> {
    let runs = worker.search.shared.handler_runs.load(Relaxed);
    let most_runs = runs + (most / RUNS_SHARE) as u64;
    let mut met = FxHashSet::default();
    let mut level = Vec::new();
    met.insert(nonzero(sum));
    store(&mut level, sum, |out| out.extend_from_slice(words));
    worker.sync();
    worker.expander.muted = calm.muted();
    for depth in 0.. {
        let mut next = Vec::new();
        let mut at = 0;
        while at < level.len() {
            let state = stored(&level, at);
            at += HEADER + state.words.len();
            let mirror = &worker.expander.mirror;
            if worker.judge.holds(property, state.words, mirror)? != Some(false) {
                return Ok(Region::Live(depth));
            }
            worker.expander.candidates.clear();
            let stuck = worker.expander.list_or_stuck(state.words, state.sum)?;
            let candidates = std::mem::take(&mut worker.expander.candidates);
            for candidate in &candidates {
                if calm.of(&worker.expander, candidate) > 0
                    && met.insert(nonzero(candidate.fingerprint))
                {
                    store(&mut next, candidate.fingerprint, |out| {
                        worker.expander.build(state.words, candidate, out);
                    });
                }
            }
            worker.expander.candidates = candidates;
            let ran = worker.search.shared.handler_runs.load(Relaxed);
            if stuck || met.len() > most || ran > most_runs || worker.search.stopping() {
                return Ok(Region::Unknown);
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(Region::Dead(met.len()))
}
