//! What all threads share, and the way from Python values to ids and back.
//!
//! Invariant: encoding and decoding may run user code, so they happen without the tables' lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

use rustc_hash::FxHashMap;

use crate::history::Histories;
use crate::property::claim::Claim;
use crate::python::tables::RUNNING;
use crate::reduce::symmetry::images::Symmetry;
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::layout::Layout;
use crate::services::seals::Seal;
use crate::services::tables::Tables;
use crate::table::intern::Interner;
use crate::value::{Codec, Fields, OrderGuard, is_second};

/// When a property is judged, and what its verdict means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Always,
    Sometimes,
    /// Judged where the system has come to rest.
    AtRest,
    /// The condition of a seal.
    Seal,
    /// Judged in Python when a step is first run: step properties and exceptions.
    Step,
}

pub struct PropertyState {
    pub kind: Kind,
    pub claim: Mutex<Claim>,
    /// Nothing more to learn: violated, reached, or its predicate raised.
    pub decided: AtomicBool,
}

impl PropertyState {
    /// Those of these kinds.
    pub fn all(kinds: &[String]) -> PyResult<Vec<Self>> {
        kinds.iter().map(|kind| Self::named(kind)).collect()
    }

    /// One of which nothing is known yet.
    fn named(kind: &str) -> PyResult<Self> {
        let kind = match kind {
            "always" => Kind::Always,
            "sometimes" => Kind::Sometimes,
            "rest" => Kind::AtRest,
            "step" => Kind::Step,
            "seal" => Kind::Seal,
            _ => return Err(PyValueError::new_err(format!("no property is `{kind}`"))),
        };
        Ok(PropertyState {
            kind,
            claim: Mutex::default(),
            decided: AtomicBool::new(false),
        })
    }

    /// Whether there is nothing more to learn about it.
    pub fn is_decided(&self) -> bool {
        self.decided.load(Relaxed)
    }
}

pub struct Shared {
    pub layout: Layout,
    pub codec: Py<Codec>,
    pub bridge: Py<PyAny>,
    pub tables: Mutex<Tables>,
    /// Per node, per field: is it a ghost, and the id of the value a handler starts with.
    pub ghosts: Vec<Vec<bool>>,
    pub ghost_values: Vec<Vec<u32>>,
    /// Per node: a set or dict with two or more entries is among its first values, or among the
    /// arguments of its calls.
    pub begins_unordered: Vec<bool>,
    /// Per pair (peer times nodes plus node): what tells the node that the peer is lost.
    pub lost: Vec<EnvelopeId>,
    pub properties: Vec<PropertyState>,
    pub seals: Vec<Seal>,
    /// Where nodes may change places: how.
    /// The system has rules: Python hears of messages that can arrive together.
    pub ruled: bool,
    pub symmetry: Option<Symmetry>,
    /// Those that observers keep, where they are followed without Python.
    pub histories: Option<Histories>,
    /// Message types that predicates asked for. Queries hold their addresses, so they must live.
    pub asked_types: Mutex<FxHashMap<Arc<[usize]>, Py<PyAny>>>,
    pub handler_runs: AtomicU64,
    pub property_runs: AtomicU64,
}

/// Larger values, histories above all, are decoded each time they are needed: there may be hundreds
/// of thousands, each needed a few times, and as Python objects they take ten times their bytes.
const SHARED_MAX: usize = 128;

impl Fields {
    fn intern(&self, interner: &mut Interner) -> Vec<u32> {
        self.iter()
            .map(|(bytes, marks)| interner.intern(bytes, marks).0)
            .collect()
    }
}

/// A callable that gives a handler its own copy of a local state, each time it is called.
#[pyclass(frozen)]
pub struct Fresh {
    shared: Arc<Shared>,
    local: LocalId,
}

#[pymethods]
impl Fresh {
    fn __call__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.shared.fresh(py, self.local)
    }

    /// In the canonical order, whichever is in force.
    fn usual<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let _guard = OrderGuard::new(false);
        self.shared.fresh(py, self.local)
    }

    /// The same with the value at `position` alone in the second order; none if it has no other.
    fn reordered<'py>(
        &self,
        py: Python<'py>,
        position: usize,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let (_, row) = self.shared.row(self.local);
        let marks = self.shared.tables.lock().values.get(row[position]).marks;
        if !marks.unordered {
            return Ok(None);
        }
        let values = self.usual(py)?;
        let _guard = OrderGuard::new(true);
        values.set_item(position, self.shared.value(py, row[position])?)?;
        Ok(Some(values))
    }
}

/// Which interner an id belongs to.
#[derive(Clone, Copy)]
enum Of {
    Values,
    Messages,
    Stimuli,
}

impl Tables {
    fn interner(&mut self, of: Of) -> &mut Interner {
        match of {
            Of::Values => &mut self.values,
            Of::Messages => &mut self.messages,
            Of::Stimuli => &mut self.stimuli,
        }
    }
}

impl Shared {
    fn decoded<'py>(&self, py: Python<'py>, of: Of, id: u32) -> PyResult<Bound<'py, PyAny>> {
        let second = is_second();
        let (bytes, marks) = {
            let mut tables = self.tables.lock();
            let item = tables.interner(of).get(id);
            if let Some(known) = item.known(second) {
                return Ok(known.clone_ref(py).into_bound(py));
            }
            (item.bytes.clone(), item.marks)
        };
        let value = self.codec.get().decode(py, &bytes)?;
        if marks.immutable && bytes.len() <= SHARED_MAX {
            let shared = value.clone_ref(py);
            self.tables.lock().interner(of).share(id, shared, second);
        }
        Ok(value.into_bound(py))
    }

    pub fn value<'py>(&self, py: Python<'py>, id: u32) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(py, Of::Values, id)
    }

    /// (source, to, message) of an envelope.
    pub fn message<'py>(&self, py: Python<'py>, id: EnvelopeId) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(py, Of::Messages, id.number())
    }

    pub fn stimulus<'py>(&self, py: Python<'py>, id: StimulusId) -> PyResult<Bound<'py, PyAny>> {
        self.decoded(py, Of::Stimuli, id.number())
    }

    pub fn row(&self, local: LocalId) -> (usize, Vec<u32>) {
        let tables = self.tables.lock();
        let info = tables.locals[local.index()];
        let start = info.row as usize;
        let fields = self.ghosts[info.node as usize].len();
        (
            info.node as usize,
            tables.rows[start..start + fields].to_vec(),
        )
    }

    /// The values of a local state, as objects no other run will ever see unless immutable.
    pub fn fresh<'py>(&self, py: Python<'py>, local: LocalId) -> PyResult<Bound<'py, PyList>> {
        let (_, row) = self.row(local);
        let values = row.iter().map(|&id| self.value(py, id));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    pub fn fresh_callable<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        local: LocalId,
    ) -> PyResult<Py<Fresh>> {
        let shared = self.clone();
        Py::new(py, Fresh { shared, local })
    }

    /// Intern the values of a node as a local state. Ghost fields are put back to their start.
    pub fn local(
        &self,
        py: Python<'_>,
        node: usize,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<LocalId> {
        let mut encoded = Fields::default();
        let up = RUNNING.contains(&values.get_item(0)?.get_item(0)?.extract()?);
        encoded
            .encode(py, self.codec.get(), values.cast()?)
            .map_err(|error| self.not_state(py, node, error))?;
        let mut tables = self.tables.lock();
        let mut row = encoded.intern(&mut tables.values);
        for (field, &ghost) in self.ghosts[node].iter().enumerate() {
            if ghost {
                row[field] = self.ghost_values[node][field];
            }
        }
        Ok(tables.local(node, &row, &self.ghosts[node], up))
    }

    /// The same error, told in terms of the node's class and field.
    fn not_state(&self, py: Python<'_>, node: usize, error: PyErr) -> PyErr {
        let bridge = self.bridge.bind(py);
        let value = error.clone_ref(py).into_value(py);
        let told = bridge.call_method1("not_state", (node, value));
        told.err().unwrap_or(error)
    }

    fn intern(&self, py: Python<'_>, of: Of, value: &Bound<'_, PyAny>) -> PyResult<u32> {
        let mut encoded = Fields::default();
        encoded.push(py, self.codec.get(), value)?;
        Ok(encoded.intern(self.tables.lock().interner(of))[0])
    }

    pub fn intern_stimulus(
        &self,
        py: Python<'_>,
        stimulus: &Bound<'_, PyAny>,
    ) -> PyResult<StimulusId> {
        Ok(StimulusId::of(self.intern(py, Of::Stimuli, stimulus)?))
    }

    /// The arguments of each node's calls.
    pub fn workloads<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let listed = self.bridge.bind(py).call_method0("workloads")?;
        listed.try_iter()?.collect()
    }

    /// Do the first values of a node, or the arguments of its calls, have a second order?
    pub fn begins(
        &self,
        py: Python<'_>,
        ids: &[u32],
        workload: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let calls = self.codec.get().encode(py, workload, &mut Vec::new())?;
        let tables = self.tables.lock();
        let mut values = ids.iter().map(|&id| tables.values.get(id));
        Ok(calls.unordered || values.any(|value| value.marks.unordered))
    }

    pub fn intern_value(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<u32> {
        self.intern(py, Of::Values, value)
    }

    /// The ids of several values.
    pub fn intern_values(&self, py: Python<'_>, list: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
        let ids = list.try_iter()?.map(|value| self.intern_value(py, &value?));
        ids.collect()
    }

    pub fn envelope(
        &self,
        py: Python<'_>,
        source: usize,
        send: &Bound<'_, PyAny>,
    ) -> PyResult<EnvelopeId> {
        let send = send.cast::<PyTuple>()?;
        let to: usize = send.get_item(0)?.extract()?;
        let message = send.get_item(1)?;
        let whole = (source, to, &message).into_pyobject(py)?;
        let mut bytes = Vec::with_capacity(64);
        let marks = self.codec.get().encode(py, whole.as_any(), &mut bytes)?;
        if let Some(known) = self.tables.lock().messages.find(&bytes) {
            return Ok(EnvelopeId::of(known));
        }
        let lane = self.lane(py, &message)?;
        let class = message.get_type();
        let mro = addresses(&class.getattr("__mro__")?)?;
        let mut tables = self.tables.lock();
        let class = tables.class(&mro, class.into_any().unbind());
        Ok(tables.envelope(&bytes, marks, (source, to, class), lane))
    }

    /// The ids of encodings that a checkpoint holds.
    fn intern_bytes(&self, of: Of, bytes: &[u8]) -> PyResult<u32> {
        let marks = self.codec.get().marks(bytes)?;
        Ok(self.tables.lock().interner(of).intern(bytes, marks).0)
    }

    pub fn intern_value_bytes(&self, bytes: &[u8]) -> PyResult<u32> {
        self.intern_bytes(Of::Values, bytes)
    }

    pub fn intern_stimulus_bytes(&self, bytes: &[u8]) -> PyResult<StimulusId> {
        Ok(StimulusId::of(self.intern_bytes(Of::Stimuli, bytes)?))
    }

    pub fn envelope_of(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<EnvelopeId> {
        let whole = self.codec.get().decode(py, bytes)?.into_bound(py);
        let (source, to, message): (usize, usize, Bound<'_, PyAny>) = whole.extract()?;
        let send = (to, message).into_pyobject(py)?;
        self.envelope(py, source, send.as_any())
    }

    /// The envelopes in which each node is told that each peer is lost.
    pub fn losses(&self, py: Python<'_>, lost: &Bound<'_, PyAny>) -> PyResult<Vec<EnvelopeId>> {
        let nodes = self.layout.nodes;
        let told = (0..nodes * nodes).map(|pair| {
            let message = (pair % nodes, lost).into_pyobject(py)?;
            self.envelope(py, pair / nodes, message.as_any())
        });
        told.collect()
    }

    pub fn records(&self, py: Python<'_>, node: usize, list: &Bound<'_, PyAny>) -> PyResult<u32> {
        let list = list.cast::<PyList>()?;
        if list.is_empty() {
            return Ok(0);
        }
        let mut encoded = Fields::default();
        for record in list.iter() {
            encoded.push(py, self.codec.get(), &record)?;
        }
        let mut tables = self.tables.lock();
        let ids = encoded.intern(&mut tables.values);
        let records: Vec<(u32, u32)> = ids.into_iter().map(|id| (node as u32, id)).collect();
        Ok(tables.record_sequence(&records))
    }
}

/// The addresses of the classes in a tuple.
pub fn addresses(classes: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let classes = classes.cast::<PyTuple>()?;
    let address = |class: Bound<'_, PyAny>| -> PyResult<usize> {
        Ok(class.cast::<PyType>()?.as_ptr() as usize)
    };
    classes.iter().map(address).collect()
}
