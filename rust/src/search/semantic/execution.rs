//! One execution: a prescribed beginning, then a natural order to the end.

use std::cmp::Reverse;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::lanes::{Item, Order};
use crate::python::tables::CRASH;
use crate::search::alike::{Crashed, Keys, Place, is_at_rest};
use crate::search::walk::{report_broken, visit};
use crate::search::worker::Worker;
use crate::search::{EventId, Route, Search};
use crate::services::expand::{Candidate, EventKind};
use crate::table::fingerprint::nonzero;

/// An event as a key.
pub type Name = (u8, u32, u32, u32);

pub fn name(event: &EventId) -> Name {
    (event.what as u8, event.node, event.origin, event.branch)
}

/// What can happen in a state.
pub struct Possible {
    pub event: EventId,
    pub candidate: Candidate,
    pub fault: bool,
    /// Of a crash or a restart.
    pub key: Option<Box<[u32]>>,
}

/// One step of an execution.
pub struct Did {
    pub event: EventId,
    pub fault: bool,
    /// Where it happened.
    pub state: Rc<[u32]>,
    pub sum: u64,
    /// What else could have happened, if that is not queued yet.
    pub others: Vec<Possible>,
}

/// What an execution has been through.
struct Past {
    events: Vec<EventId>,
    /// Since how many steps each event was possible without a break.
    since: FxHashMap<Name, usize>,
    crashed: Option<Crashed>,
}

/// What an event leads to.
pub type Next = Option<(Rc<[u32]>, u64)>;

pub struct Runner<'a> {
    pub worker: Worker<'a>,
    pub keys: Option<Keys<'a>>,
    /// Keys of the faults that happened.
    pub tried: FxHashSet<Box<[u32]>>,
    /// Kinds of faults with the roles of their nodes, queued or happened.
    pub roles: FxHashSet<(u32, u32)>,
    /// Events that were queued, by the state they happen in; and reversals.
    pub queued: FxHashSet<(u64, Name)>,
    pub reversed: FxHashSet<u64>,
    pub steps: FxHashMap<(u64, Name), Next>,
    /// States of which is queued what could have happened in them, where an execution came to them
    /// first: one that goes round comes to them until it is cut, and what is queued at its end is
    /// cut, too. Only new places for faults are queued later.
    examined: FxHashSet<u64>,
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
            steps: FxHashMap::default(),
            examined: FxHashSet::default(),
        }
    }

    /// Whether an execution may still show what no other has: no fault like its last one happened,
    /// and no execution was in the state that it is made for.
    pub fn is_open(&self, item: &Item) -> bool {
        match &item.key {
            Some(key) if self.tried.contains(key) => {
                self.worker.search.skipped.skip();
                false
            }
            Some(_) => true,
            None => !item.ends.is_some_and(|sum| self.is_seen(sum)),
        }
    }

    pub fn is_seen(&self, sum: u64) -> bool {
        let seen = self.worker.search.seen.read();
        seen.parent(nonzero(sum)).is_some()
    }

    /// Run an execution; gives its steps.
    pub fn run(&mut self, item: &Item) -> PyResult<Vec<Did>> {
        let (search, start) = (self.worker.search, item.start);
        let initial = &search.initial[start];
        let (mut state, mut sum): (Rc<[u32]>, u64) = (initial.words.as_slice().into(), initial.sum);
        let mut path = Vec::new();
        let mut past = Past {
            events: Vec::new(),
            since: FxHashMap::default(),
            crashed: None,
        };
        self.worker
            .broken(initial.broken, 0, || Route::Walked(start, Vec::new()));
        while self.enter(item, (&state, sum), &past.events)? {
            let mut possible = self.possible((&state, sum), &mut past);
            let Some(at) = self.pick(item, &possible, &past) else {
                break;
            };
            let chosen = possible.remove(at);
            self.compare(item, (&state, sum), &mut past, (&chosen, &mut possible))?;
            self.worker.count_fault(&chosen.candidate);
            self.worker.count(1);
            past.since.remove(&name(&chosen.event));
            past.events.push(chosen.event);
            let mut next = Vec::new();
            self.worker
                .expander
                .build(&state, &chosen.candidate, &mut next);
            path.push(Did {
                event: chosen.event,
                fault: chosen.fault,
                state: std::mem::replace(&mut state, next.into()),
                sum,
                others: possible,
            });
            sum = chosen.candidate.fingerprint;
        }
        Ok(path)
    }

    /// List and judge a state; false if the execution is not to go on.
    fn enter(
        &mut self,
        item: &Item,
        (state, sum): (&[u32], u64),
        events: &[EventId],
    ) -> PyResult<bool> {
        let (search, length) = (self.worker.search, events.len() as u32);
        let route = || Route::Walked(item.start, events.to_vec());
        if visit(search, sum, length) {
            self.worker.check_state(state, None, length, route)?;
        }
        if length + 1 >= search.limits.depth {
            search.cut.store(true, Relaxed);
            return Ok(false);
        }
        self.worker.expander.candidates.clear();
        if self.worker.expander.list(state, sum, 0)? {
            self.worker.check_rest_by(state, length, route)?;
        }
        report_broken(&self.worker, state, (item.start, events));
        Ok(!search.stopping())
    }

    /// What can happen in the state that is listed.
    fn possible(&self, (state, sum): (&[u32], u64), past: &mut Past) -> Vec<Possible> {
        let length = past.events.len();
        let mut since = FxHashMap::default();
        let mut possible = Vec::new();
        for candidate in &self.worker.expander.candidates {
            if candidate.fingerprint == sum {
                continue; // a step that changes nothing leads nowhere
            }
            let event = self.worker.happened(candidate, state);
            let known = past.since.get(&name(&event));
            since.insert(name(&event), known.copied().unwrap_or(length));
            possible.push(Possible {
                event,
                candidate: *candidate,
                fault: self.worker.expander.is_fault(candidate),
                key: None,
            });
        }
        past.since = since;
        possible
    }

    /// Which of the possible events is next: the prescribed one, then that of the natural order.
    /// Messages come before what nodes do by themselves, a slow node after all others, and faults
    /// last; in one of the orders, nodes come back before others crash.
    fn pick(&self, item: &Item, possible: &[Possible], past: &Past) -> Option<usize> {
        if let Some(wanted) = item.steps.get(past.events.len()) {
            return possible.iter().position(|each| each.event.same(wanted));
        }
        let rank = |each: &Possible| {
            let since = past.since[&name(&each.event)];
            let (oldest, newest) = match item.order {
                Order::Oldest => (since, Reverse(0)),
                Order::Newest => (0, Reverse(since)),
            };
            let EventId { what, node, .. } = each.event;
            let source = match what {
                EventKind::Deliver | EventKind::Receive => {
                    self.worker.expander.mirror.envelopes[each.event.origin as usize].source
                }
                _ => 0,
            };
            let own = what == EventKind::Internal;
            let place = Place::of(&self.worker.expander, &each.candidate);
            let crash = place.is_some_and(|place| place.fault == CRASH);
            let crash = crash && item.order == Order::Newest;
            let slow = item.slow == Some(node);
            let late = (each.fault, crash, slow);
            (late, oldest, newest, own, what as u8, node, source)
        };
        (0..possible.len()).min_by_key(|&at| rank(&possible[at]))
    }

    /// Remember the key of the fault that happens, and drop those of the others that were tried.
    fn compare(
        &mut self,
        item: &Item,
        (state, sum): (&[u32], u64),
        past: &mut Past,
        (chosen, others): (&Possible, &mut Vec<Possible>),
    ) -> PyResult<()> {
        let length = past.events.len();
        if !self.examined.insert(sum) {
            let expander = &self.worker.expander;
            let prescribed = length < item.steps.len();
            others.retain(|other| !prescribed && Place::of(expander, &other.candidate).is_some());
        }
        let Some(keys) = &mut self.keys else {
            return Ok(());
        };
        let (search, expander) = (self.worker.search, &self.worker.expander);
        let at_rest = is_at_rest(expander, sum);
        let mut kept = Vec::with_capacity(others.len());
        for mut other in others.drain(..) {
            if let Some(place) = Place::of(expander, &other.candidate) {
                search.skipped.place();
                let crashed = past.crashed.as_ref();
                let waits = !at_rest && keys.unchanged(expander, state, crashed, place)?;
                let key = keys.of(expander, state, place)?;
                if waits || self.tried.contains(key) {
                    search.skipped.skip();
                    continue;
                }
                other.key = Some(key.into());
            }
            kept.push(other);
        }
        *others = kept;
        if let Some(place) = Place::of(expander, &chosen.candidate)
            && length + 1 >= item.steps.len()
        {
            let key = keys.of(expander, state, place)?;
            self.roles.insert(role_of(key));
            self.tried.insert(key.into());
        }
        let crashed = past.crashed.take();
        past.crashed = keys.after(expander, state, crashed.as_ref(), &chosen.candidate)?;
        Ok(())
    }
}

/// Of a key: the kind of the fault, and the role of its node.
pub fn role_of(key: &[u32]) -> (u32, u32) {
    let end = key.iter().position(|&word| word == u32::MAX);
    let end = end.expect("every key has an end");
    (key[end + 1], key[end + 2])
}
