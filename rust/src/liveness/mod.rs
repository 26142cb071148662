//! Exact liveness: the reachable graph, written down once more, and what can be proved on it.
//!
//! Only made when a property asks for it, after the search, so that a search without such a
//! property pays nothing. `space` is the graph, `explore` writes it down from a kernel, `scc` cuts
//! it into components, `fair` finds a fair cycle, `lasso` the walk that shows it, `reachability`
//! the states from which a property can still come true; `pass` and `patience` end each of them in
//! time. `graph` is what Python sees of all that.

mod explore;
mod fair;
mod graph;
mod ids;
mod lasso;
mod pass;
mod patience;
mod reachability;
mod scc;
mod space;
#[cfg(test)]
mod tests;
mod units;

pub use graph::{Graph, Reachable};
pub use pass::PassCut;
