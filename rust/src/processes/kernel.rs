//! The kernel of processes as Python sees it.

use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Mutex, MutexGuard};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::findings::{Findings, Wanted, pairs};
use super::memo::Memo;
use super::met::Met;
use super::recorder::Recorder;
use super::verify::verify;
use super::watch::Gauge;
use super::world::World;
use super::{bfs, delay};
use crate::python::outcome::Outcome;
use crate::reduce::por::{self, Counts, Reduction};
use crate::search::Limits;
use crate::search::delay::Plan;

/// Processes, by their first local states, and what has been learned of them.
///
/// `bridge.op(local)` tells what a process asks at its first local state, as `(opcode, args)`;
/// `bridge.advance(local, choice, payload, key0, key1)` gives `[(local, opcode, args), ...]`;
/// `bridge.judge(published)`, if wanted, the numbers of what is broken, where `published` is a
/// tuple of (process, key, value).
#[pyclass(frozen)]
pub struct ProcessKernel {
    bridge: Py<PyAny>,
    world: Mutex<World>,
    wanted: Wanted,
}

#[pymethods]
impl ProcessKernel {
    #[new]
    #[pyo3(signature = (bridge, processes, *, spins=0, unmatched=false, judge=false))]
    fn new(
        py: Python<'_>,
        bridge: Py<PyAny>,
        processes: Vec<(u32, bool)>,
        spins: u32,
        unmatched: bool,
        judge: bool,
    ) -> Self {
        let world = World {
            memo: Memo::new(bridge.clone_ref(py)),
            initial: processes,
            spins,
            runs: 0,
        };
        ProcessKernel {
            bridge,
            world: Mutex::new(world),
            wanted: Wanted { unmatched, judge },
        }
    }

    /// Explore executions; `reduction` is none, dpor, sdpor or odpor. `each` is called with the
    /// path of every execution and how it ended: over, asleep or cut; after a restart, again.
    /// The path of the first that ended well is `passed`; with `until_pass` it is the last.
    #[pyo3(signature = (
        reduction="odpor", limits=None, progress=None, *, each=None, until_pass=false
    ))]
    fn explore(
        &self,
        py: Python<'_>,
        reduction: &str,
        limits: Option<Limits>,
        progress: Option<Py<PyAny>>,
        each: Option<Py<PyAny>>,
        until_pass: bool,
    ) -> PyResult<Outcome> {
        let reduction = Reduction::named(reduction)?;
        let limits = limits.unwrap_or_default();
        let mut world = self.claim()?;
        let gauge = Gauge::new(limits.seconds);
        let mut look = Recorder {
            gauge: &gauge,
            counts: Counts::default(),
            spun: 0,
            findings: self.findings(py),
            depth: limits.depth as usize,
            runs: limits.walks,
            keep_going: limits.keep_going,
            passed: None,
            until_pass,
            reduces: reduction != Reduction::None,
            each,
        };
        let (world, mut restarts) = (&mut *world, 0u32);
        let before = (world.runs, world.memo.asked);
        let work = || restarting(world, &mut look, reduction).map(|times| restarts = times);
        let seconds = gauge.supervise(py, progress.as_ref(), work)?;
        let counts = &look.counts;
        Ok(Outcome {
            unique: counts.nodes,
            generated: world.runs - before.0 + 1,
            depth: counts.depth,
            seconds,
            stopped_by: gauge.driver.reason(),
            cut: counts.truncated > 0,
            traces: counts.traces,
            blocked: counts.blocked,
            restarts,
            spun: look.spun,
            handler_runs: world.memo.asked - before.1,
            run_findings: look.findings.outcome(py)?,
            passed: look.passed.as_deref().map(pairs),
            ..Outcome::default()
        })
    }

    /// Search through distinct states: breadth first, or with a plan in the order of delays.
    #[pyo3(signature = (limits=None, progress=None, plan=None))]
    fn search(
        &self,
        py: Python<'_>,
        limits: Option<Limits>,
        progress: Option<Py<PyAny>>,
        plan: Option<Plan>,
    ) -> PyResult<Outcome> {
        let limits = limits.unwrap_or_default();
        let mut world = self.claim()?;
        let gauge = Gauge::new(limits.seconds);
        let mut met = Met::new(&gauge, self.findings(py), &limits);
        let world = &mut *world;
        let (before, mut bounds) = (world.memo.asked, Vec::new());
        let work = || loop {
            world.memo.grew = false;
            match &plan {
                None => bfs::search(&mut met, world)?,
                Some(plan) => bounds = delay::search(&mut met, world, plan, limits.seed)?,
            }
            if !world.memo.grew || gauge.driver.stopping() {
                return Ok(());
            }
            met.restart();
        };
        let seconds = gauge.supervise(py, progress.as_ref(), work)?;
        Ok(Outcome {
            unique: met.unique() as u64,
            generated: met.generated,
            depth: met.deepest,
            seconds,
            stopped_by: gauge.driver.reason(),
            cut: met.truncated,
            spun: met.spun,
            walks: gauge.traces.load(Relaxed),
            delays: gauge.delays.load(Relaxed),
            bounds,
            handler_runs: world.memo.asked - before,
            run_findings: met.findings.outcome(py)?,
            ..Outcome::default()
        })
    }

    /// Try out the relation of dependence in up to `states` states: (what is wrong, pairs tried).
    fn verify(&self, py: Python<'_>, states: usize) -> PyResult<(Vec<String>, u64)> {
        let mut world = self.claim()?;
        let world = &mut *world;
        py.detach(|| verify(world, states))
    }
}

impl ProcessKernel {
    /// The world, for one exploration. Waiting for it might wait for who waits for Python.
    fn claim(&self) -> PyResult<MutexGuard<'_, World>> {
        let busy = || PyRuntimeError::new_err("this kernel is exploring already");
        self.world.try_lock().ok_or_else(busy)
    }

    fn findings(&self, py: Python<'_>) -> Findings {
        Findings::new(self.wanted, self.bridge.clone_ref(py))
    }
}

/// Explore, and again as long as the relation of dependence turns out too weak: see `memo.rs`.
fn restarting(world: &mut World, look: &mut Recorder<'_>, reduction: Reduction) -> PyResult<u32> {
    (world.memo.weakened, world.memo.grew) = (false, false);
    por::restarting(world, look, |world, look| {
        por::explore(world, reduction, look)
    })
}
