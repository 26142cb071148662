//! Interchangeable nodes: one state for all their arrangements.

pub mod canon;
pub mod equivariant;
pub mod images;
pub mod invariant;
