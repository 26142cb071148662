//! A state as a predicate sees it, noting down what was read.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::property::trie::Query;
use crate::services::context::{Shared, addresses};
use crate::services::layout::Layout;
use crate::services::mirror::Flight;

#[pyclass(frozen)]
pub struct Reader {
    shared: Arc<Shared>,
    state: Vec<u32>,
    reads: Mutex<Vec<(Query, u64)>>,
}

impl Reader {
    pub fn new(shared: Arc<Shared>, state: &[u32]) -> Self {
        Reader {
            shared,
            state: state.to_vec(),
            reads: Mutex::default(),
        }
    }

    pub fn reads(&self) -> Vec<(Query, u64)> {
        self.reads.lock().clone()
    }

    /// The addresses of `types`, which are kept alive from now on.
    fn keep(&self, types: Bound<'_, PyTuple>) -> PyResult<Arc<[usize]>> {
        let addresses: Arc<[usize]> = addresses(types.as_any())?.into();
        let mut asked = self.shared.asked_types.lock();
        asked
            .entry(addresses.clone())
            .or_insert_with(|| types.into_any().unbind());
        Ok(addresses)
    }

    /// A question asked twice has the same answer, so the second one leads nowhere new.
    fn note(&self, query: Query, answer: u64) {
        let mut reads = self.reads.lock();
        if !reads.iter().any(|(known, _)| *known == query) {
            reads.push((query, answer));
        }
    }
}

#[pymethods]
impl Reader {
    /// Status, calls made, timers and failure of a node.
    fn control<'py>(&self, py: Python<'py>, node: usize) -> PyResult<Bound<'py, PyAny>> {
        self.value(py, node, 0)
    }

    fn value<'py>(
        &self,
        py: Python<'py>,
        node: usize,
        field: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = {
            let tables = self.shared.tables.lock();
            let local = tables.locals[self.state[node] as usize];
            tables.rows[local.row as usize + field]
        };
        let (node, field) = (node as u32, field as u32);
        self.note(Query::Field { node, field }, u64::from(id));
        self.shared.value(py, id)
    }

    fn observer<'py>(&self, py: Python<'py>, slot: usize) -> PyResult<Bound<'py, PyAny>> {
        let id = self.state[self.shared.layout.nodes + slot];
        self.note(Query::Observer(slot as u32), u64::from(id));
        self.shared.value(py, id)
    }

    /// The number of the partition in force, 0 for none.
    fn partition(&self) -> u32 {
        let number = self.shared.layout.split(&self.state);
        self.note(Query::Partition, u64::from(number));
        number
    }

    /// Of the end of `node` of its stream to `peer`: open, broken, and the messages queued.
    fn connection<'py>(
        &self,
        py: Python<'py>,
        node: u32,
        peer: u32,
    ) -> PyResult<(bool, bool, Bound<'py, PyList>)> {
        let slot = Layout::slot(node, peer);
        let word = self.shared.layout.links(&self.state)[slot];
        self.note(Query::Connection(slot as u32), u64::from(word));
        if word == 0 {
            return Ok((false, false, PyList::empty(py)));
        }
        let link = self.shared.tables.lock().links[word as usize].link.clone();
        let end = link.end(node);
        let queued = PyList::empty(py);
        for &envelope in link.queues[end].iter() {
            queued.append(self.shared.message(py, envelope)?.get_item(2)?)?;
        }
        Ok((link.open[end], link.error[end], queued))
    }

    /// (source, to, message) of everything in flight of these types, in canonical order.
    fn messages<'py>(
        &self,
        py: Python<'py>,
        types: Option<Bound<'py, PyTuple>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let types: Option<Arc<[usize]>> = match types {
            Some(types) => Some(self.keep(types)?),
            None => None,
        };
        let mut found = Vec::new();
        {
            let tables = self.shared.tables.lock();
            let flight = Flight {
                envelopes: &tables.envelopes,
                queues: &tables.queues,
                links: &tables.links,
                classes: &tables.classes,
            };
            let (layout, state) = (&self.shared.layout, &self.state);
            flight.visit(layout, state, types.as_deref(), |envelope| {
                let bytes = tables.messages.get(envelope.number()).bytes.clone();
                found.push((bytes, envelope));
            });
            let answer = flight.answer(layout, state, types.as_deref());
            self.note(Query::Messages(types), answer);
        }
        found.sort_unstable();
        let listed = found.iter().map(|(_, id)| self.shared.message(py, *id));
        PyList::new(py, listed.collect::<PyResult<Vec<_>>>()?)
    }
}
