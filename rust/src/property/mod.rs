//! Properties, judged on states: what was read, and what was said of it.

pub mod claim;
pub mod judge;
pub mod notes;
pub mod reader;
pub mod trie;
pub mod verdicts;
