//! Optimal dynamic partial-order reduction: one execution of each class, and none begun in vain.
//!
//! A race inserts its sequence at the level of its first event, unless what sleeps there covers
//! it. Sequences are kept in wake-up trees. See "Source Sets: A Foundation for Optimal Dynamic
//! Partial Order Reduction" (Abdulla, Aronis, Jonsson, Sagonas).
//!
//! A race is reversed once. What later executions with the same prefix up to j would insert is
//! covered then: of what comes after j the sequence holds only what no choice can change, and what
//! else can come first there races with it. Where `labels_depend_on_order`, a race is reversed
//! whenever it is met, and its sequence holds all that is not after i.
//!
//! A choice is no race: the others are inserted where the first is taken, as sequences of one step.
//! Where `labels_depend_on_order`, they are explored right after it, covered or not: then, wherever
//! a step sleeps, all other choices of its process sleep too, and what is left out because one of
//! them covers it is covered whatever the choice. The price is a few executions begun in vain.

use super::debt::{Debt, Debts};
use super::stack::{self, Backtrack, Race, Reversal, Twigs};
use super::tree::{Forest, NONE};
use super::{Machine, Step};

pub struct Set {
    /// The wake-up tree.
    pub tree: u32,
    /// Whether the step taken here could have turned out otherwise.
    forked: bool,
}

impl Default for Set {
    fn default() -> Self {
        Set {
            tree: NONE,
            forked: false,
        }
    }
}

pub type Stack<'a, M> = stack::Stack<'a, M, Set>;

pub struct Odpor<M: Machine> {
    pub forest: Forest<M::Label>,
    /// The step to take next, where the tree of the deepest level is empty.
    first: Option<Step>,
    /// What is below the step taken last.
    below: u32,
    forks: Vec<usize>,
    debts: Debts<M>,
}

impl<M: Machine> Default for Odpor<M> {
    fn default() -> Self {
        Odpor {
            forest: Forest::default(),
            first: None,
            below: NONE,
            forks: Vec::new(),
            debts: Debts::default(),
        }
    }
}

impl<M: Machine> Backtrack<M> for Odpor<M> {
    fn open(&mut self, set: &mut Set) {
        set.tree = std::mem::replace(&mut self.below, NONE);
    }

    fn has_more(&self, set: &Set) -> bool {
        set.tree != NONE
    }

    fn begin(&mut self, _stack: &mut Stack<'_, M>, step: Step) -> Result<(), M::Error> {
        self.first = Some(step);
        Ok(())
    }

    fn next(&mut self, stack: &mut Stack<'_, M>) -> Result<Option<Step>, M::Error> {
        let depth = stack.depth();
        let tree = &mut stack.levels[depth].backtrack.tree;
        let first = self.first.take().map(|step| (step, NONE));
        let Some((step, below)) = first.or_else(|| self.forest.shift(tree)) else {
            return Ok(None);
        };
        self.below = below;
        self.siblings(stack, step)?;
        Ok(Some(step))
    }

    /// Branches are added on the right, so the first one stays the first until it is taken.
    fn pending(&self, stack: &Stack<'_, M>, depth: usize) -> Option<Step> {
        let tree = stack.levels[depth].backtrack.tree;
        (tree != NONE).then(|| self.forest.get(tree).step)
    }

    fn below(&self, stack: &Stack<'_, M>, depth: usize) -> Twigs<M> {
        let tree = stack.levels[depth].backtrack.tree;
        self.forest.twigs(self.forest.get(tree).first)
    }

    fn plant(&mut self, below: &Twigs<M>) {
        self.below = self.forest.plant(below);
    }

    fn is_as(&self, below: &Twigs<M>) -> bool {
        self.forest.is_as(self.below, below)
    }

    fn close(&mut self, set: &mut Set) {
        self.forest.clear(std::mem::replace(&mut set.tree, NONE));
    }

    fn is_free(&self) -> bool {
        self.below == NONE
    }

    fn retrace(&mut self, stack: &mut Stack<'_, M>, step: Step) -> Result<(), M::Error> {
        let level = &mut stack.levels[stack.trace.len()];
        stack.steps.clear();
        stack
            .machine
            .choices(&level.state, step.process, &mut stack.steps)?;
        level.backtrack.forked = stack.steps.len() > 1;
        Ok(())
    }

    fn debts(&mut self) -> &mut Debts<M> {
        &mut self.debts
    }

    fn settle(
        &mut self,
        stack: &mut Stack<'_, M>,
        depth: usize,
        debt: &Debt<M>,
    ) -> Result<(), M::Error> {
        match debt {
            Debt::Sequence(sequence) => self.insert_wakeup(stack, depth, sequence),
            _ => Ok(()), // of another reduction
        }
    }
}

impl<M: Machine> Reversal<M> for Odpor<M> {
    type Set = Set;

    fn sequence(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        let all = stack.machine.labels_depend_on_order();
        self.forks.clear();
        stack.set_sequence(race.first, stack.depth(), |stack, event| {
            all || !self.is_open(stack, race.later, event)
        })
    }

    fn add(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        let mut steps = std::mem::take(&mut stack.steps);
        steps.clear();
        stack
            .machine
            .choices(&stack.free, race.process, &mut steps)?;
        let mut sequence = std::mem::take(&mut stack.sequence);
        for &step in &steps {
            stack.walk.clone_from(&stack.free);
            let label = stack.machine.run(&mut stack.walk, step)?;
            sequence.push((step, label));
            if race.first < stack.floor {
                let once = stack.machine.labels_depend_on_order();
                self.debts.add_sequence(race.first, &sequence, once);
            } else {
                self.insert_wakeup(stack, race.first, &sequence)?;
            }
            sequence.pop();
        }
        (stack.steps, stack.sequence) = (steps, sequence);
        Ok(())
    }
}

impl<M: Machine> Odpor<M> {
    /// Insert the other ways in which this step's choice can turn out.
    fn siblings(&mut self, stack: &mut Stack<'_, M>, step: Step) -> Result<(), M::Error> {
        let depth = stack.depth();
        let mut steps = std::mem::take(&mut stack.steps);
        steps.clear();
        let level = &mut stack.levels[depth];
        stack
            .machine
            .choices(&level.state, step.process, &mut steps)?;
        level.backtrack.forked = steps.len() > 1;
        let others = || steps.iter().filter(|&&other| other != step);
        if stack.machine.labels_depend_on_order() {
            for &other in others().rev() {
                self.bring(stack, depth, other)?;
            }
        } else {
            for &other in others() {
                stack.walk.clone_from(&stack.levels[depth].state);
                let label = stack.machine.run(&mut stack.walk, other)?;
                self.insert_wakeup(stack, depth, &[(other, label)])?;
            }
        }
        stack.steps = steps;
        Ok(())
    }

    /// Have a step explored next at a level, unless it sleeps.
    fn bring(
        &mut self,
        stack: &mut Stack<'_, M>,
        depth: usize,
        step: Step,
    ) -> Result<(), M::Error> {
        let level = &mut stack.levels[depth];
        let asleep = level.sleeps(step);
        let tree = &mut level.backtrack.tree;
        if !asleep && !self.forest.bring(tree, step) {
            stack.walk.clone_from(&level.state);
            let label = stack.machine.run(&mut stack.walk, step)?;
            self.forest.prepend(tree, step, label);
        }
        Ok(())
    }

    /// Whether an event after `later` is a choice, or happens after one: then it may be another, or
    /// none, in an execution that has the same race.
    fn is_open(&mut self, stack: &Stack<'_, M>, later: usize, event: usize) -> bool {
        if event <= later {
            return false;
        }
        let after = |&fork: &usize| stack.trace.before(fork, event);
        let open = stack.levels[event].backtrack.forked || self.forks.iter().any(after);
        if open {
            self.forks.push(event);
        }
        open
    }
}
