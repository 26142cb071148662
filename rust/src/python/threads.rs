//! Threads that the system may refuse: then an error that says what to do, never a panic.

use std::io;
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

/// The error of the `number`-th of `count` threads, which did not start.
pub fn refused(number: usize, count: usize, cause: &io::Error) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let class = py.import("presage.errors")?.getattr("NoThread")?;
            let error = class.call1((number, count, cause.to_string()))?;
            Ok(PyErr::from_value(error))
        };
        made().unwrap_or_else(|_| PyRuntimeError::new_err(cause.to_string()))
    })
}
