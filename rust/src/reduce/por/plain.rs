//! Every execution, step by step: the whole tree, for comparison and for tiny programs.

use super::{End, Machine, Step, Visitor};

struct Level<S> {
    state: S,
    todo: Vec<Step>,
    next: usize,
}

pub fn explore<M: Machine>(machine: &mut M, visitor: &mut impl Visitor<M>) -> Result<(), M::Error> {
    let state = machine.start()?;
    let mut path = Vec::new();
    let mut levels = vec![Level {
        state,
        todo: Vec::new(),
        next: 0,
    }];
    if !arrive(machine, visitor, &mut levels[0], &path)? {
        return Ok(());
    }
    loop {
        let depth = path.len();
        let level = &mut levels[depth];
        let Some(&step) = level.todo.get(level.next) else {
            if path.pop().is_none() {
                return Ok(());
            }
            continue;
        };
        level.next += 1;
        if levels.len() == depth + 1 {
            let state = levels[depth].state.clone();
            let (todo, next) = (Vec::new(), 0);
            levels.push(Level { state, todo, next });
        }
        let (above, below) = levels.split_at_mut(depth + 1);
        below[0].state.clone_from(&above[depth].state);
        machine.run(&mut below[0].state, step)?;
        path.push(step);
        if !arrive(machine, visitor, &mut below[0], &path)? {
            return Ok(());
        }
    }
}

/// List what can be done in a state just reached; whether to go on.
fn arrive<M: Machine>(
    machine: &mut M,
    visitor: &mut impl Visitor<M>,
    level: &mut Level<M::State>,
    path: &[Step],
) -> Result<bool, M::Error> {
    level.next = 0;
    level.todo.clear();
    if !visitor.enter(machine, &level.state, path)? {
        return Ok(false);
    }
    machine.enabled(&level.state, &mut level.todo)?;
    let how = match level.todo.is_empty() {
        true => End::Over,
        false if path.len() >= visitor.depth() => End::Cut,
        false => return Ok(true),
    };
    level.todo.clear();
    visitor.end(machine, &level.state, path, how)
}
