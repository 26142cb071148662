//! Which of the messages just sent are lost or duplicated: part of the step that sends them.
//!
//! Nothing is missed by that, and nothing added. A state in which some messages are lost is also
//! reached if they are lost as soon as they are sent: until then their being in flight lets nothing
//! happen that could not happen without them, and what is in flight between sending and loss is
//! also in flight in the execution that does not lose it. The same holds for duplicates. Budgets
//! make no two steps dependent: for one execution it is settled which messages are lost, at most as
//! many as the budget allows, and in whatever order the steps come, none of these is one too many.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::python::tables::{DROP, DUPLICATE};
use crate::services::ids::EnvelopeId;
use crate::services::layout::{Budget, Layout, Network};

/// What becomes of one message, of which some copies were sent at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    pub envelope: EnvelopeId,
    pub duplicates: u32,
    pub drops: u32,
}

// A step can end in more ways than can be counted.
create_exception!(_core, TooManyWays, PyException);

/// More ways than this are refused: they are counted in the choice of a step.
const WAYS_MAX: usize = 1 << 14;

/// The ways in which what is sent at once can be lost or duplicated; `sent` has nothing reliable.
pub fn all_losses(layout: &Layout, sent: &[EnvelopeId]) -> PyResult<Vec<Vec<Loss>>> {
    match layout.network {
        Network::Unordered | Network::Lanes => {
            ways(layout, sent).ok_or_else(|| TooManyWays::new_err(WAYS_MAX))
        }
        _ => Ok(vec![Vec::new()]),
    }
}

/// What is left of a budget.
pub fn left(layout: &Layout, words: &[u32], fault: usize) -> u32 {
    match layout.budgets[fault] {
        Budget::Off => 0,
        Budget::Unlimited => u32::MAX,
        Budget::Word(word) => words[word],
    }
}

fn granted(layout: &Layout, fault: usize) -> u32 {
    match layout.budgets[fault] {
        Budget::Off => 0,
        Budget::Unlimited => u32::MAX,
        Budget::Word(_) => layout.granted[fault],
    }
}

/// How many more copies than were sent there can be.
pub fn most_duplicates(layout: &Layout) -> u32 {
    granted(layout, DUPLICATE)
}

/// Every way in which budgets that are whole let `sent` turn out, the harmless one first; `None` if
/// there are too many. The order depends on `sent` only.
fn ways(layout: &Layout, sent: &[EnvelopeId]) -> Option<Vec<Vec<Loss>>> {
    let (drops, duplicates) = (granted(layout, DROP), granted(layout, DUPLICATE));
    let mut ways = vec![Vec::new()];
    if drops == 0 && duplicates == 0 {
        return Some(ways);
    }
    let mut sorted = sent.to_vec();
    sorted.sort_unstable();
    for same in sorted.chunk_by(|one, other| one == other) {
        let envelope = same[0];
        let mut longer = Vec::new();
        for way in &ways {
            let (dropped, duplicated) = spent(way);
            for more in 0..=duplicates - duplicated {
                for fewer in 0..=(drops - dropped).min(same.len() as u32 + more) {
                    let mut way = way.clone();
                    if more + fewer > 0 {
                        way.push(Loss {
                            envelope,
                            duplicates: more,
                            drops: fewer,
                        });
                    }
                    longer.push(way);
                    if longer.len() > WAYS_MAX {
                        return None;
                    }
                }
            }
        }
        ways = longer;
    }
    Some(ways)
}

/// How many drops and duplicates a way needs.
fn spent(way: &[Loss]) -> (u32, u32) {
    let drops = way.iter().map(|loss| loss.drops).sum();
    (drops, way.iter().map(|loss| loss.duplicates).sum())
}

/// Whether what is left of the budgets allows a way.
pub fn affordable(layout: &Layout, words: &[u32], way: &[Loss]) -> bool {
    let (drops, duplicates) = spent(way);
    drops <= left(layout, words, DROP) && duplicates <= left(layout, words, DUPLICATE)
}
