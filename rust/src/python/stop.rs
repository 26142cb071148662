//! A request to stop, made by a signal handler or by another thread.
//!
//! Whatever explores then ends as by Ctrl-C, with a report of what was done. The request stays
//! until somebody takes it back: what comes after the search is cut short as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::prelude::*;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Somebody will tell what was done once a stop was requested.
static LISTENED_TO: AtomicBool = AtomicBool::new(false);

/// Ask every exploration of this process to stop; harmless where none runs.
#[pyfunction]
pub fn request_stop() {
    REQUESTED.store(true, Relaxed);
}

#[pyfunction]
pub fn stop_requested() -> bool {
    REQUESTED.load(Relaxed)
}

/// For signal handlers: request a stop if somebody listens and nobody did before. False: the signal
/// has to end the command in another way.
#[pyfunction]
pub fn stop_once() -> bool {
    LISTENED_TO.load(Relaxed) && !REQUESTED.swap(true, Relaxed)
}

/// Say whether somebody listens from now on.
#[pyfunction]
pub fn listen_for_stop(listens: bool) {
    LISTENED_TO.store(listens, Relaxed);
}

/// Take the request back: the next exploration runs to its end.
#[pyfunction]
pub fn forget_stop() {
    REQUESTED.store(false, Relaxed);
}

/// Ends the explorations that were given it, as an interrupt does; any thread may set it.
#[pyclass(frozen)]
#[derive(Clone, Default)]
pub struct Halt(Arc<AtomicBool>);

#[pymethods]
impl Halt {
    #[new]
    fn new() -> Self {
        Halt::default()
    }

    fn set(&self) {
        self.0.store(true, Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}
