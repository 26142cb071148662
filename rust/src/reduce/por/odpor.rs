//! Optimal dynamic partial-order reduction: one execution of each class, and none begun in vain.
//!
//! At the end of an execution every race (i, j) is reversed: the steps that do not happen after i,
//! and then the process of j, form a sequence. It is inserted at the level of i, unless what
//! sleeps there covers it. Sequences are kept in wake-up trees. See "Source Sets: A Foundation for
//! Optimal Dynamic Partial Order Reduction" (Abdulla, Aronis, Jonsson, Sagonas).
//!
//! Each race is reversed once, at the end of the first execution that contains it. What later ones
//! with the same prefix up to j would insert is covered then: of what comes after j the sequence
//! holds only what no choice can change, and what else can come first there races with it.
//!
//! Where `labels_depend_on_order`, the same race may insert another sequence in each execution:
//! there a race is reversed whenever it is met, and its sequence holds all that is not after i.
//!
//! A step that disables another process is a race that nobody sees, as the other never runs: see
//! `stifle`.
//!
//! A choice is no race: the others are inserted where the first is taken, as sequences of one step.
//! Where `labels_depend_on_order`, they are explored right after it, covered or not: then, wherever
//! a step sleeps, all other choices of its process sleep too, and what is left out because one of
//! them covers it is covered whatever the choice. The price is a few executions begun in vain.

use super::trace::Trace;
use super::tree::{Forest, NONE};
use super::{End, Machine, Step, Visitor};

pub type Labelled<M> = (Step, <M as Machine>::Label);

pub struct Level<M: Machine> {
    pub state: M::State,
    /// Explored here or above, and independent of all that ran since. Labels are of this state.
    pub sleep: Vec<Labelled<M>>,
    pub tree: u32,
    /// Whether the step taken here could have turned out otherwise.
    forked: bool,
}

pub struct Explorer<'a, M: Machine> {
    pub machine: &'a mut M,
    pub levels: Vec<Level<M>>,
    trace: Trace<M::Label>,
    pub forest: Forest<M::Label>,
    /// Events whose races have been turned round.
    settled: usize,
    /// States to try things in: one walks, one stays at the end of a sequence, one looks ahead.
    pub walk: M::State,
    stay: M::State,
    pub ahead: M::State,
    steps: Vec<Step>,
    sequence: Vec<Labelled<M>>,
    forks: Vec<usize>,
}

pub fn explore<M: Machine>(machine: &mut M, visitor: &mut impl Visitor<M>) -> Result<(), M::Error> {
    let state = machine.start()?;
    let (walk, stay, ahead) = (state.clone(), state.clone(), state.clone());
    let level = Level {
        state,
        sleep: Vec::new(),
        tree: NONE,
        forked: false,
    };
    let mut explorer = Explorer {
        machine,
        levels: vec![level],
        trace: Trace::default(),
        forest: Forest::default(),
        settled: 0,
        walk,
        stay,
        ahead,
        steps: Vec::new(),
        sequence: Vec::new(),
        forks: Vec::new(),
    };
    explorer.explore(visitor)
}

impl<M: Machine> Explorer<'_, M> {
    fn explore(&mut self, visitor: &mut impl Visitor<M>) -> Result<(), M::Error> {
        let mut next = None;
        if !self.arrive(visitor, &mut next)? {
            return Ok(());
        }
        loop {
            let depth = self.trace.len();
            let mut tree = self.levels[depth].tree;
            let chosen = match next.take() {
                Some(step) => Some((step, NONE)),
                None => self.forest.shift(&mut tree),
            };
            self.levels[depth].tree = tree;
            if let Some((step, below)) = chosen {
                self.siblings(step)?;
                self.descend(step, below)?;
                if !self.arrive(visitor, &mut next)? {
                    return Ok(());
                }
            } else {
                let Some((step, label)) = self.trace.pop() else {
                    return Ok(());
                };
                let above = &mut self.levels[depth - 1];
                if above.tree != NONE {
                    above.sleep.push((step, label.clone()));
                }
                self.settled = self.settled.min(self.trace.len());
            }
        }
    }

    /// In a state just reached: end the execution, or see that there is something to do.
    fn arrive(
        &mut self,
        visitor: &mut impl Visitor<M>,
        next: &mut Option<Step>,
    ) -> Result<bool, M::Error> {
        let depth = self.trace.len();
        let level = &self.levels[depth];
        let path = &self.trace.steps;
        if !visitor.enter(self.machine, &level.state, path)? {
            return Ok(false);
        }
        if level.tree != NONE && depth < visitor.depth() {
            return Ok(true);
        }
        self.steps.clear();
        self.machine.enabled(&level.state, &mut self.steps)?;
        let awake = |step: &&Step| !level.sleep.iter().any(|(asleep, _)| asleep == *step);
        let how = if self.steps.is_empty() {
            End::Over
        } else if depth >= visitor.depth() {
            End::Cut
        } else if let Some(&step) = self.steps.iter().find(awake) {
            *next = Some(step);
            return Ok(true);
        } else {
            End::Asleep
        };
        let more = visitor.end(self.machine, &level.state, path, how)?;
        if more && how != End::Asleep {
            self.turn_races()?;
        }
        Ok(more)
    }

    /// Owe the other ways in which this step's choice can turn out.
    fn siblings(&mut self, step: Step) -> Result<(), M::Error> {
        let depth = self.trace.len();
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        let state = &self.levels[depth].state;
        self.machine.choices(state, step.process, &mut steps)?;
        self.levels[depth].forked = steps.len() > 1;
        let others = || steps.iter().filter(|&&other| other != step);
        if self.machine.labels_depend_on_order() {
            for &other in others().rev() {
                self.bring(depth, other)?;
            }
        } else {
            for &other in others() {
                self.walk.clone_from(&self.levels[depth].state);
                let label = self.machine.run(&mut self.walk, other)?;
                self.insert_wakeup(depth, &[(other, label)])?;
            }
        }
        self.steps = steps;
        Ok(())
    }

    /// Have a step explored next at a level, unless it sleeps.
    fn bring(&mut self, depth: usize, step: Step) -> Result<(), M::Error> {
        let level = &mut self.levels[depth];
        let asleep = level.sleep.iter().any(|(asleep, _)| *asleep == step);
        if !asleep && !self.forest.bring(&mut level.tree, step) {
            self.walk.clone_from(&level.state);
            let label = self.machine.run(&mut self.walk, step)?;
            self.forest.prepend(&mut level.tree, step, label);
        }
        Ok(())
    }

    /// Take a step, with what is owed below it.
    fn descend(&mut self, step: Step, below: u32) -> Result<(), M::Error> {
        let depth = self.trace.len();
        if self.levels.len() == depth + 1 {
            self.levels.push(Level {
                state: self.levels[depth].state.clone(),
                sleep: Vec::new(),
                tree: NONE,
                forked: false,
            });
        }
        let (above, under) = self.levels.split_at_mut(depth + 1);
        let (above, under) = (&above[depth], &mut under[0]);
        under.state.clone_from(&above.state);
        under.tree = below;
        under.sleep.clear();
        let label = self.machine.run(&mut under.state, step)?;
        for (asleep, known) in &above.sleep {
            if asleep.process == step.process || self.machine.dependent(&label, known) {
                continue;
            }
            let known = match self.machine.stale(&label, known) {
                true => {
                    self.walk.clone_from(&under.state);
                    self.machine.run(&mut self.walk, *asleep)?
                }
                false => known.clone(),
            };
            under.sleep.push((*asleep, known));
        }
        self.trace.push(self.machine, step, label);
        Ok(())
    }

    /// Turn round every race not met before.
    fn turn_races(&mut self) -> Result<(), M::Error> {
        let length = self.trace.len();
        let settled = match self.machine.labels_depend_on_order() {
            true => 0,
            false => self.settled,
        };
        for later in settled..length {
            for at in 0..self.trace.races(later).len() {
                let first = self.trace.races(later)[at];
                self.turn((first, later), self.trace.steps[later].process)?;
            }
        }
        self.settled = length;
        self.stifle()?;
        let mut waiting = Vec::new();
        self.machine
            .waiting(&self.levels[length].state, &mut waiting);
        for (process, label) in waiting {
            for first in self.trace.races_of(self.machine, process, &label) {
                self.turn((first, length), process)?;
            }
        }
        Ok(())
    }

    /// Owe the level of `first` an execution in which `process`, which came `later`, is before it.
    fn turn(&mut self, (first, later): (usize, usize), process: u32) -> Result<(), M::Error> {
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.clear();
        self.stay.clone_from(&self.levels[first].state);
        self.forks.clear();
        for event in first + 1..self.trace.len() {
            if self.trace.before(first, event)
                || (!self.machine.labels_depend_on_order() && self.is_open(later, event))
            {
                continue;
            }
            let step = self.trace.steps[event];
            let label = self.machine.run(&mut self.stay, step)?;
            sequence.push((step, label));
        }
        self.owe_after(first, &mut sequence, process)?;
        self.sequence = sequence;
        Ok(())
    }

    /// Owe `sequence`, which leads to `stay`, and then each choice of `process`.
    fn owe_after(
        &mut self,
        depth: usize,
        sequence: &mut Vec<Labelled<M>>,
        process: u32,
    ) -> Result<(), M::Error> {
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        self.machine.choices(&self.stay, process, &mut steps)?;
        for &step in &steps {
            self.walk.clone_from(&self.stay);
            let label = self.machine.run(&mut self.walk, step)?;
            sequence.push((step, label));
            self.insert_wakeup(depth, sequence)?;
            sequence.pop();
        }
        self.steps = steps;
        Ok(())
    }

    /// Owe each level an execution in which a process that its step disables gets its turn before.
    fn stifle(&mut self) -> Result<(), M::Error> {
        let length = self.trace.len();
        let mut disabled_by = Vec::new();
        for first in 0..length {
            let [before, after, last] = [first, first + 1, length].map(|at| &self.levels[at].state);
            if !self.machine.may_disable(before, after, last)? {
                continue;
            }
            let mut sequence = std::mem::take(&mut self.sequence);
            sequence.clear();
            self.stay.clone_from(before);
            for event in first + 1..length {
                if !self.trace.before(first, event) {
                    let step = self.trace.steps[event];
                    let label = self.machine.run(&mut self.stay, step)?;
                    sequence.push((step, label));
                }
            }
            disabled_by.clear();
            let [before, after] = [first, first + 1].map(|at| &self.levels[at].state);
            self.machine
                .disabled_by((before, after), &self.stay, &mut disabled_by)?;
            for &process in &disabled_by {
                self.owe_after(first, &mut sequence, process)?;
            }
            self.sequence = sequence;
        }
        Ok(())
    }

    /// Whether an event after `later` is a choice, or happens after one: then it may be another, or
    /// none, in an execution that has the same race.
    fn is_open(&mut self, later: usize, event: usize) -> bool {
        if event <= later {
            return false;
        }
        let after = |&fork: &usize| self.trace.before(fork, event);
        let open = self.levels[event].forked || self.forks.iter().any(after);
        if open {
            self.forks.push(event);
        }
        open
    }
}
