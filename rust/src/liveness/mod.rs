//! Exact liveness: the reachable graph, written down once more, and what can be proved on it.
//!
//! Only made when a property asks for it, after the search, so that a search without such a
//! property pays nothing. `space` is the graph, `explore` writes it down from a kernel, `scc` cuts
//! it into components, `fair` finds a fair cycle, `lasso` the walk that shows it, `reachability`
//! the states from which a property can still come true; `pass` and `patience` end each of them in
//! time. `graph` is what Python sees of all that, and `events` names what happens on the way.
//!
//! A search for cycles looks while the graph grows: `recorder` notes what threads meet, `bounded`
//! keeps the graph, whose states may be `partial`, and `cycles` runs it all. Where fairness is not
//! strong there are other algorithms: `map`, by a `round` after the other of a `crew` of threads,
//! and `ndfs`, which `lazy` makes a graph for; `accepting` says what both look for, and `copies`
//! makes of fair cycles such.

mod accepting;
#[cfg(test)]
mod agreement;
mod bounded;
mod copies;
mod crew;
mod cycles;
mod events;
mod explicit;
mod explore;
mod fair;
mod graph;
mod ids;
mod lasso;
mod lazy;
mod map;
mod ndfs;
mod partial;
mod pass;
mod patience;
mod reachability;
mod recorder;
mod round;
mod scc;
mod space;
#[cfg(test)]
mod tests;
mod units;

pub use bounded::Bounded;
pub use cycles::{CyclePlan, find};
pub use graph::{Graph, Reachable};
pub use pass::PassCut;
pub use recorder::Recorder;
