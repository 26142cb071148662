//! Strongly connected components of a part of the graph (Pearce 2016, without recursion).
//!
//! Tarjan's algorithm with one number per state, so that a look at an edge's target touches one
//! word. Components come out in an order in which everything that one leads to has come before it.

use super::ids::{prefetch, roomy};
use super::patience::{Cut, Patience};
use super::space::Space;

const UNSEEN: u32 = 0;
const DONE: u32 = u32::MAX;

pub struct Components<'a> {
    space: &'a Space,
    /// UNSEEN; while at work the earliest state known to be on a common cycle, counted in the order
    /// in which they were met; DONE, also for states that do not belong to the part.
    earliest: Vec<u32>,
    /// States that were left and whose component is not closed yet.
    open: Vec<u32>,
    path: Vec<Frame>,
    component: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Frame {
    state: u32,
    /// How many of its edges were followed.
    next: u32,
    /// Nothing met earlier is known to be on a common cycle.
    first: bool,
}

impl<'a> Components<'a> {
    pub fn new(space: &'a Space) -> Self {
        let mut earliest = roomy(space.len());
        earliest.resize(space.len(), DONE);
        Components {
            space,
            earliest,
            open: Vec::new(),
            path: Vec::new(),
            component: Vec::new(),
        }
    }

    /// Call `each` with every component of the part that `states` make up, apart from all others.
    /// Once it was cut, no further part can be visited.
    pub fn visit(
        &mut self,
        states: impl Iterator<Item = u32> + Clone,
        patience: &Patience,
        mut each: impl FnMut(&[u32]) -> Result<(), Cut>,
    ) -> Result<(), Cut> {
        for state in states.clone() {
            self.earliest[state as usize] = UNSEEN;
        }
        let mut count = UNSEEN;
        for root in states {
            if self.earliest[root as usize] != UNSEEN {
                continue;
            }
            self.enter(root, &mut count);
            while let Some(frame) = self.path.pop() {
                patience.ask()?;
                self.look_back();
                match self.follow(frame) {
                    Some((frame, target)) => {
                        self.path.push(frame);
                        self.enter(target, &mut count);
                    }
                    None => count -= self.closed(&mut each)?,
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, state: u32, count: &mut u32) {
        *count += 1;
        self.earliest[state as usize] = *count;
        // Each would be a miss, one after the other; one of the targets comes next.
        for &target in self.space.targets(state) {
            prefetch(&self.earliest, target as usize);
            self.space.prefetch_range(target);
        }
        self.path.push(Frame {
            state,
            next: 0,
            first: true,
        });
    }

    /// Ask for what is needed when the states before this one are gone back to. On a long path they
    /// were met long ago.
    #[inline(always)]
    fn look_back(&self) {
        let back = |steps: usize| {
            self.path
                .len()
                .checked_sub(steps)
                .map(|at| self.path[at].state)
        };
        if let Some(state) = back(8) {
            prefetch(&self.earliest, state as usize);
            self.space.prefetch_range(state);
        }
        if let Some(state) = back(4) {
            self.space.prefetch_targets(state);
        }
    }

    /// Look at the edges of a state up to one that leads to a state not met yet. When there is none
    /// left, the state becomes open, or the last of a component, which is then to be closed.
    fn follow(&mut self, mut frame: Frame) -> Option<(Frame, u32)> {
        let state = frame.state as usize;
        let mut earliest = self.earliest[state];
        let targets = self.space.targets(frame.state);
        for &target in &targets[frame.next as usize..] {
            let known = self.earliest[target as usize];
            if known == UNSEEN {
                // The edge is looked at again afterwards, to learn what was found behind it.
                self.earliest[state] = earliest;
                return Some((frame, target));
            }
            frame.next += 1;
            if known < earliest {
                earliest = known;
                frame.first = false;
            }
        }
        self.earliest[state] = earliest;
        self.component.clear();
        if frame.first {
            self.gather(frame.state);
        } else {
            self.open.push(frame.state);
        }
        None
    }

    /// Take the component that ends with `state` off the open states.
    fn gather(&mut self, state: u32) {
        let earliest = self.earliest[state as usize];
        while let Some(&other) = self.open.last() {
            if self.earliest[other as usize] < earliest {
                break;
            }
            self.open.pop();
            self.earliest[other as usize] = DONE;
            self.component.push(other);
        }
        self.earliest[state as usize] = DONE;
        self.component.push(state);
    }

    /// Tell of the component gathered last, if there is one; gives its size.
    fn closed(&mut self, each: &mut impl FnMut(&[u32]) -> Result<(), Cut>) -> Result<u32, Cut> {
        if !self.component.is_empty() {
            each(&self.component)?;
        }
        Ok(self.component.len() as u32)
    }
}
