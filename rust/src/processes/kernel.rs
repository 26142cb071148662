//! The kernel of processes as Python sees it.

use parking_lot::{Mutex, MutexGuard};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::bfs::Search;
use super::findings::{Finding, Findings, Wanted};
use super::memo::Memo;
use super::recorder::Recorder;
use super::verify::verify;
use super::watch::Gauge;
use super::world::World;
use crate::reduce::por::{self, Counts, Reduction, Step};

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
        reduction="odpor", *, depth=None, runs=None, seconds=None, keep_going=false,
        progress=None, each=None, until_pass=false
    ))]
    #[allow(clippy::too_many_arguments)] // keywords on the Python side; grouping them hides names
    fn explore<'py>(
        &self,
        py: Python<'py>,
        reduction: &str,
        depth: Option<usize>,
        runs: Option<u64>,
        seconds: Option<f64>,
        keep_going: bool,
        progress: Option<Py<PyAny>>,
        each: Option<Py<PyAny>>,
        until_pass: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let reduction = Reduction::named(reduction)?;
        let mut world = self.claim()?;
        let gauge = Gauge::new(seconds);
        let mut look = Recorder {
            gauge: &gauge,
            counts: Counts::default(),
            spun: 0,
            findings: self.findings(py),
            depth: depth.unwrap_or(usize::MAX),
            runs: runs.unwrap_or(u64::MAX),
            keep_going,
            passed: None,
            until_pass,
            reduces: reduction != Reduction::None,
            each,
        };
        let (world, mut restarts) = (&mut *world, 0u32);
        let before = (world.runs, world.memo.asked);
        let work = || restarting(world, &mut look, reduction).map(|times| restarts = times);
        let seconds = gauge.supervise(py, progress.as_ref(), work)?;
        let report = PyDict::new(py);
        let counts = &look.counts;
        report.set_item("nodes", counts.nodes)?;
        report.set_item("traces", counts.traces)?;
        report.set_item("blocked", counts.blocked)?;
        report.set_item("truncated", counts.truncated)?;
        report.set_item("spun", look.spun)?;
        report.set_item("depth", counts.depth)?;
        report.set_item("transitions", world.runs - before.0)?;
        report.set_item("restarts", restarts)?;
        report.set_item("advances", world.memo.asked - before.1)?;
        let passed = look.passed.as_deref();
        let pairs = |path: &[Step]| path.iter().map(Step::pair).collect::<Vec<_>>();
        report.set_item("passed", passed.map(pairs))?;
        finish(&report, &gauge, seconds, &look.findings)?;
        Ok(report)
    }

    /// Search breadth first through distinct states.
    #[pyo3(signature = (
        *, depth=None, states=None, seconds=None, keep_going=false, progress=None
    ))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        depth: Option<usize>,
        states: Option<usize>,
        seconds: Option<f64>,
        keep_going: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut world = self.claim()?;
        let gauge = Gauge::new(seconds);
        let mut search = Search::new(&gauge, self.findings(py), keep_going);
        search.depth = depth.unwrap_or(usize::MAX);
        search.states = states.unwrap_or(usize::MAX);
        let world = &mut *world;
        let before = world.memo.asked;
        let work = || search.run(world);
        let seconds = gauge.supervise(py, progress.as_ref(), work)?;
        let report = PyDict::new(py);
        report.set_item("unique", search.unique())?;
        report.set_item("generated", search.generated)?;
        report.set_item("depth", search.deepest)?;
        report.set_item("truncated", search.truncated)?;
        report.set_item("spun", search.spun)?;
        report.set_item("advances", world.memo.asked - before)?;
        finish(&report, &gauge, seconds, &search.findings)?;
        Ok(report)
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
    world.memo.weakened = false;
    por::restarting(world, look, |world, look| {
        por::explore(world, reduction, look)
    })
}

fn finish(
    report: &Bound<'_, PyDict>,
    gauge: &Gauge,
    seconds: f64,
    findings: &Findings,
) -> PyResult<()> {
    report.set_item("seconds", seconds)?;
    report.set_item("stopped_by", gauge.driver.reason())?;
    let py = report.py();
    let told = |finding: &Finding| {
        let path: Vec<(u32, i32)> = finding.path.iter().map(Step::pair).collect();
        let detail = PyTuple::new(py, &finding.detail)?;
        PyResult::Ok((finding.kind, detail, path, finding.count))
    };
    let all: PyResult<Vec<_>> = findings.all.iter().map(told).collect();
    report.set_item("findings", all?)
}
