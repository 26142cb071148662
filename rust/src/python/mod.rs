//! What Python sees of the core, and what ends it from outside.

pub mod build;
pub mod callers;
pub mod digest;
pub mod exporter;
pub mod frames;
pub mod kernel;
pub mod outcome;
pub mod stop;
pub mod supervise;
pub mod tables;
pub mod threads;
pub mod turn;
