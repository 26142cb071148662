//! Accepting cycles by maximal accepting predecessors (Brim, Cerna, Moravec, Simsa 2004).
//!
//! The *root* of a node is the greatest target of an accepting edge that leads to it. Nodes on a
//! common cycle have the same root. If an accepting edge leads from a node to its own root, there
//! is a cycle. If none does, edges between nodes of different roots are dropped, and with them all
//! that lead to a root; what is left is looked at again (*refined*) until there are no roots.
//!
//! Roots of the whole graph are kept while the graph grows, and only raised: new edges alone begin
//! the next pass (Desai, Qadeer, Rajamani, "Iterative cycle detection via delaying explorers").
//! Nor is all of it refined: the graph had no cycle before, so each cycle takes a new edge. Only
//! nodes behind a new edge whose ends have the same root are refined. What the first round of that
//! leaves is trimmed to loops and what lies behind them (Cerna, Pelanek 2003), or else a graph
//! without loops would need a round for each root.
//!
//! Invariant: between two passes that were not cut the graph has no accepting cycle. While one
//! goes on, nodes that have a class are those that are refined, and no edge between nodes of the
//! same class leads out of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::accepting::Accepting;
use super::bounded::{ASK_EVERY, Effort};
use super::crew::Crew;
use super::patience::{Cut, Patience};
use super::round::{Fresh, NO_ROOT, Round};
use crate::table::fingerprint::scramble;

/// The class of nodes that are not refined.
const NO_CLASS: u64 = 0;

#[derive(Default)]
pub struct Map {
    /// The roots of the whole graph.
    roots: Vec<AtomicU64>,
    refined: Refined,
}

/// The part of a graph that new edges may have closed cycles in.
#[derive(Default)]
struct Refined {
    /// Its nodes.
    active: Vec<u32>,
    /// New edges in it, source and target.
    suspects: Vec<(u32, u32)>,
    /// By node: its class, and its root within it.
    classes: Vec<u64>,
    roots: Vec<AtomicU64>,
    /// By node: when it was last visited; the time now.
    visited: Vec<u32>,
    now: u32,
    /// By node, while nodes are trimmed: how many edges of its class enter it.
    entered: Vec<u32>,
}

impl Map {
    /// The nodes of an accepting cycle, in order; none if there is none. `fresh` are the edges that
    /// are new since the last time.
    pub fn cycle<G: Accepting>(
        &mut self,
        graph: &G,
        fresh: &[Fresh],
        crew: &Crew<'_>,
        effort: &mut Effort,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let none = || AtomicU64::new(NO_ROOT);
        self.roots.resize_with(graph.len(), none);
        let suspects = &mut self.refined.suspects;
        suspects.clear();
        let cycle = Round::new(graph, &self.roots, &[]).run(
            fresh.iter().copied(),
            |source, target| suspects.push((source, target)),
            crew,
        )?;
        if cycle.is_some() {
            return Ok(cycle);
        }
        let started = Instant::now();
        let cycle = self.refined.cycle(graph, &self.roots, crew, effort);
        effort.refining += started.elapsed().as_secs_f64();
        cycle
    }
}

impl Refined {
    /// The nodes of an accepting cycle with a suspect; `roots` are those of the whole graph.
    fn cycle<G: Accepting>(
        &mut self,
        graph: &G,
        roots: &[AtomicU64],
        crew: &Crew<'_>,
        effort: &mut Effort,
    ) -> Result<Option<Vec<u32>>, Cut> {
        let stopping = || (crew.stopping)();
        let patience = Patience::new(ASK_EVERY, &stopping);
        self.begin(graph.len());
        let class = |_: &Self, node| root(roots, node);
        self.keep_alike(class);
        self.active = self.behind(graph, class, false, &patience)?;
        for &node in &self.active {
            self.classes[node as usize] = root(roots, node);
        }
        while !self.suspects.is_empty() {
            for &node in &self.active {
                *self.roots[node as usize].get_mut() = NO_ROOT;
            }
            let every = self.active.iter().map(|&node| Fresh::all(node));
            let round = Round::new(graph, &self.roots, &self.classes);
            let cycle = round.run(every, |_, _| (), crew)?;
            if cycle.is_some() {
                return Ok(cycle);
            }
            effort.checked += self.divide(graph);
            self.keep_alike(Self::class);
            let nodes = self.behind(graph, Self::class, true, &patience)?;
            self.narrow(nodes);
        }
        Ok(None)
    }

    /// Forget the last pass, and make room for so many nodes.
    fn begin(&mut self, nodes: usize) {
        for node in self.active.drain(..) {
            self.classes[node as usize] = NO_CLASS;
        }
        self.classes.resize(nodes, NO_CLASS);
        self.visited.resize(nodes, 0);
        self.entered.resize(nodes, 0);
        self.roots.resize_with(nodes, || AtomicU64::new(NO_ROOT));
    }

    fn class(&self, node: u32) -> u64 {
        self.classes[node as usize]
    }

    /// Clear suspects between different classes, or without one.
    fn keep_alike(&mut self, class: impl Fn(&Self, u32) -> u64) {
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.retain(|&(source, target)| {
            let own = class(self, source);
            own != NO_CLASS && own == class(self, target)
        });
        self.suspects = suspects;
    }

    /// The nodes that suspects lead to within their classes, where these have accepting edges; if
    /// it `trims`, those that lie on a loop or behind one. Suspects elsewhere are cleared.
    fn behind<G: Accepting>(
        &mut self,
        graph: &G,
        class: impl Fn(&Self, u32) -> u64,
        trims: bool,
        patience: &Patience<'_>,
    ) -> Result<Vec<u32>, Cut> {
        self.now += 1;
        let (mut nodes, mut accepting) = (Vec::new(), FxHashMap::default());
        for at in 0..self.suspects.len() {
            self.visit(self.suspects[at].1, &mut nodes);
        }
        let mut next = 0;
        while next < nodes.len() {
            patience.ask()?;
            let (node, own) = (nodes[next], class(self, nodes[next]));
            next += 1;
            let mut count = 0;
            for (target, accepts) in graph.edges_after(node, 0) {
                if class(self, target) == own {
                    self.visit(target, &mut nodes);
                    count += u32::from(accepts);
                }
            }
            if count > 0 {
                *accepting.entry(own).or_insert(0) += count;
            }
        }
        self.clear_suspects(&class, &accepting);
        if trims && !self.suspects.is_empty() {
            self.trim(graph, &class, (&nodes, &mut accepting), patience)?;
            self.clear_suspects(&class, &accepting);
        }
        if self.suspects.is_empty() {
            nodes.clear();
        }
        nodes.retain(|&node| self.is_kept(node, &class, &accepting));
        Ok(nodes)
    }

    /// Whether a node was visited and not trimmed, in a class that has accepting edges.
    fn is_kept(
        &self,
        node: u32,
        class: &impl Fn(&Self, u32) -> u64,
        accepting: &FxHashMap<u64, u32>,
    ) -> bool {
        let accepts = || accepting.get(&class(self, node)).copied() > Some(0);
        self.visited[node as usize] == self.now && accepts()
    }

    /// Clear suspects whose ends are not both kept.
    fn clear_suspects(
        &mut self,
        class: &impl Fn(&Self, u32) -> u64,
        accepting: &FxHashMap<u64, u32>,
    ) {
        let mut suspects = std::mem::take(&mut self.suspects);
        suspects.retain(|&(source, target)| {
            let is_kept = |node| self.is_kept(node, class, accepting);
            is_kept(source) && is_kept(target)
        });
        self.suspects = suspects;
    }

    /// Take away nodes that no edge enters, one after the other; count accepting edges by class.
    fn trim<G: Accepting>(
        &mut self,
        graph: &G,
        class: &impl Fn(&Self, u32) -> u64,
        (nodes, accepting): (&[u32], &mut FxHashMap<u64, u32>),
        patience: &Patience<'_>,
    ) -> Result<(), Cut> {
        for &node in nodes {
            self.entered[node as usize] = 0;
        }
        for &node in nodes {
            patience.ask()?;
            let own = class(self, node);
            for (target, _) in graph.edges_after(node, 0) {
                if class(self, target) == own {
                    self.entered[target as usize] += 1;
                }
            }
        }
        let entered = |own: &Self, node: u32| own.entered[node as usize] > 0;
        let mut stack: Vec<u32> = nodes.to_vec();
        stack.retain(|&node| !entered(self, node));
        while let Some(node) = stack.pop() {
            patience.ask()?;
            self.visited[node as usize] = 0;
            let own = class(self, node);
            for (target, accepts) in graph.edges_after(node, 0) {
                if class(self, target) != own {
                    continue;
                }
                self.entered[target as usize] -= 1;
                if !entered(self, target) {
                    stack.push(target);
                }
                if let Some(count) = accepting.get_mut(&own).filter(|_| accepts) {
                    *count -= 1;
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn visit(&mut self, node: u32, nodes: &mut Vec<u32>) {
        if self.visited[node as usize] != self.now {
            self.visited[node as usize] = self.now;
            nodes.push(node);
        }
    }

    /// Keep apart what has different roots, and leave out what has none; gives how many there are.
    fn divide<G: Accepting>(&mut self, graph: &G) -> u64 {
        let mut count = 0;
        for &node in &self.active {
            let (root, class) = (root(&self.roots, node), &mut self.classes[node as usize]);
            count += u64::from(root == graph.rank(node));
            *class = match root {
                NO_ROOT => NO_CLASS,
                root => scramble(*class ^ scramble(root)).max(1),
            };
        }
        count
    }

    /// Refine only these nodes from now on.
    fn narrow(&mut self, nodes: Vec<u32>) {
        self.now += 1;
        for &node in &nodes {
            self.visited[node as usize] = self.now;
        }
        for &node in &self.active {
            if self.visited[node as usize] != self.now {
                self.classes[node as usize] = NO_CLASS;
            }
        }
        self.active = nodes;
    }
}

#[inline(always)]
fn root(roots: &[AtomicU64], node: u32) -> u64 {
    roots[node as usize].load(Relaxed)
}
