//! Systems of services as integers: the step memo, and all that can happen next in a state.

pub mod arrivals;
pub mod channels;
pub mod context;
pub mod coverage;
pub mod effects;
pub mod expand;
pub mod ids;
pub mod lanes;
pub mod layout;
pub mod lines;
pub mod machine;
pub mod mirror;
pub mod misses;
pub mod observing;
pub mod origin;
pub mod path;
pub mod plain;
pub mod queues;
pub mod reorder;
pub mod rule;
pub mod seals;
pub mod start;
pub mod steps;
pub mod streams;
pub mod successor;
pub mod tables;
