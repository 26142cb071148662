//! Steps as another process understands them, and what each of them did as one number.
//!
//! A set that a handler makes itself is arranged by the hashes of its elements, and those of texts
//! and plain objects differ from process to process. So a second process, under another hash seed,
//! runs the steps that a search has met, and compares.
//!
//! Invariant: digests are made of canonical bytes, never of ids, and know only what the world can
//! tell (see `reorder.rs`): a pure step has one digest in all processes.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use crate::python::kernel::Kernel;
use crate::python::tables::RUNNING;
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::misses::Cause;
use crate::services::tables::{Outcome, Tables};
use crate::table::fingerprint::{combine_iter, mix};
use crate::value::{digest, numbers, texts};

/// What is run again: a delivery, what a node starts by itself, the list of what it can start,
/// what an observer makes of records.
const DELIVERY: u64 = 0;
const OWN: u64 = 1;
const LISTING: u64 = 2;
const OBSERVING: u64 = 3;

/// Kind, node (or slot of an observer), its values, the cause, and the digest of what was done.
type Step = (u64, u32, Vec<Py<PyBytes>>, Py<PyBytes>, u64);
/// The same, before anything of Python is made.
type Plain = (u64, u32, Vec<Arc<[u8]>>, Arc<[u8]>, u64);

/// A step by its ids: of the local state and the cause, or of state and records of an observer.
#[derive(Clone, Copy)]
struct Known {
    kind: u64,
    node: u32,
    what: u32,
    cause: u32,
    /// Steps that run the same code.
    group: u64,
    /// The same in all processes, and evenly spread.
    key: u64,
    did: u64,
}

/// The steps that the searches of a kernel have met.
#[pyclass(frozen)]
pub struct Steps {
    shared: Arc<Shared>,
}

#[pymethods]
impl Steps {
    #[new]
    fn new(kernel: &Kernel) -> Self {
        let shared = kernel.shared.clone();
        Steps { shared }
    }

    /// The names of all classes and of all importable objects that encoded values may name.
    fn names(&self) -> (Vec<String>, Vec<String>) {
        self.shared.codec.get().names()
    }

    /// How many distinct steps there are, and up to `count` of them, of `room` bytes in all: some
    /// of each piece of code first, then evenly spread.
    fn met(&self, py: Python<'_>, count: usize, room: usize) -> (usize, Vec<Step>) {
        let (total, plain) = self.shared.met_steps(count, room);
        let bytes = |bytes: Arc<[u8]>| PyBytes::new(py, &bytes).unbind();
        let step = |(kind, node, values, cause, did): Plain| {
            let values = values.into_iter().map(bytes).collect();
            (kind, node, values, bytes(cause), did)
        };
        (total, plain.into_iter().map(step).collect())
    }

    /// Run a step that `met` gave, here or elsewhere: the digest of what it does.
    fn digest(
        &self,
        py: Python<'_>,
        kind: u64,
        node: u32,
        values: Vec<Vec<u8>>,
        cause: &[u8],
    ) -> PyResult<u64> {
        let shared = &self.shared;
        if kind == OBSERVING {
            return shared.observe_again(py, node, &values, cause);
        }
        let local = shared.local_of(node as usize, &values)?;
        let cause = match kind {
            DELIVERY => Cause::Envelope(shared.envelope_of(py, cause)?),
            OWN => Cause::Stimulus(shared.intern_stimulus_bytes(cause)?),
            _ => {
                let listed = shared.listed(py, local)?;
                let tables = shared.tables.lock();
                return Ok(listing(&tables, listed.into_iter()));
            }
        };
        let outcomes = shared.run_once(py, node as usize, local, cause)?;
        let tables = shared.tables.lock();
        Ok(shared.did(&tables, &outcomes))
    }
}

impl Shared {
    fn met_steps(&self, count: usize, room: usize) -> (usize, Vec<Plain>) {
        let tables = self.tables.lock();
        let mut known = self.known(&tables);
        let total = known.len();
        known.sort_unstable_by_key(|step| step.key);
        let mut ranks: FxHashMap<u64, u32> = FxHashMap::default();
        let mut ranked: Vec<(u32, Known)> = Vec::with_capacity(total);
        for step in known {
            let rank = ranks.entry(step.group).or_default();
            ranked.push((*rank, step));
            *rank += 1;
        }
        ranked.sort_by_key(|&(rank, step)| (rank, step.key));
        let mut left = room;
        let plain = ranked.into_iter().take(count).map_while(|(_, step)| {
            let plain = self.plain(&tables, step);
            let size = plain.3.len() + plain.2.iter().map(|value| value.len()).sum::<usize>();
            left = left.checked_sub(size)?;
            Some(plain)
        });
        (total, plain.collect())
    }

    fn known(&self, tables: &Tables) -> Vec<Known> {
        let mut known = Vec::new();
        let node = |local: u32| tables.locals[local as usize].node;
        let mixed = |local: u32| tables.locals[local as usize].mix;
        for (&key, outcomes) in &tables.deliveries {
            let (what, cause) = ((key >> 32) as u32, key as u32);
            let class = tables.envelopes[cause as usize].class;
            known.push(Known {
                kind: DELIVERY,
                node: node(what),
                what,
                cause,
                group: combine_iter([DELIVERY, u64::from(node(what)), u64::from(class)]),
                key: combine_iter([mixed(what), tables.messages.get(cause).digest]),
                did: self.did(tables, outcomes),
            });
        }
        for (local, internals) in &tables.internals {
            let what = local.number();
            for internal in internals.iter() {
                let stimulus = tables.stimuli.get(internal.stimulus.number());
                let name = texts(&stimulus.bytes, 2).join(" ");
                known.push(Known {
                    kind: OWN,
                    node: node(what),
                    what,
                    cause: internal.stimulus.number(),
                    group: combine_iter([OWN, u64::from(node(what)), digest(name.as_bytes())]),
                    key: combine_iter([mixed(what), stimulus.digest]),
                    did: self.did(tables, &internal.outcomes),
                });
            }
            let listed = internals.iter().map(|one| (one.stimulus, one.fault));
            known.push(Known {
                kind: LISTING,
                node: node(what),
                what,
                cause: 0,
                group: combine_iter([LISTING, u64::from(node(what))]),
                key: mixed(what),
                did: listing(tables, listed),
            });
        }
        known.extend(observed(tables));
        known
    }

    fn plain(&self, tables: &Tables, step: Known) -> Plain {
        let value = |id: &u32| tables.values.get(*id).bytes.clone();
        if step.kind == OBSERVING {
            let fed = &tables.records[step.cause as usize];
            let values = fed.iter().map(|(_, record)| record);
            let nodes: Vec<u8> = fed
                .iter()
                .flat_map(|(node, _)| node.to_be_bytes())
                .collect();
            let values = [&step.what].into_iter().chain(values).map(value);
            return (
                step.kind,
                step.node,
                values.collect(),
                nodes.into(),
                step.did,
            );
        }
        let row = tables.locals[step.what as usize].row as usize;
        let row = &tables.rows[row..row + self.ghosts[step.node as usize].len()];
        let cause = match step.kind {
            DELIVERY => tables.messages.get(step.cause).bytes.clone(),
            OWN => tables.stimuli.get(step.cause).bytes.clone(),
            _ => Arc::new([]),
        };
        (
            step.kind,
            step.node,
            row.iter().map(value).collect(),
            cause,
            step.did,
        )
    }

    /// The local state of a node with these encoded values. Ghosts are put back to their start.
    pub fn local_of(&self, node: usize, values: &[Vec<u8>]) -> PyResult<LocalId> {
        if node >= self.ghosts.len() || values.len() != self.ghosts[node].len() {
            return Err(PyValueError::new_err("a step of another system"));
        }
        let row = values.iter().map(|bytes| self.intern_value_bytes(bytes));
        let mut row = row.collect::<PyResult<Vec<u32>>>()?;
        let ghosts = self.ghosts[node].iter().enumerate();
        for (field, _) in ghosts.filter(|(_, ghost)| **ghost) {
            row[field] = self.ghost_values[node][field];
        }
        let up =
            numbers(&values[0]).is_some_and(|[status, _]| RUNNING.contains(&(status as usize)));
        let mut tables = self.tables.lock();
        Ok(tables.local(node, &row, &self.ghosts[node], up))
    }

    fn observe_again(
        &self,
        py: Python<'_>,
        slot: u32,
        values: &[Vec<u8>],
        nodes: &[u8],
    ) -> PyResult<u64> {
        let ids = values.iter().map(|bytes| self.intern_value_bytes(bytes));
        let ids = ids.collect::<PyResult<Vec<u32>>>()?;
        let Some((&state, records)) = ids.split_first() else {
            return Err(PyValueError::new_err("a step of another system"));
        };
        let node = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let nodes = nodes.chunks_exact(4).map(node);
        let fed: Vec<(u32, u32)> = nodes.zip(records.iter().copied()).collect();
        let records = self.tables.lock().record_sequence(&fed);
        let after = self.observe(py, (slot, state, records))?;
        Ok(self.tables.lock().values.get(after).digest)
    }

    /// What the branches of a step do, in whatever order.
    fn did(&self, tables: &Tables, outcomes: &[Outcome]) -> u64 {
        let mut branches: Vec<u64> = outcomes
            .iter()
            .map(|outcome| self.branch(tables, outcome))
            .collect();
        branches.sort_unstable();
        combine_iter(branches)
    }

    fn branch(&self, tables: &Tables, outcome: &Outcome) -> u64 {
        let sent = |id: EnvelopeId| tables.messages.get(id.number()).digest;
        let (flight, network) = (tables.flight(), self.layout.network);
        let mut sends = outcome.sends.to_vec();
        sends.sort_by_key(|&id| flight.channel_key(network, id)); // stable
        let (flows, limits) = outcome.streams_sorted();
        let records = tables.records[outcome.records as usize].iter();
        let records = records.map(|&(_, value)| tables.values.get(value).digest);
        let flows = flows.iter().flat_map(|flow| {
            let message = flow.envelope.map_or(u64::MAX, sent);
            [u64::from(flow.peer), message]
        });
        let limits = limits
            .iter()
            .flat_map(|limit| [limit.peer, limit.least, limit.most].map(u64::from));
        combine_iter([
            tables.locals[outcome.local.index()].mix,
            outcome.broken,
            combine_iter(sends.into_iter().map(sent)),
            combine_iter(records),
            combine_iter(flows),
            combine_iter(limits),
        ])
    }
}

/// What a node can start by itself, in whatever order.
fn listing(tables: &Tables, listed: impl Iterator<Item = (StimulusId, u8)>) -> u64 {
    let one = |(stimulus, fault): (StimulusId, u8)| {
        mix(
            LISTING,
            u64::from(fault),
            tables.stimuli.get(stimulus.number()).digest,
        )
    };
    let mut listed: Vec<u64> = listed.map(one).collect();
    listed.sort_unstable();
    combine_iter(listed)
}

/// What observers made of records.
fn observed(tables: &Tables) -> impl Iterator<Item = Known> {
    let digest = |value: u32| tables.values.get(value).digest;
    tables
        .observed
        .iter()
        .map(move |(&(slot, what, cause), &after)| {
            let fed = tables.records[cause as usize].iter();
            let fed = fed.map(|&(_, value)| digest(value));
            Known {
                kind: OBSERVING,
                node: slot,
                what,
                cause,
                group: combine_iter([OBSERVING, u64::from(slot)]),
                key: combine_iter(fed.chain([digest(what)])),
                did: digest(after),
            }
        })
}
