//! Expanding with sleep sets: every state is met and judged, not every transition is followed.
//!
//! A state in a buffer carries behind its words what is awake in it and what sleeps, two words a
//! label, then both counts. Steps are judged where they are listed, asleep or not, so neither an
//! exception nor a step property depends on what is followed.

use pyo3::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

use super::worker::{HEADER, Stored, Worker, store, stored};
use super::{Route, Search};
use crate::reduce::commute::Commuting;
use crate::reduce::sleep::{Table, Visit, label};
use crate::table::fingerprint::nonzero;

/// In place of a count: everything that does not sleep is awake.
const ALL: u32 = u32::MAX;

/// One thread's memory of a reduced search.
#[derive(Default)]
pub struct Reduced {
    commuting: Commuting,
    labels: Vec<u64>,
    order: Vec<usize>,
    current: Vec<usize>,
}

fn put_labels(out: &mut Vec<u32>, labels: &[u64]) {
    for &label in labels {
        out.extend_from_slice(&[label as u32, (label >> 32) as u32]);
    }
}

fn take_labels(words: &mut &[u32], count: usize) -> Vec<u64> {
    let (rest, taken) = words.split_at(words.len() - 2 * count);
    *words = rest;
    let join = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    taken.chunks(2).map(join).collect()
}

/// Write behind a state what is awake (`None`: all but the sleepers) and what sleeps.
pub fn annotate(out: &mut Vec<u32>, awake: Option<&[u64]>, asleep: &[u64]) {
    put_labels(out, awake.unwrap_or_default());
    put_labels(out, asleep);
    out.push(awake.map_or(ALL, |labels| labels.len() as u32));
    out.push(asleep.len() as u32);
}

/// The state proper, what is awake (`None`: all but the sleepers), and what sleeps.
fn parted(state: Stored<'_>) -> (Stored<'_>, Option<Vec<u64>>, Vec<u64>) {
    let (mut words, counts) = state.words.split_at(state.words.len() - 2);
    let asleep = take_labels(&mut words, counts[1] as usize);
    let awake = (counts[0] != ALL).then(|| take_labels(&mut words, counts[0] as usize));
    let sum = state.sum;
    (Stored { words, sum }, awake, asleep)
}

impl Search {
    /// Note that an initial state was met.
    pub fn begin_reduced(&self, key: u64, out: &mut Vec<u32>) {
        if let Some(table) = &self.sleep {
            table.visit(key, &[], 1);
            annotate(out, None, &[]);
        }
    }
}

impl Worker<'_> {
    /// As `expand`, following only what is awake.
    pub fn expand_reduced(
        &mut self,
        table: &Table,
        (buffer, offsets): (&[u32], &[usize]),
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<bool> {
        let mut reduced = std::mem::take(&mut self.reduced);
        for &at in offsets {
            if self.search.stopping() {
                break;
            }
            let (state, awake, asleep) = parted(stored(buffer, at));
            self.expander.candidates.clear();
            let at_rest = self.expander.list(state.words, state.sum, 0)?;
            reduced.choose(self, state, awake.as_deref(), &asleep);
            if awake.is_none() {
                if at_rest {
                    self.check_rest(state, depth - 1)?;
                }
                for index in 0..self.expander.candidates.len() {
                    self.check_broken(index, state.sum, depth);
                }
            }
            let kept = self.follow(&mut reduced, table, state, depth, out)?;
            self.count(reduced.order.len() as u64);
            self.search.frontier.fetch_add(kept, Relaxed);
            self.search.frontier.fetch_sub(1, Relaxed);
        }
        self.reduced = reduced;
        Ok(true)
    }

    /// Follow what was chosen; gives how many visits were asked for.
    fn follow(
        &mut self,
        reduced: &mut Reduced,
        table: &Table,
        state: Stored<'_>,
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<usize> {
        let mut kept = 0;
        for index in reduced.order.clone() {
            let candidate = self.expander.candidates[index];
            self.count_fault(&candidate);
            let mut sleepers = Vec::new();
            for &sleeper in &reduced.current {
                let other = self.expander.candidates[sleeper];
                let commuting = &mut reduced.commuting;
                if self
                    .expander
                    .independent(commuting, state.words, &other, &candidate)?
                {
                    sleepers.push(reduced.labels[sleeper]);
                }
            }
            sleepers.sort_unstable();
            reduced.current.push(index);
            let key = nonzero(candidate.fingerprint);
            let visit = table.visit(key, &sleepers, depth + 1);
            let (awake, asleep) = match &visit {
                Visit::Nothing => continue,
                Visit::New | Visit::Shallower => (None, &sleepers),
                Visit::Woken { awake, asleep } => (Some(awake.as_slice()), asleep),
            };
            kept += 1;
            let (start, mut end) = (out.len() + HEADER, 0);
            store(out, candidate.fingerprint, |out| {
                self.expander.build(state.words, &candidate, out);
                end = out.len();
                annotate(out, awake, asleep);
            });
            if awake.is_none() {
                self.met(state, key, (depth, &visit), &out[start..end])?;
            }
        }
        Ok(kept)
    }

    /// Enter a state, reached from `state`, into the seen table, and judge it if it is new.
    fn met(
        &mut self,
        state: Stored<'_>,
        key: u64,
        (depth, visit): (u32, &Visit),
        words: &[u32],
    ) -> PyResult<()> {
        let (search, parent) = (self.search, nonzero(state.sum));
        search.seen.reserve(search.limits.threads);
        search.seen.read().insert(key, parent, depth + 1);
        if matches!(visit, Visit::New) {
            search.seen.add(1);
            search.depth.fetch_max(depth as usize + 1, Relaxed);
            let before = Some(state.words);
            self.check_state(words, before, depth, || Route::Seen(key, None))?;
            search.check_states();
        }
        Ok(())
    }
}

impl Reduced {
    /// Sort the candidates into those to follow and those that sleep. Steps that change nothing
    /// are on no shortest path: neither followed nor kept asleep.
    fn choose(
        &mut self,
        worker: &Worker<'_>,
        state: Stored<'_>,
        awake: Option<&[u64]>,
        asleep: &[u64],
    ) {
        self.labels.clear();
        self.order.clear();
        self.current.clear();
        for (index, candidate) in worker.expander.candidates.iter().enumerate() {
            let own = label(&worker.happened(candidate, state.words));
            self.labels.push(own);
            if candidate.fingerprint == state.sum {
                continue;
            }
            if asleep.binary_search(&own).is_ok() {
                self.current.push(index);
            } else if awake.is_none_or(|awake| awake.binary_search(&own).is_ok()) {
                self.order.push(index);
            }
        }
        // What sends nothing comes first: it puts nothing new between others, so more may sleep.
        let expander = &worker.expander;
        self.order.sort_by_key(|&index| {
            let sends = expander.sends_of(expander.candidates[index].effect);
            !sends.is_empty()
        });
    }
}
