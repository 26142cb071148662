//! The systematic part of a hunt: all executions up to a number of choices, depth first.
//!
//! A choice is a state with more than one successor. In one round each state is followed once, and
//! again if it is met after fewer choices: then more lies within the bound behind it. Successors
//! are taken in the order of their fingerprints, mixed with the seed, so every thread goes through
//! the same tree in the same order and can take its share of the leaves without a word.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::Hunt;
use super::execution::Execution;
use super::turns::Source;
use crate::search::worker::Worker;
use crate::services::expand::Candidate;
use crate::table::fingerprint::{nonzero, scramble};

/// A leaf at the latest after so many steps for each choice: some systems go on for ever without
/// giving any.
const STEPS_PER_CHOICE: usize = 20;

struct Frame {
    execution: Execution,
    successors: Vec<Candidate>,
    next: usize,
    choices: u32,
}

pub struct Tree {
    /// How many choices are made before a leaf.
    pub bound: u32,
    start: usize,
    /// How long the execution is that this start is the end of.
    begun: usize,
    stack: Vec<Frame>,
    /// Fingerprint to fewest choices, in this round.
    met: FxHashMap<u64, u32>,
    /// Whether this round met a leaf, which a deeper round can grow from.
    cut: bool,
    /// All threads go through the same tree: one of them counts.
    counts: bool,
}

impl Source for Tree {
    /// The next leaf: where as many choices were made as may be, or nothing more can happen.
    /// `None` where there is nothing beyond what was met.
    fn next(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        starts: &[Execution],
    ) -> PyResult<Option<Execution>> {
        loop {
            if worker.search.stopping() {
                return Ok(None);
            }
            if self.stack.is_empty() && !self.begin(hunt, starts) {
                return Ok(None);
            }
            let Some(frame) = self.stack.last_mut() else {
                let start = &starts[self.start - 1];
                start.arrive(worker)?;
                self.begun = start.len();
                if let Some(leaf) = self.enter(worker, hunt, start.clone(), 0)? {
                    return Ok(Some(leaf));
                }
                continue;
            };
            let Some(&candidate) = frame.successors.get(frame.next) else {
                self.stack.pop();
                continue;
            };
            frame.next += 1;
            let several = frame.successors.len() > 1 || hunt.settings.by_steps;
            let choices = frame.choices + u32::from(several);
            let mut execution = frame.execution.clone();
            execution.go(worker, &candidate)?;
            match self.counts {
                true => worker.count(1),
                false => worker.discount(),
            }
            if let Some(leaf) = self.enter(worker, hunt, execution, choices)? {
                return Ok(Some(leaf));
            }
        }
    }

    fn is_complete(&self) -> bool {
        !self.cut
    }
}

impl Tree {
    pub fn new(bound: u32, counts: bool) -> Self {
        Tree {
            bound,
            counts,
            start: 0,
            begun: 0,
            stack: Vec::new(),
            met: FxHashMap::default(),
            cut: false,
        }
    }

    /// Go on to the next start, or to the next round; false if no round can meet anything new.
    fn begin(&mut self, hunt: &Hunt, starts: &[Execution]) -> bool {
        if self.start == starts.len() {
            if !self.cut || self.bound >= hunt.settings.depth {
                return false;
            }
            self.start = 0;
            self.bound = hunt.settings.deeper(self.bound);
            self.met.clear();
            self.cut = false;
        }
        self.start += 1;
        let depth = &hunt.ends.depth;
        depth.fetch_max(u64::from(self.bound), Relaxed);
        true
    }

    /// Enter a state; gives it back if it is a leaf.
    fn enter(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        execution: Execution,
        choices: u32,
    ) -> PyResult<Option<Execution>> {
        let known = self.met.entry(nonzero(execution.sum)).or_insert(u32::MAX);
        if *known <= choices {
            hunt.ends
                .duplicate
                .fetch_add(u64::from(self.counts), Relaxed);
            return Ok(None);
        }
        *known = choices;
        hunt.meet(worker.search, execution.sum, execution.len());
        let forced = self.bound as usize * STEPS_PER_CHOICE;
        if choices >= self.bound || execution.len() - self.begun >= forced {
            self.cut = true;
            return Ok(Some(execution));
        }
        let successors = self.successors(worker, hunt, &execution)?;
        if successors.is_empty() {
            return Ok(Some(execution));
        }
        self.stack.push(Frame {
            execution,
            successors,
            next: 0,
            choices,
        });
        Ok(None)
    }

    /// What can happen next and changes something, once per state it leads to.
    fn successors(
        &self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        execution: &Execution,
    ) -> PyResult<Vec<Candidate>> {
        worker.expander.muted = 0;
        worker.expander.candidates.clear();
        let at_rest = worker.expander.list(&execution.words, execution.sum, 0)?;
        if at_rest {
            hunt.check_deadlock(worker, execution)?;
        }
        hunt.check_steps(worker, execution);
        let seed = worker.search.limits.seed;
        let mut successors = worker.expander.candidates.clone();
        successors.retain(|candidate| candidate.fingerprint != execution.sum);
        let order = |candidate: &Candidate| scramble(candidate.fingerprint ^ scramble(seed));
        if hunt.settings.likely_first {
            let likely = |candidate: &Candidate| hunt.settings.calm.of(&worker.expander, candidate);
            successors.sort_by_key(|each| (u64::MAX - likely(each), order(each)));
        } else {
            successors.sort_by_key(order);
        }
        successors.dedup_by_key(|candidate| candidate.fingerprint);
        Ok(successors)
    }
}
