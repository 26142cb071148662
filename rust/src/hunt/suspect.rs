//! A suspect as Python sees it: an execution that did not come right, and questions about it.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::Hunt;
use super::locate::{Effort, Located, Locator};
use super::region::Region;
use crate::search::worker::Worker;
use crate::search::{EventId, Initial, Limits, Route, Search};
use crate::services::context::Shared;
use crate::services::path::{self, Begun};

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

type Events<'py> = (Begun, Bound<'py, PyList>);

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
    fn events<'py>(&self, py: Python<'py>, steps: usize) -> PyResult<Events<'py>> {
        let most = steps.min(self.suspicion.events.len());
        self.named(py, self.suspicion.events[..most].to_vec())
    }

    /// Find its critical transition. Where time runs out, it is not known.
    fn locate<'py>(
        &self,
        py: Python<'py>,
        walks: u64,
        region: usize,
        samples: usize,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let effort = Effort {
            walks,
            region,
            samples,
        };
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
        let told = PyDict::new(py);
        told.set_item("in_time", located.in_time)?;
        told.set_item("slow", located.slow)?;
        told.set_item("rested", located.rested)?;
        told.set_item("critical", located.critical)?;
        told.set_item("states", located.states)?;
        told.set_item("live", located.live)?;
        told.set_item("tried", located.tried)?;
        told.set_item("shares", located.shares)?;
        told.set_item("length", located.length)?;
        told.set_item("seconds", took)?;
        let alternate = located.alternate.map(|events| self.named(py, events));
        told.set_item("alternate", alternate.transpose()?)?;
        Ok(told)
    }

    /// Whether nothing recovers after these steps, told by the fingerprints they lead to: certain
    /// where all that can follow is few enough, else by so many walks. `None` where time ran out.
    fn dies(
        &self,
        py: Python<'_>,
        prints: Vec<u64>,
        walks: u64,
        region: usize,
        seconds: Option<f64>,
    ) -> PyResult<Option<bool>> {
        let search = self.search(seconds);
        let effort = Effort {
            walks,
            region,
            samples: 0,
        };
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
            depth: u32::MAX,
            states: usize::MAX,
            seconds: seconds.unwrap_or(f64::INFINITY),
            memory_mib: u64::MAX,
            threads: 1,
            alone_until: 0,
            keep_going: true,
            seed: self.seed,
            walks: 0,
            weights: None,
        };
        Search::new(self.shared.clone(), limits, self.initial.clone(), false)
    }

    fn named<'py>(&self, py: Python<'py>, events: Vec<EventId>) -> PyResult<Events<'py>> {
        let search = self.search(None);
        let route = Route::Walked(self.suspicion.start, events);
        path::events(py, &search, (self.suspicion.property, &route))
    }
}
