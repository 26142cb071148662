//! Watching an execution for the moments at which properties hold that must hold again and again.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::execution::Execution;
use crate::search::worker::Worker;

pub struct Monitor {
    /// Kernel indices of the properties, those whose violation is known left out.
    pub properties: Vec<usize>,
    pub holds: Vec<bool>,
    /// How long the execution was when each held last.
    pub last: Vec<Option<u32>>,
}

impl Monitor {
    /// Watch from the state that `execution` is in.
    pub fn begin(
        worker: &mut Worker<'_>,
        execution: &Execution,
        properties: &[usize],
    ) -> PyResult<Self> {
        let known = |&property: &usize| {
            let state = &worker.search.shared.properties[property];
            !state.decided.load(Relaxed)
        };
        let properties: Vec<usize> = properties.iter().copied().filter(known).collect();
        let mut monitor = Monitor {
            holds: vec![false; properties.len()],
            last: vec![None; properties.len()],
            properties,
        };
        monitor.judge(worker, execution, false)?;
        Ok(monitor)
    }

    /// Look again, after a step.
    pub fn look(&mut self, worker: &mut Worker<'_>, execution: &Execution) -> PyResult<()> {
        self.judge(worker, execution, true)
    }

    fn judge(
        &mut self,
        worker: &mut Worker<'_>,
        execution: &Execution,
        after: bool,
    ) -> PyResult<()> {
        for (at, &property) in self.properties.iter().enumerate() {
            let mirror = &worker.expander.mirror;
            let (before, words) = (&execution.before, &execution.words);
            if !(after && worker.judge.same(property, before, words, mirror)) {
                // A predicate that raises is reported as an error; no claim is then made about it.
                self.holds[at] = worker.judge.holds(property, words, mirror)? != Some(false);
            }
            if self.holds[at] {
                self.last[at] = Some(execution.len() as u32);
            }
        }
        Ok(())
    }

    /// Whether all hold now.
    pub fn is_live(&self) -> bool {
        self.holds.iter().all(|&holds| holds)
    }

    /// Of the properties that have not held for the last `long` steps, the one that is longest
    /// overdue.
    pub fn overdue(&self, length: usize, long: usize) -> Option<usize> {
        let since = |last: Option<u32>| last.map_or(0, |last| last as usize + 1);
        let overdue = self.last.iter().enumerate();
        overdue
            .filter(|&(at, &last)| !self.holds[at] && length + 1 - since(last) > long)
            .min_by_key(|&(_, &last)| since(last))
            .map(|(at, _)| self.properties[at])
    }
}
