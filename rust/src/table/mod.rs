//! Tables of integers: interned values, fingerprints, and the set of states seen.

pub mod fingerprint;
pub mod flat;
pub mod growth;
pub mod intern;
pub mod lately;
#[cfg(test)]
mod loomed;
pub mod recent;
pub mod rolling;
pub mod scratch;
pub mod seen;
pub mod slots;
pub mod store;
#[cfg(test)]
mod tests;

/// What threads share a seen table by; in `loomed.rs` it is another.
mod sync {
    pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

    pub use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

    /// The smallest table has two to the power of this many slots.
    pub const BITS_MIN: u32 = 14;
    /// A bucket has two to the power of this many keys: one cache line.
    pub const BUCKET_BITS: u32 = 3;
    /// Words that one thread moves at once while the table grows: some tenths of a millisecond.
    pub const RANGE: usize = 1 << 16;
}
