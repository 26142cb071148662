//! Random walks: each picks among the states it can go to next, up to a depth: uniformly, or, where
//! weights are given, each state by the sum of the weights of the events that lead to it.
//!
//! A walk draws from its own generator, seeded by the search's seed and its own number, and picks
//! by fingerprint, never by the position of an event in a list: positions follow interned ids,
//! which depend on what other threads met first. So the same seed visits the same states however
//! many threads share the walks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::prelude::*;

use super::alike::InWalk;
use super::dice::{Dice, Target};
use super::worker::Worker;
use super::{EventId, Route, Search};
use crate::services::expand::Candidate;
use crate::table::fingerprint::nonzero;
use crate::table::seen::Inserted;

pub fn work(search: &Search, next: &AtomicU64) -> PyResult<()> {
    let mut worker = Worker::new(search);
    let mut alike = search.alike.as_ref().map(InWalk::new);
    loop {
        let number = next.fetch_add(1, Relaxed);
        if number >= search.limits.walks || search.stopping() {
            return Ok(());
        }
        if let Some(alike) = &mut alike {
            alike.begin();
        }
        walk(&mut worker, alike.as_mut(), search.limits.first + number)?;
        search.walked.fetch_add(1, Relaxed);
    }
}

fn walk(worker: &mut Worker<'_>, mut alike: Option<&mut InWalk<'_>>, number: u64) -> PyResult<()> {
    let search = worker.search;
    let mut dice = Dice::new(search.limits.seed, number);
    let sums = search.initial.iter().map(|initial| initial.sum);
    let start = dice.pick(sums).expect("every system begins somewhere");
    let initial = &search.initial[start];
    let (mut state, mut sum) = (initial.words.clone(), initial.sum);
    let mut next = Vec::new();
    let mut events: Vec<EventId> = Vec::new();
    let mut targets = Vec::new();
    worker.sync();
    worker.broken(initial.broken, 0, || Route::Walked(start, Vec::new()));
    search.generated.fetch_add(u64::from(number == 0), Relaxed);
    loop {
        let length = events.len() as u32;
        if visit(search, worker.standing_for(&state, sum)?, length) {
            worker.check_state(&state, None, length, || {
                Route::Walked(start, events.clone())
            })?;
        }
        if length + 1 >= search.limits.depth || search.stopping() {
            search.cut.store(true, Relaxed);
            return Ok(());
        }
        worker.expander.candidates.clear();
        if worker.expander.list(&state, sum, 0)? {
            worker.check_rest_by(&state, length, || Route::Walked(start, events.clone()))?;
        }
        report_broken(worker, &state, (start, &events));
        if let Some(alike) = &mut alike {
            alike.leave_out(worker, (&state, sum))?;
        }
        let Some(candidate) = pick(worker, &mut dice, &mut targets) else {
            return Ok(());
        };
        if let Some(alike) = &mut alike {
            alike.take(worker, &state, &candidate)?;
        }
        worker.count_fault(&candidate);
        worker.count(1);
        events.push(worker.happened(&candidate, &state));
        worker.go_to(&mut state, &candidate, &mut next);
        sum = candidate.fingerprint;
    }
}

impl Worker<'_> {
    /// Let a state become the one that a candidate leads to.
    fn go_to(&mut self, state: &mut Vec<u32>, candidate: &Candidate, next: &mut Vec<u32>) {
        next.clear();
        self.expander.build(state, candidate, next);
        std::mem::swap(state, next);
    }
}

/// What a candidate weighs; always 1 in a walk without weights.
fn weight(worker: &Worker<'_>, candidate: &Candidate) -> u64 {
    let weights = worker.search.limits.weights.as_ref();
    weights.map_or(1, |weights| weights.of(&worker.expander, candidate))
}

/// The candidate to go on with; `None` where nothing has any weight.
fn pick(worker: &Worker<'_>, dice: &mut Dice, targets: &mut Vec<Target>) -> Option<Candidate> {
    let candidates = &worker.expander.candidates;
    if worker.search.limits.weights.is_none() {
        let picked = dice.pick(candidates.iter().map(|candidate| candidate.fingerprint));
        return picked.map(|picked| candidates[picked]);
    }
    targets.clear();
    targets.extend(candidates.iter().enumerate().map(|(position, candidate)| {
        let weight = weight(worker, candidate);
        (candidate.fingerprint, weight, position)
    }));
    let picked = dice.pick_weighted(targets);
    picked.map(|picked| candidates[picked])
}

/// A step that breaks a property is worth telling even where the walk goes another way.
pub fn report_broken(worker: &Worker<'_>, state: &[u32], (start, events): (usize, &[EventId])) {
    for candidate in &worker.expander.candidates {
        let broken = worker.expander.broken_by(candidate);
        if broken != 0 && weight(worker, candidate) != 0 {
            let mut events = events.to_vec();
            events.push(worker.happened(candidate, state));
            let length = events.len() as u32;
            worker.broken(broken, length, || Route::Walked(start, events.clone()));
        }
    }
}

/// Count the state; true if no walk has been there.
pub fn visit(search: &Search, sum: u64, length: u32) -> bool {
    search.depth.fetch_max(length as usize + 1, Relaxed);
    search.seen.reserve(search.limits.threads);
    let inserted = search.seen.read().insert(nonzero(sum), 0, length);
    if inserted == Inserted::New {
        search.seen.add(1);
        search.check_states();
    }
    inserted == Inserted::New
}
