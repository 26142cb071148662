//! Threads that the system may refuse: then an error that says what to do, never a panic.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The cores that this process may use.
#[pyfunction]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Start `work` on a thread of `scope`.
pub fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    work: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    Builder::new().name(name).spawn_scoped(scope, work)?;
    Ok(())
}

/// What is kept free while threads start: where there is no memory for the next thread, there must
/// be some left to say so.
const RESERVE: usize = 1 << 20;

/// Where threads wait until all of them are there. None of them takes memory before, so that a
/// thread for which there is none is an error, and not the end of the process. Made of what the
/// system provides: `parking_lot` allocates for each thread that waits.
#[derive(Default)]
pub struct Gate {
    begins: Mutex<Option<bool>>,
    opened: Condvar,
}

impl Gate {
    /// Wait until it opens; false if there is nothing to be done.
    fn pass(&self) -> bool {
        let begins = self.begins.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.opened.wait_while(begins, |begins| begins.is_none());
        *opened.unwrap_or_else(PoisonError::into_inner) == Some(true)
    }

    fn open(&self, begins: bool) {
        let mut state = self.begins.lock().unwrap_or_else(PoisonError::into_inner);
        *state = Some(begins);
        drop(state);
        self.opened.notify_all();
    }
}

/// Start `work` on `count` threads of `scope`, or on none; then the index of the refused one.
pub fn start_all<'scope>(
    scope: &'scope Scope<'scope, '_>,
    gate: &'scope Gate,
    count: usize,
    work: &'scope (impl Fn(usize) + Sync),
) -> Result<(), (usize, io::Error)> {
    let mut reserve = Vec::<u8>::with_capacity(RESERVE);
    let started = (0..count).try_for_each(|index| {
        let work = move || {
            if gate.pass() {
                work(index);
            }
        };
        start(scope, format!("search-{index}"), work).map_err(|cause| (index, cause))
    });
    reserve.shrink_to_fit();
    gate.open(started.is_ok());
    started
}

/// The error of the `number`-th of `count` threads, which did not start.
pub fn refused(number: usize, count: usize, cause: &io::Error) -> PyErr {
    let remedy = "give fewer `--threads`, or raise the limit";
    missing(&format!("thread {number} of {count}"), cause, remedy)
}

/// The error of a thread that did not start.
pub fn missing(which: &str, cause: &io::Error, remedy: &str) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let class = py.import("presage.errors")?.getattr("NoThread")?;
            let error = class.call1((which, cause.to_string(), remedy))?;
            Ok(PyErr::from_value(error))
        };
        made().unwrap_or_else(|_| PyRuntimeError::new_err(cause.to_string()))
    })
}
