//! Histories of operations, and whether an order explains them: without Python where it can be.
//!
//! `Linearizable` and `SequentiallyConsistent` keep, as the state of an observer, who asked what
//! and was answered what. Such a state is a value like any other: interned, fingerprinted, renamed
//! and saved by its canonical bytes. Here it has a second form, integers: a history is a list of
//! clients' *parts*, a part a list of operations and answers, each the id of a value. Feeding a
//! record changes one part; the canonical bytes are written from those of the parts.
//!
//! A spec is any object of the user's. What it does is asked once per (state, operation), and
//! remembered (`spec.rs`). `monitor.rs` decides on linearizability, `order.rs` on sequential
//! consistency and where a monitor would be too large.
//!
//! Invariant: what is not understood here (misuse, a spec that raises, a class laid out in another
//! way) is left to Python, which gives the verdict that it always gave. Only "there is an order" is
//! filed on the word of this module; that there is none, Python says.

pub mod asking;
mod feed;
mod judging;
mod monitor;
mod order;
mod shape;
mod spec;
mod table;
#[cfg(test)]
mod tests;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::atomic::AtomicU64;

pub use shape::Shapes;
pub use table::HistoryTable;

use crate::value::Codec;

/// What a property claims of the history in an observer's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claimed {
    pub slot: u32,
    /// Whether an order must keep what was answered before an operation began.
    pub real_time: bool,
}

/// What only Python can say, or the bytes of a value: asked without any lock, then begun again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// The parts of a history that came from elsewhere.
    Parts(u32),
    /// Whether a record invokes or returns.
    Record(u32),
    Initial {
        spec: u32,
    },
    Apply {
        spec: u32,
        state: u32,
        op: u32,
    },
    Equal {
        answer: u32,
        result: u32,
    },
}

/// Which observers keep histories, and which properties judge them: see `presage.limits`.
#[derive(FromPyObject)]
pub struct KernelHistories<'py> {
    /// Per observer.
    kept: Vec<bool>,
    /// Per property: the observer, and whether real time counts.
    claims: Vec<Option<(u32, bool)>>,
    /// Of the nodes.
    names: Vec<String>,
    /// `History`, `Client`, `Done`, `Pending`.
    classes: [Bound<'py, PyType>; 4],
}

/// The histories of one kernel.
pub struct Histories {
    kept: Vec<bool>,
    claims: Vec<Option<Claimed>>,
    shapes: Shapes,
    table: Mutex<HistoryTable>,
    /// How many verdicts were given here.
    judged: AtomicU64,
}

impl Histories {
    /// None where no observer keeps one, or their classes are not laid out as is expected.
    pub fn new(codec: &Codec, known: Option<KernelHistories<'_>>) -> PyResult<Option<Self>> {
        let Some(known) = known else {
            return Ok(None);
        };
        let Some(shapes) = Shapes::of(codec, &known.classes)? else {
            return Ok(None);
        };
        let claimed =
            |claim: Option<(u32, bool)>| claim.map(|(slot, real_time)| Claimed { slot, real_time });
        Ok(Some(Histories {
            kept: known.kept,
            claims: known.claims.into_iter().map(claimed).collect(),
            shapes,
            table: Mutex::new(HistoryTable::new(known.names)),
            judged: AtomicU64::new(0),
        }))
    }
}
