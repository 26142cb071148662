//! A search from a state that was saved: what it looks for, and where it begins.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::worker::Worker;
use super::{Limits, Search};
use crate::python::stop::Halt;
use crate::services::context::Shared;
use crate::services::origin::Origin;
use crate::services::rule::{Filters, KernelFilter};

/// What a prediction looks for, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Plan {
    /// How often each event that nobody caused may happen at all.
    own_events: Option<u32>,
    filters: Vec<KernelFilter>,
    /// Properties that are not judged.
    unjudged: Vec<usize>,
}

/// A search from `origin`, on one thread: it counts events.
pub fn begin(
    py: Python<'_>,
    shared: &Arc<Shared>,
    origin: &Origin,
    plan: Plan,
    mut limits: Limits,
) -> PyResult<Search> {
    limits.depth = limits.depth.max(1);
    limits.threads = 1;
    let initial = vec![origin.state(py, shared)?];
    let mut search = Search::new(shared.clone(), limits, initial, false);
    search.own_events = plan.own_events;
    search.filters = Filters::of(plan.filters);
    for property in plan.unjudged {
        if property >= shared.properties.len().min(u64::BITS as usize) {
            return Err(PyValueError::new_err("no such property"));
        }
        search.unjudged |= 1 << property;
    }
    Ok(search)
}

impl Search {
    /// Whether nothing is asked about a property. Other searches on the same tables may ask.
    #[inline]
    pub fn leaves_unjudged(&self, property: usize) -> bool {
        self.unjudged.checked_shr(property as u32).unwrap_or(0) & 1 == 1
    }

    /// Remember whether a thread has left out events because it listed them often enough.
    pub fn note_left_out(&self, worker: &Worker<'_>) {
        if worker.expander.has_left_out() {
            self.left_out.store(true, Relaxed);
        }
    }

    /// The same search, which one of `halts` may end.
    pub fn halted_by(mut self, halts: Option<Vec<Py<Halt>>>) -> Self {
        let halts = halts.iter().flatten();
        self.driver.halts = halts.map(|halt| halt.get().clone()).collect();
        self
    }
}
