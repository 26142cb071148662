//! An exploration from every state in which a system can begin, again whenever more is known of
//! what its properties read.

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::events::Events;
use super::losses::affordable;
use super::losses::all_losses;
use super::recorder::Recorder;
use super::state::State;
use crate::python::outcome::Outcome;
use crate::reduce::por::{self, Closing, Counts, Pool, Reduction, Reversals, Team};
use crate::search::dice::Dice;
use crate::search::worker::Worker;
use crate::search::{Route, Search};
use crate::services::ids::EnvelopeId;

/// Machines that a thread may have: one for each part that it explores while it waits for another.
const MACHINES_EACH: usize = 4;

/// Cuts of one execution that are judged, for one property, unless somebody asks for others.
pub const CUTS_DEFAULT: u32 = 100_000;

/// What is asked of an exploration besides the limits of its search.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub reduction: Reduction,
    pub reversals: Reversals,
    /// Executions, at most.
    pub runs: u64,
    /// Tell the classes of executions and the states at rest.
    pub classes: bool,
    /// Cuts of one execution that are judged, for one property, at most.
    pub cuts: u32,
    /// Instead of threads: parts are handed over as dice say.
    pub hand_overs: Option<u64>,
}

impl Wanted {
    /// `reversals` other than a stack are for `dpor`.
    pub fn new(
        (reduction, reversals): (&str, &str),
        runs: u64,
        classes: bool,
        cuts: u32,
    ) -> PyResult<Self> {
        let reduction = Reduction::named(reduction)?;
        let reversals = Reversals::named(reversals)?;
        if reversals != Reversals::Stack && reduction != Reduction::Dpor {
            let refused = "only `dpor` keeps reversals elsewhere than in a stack";
            return Err(PyValueError::new_err(refused));
        }
        Ok(Wanted {
            reduction,
            reversals,
            runs,
            classes,
            cuts,
            hand_overs: None,
        })
    }

    /// All executions, one after the other.
    pub fn whole(reduction: Reduction, classes: bool) -> Self {
        Wanted {
            reduction,
            reversals: Reversals::Stack,
            runs: u64::MAX,
            classes,
            cuts: CUTS_DEFAULT,
            hand_overs: None,
        }
    }
}

#[derive(Default)]
struct Explored {
    counts: Counts,
    transitions: u64,
    restarts: u32,
    classes: Vec<u64>,
    rests: Vec<u64>,
}

/// Explore; adds what it counted to the outcome that `outcome` makes.
pub fn explore(
    py: Python<'_>,
    search: &Search,
    wanted: Wanted,
    progress: Option<&Py<PyAny>>,
    outcome: impl Fn(f64) -> PyResult<Outcome>,
) -> PyResult<Outcome> {
    let explored = Mutex::new(Explored::default());
    let crew = Crew::new(search, wanted);
    let team = &crew;
    let asks = wanted.runs == u64::MAX; // else behind the last execution, too
    let pool = Pool::new(&team, wanted.reduction, wanted.hand_overs, asks);
    let work = |index| {
        if index > 0 {
            por::serve(&pool);
            return Ok(());
        }
        let _closing = Closing(&pool);
        *explored.lock() = restarting(search, wanted, crew.is_shared().then_some(&pool))?;
        Ok(())
    };
    let seconds = search.supervise(py, progress, work)?;
    let explored = explored.into_inner();
    Ok(Outcome {
        collected: pool.collected.load(Relaxed),
        lost: pool.lost.load(Relaxed),
        unique: explored.counts.nodes,
        generated: explored.transitions + 1,
        traces: explored.counts.traces,
        blocked: explored.counts.blocked,
        restarts: explored.restarts,
        classes: explored.classes,
        rests: explored.rests,
        ..outcome(seconds)?
    })
}

/// The threads that work ahead, each with a search of its own.
struct Crew {
    searches: Vec<Search>,
    recruited: AtomicUsize,
    wanted: Wanted,
}

type CrewPool<'c> = Pool<'c, Events<'c>, Recorder<'c>>;

impl Crew {
    fn new(search: &Search, wanted: Wanted) -> Self {
        let layout = &search.shared.layout;
        // Queues are numbered as they are met, in every thread, and these numbers tell in which
        // order messages are tried.
        let numbered = layout.network.is_queued() || layout.streams.is_some();
        let several = search.limits.threads > 1 || wanted.hand_overs.is_some();
        let shared = several && wanted.reversals == Reversals::Stack && !numbered;
        let count = if shared {
            search.limits.threads * MACHINES_EACH
        } else {
            0
        };
        Crew {
            searches: (0..count).map(|_| search.ahead()).collect(),
            recruited: AtomicUsize::new(0),
            wanted,
        }
    }

    fn is_shared(&self) -> bool {
        !self.searches.is_empty()
    }
}

impl<'c> Team<Events<'c>, Recorder<'c>> for &'c Crew {
    fn recruit(&self) -> Option<(Events<'c>, Recorder<'c>)> {
        let search = self.searches.get(self.recruited.fetch_add(1, Relaxed))?;
        Some((prepare(search), Recorder::new(search, self.wanted)))
    }
}

pub fn prepare(search: &Search) -> Events<'_> {
    let mut machine = Events::new(Worker::new(search), State::new(Vec::new(), 0));
    machine.worker.sync();
    machine.forget_labels();
    machine
}

fn restarting<'c>(
    search: &'c Search,
    wanted: Wanted,
    pool: Option<&CrewPool<'c>>,
) -> PyResult<Explored> {
    let mut machine = prepare(search);
    let mut look = Recorder::new(search, wanted);
    let mut dice = Dice::new(search.limits.seed, 0);
    let restarts = por::restarting(&mut machine, &mut look, |machine, look| {
        loop {
            from_all(search, wanted, (machine, &mut *look), (&mut dice, pool))?;
            if wanted.reversals != Reversals::Random || look.learnt || search.stopping() {
                return Ok(());
            }
        }
    })?;
    search.notes.lock().extend(machine.note());
    Ok(Explored {
        counts: look.counts,
        transitions: machine.runs,
        restarts,
        classes: look.classes.into_iter().flatten().collect(),
        rests: look.rests.into_iter().collect(),
    })
}

fn from_all<'c>(
    search: &Search,
    wanted: Wanted,
    (machine, look): (&mut Events<'c>, &mut Recorder<'c>),
    (dice, pool): (&mut Dice, Option<&CrewPool<'c>>),
) -> PyResult<()> {
    from_each(search, (machine, look), |machine, look| {
        match wanted.reversals {
            Reversals::Stack => por::explore(machine, wanted.reduction, look, pool),
            Reversals::Queue => por::explore_queued(machine, look),
            Reversals::Random => {
                por::sample(machine, look, |count| dice.below(count as u64) as usize)
            }
        }
    })
}

/// Explore from each state in which executions begin, until somebody has enough.
pub fn from_each<'c>(
    search: &Search,
    (machine, look): (&mut Events<'c>, &mut Recorder<'c>),
    mut explore: impl FnMut(&mut Events<'c>, &mut Recorder<'c>) -> PyResult<()>,
) -> PyResult<()> {
    let mut met = FxHashSet::default();
    let layout = &search.shared.layout;
    for (index, initial) in search.initial.iter().enumerate() {
        machine
            .worker
            .broken(initial.broken, 0, || Route::Walked(index, Vec::new()));
        let mirror = &machine.worker.expander.mirror;
        let sent = initial.words[layout.fixed..].iter();
        let mut sent: Vec<EnvelopeId> = sent
            .map(|&word| machine.terrain.envelope(mirror, word))
            .collect();
        sent.retain(|envelope| !mirror.envelopes[envelope.index()].reliable);
        for lost in all_losses(layout, &sent)?
            .iter()
            .filter(|way| affordable(layout, &initial.words, way))
        {
            let mut start = State::new(initial.words.clone(), initial.sum);
            for loss in lost {
                machine.lose(&mut start, loss)?;
            }
            if !met.insert(start.sum) || look.learnt || search.stopping() {
                continue;
            }
            look.initial = index;
            look.began = std::mem::take(&mut start.lost);
            machine.start = start;
            explore(machine, look)?;
        }
    }
    search.generated.store(machine.runs + 1, Relaxed);
    Ok(())
}
