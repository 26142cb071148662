//! Random executions: faults for a while, then calm; and again, as long as it comes right.
//!
//! Each execution draws how often faults happen and whether events are weighed, since no one way
//! finds every bug: some need faults close together, some one fault long after the start, some an
//! order that is unlikely.

use pyo3::prelude::*;

use super::Hunt;
use super::execution::Execution;
use super::walk::Walker;
use crate::search::dice::Dice;
use crate::search::worker::Worker;
use crate::services::expand::Candidate;

/// A fault happens in one of so many steps; 1: as often as chance has it.
const RARENESS: [u64; 5] = [1, 3, 8, 24, 64];
/// How often an execution that came right goes on, at most.
const SPELLS: u64 = 4;

/// How one execution is drawn.
struct Mood {
    rareness: u64,
    weighed: bool,
}

impl Hunt {
    /// Take a random execution.
    pub(super) fn wander(
        &self,
        worker: &mut Worker<'_>,
        walker: &mut Walker,
        starts: &[Execution],
        dice: &mut Dice,
    ) -> PyResult<()> {
        let sums = starts.iter().map(|start| start.sum);
        let start = dice.pick(sums).expect("every system begins somewhere");
        let mut execution = starts[start].clone();
        execution.arrive(worker)?;
        if dice.below(2) == 0 && !self.recovers(worker, walker, &mut execution, dice)? {
            return Ok(());
        }
        for _ in 0..=dice.below(SPELLS) {
            let mood = Mood {
                rareness: RARENESS[dice.below(RARENESS.len() as u64) as usize],
                weighed: dice.below(2) == 0,
            };
            // As many short ones as long ones: most bugs are near, some are far.
            let most = self.settings.storm.max(1).ilog2() + 1;
            let scale = dice.below(u64::from(most));
            let steps = dice.below(2 << scale) + 1;
            self.storm(worker, walker, &mut execution, dice, (mood, steps))?;
            if worker.search.stopping() || !self.recovers(worker, walker, &mut execution, dice)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Some steps in which faults may happen.
    fn storm(
        &self,
        worker: &mut Worker<'_>,
        walker: &mut Walker,
        execution: &mut Execution,
        dice: &mut Dice,
        (mood, steps): (Mood, u64),
    ) -> PyResult<()> {
        let begun = execution.len();
        for _ in 0..steps {
            if worker.search.stopping() {
                break;
            }
            let faulty = mood.rareness > 1 && dice.below(mood.rareness) == 0;
            let moved = match (mood.rareness, faulty) {
                (1, _) => self.any(worker, execution, dice, |_, _| true)?,
                (_, true) => self.any(worker, execution, dice, |worker, candidate| {
                    worker.expander.is_fault(candidate)
                })?,
                _ if mood.weighed => walker.step(worker, execution, dice, &self.stormy)?,
                _ => self.any(worker, execution, dice, |worker, candidate| {
                    !worker.expander.is_fault(candidate)
                })?,
            };
            if !moved && !faulty {
                break;
            }
        }
        walker.count(worker, execution.len() - begun);
        Ok(())
    }

    /// Go to any successor by an event that `wanted` accepts, each as likely as any other.
    fn any(
        &self,
        worker: &mut Worker<'_>,
        execution: &mut Execution,
        dice: &mut Dice,
        wanted: impl Fn(&Worker<'_>, &Candidate) -> bool,
    ) -> PyResult<bool> {
        worker.expander.muted = 0;
        worker.expander.candidates.clear();
        if worker.expander.list(&execution.words, execution.sum, 0)? {
            self.check_deadlock(worker, execution)?;
        }
        self.check_steps(worker, execution);
        let mut candidates = std::mem::take(&mut worker.expander.candidates);
        candidates.retain(|each| each.fingerprint != execution.sum && wanted(worker, each));
        let picked = dice.pick(candidates.iter().map(|candidate| candidate.fingerprint));
        if let Some(picked) = picked {
            execution.go(worker, &candidates[picked])?;
        }
        worker.expander.candidates = candidates;
        Ok(picked.is_some())
    }
}
