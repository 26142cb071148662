//! Tables of integers: interned values, fingerprints, and the set of states seen.

pub mod fingerprint;
pub mod flat;
pub mod intern;
pub mod recent;
pub mod scratch;
pub mod seen;
pub mod slots;
pub mod store;
