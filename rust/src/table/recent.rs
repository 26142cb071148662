//! Fingerprints met a moment ago, in front of a seen table.
//!
//! Most transitions lead back to states of this level or the last one. A thread knows those from
//! a few that stay in its cache. Where the table lies in a file, more of them, which all threads
//! share, spare its pages: those are let go of again and again.
//!
//! Invariant: what is here is in the table too, so a hit is certain; a miss says nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub struct Recent {
    keys: Box<[AtomicU64]>,
}

impl Recent {
    /// Room for about `mib` of fingerprints.
    pub fn of_mib(mib: u64) -> Self {
        Self::of_bits((mib.max(1) << 17).ilog2())
    }

    /// Room for 2^`bits` fingerprints.
    pub fn of_bits(bits: u32) -> Self {
        let mut keys = Vec::new();
        keys.resize_with(1 << bits, AtomicU64::default);
        Recent {
            keys: keys.into_boxed_slice(),
        }
    }

    /// Fingerprints are spread already.
    #[inline(always)]
    fn index(&self, key: u64) -> usize {
        key as usize & self.keys.len().wrapping_sub(1)
    }

    #[inline(always)]
    fn place(&self, key: u64) -> &AtomicU64 {
        &self.keys[self.index(key)]
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    #[inline(always)]
    pub fn has(&self, key: u64) -> bool {
        !self.keys.is_empty() && self.place(key).load(Relaxed) == key
    }

    /// Whether `key` was met, and remember it if `noted`. No branch depends on either.
    #[inline(always)]
    pub fn meet(&self, key: u64, noted: bool) -> bool {
        let Some(place) = self.keys.get(self.index(key)) else {
            return false; // there is no room
        };
        let before = place.load(Relaxed);
        place.store(if noted { key } else { before }, Relaxed);
        before == key
    }

    /// Forget everything.
    pub fn clear(&self) {
        self.keys.iter().for_each(|key| key.store(0, Relaxed));
    }

    #[inline(always)]
    pub fn note(&self, key: u64) {
        if !self.keys.is_empty() {
            self.place(key).store(key, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;
    use crate::table::fingerprint::scramble;

    #[test]
    fn a_hit_was_noted_and_an_unnoted_key_never_hits() {
        let recent = Recent::of_mib(1);
        for number in 1..=1_000_000 {
            recent.note(scramble(number));
            assert!(recent.has(scramble(number)));
        }
        assert!(recent.meet(scramble(1_000_000), false));
        assert!(!recent.meet(scramble(2_000_000), false));
        assert!(!recent.meet(scramble(2_000_000), true));
        assert!(recent.meet(scramble(2_000_000), false));
        assert!((1_000_001..1_100_000).all(|number| !recent.has(scramble(number))));
        assert!(!Recent::default().has(7));
        let none = Recent::default();
        assert!(!none.meet(7, true) && !none.meet(7, true));
        recent.clear();
        assert!(!recent.has(scramble(2_000_000)));
    }
}
