//! Some of the faults that are left out are followed all the same, for a while.
//!
//! If a property is decided there that was open, or if the system comes to rest there in roles in
//! which the search never does, then the two faults that were taken for alike are not. Python is
//! given both states and says which fields differ: what `recovery` should return.
//!
//! Audits wait while they have looked at more than a share of what the search has met; the first
//! need not. When the search ends by itself, those that wait are made.
//!
//! Breadth first, up to a number of states; what the search has met is not entered. The executions
//! count as those of the search do. Faults are followed whatever their keys, which may be wrong;
//! only restarts still wait for a role to change.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::faults::{Alike, Reason, is_met};
use super::keys::{Crashed, Place, is_at_rest};
use crate::search::worker::Worker;
use crate::search::{EventId, Route, Search};
use crate::services::context::Kind;
use crate::services::expand::{Candidate, Expander};
use crate::services::ids::LocalId;
use crate::services::path;
use crate::table::fingerprint::nonzero;

/// Places at whose rest nobody else comes to rest, at most.
const OPEN_MAX: usize = 1_000;

/// Audits that wait, at most.
const WAITING_MAX: usize = 1_000;

/// Audits may look at one state for so many that the search has met.
const SHARE: u64 = 8;

/// A place that was left out, and why.
#[derive(Clone)]
pub struct Case {
    pub state: Box<[u32]>,
    pub place: Place,
    pub reason: Reason,
}

/// An audit that is to be made.
pub struct Waiting {
    pub case: Case,
    pub sum: u64,
    pub crashed: Option<Crashed>,
    /// The branches of the fault.
    pub ways: Vec<Candidate>,
}

/// A state behind the place, the step that led to it and from which one.
struct Reached {
    words: Vec<u32>,
    sum: u64,
    parent: Option<usize>,
    event: EventId,
    crashed: Option<Crashed>,
    /// Whether the execution that led here goes on with another state.
    goes_on: bool,
}

/// The states of one audit, in the order in which they were reached.
struct Audit {
    reached: Vec<Reached>,
    known: FxHashSet<u64>,
    most: usize,
}

impl Audit {
    /// Whether a state is to be added: it is new, and there are not too many.
    fn has_room_for(&self, sum: u64) -> bool {
        self.reached.len() < self.most && !self.known.contains(&sum)
    }

    fn add(&mut self, search: &Search, reached: Reached) {
        let parent = reached.parent;
        let before = parent.map(|parent| &mut self.reached[parent].goes_on);
        if before.is_none_or(|goes_on| std::mem::replace(goes_on, true)) {
            search.walked.fetch_add(1, Relaxed);
        }
        search.skipped.looked_at.fetch_add(1, Relaxed);
        self.known.insert(reached.sum);
        self.reached.push(reached);
    }

    /// The events that lead to one of the states.
    fn events(&self, at: usize) -> Vec<EventId> {
        let mut events = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            events.push(self.reached[at].event);
            next = self.reached[at].parent;
        }
        events.reverse();
        events
    }
}

/// A property that is decided by a state, or by a step out of it.
type Decided = (usize, Option<EventId>);

impl Alike<'_> {
    /// Let an audit wait for its turn, if there is room.
    pub fn ask_for(&mut self, waiting: Waiting) {
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(waiting);
        }
    }

    /// Make the audits whose turn has come; `all`: those that wait, too.
    pub fn audits(&mut self, worker: &mut Worker<'_>, all: bool) -> PyResult<()> {
        while !self.waiting.is_empty() && !worker.search.stopping() {
            let looked_at = worker.search.skipped.looked_at.load(Relaxed);
            if !all && looked_at * SHARE > worker.search.seen.len() as u64 {
                break;
            }
            if let Some(waiting) = self.waiting.pop_front() {
                self.audit(worker, &waiting)?;
            }
        }
        Ok(())
    }

    /// Look at what lies behind a place that is left out.
    fn audit(&mut self, worker: &mut Worker<'_>, waiting: &Waiting) -> PyResult<()> {
        worker.search.skipped.audit();
        let Waiting { case, sum, .. } = waiting;
        let mut audit = Audit {
            reached: Vec::new(),
            known: FxHashSet::default(),
            most: self.plan.audit,
        };
        for way in &waiting.ways {
            let from = (&case.state[..], waiting.crashed.as_ref(), None);
            self.enter(worker, &mut audit, from, way)?;
        }
        let mut at = 0;
        while at < audit.reached.len() && !worker.search.stopping() {
            let decided = self.look_at(worker, &mut audit, at, case)?;
            if !decided.is_empty() {
                return self.report(worker, &audit, at, (*sum, case), &decided);
            }
            at += 1;
        }
        Ok(())
    }

    /// Go by an event of a state to one that nobody has met.
    fn enter(
        &mut self,
        worker: &mut Worker<'_>,
        audit: &mut Audit,
        (state, crashed, parent): (&[u32], Option<&Crashed>, Option<usize>),
        candidate: &Candidate,
    ) -> PyResult<()> {
        let sum = candidate.fingerprint;
        if !audit.has_room_for(sum) || is_met(worker, sum) {
            return Ok(());
        }
        let mut words = Vec::with_capacity(state.len() + 4);
        worker.expander.build(state, candidate, &mut words);
        let reached = Reached {
            words,
            goes_on: false,
            sum,
            parent,
            event: worker.happened(candidate, state),
            crashed: self
                .keys
                .after(&worker.expander, state, crashed, candidate)?,
        };
        audit.add(worker.search, reached);
        Ok(())
    }

    /// Judge one state, and enter what it leads to; gives what it decides.
    fn look_at(
        &mut self,
        worker: &mut Worker<'_>,
        audit: &mut Audit,
        at: usize,
        case: &Case,
    ) -> PyResult<Vec<Decided>> {
        let state = audit.reached[at].words.clone();
        let (sum, crashed) = (audit.reached[at].sum, audit.reached[at].crashed.clone());
        worker.expander.candidates.clear();
        worker.expander.list(&state, sum, 0)?;
        let at_rest = is_at_rest(&worker.expander, sum);
        let candidates = worker.expander.candidates.clone();
        let mut decided = judged(worker, &state, at_rest)?;
        for candidate in &candidates {
            let mut broken = worker.expander.broken_by(candidate);
            while broken != 0 {
                let event = worker.happened(candidate, &state);
                decided.push((broken.trailing_zeros() as usize, Some(event)));
                broken &= broken - 1;
            }
        }
        let properties = &worker.search.shared.properties;
        let is_open = |&(property, _): &Decided| !properties[property].is_decided();
        decided.retain(is_open);
        if at_rest {
            self.rest_behind(worker, &state, case)?;
        }
        for candidate in candidates.iter().filter(|each| each.fingerprint != sum) {
            if let Some(place) = Place::of(&worker.expander, candidate) {
                let (keys, expander) = (&mut self.keys, &worker.expander);
                if !at_rest && keys.unchanged(expander, &state, crashed.as_ref(), place)? {
                    continue;
                }
            }
            let from = (&state[..], crashed.as_ref(), Some(at));
            self.enter(worker, audit, from, candidate)?;
        }
        Ok(decided)
    }

    /// Remember a state at rest whose roles no state at rest has, as far as is known now.
    fn rest_behind(&mut self, worker: &Worker<'_>, state: &[u32], case: &Case) -> PyResult<()> {
        let roles = self.keys.whole(&worker.expander, state)?;
        let is_new = !self.rests.contains(roles) && !self.open.contains_key(roles);
        if is_new && self.open.len() < OPEN_MAX {
            self.open.insert(roles.into(), case.clone());
        }
        Ok(())
    }

    /// Report what a state of an audit decides, as any finding, and that the faults are not alike.
    fn report(
        &self,
        worker: &Worker<'_>,
        audit: &Audit,
        at: usize,
        (sum, case): (u64, &Case),
        decided: &[Decided],
    ) -> PyResult<()> {
        let (initial, mut events) = path::retrace(worker.search, nonzero(sum))?;
        events.extend(audit.events(at));
        for (property, step) in decided {
            let mut events = events.clone();
            events.extend(step);
            let length = events.len() as u32;
            worker.found(*property, length, Route::Walked(initial, events));
        }
        let properties = decided.iter().map(|(property, _)| *property);
        self.not_alike(worker.search, case, properties.collect())
    }

    /// The search has ended by itself: what only audits came to shows that faults were not alike.
    pub fn conclude(&self, search: &Search) -> PyResult<()> {
        for (roles, case) in &self.open {
            if !self.rests.contains(roles) {
                self.not_alike(search, case, Vec::new())?;
            }
        }
        Ok(())
    }

    /// Give Python both states. Without properties, it is the roles at rest that differ.
    fn not_alike(&self, search: &Search, case: &Case, properties: Vec<usize>) -> PyResult<()> {
        Python::attach(|py| {
            let skipped = (case.place.node, shown(py, search, &case.state)?);
            let tried = match case.reason {
                Reason::Unchanged => None,
                Reason::Like(number) => {
                    let tried = &self.tried[number];
                    Some((tried.node, shown(py, search, &tried.state)?))
                }
            };
            let asked = (case.place.fault, skipped, tried, properties);
            self.plan.call(py, "not_alike", asked)
        })
    }
}

/// The properties that a state decides: what holds always and does not, or sometimes and does; and
/// at rest, what holds there and does not, or that it is sealed for ever.
fn judged(worker: &mut Worker<'_>, state: &[u32], at_rest: bool) -> PyResult<Vec<Decided>> {
    let mut decided = Vec::new();
    if at_rest && let Some(condition) = worker.expander.seal(state)? {
        decided.push((condition, None));
        return Ok(decided);
    }
    for property in 0..worker.search.shared.properties.len() {
        let deciding = match worker.search.shared.properties[property].kind {
            Kind::Always => false,
            Kind::AtRest if at_rest => false,
            Kind::Sometimes => true,
            Kind::AtRest | Kind::Step | Kind::Seal => continue,
        };
        if worker.judge(property, state)? == Some(deciding) {
            decided.push((property, None));
        }
    }
    Ok(decided)
}

type Shown<'py> = (
    Vec<Bound<'py, PyAny>>,
    Vec<Bound<'py, PyAny>>,
    Vec<Bound<'py, PyAny>>,
);

/// A state for Python: the values of its nodes, its observers, and what is in flight.
fn shown<'py>(py: Python<'py>, search: &Search, state: &[u32]) -> PyResult<Shown<'py>> {
    let (shared, layout) = (&search.shared, &search.shared.layout);
    let (locals, rest) = state.split_at(layout.nodes);
    let nodes = locals
        .iter()
        .map(|&local| Ok(shared.fresh(py, LocalId::of(local))?.into_any()));
    let nodes = nodes.collect::<PyResult<Vec<_>>>()?;
    let observers = rest[..layout.observers]
        .iter()
        .map(|&id| shared.value(py, id));
    let observers = observers.collect::<PyResult<Vec<_>>>()?;
    let mut envelopes = Vec::new();
    let expander = Expander::new(shared.clone());
    let flight = expander.mirror.flight();
    flight.visit(layout, state, None, |envelope| envelopes.push(envelope));
    let messages = envelopes
        .iter()
        .map(|&envelope| shared.message(py, envelope));
    Ok((nodes, observers, messages.collect::<PyResult<Vec<_>>>()?))
}
