//! Insertion into the wake-up tree of a level: a sequence becomes a branch, unless something that
//! sleeps or waits there covers it.

use super::odpor::{Odpor, Stack};
use super::stack::Labelled;
use super::tree::NONE;
use super::{Machine, Step};

impl<M: Machine> Odpor<M> {
    /// Insert a sequence into the tree of a level, unless something there covers it.
    pub fn insert_wakeup(
        &mut self,
        stack: &mut Stack<'_, M>,
        depth: usize,
        sequence: &[Labelled<M>],
    ) -> Result<(), M::Error> {
        for at in 0..stack.levels[depth].sleep.len() {
            let (asleep, label) = stack.levels[depth].sleep[at].clone();
            let covers = match place_of(sequence, asleep.process) {
                Some(place) => {
                    sequence[place].0 == asleep && is_initial(stack.machine, sequence, place)
                }
                None => stack.passes(depth, &[], (asleep, label), sequence)?,
            };
            if covers {
                return Ok(());
            }
        }
        self.insert(stack, depth, sequence.to_vec())
    }

    /// Follow the first branches that begin some execution equivalent to the sequence; where they
    /// part, a new branch.
    fn insert(
        &mut self,
        stack: &mut Stack<'_, M>,
        depth: usize,
        mut sequence: Vec<Labelled<M>>,
    ) -> Result<(), M::Error> {
        let (mut parent, mut way) = (NONE, Vec::new());
        let mut child = stack.levels[depth].backtrack.tree;
        while child != NONE {
            let (step, label) = {
                let node = self.forest.get(child);
                (node.step, node.label.clone())
            };
            let place = place_of(&sequence, step.process);
            let follows = match place {
                Some(place) => {
                    sequence[place].0 == step && is_initial(stack.machine, &sequence, place)
                }
                None => stack.passes(depth, &way, (step, label.clone()), &sequence)?,
            };
            if !follows {
                child = self.forest.get(child).next;
                continue;
            }
            way.push(step);
            let passed = place.unwrap_or(sequence.len());
            let stale = |(_, known): &Labelled<M>| stack.machine.stale(&label, known);
            let stale = sequence[..passed].iter().any(stale);
            if let Some(place) = place {
                sequence.remove(place);
            }
            if stale {
                stack.relabel(depth, &way, &mut sequence)?;
            }
            parent = child;
            child = self.forest.get(child).first;
            if child == NONE || sequence.is_empty() {
                return Ok(()); // what is explored from that leaf covers it
            }
        }
        let tree = &mut stack.levels[depth].backtrack.tree;
        self.forest.append(tree, parent, &sequence);
        Ok(())
    }
}

impl<M: Machine> Stack<'_, M> {
    /// Whether a step of a process that the sequence lacks is independent of it all, label by label
    /// in the states it passes. `way` leads from the level to where both begin.
    fn passes(
        &mut self,
        depth: usize,
        way: &[Step],
        (step, mut label): Labelled<M>,
        sequence: &[Labelled<M>],
    ) -> Result<bool, M::Error> {
        let mut reached = None; // how much of the sequence has run in `walk`
        for (at, (_, known)) in sequence.iter().enumerate() {
            if self.machine.dependent(known, &label) {
                return Ok(false);
            }
            if self.machine.stale(known, &label) && at + 1 < sequence.len() {
                let from = match reached {
                    Some(from) => from,
                    None => {
                        self.replay(depth, way)?;
                        0
                    }
                };
                for (passed, _) in &sequence[from..=at] {
                    self.machine.run(&mut self.walk, *passed)?;
                }
                reached = Some(at + 1);
                self.ahead.clone_from(&self.walk);
                label = self.machine.run(&mut self.ahead, step)?;
            }
        }
        Ok(true)
    }

    fn replay(&mut self, depth: usize, way: &[Step]) -> Result<(), M::Error> {
        self.walk.clone_from(&self.levels[depth].state);
        for &step in way {
            self.machine.run(&mut self.walk, step)?;
        }
        Ok(())
    }

    /// Labels anew, now that `way` comes before.
    fn relabel(
        &mut self,
        depth: usize,
        way: &[Step],
        sequence: &mut [Labelled<M>],
    ) -> Result<(), M::Error> {
        self.replay(depth, way)?;
        for (step, label) in sequence {
            *label = self.machine.run(&mut self.walk, *step)?;
        }
        Ok(())
    }
}

/// Whether nothing before `place` keeps that step from being the first.
fn is_initial<M: Machine>(machine: &M, sequence: &[Labelled<M>], place: usize) -> bool {
    let label = &sequence[place].1;
    let mut before = sequence[..place].iter();
    before.all(|(_, known)| !machine.dependent(known, label))
}

fn place_of<L>(sequence: &[(Step, L)], process: u32) -> Option<usize> {
    let mut steps = sequence.iter();
    steps.position(|(step, _)| step.process == process)
}
