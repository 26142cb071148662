//! From states of a graph back to the events between them.

use pyo3::prelude::*;

use super::space::Space;
use super::units::Units;
use crate::search::worker::Worker;
use crate::search::{EventId, Initial, Search};
use crate::services::path;
use crate::table::fingerprint::nonzero;

/// The events from `begin` through these states, by edges of these units where they are given; and
/// the index of the initial state.
pub fn happened(
    search: &Search,
    space: &Space,
    units: &mut Units,
    begin: u32,
    wanted: &[(u32, Option<u32>)],
) -> PyResult<(usize, Vec<EventId>)> {
    let key = space.keys[begin as usize];
    let first = |initial: &Initial| nonzero(initial.sum) == key;
    let initial = search
        .initial
        .iter()
        .position(first)
        .ok_or_else(path::lost)?;
    let mut worker = Worker::new(search);
    let start = &search.initial[initial];
    let (mut words, mut sum) = (start.words.clone(), start.sum);
    let mut happened = Vec::new();
    for &(state, unit) in wanted {
        let key = space.keys[state as usize];
        let listed = path::listed(&mut worker, &words, sum)?;
        let mut found = None;
        for candidate in listed {
            let there = nonzero(candidate.fingerprint) == key;
            if !there {
                continue;
            }
            let own = units.of(&worker.expander, &candidate)?;
            if unit.is_none_or(|unit| unit == own) {
                found = Some(candidate);
                break;
            }
        }
        let candidate = found.ok_or_else(path::lost)?;
        happened.push(worker.happened(&candidate, &words));
        let mut next = Vec::new();
        worker.expander.build(&words, &candidate, &mut next);
        (words, sum) = (next, candidate.fingerprint);
    }
    Ok((initial, happened))
}
