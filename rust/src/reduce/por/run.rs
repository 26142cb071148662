//! The loop that every reduction shares: down into what is to be explored, up when nothing is left.

use super::desk::{Collected, Desk};
use super::stack::{Backtrack, Stack};
use super::{Machine, Visitor};

pub fn explore<M: Machine, B: Backtrack<M>, V: Visitor<M>>(
    machine: &mut M,
    mut backtrack: B,
    visitor: &mut V,
    desk: &mut impl Desk<M, B, V>,
) -> Result<(), M::Error> {
    let mut stack = Stack::new(machine)?;
    run(&mut stack, &mut backtrack, visitor, desk).map(drop)
}

/// Explore what is below the floor; false if the visitor, or the desk, had enough.
pub fn run<M: Machine, B: Backtrack<M>, V: Visitor<M>>(
    stack: &mut Stack<'_, M, B::Set>,
    backtrack: &mut B,
    visitor: &mut V,
    desk: &mut impl Desk<M, B, V>,
) -> Result<bool, M::Error> {
    if !stack.arrive(backtrack, visitor)? {
        return Ok(false);
    }
    loop {
        if let Some(step) = backtrack.next(stack)? {
            stack.descend(backtrack, step)?;
            match desk.collect(stack, backtrack, visitor)? {
                Collected::Nothing => {}
                Collected::All => continue,
                Collected::Enough => return Ok(false),
            }
            if !stack.arrive(backtrack, visitor)? {
                return Ok(false);
            }
            desk.offer(stack, backtrack, visitor)?;
        } else if stack.depth() == stack.floor || !stack.ascend(backtrack) {
            return Ok(true);
        }
    }
}
