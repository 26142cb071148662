//! Interchangeable nodes: what a state, message or record becomes when nodes change places.
//!
//! A permutation of nodes acts on everything that can name one: which node has a local state, the
//! ends of a message, and every string in a value that is a grouped node's name. Images are
//! interned like anything else, so each (thing, permutation) is worked out once.
//!
//! A field that lists the other nodes in some order, and never changes, is *settled*: a permutation
//! gives a node what its new place has there. That steps agree is checked (`equivariant.rs`).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, QueueId};
use crate::services::lanes::Lane;
use crate::table::fingerprint::combine_iter;
use crate::table::flat::pair;
use crate::value::Form;

/// What has an image under a permutation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thing {
    Value,
    /// Status, calls, timers and failure of a node.
    Control,
    Local,
    Envelope,
    Queue,
    Records,
    Stimulus,
}
const THINGS: usize = 7;

pub type Permutation = Arc<[u32]>; // node -> the node whose place it takes

#[derive(Default)]
struct Memo {
    permutations: Vec<Permutation>, // the first one changes nothing
    ids: FxHashMap<Permutation, u32>,
    images: [FxHashMap<u64, u32>; THINGS],
}

pub struct Symmetry {
    pub groups: Vec<Vec<u32>>,
    names: Vec<String>,
    group_of: Vec<Option<u32>>,
    tokens: Vec<String>, // per group: what its names look like from a node that is not it
    grouped: FxHashMap<Vec<u8>, u32>, // name -> node, of grouped nodes
    /// Per node, per field.
    settled: Vec<Vec<bool>>,
    /// Exchanges of neighbours, which generate all permutations.
    pub generators: Vec<u32>,
    memo: Mutex<Memo>,
    /// Steps whose images all agree: (kind or observer, state, stimulus or records).
    pub verified: Mutex<FxHashSet<(u32, u32, u32)>>,
    /// Something had so many arrangements that only part of them was compared.
    pub sampled: AtomicBool,
}

/// Groups of nodes, the names of all, and per node and field whether it is settled.
pub type SymmetricNodes = (Vec<Vec<u32>>, Vec<String>, Vec<Vec<bool>>);

impl Symmetry {
    pub fn new((groups, names, settled): SymmetricNodes) -> Self {
        let mut group_of = vec![None; names.len()];
        let mut grouped = FxHashMap::default();
        for (group, nodes) in groups.iter().enumerate() {
            for &node in nodes {
                group_of[node as usize] = Some(group as u32);
                grouped.insert(names[node as usize].clone().into_bytes(), node);
            }
        }
        let tokens = (0..groups.len()).map(|group| format!("\0{group}"));
        let mut symmetry = Symmetry {
            tokens: tokens.collect(),
            groups,
            names,
            group_of,
            grouped,
            settled,
            generators: Vec::new(),
            memo: Mutex::default(),
            verified: Mutex::default(),
            sampled: AtomicBool::new(false),
        };
        symmetry.id(&symmetry.exchange(0, 0));
        for nodes in &symmetry.groups {
            for ends in nodes.windows(2) {
                let generator = symmetry.id(&symmetry.exchange(ends[0], ends[1]));
                symmetry.generators.push(generator);
            }
        }
        symmetry
    }

    /// An end of a message, or the owner of a local state, as it looks from `node`.
    fn end(&self, named: u32, node: u32) -> u32 {
        match self.group_of[named as usize] {
            _ if named == node => u32::MAX,
            Some(group) => u32::MAX - 1 - group,
            None => named,
        }
    }

    /// The permutation that exchanges two nodes.
    pub fn exchange(&self, one: u32, other: u32) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.names.len() as u32).collect();
        nodes.swap(one as usize, other as usize);
        nodes
    }

    pub fn id(&self, permutation: &[u32]) -> u32 {
        let mut memo = self.memo.lock();
        if let Some(&id) = memo.ids.get(permutation) {
            return id;
        }
        let id = memo.permutations.len() as u32;
        let permutation: Permutation = permutation.into();
        memo.permutations.push(permutation.clone());
        memo.ids.insert(permutation, id);
        id
    }

    pub fn permutation(&self, id: u32) -> Permutation {
        self.memo.lock().permutations[id as usize].clone()
    }
}

impl Shared {
    pub fn symmetry(&self) -> &Symmetry {
        self.symmetry
            .as_ref()
            .expect("only asked where nodes change places")
    }

    /// The id of what the thing becomes.
    ///
    /// What a failed node says of its failure is left out, even if no node moves: it may hold a
    /// name inside a longer text, and nobody can see it.
    pub fn image(&self, thing: Thing, id: u32, permutation: u32) -> PyResult<u32> {
        if permutation == 0 && !matches!(thing, Thing::Local | Thing::Control) {
            return Ok(id);
        }
        let (symmetry, key) = (self.symmetry(), pair(id, permutation));
        if let Some(&known) = symmetry.memo.lock().images[thing as usize].get(&key) {
            return Ok(known);
        }
        let nodes = symmetry.permutation(permutation);
        let image = match thing {
            Thing::Value | Thing::Control => self.value_image(thing, id, &nodes)?,
            Thing::Stimulus => self.stimulus_image(id, &nodes)?,
            Thing::Local => self.local_image(LocalId::of(id), permutation, &nodes)?,
            Thing::Envelope => self.envelope_image(id, permutation, &nodes)?,
            Thing::Queue => {
                let envelopes = self.tables.lock().queued(QueueId::of(id));
                let images = envelopes
                    .iter()
                    .map(|envelope| self.image(Thing::Envelope, envelope.number(), permutation))
                    .map(|image| image.map(EnvelopeId::of))
                    .collect::<PyResult<Vec<_>>>()?;
                self.tables.lock().queue(&images).number()
            }
            Thing::Records => {
                let records = self.tables.lock().records[id as usize].clone();
                let mut images = Vec::with_capacity(records.len());
                for &(node, value) in records.iter() {
                    let value = self.image(Thing::Value, value, permutation)?;
                    images.push((nodes[node as usize], value));
                }
                self.tables.lock().record_sequence(&images)
            }
        };
        symmetry.memo.lock().images[thing as usize].insert(key, image);
        Ok(image)
    }

    fn renamed(&self, bytes: &[u8], form: Form, nodes: &[u32]) -> PyResult<Vec<u8>> {
        let symmetry = self.symmetry();
        self.codec.get().rename(bytes, form, &|text| {
            let node = *symmetry.grouped.get(text)?;
            Some(symmetry.names[nodes[node as usize] as usize].as_bytes())
        })
    }

    fn value_image(&self, thing: Thing, id: u32, nodes: &[u32]) -> PyResult<u32> {
        let form = match thing {
            Thing::Control => Form::Control,
            _ => Form::Value,
        };
        let (bytes, marks) = {
            let tables = self.tables.lock();
            let item = tables.values.get(id);
            (item.bytes.clone(), item.marks)
        };
        let renamed = self.renamed(&bytes, form, nodes)?;
        Ok(self.tables.lock().values.intern(&renamed, marks).0)
    }

    fn stimulus_image(&self, id: u32, nodes: &[u32]) -> PyResult<u32> {
        let (bytes, marks) = {
            let tables = self.tables.lock();
            let item = tables.stimuli.get(id);
            (item.bytes.clone(), item.marks)
        };
        let renamed = self.renamed(&bytes, Form::Value, nodes)?;
        Ok(self.tables.lock().stimuli.intern(&renamed, marks).0)
    }

    fn local_image(&self, local: LocalId, permutation: u32, nodes: &[u32]) -> PyResult<u32> {
        let (node, mut row) = self.row(local);
        let to = nodes[node] as usize;
        for (field, value) in row.iter_mut().enumerate() {
            let settled = self.symmetry().settled[node][field];
            if settled && *value != self.ghost_values[node][field] {
                return Err(self.unsettled(node, field));
            }
            *value = match settled || self.ghosts[node][field] {
                true => self.ghost_values[to][field],
                false if field == 0 => self.image(Thing::Control, *value, permutation)?,
                false => self.image(Thing::Value, *value, permutation)?,
            };
        }
        let mut tables = self.tables.lock();
        let up = tables.ups[local.index()];
        Ok(tables.local(to, &row, &self.ghosts[to], up).number())
    }

    /// Python explains that a field which lists nodes in an order has changed.
    fn unsettled(&self, node: usize, field: usize) -> PyErr {
        self.refusal("unsettled", |_| Ok((node, field)))
    }

    fn envelope_image(&self, envelope: u32, permutation: u32, nodes: &[u32]) -> PyResult<u32> {
        let (bytes, marks, info) = {
            let tables = self.tables.lock();
            let item = tables.messages.get(envelope);
            let info = tables.envelopes[envelope as usize];
            (item.bytes.clone(), item.marks, info)
        };
        let (source, to) = (nodes[info.source as usize], nodes[info.to as usize]);
        let renamed = self.renamed(&bytes, Form::Envelope(source, to), nodes)?;
        let ends = (source as usize, to as usize, info.class);
        let lane = self.lane_image(envelope, &renamed, permutation)?;
        let mut tables = self.tables.lock();
        Ok(tables.envelope(&renamed, marks, ends, lane).number())
    }

    /// The lane of the message that `renamed` encodes, which must be the image of the lane of
    /// `envelope`: else the nodes are not interchangeable.
    fn lane_image(&self, envelope: u32, renamed: &[u8], permutation: u32) -> PyResult<Option<u32>> {
        let Some(Lane { name, .. }) = self.tables.lock().lanes.get(envelope as usize).copied()
        else {
            return Ok(None);
        };
        let expected = name.map(|lane| self.image(Thing::Value, lane, permutation));
        let expected = expected.transpose()?;
        let lane = Python::attach(|py| {
            let message = self.codec.get().decode(py, renamed)?.into_bound(py);
            self.lane(py, &message.get_item(2)?)
        })?;
        if lane == expected {
            return Ok(lane);
        }
        let nodes = self.symmetry().permutation(permutation).to_vec();
        Err(self.refusal("asymmetric_lane", |py| {
            let message = self.message(py, EnvelopeId::of(envelope))?.unbind();
            Ok((nodes, message))
        }))
    }

    /// 64 bits of a thing seen from `node`: its own name marked, other grouped names only by their
    /// group. The same for the image of the thing seen from the image of the node.
    pub fn seen_from(&self, thing: Thing, id: u32, node: u32) -> PyResult<u64> {
        match thing {
            Thing::Local => self.local_seen_from(LocalId::of(id), node),
            Thing::Envelope => {
                let (bytes, info) = {
                    let tables = self.tables.lock();
                    let info = tables.envelopes[id as usize];
                    (tables.messages.get(id).bytes.clone(), info)
                };
                let symmetry = self.symmetry();
                let ends = (symmetry.end(info.source, node), symmetry.end(info.to, node));
                self.outline(&bytes, Form::Envelope(ends.0, ends.1), node)
            }
            Thing::Queue => {
                let envelopes = self.tables.lock().queued(QueueId::of(id));
                let parts = envelopes
                    .iter()
                    .map(|envelope| self.seen_from(Thing::Envelope, envelope.number(), node));
                Ok(combine_iter(parts.collect::<PyResult<Vec<_>>>()?))
            }
            Thing::Value | Thing::Control | Thing::Records | Thing::Stimulus => {
                let bytes = self.tables.lock().values.get(id).bytes.clone();
                self.outline(&bytes, Form::Value, node)
            }
        }
    }

    fn local_seen_from(&self, local: LocalId, node: u32) -> PyResult<u64> {
        let symmetry = self.symmetry();
        let (owner, row) = self.row(local);
        let mut parts = vec![u64::from(symmetry.end(owner as u32, node))];
        for (field, &value) in row.iter().enumerate() {
            if symmetry.settled[owner][field] || self.ghosts[owner][field] {
                continue;
            }
            let bytes = self.tables.lock().values.get(value).bytes.clone();
            let form = match field {
                0 => Form::Control,
                _ => Form::Value,
            };
            parts.push(self.outline(&bytes, form, node)?);
        }
        Ok(combine_iter(parts))
    }

    fn outline(&self, bytes: &[u8], form: Form, node: u32) -> PyResult<u64> {
        let symmetry = self.symmetry();
        self.codec.get().outline(bytes, form, &|text| {
            let named = *symmetry.grouped.get(text)?;
            let group = symmetry.group_of[named as usize]? as usize;
            Some(match named == node {
                true => b"\0*",
                false => symmetry.tokens[group].as_bytes(),
            })
        })
    }
}
