//! A suspect as Python sees it: an execution that did not come right, and questions about it.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::Hunt;
use super::locate::{Effort, Located, Locator};
use super::region::Region;
use crate::python::outcome::{CriticalStep, Finding};
use crate::search::worker::Worker;
use crate::search::{EventId, Initial, Limits, Route, Search};
use crate::services::context::Shared;
use crate::services::path;

/// An execution on which a property ceased to hold, as it was found.
#[derive(Clone)]
pub struct Suspicion {
    pub property: usize,
    pub start: usize,
    pub events: Vec<EventId>,
    pub at_rest: bool,
    /// How long its walk was allowed to be.
    pub length: usize,
}

#[pyclass(frozen)]
pub struct Suspect {
    shared: Arc<Shared>,
    hunt: Arc<Hunt>,
    initial: Vec<Initial>,
    seed: u64,
    suspicion: Suspicion,
}

#[pymethods]
impl Suspect {
    #[getter]
    fn property(&self) -> usize {
        self.suspicion.property
    }

    /// Whether nothing likely is left to happen at its end.
    #[getter]
    fn at_rest(&self) -> bool {
        self.suspicion.at_rest
    }

    fn __len__(&self) -> usize {
        self.suspicion.events.len()
    }

    /// Its first `steps` events.
    fn finding(&self, py: Python<'_>, steps: usize) -> PyResult<Finding> {
        let most = steps.min(self.suspicion.events.len());
        self.named(py, self.suspicion.events[..most].to_vec())
    }

    /// Find its critical transition. Where time runs out, it is not known.
    fn locate(
        &self,
        py: Python<'_>,
        effort: Effort,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<CriticalStep> {
        let search = self.search(seconds);
        let made: Mutex<Option<Located>> = Mutex::new(None);
        let suspicion = &self.suspicion;
        let took = search.supervise(py, progress.as_ref(), |_| {
            let mut worker = Worker::new(&search);
            let locator = Locator::new(&self.hunt, &mut worker, suspicion, effort)?;
            *made.lock() = Some(locator.locate(suspicion.at_rest)?);
            Ok(())
        })?;
        let located = made
            .into_inner()
            .ok_or_else(|| PyRuntimeError::new_err("nothing was located"))?;
        let alternate = located.alternate.map(|events| self.named(py, events));
        let alternate = alternate.transpose()?.map(|finding| Py::new(py, finding));
        Ok(CriticalStep {
            critical: located.critical,
            states: located.states,
            live: located.live,
            tried: located.tried,
            shares: located.shares,
            length: located.length,
            rested: located.rested.0,
            walks: located.rested.1,
            rested_within: located.rested.2,
            slow: located.slow,
            in_time: located.in_time,
            seconds: took,
            alternate: alternate.transpose()?,
        })
    }

    /// Whether nothing recovers after these steps, told by the fingerprints they lead to: certain
    /// where all that can follow is few enough, else by so many walks. `None` where time ran out.
    fn dies(
        &self,
        py: Python<'_>,
        prints: Vec<u64>,
        effort: Effort,
        seconds: Option<f64>,
    ) -> PyResult<Option<bool>> {
        let search = self.search(seconds);
        let dead = Mutex::new(false);
        search.supervise(py, None, |_| {
            let mut worker = Worker::new(&search);
            let start = self.suspicion.start;
            let suspicion = Suspicion {
                events: self.hunt.follow(&mut worker, start, &prints)?.events,
                ..self.suspicion.clone()
            };
            let mut locator = Locator::new(&self.hunt, &mut worker, &suspicion, effort)?;
            *dead.lock() = match locator.certain(prints.len())? {
                Region::Live(_) => false,
                Region::Dead(_) => true,
                Region::Unknown => !locator.recovers(prints.len())?,
            };
            Ok(())
        })?;
        let over = search.stopping();
        Ok((!over).then(|| dead.into_inner()))
    }

    /// The execution that takes these steps and then walks on calmly; none if that comes right,
    /// or if time ran out.
    fn again(
        &self,
        py: Python<'_>,
        prints: Vec<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Option<Suspect>> {
        let search = self.search(seconds);
        let made: Mutex<Option<Suspicion>> = Mutex::new(None);
        search.supervise(py, None, |_| {
            let mut worker = Worker::new(&search);
            let start = self.suspicion.start;
            let execution = self.hunt.follow(&mut worker, start, &prints)?;
            *made.lock() = self
                .hunt
                .walked_on(&mut worker, execution, &self.suspicion)?;
            Ok(())
        })?;
        let suspicion = made.into_inner().filter(|_| !search.stopping());
        Ok(suspicion.map(|suspicion| Suspect::new(&search, &self.hunt, suspicion)))
    }
}

impl Suspect {
    pub fn new(search: &Search, hunt: &Arc<Hunt>, suspicion: Suspicion) -> Self {
        Suspect {
            shared: search.shared.clone(),
            hunt: hunt.clone(),
            initial: search.initial.clone(),
            seed: search.limits.seed,
            suspicion,
        }
    }

    /// A search for questions about this execution only: nothing that it meets ends it.
    fn search(&self, seconds: Option<f64>) -> Search {
        let limits = Limits {
            seconds: seconds.unwrap_or(f64::INFINITY),
            keep_going: true,
            seed: self.seed,
            ..Limits::default()
        };
        Search::new(self.shared.clone(), limits, self.initial.clone(), false)
    }

    fn named(&self, py: Python<'_>, events: Vec<EventId>) -> PyResult<Finding> {
        let search = self.search(None);
        let route = Route::Walked(self.suspicion.start, events);
        path::finding(py, &search, (self.suspicion.property, &route), None)
    }
}
