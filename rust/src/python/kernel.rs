//! The kernel as Python sees it: a system in integers, and the searches over it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::checkpoint::Checkpoint;
use crate::history::{Histories, KernelHistories};
use crate::hunt::{Hunt, Settings};
use crate::liveness::{CyclePlan, Graph, find};
use crate::python::outcome::{Finding, Outcome};
use crate::python::stop::Halt;
use crate::python::tables::FAULTS;
use crate::reduce::sleep::Table;
use crate::reduce::symmetry::images::{SymmetricNodes, Symmetry};
use crate::search::bfs::Start;
use crate::search::{Limits, Search, alike, bfs, delay, dfs, predict, semantic, walk};
use crate::services::context::{PropertyState, Shared};
use crate::services::coverage::{Growth, KernelCoverage};
use crate::services::ids::LocalId;
use crate::services::layout::{Layout, Network};
use crate::services::machine::{Wanted, explore};
use crate::services::origin::Origin;
use crate::services::path;
use crate::services::seals::{KernelSeal, Seal};
use crate::services::start::initial_states;
use crate::services::tables::Tables;
use crate::table::scratch::Spill;
use crate::value::Codec;

/// Where a search keeps its progress, and what does not fit into memory.
#[derive(FromPyObject)]
struct Storage {
    checkpoint: Option<Py<Checkpoint>>,
    spill: Option<Py<Spill>>,
}

/// A system, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
struct KernelSystem<'py> {
    values: Vec<Bound<'py, PyAny>>,
    ghosts: Vec<Vec<bool>>,
    observers: Vec<Bound<'py, PyAny>>,
    properties: Vec<String>,
    seals: Vec<KernelSeal<'py>>,
    budgets: [i64; FAULTS.len()],
    network: String,
    skip_noops: bool,
    severed: Vec<Vec<bool>>,
    lost: Option<Bound<'py, PyAny>>,
    notice: Option<Bound<'py, PyType>>,
    ruled: bool,
    symmetric: Option<SymmetricNodes>,
    timed: bool,
    histories: Option<KernelHistories<'py>>,
}

#[pyclass(frozen)]
pub struct Kernel {
    pub shared: Arc<Shared>,
    locals: Vec<LocalId>,
    observers: Vec<u32>,
}

#[pymethods]
impl Kernel {
    #[new]
    fn new(
        py: Python<'_>,
        bridge: Py<PyAny>,
        codec: Py<Codec>,
        system: KernelSystem<'_>,
    ) -> PyResult<Self> {
        let KernelSystem {
            values,
            ghosts,
            observers,
            budgets,
            severed,
            lost,
            ..
        } = system;
        let network = (Network::named(&system.network)?, system.skip_noops);
        let (nodes, streams) = (ghosts.len(), lost.is_some());
        let mut layout = Layout::new(nodes, observers.len(), budgets, network, severed, streams);
        layout.clocks = system.timed.then(|| nodes + observers.len() - 1);
        let properties = PropertyState::all(&system.properties)?;
        let notice = system.notice.map(|class| class.as_ptr() as usize);
        let mut shared = Shared {
            tables: Mutex::new(Tables::new(notice, layout.network)),
            layout,
            histories: Histories::new(codec.get(), system.histories)?,
            codec,
            bridge,
            ghost_values: Vec::new(),
            begins_unordered: Vec::new(),
            lost: Vec::new(),
            ruled: system.ruled,
            ghosts,
            seals: Seal::all(properties.len(), &system.seals)?,
            properties,
            symmetry: system.symmetric.map(Symmetry::new),
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

    /// Whether an order explains `history`, a `History`, as the core finds without Python's order;
    /// none where Python is asked.
    fn is_ordered(&self, history: &Bound<'_, PyAny>, real_time: bool) -> PyResult<Option<bool>> {
        self.shared.is_value_ordered(history, real_time)
    }

    /// Run one search; a second one on the same kernel finds every step already run.
    #[pyo3(signature = (kind, limits, progress=None, storage=None, sleep=false, skip=None))]
    #[allow(clippy::too_many_arguments)] // keywords of Python
    fn search(
        &self,
        py: Python<'_>,
        kind: &str,
        limits: Limits,
        progress: Option<Py<PyAny>>,
        storage: Option<Storage>,
        sleep: bool,
        skip: Option<alike::Plan>,
    ) -> PyResult<Outcome> {
        let depths = kind == "dfs" && limits.depth < u32::MAX;
        let mut search = self.begin(py, limits, depths)?;
        search.keep_in(storage);
        search.sleep = sleep.then(|| Table::new(depths));
        search.alike = skip;
        let seconds = run(py, kind, &search, progress.as_ref())?;
        self.outcome(py, &search, seconds)
    }

    /// Search breadth first from a state that was saved, as `plan` says.
    #[pyo3(signature = (origin, plan, limits, halts=None))]
    fn predict(
        &self,
        py: Python<'_>,
        origin: Origin,
        plan: predict::Plan,
        limits: Limits,
        halts: Option<Vec<Py<Halt>>>,
    ) -> PyResult<Outcome> {
        let search = predict::begin(py, &self.shared, &origin, plan, limits)?;
        let search = search.halted_by(halts);
        let seconds = bfs::run(py, &search, None)?;
        self.outcome(py, &search, seconds)
    }

    /// Search in the order of delays.
    #[pyo3(signature = (plan, limits, progress=None, storage=None, skip=None))]
    fn delay(
        &self,
        py: Python<'_>,
        plan: delay::Plan,
        limits: Limits,
        progress: Option<Py<PyAny>>,
        storage: Option<Storage>,
        skip: Option<alike::Plan>,
    ) -> PyResult<Outcome> {
        let mut search = self.begin(py, limits, false)?;
        search.keep_in(storage);
        search.representatives = false;
        search.alike = skip;
        let (seconds, bounds) = delay::run(py, &plan, &search, progress.as_ref(), None)?;
        Ok(Outcome {
            bounds,
            delays: search.delays.load(Relaxed),
            ..self.outcome(py, &search, seconds)?
        })
    }

    /// Search in the order of delays for executions that never end, on which a claim never holds.
    #[pyo3(signature = (wanted, plan, limits, progress=None))]
    fn cycles(
        &self,
        py: Python<'_>,
        wanted: CyclePlan,
        plan: delay::Plan,
        limits: Limits,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        let search = self.begin(py, limits, false)?;
        let mut met = find(py, &wanted, &plan, &search, progress.as_ref())?;
        let outcome = Outcome {
            bounds: std::mem::take(&mut met.bounds),
            delays: met.delays,
            ..self.outcome(py, &search, met.seconds)?
        };
        let cycles = Some(Py::new(py, met.outcome(py, search)?)?);
        Ok(Outcome { cycles, ..outcome })
    }

    /// Hunt for executions that never come right.
    #[pyo3(signature = (settings, limits, progress=None))]
    fn hunt(
        &self,
        py: Python<'_>,
        settings: Settings,
        limits: Limits,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        let search = self.begin(py, limits, false)?;
        let hunt = Arc::new(Hunt::new(settings));
        let work = |thread| hunt.work(&search, thread);
        let seconds = search.supervise(py, progress.as_ref(), work)?;
        Ok(Outcome {
            hunt: Some(Py::new(py, hunt.outcome(py, &search)?)?),
            ..self.outcome(py, &search, seconds)?
        })
    }

    /// Explore executions one by one; `reduction` is none, dpor, sdpor or odpor. `classes`: tell
    /// which classes of executions there were, and which states at rest. `cuts`: of one execution,
    /// for one property; where there are more, order is kept of all that the property notices.
    /// `reversals`: where `dpor` keeps its reversals: stack, queue or random. `hand_overs`: the
    /// seed of dice that say which parts are explored ahead, and when; for tests.
    #[pyo3(signature = (
        reduction, limits, progress=None, classes=false, cuts=100_000, reversals="stack",
        hand_overs=None
    ))]
    #[allow(clippy::too_many_arguments)] // keywords of Python
    fn explore(
        &self,
        py: Python<'_>,
        reduction: &str,
        limits: Limits,
        progress: Option<Py<PyAny>>,
        classes: bool,
        cuts: u32,
        reversals: &str,
        hand_overs: Option<u64>,
    ) -> PyResult<Outcome> {
        let mut wanted = Wanted::new((reduction, reversals), limits.walks, classes, cuts)?;
        wanted.hand_overs = hand_overs;
        let search = self.begin(py, limits, false)?;
        let outcome = |seconds| self.outcome(py, &search, seconds);
        explore(py, &search, wanted, progress.as_ref(), outcome)
    }

    /// What the searches so far have run and read.
    fn coverage(&self, py: Python<'_>) -> KernelCoverage {
        self.shared.coverage(py)
    }

    fn armed(&self, node: u32, timer: &str) -> bool {
        self.shared.armed(node, timer)
    }

    fn growth(&self) -> (usize, Vec<Growth>) {
        self.shared.growth()
    }

    /// The graph of the states within these limits, and the seconds it took to write it down;
    /// `scene`: from a saved state, as a plan says.
    #[pyo3(signature = (properties, room, limits, scene=None))]
    fn graph(
        &self,
        py: Python<'_>,
        properties: Vec<usize>,
        room: (usize, usize),
        limits: Limits,
        scene: Option<(Origin, predict::Plan)>,
    ) -> PyResult<(Graph, f64)> {
        let search = match scene {
            Some((origin, plan)) => predict::begin(py, &self.shared, &origin, plan, limits)?,
            None => self.begin(py, limits, false)?,
        };
        Graph::explore(py, search, &properties, room)
    }
}

impl Search {
    /// Keep progress, and what does not fit into memory, where `storage` says.
    fn keep_in(&mut self, storage: Option<Storage>) {
        let Some(storage) = storage else { return };
        self.checkpoint = storage.checkpoint.map(|known| known.get().inner.clone());
        if let Some(spill) = storage.spill {
            self.seen.may_spill(spill.get().inner.clone());
            self.scratch = Some(spill.get().inner.clone());
        }
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
        "semantic" => search.supervise(py, progress, |_| semantic::work(search)),
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
    pub fn begin(&self, py: Python<'_>, mut limits: Limits, depths: bool) -> PyResult<Search> {
        limits.depth = limits.depth.max(1);
        limits.threads = limits.threads.max(1);
        let initial = initial_states(py, &self.shared, &self.locals, &self.observers)?;
        Ok(Search::new(self.shared.clone(), limits, initial, depths))
    }

    pub fn outcome(&self, py: Python<'_>, search: &Search, seconds: f64) -> PyResult<Outcome> {
        let earlier = *search.earlier.lock();
        let checkpoint = search.checkpoint.as_ref();
        let sampled = |symmetry: &Symmetry| symmetry.sampled.load(Relaxed);
        let mut found = Vec::new();
        for known in search.found.lock().iter().flatten() {
            let finding = path::finding(py, search, (known.property, &known.route), None)?;
            let delays = known.delays;
            found.push(Py::new(py, Finding { delays, ..finding })?);
        }
        Ok(Outcome {
            unique: search.seen.len() as u64,
            generated: search.generated.load(Relaxed),
            depth: search.depth.load(Relaxed),
            seconds: seconds + earlier.seconds,
            stopped_by: search.driver.reason(),
            cut: search.cut.load(Relaxed),
            left_out: search.left_out.load(Relaxed),
            bytes: search.bytes(),
            walks: search.walked.load(Relaxed),
            handler_runs: self.shared.handler_runs.load(Relaxed) + earlier.handler_runs,
            property_runs: self.shared.property_runs.load(Relaxed) + earlier.property_runs,
            faults: search
                .faults
                .iter()
                .map(|count| count.load(Relaxed))
                .collect(),
            resumed_from: checkpoint
                .filter(|known| known.resumes())
                .map(|_| earlier.states),
            checkpoints: checkpoint.map_or(0, |known| known.written()),
            notes: search.notes.lock().clone(),
            sampled: self.shared.symmetry.as_ref().is_some_and(sampled),
            found,
            fault_places: search.skipped.places.load(Relaxed),
            faults_skipped: search.skipped.skipped.load(Relaxed),
            faults_audited: search.skipped.audited.load(Relaxed),
            audit_states: search.skipped.looked_at.load(Relaxed),
            ..Outcome::default()
        })
    }
}
