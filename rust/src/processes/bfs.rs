//! Breadth first over distinct states: shortest paths, and no state twice.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::findings::Findings;
use super::state::State;
use super::watch::Gauge;
use super::world::World;
use crate::python::tables::StopReason;
use crate::reduce::por::{Machine, Step};
use crate::table::seen::{Inserted, Seen};

const ROOT: u32 = u32::MAX;

pub struct Search<'a> {
    pub gauge: &'a Gauge,
    pub findings: Findings,
    pub depth: usize,
    pub states: usize,
    pub keep_going: bool,
    /// Per state, in the order found: the one before it, and the step between.
    origins: Vec<(u32, Step)>,
    seen: Seen,
    pub generated: u64,
    pub deepest: usize,
    /// Something was left out because of the depth limit.
    pub truncated: bool,
    /// Times that a process was not allowed to test in vain once more.
    pub spun: u64,
}

impl<'a> Search<'a> {
    pub fn new(gauge: &'a Gauge, findings: Findings, keep_going: bool) -> Self {
        Search {
            gauge,
            findings,
            depth: usize::MAX,
            states: usize::MAX,
            keep_going,
            origins: Vec::new(),
            seen: Seen::new(false),
            generated: 0,
            deepest: 0,
            truncated: false,
            spun: 0,
        }
    }

    pub fn unique(&self) -> usize {
        self.origins.len()
    }

    pub fn run(&mut self, world: &mut World) -> PyResult<()> {
        let start = world.start()?;
        let mut queue = VecDeque::new();
        let mut spare = Vec::new();
        let none = Step {
            process: 0,
            choice: 0,
        };
        self.meet(world, &start, (ROOT, none))?;
        queue.push_back((0u32, 0usize, start));
        let mut steps = Vec::new();
        while let Some((at, depth, state)) = queue.pop_front() {
            if self.gauge.driver.stopping() {
                break;
            }
            steps.clear();
            world.enabled(&state, &mut steps)?;
            if steps.is_empty() {
                let origins = &self.origins;
                let well = self.findings.inspect_end(&state, || path(origins, at));
                self.stop_on_interrupt(well);
            } else if depth >= self.depth {
                self.truncated = true;
                steps.clear();
            }
            for &step in &steps {
                let mut next: State = spare.pop().unwrap_or_default();
                next.clone_from(&state);
                world.run(&mut next, step)?;
                self.generated += 1;
                if self.meet(world, &next, (at, step))? {
                    self.deepest = self.deepest.max(depth + 1);
                    queue.push_back((self.unique() as u32 - 1, depth + 1, next));
                } else {
                    spare.push(next);
                }
            }
            spare.push(state);
        }
        Ok(())
    }

    /// Whether a state is new; if so, judge it.
    fn meet(&mut self, world: &World, state: &State, origin: (u32, Step)) -> PyResult<bool> {
        self.seen.reserve(1);
        let found = self.seen.read().insert(state.fingerprint(), 0, 0);
        if found != Inserted::New {
            return Ok(false);
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
        self.stop_on_interrupt(well);
        if self.unique() >= self.states {
            self.gauge.driver.stop(StopReason::States);
        }
        Ok(true)
    }

    fn stop_on_interrupt(&self, well: bool) {
        if !well && !self.keep_going {
            self.gauge.driver.stop(StopReason::Violation);
        }
    }
}

fn path(origins: &[(u32, Step)], mut at: u32) -> Vec<Step> {
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
