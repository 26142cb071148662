//! One pass over the graph on a thread of its own, while this one watches time, memory and signals.

use parking_lot::Mutex;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::patience::{Cut, Patience};
use crate::python::outcome::Progress;
use crate::python::tables::StopReason;
use crate::search::driver::{Driven, Driver, drive};
use crate::table::scratch::{passes, trim};

/// States that a pass goes through before it asks again whether to stop.
const ASK_EVERY: u32 = 1024;

create_exception!(_core, PassCut, PyException);

pub struct Pass {
    driver: Driver,
    memory_mib: u64,
}

impl Pass {
    /// A pass of so many seconds that takes so many bytes at once; `None`: as long as it takes.
    /// It may take a tenth of the memory beyond the limit that the graph itself stopped at.
    pub fn new(seconds: Option<f64>, memory_mib: u64, bytes: usize) -> Self {
        let memory_mib = memory_mib.saturating_add(memory_mib / 10);
        let driver = Driver::new(1, seconds.unwrap_or(f64::INFINITY));
        trim();
        if passes(memory_mib, bytes) {
            driver.stop(StopReason::Memory); // before it is taken
        }
        Pass { driver, memory_mib }
    }

    /// What `work` gives; raises `PassCut` with the reason if it was stopped before its end.
    pub fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Fn(&Patience<'_>) -> Result<T, Cut> + Sync,
    ) -> PyResult<T> {
        let made = Mutex::new(None);
        drive(py, self, None, |_| {
            let stopping = || self.driver.stopping();
            *made.lock() = work(&Patience::new(ASK_EVERY, &stopping)).ok();
            Ok(())
        })?;
        made.into_inner().ok_or_else(|| {
            let reason = self.driver.reason().unwrap_or(StopReason::Interrupt);
            PassCut::new_err((reason,))
        })
    }
}

impl Driven for Pass {
    fn driver(&self) -> &Driver {
        &self.driver
    }

    fn check_limits(&self) {
        if passes(self.memory_mib, 0) {
            self.driver.stop(StopReason::Memory);
        }
    }

    fn progress(&self, seconds: f64) -> Progress {
        Progress {
            seconds,
            ..Progress::default()
        }
    }
}
