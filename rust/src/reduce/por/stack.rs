//! The execution at hand, level by level: what `dpor`, `sdpor` and `odpor` have in common.
//!
//! A level is a state of the execution, with the steps that sleep there and its backtrack set: what
//! is still to be explored from it. At the end of an execution every race (i, j) is reversed: the
//! steps that do not happen after i, and then the process of j, form a sequence that the level of i
//! must cover. The reductions differ only in what they add to its backtrack set for that.
//!
//! Each race is reversed once, at the end of the first execution that contains it. Where
//! `labels_depend_on_order`, the same race may have another sequence in each execution: there it
//! is reversed in all of them.
//!
//! Two kinds of race have no event j, as its process never ran: a step disabled the process
//! (`Machine::disabled_by`), or the process waits at the end (`Machine::waiting`).

use super::debt::{Debt, Debts};
use super::trace::Trace;
use super::tree::Twig;
use super::{End, Machine, Step, Visitor};

pub type Labelled<M> = (Step, <M as Machine>::Label);
pub type Twigs<M> = Vec<Twig<<M as Machine>::Label>>;

pub struct Level<M: Machine, S> {
    pub state: M::State,
    /// Explored here or above, and independent of all that ran since. Labels are of this state.
    pub sleep: Vec<Labelled<M>>,
    pub backtrack: S,
}

impl<M: Machine, S> Level<M, S> {
    pub fn sleeps(&self, step: Step) -> bool {
        self.sleep.iter().any(|(asleep, _)| *asleep == step)
    }
}

/// `process`, which came at `later` or never, might have come before the event `first`.
#[derive(Clone, Copy)]
pub struct Race {
    pub first: usize,
    /// The length of the execution, if it never came.
    pub later: usize,
    pub process: u32,
}

pub struct Stack<'a, M: Machine, S> {
    pub machine: &'a mut M,
    /// Those beyond the trace are spare, kept for the memory they hold.
    pub levels: Vec<Level<M, S>>,
    pub trace: Trace<M::Label>,
    /// The level of the root: 0, or where a part of a tree begins. What is above belongs to others.
    pub floor: usize,
    /// Events whose races have been reversed.
    pub reversed: usize,
    /// What does not happen after the first event of a race; it leads from its level to `free`.
    pub sequence: Vec<Labelled<M>>,
    /// Which events these are.
    pub kept: Vec<usize>,
    pub free: M::State,
    /// States to try steps in, one of them ahead of the other.
    pub walk: M::State,
    pub ahead: M::State,
    pub steps: Vec<Step>,
}

/// What becomes of races.
pub trait Reversal<M: Machine>: Sized {
    /// What is kept at each level.
    type Set: Default;

    /// Write the sequence of a race, or what of it matters, with `Stack::set_sequence`.
    fn sequence(&mut self, stack: &mut Stack<'_, M, Self::Set>, race: Race)
    -> Result<(), M::Error>;

    /// See that the sequence, from the level of `race.first`, followed by `race.process` is
    /// covered.
    fn add(&mut self, stack: &mut Stack<'_, M, Self::Set>, race: Race) -> Result<(), M::Error>;
}

/// What a reduction explores at each level: `Set` is its backtrack set.
pub trait Backtrack<M: Machine>: Reversal<M> {
    /// Whether the races of an execution that was blocked by sleeping steps are reversed, too.
    const REVERSES_BLOCKED: bool = false;

    /// Whether steps sleep and races are reversed at all.
    fn reduces(&self) -> bool {
        true
    }

    /// Empty the set of a level that a step has just led to.
    fn open(&mut self, set: &mut Self::Set);

    /// Whether something is left to explore.
    fn has_more(&self, set: &Self::Set) -> bool;

    /// Whether `begin` wants to see all enabled steps.
    fn begins_with_all(&self) -> bool {
        false
    }

    /// Begin with `step`, the first that does not sleep of those enabled at the deepest level;
    /// these are in `stack.steps`, as far as they were looked at.
    fn begin(&mut self, stack: &mut Stack<'_, M, Self::Set>, step: Step) -> Result<(), M::Error>;

    /// Take the next step to explore from the set of the deepest level.
    fn next(&mut self, stack: &mut Stack<'_, M, Self::Set>) -> Result<Option<Step>, M::Error>;

    /// The step that is taken from a level on the way once its branch at hand is done, as it seems.
    fn pending(&self, stack: &Stack<'_, M, Self::Set>, depth: usize) -> Option<Step>;

    /// What must be taken first behind the step of `pending`. More may be added meanwhile.
    fn below(&self, _stack: &Stack<'_, M, Self::Set>, _depth: usize) -> Twigs<M> {
        Vec::new()
    }

    /// Have this be taken first from the node that was just descended to.
    fn plant(&mut self, _below: &Twigs<M>) {}

    /// Whether this, and nothing else, must be taken first from the node just descended to.
    fn is_as(&self, below: &Twigs<M>) -> bool {
        below.is_empty()
    }

    /// Leave nothing to explore in a set that was just opened.
    fn close(&mut self, _set: &mut Self::Set) {}

    /// Whether nothing must be taken first from the node that was just descended to.
    fn is_free(&self) -> bool;

    /// Before a step of `pending` is followed from the deepest level by another thread.
    fn retrace(&mut self, stack: &mut Stack<'_, M, Self::Set>, step: Step) -> Result<(), M::Error>;

    /// What races ask for above the floor.
    fn debts(&mut self) -> &mut Debts<M>;

    /// Add what a race asks for to the set of a level.
    fn settle(
        &mut self,
        stack: &mut Stack<'_, M, Self::Set>,
        depth: usize,
        debt: &Debt<M>,
    ) -> Result<(), M::Error>;
}

impl<'a, M: Machine, S: Default> Stack<'a, M, S> {
    /// An execution that has not begun.
    pub fn new(machine: &'a mut M) -> Result<Self, M::Error> {
        let state = machine.start()?;
        let mut stack = Stack {
            machine,
            levels: Vec::new(),
            trace: Trace::default(),
            floor: 0,
            reversed: 0,
            sequence: Vec::new(),
            kept: Vec::new(),
            free: state.clone(),
            walk: state.clone(),
            ahead: state.clone(),
            steps: Vec::new(),
        };
        stack.push_level(state);
        Ok(stack)
    }

    pub fn depth(&self) -> usize {
        self.trace.len()
    }

    fn push_level(&mut self, state: M::State) {
        self.levels.push(Level {
            state,
            sleep: Vec::new(),
            backtrack: S::default(),
        });
    }

    /// In a state just reached: end the execution, or see that there is something to do.
    pub fn arrive<B: Backtrack<M, Set = S>>(
        &mut self,
        backtrack: &mut B,
        visitor: &mut impl Visitor<M>,
    ) -> Result<bool, M::Error> {
        let depth = self.depth();
        let level = &mut self.levels[depth];
        backtrack.open(&mut level.backtrack);
        let path = &self.trace.steps;
        if !visitor.enter(self.machine, &level.state, path)? {
            return Ok(false);
        }
        if backtrack.has_more(&level.backtrack) && depth < visitor.depth() {
            return Ok(true);
        }
        self.steps.clear();
        let awake = |step| !backtrack.begins_with_all() && !level.sleeps(step);
        self.machine
            .enabled_until(&level.state, &mut self.steps, awake)?;
        let how = if self.steps.is_empty() {
            End::Over
        } else if depth >= visitor.depth() {
            End::Cut
        } else if let Some(&step) = self.steps.iter().find(|&&step| !level.sleeps(step)) {
            backtrack.begin(self, step)?;
            return Ok(true);
        } else {
            End::Asleep
        };
        let more = visitor.end(self.machine, &level.state, path, how)?;
        if more && backtrack.reduces() && (how != End::Asleep || B::REVERSES_BLOCKED) {
            self.reverse_races(backtrack)?;
        }
        Ok(more)
    }

    /// Make the level that a step leads to.
    pub fn lead(&mut self, step: Step) -> Result<M::Label, M::Error> {
        let depth = self.depth();
        if self.levels.len() == depth + 1 {
            self.push_level(self.levels[depth].state.clone());
        }
        let (above, under) = self.levels.split_at_mut(depth + 1);
        under[0].state.clone_from(&above[depth].state);
        self.machine.run(&mut under[0].state, step)
    }

    /// Take a step; what sleeps and does not depend on it sleeps on.
    pub fn descend(&mut self, backtrack: &impl Backtrack<M>, step: Step) -> Result<(), M::Error> {
        let depth = self.depth();
        let label = self.lead(step)?;
        let (above, under) = self.levels.split_at_mut(depth + 1);
        let (above, under) = (&above[depth], &mut under[0]);
        if !backtrack.reduces() {
            self.trace.steps.push(step);
            return Ok(());
        }
        under.sleep.clear();
        for (asleep, known) in &above.sleep {
            if asleep.process == step.process || self.machine.dependent(&label, known) {
                continue;
            }
            let known = if self.machine.stale(&label, known) {
                self.walk.clone_from(&under.state);
                self.machine.run(&mut self.walk, *asleep)?
            } else {
                known.clone()
            };
            under.sleep.push((*asleep, known));
        }
        self.trace.push(self.machine, step, label);
        Ok(())
    }

    /// Take the last step back: it sleeps from now on. False at the root.
    pub fn ascend<B: Backtrack<M, Set = S>>(&mut self, backtrack: &B) -> bool {
        if !backtrack.reduces() {
            return self.trace.steps.pop().is_some();
        }
        let depth = self.depth();
        let Some((step, label)) = self.trace.pop() else {
            return false;
        };
        let level = &mut self.levels[depth - 1];
        if backtrack.has_more(&level.backtrack) {
            level.sleep.push((step, label.clone()));
        }
        self.reversed = self.reversed.min(depth - 1);
        true
    }

    /// Reverse every race not met before, those with processes that never ran too.
    pub fn reverse_races<B: Reversal<M, Set = S>>(
        &mut self,
        backtrack: &mut B,
    ) -> Result<(), M::Error> {
        let length = self.depth();
        if self.machine.labels_depend_on_order() {
            self.reversed = 0;
        }
        for later in self.reversed..length {
            let process = self.trace.steps[later].process;
            for at in 0..self.trace.races(later).len() {
                let first = self.trace.races(later)[at];
                self.reverse(backtrack, first, later, process)?;
            }
        }
        self.reversed = length;
        self.reverse_disabling(backtrack)?;
        let mut waiting = Vec::new();
        let last = &self.levels[length].state;
        self.machine.waiting(last, &mut waiting);
        for (process, label) in waiting {
            for first in self.trace.races_of(self.machine, process, &label) {
                self.reverse(backtrack, first, length, process)?;
            }
        }
        Ok(())
    }

    pub fn reverse<B: Reversal<M, Set = S>>(
        &mut self,
        backtrack: &mut B,
        first: usize,
        later: usize,
        process: u32,
    ) -> Result<(), M::Error> {
        let race = Race {
            first,
            later,
            process,
        };
        backtrack.sequence(self, race)?;
        backtrack.add(self, race)
    }

    /// Processes that a step disables might have come before it, and never came.
    fn reverse_disabling<B: Reversal<M, Set = S>>(
        &mut self,
        backtrack: &mut B,
    ) -> Result<(), M::Error> {
        let length = self.depth();
        let mut disabled = Vec::new();
        for first in 0..length {
            let [before, after, last] = [first, first + 1, length].map(|at| &self.levels[at].state);
            if !self.machine.may_disable(before, after, last)? {
                continue;
            }
            self.set_sequence(first, length, |_, _| true)?;
            self.reverse_disabled(backtrack, first, &mut disabled)?;
            for second in first + 1..length {
                if self.trace.before(first, second) || !self.may_hide(first, second)? {
                    continue;
                }
                self.set_sequence(first, length, |stack, event| {
                    !stack.trace.before(second, event)
                })?;
                self.reverse_disabled(backtrack, first, &mut disabled)?;
            }
        }
        Ok(())
    }

    fn may_hide(&mut self, first: usize, second: usize) -> Result<bool, M::Error> {
        let [one, other] = [first, second].map(|at| [at, at + 1].map(|at| &self.levels[at].state));
        self.machine.may_hide(one, other)
    }

    /// Put processes that the step `first` disables after the sequence that leads to `free`.
    fn reverse_disabled<B: Reversal<M, Set = S>>(
        &mut self,
        backtrack: &mut B,
        first: usize,
        disabled: &mut Vec<u32>,
    ) -> Result<(), M::Error> {
        disabled.clear();
        let step = [first, first + 1].map(|at| &self.levels[at].state);
        self.machine
            .disabled_by((step[0], step[1]), &self.free, disabled)?;
        for &process in disabled.iter() {
            let race = Race {
                first,
                later: self.depth(),
                process,
            };
            backtrack.add(self, race)?;
        }
        Ok(())
    }

    /// Run, from the level of `first`, the events before `until` that do not happen after it and
    /// that `keeps` lets through.
    pub fn set_sequence(
        &mut self,
        first: usize,
        until: usize,
        mut keeps: impl FnMut(&Self, usize) -> bool,
    ) -> Result<(), M::Error> {
        self.sequence.clear();
        self.kept.clear();
        self.free.clone_from(&self.levels[first].state);
        for event in first + 1..until {
            if !self.trace.before(first, event) && keeps(self, event) {
                let step = self.trace.steps[event];
                let label = self.machine.run(&mut self.free, step)?;
                self.sequence.push((step, label));
                self.kept.push(event);
            }
        }
        Ok(())
    }
}
