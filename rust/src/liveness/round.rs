//! One round of maximal accepting predecessors: roots rise along edges until none can rise.
//!
//! Roots are raised in any order, by any number of threads, to the same values.
//!
//! Invariant: a path leads from the root of a node to the node, whatever is still to be raised. So
//! the first edge that leads to the root of its own source closes a cycle, and ends the round.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustc_hash::FxHashMap;

use super::accepting::Accepting;
use super::bounded::ASK_EVERY;
use super::crew::{Crew, Member};
use super::patience::{Cut, Patience};
use crate::search::dfs::Pool;

/// Nothing that is accepting leads to a node.
pub const NO_ROOT: u64 = 0;
/// No edge closes a cycle.
const OPEN: u64 = u64::MAX;

/// Edges of a node that are new: those after the first `known`.
#[derive(Clone, Copy)]
pub struct Fresh {
    pub node: u32,
    pub known: u32,
}

/// What is looked at in one round.
pub struct Round<'a, G> {
    graph: &'a G,
    roots: &'a [AtomicU64],
    /// By node: the class of those that it may lie on a cycle with; empty in the first round, when
    /// these may be all.
    classes: &'a [u64],
    /// An edge that closes a cycle, source and target in one word.
    closed: AtomicU64,
}

impl Fresh {
    /// All edges of a node.
    pub fn all(node: u32) -> Self {
        Fresh { node, known: 0 }
    }
}

impl<'a, G: Accepting> Round<'a, G> {
    pub fn new(graph: &'a G, roots: &'a [AtomicU64], classes: &'a [u64]) -> Self {
        Round {
            graph,
            roots,
            classes,
            closed: AtomicU64::new(OPEN),
        }
    }

    /// Raise all roots that `fresh` edges raise, or until a cycle is closed; gives its nodes.
    /// `note` hears the source and the target of each of these edges.
    pub fn run(
        &self,
        fresh: impl Iterator<Item = Fresh>,
        mut note: impl FnMut(u32, u32),
        crew: &Crew<'_>,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let stopping = || (crew.stopping)();
        let patience = Patience::new(ASK_EVERY, &stopping);
        let mut raised = Vec::new();
        for each in fresh {
            patience.ask()?;
            self.raise(each, &mut raised, |target| note(each.node, target));
        }
        // The greatest is spread first, from the top of a stack: it need not be raised again.
        raised.sort_unstable_by_key(|&node| (self.root(node), node));
        raised.dedup();
        let pool = Pool::default();
        crew.run(raised.len(), |member, patience| {
            let own = raised.iter().copied().skip(member.index);
            let own = own.step_by(member.of).collect();
            self.spread(own, &pool, member, (crew, patience))
        })?;
        match self.closed.load(Relaxed) {
            OPEN => Ok(None),
            edge => self.around((edge >> 32) as u32, edge as u32, &patience),
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Relaxed) != OPEN
    }

    #[inline(always)]
    fn root(&self, node: u32) -> u64 {
        self.roots[node as usize].load(Relaxed)
    }

    /// The edges among nodes that may lie on a common cycle.
    #[inline(always)]
    fn edges(&self, Fresh { node, known }: Fresh) -> impl Iterator<Item = (u32, bool)> {
        let classes = self.classes;
        let alike = move |target: u32| {
            classes.is_empty() || classes[node as usize] == classes[target as usize]
        };
        let edges = self.graph.edges_after(node, known as usize);
        edges.filter(move |&(target, _)| alike(target))
    }

    /// Raise the roots of the targets of a node; those that are raised go to `out`.
    #[inline(always)]
    fn raise(&self, fresh: Fresh, out: &mut Vec<u32>, mut note: impl FnMut(u32)) {
        let root = self.root(fresh.node);
        for (target, accepting) in self.edges(fresh) {
            note(target);
            let own = if accepting {
                self.graph.rank(target)
            } else {
                NO_ROOT
            };
            if own != NO_ROOT && own == root {
                let edge = u64::from(fresh.node) << 32 | u64::from(target);
                self.closed.fetch_min(edge, Relaxed);
            }
            let root = root.max(own);
            // Most roots are as great already, and to read is cheaper than to write.
            if self.root(target) < root
                && self.roots[target as usize].fetch_max(root, Relaxed) < root
            {
                out.push(target);
            }
        }
    }

    /// Raise roots until none rises or a cycle is closed; one thread.
    fn spread(
        &self,
        mut stack: Vec<u32>,
        pool: &Pool<Vec<u32>>,
        member: Member,
        (crew, patience): (&Crew<'_>, &Patience<'_>),
    ) -> Result<(), Cut> {
        loop {
            while let Some(node) = stack.pop() {
                patience.ask()?;
                if self.is_closed() {
                    return Ok(());
                }
                self.raise(Fresh::all(node), &mut stack, |_| ());
                if pool.is_wanted() && stack.len() > 1 {
                    pool.give(stack.split_off(stack.len() / 2));
                }
            }
            match pool.take(member.of, || (crew.stopping)() || self.is_closed()) {
                Some(given) => stack = given,
                None => return Ok(()),
            }
        }
    }

    /// The nodes of a shortest cycle by the edge from `last` to `first`, which stands at its end.
    fn around(
        &self,
        last: u32,
        first: u32,
        patience: &Patience<'_>,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let mut came = FxHashMap::from_iter([(first, first)]);
        let (mut queue, mut next) = (vec![first], 0);
        while next < queue.len() && !came.contains_key(&last) {
            patience.ask()?;
            let node = queue[next];
            next += 1;
            for (target, _) in self.edges(Fresh::all(node)) {
                if let Entry::Vacant(place) = came.entry(target) {
                    place.insert(node);
                    queue.push(target);
                }
            }
        }
        let mut cycle = vec![last];
        while cycle[cycle.len() - 1] != first {
            cycle.push(came[&cycle[cycle.len() - 1]]);
        }
        cycle.reverse();
        Ok(Some(cycle))
    }
}
