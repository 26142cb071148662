//! What all threads share: every interned thing, and every step ever run.
//!
//! One lock around it all. It is taken only where a thread meets something it has not met before;
//! each thread keeps a mirror of what it needs (`mirror.rs`).
//!
//! Invariant: nobody waits for the interpreter while holding this lock. Code that has both takes
//! the interpreter first.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::services::coverage::Before;
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::lanes::Lane;
use crate::services::layout::Network;
use crate::services::queues::Queues;
use crate::services::streams::connection::{Link, LinkInfo};
use crate::table::fingerprint::{ENVELOPE, LOCAL, combine_iter, mix};
use crate::table::flat::pair;
use crate::table::intern::Interner;
use crate::value::Marks;

#[derive(Clone, Copy)]
pub struct LocalInfo {
    pub node: u32,
    /// Where its row of value ids starts in `rows`.
    pub row: u32,
    pub mix: u64,
}

#[derive(Clone, Copy)]
pub struct EnvelopeInfo {
    pub source: u32,
    pub to: u32,
    /// Its number among the messages of its receiver.
    pub place: u32,
    /// Index into `classes` of the message's type.
    pub class: u32,
    /// It is neither dropped nor duplicated: a notice, or part of a lane.
    pub reliable: bool,
    /// It is in no lane, where there are lanes: no queue holds it with others.
    pub alone: bool,
    pub mix: u64,
}

/// Something a handler did to its stream to `peer`: sent this envelope, or closed it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub peer: u32,
    pub envelope: Option<EnvelopeId>,
}

/// A branch happens only where so many messages are queued to `peer` before the handler runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub peer: u32,
    pub least: u32,
    pub most: u32,
}

/// The weights of a branch in a walk with faults, and in a calm one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Odds {
    pub plain: u64,
    pub calm: u64,
}

/// What one branch of a step does.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    pub local: LocalId,
    pub sends: Box<[EnvelopeId]>,
    /// Id of a sequence of records; 0 for none.
    pub records: u32,
    /// Bit per property that this very step breaks (step properties, exceptions).
    pub broken: u64,
    /// The choices made inside the handler.
    pub choices: Box<[u32]>,
    pub odds: Odds,
    pub flows: Box<[Flow]>,
    pub limits: Box<[Limit]>,
}

impl Outcome {
    /// What it does to streams, and where, in an order that the world cannot tell from others.
    pub fn streams_sorted(&self) -> (Vec<Flow>, Vec<Limit>) {
        let (mut flows, mut limits) = (self.flows.to_vec(), self.limits.to_vec());
        flows.sort_by_key(|flow| flow.peer);
        limits.sort_by_key(|limit| (limit.peer, limit.least, limit.most));
        (flows, limits)
    }
}

/// An event that a node can start by itself, with its outcomes.
pub struct Internal {
    pub stimulus: StimulusId,
    /// Index of the fault it is, or `NOT_A_FAULT`.
    pub fault: u8,
    pub outcomes: Arc<[Outcome]>,
}

pub const NOT_A_FAULT: u8 = u8::MAX;

/// A message type: the addresses of its method resolution order, kept alive by `class`.
#[derive(Clone)]
pub struct ClassInfo {
    pub mro: Arc<[usize]>,
    class: Arc<Py<PyAny>>,
}

impl ClassInfo {
    /// The type itself.
    pub fn of(&self, py: Python<'_>) -> Py<PyAny> {
        self.class.clone_ref(py)
    }
}

#[derive(Default)]
pub struct Tables {
    pub values: Interner,
    pub locals: Vec<LocalInfo>,
    pub rows: Vec<u32>,
    /// Per local state, whether the node runs; known only where there are streams.
    pub ups: Vec<bool>,
    local_ids: FxHashMap<Box<[u32]>, LocalId>,
    pub messages: Interner,
    pub envelopes: Vec<EnvelopeInfo>,
    /// Per node, how many envelopes are for it.
    received: Vec<u32>,
    /// Per envelope, where the network has lanes; else there are none.
    pub lanes: Vec<Lane>,
    pub lane_ids: FxHashMap<(u32, u32, u32), EnvelopeId>,
    laned: bool,
    pub queues: Queues,
    pub links: Vec<LinkInfo>,
    pub link_ids: FxHashMap<Link, u32>,
    pub stimuli: Interner,
    /// Sequences of records: (node, value), from index 1.
    pub records: Vec<Arc<[(u32, u32)]>>,
    record_ids: FxHashMap<Arc<[(u32, u32)]>, u32>,
    pub classes: Vec<ClassInfo>,
    /// Address of the type of messages that are neither dropped nor duplicated: one of presage's.
    notice: Option<usize>,
    pub deliveries: FxHashMap<u64, Arc<[Outcome]>>,
    pub internals: FxHashMap<LocalId, Arc<[Internal]>>,
    /// (observer slot, its state, records) to its next state.
    pub observed: FxHashMap<(u32, u32, u32), u32>,
    /// Pairs of a node and a stimulus that clocks, or seals, have ever let happen.
    pub happened: FxHashSet<u64>,
    /// How many local states were known when each level of a breadth-first search was done.
    pub levels: Vec<u32>,
    pub before: Before,
    /// Which values of a node a kind of step can read, a bit for each.
    pub reads: FxHashMap<Step, u64>,
}

/// What runs one piece of a node's code.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A message of that class.
    Message {
        node: u32,
        class: u32,
    },
    Stimulus {
        node: u32,
        id: StimulusId,
    },
    /// The guards of all that it can start by itself.
    Guards {
        node: u32,
    },
}

impl Tables {
    pub fn new(notice: Option<usize>, network: Network) -> Self {
        let mut tables = Tables {
            notice,
            laned: network == Network::Lanes,
            ..Tables::default()
        };
        tables.records.push(Arc::new([]));
        tables.links.push(LinkInfo {
            link: Link::new(0, 0),
            mix: 0,
        });
        tables
    }

    /// The id of the local state of `node` whose fields have the value ids `row`.
    pub fn local(&mut self, node: usize, row: &[u32], ghosts: &[bool], up: bool) -> LocalId {
        let mut key = Vec::with_capacity(row.len() + 1);
        key.push(node as u32);
        key.extend_from_slice(row);
        if let Some(&id) = self.local_ids.get(&key[..]) {
            return id;
        }
        let seen = row.iter().zip(ghosts).filter(|(_, ghost)| !**ghost);
        let digest = combine_iter(seen.map(|(&id, _)| self.values.get(id).digest));
        let id = LocalId::of(self.locals.len() as u32);
        self.locals.push(LocalInfo {
            node: node as u32,
            row: self.rows.len() as u32,
            mix: mix(LOCAL, node as u64, digest),
        });
        self.ups.push(up);
        self.rows.extend_from_slice(row);
        self.local_ids.insert(key.into(), id);
        id
    }

    /// The id of the envelope with the canonical `bytes` of (source, to, message), in this lane.
    pub fn envelope(
        &mut self,
        bytes: &[u8],
        marks: Marks,
        (source, to, class): (usize, usize, u32),
        lane: Option<u32>,
    ) -> EnvelopeId {
        let (id, new) = self.messages.intern(bytes, marks);
        if new {
            self.received.resize(self.received.len().max(to + 1), 0);
            self.received[to] += 1;
            self.envelopes.push(EnvelopeInfo {
                source: source as u32,
                to: to as u32,
                place: self.received[to] - 1,
                class,
                reliable: self.notice == self.classes[class as usize].mro.first().copied(),
                alone: false,
                mix: mix(ENVELOPE, 0, self.messages.get(id).digest),
            });
        }
        if new && self.laned {
            self.enter_lane(EnvelopeId::of(id), lane);
        }
        EnvelopeId::of(id)
    }

    /// The id of a message type, by the addresses of its method resolution order.
    pub fn class(&mut self, mro: &[usize], class: Py<PyAny>) -> u32 {
        if let Some(id) = self.classes.iter().position(|known| *known.mro == *mro) {
            return id as u32;
        }
        self.classes.push(ClassInfo {
            mro: mro.into(),
            class: Arc::new(class),
        });
        (self.classes.len() - 1) as u32
    }

    /// The id of a sequence of (node, record); 0 for the empty one.
    pub fn record_sequence(&mut self, records: &[(u32, u32)]) -> u32 {
        if records.is_empty() {
            return 0;
        }
        if let Some(&id) = self.record_ids.get(records) {
            return id;
        }
        let records: Arc<[(u32, u32)]> = records.into();
        let id = self.records.len() as u32;
        self.records.push(records.clone());
        self.record_ids.insert(records, id);
        id
    }

    pub fn delivery(&self, local: LocalId, envelope: EnvelopeId) -> Option<Arc<[Outcome]>> {
        self.deliveries.get(&delivery_key(local, envelope)).cloned()
    }
}

/// A delivery as one key.
#[inline(always)]
pub fn delivery_key(local: LocalId, envelope: EnvelopeId) -> u64 {
    pair(local.number(), envelope.number())
}
