//! Fingerprints: 64 bits that name a state, the same in every process.
//!
//! A state's fingerprint is the wrapping sum of one mixed word per component (local state,
//! observer, budget, message or channel). A sum does not care in which order messages were sent,
//! and replacing one component costs one subtraction and one addition.
//!
//! Invariant: only digests of canonical bytes go in, never interned ids, which depend on the order
//! of discovery.

use pyo3::prelude::*;

pub const LOCAL: u64 = 0;
pub const OBSERVER: u64 = 1;
pub const BUDGET: u64 = 2;
pub const ENVELOPE: u64 = 3;
pub const CHANNEL: u64 = 4;
pub const CONNECTION: u64 = 5;
pub const SPLIT: u64 = 6;

/// The finaliser of SplitMix64: a bijection that spreads every input bit over the word.
#[inline(always)]
pub fn scramble(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// One component's share of a fingerprint: what it is, where it stands, what it holds.
#[inline(always)]
#[pyfunction]
pub fn mix(kind: u64, slot: u64, digest: u64) -> u64 {
    scramble(digest ^ scramble((kind << 32) | slot))
}

/// The digest of a sequence of digests; order matters.
#[pyfunction]
pub fn combine(digests: Vec<u64>) -> u64 {
    combine_iter(digests)
}

#[inline(always)]
pub fn combine_iter(digests: impl IntoIterator<Item = u64>) -> u64 {
    let start = 0x243f_6a88_85a3_08d3;
    digests.into_iter().fold(start, |sum, digest| {
        scramble(sum.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ digest)
    })
}

/// Zero marks an empty slot of the seen table, so no state may have it.
#[inline(always)]
pub fn nonzero(sum: u64) -> u64 {
    if sum == 0 { 1 } else { sum }
}
