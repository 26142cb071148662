//! Dynamic partial-order reduction with sleep sets: `dpor` after Flanagan and Godefroid, `sdpor`
//! with source sets. Simpler than `odpor`, and begins executions in vain.
//!
//! At the end of an execution each race (i, j) adds a process to those tried at the level of i:
//! `dpor` the process of j where it is enabled there, else one that it waits for, else all; `sdpor`
//! one that can begin what does not happen after i and then j, unless such a one is there already.
//!
//! What sleeps is no good to `dpor`: a set of processes is shown to be persistent by exploring each
//! of them, and what sleeps is not explored, so its own races would go unseen. `sdpor` may rely on
//! a sleeper: a sequence that it can begin was covered where it was explored.

use super::trace::Trace;
use super::{End, Machine, Step, Visitor};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sets {
    Persistent,
    Source,
}

struct Level<M: Machine> {
    state: M::State,
    sleep: Vec<(Step, M::Label)>,
    tried: Vec<u32>,
    todo: Vec<Step>,
    next: usize,
}

struct Explorer<'a, M: Machine> {
    machine: &'a mut M,
    sets: Sets,
    levels: Vec<Level<M>>,
    trace: Trace<M::Label>,
    settled: usize,
    scratch: M::State,
    steps: Vec<Step>,
}

pub fn explore<M: Machine>(
    machine: &mut M,
    sets: Sets,
    visitor: &mut impl Visitor<M>,
) -> Result<(), M::Error> {
    let state = machine.start()?;
    let scratch = state.clone();
    let mut explorer = Explorer {
        machine,
        sets,
        levels: vec![Level::of(state)],
        trace: Trace::default(),
        settled: 0,
        scratch,
        steps: Vec::new(),
    };
    explorer.explore(visitor)
}

impl<M: Machine> Level<M> {
    fn of(state: M::State) -> Self {
        Level {
            state,
            sleep: Vec::new(),
            tried: Vec::new(),
            todo: Vec::new(),
            next: 0,
        }
    }

    fn sleeps(&self, step: Step) -> bool {
        self.sleep.iter().any(|(asleep, _)| *asleep == step)
    }
}

impl<M: Machine> Explorer<'_, M> {
    fn explore(&mut self, visitor: &mut impl Visitor<M>) -> Result<(), M::Error> {
        if !self.arrive(visitor)? {
            return Ok(());
        }
        loop {
            let depth = self.trace.len();
            let level = &mut self.levels[depth];
            if let Some(&step) = level.todo.get(level.next) {
                level.next += 1;
                if level.sleeps(step) {
                    continue;
                }
                self.descend(step)?;
                if !self.arrive(visitor)? {
                    return Ok(());
                }
            } else {
                let Some((step, label)) = self.trace.pop() else {
                    return Ok(());
                };
                self.levels[depth - 1].sleep.push((step, label.clone()));
                self.settled = self.settled.min(self.trace.len());
            }
        }
    }

    fn arrive(&mut self, visitor: &mut impl Visitor<M>) -> Result<bool, M::Error> {
        let depth = self.trace.len();
        let level = &mut self.levels[depth];
        level.next = 0;
        level.todo.clear();
        level.tried.clear();
        let path = &self.trace.steps;
        if !visitor.enter(self.machine, &level.state, path)? {
            return Ok(false);
        }
        self.steps.clear();
        self.machine.enabled(&level.state, &mut self.steps)?;
        let first = self.steps.iter().find(|&&step| !level.sleeps(step));
        let how = match first {
            _ if self.steps.is_empty() => End::Over,
            _ if depth >= visitor.depth() => End::Cut,
            None => End::Asleep,
            Some(&first) => {
                self.attempt(depth, first.process)?;
                return Ok(true);
            }
        };
        let more = visitor.end(self.machine, &level.state, path, how)?;
        if more {
            self.note_races()?;
        }
        Ok(more)
    }

    /// See that a process, with all its choices, is tried at a level; whether it is.
    fn attempt(&mut self, depth: usize, process: u32) -> Result<bool, M::Error> {
        let level = &mut self.levels[depth];
        if level.tried.contains(&process) {
            return Ok(true);
        }
        self.steps.clear();
        self.machine
            .choices(&level.state, process, &mut self.steps)?;
        let awake = |step: &&Step| !level.sleeps(**step);
        let awake: Vec<Step> = self.steps.iter().filter(awake).copied().collect();
        level.todo.extend_from_slice(&awake);
        if !awake.is_empty() {
            level.tried.push(process);
        }
        Ok(!awake.is_empty())
    }

    fn descend(&mut self, step: Step) -> Result<(), M::Error> {
        let depth = self.trace.len();
        if self.levels.len() == depth + 1 {
            let state = self.levels[depth].state.clone();
            self.levels.push(Level::of(state));
        }
        let (above, under) = self.levels.split_at_mut(depth + 1);
        let (above, under) = (&above[depth], &mut under[0]);
        under.state.clone_from(&above.state);
        under.sleep.clear();
        let label = self.machine.run(&mut under.state, step)?;
        for (asleep, known) in &above.sleep {
            if asleep.process == step.process || self.machine.dependent(&label, known) {
                continue;
            }
            let known = match self.machine.stale(&label, known) {
                true => {
                    self.scratch.clone_from(&under.state);
                    self.machine.run(&mut self.scratch, *asleep)?
                }
                false => known.clone(),
            };
            under.sleep.push((*asleep, known));
        }
        self.trace.push(self.machine, step, label);
        Ok(())
    }

    fn note_races(&mut self) -> Result<(), M::Error> {
        let length = self.trace.len();
        let settled = match self.machine.labels_depend_on_order() {
            true => 0,
            false => self.settled,
        };
        for later in settled..length {
            for at in 0..self.trace.races(later).len() {
                let first = self.trace.races(later)[at];
                let process = self.trace.steps[later].process;
                self.note(first, later, process)?;
            }
        }
        self.settled = length;
        self.note_stifled()?;
        let mut waiting = Vec::new();
        self.machine
            .waiting(&self.levels[length].state, &mut waiting);
        for (process, label) in waiting {
            for first in self.trace.races_of(self.machine, process, &label) {
                self.note(first, length, process)?;
            }
        }
        Ok(())
    }

    /// Processes that a step disables might have come before it, and never came.
    fn note_stifled(&mut self) -> Result<(), M::Error> {
        let length = self.trace.len();
        let mut disabled_by = Vec::new();
        for first in 0..length {
            let [before, after, last] = [first, first + 1, length].map(|at| &self.levels[at].state);
            if !self.machine.may_disable(before, after, last)? {
                continue;
            }
            self.apart(first, length)?;
            disabled_by.clear();
            let [before, after] = [first, first + 1].map(|at| &self.levels[at].state);
            self.machine
                .disabled_by((before, after), &self.scratch, &mut disabled_by)?;
            for &process in &disabled_by {
                self.note(first, length, process)?;
            }
        }
        Ok(())
    }

    /// `process`, which came at `later`, might have come before `first`.
    fn note(&mut self, first: usize, later: usize, process: u32) -> Result<(), M::Error> {
        let Some(beginners) = self.beginners(first, later, process)? else {
            return Ok(()); // it was enabled by `first`
        };
        match self.sets {
            Sets::Source => {
                let level = &self.levels[first];
                let covers =
                    |&step: &Step| level.tried.contains(&step.process) || level.sleeps(step);
                if !beginners.iter().any(|&step| covers(&step)) {
                    self.attempt(first, beginners[0].process)?;
                }
                Ok(())
            }
            Sets::Persistent => self.persist(first, later, process),
        }
    }

    fn persist(&mut self, first: usize, later: usize, process: u32) -> Result<(), M::Error> {
        if self.attempt(first, process)? {
            return Ok(());
        }
        // A step that never came has no clock; then all are tried.
        let came = later < self.trace.len();
        for event in first + 1..later {
            let apart = !self.trace.before(first, event);
            if !came || !apart || !self.trace.before(event, later) {
                continue;
            }
            let helper = self.trace.steps[event].process;
            if self.attempt(first, helper)? {
                return Ok(());
            }
        }
        let mut steps = Vec::new();
        self.machine
            .enabled(&self.levels[first].state, &mut steps)?;
        for step in steps {
            self.attempt(first, step.process)?;
        }
        Ok(())
    }

    /// The steps that can begin what does not happen after `first` and then `process`; `None`
    /// if that one cannot come before `first` at all.
    fn beginners(
        &mut self,
        first: usize,
        later: usize,
        process: u32,
    ) -> Result<Option<Vec<Step>>, M::Error> {
        let until = match self.machine.labels_depend_on_order() {
            true => self.trace.len(),
            false => later,
        };
        let mut owed = self.apart(first, until)?;
        self.steps.clear();
        self.machine
            .choices(&self.scratch, process, &mut self.steps)?;
        let Some(&step) = self.steps.first() else {
            return Ok(None);
        };
        let label = self.machine.run(&mut self.scratch, step)?;
        owed.push((step, label));
        let begins = |&at: &usize| {
            let (who, label) = &owed[at];
            let mut before = owed[..at].iter();
            before.all(|(other, known)| {
                other.process != who.process && !self.machine.dependent(known, label)
            })
        };
        let beginners = (0..owed.len()).filter(begins);
        Ok(Some(beginners.map(|at| owed[at].0).collect()))
    }

    /// What comes before `until` and does not happen after `first`; it leads to the scratch state.
    fn apart(&mut self, first: usize, until: usize) -> Result<Vec<(Step, M::Label)>, M::Error> {
        let mut found = Vec::new();
        self.scratch.clone_from(&self.levels[first].state);
        for event in first + 1..until {
            if !self.trace.before(first, event) {
                let step = self.trace.steps[event];
                let label = self.machine.run(&mut self.scratch, step)?;
                found.push((step, label));
            }
        }
        Ok(found)
    }
}
