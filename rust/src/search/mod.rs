//! What every search of services has in common: limits, counters and findings.

pub mod alike;
pub mod bfs;
pub mod delay;
pub mod dfs;
pub mod dice;
pub mod driver;
mod entering;
pub mod frontier;
pub mod level;
pub mod packed;
pub mod predict;
pub mod reduced;
mod relief;
mod rest;
pub mod semantic;
pub mod shard;
pub mod symmetric;
pub mod walk;
pub mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;

use self::dice::Weighing;
use self::driver::{Driven, Driver, drive};
use crate::checkpoint::{Checkpointer, Earlier};
use crate::python::outcome::Progress;
use crate::python::tables::FAULTS;
use crate::python::tables::StopReason;
use crate::reduce::sleep;
use crate::services::context::{PropertyState, Shared};
use crate::services::expand::EventKind;
use crate::services::rule::Filters;
use crate::table::scratch::Scratch;
use crate::table::seen::Seen;

/// The limits of a search, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Limits {
    #[pyo3(from_py_with = most)]
    pub depth: u32, // counts the initial state as 1; u32::MAX for none
    #[pyo3(from_py_with = most)]
    pub states: usize,
    #[pyo3(from_py_with = most)]
    pub seconds: f64,
    #[pyo3(from_py_with = most)]
    pub memory_mib: u64,
    pub threads: usize,
    /// States from which on more than one thread is worth its while.
    pub alone_until: usize,
    pub keep_going: bool,
    pub seed: u64,
    /// Executions, at most.
    #[pyo3(from_py_with = most)]
    pub walks: u64,
    /// The number of the first of them: others may take those before.
    pub first: u64,
    /// In walks; `None`: every successor is as likely as any other.
    pub weights: Option<Weighing>,
}

/// A number, or where there is none the largest there is.
fn most<'py, T>(value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: Bounded + for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let given: Option<T> = value.extract()?;
    Ok(given.unwrap_or(T::MOST))
}

trait Bounded {
    const MOST: Self;
}

macro_rules! bounded {
    ($($type:ty = $most:expr),*) => { $(impl Bounded for $type { const MOST: Self = $most; })* };
}

bounded!(
    u32 = u32::MAX,
    u64 = u64::MAX,
    usize = usize::MAX,
    f64 = f64::INFINITY
);

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: u32::MOST,
            states: usize::MOST,
            seconds: f64::MOST,
            memory_mib: u64::MOST,
            threads: 1,
            alone_until: 0,
            keep_going: false,
            seed: 0,
            walks: u64::MOST,
            first: 0,
            weights: None,
        }
    }
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
    /// What it cost, in a search in the order of delays.
    pub delays: u32,
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
    /// Bytes of two levels one after the other, at most: what waits takes no more.
    pub waiting: AtomicUsize,
    pub walked: AtomicU64,
    /// Delays now allowed, of a search in their order.
    pub delays: AtomicU32,
    /// Calm walks that came right, of a hunt.
    pub right: AtomicU64,
    pub faults: [AtomicU64; FAULTS.len()],
    /// At most one per property, the shortest found.
    pub found: Mutex<Vec<Option<Found>>>,
    pub driver: Driver,
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
    /// Whether the table of states met holds one of those that exchanging nodes makes of each.
    pub representatives: bool,
    /// Which faults are left out because they are like others, and how many were.
    pub alike: Option<alike::Plan>,
    pub skipped: alike::Counts,
    /// What is refused from now on, in a prediction.
    pub filters: Option<Arc<Filters>>,
    /// How often each event that a node or the network starts by itself may happen at all; none:
    /// as often as it can. Counted by each thread, so there is one.
    pub own_events: Option<u32>,
    /// Bits of the properties that are not judged.
    pub unjudged: u64,
    /// Something was left out because of that bound.
    pub left_out: AtomicBool,
    /// Of a thread that works ahead of another search: nothing is reported, only that there was
    /// something to report.
    pub ahead: Option<Ahead>,
}

/// Whether there was something to report.
#[derive(Default)]
pub struct Ahead(AtomicBool);

impl Ahead {
    pub fn surprise(&self) {
        self.0.store(true, Relaxed);
    }

    fn is_surprised(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub fn take(&self) -> bool {
        self.0.swap(false, Relaxed)
    }
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
    /// A search from these states, with nothing known yet.
    pub fn new(shared: Arc<Shared>, limits: Limits, initial: Vec<Initial>, depths: bool) -> Self {
        let forget = |property: &PropertyState| property.decided.store(false, Relaxed);
        shared.properties.iter().for_each(forget);
        let properties = shared.properties.len();
        Search {
            representatives: shared.symmetry.is_some(),
            shared,
            seen: Seen::within(depths, limits.memory_mib),
            driver: Driver::new(limits.threads, limits.seconds),
            limits,
            initial,
            generated: AtomicU64::new(0),
            depth: AtomicUsize::new(0),
            frontier: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            walked: AtomicU64::new(0),
            delays: AtomicU32::new(0),
            right: AtomicU64::new(0),
            faults: Default::default(),
            found: Mutex::new((0..properties).map(|_| None).collect()),
            cut: AtomicBool::new(false),
            checkpoint: None,
            earlier: Mutex::default(),
            scratch: None,
            memory: relief::Memory::default(),
            notes: Mutex::default(),
            sleep: None,
            alike: None,
            skipped: alike::Counts::default(),
            filters: None,
            own_events: None,
            unjudged: 0,
            left_out: AtomicBool::new(false),
            ahead: None,
        }
    }

    /// A search of the same, for a thread that works ahead of this one. It ends when this one does.
    pub fn ahead(&self) -> Self {
        let limits = Limits {
            depth: self.limits.depth,
            ..Limits::default()
        };
        let decided = |property: &PropertyState| property.decided.load(Relaxed);
        let known: Vec<bool> = self.shared.properties.iter().map(decided).collect();
        let mut search = Search::new(self.shared.clone(), limits, self.initial.clone(), false);
        for (property, known) in self.shared.properties.iter().zip(known) {
            property.decided.store(known, Relaxed);
        }
        search.unjudged = self.unjudged;
        search.ahead = Some(Ahead::default());
        search
    }

    pub fn stopping(&self) -> bool {
        self.driver.stopping() || self.ahead.as_ref().is_some_and(Ahead::is_surprised)
    }

    /// Stop all threads. The first reason given is the one reported.
    pub fn stop(&self, reason: StopReason) {
        self.driver.stop(reason);
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

    /// Note that a state is so deep. Few are deeper than those before, and all threads look here.
    pub fn reach(&self, depth: usize) {
        if self.depth.load(Relaxed) < depth {
            self.depth.fetch_max(depth, Relaxed);
        }
    }

    pub fn check_states(&self) {
        if self.seen.len() >= self.limits.states {
            self.stop(StopReason::States);
        }
        if self.seen.is_full() {
            // If it could not grow in a file, who watches may not have said so yet.
            match self.seen.trouble() {
                Some(error) => self.cannot_spill(&error),
                None => self.stop(StopReason::Memory),
            }
        }
    }

    /// What the states take, those that wait included; tables of values and steps do not count.
    pub fn bytes(&self) -> usize {
        self.seen.bytes() + self.waiting.load(Relaxed)
    }

    /// Run `work` on every thread; gives the seconds.
    pub fn supervise(
        &self,
        py: Python<'_>,
        progress: Option<&Py<PyAny>>,
        work: impl Fn(usize) -> PyResult<()> + Sync,
    ) -> PyResult<f64> {
        drive(py, self, progress, work)
    }
}

impl Driven for Search {
    fn driver(&self) -> &Driver {
        &self.driver
    }

    fn check_limits(&self) {
        self.check_memory();
        if let Some(checkpoint) = &self.checkpoint {
            checkpoint.tick(self);
        }
    }

    /// Less where pages must be let go of in time.
    fn watch_interval(&self) -> Duration {
        Duration::from_millis(if self.spilling().is_some() { 20 } else { 50 })
    }

    fn progress(&self, seconds: f64) -> Progress {
        let (shared, earlier) = (&self.shared, *self.earlier.lock());
        let decided = |property: &PropertyState| property.decided.load(Relaxed);
        Progress {
            unique: self.seen.len() as u64,
            generated: self.generated.load(Relaxed),
            depth: self.depth.load(Relaxed),
            frontier: self.frontier.load(Relaxed),
            walks: self.walked.load(Relaxed),
            handler_runs: shared.handler_runs.load(Relaxed),
            decided: shared.properties.iter().map(decided).collect(),
            seconds: seconds + earlier.seconds,
            resumed_from: earlier.states,
            checkpoints: self.checkpoint.as_ref().map_or(0, |known| known.written()),
            right: self.right.load(Relaxed),
            delays: self.delays.load(Relaxed),
        }
    }
}
