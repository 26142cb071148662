//! Who looks on while executions are explored: counts, limits, findings.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::findings::Findings;
use super::state::State;
use super::watch::Gauge;
use super::world::World;
use crate::python::tables::StopReason;
use crate::reduce::por::{Counts, End, Step, Visitor};

pub struct Recorder<'a> {
    pub gauge: &'a Gauge,
    pub counts: Counts,
    /// Times that a process was not allowed to test in vain once more.
    pub spun: u64,
    pub findings: Findings,
    pub depth: usize,
    pub runs: u64,
    pub keep_going: bool,
    /// The first execution that ended well, and whether that is all that is looked for.
    pub passed: Option<Vec<Step>>,
    pub until_pass: bool,
    /// Whether it matters which steps depend on each other.
    pub reduces: bool,
    /// Called with each execution and how it ended.
    pub each: Option<Py<PyAny>>,
}

impl Recorder<'_> {
    fn found(&self) -> bool {
        if !self.keep_going {
            self.gauge.driver.stop(StopReason::Violation);
        }
        self.keep_going
    }
}

impl Visitor<World> for Recorder<'_> {
    fn enter(&mut self, world: &mut World, state: &State, path: &[Step]) -> PyResult<bool> {
        self.counts.enter(path);
        self.gauge.nodes.store(self.counts.nodes, Relaxed);
        let mover = path.last().map(|step| step.process);
        if !self
            .findings
            .inspect(world, state, mover, || path.to_vec())?
            && !self.found()
        {
            return Ok(false);
        }
        self.spun += mover.is_some_and(|mover| world.has_spun(state, mover)) as u64;
        let weak = self.reduces && world.memo.weakened;
        Ok(!weak && !self.gauge.driver.stopping())
    }

    fn end(&mut self, world: &mut World, state: &State, path: &[Step], how: End) -> PyResult<bool> {
        // One whose guesses were wrong was begun in vain.
        let how = match how {
            End::Over if world.is_wrong(state) => End::Asleep,
            how => how,
        };
        let ended = self.counts.end(how);
        self.gauge.traces.store(self.counts.traces, Relaxed);
        self.gauge.depth.store(self.counts.depth as u64, Relaxed);
        if let Some(each) = &self.each {
            Python::attach(|py| {
                let path: Vec<(u32, i32)> = path.iter().map(Step::pair).collect();
                let how = match how {
                    End::Over => "over",
                    End::Asleep => "asleep",
                    End::Cut => "cut",
                };
                each.call1(py, (path, how))
            })?;
        }
        let well = how != End::Over || self.findings.inspect_end(state, || path.to_vec());
        if how == End::Over
            && let Some((taken, state)) = world.blocked(path)?
        {
            // With room it may go wrong in another way, so this does not end the search.
            self.findings.inspect_end(&state, || taken.clone());
        }
        if how == End::Over && self.passed.is_none() && state.ended_well() {
            self.passed = Some(path.to_vec());
            if self.until_pass {
                self.gauge.driver.stop(StopReason::Passed);
                return Ok(false);
            }
        }
        if !well && !self.found() {
            return Ok(false);
        }
        if ended >= self.runs {
            self.gauge.driver.stop(StopReason::Runs);
            return Ok(false);
        }
        Ok(!world.memo.grew)
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn restart(&mut self, world: &mut World) -> bool {
        let again = world.memo.grew || self.reduces && world.memo.weakened;
        if !again || self.gauge.driver.stopping() {
            return false;
        }
        (self.counts, self.spun, self.passed) = (Counts::default(), 0, None);
        self.findings.all.clear();
        (world.memo.weakened, world.memo.grew) = (false, false);
        true
    }
}
