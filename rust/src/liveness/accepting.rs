//! Graphs some of whose edges are accepting, as searches for accepting cycles see them.
//!
//! An endless execution breaks a claim if the claim holds only finitely often on it, and if it is
//! fair. So the graph is the part where the claim does not hold, with copies of each state for the
//! units that may be due there.

use super::copies::{Copies, follow};
use super::fair::Fairness;
use super::space::Space;

pub trait Accepting: Sync {
    /// How many nodes there are.
    fn len(&self) -> usize;

    /// The targets of the edges of a node, and whether each edge is accepting; without those that
    /// were known first.
    fn edges_after(&self, node: u32, known: usize) -> impl Iterator<Item = (u32, bool)>;

    /// Where a node stands in an order of all, from 1 on; the same as long as the graph grows.
    fn rank(&self, node: u32) -> u64;
}

/// The part of a graph where a claim does not hold. Nodes are ordered as they were met: those that
/// a cycle is reached through come before it, so that they are seldom greater than all on it.
pub struct Lacking<'a> {
    pub space: &'a Space,
    pub claim: usize,
    pub fairness: Fairness,
    /// Of the states where the claim does not hold.
    pub copies: &'a Copies,
}

impl Accepting for Lacking<'_> {
    fn len(&self) -> usize {
        self.copies.len()
    }

    #[inline(always)]
    fn edges_after(&self, node: u32, known: usize) -> impl Iterator<Item = (u32, bool)> {
        let (state, copy) = (self.copies.state(node), self.copies.copy(node));
        let here = self.space.due(state, self.fairness);
        let edges = self.space.edges(state).skip(known);
        let edges = edges.filter(|edge| !self.space.holds(self.claim, edge.target));
        edges.map(move |edge| {
            let there = self.space.due(edge.target, self.fairness);
            let (copy, accepting) = follow(here, copy, edge.unit, there);
            (self.copies.first(edge.target) + copy as u32, accepting)
        })
    }

    #[inline(always)]
    fn rank(&self, node: u32) -> u64 {
        u64::from(node) + 1
    }
}
