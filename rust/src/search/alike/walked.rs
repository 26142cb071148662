//! Faults of one random walk that are like earlier ones of the same walk are not drawn.
//!
//! The history is that of one walk. A walk follows one way behind a fault, so a fault that some
//! other walk has met is as worth trying as ever; and a seed means the same with any threads.

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::Plan;
use super::keys::{Crashed, Keys, Place, is_at_rest};
use crate::search::worker::Worker;
use crate::services::expand::Candidate;

pub struct InWalk<'a> {
    keys: Keys<'a>,
    tried: FxHashSet<Box<[u32]>>,
    crashed: Option<Crashed>,
    listed: Vec<(u64, Place)>,
    offered: FxHashSet<Box<[u32]>>,
}

impl<'a> InWalk<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        InWalk {
            keys: Keys::new(plan),
            tried: FxHashSet::default(),
            crashed: None,
            listed: Vec::new(),
            offered: FxHashSet::default(),
        }
    }

    /// Another walk begins.
    pub fn begin(&mut self) {
        self.tried.clear();
        self.crashed = None;
    }

    /// Take out of the candidates of a state the faults that are not to be drawn.
    pub fn leave_out(
        &mut self,
        worker: &mut Worker<'_>,
        (state, sum): (&[u32], u64),
    ) -> PyResult<()> {
        let expander = &worker.expander;
        self.listed.clear();
        for candidate in &expander.candidates {
            if let Some(place) = Place::of(expander, candidate)
                && candidate.fingerprint != sum
            {
                self.listed.push((candidate.fingerprint, place));
            }
        }
        // Listed by interned ids, which depend on what was met first.
        self.listed
            .sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        let mut done: Vec<(Place, bool)> = Vec::new();
        self.offered.clear();
        for at in 0..self.listed.len() {
            let place = self.listed[at].1;
            if done.iter().all(|(known, _)| *known != place) {
                let kept = self.is_offered(worker, (state, sum), place)?;
                worker.search.skipped.place();
                if !kept {
                    worker.search.skipped.skip();
                }
                done.push((place, kept));
            }
        }
        let mut candidates = std::mem::take(&mut worker.expander.candidates);
        candidates.retain(|candidate| {
            let place = Place::of(&worker.expander, candidate);
            place.is_none_or(|place| !done.contains(&(place, false)))
        });
        worker.expander.candidates = candidates;
        Ok(())
    }

    fn is_offered(
        &mut self,
        worker: &Worker<'_>,
        (state, sum): (&[u32], u64),
        place: Place,
    ) -> PyResult<bool> {
        let (expander, crashed) = (&worker.expander, self.crashed.as_ref());
        let waits = self.keys.unchanged(expander, state, crashed, place)?;
        if waits && !is_at_rest(expander, sum) {
            return Ok(false);
        }
        let key = self.keys.of(expander, state, place)?;
        Ok(!self.tried.contains(key) && self.offered.insert(key.into()))
    }

    /// The walk goes on by this event of a state.
    pub fn take(
        &mut self,
        worker: &Worker<'_>,
        state: &[u32],
        candidate: &Candidate,
    ) -> PyResult<()> {
        let expander = &worker.expander;
        if let Some(place) = Place::of(expander, candidate) {
            let key = self.keys.of(expander, state, place)?;
            self.tried.insert(key.into());
        }
        let crashed = self.crashed.take();
        self.crashed = self
            .keys
            .after(expander, state, crashed.as_ref(), candidate)?;
        Ok(())
    }
}
