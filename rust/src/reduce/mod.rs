//! Fewer states or executions with the same verdicts.

pub mod commute;
pub mod por;
pub mod sleep;
pub mod symmetry;
