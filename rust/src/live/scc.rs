//! Strongly connected components of a part of the graph (Tarjan 1972, without recursion).
//!
//! Components come out in an order in which everything that one leads to has come before it.

use super::space::Space;

const UNSEEN: u32 = 0;
const DONE: u32 = u32::MAX;

pub struct Components<'a> {
    space: &'a Space,
    /// Which part each state belongs to; only edges within one part are followed.
    pub part: Vec<u32>,
    parts: u32,
    order: Vec<u32>, // UNSEEN, when it was met, or DONE
    low: Vec<u32>,
    stack: Vec<u32>,
    path: Vec<(u32, u32)>, // a state, and how many of its edges were followed
}

pub const NO_PART: u32 = 0;

impl<'a> Components<'a> {
    pub fn new(space: &'a Space) -> Self {
        Components {
            space,
            part: vec![NO_PART; space.len()],
            parts: NO_PART,
            order: vec![UNSEEN; space.len()],
            low: vec![0; space.len()],
            stack: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Make `states` one part of the graph, apart from all others.
    pub fn separate(&mut self, states: impl Iterator<Item = u32>) -> u32 {
        self.parts += 1;
        for state in states {
            self.part[state as usize] = self.parts;
            self.order[state as usize] = UNSEEN;
        }
        self.parts
    }

    /// Call `each` with every component of the part that `roots` belong to.
    pub fn visit(&mut self, roots: impl Iterator<Item = u32>, mut each: impl FnMut(&[u32])) {
        let mut count = 0;
        for root in roots {
            if self.order[root as usize] != UNSEEN {
                continue;
            }
            let part = self.part[root as usize];
            self.enter(root, &mut count);
            while let Some((state, next)) = self.path.last_mut() {
                let (state, position) = (*state, *next as usize);
                let Some(edge) = self.space.edges(state).get(position) else {
                    self.path.pop();
                    self.leave(state, &mut each);
                    continue;
                };
                *next += 1;
                let target = edge.target as usize;
                if self.part[target] != part {
                    continue;
                }
                match self.order[target] {
                    UNSEEN => self.enter(edge.target, &mut count),
                    DONE => {}
                    met => self.low[state as usize] = self.low[state as usize].min(met),
                }
            }
        }
    }

    fn enter(&mut self, state: u32, count: &mut u32) {
        *count += 1;
        self.order[state as usize] = *count;
        self.low[state as usize] = *count;
        self.stack.push(state);
        self.path.push((state, 0));
    }

    /// All edges of `state` were followed: tell the state before it, or close a component.
    fn leave(&mut self, state: u32, each: &mut impl FnMut(&[u32])) {
        let low = self.low[state as usize];
        if let Some(&(before, _)) = self.path.last() {
            let known = &mut self.low[before as usize];
            *known = (*known).min(low);
        }
        if low != self.order[state as usize] {
            return;
        }
        let first = self.stack.iter().rposition(|&other| other == state);
        let first = first.expect("a state stays on the stack until its component is closed");
        for &member in &self.stack[first..] {
            self.order[member as usize] = DONE;
        }
        each(&self.stack[first..]);
        self.stack.truncate(first);
    }
}
