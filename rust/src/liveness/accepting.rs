//! Graphs some of whose edges are accepting, as searches for accepting cycles see them.
//!
//! An endless execution breaks a claim if the claim holds only finitely often on it. So the graph
//! is the part where the claim does not hold, and there every edge is accepting: it fails at both
//! ends.

use super::space::Space;

pub trait Accepting: Sync {
    fn len(&self) -> usize;

    /// The targets of the edges of a state, and whether each edge is accepting.
    fn edges(&self, state: u32) -> impl Iterator<Item = (u32, bool)>;

    /// Where a state stands in an order of all, from 1 on; the same in every run.
    fn rank(&self, state: u32) -> u64;
}

/// The part of a graph where a claim does not hold; fingerprints order it.
pub struct Lacking<'a> {
    pub space: &'a Space,
    pub claim: usize,
}

impl Accepting for Lacking<'_> {
    fn len(&self) -> usize {
        self.space.len()
    }

    #[inline(always)]
    fn edges(&self, state: u32) -> impl Iterator<Item = (u32, bool)> {
        let inside = |state: u32| !self.space.holds(self.claim, state);
        let targets = match inside(state) {
            true => self.space.targets(state),
            false => &[],
        };
        let targets = targets.iter().copied();
        targets
            .filter(move |&target| inside(target))
            .map(|target| (target, true))
    }

    #[inline(always)]
    fn rank(&self, state: u32) -> u64 {
        self.space.keys[state as usize]
    }
}
