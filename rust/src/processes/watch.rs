//! How far an exploration of processes is: what its driver tells the progress line.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::python::outcome::Progress;
use crate::search::driver::{Driven, Driver, drive};

pub struct Gauge {
    pub driver: Driver,
    pub nodes: AtomicU64,
    pub traces: AtomicU64,
    pub depth: AtomicU64,
    /// Delays now allowed, of a search in their order.
    pub delays: AtomicU32,
}

impl Gauge {
    pub fn new(threads: usize, seconds: f64) -> Self {
        Gauge {
            driver: Driver::new(threads, seconds),
            nodes: AtomicU64::new(0),
            traces: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            delays: AtomicU32::new(0),
        }
    }

    /// Run `work` on every thread; gives the seconds.
    pub fn supervise_all(
        &self,
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl Fn(usize) -> PyResult<()> + Sync,
    ) -> PyResult<f64> {
        drive(py, self, progress, work)
    }

    /// Run `work` on a thread of its own; gives its seconds. `progress` is called with
    /// how far it is.
    pub fn supervise(
        &self,
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl FnMut() -> PyResult<()> + Send,
    ) -> PyResult<f64> {
        let work = Mutex::new(work);
        drive(py, self, progress, |_| work.lock()())
    }
}

impl Driven for Gauge {
    fn driver(&self) -> &Driver {
        &self.driver
    }

    fn progress(&self, seconds: f64) -> Progress {
        let nodes = self.nodes.load(Relaxed);
        Progress {
            unique: nodes,
            generated: nodes,
            depth: self.depth.load(Relaxed) as usize,
            walks: self.traces.load(Relaxed),
            delays: self.delays.load(Relaxed),
            seconds,
            ..Progress::default()
        }
    }
}
