//! The kernel as Python sees it: a system in integers, and the searches over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::checkpoint::Checkpoint;
use crate::hunt::{Hunt, Settings};
use crate::liveness::Graph;
use crate::python::tables::FAULTS;
use crate::reduce::sleep::Table;
use crate::reduce::symmetry::images::{SymmetricNodes, Symmetry};
use crate::search::bfs::Start;
use crate::search::dice::Weighing;
use crate::search::{Limits, Search, bfs, dfs, walk};
use crate::services::context::{Kind, PropertyState, Shared};
use crate::services::coverage::Growth;
use crate::services::layout::{Layout, Network};
use crate::services::machine::{Wanted, explore};
use crate::services::path;
use crate::services::start::initial_states;
use crate::services::tables::Tables;
use crate::table::scratch::Spill;
use crate::value::Codec;

/// What each fault weighs, and hearing that a connection broke, was refused, or is half open.
type Weights = ([u64; FAULTS.len()], [u64; 3]);

#[pyclass(frozen)]
pub struct Kernel {
    pub shared: Arc<Shared>,
    locals: Vec<u32>,
    observers: Vec<u32>,
}

fn network(name: &str) -> PyResult<Network> {
    match name {
        "unordered" => Ok(Network::Unordered),
        "duplicating" => Ok(Network::Duplicating),
        "ordered" => Ok(Network::Ordered),
        _ => Err(PyValueError::new_err(format!(
            "no network is called `{name}`"
        ))),
    }
}

fn property(kind: &str) -> PyResult<PropertyState> {
    let kind = match kind {
        "always" => Kind::Always,
        "sometimes" => Kind::Sometimes,
        "rest" => Kind::AtRest,
        "step" => Kind::Step,
        _ => return Err(PyValueError::new_err(format!("no property is `{kind}`"))),
    };
    Ok(PropertyState {
        kind,
        trie: Mutex::default(),
        decided: AtomicBool::new(false),
    })
}

#[pymethods]
impl Kernel {
    /// `values`: each node's values before its start; `ghosts`: per node and field; `severed`: per
    /// partition and pair of nodes; `lost`: the message that tells of lost streams, if any are;
    /// `timed`: the last observer holds the clocks.
    #[new]
    #[pyo3(signature = (
        bridge, codec, *, values, ghosts, observers, properties, budgets, network, skip_noops,
        severed, lost, symmetric=None, timed=false
    ))]
    #[allow(clippy::too_many_arguments)] // keywords on the Python side; grouping them hides names
    fn new(
        py: Python<'_>,
        bridge: Py<PyAny>,
        codec: Py<Codec>,
        values: Vec<Bound<'_, PyAny>>,
        ghosts: Vec<Vec<bool>>,
        observers: Vec<Bound<'_, PyAny>>,
        properties: Vec<String>,
        budgets: [i64; FAULTS.len()],
        network: &str,
        skip_noops: bool,
        severed: Vec<Vec<bool>>,
        lost: Option<Bound<'_, PyAny>>,
        symmetric: Option<SymmetricNodes>,
        timed: bool,
    ) -> PyResult<Self> {
        let network = (self::network(network)?, skip_noops);
        let (nodes, streams) = (ghosts.len(), lost.is_some());
        let mut layout = Layout::new(nodes, observers.len(), budgets, network, severed, streams);
        layout.clocks = timed.then(|| nodes + observers.len() - 1);
        let properties = properties.iter().map(|kind| property(kind));
        let properties = properties.collect::<PyResult<_>>()?;
        let mut shared = Shared {
            layout,
            codec,
            bridge,
            tables: Mutex::new(Tables::new()),
            ghost_values: Vec::new(),
            begins_unordered: Vec::new(),
            lost: Vec::new(),
            ghosts,
            properties,
            symmetry: symmetric.map(Symmetry::new),
            asked_types: Mutex::default(),
            handler_runs: AtomicU64::new(0),
            property_runs: AtomicU64::new(0),
        };
        for (node, workload) in values.iter().zip(shared.workloads(py)?) {
            let ids = shared.intern_values(py, node)?;
            let begins = shared.begins(py, &ids, &workload)?;
            shared.ghost_values.push(ids);
            shared.begins_unordered.push(begins);
        }
        if let Some(lost) = lost {
            shared.lost = shared.losses(py, &lost)?;
        }
        Kernel::of(py, shared, &values, &observers)
    }

    /// Run one search; a second one on the same kernel finds every step already run.
    /// `checkpoint` says where and when progress is written, and whether to go on from there.
    #[pyo3(signature = (
        kind, *, depth, states, seconds, memory_mib, threads, keep_going, seed, walks, progress,
        alone_until=0, checkpoint=None, spill=None, sleep=false, calm=false, weights=None
    ))]
    #[allow(clippy::too_many_arguments)] // as above
    fn search<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        depth: Option<u32>,
        states: Option<usize>,
        seconds: Option<f64>,
        memory_mib: Option<u64>,
        threads: usize,
        keep_going: bool,
        seed: u64,
        walks: u64,
        progress: Option<Py<PyAny>>,
        alone_until: usize,
        checkpoint: Option<Py<Checkpoint>>,
        spill: Option<Py<Spill>>,
        sleep: bool,
        calm: bool,
        weights: Option<Weights>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = Limits {
            depth: depth.unwrap_or(u32::MAX),
            states: states.unwrap_or(usize::MAX),
            seconds: seconds.unwrap_or(f64::INFINITY),
            memory_mib: memory_mib.unwrap_or(u64::MAX),
            threads: threads.max(1),
            alone_until,
            keep_going,
            seed,
            walks,
            weights: weights.map(|(faults, lost)| Weighing { faults, lost, calm }),
        };
        let depths = kind == "dfs" && depth.is_some();
        let mut search = self.begin(py, limits, depths)?;
        search.checkpoint = checkpoint.map(|known| known.get().inner.clone());
        if let Some(spill) = spill {
            search.seen.may_spill(spill.get().inner.clone());
            search.scratch = Some(spill.get().inner.clone());
        }
        search.sleep = sleep.then(|| Table::new(depths));
        let seconds = run(py, kind, &search, progress.as_ref())?;
        self.report(py, &search, seconds)
    }

    /// Hunt for executions that never come right. `calm` and `stormy`: what each fault weighs.
    #[pyo3(signature = (
        settings, *, calm, stormy, states, seconds, memory_mib, threads, keep_going, seed, walks,
        progress
    ))]
    #[allow(clippy::too_many_arguments)] // as above
    fn hunt<'py>(
        &self,
        py: Python<'py>,
        settings: Settings,
        calm: Weights,
        stormy: Weights,
        states: Option<usize>,
        seconds: Option<f64>,
        memory_mib: Option<u64>,
        threads: usize,
        keep_going: bool,
        seed: u64,
        walks: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = Limits {
            depth: u32::MAX,
            states: states.unwrap_or(usize::MAX),
            seconds: seconds.unwrap_or(f64::INFINITY),
            memory_mib: memory_mib.unwrap_or(u64::MAX),
            threads: threads.max(1),
            alone_until: 0,
            keep_going,
            seed,
            walks,
            weights: None,
        };
        let search = self.begin(py, limits, false)?;
        let weighing = |(faults, lost): Weights, calm| Weighing { faults, lost, calm };
        let hunt = Arc::new(Hunt::new(
            settings,
            weighing(calm, true),
            weighing(stormy, false),
        ));
        let work = |thread| hunt.work(&search, thread);
        let seconds = search.supervise(py, progress.as_ref(), work)?;
        let report = self.report(py, &search, seconds)?;
        hunt.tell(py, &search, &report)?;
        Ok(report)
    }

    /// Explore executions one by one; `reduction` is none, dpor, sdpor or odpor. `classes`: tell
    /// which classes of executions there were, and which states at rest.
    #[pyo3(signature = (
        reduction, *, depth, runs, seconds, memory_mib, keep_going, progress, classes=false
    ))]
    #[allow(clippy::too_many_arguments)] // as above
    fn explore<'py>(
        &self,
        py: Python<'py>,
        reduction: &str,
        depth: u32,
        runs: Option<u64>,
        seconds: Option<f64>,
        memory_mib: Option<u64>,
        keep_going: bool,
        progress: Option<Py<PyAny>>,
        classes: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        let limits = Limits {
            depth: depth.max(1),
            states: usize::MAX,
            seconds: seconds.unwrap_or(f64::INFINITY),
            memory_mib: memory_mib.unwrap_or(u64::MAX),
            threads: 1,
            alone_until: 0,
            keep_going,
            seed: 0,
            walks: 0,
            weights: None,
        };
        let search = self.begin(py, limits, false)?;
        let wanted = Wanted::new(reduction, runs, classes)?;
        let report = |seconds| self.report(py, &search, seconds);
        explore(py, &search, wanted, progress.as_ref(), report)
    }

    /// What the searches so far have run and read.
    fn coverage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.shared.coverage(py)
    }

    fn armed(&self, node: u32, timer: &str) -> bool {
        self.shared.armed(node, timer)
    }

    fn growth(&self) -> (usize, Vec<Growth>) {
        self.shared.growth()
    }

    /// The graph of the states within these limits, and the seconds it took to write it down.
    #[pyo3(signature = (*, properties, room, depth, states, seconds, memory_mib))]
    #[allow(clippy::too_many_arguments)] // as above
    fn graph(
        &self,
        py: Python<'_>,
        properties: Vec<usize>,
        room: (usize, usize),
        depth: Option<u32>,
        states: Option<usize>,
        seconds: Option<f64>,
        memory_mib: Option<u64>,
    ) -> PyResult<(Graph, f64)> {
        let limits = Limits {
            depth: depth.unwrap_or(u32::MAX),
            states: states.unwrap_or(usize::MAX),
            seconds: seconds.unwrap_or(f64::INFINITY),
            memory_mib: memory_mib.unwrap_or(u64::MAX),
            threads: 1,
            alone_until: 0,
            keep_going: true,
            seed: 0,
            walks: 0,
            weights: None,
        };
        let search = self.begin(py, limits, false)?;
        Graph::explore(py, search, &properties, room)
    }
}

/// Do the search called `kind`; gives its seconds.
fn run(py: Python<'_>, kind: &str, search: &Search, progress: Option<&Py<PyAny>>) -> PyResult<f64> {
    let start = Start::default();
    match kind {
        "bfs" => bfs::run(py, search, progress),
        "dfs" => {
            let pool = dfs::Pool::default();
            let work = |thread| dfs::work(search, &pool, thread, &start);
            search.supervise(py, progress, work)
        }
        "walk" => {
            let next = AtomicU64::new(0);
            search.supervise(py, progress, |_| walk::work(search, &next))
        }
        _ => Err(PyValueError::new_err(format!(
            "no search is called `{kind}`"
        ))),
    }
}

impl Kernel {
    /// A kernel whose nodes and observers begin with these values.
    fn of(
        py: Python<'_>,
        shared: Shared,
        values: &[Bound<'_, PyAny>],
        observers: &[Bound<'_, PyAny>],
    ) -> PyResult<Self> {
        let locals = values.iter().enumerate();
        let locals = locals.map(|(node, values)| shared.local(py, node, values));
        let states = observers.iter().map(|state| shared.intern_value(py, state));
        Ok(Kernel {
            locals: locals.collect::<PyResult<_>>()?,
            observers: states.collect::<PyResult<_>>()?,
            shared: Arc::new(shared),
        })
    }

    /// A search from the initial states, with nothing known yet.
    fn begin(&self, py: Python<'_>, limits: Limits, depths: bool) -> PyResult<Search> {
        let initial = initial_states(py, &self.shared, &self.locals, &self.observers)?;
        Ok(Search::new(self.shared.clone(), limits, initial, depths))
    }

    fn report<'py>(
        &self,
        py: Python<'py>,
        search: &Search,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let report = PyDict::new(py);
        report.set_item("unique", search.seen.len())?;
        report.set_item("generated", search.generated.load(Relaxed))?;
        report.set_item("depth", search.depth.load(Relaxed))?;
        report.set_item("walks", search.walked.load(Relaxed))?;
        let earlier = *search.earlier.lock();
        report.set_item("seconds", seconds + earlier.seconds)?;
        report.set_item("stopped_by", search.driver.reason())?;
        report.set_item("cut", search.cut.load(Relaxed))?;
        let runs = self.shared.handler_runs.load(Relaxed);
        report.set_item("handler_runs", runs + earlier.handler_runs)?;
        let runs = self.shared.property_runs.load(Relaxed);
        report.set_item("property_runs", runs + earlier.property_runs)?;
        let resumed = search.checkpoint.as_ref().filter(|known| known.resumes());
        report.set_item("resumed_from", resumed.map(|_| earlier.states))?;
        let written = search
            .checkpoint
            .as_ref()
            .map_or(0, |known| known.written());
        report.set_item("checkpoints", written)?;
        report.set_item("notes", search.notes.lock().clone())?;
        let faults = PyDict::new(py);
        for ((_, name), count) in FAULTS.iter().zip(&search.faults) {
            faults.set_item(name, count.load(Relaxed))?;
        }
        report.set_item("faults", faults)?;
        let sampled = |symmetry: &Symmetry| symmetry.sampled.load(Relaxed);
        report.set_item(
            "sampled",
            self.shared.symmetry.as_ref().is_some_and(sampled),
        )?;
        let mut found = Vec::new();
        for finding in search.found.lock().iter().flatten() {
            let (start, events) = path::events(py, search, (finding.property, &finding.route))?;
            found.push((finding.property, start, events));
        }
        report.set_item("found", found)?;
        Ok(report)
    }
}
