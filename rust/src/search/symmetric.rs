//! Searching representatives only: one state stands for all that exchanging nodes makes of it.
//!
//! What is stored, expanded and judged are representatives. A path is found by going forward on
//! real states, always to one whose representative is the next of the chain; so a trace is an
//! execution of the system as it is, and nothing in it needs to be renamed.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::worker::{HEADER, Stored, Worker, store, stored};
use super::{EventId, Route, Search};
use crate::reduce::symmetry::canon::Canon;
use crate::reduce::symmetry::invariant::{Asking, Compared};
use crate::services::expand::Candidate;
use crate::services::path::lost;
use crate::table::fingerprint::nonzero;
use crate::table::seen::Inserted;

/// One thread's memory of a symmetric search.
#[derive(Default)]
pub struct Symmetric {
    canon: Canon,
    compared: Vec<Compared>,
}

impl Worker<'_> {
    /// The fingerprint that stands for a state: its own, or its representative's.
    pub fn standing_for(&mut self, words: &[u32], sum: u64) -> PyResult<u64> {
        match self.symmetric.is_some() {
            true => self.represent(words, &mut Vec::new()),
            false => Ok(sum),
        }
    }

    fn represent(&mut self, words: &[u32], out: &mut Vec<u32>) -> PyResult<u64> {
        let symmetric = self
            .symmetric
            .as_mut()
            .expect("only where nodes change places");
        symmetric.canon.represent(&mut self.expander, words, out)
    }

    /// Compare a verdict with those on all arrangements of the state.
    pub fn compare(&mut self, property: usize, words: &[u32], verdict: bool) -> PyResult<()> {
        let Some(symmetric) = self.symmetric.as_deref_mut() else {
            return Ok(());
        };
        let properties = self.search.shared.properties.len();
        symmetric
            .compared
            .resize_with(properties, Compared::default);
        let mut asking = Asking {
            expander: &mut self.expander,
            judge: &mut self.judge,
            canon: &mut symmetric.canon,
        };
        asking.compare(&mut symmetric.compared[property], property, words, verdict)
    }

    /// As `begin`, for representatives.
    pub fn begin_symmetric(&mut self, out: &mut Vec<u32>) -> PyResult<()> {
        let search = self.search;
        search.depth.fetch_max(1, Relaxed);
        for (index, initial) in search.initial.iter().enumerate() {
            search.generated.fetch_add(1, Relaxed);
            self.broken(initial.broken, 0, || Route::Walked(index, Vec::new()));
            let mut words = Vec::new();
            let sum = self.represent(&initial.words, &mut words)?;
            search.seen.reserve(1);
            if search.seen.read().insert(nonzero(sum), 0, 1) == Inserted::New {
                search.seen.add(1);
                search.frontier.fetch_add(1, Relaxed);
                store(out, sum, |out| out.extend_from_slice(&words));
                self.check_state(&words, None, 0, || Route::Walked(index, Vec::new()))?;
            }
        }
        Ok(())
    }

    /// As `expand`, for representatives.
    pub fn expand_symmetric(
        &mut self,
        buffer: &[u32],
        offsets: &[usize],
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<bool> {
        for &at in offsets {
            if self.search.stopping() {
                break;
            }
            let state = stored(buffer, at);
            self.list(buffer, &[at], depth)?;
            let candidates = std::mem::take(&mut self.expander.candidates);
            let mut kept = 0;
            for candidate in &candidates {
                kept += usize::from(self.go(state, candidate, depth, out)?);
            }
            self.expander.candidates = candidates;
            self.search.frontier.fetch_add(kept, Relaxed);
            self.search.frontier.fetch_sub(1, Relaxed);
        }
        Ok(true)
    }

    /// Go to where `candidate` leads; true if its representative is to be expanded.
    fn go(
        &mut self,
        state: Stored<'_>,
        candidate: &Candidate,
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<bool> {
        let search = self.search;
        let canon = &self.symmetric.as_deref().expect("symmetric").canon;
        if candidate.fingerprint == state.sum {
            return Ok(false);
        }
        let known = canon.known(candidate.fingerprint);
        let (mut words, mut written) = (Vec::new(), false);
        let sum = match known {
            Some(sum) => sum,
            None => {
                written = true;
                self.arrive(state.words, candidate, &mut words)?
            }
        };
        if sum == state.sum {
            return Ok(false);
        }
        let key = nonzero(sum);
        search.seen.reserve(search.limits.threads);
        let parent = nonzero(state.sum);
        let inserted = search.seen.read().insert(key, parent, depth + 1);
        if inserted == Inserted::Known {
            return Ok(false);
        }
        search.seen.add(usize::from(inserted == Inserted::New));
        if !written {
            self.arrive(state.words, candidate, &mut words)?;
        }
        let start = out.len();
        store(out, sum, |out| out.extend_from_slice(&words));
        search.depth.fetch_max(depth as usize + 1, Relaxed);
        let words = &out[start + HEADER..];
        self.check_state(words, None, depth, || Route::Seen(key, None))?;
        search.check_states();
        Ok(true)
    }

    /// The fingerprint of the representative of where `candidate` leads.
    pub fn standing_behind(&mut self, from: &[u32], candidate: &Candidate) -> PyResult<u64> {
        let canon = &self.symmetric.as_deref().expect("symmetric").canon;
        match canon.known(candidate.fingerprint) {
            Some(sum) => Ok(sum),
            None => self.arrive(from, candidate, &mut Vec::new()),
        }
    }

    /// Write the representative of where `candidate` leads.
    fn arrive(
        &mut self,
        from: &[u32],
        candidate: &Candidate,
        words: &mut Vec<u32>,
    ) -> PyResult<u64> {
        let mut raw = Vec::with_capacity(from.len() + 4);
        self.expander.build(from, candidate, &mut raw);
        let sum = self.represent(&raw, words)?;
        let symmetric = self.symmetric.as_deref_mut().expect("symmetric");
        symmetric.canon.remember(candidate.fingerprint, sum);
        Ok(sum)
    }
}

/// The events of a real execution whose representatives are the chain to `last`; then, where a step
/// itself breaks `breaking`, one that does.
pub fn retrace(
    search: &Search,
    last: u64,
    breaking: Option<usize>,
) -> PyResult<(usize, Vec<EventId>)> {
    let chain = search.seen.chain(last);
    let mut worker = Worker::new(search);
    let mut found = None;
    for (index, initial) in search.initial.iter().enumerate() {
        let key = nonzero(worker.standing_for(&initial.words, initial.sum)?);
        if found.is_none() && key == chain[0] {
            found = Some(index);
        }
    }
    let initial = found.ok_or_else(lost)?;
    let start = &search.initial[initial];
    let (mut state, mut sum) = (start.words.clone(), start.sum);
    let mut events = Vec::new();
    for &key in &chain[1..] {
        let (event, next) = step(&mut worker, &state, sum, key)?.ok_or_else(lost)?;
        events.push(event);
        (state, sum) = next;
    }
    if let Some(property) = breaking {
        worker.expander.candidates.clear();
        worker.expander.list(&state, sum, 0)?;
        let breaks =
            |candidate: &&Candidate| worker.expander.broken_by(candidate) >> property & 1 == 1;
        let candidate = worker.expander.candidates.iter().find(breaks);
        let candidate = candidate.ok_or_else(lost)?;
        events.push(worker.happened(candidate, &state));
    }
    Ok((initial, events))
}

type Next = (EventId, (Vec<u32>, u64));

/// A step of a real state to one whose representative has the fingerprint `key`.
fn step(worker: &mut Worker<'_>, state: &[u32], sum: u64, key: u64) -> PyResult<Option<Next>> {
    worker.expander.candidates.clear();
    worker.expander.list(state, sum, 0)?;
    for candidate in worker.expander.candidates.clone() {
        let mut next = Vec::new();
        worker.expander.build(state, &candidate, &mut next);
        if nonzero(worker.standing_for(&next, candidate.fingerprint)?) == key {
            let happened = worker.happened(&candidate, state);
            return Ok(Some((happened, (next, candidate.fingerprint))));
        }
    }
    Ok(None)
}
