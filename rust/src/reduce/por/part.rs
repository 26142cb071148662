//! A part of a tree, explored by one thread for another.

use std::sync::atomic::Ordering::Relaxed;

use super::debt::{Debt, Debts};
use super::desk::Shared;
use super::odpor::Odpor;
use super::offer::{Handed, Offer, Pool, Progress};
use super::run::run;
use super::sets::{Kind, Sets};
use super::stack::{Backtrack, Stack};
use super::{Machine, Reduction, Step, Visitor};
use crate::python::turn::Ahead;

/// Go on as if a part had been explored here.
pub fn take_over<M: Machine, B: Backtrack<M>, V: Visitor<M>>(
    stack: &mut Stack<'_, M, B::Set>,
    backtrack: &mut B,
    visitor: &mut V,
    handed: Handed<M, V::Record>,
) -> Result<(), M::Error> {
    settle(stack, backtrack, handed.debts)?;
    stack.reversed = handed.reversed;
    stack.machine.add_work(handed.work);
    visitor.absorb(handed.record)
}

/// Grant what a part asks for, and leave nothing to explore below it.
pub fn settle<M: Machine, B: Backtrack<M>>(
    stack: &mut Stack<'_, M, B::Set>,
    backtrack: &mut B,
    debts: Vec<(usize, Debt<M>)>,
) -> Result<(), M::Error> {
    let depth = stack.depth();
    backtrack.open(&mut stack.levels[depth].backtrack);
    backtrack.close(&mut stack.levels[depth].backtrack);
    let once = stack.machine.labels_depend_on_order();
    for (level, debt) in debts {
        if level < stack.floor {
            backtrack.debts().pass_on(level, debt, once);
        } else {
            backtrack.settle(stack, level, &debt)?;
        }
    }
    Ok(())
}

/// Take what is offered until the pool is closed.
pub fn serve<M: Machine, V: Visitor<M>>(pool: &Pool<'_, M, V>) {
    let mut desk = Shared::new(pool);
    pool.idle.fetch_add(1, Relaxed);
    while !pool.is_closed() {
        let Some(part) = pool.take(None) else {
            pool.bell.wait(|| pool.is_closed());
            continue;
        };
        pool.idle.fetch_sub(1, Relaxed);
        if !desk.help(&part) {
            *part.progress.lock() = Progress::Failed;
            pool.bell.ring();
            return;
        }
        pool.idle.fetch_add(1, Relaxed);
    }
    pool.idle.fetch_sub(1, Relaxed);
}

/// Explore a part, and say what came of it.
pub fn explore_part<M: Machine, V: Visitor<M>>(
    desk: &mut Shared<'_, '_, M, V>,
    offer: &Offer<M, V::Record>,
    machine: &mut M,
    visitor: &mut V,
) {
    let _ahead = Ahead::of(&offer.turn);
    let explored = match desk.pool.reduction {
        Reduction::None => follow(desk, offer, Sets::of(Kind::All), (machine, visitor)),
        Reduction::Dpor => follow(desk, offer, Sets::of(Kind::Persistent), (machine, visitor)),
        Reduction::Sdpor => follow(desk, offer, Sets::of(Kind::Source), (machine, visitor)),
        Reduction::Odpor => follow(desk, offer, Odpor::default(), (machine, visitor)),
    };
    // An error is met again, in its order, by the thread that collects.
    let record = visitor.hand_in();
    let handed = explored.ok().flatten().zip(record);
    *offer.progress.lock() = match handed {
        Some((part, record)) => Progress::Done(Handed {
            debts: part.debts.into_all(),
            asleep: part.asleep,
            reversed: part.reversed,
            work: part.work,
            record,
        }),
        None => Progress::Failed,
    };
    desk.pool.bell.ring();
}

struct Part<M: Machine> {
    debts: Debts<M>,
    asleep: Vec<Step>,
    reversed: usize,
    work: u64,
}

/// Explore what is below the node of an offer; `None` if not all of it was.
fn follow<M: Machine, B: Backtrack<M>, V: Visitor<M>>(
    desk: &mut Shared<'_, '_, M, V>,
    offer: &Offer<M, V::Record>,
    mut backtrack: B,
    (machine, visitor): (&mut M, &mut V),
) -> Result<Option<Part<M>>, M::Error> {
    machine.adopt(&offer.brief)?;
    if machine.version() != offer.version {
        return Ok(None);
    }
    let mut stack = Stack::new(machine)?;
    for &step in &offer.prefix {
        let label = stack.lead(step)?;
        match backtrack.reduces() {
            true => stack.trace.push(stack.machine, step, label),
            false => stack.trace.steps.push(step),
        }
    }
    let level = stack.depth();
    stack.levels[level].sleep.clone_from(&offer.sleep);
    backtrack.retrace(&mut stack, offer.step)?;
    stack.descend(&backtrack, offer.step)?;
    backtrack.plant(&offer.below);
    stack.floor = stack.depth();
    stack.reversed = if backtrack.reduces() { level } else { 0 };
    let asleep = stack.levels[stack.floor].sleep.iter();
    let asleep = asleep.map(|(step, _)| *step).collect();
    let before = stack.machine.work();
    if !run(&mut stack, &mut backtrack, visitor, desk)? || stack.machine.version() != offer.version
    {
        return Ok(None);
    }
    Ok(Some(Part {
        asleep,
        reversed: stack.reversed,
        work: stack.machine.work() - before,
        debts: std::mem::take(backtrack.debts()),
    }))
}
