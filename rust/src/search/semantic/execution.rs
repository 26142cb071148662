//! One execution: a prescribed beginning, then a natural order to the end.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::{Item, Order};
use crate::search::alike::{Crashed, Keys, Place, is_at_rest};
use crate::search::walk::{report_broken, visit};
use crate::search::worker::Worker;
use crate::search::{EventId, Route, Search};
use crate::services::expand::{Candidate, EventKind};
use crate::table::fingerprint::nonzero;

/// An event, so that it can be looked up.
pub type Name = (u8, u32, u32, u32);

pub fn name(event: &EventId) -> Name {
    (event.what as u8, event.node, event.origin, event.branch)
}

/// A fault that could have happened in a state.
pub struct Option_ {
    pub event: EventId,
    pub candidate: Candidate,
    pub fault: bool,
    /// Of a crash or a restart that may be tried; empty for other faults.
    pub key: Option<Box<[u32]>>,
}

/// One step of an execution.
pub struct Did {
    pub event: EventId,
    pub fault: bool,
    pub state: Vec<u32>,
    pub sum: u64,
    pub after: u64,
    /// Whether no execution had been in the state.
    pub fresh: bool,
    /// What else could have happened.
    pub others: Vec<Option_>,
}

pub struct Runner<'a> {
    pub worker: Worker<'a>,
    pub keys: Option<Keys<'a>>,
    pub tried: FxHashSet<Box<[u32]>>,
    pub roles: FxHashSet<(u32, u32)>,
    pub queued: FxHashSet<(u64, Name)>,
    pub reversed: FxHashSet<u64>,
    pub claimed: FxHashSet<Box<[u32]>>,
}

impl<'a> Runner<'a> {
    pub fn new(search: &'a Search) -> Self {
        Runner {
            worker: Worker::new(search),
            keys: search.alike.as_ref().map(Keys::new),
            tried: FxHashSet::default(),
            roles: FxHashSet::default(),
            queued: FxHashSet::default(),
            reversed: FxHashSet::default(),
            claimed: FxHashSet::default(),
        }
    }

    /// Whether an execution may still show something that no other has.
    pub fn is_open(&self, item: &Item) -> bool {
        let tried = item.key.as_ref().is_some_and(|key| self.tried.contains(key));
        !tried && !item.ends.is_some_and(|sum| self.is_seen(sum))
    }

    pub fn is_seen(&self, sum: u64) -> bool {
        self.worker.search.seen.read().parent(nonzero(sum)).is_some()
    }

    pub fn run(&mut self, item: &Item) -> PyResult<Option<Vec<Did>>> {
        let search = self.worker.search;
        let initial = &search.initial[item.start];
        let (mut state, mut sum) = (initial.words.clone(), initial.sum);
        let mut events: Vec<EventId> = Vec::new();
        let mut path: Vec<Did> = Vec::new();
        let mut since: FxHashMap<Name, usize> = FxHashMap::default();
        let mut crashed: Option<Crashed> = None;
        let start = item.start;
        self.worker
            .broken(initial.broken, 0, || Route::Walked(start, Vec::new()));
        loop {
            let length = events.len() as u32;
            let fresh = visit(search, sum, length);
            if fresh {
                self.worker.check_state(&state, None, length, || {
                    Route::Walked(start, events.clone())
                })?;
            }
            if search.stopping() {
                return Ok(None);
            }
            if length + 1 >= search.limits.depth {
                search.cut.store(true, Relaxed);
                return Ok(Some(path));
            }
            let expander = &mut self.worker.expander;
            expander.candidates.clear();
            if expander.list(&state, sum, 0)? {
                self.worker
                    .check_rest_by(&state, length, || Route::Walked(start, events.clone()))?;
            }
            report_broken(&self.worker, &state, (start, &events));
            let listed: Vec<Candidate> = self.worker.expander.candidates.clone();
            let at_rest = is_at_rest(&self.worker.expander, sum);
            let mut options: Vec<Option_> = Vec::new();
            let mut ages = FxHashMap::default();
            let prescribed = item.steps.get(events.len());
            let mut taken: Option<(usize, (bool, i64, u8, u32, u32, usize))> = None;
            for (index, candidate) in listed.iter().enumerate() {
                if candidate.fingerprint == sum {
                    continue;
                }
                let event = self.worker.happened(candidate, &state);
                let fault = self.worker.expander.is_fault(candidate);
                let named = name(&event);
                let age = *since.get(&named).unwrap_or(&events.len());
                ages.insert(named, age);
                let age = if item.order == Order::Oldest { age as i64 } else { -(age as i64) };
                let source = if matches!(event.what, EventKind::Deliver | EventKind::Receive) {
                    self.worker.expander.mirror.envelopes[event.origin as usize].source
                } else { 0 };
                let kind = if event.what == EventKind::Internal { 99 } else { event.what as u8 };
                let rank = (fault, age, kind, event.node, source, index);
                let is = match prescribed {
                    Some(wanted) => wanted.same(&event),
                    None => taken.as_ref().is_none_or(|(_, best)| rank < *best),
                };
                if is {
                    taken = Some((options.len(), rank));
                }
                options.push(Option_ { event, candidate: *candidate, fault, key: None });
            }
            if std::env::var("SEM_SHOW").is_ok() && beyond_(events.len(), item) {
                if let Some((at, rank)) = &taken {
                    let e = &options[*at].event;
                    let text = Python::attach(|py| -> PyResult<String> {
                        let shared = &self.worker.expander.shared;
                        Ok(match e.what {
                            EventKind::Internal => shared.stimulus(py, crate::services::ids::StimulusId::of(e.origin))?.str()?.to_string(),
                            EventKind::Deliver | EventKind::Receive => shared.message(py, crate::services::ids::EnvelopeId::of(e.origin))?.str()?.to_string(),
                            _ => String::new(),
                        })
                    })?;
                    eprintln!("{} {:?} {:?} n{} {}", events.len(), rank.0, e.what, e.node, text);
                }
            }
            let Some((at, _)) = taken else {
                return Ok(prescribed.is_none().then_some(path));
            };
            since = ages;
            let chosen = options.remove(at);
            let beyond = events.len() >= item.steps.len();
            if let Some(keys) = &mut self.keys {
                let expander = &self.worker.expander;
                if beyond {
                    for option in &mut options {
                        let Some(place) = Place::of(expander, &option.candidate) else { continue };
                        search.skipped.place();
                        let waits = !at_rest && keys.unchanged(expander, &state, crashed.as_ref(), place)?;
                        let key = keys.of(expander, &state, place)?;
                        if waits || self.tried.contains(key) {
                            search.skipped.skip();
                            option.key = None;
                            option.fault = true;
                            option.event.branch = u32::MAX; // dropped below
                        } else {
                            option.key = Some(key.into());
                        }
                    }
                    options.retain(|option| option.event.branch != u32::MAX);
                }
                if let Some(place) = Place::of(expander, &chosen.candidate)
                    && events.len() + 1 >= item.steps.len()
                {
                    let key: Box<[u32]> = keys.of(expander, &state, place)?.into();
                    self.roles.insert(role_of(&key));
                    self.tried.insert(key);
                }
                crashed = keys.after(expander, &state, crashed.as_ref(), &chosen.candidate)?;
            }
            self.worker.count_fault(&chosen.candidate);
            self.worker.count(1);
            since.remove(&name(&chosen.event));
            let mut next = Vec::new();
            self.worker.expander.build(&state, &chosen.candidate, &mut next);
            let after = chosen.candidate.fingerprint;
            path.push(Did {
                event: chosen.event,
                fault: chosen.fault,
                state: std::mem::replace(&mut state, next),
                sum,
                after,
                fresh,
                others: if beyond { options } else { Vec::new() },
            });
            sum = after;
            events.push(chosen.event);
        }
    }
}

/// The kind of a fault and the role of its node.
pub fn role_of(key: &[u32]) -> (u32, u32) {
    let end = key.iter().position(|&word| word == u32::MAX).expect("every key has an end");
    (key[end + 1], key[end + 2])
}

fn beyond_(n: usize, item: &Item) -> bool { n >= item.steps.len() }
