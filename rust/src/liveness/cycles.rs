//! Search for endless executions on which a claim never holds, without the whole graph.

use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::bounded::{Bounded, Claim, Growing};
use super::graph::Graph;
use super::lazy;
use super::units::UnitNames;
use crate::python::outcome::CycleOutcome;
use crate::search::{Search, delay};

/// What to look for, and how: see `presage.limits`.
#[derive(FromPyObject)]
pub struct CyclePlan {
    algorithm: String,
    /// The properties that have to hold again and again, and the fairness that each assumes.
    claims: Vec<(usize, String)>,
}

/// What was met, and how long it took.
pub struct Met {
    graph: Growing,
    names: UnitNames,
    pub seconds: f64,
    pub bounds: Vec<u64>,
    pub delays: u32,
}

/// Search in the order of delays.
pub fn find(
    py: Python<'_>,
    wanted: &CyclePlan,
    plan: &delay::Plan,
    search: &Search,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Met> {
    let claims = wanted.claims.iter();
    let claims = claims.map(|(property, fairness)| Claim::new(*property, fairness));
    let claims = claims.collect::<PyResult<_>>()?;
    let algorithm = wanted.algorithm.as_str();
    let graph = Bounded::new(claims, algorithm == "map");
    let (seconds, bounds) = match algorithm {
        "scc" | "map" => delay::run(py, plan, search, progress, Some(&graph))?,
        "ndfs" | "indfs" => {
            let bounds = Mutex::default();
            let seconds = search.supervise(py, progress, |_| {
                *bounds.lock() = lazy::work(search, plan, &graph, algorithm == "indfs")?;
                Ok(())
            })?;
            (seconds, bounds.into_inner())
        }
        other => {
            let text = format!("no algorithm is called `{other}`");
            return Err(PyValueError::new_err(text));
        }
    };
    Ok(Met {
        names: graph.names.clone(),
        graph: graph.into_graph(),
        seconds,
        bounds,
        delays: search.delays.load(Relaxed),
    })
}

impl Met {
    /// What Python sees of it.
    pub fn outcome(self, py: Python<'_>, search: Search) -> PyResult<CycleOutcome> {
        let effort = self.graph.effort;
        let graph = Graph::of_cycles(self.graph, self.names, search);
        Ok(CycleOutcome {
            graph: Py::new(py, graph)?,
            passes: effort.passes,
            checked: effort.checked,
            seconds: effort.seconds,
            refining: effort.refining,
        })
    }
}
