//! What drives every exploration: its threads, and the one that watches time, signals and progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use crate::python::outcome::Progress;
use crate::python::stop::{self, Halt};
use crate::python::tables::StopReason;
use crate::python::threads;

const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Whether an exploration is to stop, and why.
pub struct Driver {
    threads: usize,
    seconds: f64,
    stop: AtomicBool,
    /// Somebody else may end it, too.
    pub halts: Vec<Halt>,
    reason: Mutex<Option<StopReason>>,
    error: Mutex<Option<PyErr>>,
}

/// What can be driven: an exploration that any number of threads work on.
pub trait Driven: Sync {
    fn driver(&self) -> &Driver;

    /// Look after limits other than time: called many times a second.
    fn check_limits(&self) {}

    /// How long the thread that watches may sleep.
    fn watch_interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// What the progress line is told.
    fn progress(&self, seconds: f64) -> Progress;
}

impl Driver {
    pub fn new(threads: usize, seconds: f64) -> Self {
        Driver {
            threads,
            seconds,
            stop: AtomicBool::new(false),
            halts: Vec::new(),
            reason: Mutex::new(None),
            error: Mutex::new(None),
        }
    }

    #[inline]
    pub fn stopping(&self) -> bool {
        self.stop.load(Relaxed) || self.halts.iter().any(Halt::is_set)
    }

    /// Stop all threads. The first reason given is the one reported.
    pub fn stop(&self, reason: StopReason) {
        self.reason.lock().get_or_insert(reason);
        self.stop.store(true, Relaxed);
    }

    /// Remember the first error and stop all threads.
    pub fn fail(&self, error: PyErr) {
        self.error.lock().get_or_insert(error);
        self.stop.store(true, Relaxed);
    }

    pub fn reason(&self) -> Option<StopReason> {
        *self.reason.lock()
    }

    fn check_time(&self, started: Instant) {
        if stop::stop_requested() || self.halts.iter().any(Halt::is_set) {
            self.stop(StopReason::Interrupt);
        }
        if started.elapsed().as_secs_f64() >= self.seconds {
            self.stop(StopReason::Seconds);
        }
    }

    /// Ctrl-C ends the exploration, not the report; every other error is passed on.
    fn stop_on_interrupt(&self, py: Python<'_>, outcome: PyResult<()>) -> PyResult<()> {
        match outcome {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                self.stop(StopReason::Interrupt);
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// Run `work` on every thread while this one watches; gives the seconds it took.
pub fn drive(
    py: Python<'_>,
    driven: &impl Driven,
    progress: Option<&Py<PyAny>>,
    work: impl Fn(usize) -> PyResult<()> + Sync,
) -> PyResult<f64> {
    let (driver, started) = (driven.driver(), Instant::now());
    let running = Running::of(driver.threads);
    driver.check_time(started); // what is over already need not begin
    let gate = threads::Gate::default();
    let work = |index| {
        let done = Done(&running);
        // Attached once around it all, so that entering Python for a miss need not make and
        // destroy a thread state each time.
        let attached = || Python::attach(|py| py.detach(|| work(index)));
        let outcome = catch_unwind(AssertUnwindSafe(attached));
        let panicked = |_| Err(PyRuntimeError::new_err("a thread of the search panicked"));
        if let Err(error) = outcome.unwrap_or_else(panicked) {
            driver.fail(error);
        }
        drop(done);
    };
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let count = driver.threads;
            if let Err((index, cause)) = threads::start_all(scope, &gate, count, &work) {
                *running.left.lock() = 0;
                driver.fail(threads::refused(index + 1, count, &cause));
            }
            watch(driven, &running, started, progress)
        })
    });
    outcome?;
    driver.stop_on_interrupt(py, py.check_signals())?; // one may have come since the last look
    if stop::stop_requested() || driver.halts.iter().any(Halt::is_set) {
        driver.stop(StopReason::Interrupt);
    }
    match driver.error.lock().take() {
        Some(error) => Err(error),
        None => Ok(started.elapsed().as_secs_f64()),
    }
}

/// Until every thread has ended.
fn watch(
    driven: &impl Driven,
    running: &Running,
    started: Instant,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let driver = driven.driver();
    let (mut last, mut outcome) = (started, Ok(()));
    let mut left = running.left.lock();
    while *left > 0 {
        running.ended.wait_for(&mut left, driven.watch_interval());
        if *left == 0 {
            break;
        }
        // Release the count while in Python: a thread must be able to end meanwhile.
        MutexGuard::unlocked(&mut left, || {
            driver.check_time(started);
            driven.check_limits();
            let due = last.elapsed() >= PROGRESS_EVERY;
            if due {
                last = Instant::now();
            }
            let progress = progress.filter(|_| due);
            if let Err(error) = Python::attach(|py| listen(py, driven, started, progress)) {
                driver.stop(StopReason::Interrupt);
                outcome = Err(error);
            }
        });
    }
    outcome
}

/// Let Python handle signals, and tell the progress line how far the exploration is.
fn listen(
    py: Python<'_>,
    driven: &impl Driven,
    started: Instant,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let driver = driven.driver();
    driver.stop_on_interrupt(py, py.check_signals())?;
    let Some(progress) = progress else {
        return Ok(());
    };
    let now = driven.progress(started.elapsed().as_secs_f64());
    driver.stop_on_interrupt(py, progress.bind(py).call1((now,)).map(|_| ()))
}

struct Running {
    left: Mutex<usize>,
    ended: Condvar,
}

impl Running {
    fn of(threads: usize) -> Self {
        Running {
            left: Mutex::new(threads),
            ended: Condvar::new(),
        }
    }
}

/// Counts a thread out however it ends, also by a panic, so that nobody waits for it in vain.
struct Done<'a>(&'a Running);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        *self.0.left.lock() -= 1;
        self.0.ended.notify_all();
    }
}
