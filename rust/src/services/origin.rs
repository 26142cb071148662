//! A state to begin in other than those that `start` handlers lead to: one that was saved.
//!
//! It comes as canonical bytes, as the live world holds it (`model/world/snapshot.py`), so nothing
//! is run or decoded here but messages, whose classes filters and properties ask for.
//!
//! Invariant: the fingerprint of the state is that of the live world restored from the same bytes.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::python::tables::FAULTS;
use crate::search::Initial;
use crate::services::context::Shared;
use crate::services::ids::EnvelopeId;
use crate::services::layout::{Budget, Layout};
use crate::services::start::{in_flight, sum};
use crate::services::streams::connection::Link;

/// A connection: its ends, the lower first, what each has queued, and its flags.
type SavedLink = (u32, u32, Vec<Vec<u8>>, Vec<Vec<u8>>, u8);

/// A saved state, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct Origin {
    locals: Vec<Vec<Vec<u8>>>,
    observers: Vec<Vec<u8>>,
    budgets: [i64; FAULTS.len()],
    partition: u32,
    links: Vec<SavedLink>,
    /// Channels where the network has some; else one message each.
    mail: Vec<Vec<Vec<u8>>>,
}

impl Origin {
    /// The state to begin in.
    pub fn state(&self, py: Python<'_>, shared: &Arc<Shared>) -> PyResult<Initial> {
        let layout = &shared.layout;
        if (self.locals.len(), self.observers.len()) != (layout.nodes, layout.observers) {
            return Err(other_system());
        }
        let mut words = Vec::with_capacity(layout.fixed + self.mail.len());
        for (node, values) in self.locals.iter().enumerate() {
            words.push(shared.local_of(node, values)?.number());
        }
        for state in &self.observers {
            words.push(shared.intern_value_bytes(state)?);
        }
        for (fault, budget) in layout.budgets.iter().enumerate() {
            if matches!(budget, Budget::Word(_)) {
                words.push(u32::try_from(self.budgets[fault]).map_err(|_| other_system())?);
            }
        }
        if layout.partition.is_some() {
            words.push(self.partition);
        }
        if self.partition as usize > layout.severed.len() {
            return Err(other_system());
        }
        if layout.streams.is_some() {
            words.extend(self.connections(py, shared)?);
        }
        let mut mail = self.in_flight(py, shared)?;
        mail.sort_unstable();
        words.extend(mail);
        Ok(Initial {
            sum: sum(shared, &words),
            words,
            broken: 0,
            choices: Vec::new(),
        })
    }

    fn connections(&self, py: Python<'_>, shared: &Shared) -> PyResult<Vec<u32>> {
        let nodes = shared.layout.nodes;
        let mut words = vec![0; nodes * (nodes + 1) / 2];
        for (one, other, there, back, flags) in &self.links {
            if one > other || *other as usize >= nodes {
                return Err(other_system());
            }
            let queues = [envelopes(py, shared, there)?, envelopes(py, shared, back)?];
            let mut tables = shared.tables.lock();
            let queues = queues.map(|queue| tables.queue(&queue));
            let link = Link::of([*one, *other], queues, *flags);
            words[Layout::slot(*one, *other)] = tables.link(link);
        }
        Ok(words)
    }

    fn in_flight(&self, py: Python<'_>, shared: &Shared) -> PyResult<Vec<u32>> {
        let mut sent = Vec::new();
        for messages in &self.mail {
            sent.extend(envelopes(py, shared, messages)?);
        }
        Ok(in_flight(shared, sent.into_iter()))
    }
}

fn envelopes(py: Python<'_>, shared: &Shared, messages: &[Vec<u8>]) -> PyResult<Vec<EnvelopeId>> {
    let sent = messages.iter().map(|bytes| {
        let envelope = shared.envelope_of(py, bytes)?;
        let info = shared.tables.lock().envelopes[envelope.index()];
        let known = |node: u32| (node as usize) < shared.layout.nodes;
        match known(info.source) && known(info.to) {
            true => Ok(envelope),
            false => Err(other_system()),
        }
    });
    sent.collect()
}

fn other_system() -> PyErr {
    PyValueError::new_err("a state of another system")
}
