//! Calm walks: no faults, the likely goes first, until everything holds that should.

use pyo3::prelude::*;

use super::Hunt;
use super::execution::Execution;
use super::monitor::Monitor;
use crate::search::dice::{Dice, Target, Weighing};
use crate::search::worker::Worker;

/// How a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// In a state where everything holds that must hold again and again.
    Live,
    /// Nothing that is likely changes anything any more.
    Rest,
    /// It was as long as a walk may be.
    Long,
    /// The search was stopped meanwhile.
    Stopped,
}

/// One thread's room for walks.
#[derive(Default)]
pub struct Walker {
    targets: Vec<Target>,
    /// How many were taken.
    pub steps: u64,
}

impl Walker {
    pub fn count(&mut self, worker: &mut Worker<'_>, steps: usize) {
        self.steps += steps as u64;
        worker.count(steps as u64);
    }

    /// Take one step by these weights; false if none is left that changes anything.
    pub fn step(
        &mut self,
        worker: &mut Worker<'_>,
        execution: &mut Execution,
        dice: &mut Dice,
        weighing: &Weighing,
    ) -> PyResult<bool> {
        worker.expander.muted = weighing.muted();
        worker.expander.candidates.clear();
        if worker.expander.list(&execution.words, execution.sum, 0)? {
            execution.check_sealed(worker)?;
        }
        self.targets.clear();
        for (position, candidate) in worker.expander.candidates.iter().enumerate() {
            if candidate.fingerprint != execution.sum {
                let weight = weighing.of(&worker.expander, candidate);
                if weight > 0 {
                    self.targets.push((candidate.fingerprint, weight, position));
                }
            }
        }
        let Some(picked) = dice.pick_weighted(&mut self.targets) else {
            return Ok(false);
        };
        let candidate = worker.expander.candidates[picked];
        execution.go(worker, &candidate)?;
        Ok(true)
    }

    /// Walk on calmly, at most `length` steps, until all that `monitor` watches holds at once.
    pub fn calm(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        execution: &mut Execution,
        dice: &mut Dice,
        (monitor, length): (&mut Monitor, usize),
    ) -> PyResult<End> {
        let begun = execution.len();
        let end = loop {
            if monitor.is_live() {
                break End::Live;
            }
            if execution.len() - begun >= length {
                break End::Long;
            }
            if worker.search.stopping() {
                break End::Stopped;
            }
            if !self.step(worker, execution, dice, &hunt.settings.calm)? {
                break End::Rest;
            }
            monitor.look(worker, execution)?;
        };
        self.count(worker, execution.len() - begun);
        Ok(end)
    }
}
