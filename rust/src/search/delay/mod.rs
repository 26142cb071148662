//! Search in the order of delays: what a scheduler would do comes first, departures from it later.
//!
//! A scheduler orders the tasks of each state. To run the first costs nothing; one further back, an
//! unlikely answer of a choice and a fault cost delays (`price.rs`). States wait in one bucket per
//! number of delays (Udupa, Desai, Rajamani, "Depth bounded explicit-state model checking", 2011;
//! Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", 2011).
//!
//! Only the state is in the seen table. Prices are whole and buckets are emptied in ascending
//! order, so the first visit of a state is a cheapest one of the orders kept. A second order for a
//! known state is dropped: what needs n delays in theory may be found with more. Every task of
//! every state met is an alternative, so a search that ends has met what `bfs` meets.

pub mod agenda;
mod bucket;
mod commuting;
mod custom;
mod entry;
mod explorer;
pub mod machine;
mod order;
mod planner;
mod price;
mod services;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub use self::bucket::Buckets;
pub use self::entry::Rest;
pub use self::explorer::Explorer;
use self::order::Scheduler;
pub use self::planner::{Origin, Planner, Waiting};
pub use self::services::{Lister, Services};
use super::Search;
use crate::liveness::{Bounded, Recorder};

/// Which order, and what departures from it cost: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Plan {
    scheduler: String,
    /// Stop when so many delays are explored.
    pub delays: Option<u32>,
    /// What the task at a place in the order costs.
    cost: String,
    /// What it costs to take another answer of a choice than the likely one; and any fault.
    choice: u32,
    fault: u32,
    /// What it costs besides, if the order of it and of the first task does not matter.
    commuting: u32,
    /// What a user says of tasks: their ranks, or all of their order.
    pub user: Option<Py<PyAny>>,
}

impl Plan {
    fn scheduler(&self, seed: u64) -> PyResult<Scheduler> {
        match self.scheduler.as_str() {
            "rtc" => Ok(Scheduler::RunToCompletion),
            "rr" => Ok(Scheduler::RoundRobin),
            "random" => Ok(Scheduler::Random(seed)),
            "custom" => Ok(Scheduler::Custom),
            other => {
                let text = format!("no scheduler is called `{other}`");
                Err(PyValueError::new_err(text))
            }
        }
    }
}

/// Search, and keep the graph if there is one to be kept; gives the seconds, and how many states
/// were known when each bound was done.
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    search: &Search,
    progress: Option<&Py<PyAny>>,
    graph: Option<&Bounded>,
) -> PyResult<(f64, Vec<u64>)> {
    let buckets = match graph {
        Some(_) => Buckets::deepest_first(),
        None => Buckets::default(),
    };
    let work = |thread| {
        let mut machine = Services::new(search, plan);
        machine.graph = graph;
        machine.recorder = graph.map(Recorder::new);
        let mut explorer = Explorer::new(plan, search.limits.seed, &buckets)?;
        if thread == 0 {
            explorer.begin(&mut machine)?;
        }
        while explorer.go_on(&mut machine)? {}
        machine.conclude()
    };
    let seconds = search.supervise(py, progress, work)?;
    Ok((seconds, buckets.states()))
}
