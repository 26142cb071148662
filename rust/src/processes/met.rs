//! The states that were met: which one each was reached from, and what is wrong in it.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::findings::Findings;
use super::state::State;
use super::watch::Gauge;
use super::world::World;
use crate::python::tables::StopReason;
use crate::reduce::por::{Machine, Step};
use crate::search::Limits;
use crate::table::seen::{Inserted, Seen};

const ROOT: u32 = u32::MAX;

/// From which state, by its number, and by which step.
pub type Origin = (u32, Step);

pub const START: Origin = (
    ROOT,
    Step {
        process: 0,
        choice: 0,
    },
);

pub struct Met<'a> {
    pub gauge: &'a Gauge,
    pub findings: Findings,
    depth: usize,
    states: usize,
    keep_going: bool,
    /// Per state, in the order found: the one before it, and the step between.
    origins: Vec<Origin>,
    seen: Seen,
    pub generated: u64,
    pub deepest: usize,
    /// Something was left out because of the depth limit.
    pub truncated: bool,
    /// Times that a process was not allowed to test in vain once more.
    pub spun: u64,
}

impl<'a> Met<'a> {
    pub fn new(gauge: &'a Gauge, findings: Findings, limits: &Limits) -> Self {
        Met {
            gauge,
            findings,
            depth: limits.depth as usize,
            states: limits.states,
            keep_going: limits.keep_going,
            origins: Vec::new(),
            seen: Seen::new(false),
            generated: 0,
            deepest: 0,
            truncated: false,
            spun: 0,
        }
    }

    /// Forget what was met: there is more to guess than was known.
    pub fn restart(&mut self) {
        (self.origins, self.seen) = (Vec::new(), Seen::new(false));
        (self.generated, self.deepest, self.spun) = (0, 0, 0);
        self.truncated = false;
        self.findings.all.clear();
    }

    pub fn unique(&self) -> usize {
        self.origins.len()
    }

    /// Run a step of the state with the number `at`, so many steps from the start, on a copy of it;
    /// gives the number of the state it leads to if that is new, which is then judged.
    pub fn run(
        &mut self,
        world: &mut World,
        next: &mut State,
        (at, step): Origin,
        depth: usize,
    ) -> PyResult<Option<u32>> {
        world.run(next, step)?;
        self.generated += 1;
        let known = self.meet(world, next, (at, step))?;
        if known.is_some() {
            self.deepest = self.deepest.max(depth + 1);
        }
        Ok(known)
    }

    /// The number of a state that is new; then judge it.
    pub fn meet(&mut self, world: &World, state: &State, origin: Origin) -> PyResult<Option<u32>> {
        self.seen.reserve(1);
        let found = self.seen.read().insert(state.fingerprint(), 0, 0);
        if found != Inserted::New {
            return Ok(None);
        }
        self.seen.add(1);
        let at = self.origins.len() as u32;
        self.origins.push(origin);
        self.gauge.nodes.store(self.unique() as u64, Relaxed);
        self.gauge.depth.store(self.deepest as u64, Relaxed);
        let mover = (origin.0 != ROOT).then_some(origin.1.process);
        self.spun += mover.is_some_and(|mover| world.has_spun(state, mover)) as u64;
        let origins = &self.origins;
        let well = self
            .findings
            .inspect(world, state, mover, || path(origins, at))?;
        self.stop_unless(well);
        if self.unique() >= self.states {
            self.gauge.driver.stop(StopReason::States);
        }
        Ok(Some(at))
    }

    /// List what can happen in a state, so many steps from the start; nothing if it is too deep.
    /// Where nothing can, judge that.
    pub fn list(
        &mut self,
        world: &mut World,
        (at, state): (u32, &State),
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> PyResult<()> {
        steps.clear();
        world.enabled(state, steps)?;
        if world.is_blocked(state, steps) {
            let origins = &self.origins;
            let well = self.findings.inspect_end(state, || path(origins, at));
            self.stop_unless(well || !steps.is_empty());
        }
        if !steps.is_empty() && depth >= self.depth {
            self.truncated = true;
            steps.clear();
        }
        Ok(())
    }

    fn stop_unless(&self, well: bool) {
        if !well && !self.keep_going {
            self.gauge.driver.stop(StopReason::Violation);
        }
    }
}

fn path(origins: &[Origin], mut at: u32) -> Vec<Step> {
    let mut path = Vec::new();
    while at != ROOT {
        let (before, step) = origins[at as usize];
        if before != ROOT {
            path.push(step);
        }
        at = before;
    }
    path.reverse();
    path
}
