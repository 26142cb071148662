//! What every search has in common: limits, counters, findings, and the thread that watches.

pub mod bfs;
pub mod dfs;
pub mod dice;
pub mod frontier;
pub mod level;
pub mod reduced;
mod relief;
pub mod symmetric;
pub mod walk;
pub mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use self::dice::Weighing;
use crate::checkpoint::{Checkpointer, Earlier};
use crate::python::stop;
use crate::python::tables::FAULTS;
use crate::python::tables::StopReason;
use crate::python::threads;
use crate::reduce::sleep;
use crate::services::context::{PropertyState, Shared};
use crate::services::expand::EventKind;
use crate::table::scratch::Scratch;
use crate::table::seen::Seen;

pub struct Limits {
    pub depth: u32, // counts the initial state as 1; u32::MAX for none
    pub states: usize,
    pub seconds: f64,
    pub memory_mib: u64,
    pub threads: usize,
    /// States from which on more than one thread is worth its while.
    pub alone_until: usize,
    pub keep_going: bool,
    pub seed: u64,
    pub walks: u64,
    /// In walks; `None`: every successor is as likely as any other.
    pub weights: Option<Weighing>,
}

/// An event that happened, by ids: enough to tell Python which one it was.
#[derive(Clone, Copy, Debug)]
pub struct EventId {
    pub what: EventKind,
    pub node: u32,
    /// Stimulus of an internal event; the peer of `Cut` and `Idle`, the number of a `Split`;
    /// envelope of all others.
    pub origin: u32,
    pub branch: u32,
}

impl EventId {
    pub fn same(&self, other: &EventId) -> bool {
        let key = |event: &EventId| (event.what, event.node, event.origin, event.branch);
        key(self) == key(other)
    }
}

/// How to get to a finding.
#[derive(Clone)]
pub enum Route {
    /// To this state, and then, where the step itself is the finding, by this event.
    Seen(u64, Option<EventId>),
    /// From the initial state with this index, by these events.
    Walked(usize, Vec<EventId>),
}

pub struct Found {
    pub property: usize,
    /// Number of steps.
    pub length: u32,
    pub route: Route,
}

pub struct Search {
    pub shared: Arc<Shared>,
    pub limits: Limits,
    pub seen: Seen,
    pub initial: Vec<Initial>,
    pub generated: AtomicU64,
    pub depth: AtomicUsize,
    pub frontier: AtomicUsize,
    pub walked: AtomicU64,
    /// Calm walks that came right, of a hunt.
    pub right: AtomicU64,
    pub faults: [AtomicU64; FAULTS.len()],
    /// At most one per property, the shortest found.
    pub found: Mutex<Vec<Option<Found>>>,
    pub stopped_by: Mutex<Option<StopReason>>,
    /// Something was left out because of the depth limit.
    pub cut: AtomicBool,
    pub checkpoint: Option<Arc<Checkpointer>>,
    /// What the processes before this one did, where it goes on from a checkpoint.
    pub earlier: Mutex<Earlier>,
    /// Where to go when memory ends, and whether it has.
    pub scratch: Option<Arc<Scratch>>,
    pub memory: relief::Memory,
    /// What else to know about the result.
    pub notes: Mutex<Vec<String>>,
    /// What sleeps where, in a search that leaves out orders which lead to the same state.
    pub sleep: Option<sleep::Table>,
}

#[derive(Clone)]
pub struct Initial {
    pub words: Vec<u32>,
    pub sum: u64,
    /// Bits of the properties that a `start` handler broke.
    pub broken: u64,
    /// The choices made in all `start` handlers, in node order.
    pub choices: Vec<u32>,
}

impl Search {
    pub fn new(shared: Arc<Shared>, limits: Limits, initial: Vec<Initial>, depths: bool) -> Self {
        let properties = shared.properties.len();
        Search {
            shared,
            seen: Seen::within(depths, limits.memory_mib),
            limits,
            initial,
            generated: AtomicU64::new(0),
            depth: AtomicUsize::new(0),
            frontier: AtomicUsize::new(0),
            walked: AtomicU64::new(0),
            right: AtomicU64::new(0),
            faults: Default::default(),
            found: Mutex::new((0..properties).map(|_| None).collect()),
            stopped_by: Mutex::new(None),
            cut: AtomicBool::new(false),
            checkpoint: None,
            earlier: Mutex::default(),
            scratch: None,
            memory: relief::Memory::default(),
            notes: Mutex::default(),
            sleep: None,
        }
    }

    pub fn stopping(&self) -> bool {
        self.shared.stop.load(Relaxed)
    }

    /// Stop all threads. The first reason given is the one reported.
    pub fn stop(&self, reason: StopReason) {
        self.stopped_by.lock().get_or_insert(reason);
        self.shared.stop.store(true, Relaxed);
    }

    /// Keep a finding if it is the shortest of its property so far.
    pub fn report(&self, finding: Found) {
        let mut found = self.found.lock();
        let slot = &mut found[finding.property];
        if slot
            .as_ref()
            .is_none_or(|known| finding.length < known.length)
        {
            *slot = Some(finding);
        }
    }

    pub fn check_states(&self) {
        if self.seen.len() >= self.limits.states {
            self.stop(StopReason::States);
        }
        if self.seen.is_full() {
            self.stop(StopReason::Memory);
        }
    }

    /// Run `work` on every thread while this one looks after limits, signals and progress.
    pub fn supervise(
        &self,
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl Fn(usize) -> PyResult<()> + Sync,
    ) -> PyResult<f64> {
        let started = Instant::now();
        let count = self.limits.threads;
        let running = Mutex::new(count);
        let ended = Condvar::new();
        self.check_time(started); // what is over already need not begin
        let gate = threads::Gate::default();
        let work = |index| {
            let done = Done {
                running: &running,
                ended: &ended,
            };
            // Attached once around it all, so that entering Python for a miss need not make and
            // destroy a thread state each time.
            let attached = || Python::attach(|py| py.detach(|| work(index)));
            let outcome = catch_unwind(AssertUnwindSafe(attached));
            let outcome = outcome.unwrap_or_else(|_| {
                Err(PyRuntimeError::new_err("a thread of the search panicked"))
            });
            if let Err(error) = outcome {
                self.shared.fail(error);
            }
            drop(done);
        };
        let outcome = py.detach(|| {
            std::thread::scope(|scope| {
                if let Err((index, cause)) = threads::start_all(scope, &gate, count, &work) {
                    *running.lock() = 0;
                    self.shared.fail(threads::refused(index + 1, count, &cause));
                }
                self.watch(&running, &ended, started, progress)
            })
        });
        outcome?;
        self.stop_on_interrupt(py, py.check_signals())?; // one may have come since the last look
        if stop::stop_requested() {
            self.stop(StopReason::Interrupt);
        }
        match self.shared.error.lock().take() {
            Some(error) => Err(error),
            None => Ok(started.elapsed().as_secs_f64()),
        }
    }

    fn watch(
        &self,
        running: &Mutex<usize>,
        ended: &Condvar,
        started: Instant,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<()> {
        let mut told = started;
        let mut outcome = Ok(());
        let mut left = running.lock();
        while *left > 0 {
            ended.wait_for(&mut left, self.watch_interval());
            if *left == 0 {
                break;
            }
            // Release the count while in Python: a worker must be able to end meanwhile.
            parking_lot::MutexGuard::unlocked(&mut left, || {
                self.check_limits(started);
                let due = told.elapsed() >= Duration::from_millis(250);
                let heard = Python::attach(|py| self.listen(py, started, progress.filter(|_| due)));
                if due {
                    told = Instant::now();
                }
                if let Err(error) = heard {
                    self.stop(StopReason::Interrupt);
                    outcome = Err(error);
                }
            });
        }
        outcome
    }

    fn check_time(&self, started: Instant) {
        if stop::stop_requested() {
            self.stop(StopReason::Interrupt);
        }
        if started.elapsed().as_secs_f64() >= self.limits.seconds {
            self.stop(StopReason::Seconds);
        }
    }

    fn check_limits(&self, started: Instant) {
        self.check_time(started);
        self.check_memory();
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.tick(self);
        }
    }

    /// Ctrl-C ends the search, not the report; every other error is passed on.
    fn stop_on_interrupt(&self, py: Python<'_>, heard: PyResult<()>) -> PyResult<()> {
        match heard {
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                self.stop(StopReason::Interrupt);
                Ok(())
            }
            heard => heard,
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
        if let Some(progress) = progress {
            let (shared, earlier) = (&self.shared, *self.earlier.lock());
            let decided = |property: &PropertyState| property.decided.load(Relaxed);
            let decided: Vec<bool> = shared.properties.iter().map(decided).collect();
            let counts = (
                self.seen.len(),
                self.generated.load(Relaxed),
                self.depth.load(Relaxed),
                self.frontier.load(Relaxed),
                self.walked.load(Relaxed),
                shared.handler_runs.load(Relaxed),
                decided,
                started.elapsed().as_secs_f64() + earlier.seconds,
                earlier.states,
                self.checkpoint.as_ref().map_or(0, |known| known.written()),
                self.right.load(Relaxed),
            );
            self.stop_on_interrupt(py, progress.bind(py).call1(counts).map(|_| ()))?;
        }
        Ok(())
    }
}

/// Counts a worker out however it ends, also by a panic, so that the watcher never waits in vain.
struct Done<'a> {
    running: &'a Mutex<usize>,
    ended: &'a Condvar,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        *self.running.lock() -= 1;
        self.ended.notify_all();
    }
}
