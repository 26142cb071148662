//! Entering a batch of candidates into the seen table.
//!
//! Two passes: the first asks for the cache line of each candidate, the second looks at it. What
//! the thread itself met lately is known without the table.
//!
//! The plain loop (`services/plain.rs`) has asked that already, and its candidates are sifted.
//!
//! Invariant: what is noted as met lately is in the table when the batch is done.

use super::worker::{Worker, stored};
use crate::table::fingerprint::nonzero;
use crate::table::recent::Recent;
use crate::table::seen::Inserted;

/// Fingerprints that a thread knows without the seen table, as a power of two: 256 KiB, so that
/// they stay in its cache.
const FILTER_BITS: u32 = 15;
/// States from which on that is worth its memory.
const FILTER_FROM: usize = 1 << 12;

impl Worker<'_> {
    /// Enter the batch's candidates into the seen table; `fresh` gets the new ones.
    pub(super) fn insert(&mut self, buffer: &[u32], batch: &[usize], depth: u32) {
        let (search, candidates) = (self.search, &self.expander.candidates);
        let sum_before = |from: u32| stored(buffer, batch[from as usize]).sum;
        if self.recent.is_empty() && search.seen.len() > FILTER_FROM && !search.seen.has_depths() {
            self.recent = Recent::of_bits(FILTER_BITS);
        }
        search
            .seen
            .reserve(candidates.len() * search.limits.threads);
        let slots = search.seen.read();
        self.lines = slots.lines();
        self.fresh.clear();
        for (index, candidate) in candidates.iter().enumerate() {
            let key = nonzero(candidate.fingerprint);
            let sifted = index < self.sifted;
            let changes = sifted || candidate.fingerprint != sum_before(candidate.from);
            if changes && (sifted || !self.recent.meet(key, true)) {
                if !sifted {
                    self.lines.prefetch(key);
                }
                self.fresh.push(index as u32);
            }
        }
        let mut new = 0;
        self.fresh.retain(|&index| {
            let candidate = candidates[index as usize];
            let (key, parent) = (nonzero(candidate.fingerprint), sum_before(candidate.from));
            let inserted = slots.insert(key, nonzero(parent), depth + 1);
            new += usize::from(inserted == Inserted::New);
            inserted != Inserted::Known
        });
        drop(slots);
        search.seen.add(new);
    }
}
