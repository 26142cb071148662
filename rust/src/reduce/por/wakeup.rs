//! What a level of `odpor` still owes: sequences, inserted into its wake-up tree where nothing that
//! sleeps or waits there covers them.

use super::odpor::{Explorer, Labelled};
use super::tree::NONE;
use super::{Machine, Step};

impl<M: Machine> Explorer<'_, M> {
    /// Insert a sequence into the tree of a level, unless something there covers it.
    pub fn insert_wakeup(&mut self, depth: usize, owed: &[Labelled<M>]) -> Result<(), M::Error> {
        for at in 0..self.levels[depth].sleep.len() {
            let (asleep, label) = self.levels[depth].sleep[at].clone();
            let covers = match place_of(owed, asleep.process) {
                Some(place) => owed[place].0 == asleep && self.is_initial(owed, place),
                None => self.passes(depth, &[], (asleep, label), owed)?,
            };
            if covers {
                return Ok(());
            }
        }
        self.insert(depth, owed.to_vec())
    }

    /// Follow the first branches that begin some execution equivalent to `owed`; where they part,
    /// a new branch.
    fn insert(&mut self, depth: usize, mut owed: Vec<Labelled<M>>) -> Result<(), M::Error> {
        let (mut parent, mut way) = (NONE, Vec::new());
        let mut child = self.levels[depth].tree;
        while child != NONE {
            let (step, label) = {
                let node = self.forest.get(child);
                (node.step, node.label.clone())
            };
            let place = place_of(&owed, step.process);
            let follows = match place {
                Some(place) => owed[place].0 == step && self.is_initial(&owed, place),
                None => self.passes(depth, &way, (step, label.clone()), &owed)?,
            };
            if !follows {
                child = self.forest.get(child).next;
                continue;
            }
            way.push(step);
            let passed = place.unwrap_or(owed.len());
            let machine = &self.machine;
            let stale = |(_, known): &Labelled<M>| machine.stale(&label, known);
            let stale = owed[..passed].iter().any(stale);
            if let Some(place) = place {
                owed.remove(place);
            }
            if stale {
                self.relabel(depth, &way, &mut owed)?;
            }
            parent = child;
            child = self.forest.get(child).first;
            if child == NONE || owed.is_empty() {
                return Ok(()); // what is explored from that leaf covers it
            }
        }
        let mut tree = self.levels[depth].tree;
        self.forest.append(&mut tree, parent, &owed);
        self.levels[depth].tree = tree;
        Ok(())
    }

    /// Whether nothing before `place` keeps that step from being the first.
    fn is_initial(&self, owed: &[Labelled<M>], place: usize) -> bool {
        let label = &owed[place].1;
        let mut before = owed[..place].iter();
        before.all(|(_, known)| !self.machine.dependent(known, label))
    }

    /// Whether a step of a process that `owed` lacks is independent of it all, label by label in
    /// the states it passes. `way` leads from the level to where both begin.
    fn passes(
        &mut self,
        depth: usize,
        way: &[Step],
        mine: Labelled<M>,
        owed: &[Labelled<M>],
    ) -> Result<bool, M::Error> {
        let (step, mut label) = mine;
        let mut reached = None; // how many of `owed` have run in the scratch state
        for (at, (_, known)) in owed.iter().enumerate() {
            if self.machine.dependent(known, &label) {
                return Ok(false);
            }
            if self.machine.stale(known, &label) && at + 1 < owed.len() {
                let from = match reached {
                    Some(from) => from,
                    None => {
                        self.replay(depth, way)?;
                        0
                    }
                };
                for (passed, _) in &owed[from..=at] {
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
        owed: &mut [Labelled<M>],
    ) -> Result<(), M::Error> {
        self.replay(depth, way)?;
        for (step, label) in owed {
            *label = self.machine.run(&mut self.walk, *step)?;
        }
        Ok(())
    }
}

fn place_of<L>(owed: &[(Step, L)], process: u32) -> Option<usize> {
    owed.iter().position(|(step, _)| step.process == process)
}
