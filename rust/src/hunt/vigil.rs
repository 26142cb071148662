//! Watching an execution for the moments at which properties hold that must hold again and again.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::journey::Journey;
use crate::search::worker::Worker;

pub struct Vigil {
    /// Kernel indices of the properties, those whose violation is known left out.
    pub properties: Vec<usize>,
    pub holds: Vec<bool>,
    /// How long the execution was when each held last.
    pub last: Vec<Option<u32>>,
}

impl Vigil {
    /// Watch from the state that `journey` is in.
    pub fn begin(
        worker: &mut Worker<'_>,
        journey: &Journey,
        properties: &[usize],
    ) -> PyResult<Self> {
        let known = |&property: &usize| {
            let state = &worker.search.shared.properties[property];
            !state.decided.load(Relaxed)
        };
        let properties: Vec<usize> = properties.iter().copied().filter(known).collect();
        let mut vigil = Vigil {
            holds: vec![false; properties.len()],
            last: vec![None; properties.len()],
            properties,
        };
        vigil.judge(worker, journey, false)?;
        Ok(vigil)
    }

    /// Look again, after a step.
    pub fn look(&mut self, worker: &mut Worker<'_>, journey: &Journey) -> PyResult<()> {
        self.judge(worker, journey, true)
    }

    fn judge(&mut self, worker: &mut Worker<'_>, journey: &Journey, after: bool) -> PyResult<()> {
        for (at, &property) in self.properties.iter().enumerate() {
            let mirror = &worker.expander.mirror;
            let (before, words) = (&journey.before, &journey.words);
            if !(after && worker.judge.same(property, before, words, mirror)) {
                // A predicate that raises is reported as an error; no claim is then made about it.
                self.holds[at] = worker.judge.holds(property, words, mirror)? != Some(false);
            }
            if self.holds[at] {
                self.last[at] = Some(journey.len() as u32);
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
