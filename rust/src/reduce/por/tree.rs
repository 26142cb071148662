//! Wake-up trees: what must still be tried at each level, as sequences that share beginnings.
//!
//! One arena for all levels. A level holds a list of siblings; the first is explored next, and its
//! children become the list of the level below.

use super::Step;

pub const NONE: u32 = u32::MAX;

pub struct Node<L> {
    pub step: Step,
    /// In the state that the steps above lead to.
    pub label: L,
    pub first: u32,
    pub next: u32,
}

pub struct Forest<L> {
    nodes: Vec<Node<L>>,
    free: u32,
}

impl<L> Default for Forest<L> {
    fn default() -> Self {
        Forest {
            nodes: Vec::new(),
            free: NONE,
        }
    }
}

impl<L: Clone> Forest<L> {
    pub fn get(&self, node: u32) -> &Node<L> {
        &self.nodes[node as usize]
    }

    fn add(&mut self, step: Step, label: L) -> u32 {
        let node = Node {
            step,
            label,
            first: NONE,
            next: NONE,
        };
        if self.free == NONE {
            self.nodes.push(node);
            return self.nodes.len() as u32 - 1;
        }
        let at = self.free;
        self.free = self.nodes[at as usize].next;
        self.nodes[at as usize] = node;
        at
    }

    /// Take the first of a list off it: its step, and the list below it.
    pub fn shift(&mut self, list: &mut u32) -> Option<(Step, u32)> {
        if *list == NONE {
            return None;
        }
        let at = *list;
        let node = &mut self.nodes[at as usize];
        *list = node.next;
        node.next = self.free;
        self.free = at;
        Some((node.step, node.first))
    }

    /// The steps from the first of a list down to its leaf, by the first of each list.
    pub fn way(&self, list: u32) -> Option<Vec<Step>> {
        let mut way = Vec::new();
        let mut at = list;
        while at != NONE {
            let node = self.get(at);
            way.push(node.step);
            at = node.first;
        }
        (!way.is_empty()).then_some(way)
    }

    /// Put a step before all others of a list.
    pub fn prepend(&mut self, list: &mut u32, step: Step, label: L) {
        let fresh = self.add(step, label);
        self.nodes[fresh as usize].next = *list;
        *list = fresh;
    }

    /// Bring a step of a list, with what is below it, to the front; whether it is there.
    pub fn bring(&mut self, list: &mut u32, step: Step) -> bool {
        let (mut before, mut at) = (NONE, *list);
        while at != NONE && self.get(at).step != step {
            (before, at) = (at, self.get(at).next);
        }
        if at == NONE || before == NONE {
            return at != NONE;
        }
        self.nodes[before as usize].next = self.get(at).next;
        self.nodes[at as usize].next = *list;
        *list = at;
        true
    }

    /// Append `sequence` as one more branch of the list below `parent`, or of `root` itself.
    pub fn append(&mut self, root: &mut u32, parent: u32, sequence: &[(Step, L)]) {
        let mut above = parent;
        for (step, label) in sequence {
            let fresh = self.add(*step, label.clone());
            let mut last = match above {
                NONE => *root,
                _ => self.get(above).first,
            };
            if last == NONE {
                match above {
                    NONE => *root = fresh,
                    _ => self.nodes[above as usize].first = fresh,
                }
            } else {
                while self.get(last).next != NONE {
                    last = self.get(last).next;
                }
                self.nodes[last as usize].next = fresh;
            }
            above = fresh;
        }
    }
}
