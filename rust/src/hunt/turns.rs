//! Who is next in a hunt: the part that has taken fewest steps, so that none of them starves.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::Hunt;
use super::delayed::Runs;
use super::execution::Execution;
use super::tree::Tree;
use super::walk::Walker;
use crate::search::Search;
use crate::search::delay::Buckets;
use crate::search::dice::Dice;
use crate::search::worker::Worker;

/// Ends of executions, in an order that is the same in every thread.
pub trait Source {
    /// The next one; `None` where there is nothing beyond what was met.
    fn next(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        starts: &[Execution],
    ) -> PyResult<Option<Execution>>;

    /// Whether all there is was met, if no end is left.
    fn is_complete(&self) -> bool;
}

/// A part of a hunt, and how many steps it has taken.
struct Part<'a> {
    /// Each thread takes its share of the ends, without a word; none: random executions.
    source: Option<Box<dyn Source + 'a>>,
    passed: usize,
    steps: u64,
}

impl<'a> Part<'a> {
    fn new(source: Option<Box<dyn Source + 'a>>) -> Self {
        Part {
            source,
            passed: 0,
            steps: 0,
        }
    }

    /// Whether there is another execution for this thread, and where it ends if that is known.
    fn next(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        starts: &[Execution],
        thread: usize,
    ) -> PyResult<Option<Option<Execution>>> {
        let Some(source) = &mut self.source else {
            return Ok(Some(None));
        };
        loop {
            let Some(end) = source.next(worker, hunt, starts)? else {
                return Ok(None);
            };
            self.passed += 1;
            let threads = worker.search.limits.threads;
            let (part, parts) = hunt.settings.part;
            if self.passed % (threads * parts) == part * threads + thread {
                return Ok(Some(Some(end)));
            }
        }
    }
}

impl Hunt {
    /// One thread's share of a hunt.
    pub fn work(&self, search: &Search, thread: usize) -> PyResult<()> {
        let mut worker = Worker::new(search);
        let mut walker = Walker::default();
        let starts = self.starts(&mut worker, &mut walker)?;
        let buckets = Buckets::default();
        let counts = thread == 0 && self.settings.part.0 == 0;
        let mut parts = self.parts(search, &buckets, counts)?;
        while let Some(at) = (0..parts.len()).min_by_key(|&at| parts[at].steps) {
            let Some(end) = parts[at].next(&mut worker, self, &starts, thread)? else {
                let source = parts.remove(at).source;
                let whole = source.is_some_and(|source| source.is_complete());
                let whole = whole && !search.stopping();
                self.ends.complete.fetch_max(u64::from(whole), Relaxed);
                continue;
            };
            let Some(number) = self.draw(search) else {
                return Ok(());
            };
            let before = walker.steps;
            let mut dice = Dice::new(search.limits.seed, number);
            match end {
                Some(mut end) => {
                    self.recovers(&mut worker, &mut walker, &mut end, &mut dice)?;
                }
                None => self.wander(&mut worker, &mut walker, &starts, &mut dice)?,
            }
            parts[at].steps += walker.steps - before + 1;
        }
        Ok(())
    }

    /// What takes turns.
    fn parts<'a>(
        &'a self,
        search: &Search,
        buckets: &'a Buckets,
        counts: bool,
    ) -> PyResult<Vec<Part<'a>>> {
        let mut parts = Vec::new();
        if self.settings.tree {
            let tree = Tree::new(self.settings.deeper(0), counts);
            parts.push(Part::new(Some(Box::new(tree))));
        }
        if let Some(plan) = &self.settings.delay {
            let mut runs = Runs::new(plan, search.limits.seed, buckets, counts)?;
            if let Some(words) = self.settings.run_words {
                runs.keep(words);
            }
            parts.push(Part::new(Some(Box::new(runs))));
        }
        if self.settings.random {
            parts.push(Part::new(None));
        }
        Ok(parts)
    }
}
