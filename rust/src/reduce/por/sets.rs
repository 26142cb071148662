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

use super::debt::{Debt, Debts};
use super::stack::{self, Backtrack, Race, Reversal};
use super::{Machine, Step};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    All,
    Persistent,
    Source,
}

/// A kind of set, and what is asked for above the floor.
pub struct Sets<M: Machine> {
    kind: Kind,
    debts: Debts<M>,
}

impl<M: Machine> Sets<M> {
    pub fn of(kind: Kind) -> Self {
        Sets {
            kind,
            debts: Debts::default(),
        }
    }
}

#[derive(Default)]
pub struct Set {
    tried: Vec<u32>,
    todo: Vec<Step>,
    next: usize,
}

type Stack<'a, M> = stack::Stack<'a, M, Set>;

impl<M: Machine> Backtrack<M> for Sets<M> {
    const REVERSES_BLOCKED: bool = true;

    fn reduces(&self) -> bool {
        self.kind != Kind::All
    }

    fn open(&mut self, set: &mut Set) {
        set.next = 0;
        set.todo.clear();
        set.tried.clear();
    }

    fn has_more(&self, set: &Set) -> bool {
        set.next < set.todo.len()
    }

    fn begins_with_all(&self) -> bool {
        self.kind == Kind::All
    }

    fn begin(&mut self, stack: &mut Stack<'_, M>, step: Step) -> Result<(), M::Error> {
        let depth = stack.depth();
        if self.kind == Kind::All {
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

    /// Steps are added at the end.
    fn pending(&self, stack: &Stack<'_, M>, depth: usize) -> Option<Step> {
        let level = &stack.levels[depth];
        let mut left = level.backtrack.todo[level.backtrack.next..].iter();
        left.find(|&&step| !level.sleeps(step)).copied()
    }

    fn is_free(&self) -> bool {
        true
    }

    fn retrace(&mut self, _stack: &mut Stack<'_, M>, _step: Step) -> Result<(), M::Error> {
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
            Debt::Initials(steps) => cover(stack, depth, steps.iter().copied()),
            Debt::Processes(processes) => persist(stack, depth, processes),
            Debt::Sequence(_) => Ok(()), // of another reduction
        }
    }
}

impl<M: Machine> Reversal<M> for Sets<M> {
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
        if self.kind == Kind::Persistent {
            let processes = helpers(stack, race);
            if race.first < stack.floor {
                self.debts.add_processes(race.first, processes);
                return Ok(());
            }
            return persist(stack, race.first, &processes);
        }
        stack.sequence.push((step, label));
        let initials: Vec<Step> = initials(stack).collect();
        stack.sequence.pop();
        if race.first < stack.floor {
            self.debts.add_initials(race.first, initials);
            return Ok(());
        }
        cover(stack, race.first, initials.into_iter())
    }
}

/// See that one of the steps that can begin a sequence is tried at a level, or sleeps there.
fn cover<M: Machine>(
    stack: &mut Stack<'_, M>,
    depth: usize,
    initials: impl Iterator<Item = Step>,
) -> Result<(), M::Error> {
    let level = &stack.levels[depth];
    let covers = |&step: &Step| level.backtrack.tried.contains(&step.process) || level.sleeps(step);
    let mut first = None;
    let mut initials = initials;
    let covered = initials.any(|step| {
        first.get_or_insert(step.process);
        covers(&step)
    });
    if let Some(process) = first.filter(|_| !covered) {
        attempt(stack, depth, process)?;
    }
    Ok(())
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

/// The processes one of which must be tried: that of the race, and those that it waits for.
fn helpers<M: Machine>(stack: &Stack<'_, M>, race: Race) -> Vec<u32> {
    let Race {
        first,
        later,
        process,
    } = race;
    // A step that never came has no clock; then all are tried.
    let came = later < stack.depth();
    let helps = |event: &usize| {
        came && !stack.trace.before(first, *event) && stack.trace.before(*event, later)
    };
    let events = (first + 1..later).filter(helps);
    let helpers = events.map(|event| stack.trace.steps[event].process);
    std::iter::once(process).chain(helpers).collect()
}

/// Try the first of these processes that does not sleep at a level; if all do, all enabled ones.
fn persist<M: Machine>(
    stack: &mut Stack<'_, M>,
    depth: usize,
    processes: &[u32],
) -> Result<(), M::Error> {
    for &process in processes {
        if attempt(stack, depth, process)? {
            return Ok(());
        }
    }
    let mut steps = Vec::new();
    stack
        .machine
        .enabled(&stack.levels[depth].state, &mut steps)?;
    for step in steps {
        attempt(stack, depth, step.process)?;
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
