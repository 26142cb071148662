//! A state as a predicate sees it, noting down what was read.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::property::claim::Reads;
use crate::property::notes::Notes;
use crate::property::trie::{Ask, Query, Said};
use crate::services::context::{Shared, addresses};
use crate::services::layout::Layout;

#[pyclass(frozen)]
pub struct Reader {
    shared: Arc<Shared>,
    state: Vec<u32>,
    notes: Mutex<Notes>,
}

impl Reader {
    pub fn new(shared: Arc<Shared>, state: &[u32]) -> Self {
        Reader {
            shared,
            state: state.to_vec(),
            notes: Mutex::default(),
        }
    }

    pub fn reads(&self) -> Reads {
        self.notes.lock().reads.clone()
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

    fn note(&self, query: Query, answer: u64) {
        self.notes.lock().add(Ask::State(query), answer);
    }
}

#[pymethods]
impl Reader {
    /// The same state, for what is to be read without being noted here.
    fn apart(&self) -> Self {
        Reader::new(self.shared.clone(), &self.state)
    }

    /// From now on function number `function` reads, asked about `node`; false if one does already.
    fn begin(&self, function: u32, node: u32) -> bool {
        self.notes.lock().begin((function, node))
    }

    /// The function that began has said yes or no; `None`: more than that, or it raised.
    #[pyo3(signature = (holds))]
    fn end(&self, holds: Option<bool>) {
        self.notes.lock().end(holds.map_or(Said::More, Said::from));
    }

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
        let (link, end, messages) = {
            let tables = self.shared.tables.lock();
            let link = tables.links[word as usize].link;
            let end = link.end(node);
            (link, end, tables.queued(link.queues[end]))
        };
        let queued = PyList::empty(py);
        for envelope in messages {
            queued.append(self.shared.message(py, envelope)?.get_item(2)?)?;
        }
        Ok((link.open[end], link.error[end], queued))
    }

    /// How many messages of these types are in flight.
    fn count(&self, types: Option<Bound<'_, PyTuple>>) -> PyResult<u64> {
        let types = types.map(|types| self.keep(types)).transpose()?;
        let (layout, state) = (&self.shared.layout, &self.state);
        let tables = self.shared.tables.lock();
        let count = tables.flight().count(layout, state, types.as_deref());
        self.note(Query::Count(types), count);
        Ok(count)
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
            let flight = tables.flight();
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
