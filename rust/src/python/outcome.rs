//! What a search gives back, and what it says of itself while it runs.
//!
//! One class for every search: each fills in what it counts, and leaves the rest as it is.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::hunt::Suspect;
use crate::python::tables::StopReason;

/// What a search did and found.
#[pyclass(frozen, get_all)]
#[derive(Default)]
pub struct Outcome {
    /// States; where executions are explored one by one, the nodes of their trees.
    pub unique: u64,
    pub generated: u64,
    pub depth: usize,
    pub seconds: f64,
    pub stopped_by: Option<StopReason>,
    /// Something was left out because of the depth limit.
    pub cut: bool,
    pub walks: u64,
    /// In a search in the order of delays: how many states were known when each bound was done, and
    /// the bound that it was at.
    pub bounds: Vec<u64>,
    pub delays: u32,
    /// Executions that went to the end, and those begun in vain: all that was left sleeps.
    pub traces: u64,
    pub blocked: u64,
    /// How often an exploration began again because it had learnt which steps depend on others.
    pub restarts: u32,
    /// Times that a process was not allowed to test in vain once more.
    pub spun: u64,
    /// How often Python ran a step, and a property.
    pub handler_runs: u64,
    pub property_runs: u64,
    /// How often each fault happened, in the order of `FAULTS`.
    pub faults: Vec<u64>,
    pub resumed_from: Option<u64>,
    pub checkpoints: u64,
    pub notes: Vec<String>,
    /// Whether all arrangements of nodes are treated alike was compared on part of them only.
    pub sampled: bool,
    /// One per property of a system: the shortest.
    pub found: Vec<Py<Finding>>,
    /// Of the processes of a program.
    pub run_findings: Vec<Py<RunFinding>>,
    /// The path of an execution of processes that ended well.
    pub passed: Option<Vec<(u32, i32)>>,
    /// Fingerprints of the classes of executions and of the states at rest, where asked for.
    pub classes: Vec<u64>,
    pub rests: Vec<u64>,
    pub hunt: Option<Py<HuntOutcome>>,
}

/// How the executions of a hunt ended, and those that did not come right.
#[pyclass(frozen, get_all)]
pub struct HuntOutcome {
    pub live: u64,
    pub rest: u64,
    pub long: u64,
    pub duplicate: u64,
    /// How many choices deep the tree is, and whether it met everything there is.
    pub choices: u64,
    pub complete: bool,
    /// How long walks were that came right.
    pub lengths: Vec<u32>,
    pub suspects: Vec<Py<Suspect>>,
}

/// A property of a system, and the events that decide it.
#[pyclass(frozen, get_all)]
pub struct Finding {
    /// 0: no exception, i + 1: the i-th property.
    pub at: usize,
    /// Of the start handlers.
    pub choices: Py<PyTuple>,
    /// The fingerprint that they led to.
    pub initial: u64,
    pub events: Py<PyTuple>,
    /// The step, from 1, from which on the events repeat for ever.
    pub r#loop: Option<usize>,
    /// What it cost, in a search in the order of delays.
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
    /// Of the state after it.
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
    /// How often it was met.
    pub count: u64,
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
    /// Per property, whether it is decided.
    pub decided: Vec<bool>,
    pub seconds: f64,
    /// States in the checkpoint that it went on from; checkpoints written since.
    pub resumed_from: u64,
    pub checkpoints: u64,
    /// Calm walks of a hunt that came right.
    pub right: u64,
    /// Delays now allowed, in a search in their order.
    pub delays: u32,
}

/// The critical transition of a suspect, as far as it was found.
#[pyclass(frozen, get_all)]
pub struct CriticalStep {
    /// The step after which nothing recovers; 0 if nothing ever does. `None`: not known.
    pub critical: Option<usize>,
    /// How many states follow it, if it is certain that none of them recovers.
    pub states: Option<usize>,
    /// From how far along walks were seen to recover; the next place looked at.
    pub live: usize,
    pub tried: usize,
    /// (steps taken, walks that recovered, walks).
    pub shares: Vec<(usize, u64, u64)>,
    /// How long walks were that did not recover.
    pub length: usize,
    /// Of the walks from the critical place: how many came to rest, of how many, after how many
    /// steps at most.
    pub rested: u64,
    pub walks: u64,
    pub rested_within: usize,
    /// From the place that was tried only walks recovered that were longer than they may be.
    pub slow: bool,
    /// Whether there was time to find out.
    pub in_time: bool,
    pub seconds: f64,
    /// The execution that recovers and has most in common with the suspect.
    pub alternate: Option<Py<Finding>>,
}
