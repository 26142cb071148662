//! Steps by names that are the same in every process, and what is said of parts in such names.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::apart::Witness;
use super::debt::{Debt, Debts};
use super::offer::Handed;
use super::stack::{Labelled, Stack};
use super::{Machine, Step};
use crate::search::shard::wire::{Packer, Unpacker, damaged};

/// A process, which of its steps, and what else tells it from others.
pub type Name = [u64; 3];

/// A machine whose steps have names.
pub trait Named: Machine<Error = PyErr> {
    /// What the state is called in which executions begin.
    fn origin(&self) -> u64;

    /// The first part of the name of each of its steps.
    fn process_name(&self, process: u32) -> u64;

    /// `after` is the state that the step led to.
    fn name(&self, step: Step, after: &Self::State) -> Name;

    /// Forget that more steps than these were run.
    fn set_work(&mut self, steps: u64);
}

/// What a part is called, whose root is the deepest level.
pub fn name_of<M: Named, S: Default>(stack: &mut Stack<'_, M, S>) -> PyResult<Vec<u8>> {
    let mut out = Packer::default();
    out.long(stack.machine.origin());
    out.long(stack.reversed as u64);
    let steps = stack.trace.steps.iter().zip(&stack.levels[1..]);
    let way: Vec<Name> = steps
        .map(|(&step, level)| stack.machine.name(step, &level.state))
        .collect();
    out.longs(way.as_flattened());
    let level = &stack.levels[stack.trace.len()];
    let work = stack.machine.work();
    let mut asleep: Vec<Name> = Vec::new();
    for (step, _) in &level.sleep {
        stack.walk.clone_from(&level.state);
        stack.machine.run(&mut stack.walk, *step)?;
        asleep.push(stack.machine.name(*step, &stack.walk));
    }
    stack.machine.set_work(work);
    out.longs(asleep.as_flattened());
    Ok(out.bytes)
}

pub fn names(words: &[u64]) -> PyResult<Vec<Name>> {
    let (names, rest) = words.as_chunks();
    match rest {
        [] => Ok(names.to_vec()),
        _ => Err(damaged()),
    }
}

/// The step called so in a state.
pub fn find<M: Named>(machine: &mut M, state: &M::State, name: Name) -> PyResult<Labelled<M>> {
    let mut after = state.clone();
    let (work, mut steps) = (machine.work(), Vec::new());
    machine.enabled(state, &mut steps)?;
    steps.retain(|step| machine.process_name(step.process) == name[0]);
    for step in steps {
        after.clone_from(state);
        let label = machine.run(&mut after, step)?;
        if machine.name(step, &after) == name {
            machine.set_work(work);
            return Ok((step, label));
        }
    }
    let lost = "a step of another process is not possible here";
    Err(PyRuntimeError::new_err(lost))
}

pub fn write_debts<M: Named, S: Default>(
    stack: &mut Stack<'_, M, S>,
    debts: Debts<M>,
    out: &mut Packer,
) -> PyResult<()> {
    let (debts, work) = (debts.into_all(), stack.machine.work());
    out.long(debts.len() as u64);
    for (level, debt) in debts {
        out.long(level as u64);
        let state = &stack.levels[level].state;
        let (kind, called) = match debt {
            Debt::Sequence(sequence) => {
                let mut called = Vec::new();
                stack.walk.clone_from(state);
                for (step, _) in sequence {
                    stack.machine.run(&mut stack.walk, step)?;
                    called.extend(stack.machine.name(step, &stack.walk));
                }
                (0, called)
            }
            Debt::Initials(steps) => {
                let mut called = Vec::new();
                for step in steps {
                    stack.walk.clone_from(state);
                    stack.machine.run(&mut stack.walk, step)?;
                    called.extend(stack.machine.name(step, &stack.walk));
                }
                (1, called)
            }
            Debt::Processes(processes) => {
                let called = processes.iter();
                let called = called.map(|process| stack.machine.process_name(*process));
                (2, called.collect())
            }
        };
        out.word(kind);
        out.longs(&called);
    }
    stack.machine.set_work(work);
    Ok(())
}

fn read_debt<M: Named, S: Default>(
    stack: &mut Stack<'_, M, S>,
    level: usize,
    (kind, called): (u32, &[u64]),
) -> PyResult<Debt<M>> {
    let level = stack.levels.get(level).ok_or_else(damaged)?;
    Ok(match kind {
        0 => {
            stack.walk.clone_from(&level.state);
            let mut sequence = Vec::new();
            for name in names(called)? {
                let state = stack.walk.clone();
                let (step, label) = find(stack.machine, &state, name)?;
                stack.machine.run(&mut stack.walk, step)?;
                sequence.push((step, label));
            }
            Debt::Sequence(sequence)
        }
        1 => {
            let called = names(called)?.into_iter();
            let found = called.map(|name| Ok(find(stack.machine, &level.state, name)?.0));
            Debt::Initials(found.collect::<PyResult<_>>()?)
        }
        // One that can do nothing there is not tried anyway.
        _ => {
            let mut enabled = Vec::new();
            stack.machine.enabled(&level.state, &mut enabled)?;
            let process = |name: &u64| {
                let here = |step: &&Step| stack.machine.process_name(step.process) == *name;
                enabled.iter().find(here).map(|step| step.process)
            };
            Debt::Processes(called.iter().filter_map(process).collect())
        }
    })
}

pub fn read_handed<M: Named, S: Default, V: Witness<M>>(
    stack: &mut Stack<'_, M, S>,
    handed: &[u8],
) -> PyResult<Handed<M, V::Record>> {
    let mut from = Unpacker::new(handed);
    let (reversed, work) = (from.long()? as usize, from.long()?);
    let (before, mut debts) = (stack.machine.work(), Vec::new());
    for _ in 0..from.long()? {
        let level = from.long()? as usize;
        let (kind, called) = (from.word()?, from.longs()?);
        debts.push((level, read_debt(stack, level, (kind, &called))?));
    }
    stack.machine.set_work(before);
    Ok(Handed {
        debts,
        record: V::read(&mut from)?,
        asleep: Vec::new(),
        reversed,
        work,
    })
}
