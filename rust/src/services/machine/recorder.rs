//! Who looks on while executions are explored: judges every state, counts, keeps the way there.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use super::events::Events;
use super::explore::Wanted;
use super::label::Label;
use super::order::{after, labels};
use super::state::State;
use crate::python::tables::{FAULTS, StopReason};
use crate::reduce::por::{Counts, End, Machine, Named, Reduction, Step, Visitor};
use crate::search::{EventId, Route, Search};
use crate::table::fingerprint::{combine_iter, nonzero};

pub struct Recorder<'a> {
    pub search: &'a Search,
    pub counts: Counts,
    pub runs: u64,
    /// Whether not every order of steps is explored.
    pub reduces: bool,
    pub cuts: u32,
    /// The initial state, what was lost of what it sent, and then the steps up to here.
    pub initial: usize,
    pub began: Vec<EventId>,
    pub trail: Vec<(Option<EventId>, Vec<EventId>)>,
    /// The relation of dependence is outdated.
    pub learnt: bool,
    /// Classes of executions, and states at rest, by their fingerprints: for tests.
    pub classes: Option<FxHashSet<u64>>,
    pub rests: FxHashSet<u64>,
}

impl<'a> Recorder<'a> {
    pub fn new(search: &'a Search, wanted: Wanted) -> Self {
        Recorder {
            search,
            counts: Counts::default(),
            runs: wanted.runs,
            reduces: wanted.reduction != Reduction::None,
            cuts: wanted.cuts,
            initial: 0,
            began: Vec::new(),
            trail: Vec::new(),
            learnt: false,
            classes: wanted.classes.then(FxHashSet::default),
            rests: FxHashSet::default(),
        }
    }

    pub fn route(&self) -> Route {
        let steps = self.trail.iter();
        let steps = steps.flat_map(|(event, lost)| event.iter().chain(lost));
        let events = self.began.iter().chain(steps).copied();
        Route::Walked(self.initial, events.collect())
    }

    /// Judge the states at rest that orders of this class pass before a fault, and this one did
    /// not. Whatever else is possible has happened there, so each lacks just what comes after the
    /// first fault that it lacks: all faults are in one order.
    fn judge_rests(&mut self, machine: &mut Events<'_>, path: &[Step]) -> PyResult<()> {
        let fault = |step: &Step| machine.terrain.is_fault(step.process);
        let faults: Vec<usize> = (0..path.len()).filter(|&at| fault(&path[at])).collect();
        if faults.is_empty() {
            return Ok(());
        }
        let labels = labels(machine, path)?;
        for at in faults {
            let after = after(machine, (path, &labels), at);
            if after[at..].iter().all(|after| *after) {
                continue;
            }
            let own = std::mem::take(&mut self.trail);
            let mut state = machine.start()?;
            for (&step, _) in path.iter().zip(&after).filter(|(_, after)| !**after) {
                machine.run(&mut state, step)?;
                self.trail.push((state.last, state.lost.clone()));
            }
            self.judge_rest(machine, &state)?;
            self.trail = own;
        }
        Ok(())
    }

    /// Judge a state if nothing but faults leads on from it. Lists what does.
    fn judge_rest(&mut self, machine: &mut Events<'_>, state: &State) -> PyResult<()> {
        let length = self.trail.len() as u32;
        let worker = &mut machine.worker;
        worker.expander.candidates.clear();
        if worker.expander.list(&state.words, state.sum, 0)? {
            worker.check_rest_by(&state.words, length, || self.route())?;
            if self.classes.is_some() {
                self.rests.insert(nonzero(state.sum));
            }
        }
        Ok(())
    }

    /// Judge a state, and every step that leads on from it.
    fn judge(&mut self, machine: &mut Events<'_>, state: &State) -> PyResult<()> {
        let length = self.trail.len() as u32;
        let worker = &mut machine.worker;
        worker.check_state(&state.words, None, length, || self.route())?;
        self.judge_rest(machine, state)?;
        let worker = &mut machine.worker;
        for at in 0..worker.expander.candidates.len() {
            let candidate = worker.expander.candidates[at];
            worker.count_fault(&candidate);
            let broken = worker.expander.broken_by(&candidate);
            if broken != 0 {
                let happened = worker.happened(&candidate, &state.words);
                worker.broken(broken, length + 1, || match self.route() {
                    Route::Walked(initial, mut events) => {
                        events.push(happened);
                        Route::Walked(initial, events)
                    }
                    route => route,
                });
            }
        }
        worker.count(1);
        Ok(())
    }

    /// The fingerprint of the class of an execution: each event with those that it depends on.
    ///
    /// Made of names, never of ids: a message's id is the order in which this exploration met it.
    fn class(&self, machine: &mut Events<'_>, path: &[Step]) -> PyResult<u64> {
        let mut state = machine.start()?;
        let mut events: Vec<(Step, Label, u64)> = Vec::new();
        for &step in path {
            let label = machine.run(&mut state, step)?;
            let before = events.iter().filter(|(other, known, _)| {
                other.process == step.process || machine.dependent(known, &label)
            });
            let mut before: Vec<u64> = before.map(|(_, _, digest)| *digest).collect();
            before.sort_unstable();
            let own = machine.name(step, &state);
            events.push((step, label, combine_iter(own.into_iter().chain(before))));
        }
        let digests = events.iter().map(|(_, _, digest)| *digest);
        Ok(digests.fold(machine.start.sum, u64::wrapping_add))
    }
}

/// What was met in a part of the tree.
pub struct Record {
    pub counts: Counts,
    pub generated: u64,
    pub faults: [u64; FAULTS.len()],
    pub depth: usize,
    pub cut: bool,
    pub classes: Option<FxHashSet<u64>>,
    pub rests: FxHashSet<u64>,
}

impl Visitor<Events<'_>> for Recorder<'_> {
    type Record = Record;

    fn is_stopping(&self) -> bool {
        self.search.stopping()
    }

    /// Of one that looks on ahead: its search is its own.
    fn hand_in(&mut self) -> Option<Record> {
        let search = self.search;
        let surprised = search.ahead.as_ref().is_some_and(|ahead| ahead.take());
        let learnt = std::mem::take(&mut self.learnt);
        let classes = self.classes.as_mut().map(std::mem::take);
        let record = Record {
            counts: std::mem::take(&mut self.counts),
            generated: search.generated.swap(0, Relaxed),
            faults: std::array::from_fn(|at| search.faults[at].swap(0, Relaxed)),
            depth: search.depth.swap(0, Relaxed),
            cut: search.cut.swap(false, Relaxed),
            classes,
            rests: std::mem::take(&mut self.rests),
        };
        (!surprised && !learnt).then_some(record)
    }

    fn accepts(&self, record: &Record) -> bool {
        self.counts.ended() + record.counts.ended() < self.runs
    }

    fn absorb(&mut self, record: Record) -> PyResult<()> {
        let search = self.search;
        self.counts.add(&record.counts);
        search.generated.fetch_add(record.generated, Relaxed);
        for (total, more) in search.faults.iter().zip(record.faults) {
            total.fetch_add(more, Relaxed);
        }
        search.depth.fetch_max(record.depth, Relaxed);
        search.cut.fetch_or(record.cut, Relaxed);
        search.frontier.store(self.counts.nodes as usize, Relaxed);
        search.walked.store(self.counts.ended(), Relaxed);
        if let (Some(all), Some(more)) = (&mut self.classes, record.classes) {
            all.extend(more);
        }
        self.rests.extend(record.rests);
        Ok(())
    }

    fn enter(&mut self, machine: &mut Events<'_>, state: &State, path: &[Step]) -> PyResult<bool> {
        self.counts.enter(path);
        self.search.depth.fetch_max(path.len() + 1, Relaxed);
        self.search
            .frontier
            .store(self.counts.nodes as usize, Relaxed);
        self.pass(state, path);
        self.judge(machine, state)?;
        self.learnt |= machine.outdated();
        Ok(!self.learnt && !self.search.stopping())
    }

    fn pass(&mut self, state: &State, path: &[Step]) {
        self.trail.truncate(path.len().saturating_sub(1));
        if !path.is_empty() {
            self.trail.push((state.last, state.lost.clone()));
        }
    }

    fn end(
        &mut self,
        machine: &mut Events<'_>,
        _state: &State,
        path: &[Step],
        how: End,
    ) -> PyResult<bool> {
        let ended = self.counts.end(how);
        if how == End::Cut {
            self.search.cut.store(true, Relaxed);
        }
        self.search.walked.store(ended, Relaxed);
        if self.reduces && how != End::Asleep {
            self.judge_rests(machine, path)?;
            self.judge_cuts(machine, path, how)?;
            self.learnt |= machine.outdated();
        }
        if self.classes.is_some() && how == End::Over {
            let class = self.class(machine, path)?;
            self.classes.get_or_insert_default().insert(class);
        }
        if ended >= self.runs {
            match &self.search.ahead {
                Some(ahead) => ahead.surprise(), // the last one is for who collects to find
                None => self.search.stop(StopReason::Runs),
            }
        }
        Ok(!self.learnt && !self.search.stopping())
    }

    fn depth(&self) -> usize {
        self.search.limits.depth as usize - 1
    }

    fn restart(&mut self, machine: &mut Events<'_>) -> bool {
        if !self.learnt || self.search.stopping() {
            return false;
        }
        self.counts = Counts::default();
        self.learnt = false;
        self.rests.clear();
        self.search.cut.store(false, Relaxed);
        let faults = self.search.faults.iter();
        faults.for_each(|times| times.store(0, Relaxed));
        if let Some(classes) = &mut self.classes {
            classes.clear();
        }
        machine.forget_labels();
        true
    }
}
