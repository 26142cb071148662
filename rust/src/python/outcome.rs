//! What a search gives back, and what it says of itself while it runs.
//!
//! One class for every search: each fills in what it counts, and leaves the rest as it is. What
//! the fields mean is said once, in `_results.pyi`.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::hunt::Suspect;
use crate::liveness::Graph;
use crate::python::tables::StopReason;

/// What a search did and found.
#[pyclass(frozen, get_all)]
#[derive(Default)]
pub struct Outcome {
    pub unique: u64,
    pub generated: u64,
    pub depth: usize,
    pub seconds: f64,
    pub stopped_by: Option<StopReason>,
    pub cut: bool,
    pub left_out: bool,
    pub bytes: usize,
    pub walks: u64,
    pub bounds: Vec<u64>,
    pub delays: u32,
    pub traces: u64,
    pub blocked: u64,
    pub restarts: u32,
    pub collected: u64,
    pub lost: u64,
    pub spun: u64,
    pub handler_runs: u64,
    pub property_runs: u64,
    pub faults: Vec<u64>,
    pub fault_places: u64,
    pub faults_skipped: u64,
    pub faults_audited: u64,
    pub audit_states: u64,
    pub resumed_from: Option<u64>,
    pub checkpoints: u64,
    pub notes: Vec<String>,
    pub sampled: bool,
    pub found: Vec<Py<Finding>>,
    pub run_findings: Vec<Py<RunFinding>>,
    pub passed: Option<Vec<(u32, i32)>>,
    pub classes: Vec<u64>,
    pub rests: Vec<u64>,
    pub hunt: Option<Py<HuntOutcome>>,
    pub cycles: Option<Py<CycleOutcome>>,
}

/// What a search for cycles has met, and what it did to find them.
#[pyclass(frozen, get_all)]
pub struct CycleOutcome {
    pub graph: Py<Graph>,
    /// How often the graph was looked at, and how many candidates were examined.
    pub passes: u64,
    pub checked: u64,
    /// Seconds spent on that; of these, on what the first round of each pass left open.
    pub seconds: f64,
    pub refining: f64,
}

/// How the executions of a hunt ended, and those that did not come right.
#[pyclass(frozen, get_all)]
pub struct HuntOutcome {
    pub live: u64,
    pub rest: u64,
    pub long: u64,
    pub duplicate: u64,
    pub choices: u64,
    pub delays: u64,
    pub complete: bool,
    pub lengths: Vec<u32>,
    pub suspects: Vec<Py<Suspect>>,
}

/// A property of a system, and the events that decide it.
#[pyclass(frozen, get_all)]
pub struct Finding {
    pub at: usize,
    pub choices: Py<PyTuple>,
    pub initial: u64,
    pub events: Py<PyTuple>,
    pub r#loop: Option<usize>,
    pub delays: u32,
}

#[pymethods]
impl Finding {
    #[new]
    #[pyo3(signature = (at, choices, initial, events, r#loop=None, delays=0))]
    fn new(
        at: usize,
        choices: Py<PyTuple>,
        initial: u64,
        events: Py<PyTuple>,
        r#loop: Option<usize>,
        delays: u32,
    ) -> Self {
        Finding {
            at,
            choices,
            initial,
            events,
            r#loop,
            delays,
        }
    }
}

/// An event by indices: `origin` is a stimulus, (source, to, message) or (number,).
#[pyclass(frozen, get_all)]
pub struct KernelEvent {
    pub kind: String,
    pub node: u32,
    pub origin: Py<PyAny>,
    pub choices: Vec<u32>,
    pub fingerprint: u64,
}

#[pymethods]
impl KernelEvent {
    #[new]
    fn new(
        kind: String,
        node: u32,
        origin: Py<PyAny>,
        choices: Vec<u32>,
        fingerprint: u64,
    ) -> Self {
        KernelEvent {
            kind,
            node,
            origin,
            choices,
            fingerprint,
        }
    }
}

/// What is wrong at the end of a path of processes: each step a process and its choice.
#[pyclass(frozen, get_all)]
pub struct RunFinding {
    pub kind: &'static str,
    pub detail: Vec<i64>,
    pub path: Vec<(u32, i32)>,
    pub count: u64,
    pub delays: u32,
}

/// How far a search is.
#[pyclass(frozen, get_all)]
#[derive(Default)]
pub struct Progress {
    pub unique: u64,
    pub generated: u64,
    pub depth: usize,
    pub frontier: usize,
    pub walks: u64,
    pub handler_runs: u64,
    pub decided: Vec<bool>,
    pub seconds: f64,
    pub resumed_from: u64,
    pub checkpoints: u64,
    pub right: u64,
    pub delays: u32,
}

/// The critical transition of a suspect, as far as it was found.
#[pyclass(frozen, get_all)]
pub struct CriticalStep {
    pub critical: Option<usize>,
    pub states: Option<usize>,
    pub live: usize,
    pub tried: usize,
    pub shares: Vec<(usize, u64, u64)>,
    pub length: usize,
    pub rested: u64,
    pub walks: u64,
    pub rested_within: usize,
    pub slow: bool,
    pub in_time: bool,
    pub seconds: f64,
    pub alternate: Option<Py<Finding>>,
}
