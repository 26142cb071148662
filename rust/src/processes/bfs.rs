//! Breadth first over distinct states: shortest paths, and no state twice.

use std::collections::VecDeque;

use pyo3::prelude::*;

use super::met::{Met, START};
use super::state::State;
use super::world::World;
use crate::reduce::por::Machine;

pub fn search(met: &mut Met<'_>, world: &mut World) -> PyResult<()> {
    let start = world.start()?;
    let mut queue = VecDeque::new();
    let mut spare = Vec::new();
    met.meet(world, &start, START)?;
    queue.push_back((0u32, 0usize, start));
    let mut steps = Vec::new();
    while let Some((at, depth, state)) = queue.pop_front() {
        if met.gauge.driver.stopping() || world.memo.grew {
            break;
        }
        met.list(world, (at, &state), depth, &mut steps)?;
        for &step in &steps {
            let mut next: State = spare.pop().unwrap_or_default();
            next.clone_from(&state);
            match met.run(world, &mut next, (at, step), depth)? {
                Some(known) => queue.push_back((known, depth + 1, next)),
                None => spare.push(next),
            }
        }
        spare.push(state);
    }
    Ok(())
}
