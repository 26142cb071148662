//! From a finding back to the events that lead to it.
//!
//! The seen table only knows fingerprints. The path is recovered by going forward again: from the
//! initial state, always to the successor that has the next fingerprint of the chain.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::checkpoint;
use crate::python::outcome::{Finding, KernelEvent};
use crate::search::worker::Worker;
use crate::search::{EventId, Route, Search, symmetric};
use crate::services::expand::{Candidate, EventKind};
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::tables::Internal;
use crate::table::fingerprint::nonzero;

/// The route to a finding as events; the step from which on they repeat, if they do.
pub fn finding(
    py: Python<'_>,
    search: &Search,
    found: (usize, &Route),
    r#loop: Option<usize>,
) -> PyResult<Finding> {
    let recovered = recovered(py, search, found);
    let recovered = recovered.map(|finding| Finding { r#loop, ..finding });
    recovered.map_err(|error| match error.is_instance_of::<PyRuntimeError>(py) {
        true => checkpoint::blamed(py, search, error),
        false => error,
    })
}

/// Let Python save what was just found: code that runs next may end the process. What goes wrong
/// here is told when the search is over, where the same is done again.
pub fn hand_over(search: &Search, property: usize) {
    let route = search.found.lock()[property]
        .as_ref()
        .map(|found| found.route.clone());
    let Some(route) = route else { return };
    Python::attach(|py| {
        let told = recovered(py, search, (property, &route)).and_then(|finding| {
            let bridge = search.shared.bridge.bind(py);
            bridge.call_method1("found", (finding,))
        });
        drop(told);
    });
}

fn recovered(
    py: Python<'_>,
    search: &Search,
    (property, route): (usize, &Route),
) -> PyResult<Finding> {
    let (initial, happened) = match route {
        Route::Walked(initial, happened) => (*initial, happened.clone()),
        Route::Seen(last, event) if search.representatives => {
            symmetric::retrace(search, *last, event.map(|_| property))?
        }
        Route::Seen(last, event) => {
            let (initial, mut happened) = retrace(search, *last)?;
            happened.extend(event.iter());
            (initial, happened)
        }
    };
    let mut events = Vec::new();
    let mut worker = Worker::new(search);
    let start = &search.initial[initial];
    let (mut state, mut sum) = (start.words.clone(), start.sum);
    for event in happened {
        let (next, next_sum) = follow(&mut worker, &state, sum, |worker, candidate, words| {
            let own = worker.happened(candidate, words);
            own.what == event.what
                && (own.node, own.origin, own.branch) == (event.node, event.origin, event.branch)
        })?
        .ok_or_else(lost)?
        .1;
        let (kind, origin, choices) = name(py, search, &state, &event)?;
        events.push(KernelEvent {
            kind: kind.to_owned(),
            node: event.node,
            origin: origin.unbind(),
            choices,
            fingerprint: nonzero(next_sum),
        });
        (state, sum) = (next, next_sum);
    }
    Ok(Finding {
        at: property,
        choices: PyTuple::new(py, &start.choices)?.unbind(),
        initial: nonzero(start.sum),
        events: PyTuple::new(py, events)?.unbind(),
        r#loop: None,
        delays: 0,
    })
}

pub fn lost() -> PyErr {
    PyRuntimeError::new_err("a step of the path is not among what can happen there")
}

type Next = (EventId, (Vec<u32>, u64));

/// The first successor of `state` that `wanted` accepts.
fn follow(
    worker: &mut Worker<'_>,
    state: &[u32],
    sum: u64,
    wanted: impl Fn(&Worker<'_>, &Candidate, &[u32]) -> bool,
) -> PyResult<Option<Next>> {
    let candidates = listed(worker, state, sum)?;
    let found = candidates
        .iter()
        .find(|candidate| wanted(worker, candidate, state));
    let next = found.map(|candidate| {
        let mut next = Vec::new();
        worker.expander.build(state, candidate, &mut next);
        let happened = worker.happened(candidate, state);
        (happened, (next, candidate.fingerprint))
    });
    Ok(next)
}

/// What can happen in `state`.
pub fn listed(worker: &mut Worker<'_>, state: &[u32], sum: u64) -> PyResult<Vec<Candidate>> {
    worker.expander.candidates.clear();
    worker.expander.list(state, sum, 0)?;
    Ok(std::mem::take(&mut worker.expander.candidates))
}

/// The events that lead to a state that was met, whose fingerprint is `last`.
pub fn retrace(search: &Search, last: u64) -> PyResult<(usize, Vec<EventId>)> {
    let chain = search.seen.chain(last);
    let mut worker = Worker::new(search);
    let first = |initial: &crate::search::Initial| nonzero(initial.sum) == chain[0];
    let initial = search.initial.iter().position(first).ok_or_else(lost)?;
    let start = &search.initial[initial];
    let (mut state, mut sum) = (start.words.clone(), start.sum);
    let mut happened = Vec::new();
    for &key in &chain[1..] {
        let wanted = |_: &Worker<'_>, candidate: &Candidate, _: &[u32]| {
            nonzero(candidate.fingerprint) == key
        };
        let (event, next) = follow(&mut worker, &state, sum, wanted)?.ok_or_else(lost)?;
        happened.push(event);
        (state, sum) = next;
    }
    Ok((initial, happened))
}

fn numbered(py: Python<'_>, number: u32) -> PyResult<Bound<'_, PyAny>> {
    Ok((number,).into_pyobject(py)?.into_any())
}

type Named<'py> = (&'static str, Bound<'py, PyAny>, Vec<u32>);

/// An event in terms that Python knows.
fn name<'py>(
    py: Python<'py>,
    search: &Search,
    state: &[u32],
    event: &EventId,
) -> PyResult<Named<'py>> {
    let shared = &search.shared;
    let envelope = EnvelopeId::of(event.origin);
    let (what, origin) = match event.what {
        EventKind::Internal => (
            "internal",
            shared.stimulus(py, StimulusId::of(event.origin))?,
        ),
        EventKind::Deliver => ("deliver", shared.message(py, envelope)?),
        EventKind::Drop | EventKind::Shed => ("drop", shared.message(py, envelope)?),
        EventKind::Duplicate => ("duplicate", shared.message(py, envelope)?),
        EventKind::Receive => ("receive", shared.message(py, envelope)?),
        EventKind::Broken => ("broken", shared.message(py, envelope)?),
        EventKind::Refused => ("refused", shared.message(py, envelope)?),
        EventKind::KeepAlive => ("keepalive", shared.message(py, envelope)?),
        EventKind::Cut | EventKind::Sever => ("cut", numbered(py, event.origin)?),
        EventKind::Idle => ("idle", numbered(py, event.origin)?),
        EventKind::Split => ("partition", numbered(py, event.origin)?),
        EventKind::Heal => ("heal", numbered(py, event.origin)?),
    };
    let local = LocalId::of(state[event.node as usize]);
    let choices: Vec<u32> = match event.what {
        EventKind::Drop | EventKind::Shed | EventKind::Duplicate => Vec::new(),
        EventKind::Cut | EventKind::Sever | EventKind::Idle => Vec::new(),
        EventKind::Split | EventKind::Heal => Vec::new(),
        EventKind::Deliver
        | EventKind::Receive
        | EventKind::Broken
        | EventKind::Refused
        | EventKind::KeepAlive => {
            let outcomes = shared.delivery(local, envelope)?;
            outcomes[event.branch as usize].choices.to_vec()
        }
        EventKind::Internal => {
            let internals = shared.internals(local)?;
            let same = |internal: &&Internal| internal.stimulus.number() == event.origin;
            let internal = internals.iter().find(same).ok_or_else(lost)?;
            internal.outcomes[event.branch as usize].choices.to_vec()
        }
    };
    Ok((what, origin, choices))
}
