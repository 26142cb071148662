//! The kernel of processes as Python sees it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Mutex, MutexGuard};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::crew::Crew;
use super::findings::{Findings, Wanted};
use super::memo::Memo;
use super::met::Met;
use super::recorder::Recorder;
use super::verify::verify;
use super::watch::Gauge;
use super::world::World;
use super::{bfs, delay};
use crate::python::outcome::Outcome;
use crate::reduce::por::{self, Closing, Pool, Reduction};
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
    /// `hand_overs`: the seed of dice that say which parts are explored ahead, and when; for tests.
    #[pyo3(signature = (
        reduction="odpor", limits=None, progress=None, *, each=None, until_pass=false,
        hand_overs=None
    ))]
    #[allow(clippy::too_many_arguments)] // keywords of Python
    fn explore(
        &self,
        py: Python<'_>,
        reduction: &str,
        limits: Option<Limits>,
        progress: Option<Py<PyAny>>,
        each: Option<Py<PyAny>>,
        until_pass: bool,
        hand_overs: Option<u64>,
    ) -> PyResult<Outcome> {
        let reduction = Reduction::named(reduction)?;
        let limits = limits.unwrap_or_default();
        let mut world = self.claim()?;
        let shared = (limits.threads > 1 || hand_overs.is_some()) && !until_pass;
        let gauge = Gauge::new(if shared { limits.threads } else { 1 }, limits.seconds);
        let look = Recorder {
            reduces: reduction != Reduction::None,
            each: each.map(Arc::new),
            until_pass,
            ..Recorder::new(&gauge, self.findings(py), &limits)
        };
        let before = (world.runs, world.memo.asked());
        let findings = || Python::attach(|py| self.findings(py));
        let crew = Crew::new(&mut world, &look, shared, findings);
        let pool = Pool::new(&crew, reduction, hand_overs, false); // a process belongs to a thread
        let main = Mutex::new((&mut *world, look, 0u32));
        let work = |index| {
            if index > 0 {
                por::serve(&pool);
                return Ok(());
            }
            let _closing = Closing(&pool);
            let (world, look, restarts) = &mut *main.lock();
            *restarts = restarting(world, look, reduction, shared.then_some(&pool))?;
            Ok(())
        };
        let seconds = gauge.supervise_all(py, progress.as_ref(), work)?;
        let (world, look, restarts) = main.into_inner();
        Ok(Outcome {
            generated: world.runs - before.0 + 1,
            seconds,
            stopped_by: gauge.driver.reason(),
            restarts,
            handler_runs: world.memo.asked() - before.1,
            collected: pool.collected.load(Relaxed),
            lost: pool.lost.load(Relaxed),
            ..look.outcome(py)?
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
        let gauge = Gauge::new(1, limits.seconds);
        let mut met = Met::new(&gauge, self.findings(py), &limits);
        let world = &mut *world;
        let (before, mut bounds) = (world.memo.asked(), Vec::new());
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
            handler_runs: world.memo.asked() - before,
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
fn restarting<'g>(
    world: &mut World,
    look: &mut Recorder<'g>,
    reduction: Reduction,
    pool: Option<&Pool<'_, World, Recorder<'g>>>,
) -> PyResult<u32> {
    (world.memo.weakened, world.memo.grew) = (false, false);
    por::restarting(world, look, |world, look| {
        por::explore(world, reduction, look, pool)
    })
}
