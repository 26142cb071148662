//! Accepting cycles by maximal accepting predecessors (Brim, Cerna, Moravec, Simsa 2004).
//!
//! The *root* of a node is the greatest target of an accepting edge that leads to it. Nodes on a
//! common cycle have the same root. If an accepting edge leads from a node to its own root, there
//! is a cycle. If none does, edges between nodes of different roots are dropped, and with them all
//! that lead to a root; what is left is looked at again (*refined*) until there are no roots.
//!
//! Roots of the whole graph are kept while the graph grows, and only raised: new edges alone begin
//! the next pass (Desai, Qadeer, Rajamani, "Iterative cycle detection via delaying explorers").
//! They are raised in any order, by any number of threads, to the same values.
//!
//! Invariant: a path leads from the root of a node to the node, whatever is still to be raised. So
//! the first edge that leads to the root of its own source closes a cycle, and ends the pass.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::accepting::Accepting;
use super::bounded::{ASK_EVERY, Effort};
use super::crew::{Crew, Member};
use super::patience::{Cut, Patience};
use crate::search::dfs::Pool;
use crate::table::fingerprint::scramble;

const NO_ROOT: u64 = 0;
/// No edge closes a cycle.
const OPEN: u64 = u64::MAX;

/// The roots of the whole graph.
#[derive(Default)]
pub struct Map {
    roots: Vec<AtomicU64>,
}

/// What is looked at in one round.
struct Round<'a, G> {
    graph: &'a G,
    roots: &'a [AtomicU64],
    /// By node: the class of those that it may lie on a cycle with; empty in the first round, when
    /// these may be all.
    classes: &'a [u64],
    /// An edge that closes a cycle, source and target in one word.
    closed: AtomicU64,
}

impl Map {
    /// The nodes of an accepting cycle, in order; none if there is none. `sources` have edges that
    /// are new since the last time.
    pub fn cycle<G: Accepting>(
        &mut self,
        graph: &G,
        sources: &[u32],
        crew: &Crew<'_>,
        effort: &mut Effort,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let none = || AtomicU64::new(NO_ROOT);
        self.roots.resize_with(graph.len(), none);
        let mut cycle = Round::new(graph, &self.roots, &[]).run(sources, crew)?;
        if cycle.is_some() {
            return Ok(cycle);
        }
        let started = Instant::now();
        let mut active: Vec<u32> = (0..graph.len() as u32).collect();
        let mut classes = vec![0; graph.len()];
        effort.checked += divide(graph, &self.roots, &mut active, &mut classes);
        let mut roots = Vec::new();
        roots.resize_with(graph.len(), none);
        while cycle.is_none() && !active.is_empty() {
            active
                .iter()
                .for_each(|&node| roots[node as usize] = none());
            cycle = Round::new(graph, &roots, &classes).run(&active, crew)?;
            effort.checked += divide(graph, &roots, &mut active, &mut classes);
        }
        effort.refining += started.elapsed().as_secs_f64();
        Ok(cycle)
    }
}

/// Keep apart what has different roots, and leave out what has none; gives how many there are.
fn divide<G: Accepting>(
    graph: &G,
    roots: &[AtomicU64],
    active: &mut Vec<u32>,
    classes: &mut [u64],
) -> u64 {
    let mut count = 0;
    active.retain(|&node| {
        let root = roots[node as usize].load(Relaxed);
        let class = &mut classes[node as usize];
        *class = scramble(*class ^ root);
        count += u64::from(root == graph.rank(node));
        root != NO_ROOT
    });
    count
}

impl<'a, G: Accepting> Round<'a, G> {
    fn new(graph: &'a G, roots: &'a [AtomicU64], classes: &'a [u64]) -> Self {
        Round {
            graph,
            roots,
            classes,
            closed: AtomicU64::new(OPEN),
        }
    }

    /// Raise all roots that edges of `sources` raise, or until a cycle is closed; gives its nodes.
    fn run(&self, sources: &[u32], crew: &Crew<'_>) -> Result<Option<Vec<u32>>, Cut> {
        let stopping = || (crew.stopping)();
        let patience = Patience::new(ASK_EVERY, &stopping);
        let mut raised = Vec::new();
        for &node in sources {
            patience.ask()?;
            self.raise(node, &mut raised);
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
    fn edges(&self, node: u32) -> impl Iterator<Item = (u32, bool)> {
        let classes = self.classes;
        let alike = move |target: u32| {
            classes.is_empty() || classes[node as usize] == classes[target as usize]
        };
        let edges = self.graph.edges(node);
        edges.filter(move |&(target, _)| alike(target))
    }

    /// Raise the roots of the targets of a node; those that are raised go to `out`.
    #[inline(always)]
    fn raise(&self, node: u32, out: &mut Vec<u32>) {
        let root = self.root(node);
        for (target, accepting) in self.edges(node) {
            let own = if accepting {
                self.graph.rank(target)
            } else {
                NO_ROOT
            };
            if own != NO_ROOT && own == root {
                let edge = u64::from(node) << 32 | u64::from(target);
                self.closed.fetch_min(edge, Relaxed);
            }
            let root = root.max(own);
            if self.roots[target as usize].fetch_max(root, Relaxed) < root {
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
                self.raise(node, &mut stack);
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
            for (target, _) in self.edges(node) {
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
