//! The hunt for executions that never come right: MaceMC's search, on the memoised kernel.
//!
//! Three kinds of executions take turns (`turns`). The `tree` goes through all executions up to a
//! number of choices, faults and all; `delayed` through runs with few departures from a natural
//! order; random ones go on with faults for a while. From where each ends, a calm walk (`walk`)
//! must reach a state in which all holds that must hold again and again. One that does not is a
//! `suspect`: `locate` finds the step after which nothing recovers.
//!
//! Invariant: an execution is always known from an initial state on, so each can be replayed.

mod delayed;
mod execution;
mod locate;
mod monitor;
mod random;
mod region;
mod suspect;
mod tree;
mod turns;
mod walk;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::python::outcome::HuntOutcome;
use crate::python::tables::StopReason;
use crate::search::delay::Plan;
use crate::search::dice::{Dice, Weighing};
use crate::search::worker::Worker;
use crate::search::{EventId, Initial, Search};
use crate::services::context::Kind;
use crate::table::fingerprint::nonzero;
use crate::table::seen::Inserted;
use execution::Execution;
use monitor::Monitor;
pub use suspect::{Suspect, Suspicion};
use walk::{End, Walker};

/// How many lengths of walks that came right are kept, to be drawn as a curve.
const LENGTHS_MAX: usize = 100_000;
/// A walk need not be longer than so many times the longest that came right, once enough did.
const PATIENCE: usize = 10;
const LENGTH_MIN: usize = 1_000;
const ENOUGH: u64 = 100;

/// How to hunt, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Settings {
    /// Kernel indices of the properties that must hold again and again.
    pub eventually: Vec<usize>,
    /// What events weigh in walks that are to recover.
    pub calm: Weighing,
    /// How long a calm walk may be.
    pub walk_length: usize,
    /// By how many choices the tree grows each round, and the most it may have.
    pub depth_step: u32,
    pub depth: u32,
    /// The tree is bounded by steps, not by choices.
    pub by_steps: bool,
    /// The tree tries first what is likely in calm walks.
    pub likely_first: bool,
    /// Go through the tree; through runs in the order of delays; take random executions.
    pub tree: bool,
    pub delay: Option<Plan>,
    pub random: bool,
    /// How long the part of a random execution that has faults may be.
    pub storm: u64,
    /// How many live executions to collect, from whose ends to start as well.
    pub prefixes: u64,
    /// An execution to start from instead of an initial state: its first state and those after.
    pub prefix: Option<(u64, Vec<u64>)>,
    /// Which share of the ends is taken here, and how many shares there are.
    pub part: (usize, usize),
    /// How many words of runs in the order of delays a thread may keep.
    pub run_words: Option<usize>,
}

impl Settings {
    fn deeper(&self, bound: u32) -> u32 {
        bound.saturating_add(self.depth_step).min(self.depth)
    }
}

/// How many executions ended in which way.
#[derive(Default)]
pub struct Counts {
    pub live: AtomicU64,
    pub rest: AtomicU64,
    pub long: AtomicU64,
    pub duplicate: AtomicU64,
    /// How many choices deep the tree is, and how many delays runs may have.
    pub depth: AtomicU64,
    pub delays: AtomicU64,
    /// Whether the tree, or the runs, met everything there is.
    pub complete: AtomicU64,
    /// How long walks were that came right, and the longest of them.
    pub lengths: Mutex<Vec<u32>>,
    pub longest: AtomicUsize,
}

/// How long a walk may be if one as long as this came right.
fn patient(longest: usize, most: usize) -> usize {
    (longest * PATIENCE).max(LENGTH_MIN).min(most)
}

pub struct Hunt {
    pub settings: Settings,
    /// What faults weigh where they happen.
    pub stormy: Weighing,
    pub ends: Counts,
    pub suspicions: Mutex<Vec<Suspicion>>,
    next: AtomicU64,
}

impl Hunt {
    pub fn new(settings: Settings) -> Self {
        Hunt {
            stormy: Weighing {
                calm: false, // where faults may happen, they are drawn apart
                ..settings.calm
            },
            settings,
            ends: Counts::default(),
            suspicions: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }

    /// How executions ended, and the suspects.
    pub fn outcome(self: &Arc<Self>, py: Python<'_>, search: &Search) -> PyResult<HuntOutcome> {
        let suspicions = self.suspicions.lock().clone();
        let suspects = suspicions.into_iter();
        let suspects = suspects.map(|suspicion| Py::new(py, Suspect::new(search, self, suspicion)));
        let ends = &self.ends;
        Ok(HuntOutcome {
            live: ends.live.load(Relaxed),
            rest: ends.rest.load(Relaxed),
            long: ends.long.load(Relaxed),
            duplicate: ends.duplicate.load(Relaxed),
            choices: ends.depth.load(Relaxed),
            delays: ends.delays.load(Relaxed),
            complete: ends.complete.load(Relaxed) == 1,
            lengths: ends.lengths.lock().clone(),
            suspects: suspects.collect::<PyResult<_>>()?,
        })
    }

    /// How long a walk may be: long enough by all that was seen, if enough was.
    pub fn length(&self) -> usize {
        let most = self.settings.walk_length;
        match self.ends.live.load(Relaxed) < ENOUGH {
            true => most,
            false => patient(self.ends.longest.load(Relaxed), most),
        }
    }

    /// The number of the next execution; `None` where there were enough.
    fn draw(&self, search: &Search) -> Option<u64> {
        let number = self.next.fetch_add(1, Relaxed);
        if number >= search.limits.walks || search.stopping() {
            return None;
        }
        search.walked.fetch_add(1, Relaxed);
        Some(search.limits.first + number)
    }

    /// Where executions begin: the same for every thread.
    fn starts(&self, worker: &mut Worker<'_>, walker: &mut Walker) -> PyResult<Vec<Execution>> {
        let search = worker.search;
        worker.sync();
        if let Some((first, prints)) = &self.settings.prefix {
            let begins = |initial: &Initial| nonzero(initial.sum) == *first;
            let start = search.initial.iter().position(begins);
            let start = start.ok_or_else(crate::services::path::lost)?;
            return Ok(vec![self.follow(worker, start, prints)?]);
        }
        let all = 0..search.initial.len();
        let mut starts: Vec<Execution> = all.map(|start| Execution::begin(search, start)).collect();
        for initial in &starts {
            let broken = search.initial[initial.start].broken;
            worker.broken(broken, 0, || initial.route());
            initial.arrive(worker)?;
        }
        for number in 0..self.settings.prefixes {
            let mut dice = Dice::new(search.limits.seed, u64::MAX - number);
            let sums = search.initial.iter().map(|initial| initial.sum);
            let start = dice.pick(sums).expect("every system begins somewhere");
            let mut execution = Execution::begin(search, start);
            if self.recovers(worker, walker, &mut execution, &mut dice)? {
                starts.push(execution);
            }
        }
        Ok(starts)
    }

    /// Go where a given execution went.
    pub fn follow(
        &self,
        worker: &mut Worker<'_>,
        start: usize,
        prints: &[u64],
    ) -> PyResult<Execution> {
        worker.sync();
        let mut execution = Execution::begin(worker.search, start);
        execution.arrive(worker)?;
        for &print in prints {
            worker.expander.muted = 0;
            let candidates =
                crate::services::path::listed(worker, &execution.words, execution.sum)?;
            let same = |candidate: &&crate::services::expand::Candidate| {
                nonzero(candidate.fingerprint) == print
            };
            let candidate = candidates
                .iter()
                .find(same)
                .ok_or_else(crate::services::path::lost)?;
            execution.go(worker, candidate)?;
        }
        Ok(execution)
    }

    /// Walk on calmly until what was suspected holds again; a suspicion if it does not.
    pub fn walked_on(
        &self,
        worker: &mut Worker<'_>,
        mut execution: Execution,
        known: &Suspicion,
    ) -> PyResult<Option<Suspicion>> {
        let mut dice = Dice::new(worker.search.limits.seed, execution.sum);
        let mut monitor = Monitor::begin(worker, &execution, &[known.property])?;
        let watched = (&mut monitor, known.length);
        let end = Walker::default().calm(worker, self, &mut execution, &mut dice, watched)?;
        Ok(match end {
            End::Live | End::Stopped => None,
            End::Rest | End::Long => Some(Suspicion {
                events: execution.events,
                at_rest: end == End::Rest,
                ..known.clone()
            }),
        })
    }

    /// Walk on calmly; true if all came right. What does not is kept as a suspicion.
    fn recovers(
        &self,
        worker: &mut Worker<'_>,
        walker: &mut Walker,
        execution: &mut Execution,
        dice: &mut Dice,
    ) -> PyResult<bool> {
        let begun = execution.len();
        let mut monitor = Monitor::begin(worker, execution, &self.settings.eventually)?;
        let length = self.length();
        let watched = (&mut monitor, length);
        let end = walker.calm(worker, self, execution, dice, watched)?;
        let search = worker.search;
        search.depth.fetch_max(execution.len() + 1, Relaxed);
        let count = match end {
            End::Live => {
                search.right.fetch_add(1, Relaxed);
                let took = execution.len() - begun;
                self.ends.longest.fetch_max(took, Relaxed);
                let mut lengths = self.ends.lengths.lock();
                if lengths.len() < LENGTHS_MAX {
                    lengths.push(took as u32);
                }
                &self.ends.live
            }
            End::Rest => &self.ends.rest,
            End::Long => &self.ends.long,
            End::Stopped => return Ok(false),
        };
        count.fetch_add(1, Relaxed);
        // What has not held for half of a walk that is too long, or does not hold at rest.
        let long = match end {
            End::Long => length / 2,
            _ => 0,
        };
        if end != End::Live
            && let Some(property) = monitor.overdue(execution.len(), long)
        {
            self.suspect(search, property, execution, end);
        }
        Ok(end == End::Live)
    }

    fn suspect(&self, search: &Search, property: usize, execution: &Execution, end: End) {
        let state = &search.shared.properties[property];
        if state.decided.swap(true, Relaxed) {
            return; // another thread was faster
        }
        search.walked.fetch_max(1, Relaxed); // a walk to start from is an execution, too
        self.suspicions.lock().push(Suspicion {
            property,
            start: execution.start,
            events: execution.events.clone(),
            at_rest: end == End::Rest,
            length: self.length(),
        });
        if !search.limits.keep_going {
            search.stop(StopReason::Violation);
        }
    }

    /// Count a state that a systematic part met after so many steps.
    fn meet(&self, search: &Search, sum: u64, length: usize) {
        search.depth.fetch_max(length + 1, Relaxed);
        search.seen.reserve(search.limits.threads);
        let inserted = search.seen.read().insert(nonzero(sum), 0, length as u32);
        if inserted == Inserted::New {
            search.seen.add(1);
            search.check_states();
        }
    }

    /// Judge what must not come to rest, in a state where nothing but faults can happen.
    fn check_deadlock(&self, worker: &mut Worker<'_>, execution: &Execution) -> PyResult<()> {
        if execution.check_sealed(worker)? {
            return Ok(());
        }
        for property in 0..worker.search.shared.properties.len() {
            let kind = worker.search.shared.properties[property].kind;
            if kind == Kind::AtRest && !self.settings.eventually.contains(&property) {
                worker.check_rest_of(property, &execution.words, execution.len() as u32, || {
                    execution.route()
                })?;
            }
        }
        Ok(())
    }

    /// Report the steps from here that break a property, whether or not they are taken.
    fn check_steps(&self, worker: &Worker<'_>, execution: &Execution) {
        for candidate in &worker.expander.candidates {
            let broken = worker.expander.broken_by(candidate);
            if broken != 0 {
                let mut events: Vec<EventId> = execution.events.clone();
                events.push(worker.happened(candidate, &execution.words));
                let length = events.len() as u32;
                let route = || crate::search::Route::Walked(execution.start, events.clone());
                worker.broken(broken, length, route);
            }
        }
    }
}
