//! Write the graph down: once more through the states, in breadth-first order, by one thread.
//!
//! After an exhaustive search every step has been run, so this is look-ups only. Where the search
//! was cut, this one is cut too, by depth or by number of states; what was not expanded is marked.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::space::{Edge, NOBODY, Space};
use super::units::Units;
use crate::property::judge::Judge;
use crate::search::Search;
use crate::search::worker::{HEADER, Worker, store, stored};
use crate::table::fingerprint::nonzero;

/// States whose successors are looked up together, so that memory latencies overlap.
const BATCH: usize = 32;
/// How many look-ups ahead a cache line is asked for.
const AHEAD: usize = 12;

pub struct Explorer<'a> {
    search: &'a Search,
    worker: Worker<'a>,
    judge: Judge,
    /// Kernel indices of the properties to look at.
    properties: &'a [usize],
    pub space: Space,
    pub units: Units,
    /// Where the candidates of each state of the batch end.
    ends: Vec<usize>,
}

impl<'a> Explorer<'a> {
    /// `room`: how many states and edges to expect.
    pub fn new(search: &'a Search, properties: &'a [usize], room: (usize, usize)) -> Self {
        Explorer {
            search,
            worker: Worker::new(search),
            judge: Judge::new(search.shared.clone()),
            properties,
            space: Space::with_room(properties.len(), room),
            units: Units::default(),
            ends: Vec::new(),
        }
    }

    /// Go through all states within the limits of the search.
    pub fn run(&mut self) -> PyResult<()> {
        let mut level = Vec::new();
        for initial in &self.search.initial {
            let key = nonzero(initial.sum);
            if self.space.ids.insert(key).1 {
                self.space.push(key, NOBODY);
                let from = level.len();
                store(&mut level, initial.sum, |out| {
                    out.extend_from_slice(&initial.words)
                });
                self.judge(&level[from + HEADER..], None)?;
            }
        }
        let mut depth = 1;
        while !level.is_empty() && depth < self.search.limits.depth {
            let mut next = Vec::new();
            if !self.expand_level(&level, &mut next)? {
                break;
            }
            level = next;
            depth += 1;
        }
        self.space.units = self.units.len();
        Ok(())
    }

    /// False if a limit was met.
    fn expand_level(&mut self, level: &[u32], next: &mut Vec<u32>) -> PyResult<bool> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut at = 0;
        while at < level.len() {
            batch.clear();
            while at < level.len() && batch.len() < BATCH {
                batch.push(at);
                at += HEADER + level[at] as usize;
            }
            if self.search.stopping() || self.space.len() >= self.search.limits.states {
                return Ok(false);
            }
            if self.list(level, &batch)? {
                return Ok(false); // what comes after a state that is sealed for ever is not known
            }
            self.enter(level, &batch, next)?;
        }
        Ok(true)
    }

    /// List the states of a batch; true if one is sealed for ever.
    fn list(&mut self, level: &[u32], batch: &[usize]) -> PyResult<bool> {
        let expander = &mut self.worker.expander;
        expander.candidates.clear();
        self.ends.clear();
        for (from, &at) in batch.iter().enumerate() {
            let state = stored(level, at);
            let at_rest = expander.list(state.words, state.sum, from as u32)?;
            if at_rest && expander.seal(state.words)?.is_some() {
                return Ok(true);
            }
            self.ends.push(expander.candidates.len());
        }
        let count = expander.candidates.len() as u64;
        self.search.generated.fetch_add(count, Relaxed);
        Ok(false)
    }

    /// Number the successors of a batch, keep its edges, write out and judge what is new.
    fn enter(&mut self, level: &[u32], batch: &[usize], next: &mut Vec<u32>) -> PyResult<()> {
        let candidates = std::mem::take(&mut self.worker.expander.candidates);
        for candidate in candidates.iter().take(AHEAD) {
            self.space.ids.prefetch(nonzero(candidate.fingerprint));
        }
        let mut index = 0;
        for (from, &at) in batch.iter().enumerate() {
            let state = self.space.closed() as u32;
            let kept = !self.space.all_hold(state);
            while index < self.ends[from] {
                if let Some(ahead) = candidates.get(index + AHEAD) {
                    self.space.ids.prefetch(nonzero(ahead.fingerprint));
                }
                let candidate = &candidates[index];
                let key = nonzero(candidate.fingerprint);
                let (target, new) = self.space.ids.insert(key);
                if new {
                    self.space.push(key, state);
                    let start = next.len();
                    let before = stored(level, at).words;
                    store(next, candidate.fingerprint, |out| {
                        self.worker.expander.build(before, candidate, out);
                    });
                    self.judge(&next[start + HEADER..], Some((state, before)))?;
                }
                let unit = self.units.of(&self.worker.expander, candidate)?;
                self.space.edge(kept, Edge { target, unit });
                index += 1;
            }
            self.space.close();
        }
        self.worker.expander.candidates = candidates;
        Ok(())
    }

    /// Note which properties hold in the state entered last, reached from a state judged before.
    fn judge(&mut self, words: &[u32], before: Option<(u32, &[u32])>) -> PyResult<()> {
        let state = self.space.len() as u32 - 1;
        for (at, &property) in self.properties.iter().enumerate() {
            let mirror = &self.worker.expander.mirror;
            let same = |before: &[u32]| self.judge.same(property, before, words, mirror);
            let holds = match before.filter(|(_, before)| same(before)) {
                Some((parent, _)) => self.space.holds(at, parent),
                // A predicate that raises is reported as an error; no claim is then made about it.
                None => self.judge.holds(property, words, mirror)? != Some(false),
            };
            if holds {
                self.space.set_holds(at, state);
            }
        }
        Ok(())
    }
}
