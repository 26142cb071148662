//! One thread's share of a search: take states, list what can happen, keep what is new, judge it.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::reduced::Reduced;
use super::symmetric::Symmetric;
use super::{EventId, Found, Route, Search};
use crate::property::judge::Judge;
use crate::python::tables::FAULTS;
use crate::python::tables::StopReason;
use crate::services::context::Kind;
use crate::services::expand::{Candidate, EventKind, Expander};
use crate::services::path;
use crate::services::plain::Sieve;
use crate::services::rule::Rule;
use crate::table::fingerprint::nonzero;
use crate::table::recent::Recent;
use crate::table::seen::Inserted;
use crate::table::slots::Lines;

/// Words before each state in a buffer: its length, and its fingerprint sum in two halves.
pub const HEADER: usize = 3;
/// States whose successors are looked up together, so that memory latencies overlap.
pub const BATCH: usize = 32;
pub struct Worker<'a> {
    pub search: &'a Search,
    pub expander: Expander,
    pub judge: Judge,
    pub(super) fresh: Vec<u32>,
    /// What was met lately; empty in small searches, and where depths are kept.
    pub(super) recent: Recent,
    /// Where the seen table was at the end of the last batch.
    pub(super) lines: Lines,
    /// How many candidates, from the first on, are not among `recent`.
    pub(super) sifted: usize,
    pub reduced: Reduced,
    pub symmetric: Option<Box<Symmetric>>,
    faults: [u64; FAULTS.len()],
}

/// A state in a buffer.
#[derive(Clone, Copy)]
pub struct Stored<'b> {
    pub words: &'b [u32],
    pub sum: u64,
}

pub fn store(out: &mut Vec<u32>, sum: u64, write: impl FnOnce(&mut Vec<u32>)) {
    let start = out.len();
    out.extend_from_slice(&[0, sum as u32, (sum >> 32) as u32]);
    write(out);
    out[start] = (out.len() - start - HEADER) as u32;
}

pub fn stored(buffer: &[u32], at: usize) -> Stored<'_> {
    let length = buffer[at] as usize;
    Stored {
        words: &buffer[at + HEADER..at + HEADER + length],
        sum: u64::from(buffer[at + 1]) | (u64::from(buffer[at + 2]) << 32),
    }
}

impl<'a> Worker<'a> {
    pub fn new(search: &'a Search) -> Self {
        let mut expander = Expander::new(search.shared.clone());
        expander.rule = Rule::filtering(search.filters.as_ref());
        Worker {
            search,
            expander,
            judge: Judge::new(search.shared.clone()),
            fresh: Vec::new(),
            recent: Recent::default(),
            lines: Lines::NOWHERE,
            sifted: 0,
            reduced: Reduced::default(),
            symmetric: search.shared.symmetry.as_ref().map(|_| Box::default()),
            faults: Default::default(),
        }
    }

    /// Learn what other threads have learnt: before working on states that they made.
    pub fn sync(&mut self) {
        self.expander.sync();
        self.judge.sync();
    }

    /// Put the initial states into `out` and judge them. One thread does this, before all else.
    pub fn begin(&mut self, out: &mut Vec<u32>) -> PyResult<()> {
        if self.search.representatives {
            return self.begin_symmetric(out);
        }
        self.search.depth.fetch_max(1, Relaxed);
        for (index, initial) in self.search.initial.iter().enumerate() {
            self.search.generated.fetch_add(1, Relaxed);
            self.broken(initial.broken, 0, || Route::Walked(index, Vec::new()));
            self.search.seen.reserve(1);
            let key = nonzero(initial.sum);
            if self.search.seen.read().insert(key, 0, 1) == Inserted::New {
                self.search.seen.add(1);
                self.search.frontier.fetch_add(1, Relaxed);
                store(out, initial.sum, |out| {
                    out.extend_from_slice(&initial.words);
                    self.search.begin_reduced(key, out);
                });
                let words = &initial.words;
                self.check_state(words, None, 0, || Route::Walked(index, Vec::new()))?;
            }
        }
        Ok(())
    }

    /// Expand the states at `offsets` of `buffer`, all `depth` deep; new states go to `out`. False
    /// if the search stops and a batch, with all after it, was not begun.
    pub fn expand(
        &mut self,
        buffer: &[u32],
        offsets: &[usize],
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<bool> {
        if let Some(table) = &self.search.sleep {
            return self.expand_reduced(table, (buffer, offsets), depth, out);
        }
        if self.symmetric.is_some() {
            return self.expand_symmetric(buffer, offsets, depth, out);
        }
        for batch in offsets.chunks(BATCH) {
            if self.search.stopping() {
                return Ok(false);
            }
            self.list(buffer, batch, depth)?;
            self.insert(buffer, batch, depth);
            self.keep(buffer, batch, depth, out)?;
        }
        Ok(true)
    }

    pub fn list(&mut self, buffer: &[u32], batch: &[usize], depth: u32) -> PyResult<()> {
        self.expander.candidates.clear();
        self.sifted = 0;
        let (mut steps, mut plain) = (0, self.expander.is_plain());
        for (from, &at) in batch.iter().enumerate() {
            let (state, from) = (stored(buffer, at), from as u32);
            let first = self.expander.candidates.len();
            if plain && let Some(listed) = self.list_plain(state, from, depth)? {
                steps += u64::from(listed);
                self.sifted = self.expander.candidates.len();
            } else {
                plain = false;
                self.list_one(state, from, depth)?;
                steps += (self.expander.candidates.len() - first) as u64;
            }
        }
        self.count(steps);
        Ok(())
    }

    /// List one state behind what is listed, without the steps that change nothing and those to
    /// where this thread was lately, and judge rest; no step needs judging. Gives how many steps
    /// there are. `None` if one needs judging, and nothing was done.
    #[inline(always)]
    fn list_plain(&mut self, state: Stored<'_>, from: u32, depth: u32) -> PyResult<Option<u32>> {
        let sieve = Sieve {
            recent: &self.recent,
            lines: self.lines,
        };
        let state_at = (state.words, state.sum);
        let listed = self.expander.list_plain(sieve, state_at, from)?;
        let Some(tally) = listed else {
            self.recent.clear(); // what it holds of this state was not listed
            return Ok(None);
        };
        if tally.idle == tally.steps {
            self.check_rest(state, depth - 1)?;
        }
        Ok(Some(tally.steps))
    }

    /// List one state behind what is listed, and judge rest and steps.
    #[inline(always)]
    fn list_one(&mut self, state: Stored<'_>, from: u32, depth: u32) -> PyResult<()> {
        let first = self.expander.candidates.len();
        if self.expander.list(state.words, state.sum, from)? {
            self.check_rest(state, depth - 1)?;
        }
        for index in first..self.expander.candidates.len() {
            self.check_step(index, state.sum, depth);
        }
        Ok(())
    }

    /// List one state that was never visited, `depth` deep, and judge rest and steps.
    pub fn visit(&mut self, (words, sum): (&[u32], u64), depth: u32) -> PyResult<()> {
        self.expander.candidates.clear();
        self.list_one(Stored { words, sum }, 0, depth)?;
        self.count(self.expander.candidates.len() as u64);
        Ok(())
    }

    /// Add to the counters that all threads share: once a batch, since they are contended.
    pub fn count(&mut self, generated: u64) {
        self.search.generated.fetch_add(generated, Relaxed);
        for (total, own) in self.search.faults.iter().zip(&mut self.faults) {
            if *own > 0 {
                total.fetch_add(std::mem::take(own), Relaxed);
            }
        }
    }

    /// Forget what was counted: another thread counts the same.
    pub fn discount(&mut self) {
        self.faults = Default::default();
    }

    pub fn count_fault(&mut self, candidate: &Candidate) {
        if let Some(fault) = self.expander.fault_of(candidate) {
            self.faults[fault] += 1;
        }
    }

    /// Count faults, and report the properties that this very step breaks.
    #[inline(always)]
    fn check_step(&mut self, index: usize, sum: u64, depth: u32) {
        let candidate = self.expander.candidates[index];
        self.count_fault(&candidate);
        self.check_broken(index, sum, depth);
    }

    #[inline(always)]
    pub fn check_broken(&mut self, index: usize, sum: u64, depth: u32) {
        let candidate = self.expander.candidates[index];
        let broken = self.expander.broken_by(&candidate);
        if broken != 0 {
            let happened = self.happened(&candidate, &[]);
            self.broken(broken, depth, || Route::Seen(nonzero(sum), Some(happened)));
        }
    }

    pub fn broken(&self, mut broken: u64, length: u32, route: impl Fn() -> Route) {
        while broken != 0 {
            let property = broken.trailing_zeros() as usize;
            broken &= broken - 1;
            self.found(property, length, route());
        }
    }

    pub fn found(&self, property: usize, length: u32, route: Route) {
        if let Some(ahead) = &self.search.ahead {
            return ahead.surprise();
        }
        let state = &self.search.shared.properties[property];
        self.search.report(Found {
            property,
            length,
            delays: self.search.delays.load(Relaxed),
            route,
        });
        let first = !state.decided.swap(true, Relaxed);
        if state.kind == Kind::Sometimes {
            return;
        }
        if first {
            path::hand_over(self.search, property);
        }
        if !self.search.limits.keep_going || state.kind == Kind::Seal {
            self.search.stop(StopReason::Violation);
        }
    }

    /// Write out and judge what was new.
    fn keep(
        &mut self,
        buffer: &[u32],
        batch: &[usize],
        depth: u32,
        out: &mut Vec<u32>,
    ) -> PyResult<()> {
        let fresh = std::mem::take(&mut self.fresh);
        let mut at = out.len();
        for &index in &fresh {
            let candidate = self.expander.candidates[index as usize];
            let from = stored(buffer, batch[candidate.from as usize]);
            store(out, candidate.fingerprint, |out| {
                self.expander.build(from.words, &candidate, out);
            });
        }
        // Apart from building, so that what is looked up for several states overlaps.
        for &index in &fresh {
            let candidate = self.expander.candidates[index as usize];
            let from = stored(buffer, batch[candidate.from as usize]);
            let words = stored(out, at).words;
            let key = nonzero(candidate.fingerprint);
            self.check_state(words, Some(from.words), depth, || Route::Seen(key, None))?;
            at += HEADER + words.len();
        }
        if !fresh.is_empty() {
            self.search.reach(depth as usize + 1);
            self.search.check_states();
        }
        let more = fresh.len().wrapping_sub(batch.len());
        self.search.frontier.fetch_add(more, Relaxed); // wraps around, as the difference may
        self.fresh = fresh;
        Ok(())
    }

    /// Judge `always` and `sometimes` in a state reached by `length` steps. `before` is one that
    /// was judged already: where nothing that a property reads has changed, nor has its verdict.
    pub fn check_state(
        &mut self,
        words: &[u32],
        before: Option<&[u32]>,
        length: u32,
        route: impl Fn() -> Route,
    ) -> PyResult<()> {
        for property in 0..self.search.shared.properties.len() {
            let state = &self.search.shared.properties[property];
            let telling = match state.kind {
                Kind::Always => false,
                Kind::Sometimes => true,
                Kind::AtRest | Kind::Step | Kind::Seal => continue,
            };
            if state.decided.load(Relaxed) {
                continue; // there is nothing more to learn about it
            }
            let (judge, mirror) = (&self.judge, &self.expander.mirror);
            let same = |before: &[u32]| judge.same(property, before, words, mirror);
            if !judge.is_quick(property) && before.is_some_and(same) {
                continue;
            }
            if self.judge(property, words)? == Some(telling) {
                self.found(property, length, route());
            }
        }
        Ok(())
    }

    /// The verdict, or `None` where there is nothing more to learn about the property, or where it
    /// cannot be said of this state.
    #[inline]
    pub fn judge(&mut self, property: usize, words: &[u32]) -> PyResult<Option<bool>> {
        let state = &self.search.shared.properties[property];
        if state.decided.load(Relaxed) || self.search.leaves_unjudged(property) {
            return Ok(None);
        }
        let mirror = &self.expander.mirror;
        let Some(verdict) = self.judge.verdict(property, words, mirror)? else {
            if let Some(ahead) = &self.search.ahead {
                ahead.surprise();
                return Ok(None);
            }
            state.decided.store(true, Relaxed);
            return Ok(None);
        };
        let holds = verdict.holds();
        if let Some(holds) = holds {
            self.compare(property, words, holds)?;
        }
        Ok(holds)
    }

    /// Name the event of a candidate. `words` are those of the state it starts from.
    pub fn happened(&self, candidate: &Candidate, words: &[u32]) -> EventId {
        if let Some(effect) = self.expander.effects.get(candidate.effect) {
            return EventId {
                what: candidate.what,
                node: effect.node,
                origin: effect.origin,
                branch: effect.branch,
            };
        }
        let mirror = &self.expander.mirror;
        let network = |node, origin| EventId {
            what: candidate.what,
            node,
            origin,
            branch: 0,
        };
        match candidate.what {
            EventKind::Split => return network(0, candidate.word),
            EventKind::Heal => return network(0, 0),
            EventKind::Cut | EventKind::Sever | EventKind::Idle => {
                let word = words[candidate.word as usize];
                let ends = mirror.links[word as usize].link.ends;
                return network(ends[0], ends[1]);
            }
            _ => {}
        }
        let envelope = self.expander.envelope_at(words, candidate.word);
        debug_assert!(matches!(
            candidate.what,
            EventKind::Drop | EventKind::Shed | EventKind::Duplicate
        ));
        network(mirror.envelopes[envelope.index()].to, envelope.number())
    }
}
