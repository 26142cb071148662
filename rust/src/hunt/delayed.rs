//! The ends of runs in the order of delays: what few departures from a natural order lead to.
//!
//! A run ends where what costs no delay leads to nothing new. Faults have a price, so a run goes on
//! calmly from each state: if nothing recovers there, nothing recovers at its end. So walks from
//! ends are enough. Every thread goes through the same runs and takes its share of the ends, as of
//! the leaves of the tree.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::Hunt;
use super::execution::Execution;
use super::turns::Source;
use crate::python::tables::StopReason;
use crate::search::EventId;
use crate::search::delay::agenda::{Address, Task};
use crate::search::delay::machine::{Machine, State, Turn};
use crate::search::delay::{Buckets, Explorer, Lister, Plan};
use crate::search::worker::{Worker, store};
use crate::table::fingerprint::nonzero;

/// Runs are cut there: some systems go on for ever.
const LENGTH_MAX: u32 = 1_000;

/// Runs end for good when a thread has kept so many words of them: a hunt may take hours, and goes
/// on without them.
const WORDS_MAX: usize = 1 << 25;
/// What a state costs besides its own words: how it was met, and the order of its tasks.
const WORDS_BESIDE: usize = 16;

/// How a state was met.
enum Origin {
    /// Where executions begin, by index.
    Start(usize),
    /// From the state with this key, by this event.
    Step(u64, EventId),
}

pub struct Runs<'a> {
    explorer: Explorer<'a>,
    met: Met<'a>,
    begun: bool,
}

/// What was met, and what of it ends a run.
struct Met<'a> {
    lister: Lister<'a>,
    origins: FxHashMap<u64, Origin>,
    ends: VecDeque<(Vec<u32>, u64)>,
    /// Words kept of what was met, and the most that may be.
    words: usize,
    words_max: usize,
    /// Whether a run was cut, or all were.
    cut: bool,
    /// All threads go through the same runs: one of them counts.
    counts: bool,
}

impl<'a> Runs<'a> {
    pub fn new(plan: &'a Plan, seed: u64, buckets: &'a Buckets, counts: bool) -> PyResult<Self> {
        Ok(Runs {
            explorer: Explorer::new(plan, seed, buckets)?,
            met: Met {
                lister: Lister::new(plan.user.as_ref()),
                origins: FxHashMap::default(),
                ends: VecDeque::new(),
                words: 0,
                words_max: WORDS_MAX,
                cut: false,
                counts,
            },
            begun: false,
        })
    }

    /// End for good when so many words are kept.
    pub fn keep(&mut self, words: usize) {
        self.met.words_max = words;
    }
}

impl Source for Runs<'_> {
    fn next(
        &mut self,
        worker: &mut Worker<'_>,
        hunt: &Hunt,
        starts: &[Execution],
    ) -> PyResult<Option<Execution>> {
        worker.expander.muted = 0;
        // Runs from an initial state come right by themselves: live executions are nothing new.
        let starts = &starts[..starts.len().min(worker.search.initial.len())];
        let mut site = Site {
            worker,
            hunt,
            starts,
            met: &mut self.met,
        };
        if !self.begun {
            self.begun = true;
            self.explorer.begin(&mut site)?;
        }
        while site.met.ends.is_empty() && !site.met.is_full() && self.explorer.go_on(&mut site)? {}
        let end = site.met.ends.pop_front();
        Ok(end.map(|(words, sum)| site.met.execution(starts, (&words, sum))))
    }

    fn is_complete(&self) -> bool {
        !self.met.cut
    }
}

impl Met<'_> {
    /// Whether there is no room for more.
    fn is_full(&mut self) -> bool {
        let full = self.words > self.words_max;
        self.cut |= full;
        full
    }

    /// The execution that led to a state.
    fn execution(&self, starts: &[Execution], (words, sum): State<'_>) -> Execution {
        let mut events = Vec::new();
        let mut key = nonzero(sum);
        let start = loop {
            match self.origins[&key] {
                Origin::Start(start) => break &starts[start],
                Origin::Step(before, event) => {
                    events.push(event);
                    key = before;
                }
            }
        };
        events.extend(start.events.iter().rev());
        events.reverse();
        Execution {
            start: start.start,
            events,
            words: words.to_vec(),
            sum,
            before: Vec::new(),
        }
    }
}

/// The runs, for one thread and as long as it looks for the next end.
struct Site<'s, 'w, 'a> {
    worker: &'s mut Worker<'w>,
    hunt: &'s Hunt,
    starts: &'s [Execution],
    met: &'s mut Met<'a>,
}

impl Machine for Site<'_, '_, '_> {
    fn begin(&mut self, out: &mut Vec<u32>) -> PyResult<()> {
        for (index, start) in self.starts.iter().enumerate() {
            let origins = &mut self.met.origins;
            if origins
                .insert(nonzero(start.sum), Origin::Start(index))
                .is_none()
            {
                start.arrive(self.worker)?;
                self.hunt.meet(self.worker.search, start.sum, start.len());
                store(out, start.sum, |out| out.extend_from_slice(&start.words));
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        state: State<'_>,
        depth: u32,
        _parent: Option<u64>,
        tasks: &mut Vec<Task>,
    ) -> PyResult<Option<bool>> {
        if depth >= LENGTH_MAX {
            self.met.cut = true;
            return Ok(None);
        }
        let expander = &mut self.worker.expander;
        expander.candidates.clear();
        let at_rest = expander.list(state.0, state.1, 0)?;
        let mut listed = expander.candidates.iter();
        if at_rest || listed.any(|candidate| expander.broken_by(candidate) != 0) {
            let execution = self.met.execution(self.starts, state);
            self.hunt.check_steps(self.worker, &execution);
            if at_rest {
                self.hunt.check_deadlock(self.worker, &execution)?;
            }
        }
        let names = &mut self.met.lister.names;
        let faults = names.tasks(&mut self.worker.expander, state, tasks)?;
        Ok(Some(faults))
    }

    fn key(&mut self, state: &[u32], address: Address) -> PyResult<u64> {
        let lister = &mut self.met.lister;
        lister.key(&mut self.worker.expander, state, address)
    }

    fn list(&mut self, state: State<'_>, address: Address) -> PyResult<usize> {
        let lister = &mut self.met.lister;
        lister.list(&mut self.worker.expander, state, Some(address))
    }

    fn list_faults(
        &mut self,
        state: State<'_>,
        _first: Option<Address>,
        turn: Turn,
    ) -> PyResult<usize> {
        if turn == Turn::Late {
            return Ok(0); // nobody can tell here which commute: all have had their turn
        }
        let lister = &mut self.met.lister;
        lister.list(&mut self.worker.expander, state, None)
    }

    fn is_new(&mut self, (state, sum): State<'_>, _depth: u32, branch: usize) -> PyResult<bool> {
        let candidate = self.met.lister.branches[branch];
        let origin = self.met.origins.entry(nonzero(candidate.fingerprint));
        let Entry::Vacant(origin) = origin else {
            return Ok(false);
        };
        let event = self.worker.happened(&candidate, state);
        origin.insert(Origin::Step(nonzero(sum), event));
        Ok(true)
    }

    fn build(
        &mut self,
        (state, _): State<'_>,
        depth: u32,
        branch: usize,
        next: &mut Vec<u32>,
        sent: &mut Vec<u64>,
    ) -> PyResult<u64> {
        let lister = &self.met.lister;
        let candidate = lister.build(&mut self.worker.expander, state, branch, next, sent);
        let sum = candidate.fingerprint;
        self.met.words += next.len() + WORDS_BESIDE;
        self.worker.count_fault(&candidate);
        match self.met.counts {
            true => self.worker.count(1),
            false => self.worker.discount(),
        }
        self.hunt.meet(self.worker.search, sum, depth as usize);
        let route = || self.met.execution(self.starts, (next, sum)).route();
        self.worker.check_state(next, Some(state), depth, route)?;
        Ok(sum)
    }

    fn end(&mut self, (words, sum): State<'_>) {
        self.met.ends.push_back((words.to_vec(), sum));
    }

    fn leave(&mut self, _state: State<'_>, _cut: bool) {}

    fn count_execution(&self) {}

    fn known(&self) -> usize {
        self.met.origins.len()
    }

    fn stopping(&self) -> bool {
        self.worker.search.stopping()
    }

    fn stop(&self, reason: StopReason) {
        self.worker.search.stop(reason);
    }

    fn allow(&self, delays: u32) {
        let most = &self.hunt.ends.delays;
        most.fetch_max(u64::from(delays), Relaxed);
    }
}
