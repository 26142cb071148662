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

/// A node apart from its list: how far below that it is, and what is there.
pub struct Twig<L> {
    pub depth: usize,
    pub step: Step,
    pub label: L,
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

    /// What a list holds, each node before what is below it.
    pub fn twigs(&self, list: u32) -> Vec<Twig<L>> {
        let mut twigs = Vec::new();
        self.visit(list, |depth, node| {
            let (step, label) = (node.step, node.label.clone());
            twigs.push(Twig { depth, step, label });
            true
        });
        twigs
    }

    /// Whether a list holds these, and nothing else.
    pub fn is_as(&self, list: u32, twigs: &[Twig<L>]) -> bool {
        let mut left = twigs.iter();
        let same = self.visit(list, |depth, node| {
            let fits = |twig: &Twig<L>| twig.depth == depth && twig.step == node.step;
            left.next().is_some_and(fits)
        });
        same && left.next().is_none()
    }

    /// A new list that holds these.
    pub fn plant(&mut self, twigs: &[Twig<L>]) -> u32 {
        let mut root = NONE;
        let mut last: Vec<u32> = Vec::new(); // at each depth
        for twig in twigs {
            let fresh = self.add(twig.step, twig.label.clone());
            let place = match (last.get(twig.depth), twig.depth.checked_sub(1)) {
                (Some(&before), _) => &mut self.nodes[before as usize].next,
                (None, Some(above)) => &mut self.nodes[last[above] as usize].first,
                (None, None) => &mut root,
            };
            *place = fresh;
            last.truncate(twig.depth);
            last.push(fresh);
        }
        root
    }

    /// Forget a list.
    pub fn clear(&mut self, list: u32) {
        let mut left = vec![list];
        while let Some(at) = left.pop() {
            if at != NONE {
                let free = std::mem::replace(&mut self.free, at);
                let node = &mut self.nodes[at as usize];
                left.extend([node.first, node.next]);
                node.next = free;
            }
        }
    }

    /// Show every node of a list with how far below it is, until somebody has seen enough.
    fn visit(&self, list: u32, mut show: impl FnMut(usize, &Node<L>) -> bool) -> bool {
        let mut left = vec![(0, list)];
        while let Some((depth, at)) = left.pop() {
            if at != NONE {
                let node = self.get(at);
                if !show(depth, node) {
                    return false;
                }
                left.extend([(depth, node.next), (depth + 1, node.first)]);
            }
        }
        true
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
