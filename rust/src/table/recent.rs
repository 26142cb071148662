//! Fingerprints met a moment ago, in front of a seen table that lies in a file.
//!
//! Most transitions lead back to states of this level or the last one. Knowing those without a look
//! into the file spares the table's pages, which are let go of again and again.
//!
//! Invariant: what is here is in the table too, so a hit is certain; a miss says nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub struct Recent {
    keys: Box<[AtomicU64]>, // none for a table in memory
    shift: u32,
}

impl Recent {
    /// Room for about `mib` of fingerprints.
    pub fn of_mib(mib: u64) -> Self {
        let bits = (mib.max(1) << 17).ilog2();
        let mut keys = Vec::new();
        keys.resize_with(1 << bits, AtomicU64::default);
        Recent {
            keys: keys.into_boxed_slice(),
            shift: 64 - bits,
        }
    }

    #[inline(always)]
    fn place(&self, key: u64) -> &AtomicU64 {
        &self.keys[(key.wrapping_mul(0xd1b5_4a32_d192_ed03) >> self.shift) as usize]
    }

    #[inline(always)]
    pub fn has(&self, key: u64) -> bool {
        !self.keys.is_empty() && self.place(key).load(Relaxed) == key
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
        assert!((1_000_001..1_100_000).all(|number| !recent.has(scramble(number))));
        assert!(!Recent::default().has(7));
    }
}
