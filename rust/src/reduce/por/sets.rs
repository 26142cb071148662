//! Dynamic partial-order reduction with sleep sets: `dpor` after Flanagan and Godefroid, `sdpor`
//! with source sets. Simpler than `odpor`, and begins executions in vain. Without reduction, all
//! that is enabled is tried at every level: the whole tree of executions.
//!
//! A race (i, j) adds a process to those tried at the level of i: `dpor` the process of j where it
//! is enabled there, else one that it waits for, else all; `sdpor` one that can begin the sequence
//! of the race, unless such a one is there already.
//!
//! `dpor` cannot rely on steps that sleep: a set of processes is shown to be persistent by
//! exploring each of them, and what sleeps is not explored, so its own races would go unseen.
//! `sdpor` may rely on them: a sequence that such a step can begin was covered where it was
//! explored.

use super::stack::{self, Backtrack, Race, Reversal};
use super::{Machine, Step};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sets {
    All,
    Persistent,
    Source,
}

#[derive(Default)]
pub struct Set {
    tried: Vec<u32>,
    todo: Vec<Step>,
    next: usize,
}

type Stack<'a, M> = stack::Stack<'a, M, Set>;

impl<M: Machine> Backtrack<M> for Sets {
    const REVERSES_BLOCKED: bool = true;

    fn reduces(&self) -> bool {
        *self != Sets::All
    }

    fn open(&mut self, set: &mut Set) {
        set.next = 0;
        set.todo.clear();
        set.tried.clear();
    }

    fn has_more(&self, set: &Set) -> bool {
        set.next < set.todo.len()
    }

    fn begin(&mut self, stack: &mut Stack<'_, M>, step: Step) -> Result<(), M::Error> {
        let depth = stack.depth();
        if *self == Sets::All {
            stack.levels[depth].backtrack.todo.clone_from(&stack.steps);
        } else {
            attempt(stack, depth, step.process)?;
        }
        Ok(())
    }

    fn next(&mut self, stack: &mut Stack<'_, M>) -> Result<Option<Step>, M::Error> {
        let depth = stack.depth();
        let level = &mut stack.levels[depth];
        while let Some(&step) = level.backtrack.todo.get(level.backtrack.next) {
            level.backtrack.next += 1;
            if !level.sleeps(step) {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }
}

impl<M: Machine> Reversal<M> for Sets {
    type Set = Set;

    fn sequence(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        let all = stack.machine.labels_depend_on_order();
        let until = if all { stack.depth() } else { race.later };
        stack.set_sequence(race.first, until, |_, _| true)
    }

    fn add(&mut self, stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
        stack.steps.clear();
        stack
            .machine
            .choices(&stack.free, race.process, &mut stack.steps)?;
        let Some(&step) = stack.steps.first() else {
            return Ok(()); // it was enabled by the first event
        };
        stack.walk.clone_from(&stack.free);
        let label = stack.machine.run(&mut stack.walk, step)?;
        if *self == Sets::Persistent {
            return persist(stack, race);
        }
        stack.sequence.push((step, label));
        let level = &stack.levels[race.first];
        let covers =
            |&step: &Step| level.backtrack.tried.contains(&step.process) || level.sleeps(step);
        let mut first = None;
        let covered = initials(stack).any(|step| {
            first.get_or_insert(step.process);
            covers(&step)
        });
        if let Some(process) = first.filter(|_| !covered) {
            attempt(stack, race.first, process)?;
        }
        stack.sequence.pop();
        Ok(())
    }
}

/// See that a process, with all its choices, is tried at a level; whether it is.
fn attempt<M: Machine>(
    stack: &mut Stack<'_, M>,
    depth: usize,
    process: u32,
) -> Result<bool, M::Error> {
    let level = &mut stack.levels[depth];
    if level.backtrack.tried.contains(&process) {
        return Ok(true);
    }
    stack.steps.clear();
    stack
        .machine
        .choices(&level.state, process, &mut stack.steps)?;
    stack.steps.retain(|&step| !level.sleeps(step));
    level.backtrack.todo.extend_from_slice(&stack.steps);
    let awake = !stack.steps.is_empty();
    if awake {
        level.backtrack.tried.push(process);
    }
    Ok(awake)
}

fn persist<M: Machine>(stack: &mut Stack<'_, M>, race: Race) -> Result<(), M::Error> {
    let Race {
        first,
        later,
        process,
    } = race;
    if attempt(stack, first, process)? {
        return Ok(());
    }
    // A step that never came has no clock; then all are tried.
    let came = later < stack.depth();
    for event in first + 1..later {
        let apart = !stack.trace.before(first, event);
        if !came || !apart || !stack.trace.before(event, later) {
            continue;
        }
        let helper = stack.trace.steps[event].process;
        if attempt(stack, first, helper)? {
            return Ok(());
        }
    }
    let mut steps = Vec::new();
    stack
        .machine
        .enabled(&stack.levels[first].state, &mut steps)?;
    for step in steps {
        attempt(stack, first, step.process)?;
    }
    Ok(())
}

/// The steps that can begin the sequence.
fn initials<M: Machine>(stack: &Stack<'_, M>) -> impl Iterator<Item = Step> {
    let sequence = &stack.sequence;
    let begins = |&at: &usize| {
        let (step, label) = &sequence[at];
        let mut before = sequence[..at].iter();
        before.all(|(other, known)| {
            other.process != step.process && !stack.machine.dependent(known, label)
        })
    };
    (0..sequence.len()).filter(begins).map(|at| sequence[at].0)
}
