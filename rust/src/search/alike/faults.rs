//! Which faults a search by delays follows, and what it remembers of them.
//!
//! The history is that of the whole search. Which nodes have crashed, and what the others were like
//! then, belongs to the way by which a state was first met: it is kept beside the states.

use std::collections::VecDeque;

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Plan;
use super::audit::{Case, Waiting};
use super::keys::{Crashed, Keys, Place, is_at_rest};
use crate::search::worker::Worker;
use crate::services::expand::Candidate;
use crate::table::fingerprint::{nonzero, scramble};

/// So many of the first places that are left out are audited, and from then on ever fewer, until
/// it is one in `SHARE`.
const FIRST: u64 = 16;
const SHARE: u64 = 1_000;

/// A fault that was followed: the state in which it happened, and to which node.
pub struct Tried {
    pub state: Box<[u32]>,
    pub node: u32,
}

/// Why a fault is not followed.
#[derive(Clone, Copy)]
pub enum Reason {
    /// No role has changed since the node crashed.
    Unchanged,
    /// A fault with its key was followed, the one with this number.
    Like(usize),
}

pub struct Alike<'a> {
    pub plan: &'a Plan,
    pub keys: Keys<'a>,
    numbers: FxHashMap<Box<[u32]>, usize>,
    pub tried: Vec<Tried>,
    /// By state: which nodes are down, and what the others were like when each crashed.
    crashed: FxHashMap<u64, Crashed>,
    /// The roles of states at rest.
    pub rests: FxHashSet<Box<[u32]>>,
    pub waiting: VecDeque<Waiting>,
    /// Roles that only audits met, each with the place behind which they were met.
    pub open: FxHashMap<Box<[u32]>, Case>,
    /// Representatives of the states that faults led to, where faults are compared by these.
    entered: FxHashSet<u64>,
}

impl<'a> Alike<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Alike {
            plan,
            keys: Keys::new(plan),
            numbers: FxHashMap::default(),
            tried: Vec::new(),
            crashed: FxHashMap::default(),
            rests: FxHashSet::default(),
            waiting: VecDeque::new(),
            open: FxHashMap::default(),
            entered: FxHashSet::default(),
        }
    }

    /// Leave in `branches`, the faults of a state, those that are to be followed. The candidates of
    /// the state are still listed.
    pub fn leave_out(
        &mut self,
        worker: &mut Worker<'_>,
        from: (&[u32], u64),
        branches: &mut Vec<Candidate>,
    ) -> PyResult<()> {
        if self.plan.exact {
            return self.leave_out_images(worker, from, branches);
        }
        let at_rest = is_at_rest(&worker.expander, from.1);
        let mut places: Vec<Place> = Vec::new();
        for candidate in branches.iter() {
            let place = Place::of(&worker.expander, candidate);
            places.extend(place.filter(|place| !places.contains(place)));
        }
        let crashed = self.crashed_in(from.1);
        for place in places {
            worker.search.skipped.place();
            let reason = self.reason(worker, from.0, (crashed.as_ref(), at_rest), place)?;
            let Some(reason) = reason else {
                self.follow(worker, from.0, place)?;
                continue;
            };
            let (ways, rest) = branches
                .iter()
                .partition(|candidate| Place::of(&worker.expander, candidate) == Some(place));
            let ways: Vec<Candidate> = ways;
            if ways.iter().all(|way| is_met(worker, way.fingerprint)) {
                continue; // there is nothing to leave out
            }
            *branches = rest;
            worker.search.discount_faults(place.fault, ways.len());
            let count = worker.search.skipped.skip();
            if self.plan.audit > 0 && is_audited(count, from.1, place) {
                let state = from.0.into();
                self.ask_for(Waiting {
                    case: Case {
                        state,
                        place,
                        reason,
                    },
                    sum: from.1,
                    crashed: crashed.clone(),
                    ways,
                });
            }
        }
        self.audits(worker, false)
    }

    /// Why a fault is not to be followed; none if it is.
    fn reason(
        &mut self,
        worker: &Worker<'_>,
        state: &[u32],
        (crashed, at_rest): (Option<&Crashed>, bool),
        place: Place,
    ) -> PyResult<Option<Reason>> {
        let expander = &worker.expander;
        // At rest nothing will ever change by itself: there is no use in waiting.
        if !at_rest && self.keys.unchanged(expander, state, crashed, place)? {
            return Ok(Some(Reason::Unchanged));
        }
        let known = self.numbers.get(self.keys.of(expander, state, place)?);
        Ok(known.map(|&number| Reason::Like(number)))
    }

    fn follow(&mut self, worker: &Worker<'_>, state: &[u32], place: Place) -> PyResult<()> {
        let key = self.keys.of(&worker.expander, state, place)?;
        self.numbers.insert(key.into(), self.tried.len());
        self.tried.push(Tried {
            state: state.into(),
            node: place.node,
        });
        Ok(())
    }

    /// As `leave_out`, by the states that faults lead to, up to an exchange of nodes.
    fn leave_out_images(
        &mut self,
        worker: &mut Worker<'_>,
        (state, _): (&[u32], u64),
        branches: &mut Vec<Candidate>,
    ) -> PyResult<()> {
        let mut kept = Vec::with_capacity(branches.len());
        for candidate in branches.drain(..) {
            worker.search.skipped.place();
            let known = is_met(worker, candidate.fingerprint);
            if known
                || self
                    .entered
                    .insert(worker.standing_behind(state, &candidate)?)
            {
                kept.push(candidate);
            } else if let Some(fault) = worker.expander.fault_of(&candidate) {
                worker.search.discount_faults(fault, 1);
                worker.search.skipped.skip();
            }
        }
        *branches = kept;
        Ok(())
    }

    fn crashed_in(&self, sum: u64) -> Option<Crashed> {
        self.crashed.get(&sum).cloned()
    }

    /// A state is met for the first time, by an event of another.
    pub fn arrive(
        &mut self,
        worker: &Worker<'_>,
        (state, sum): (&[u32], u64),
        candidate: &Candidate,
    ) -> PyResult<()> {
        if self.plan.exact {
            return Ok(());
        }
        let known = self.crashed_in(sum);
        let expander = &worker.expander;
        if let Some(crashed) = self
            .keys
            .after(expander, state, known.as_ref(), candidate)?
        {
            self.crashed.insert(candidate.fingerprint, crashed);
        }
        Ok(())
    }

    /// The system comes to rest in a state.
    pub fn rest(&mut self, worker: &Worker<'_>, state: &[u32]) -> PyResult<()> {
        if !self.plan.exact && self.plan.audit > 0 {
            let roles = self.keys.whole(&worker.expander, state)?;
            if !self.rests.contains(roles) {
                self.rests.insert(roles.into());
            }
        }
        Ok(())
    }
}

/// Whether a state was met.
pub fn is_met(worker: &Worker<'_>, fingerprint: u64) -> bool {
    let parent = worker.search.seen.read().parent(nonzero(fingerprint));
    parent.is_some()
}

/// Whether to follow all the same what is the `count`-th place to be left out: decided by the
/// state, so that no pattern of the search is always missed.
fn is_audited(count: u64, sum: u64, place: Place) -> bool {
    let one_in = (count / FIRST).clamp(1, SHARE);
    let drawn = scramble(sum ^ scramble(u64::from(place.node) << 8 | place.fault as u64));
    drawn.is_multiple_of(one_in)
}
