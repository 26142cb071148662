//! Properties, judged on states: what was read, and what was said of it.

pub mod judge;
pub mod reader;
pub mod trie;
