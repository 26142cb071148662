//! The thread that explores, and the one that looks after its limits, signals and progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use crate::python::stop;
use crate::python::tables::StopReason;
use crate::python::threads;

const LOOK_EVERY: Duration = Duration::from_millis(50);
const TELL_EVERY: Duration = Duration::from_millis(250);

/// How far an exploration is, and whether it is to stop.
#[derive(Default)]
pub struct Gauge {
    stop: AtomicBool,
    reason: Mutex<Option<StopReason>>,
    pub nodes: AtomicU64,
    pub traces: AtomicU64,
    pub depth: AtomicU64,
}

impl Gauge {
    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// End the exploration. The first reason given is the one reported.
    pub fn end(&self, reason: StopReason) {
        self.reason.lock().get_or_insert(reason);
        self.stop.store(true, Relaxed);
    }

    pub fn reason(&self) -> Option<StopReason> {
        *self.reason.lock()
    }

    /// Run `work` on a thread of its own; gives its seconds. `progress` is called with nodes (or
    /// states), executions, depth and seconds.
    pub fn supervise(
        &self,
        py: Python<'_>,
        limit: f64,
        progress: Option<&Py<PyAny>>,
        work: impl FnOnce() -> PyResult<()> + Send,
    ) -> PyResult<f64> {
        let started = Instant::now();
        self.check_limits(started, limit); // what is over already need not begin
        let (heard, outcome) = py.detach(|| {
            let (tell, told) = channel();
            std::thread::scope(|scope| {
                let work = move || {
                    // Attached once around it all: a miss need not make a thread state each time.
                    let attached = || Python::attach(|py| py.detach(work));
                    let outcome = catch_unwind(AssertUnwindSafe(attached));
                    let panicked = |_| Err(PyRuntimeError::new_err("the exploration panicked"));
                    let _ = tell.send(outcome.unwrap_or_else(panicked));
                };
                if let Err(cause) = threads::start(scope, "exploration".into(), work) {
                    return (Ok(()), Err(threads::refused(1, 1, &cause)));
                }
                self.watch(&told, started, limit, progress)
            })
        });
        heard?;
        outcome?;
        self.stop_on_interrupt(py, py.check_signals())?; // one may have come since the last look
        self.check_limits(started, f64::INFINITY);
        Ok(started.elapsed().as_secs_f64())
    }

    /// Until the work is done. What Python said meanwhile, and what became of the work.
    fn watch(
        &self,
        told: &Receiver<PyResult<()>>,
        started: Instant,
        limit: f64,
        progress: Option<&Py<PyAny>>,
    ) -> (PyResult<()>, PyResult<()>) {
        let (mut last, mut heard) = (started, Ok(()));
        loop {
            match told.recv_timeout(LOOK_EVERY) {
                Ok(outcome) => return (heard, outcome),
                Err(RecvTimeoutError::Disconnected) => return (heard, Ok(())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.check_limits(started, limit);
            let due = last.elapsed() >= TELL_EVERY;
            if due {
                last = Instant::now();
            }
            let progress = progress.filter(|_| due);
            if let Err(error) = Python::attach(|py| self.listen(py, started, progress)) {
                self.end(StopReason::Interrupt);
                heard = Err(error);
            }
        }
    }

    fn check_limits(&self, started: Instant, limit: f64) {
        if stop::stop_requested() {
            self.end(StopReason::Interrupt);
        }
        if started.elapsed().as_secs_f64() >= limit {
            self.end(StopReason::Seconds);
        }
    }

    /// Let Python handle signals, and tell the progress line how far we are.
    fn listen(
        &self,
        py: Python<'_>,
        started: Instant,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<()> {
        self.stop_on_interrupt(py, py.check_signals())?;
        let Some(progress) = progress else {
            return Ok(());
        };
        let counts = (
            self.nodes.load(Relaxed),
            self.traces.load(Relaxed),
            self.depth.load(Relaxed),
            started.elapsed().as_secs_f64(),
        );
        self.stop_on_interrupt(py, progress.bind(py).call1(counts).map(|_| ()))
    }

    /// Ctrl-C ends the exploration, not the report; every other error is passed on.
    fn stop_on_interrupt(&self, py: Python<'_>, heard: PyResult<()>) -> PyResult<()> {
        match heard {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                self.end(StopReason::Interrupt);
                Ok(())
            }
            heard => heard,
        }
    }
}
