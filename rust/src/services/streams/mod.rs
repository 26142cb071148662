//! Streams between nodes, and what can happen to them.

pub mod connection;
pub mod links;
