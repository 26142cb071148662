//! Reversals that wait in a queue: `dpor` without depth first.
//!
//! A stack permutes the end of its first execution before it touches the beginning. Here every
//! race of an execution makes a *prefix*: all that does not happen after the first event, then the
//! process of the later one. The most promising prefix is run on to an end, and so on.
//!
//! A *configuration* is a set of events that holds, with each, all that happens before it. An
//! event is its step with its past, so a configuration is a class of prefixes, and its digest is
//! a sum over its events. A prefix whose configuration was queued, or passed by an execution, is
//! not queued again; and an execution that comes to one passed by another is given up there.
//!
//! When the queue is empty all classes were met. Claim: if an execution that was run contains the
//! configuration C, then all executions that contain C are of classes that were run. By induction,
//! the largest C first: let it hold for all that are larger. It is enough that each event f that
//! can follow C is in some execution with C that was run. One event x is, as the first execution
//! goes on after C. By the claim for C and x, *every* class with these was run.
//!
//! 1. f and x are independent: then they are together in an execution, which was run.
//! 2. They are choices of one process. What does not happen after x, C aside, is independent of
//!    x, so of f. f stays possible there: the prefix of a choice that turns out otherwise.
//! 3. They are dependent, and after x the process of f can step, by j. Take an execution that goes
//!    on from C with x and j. It has the race (x, j), and its prefix is C, some u, and the process
//!    of f. All of u is independent of x and of j. If it is of f, too, the prefix contains C and f.
//!    Else let y be the first in u that depends on f. If anything in u comes before y, its first
//!    event is independent of f and can follow C: case 1 with that for x. If not, y can follow C,
//!    depends on f, not on j, and leaves f as it is. Then take y for x: j is now f, and u is
//!    independent of it.
//! 4. They are dependent, and x disables the process of f: `Machine::disabled_by` gives the
//!    prefix, and the rest is as in case 3. Where two events both disable it, `Machine::may_hide`
//!    gives the prefix without either.
//!
//! Case 3 asks of a machine that what depends on a step before x, and not after x, leaves that step
//! as it is. Where labels do not depend on order, there is no such y. An execution that was given
//! up had come to a configuration that another one contains, and so is its prefix: nothing is lost.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::stack::{self, Race, Reversal};
use super::{End, Machine, Step, Visitor};
use crate::table::fingerprint::combine_iter;

type Stack<'a, M> = stack::Stack<'a, M, ()>;

/// Names an event, or by a wrapping sum a set of them.
type Digest = u128;

fn digest(step: Step, past: Digest) -> Digest {
    let words = [u64::from(step.process), step.choice as u64];
    let words = [words[0], words[1], past as u64, (past >> 64) as u64];
    let half = |salt: u64| Digest::from(combine_iter(words.into_iter().chain([salt])));
    half(0) << 64 | half(1)
}

/// The beginning of an execution that is still to be run.
#[derive(Default)]
struct Prefix {
    steps: Box<[Step]>,
    /// Of these, as many lead through states that were entered.
    entered: usize,
    configuration: Digest,
    /// Races reversed since the first execution.
    reversals: u32,
}

/// The least is run first: those that try something urgent, then those with few reversals, then
/// those queued early.
type Rank = (bool, u32, u64);

#[derive(Default)]
struct Queue {
    waiting: BTreeMap<Rank, Prefix>,
    queued: FxHashSet<Digest>,
    passed: FxHashSet<Digest>,
    /// Of the execution at hand: its events, and the configurations after each of them.
    events: Vec<Digest>,
    configurations: Vec<Digest>,
    reversals: u32,
    number: u64,
}

/// Explore until every class was met.
pub fn explore<M: Machine>(machine: &mut M, visitor: &mut impl Visitor<M>) -> Result<(), M::Error> {
    let mut stack = Stack::new(machine)?;
    let mut queue = Queue::default();
    let mut next = Some(Prefix::default());
    while let Some(prefix) = next {
        let Some(how) = queue.follow(&mut stack, &prefix, visitor, |_| 0)? else {
            return Ok(());
        };
        if how != End::Asleep {
            queue.passed.extend(&queue.configurations);
            queue.reverse_all(&mut stack)?;
        }
        next = queue.pop();
    }
    Ok(())
}

/// Follow one execution as `pick` picks steps, and one from each reversal of its races.
pub fn sample<M: Machine>(
    machine: &mut M,
    visitor: &mut impl Visitor<M>,
    mut pick: impl FnMut(usize) -> usize,
) -> Result<(), M::Error> {
    let mut stack = Stack::new(machine)?;
    let mut queue = Queue::default();
    let first = queue.follow(&mut stack, &Prefix::default(), visitor, &mut pick)?;
    if first.is_none() {
        return Ok(());
    }
    queue.reverse_all(&mut stack)?;
    while let Some(prefix) = queue.pop() {
        let how = queue.follow(&mut stack, &prefix, visitor, &mut pick)?;
        if how.is_none() {
            return Ok(());
        }
    }
    Ok(())
}

impl<M: Machine> Reversal<M> for Queue {
    type Set = ();

    fn sequence(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        stack.set_sequence(race.first, stack.depth(), |_, _| true)
    }

    fn add(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        let mut steps = std::mem::take(&mut stack.steps);
        steps.clear();
        stack
            .machine
            .choices(&stack.free, race.process, &mut steps)?;
        for &step in &steps {
            if step != stack.trace.steps[race.first] {
                stack.walk.clone_from(&stack.free);
                let label = stack.machine.run(&mut stack.walk, step)?;
                self.push(stack, race.first, step, &label);
            }
        }
        stack.steps = steps;
        Ok(())
    }
}

impl Queue {
    /// The next prefix that no execution has passed.
    fn pop(&mut self) -> Option<Prefix> {
        let mut waiting = std::iter::from_fn(|| self.waiting.pop_first());
        let fresh = |(_, prefix): &(Rank, Prefix)| !self.passed.contains(&prefix.configuration);
        waiting.find(fresh).map(|(_, prefix)| prefix)
    }

    /// Run a prefix on to an end, by the steps that `pick` picks; `None` if the visitor has seen
    /// enough.
    fn follow<M: Machine>(
        &mut self,
        stack: &mut Stack<'_, M>,
        prefix: &Prefix,
        visitor: &mut impl Visitor<M>,
        mut pick: impl FnMut(usize) -> usize,
    ) -> Result<Option<End>, M::Error> {
        self.reversals = prefix.reversals;
        self.retreat(stack, prefix);
        if self.configurations.is_empty() {
            self.configurations.push(0);
            if !visitor.enter(stack.machine, &stack.levels[0].state, &[])? {
                return Ok(None);
            }
        }
        for at in stack.depth()..prefix.steps.len() {
            self.advance(stack, prefix.steps[at])?;
            let state = &stack.levels[at + 1].state;
            if at < prefix.entered {
                visitor.pass(state, &stack.trace.steps);
            } else if !visitor.enter(stack.machine, state, &stack.trace.steps)? {
                return Ok(None);
            }
        }
        let how = loop {
            let depth = stack.depth();
            stack.steps.clear();
            stack
                .machine
                .enabled(&stack.levels[depth].state, &mut stack.steps)?;
            if stack.steps.is_empty() {
                break End::Over;
            } else if depth >= visitor.depth() {
                break End::Cut;
            }
            let step = stack.steps[pick(stack.steps.len())];
            self.advance(stack, step)?;
            let (state, path) = (&stack.levels[depth + 1].state, &stack.trace.steps);
            if !visitor.enter(stack.machine, state, path)? {
                return Ok(None);
            }
            if self.passed.contains(&self.configurations[depth + 1]) {
                break End::Asleep;
            }
        };
        let state = &stack.levels[stack.depth()].state;
        let more = visitor.end(stack.machine, state, &stack.trace.steps, how)?;
        Ok(more.then_some(how))
    }

    /// Take back what the execution at hand does not share with a prefix.
    fn retreat<M: Machine>(&mut self, stack: &mut Stack<'_, M>, prefix: &Prefix) {
        let both = stack.trace.steps.iter().zip(&prefix.steps);
        let shared = both.take_while(|(mine, its)| mine == its).count();
        while stack.depth() > shared {
            stack.trace.pop();
        }
        self.events.truncate(shared);
        self.configurations.truncate(shared + 1);
    }

    fn advance<M: Machine>(
        &mut self,
        stack: &mut Stack<'_, M>,
        step: Step,
    ) -> Result<(), M::Error> {
        let label = stack.lead(step)?;
        stack.trace.push(stack.machine, step, label);
        let event = stack.depth() - 1;
        let before = (0..event).filter(|&other| stack.trace.before(other, event));
        let own = digest(step, self.sum(before));
        self.events.push(own);
        let configuration = self.configurations[event].wrapping_add(own);
        self.configurations.push(configuration);
        Ok(())
    }

    fn sum(&self, events: impl Iterator<Item = usize>) -> Digest {
        events.fold(0, |sum, event| sum.wrapping_add(self.events[event]))
    }

    /// Queue what the races of the execution at hand, and its choices, give when turned round.
    fn reverse_all<M: Machine>(&mut self, stack: &mut Stack<'_, M>) -> Result<(), M::Error> {
        stack.reversed = 0;
        stack.reverse_races(self)?;
        let length = stack.depth();
        for first in 0..length {
            let process = stack.trace.steps[first].process;
            stack.steps.clear();
            stack
                .machine
                .choices(&stack.levels[first].state, process, &mut stack.steps)?;
            if stack.steps.len() > 1 {
                stack.reverse(self, first, length, process)?;
            }
        }
        Ok(())
    }

    /// Queue the sequence from the level of `first`, followed by `step`, unless it is known.
    fn push<M: Machine>(
        &mut self,
        stack: &Stack<'_, M>,
        first: usize,
        step: Step,
        label: &M::Label,
    ) {
        let kept = || (0..first).chain(stack.kept.iter().copied());
        let past = stack.trace.past(stack.machine, kept(), step.process, label);
        let own = digest(step, self.sum(past.into_iter()));
        let configuration = self.sum(kept()).wrapping_add(own);
        if self.passed.contains(&configuration) || !self.queued.insert(configuration) {
            return;
        }
        let kept = kept().map(|event| stack.trace.steps[event]);
        let prefix = Prefix {
            steps: kept.chain([step]).collect(),
            entered: first,
            configuration,
            reversals: self.reversals + 1,
        };
        let rank = (
            !stack.machine.is_urgent(step),
            prefix.reversals,
            self.number,
        );
        self.number += 1;
        self.waiting.insert(rank, prefix);
    }
}
