//! What a search covered, read off the tables when it is over.
//!
//! The step memo holds every distinct local step that was run, so that nothing is counted while a
//! search works. A step is a local state and what happened to it: a handler that ran in a million
//! global states, always from the same local one and for the same message, counts once.

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::python::tables::UP;
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::tables::Tables;
use crate::table::flat::pair;
use crate::value::{magnitude, mentions, numbers, texts};

/// Parts into which a search without levels is divided, to see whether a field keeps growing.
const PARTS: usize = 16;

/// What the processes before this one ran, where a search goes on from a checkpoint.
#[derive(Default)]
pub struct Before {
    /// (local state, envelope), and whether it could be delivered.
    pub deliveries: FxHashMap<u64, bool>,
    /// What a node could start by itself, by its local state.
    pub internals: FxHashMap<LocalId, Box<[StimulusId]>>,
    /// Per property: whether it was asked, and whether anything that it read differed.
    pub reads: Vec<(bool, bool)>,
}

/// Node, field, the largest value or length, and the levels in which it became larger.
pub type Growth = (u32, u32, i64, Vec<usize>);

/// What searches have run and read.
#[pyclass(frozen, get_all)]
pub struct KernelCoverage {
    deliveries: Vec<(u32, Py<PyAny>, i64, bool, u64)>,
    sent: Vec<(u32, Py<PyAny>, u64)>,
    own: Vec<Own>,
    reads: Vec<(bool, bool)>,
}

impl Tables {
    /// Every delivery ever tried: local state, envelope, and whether it could be done.
    pub fn each_delivery(&self, mut each: impl FnMut(LocalId, EnvelopeId, bool)) {
        let mut tell = |key: u64, done| {
            let (local, envelope) = ((key >> 32) as u32, key as u32);
            each(LocalId::of(local), EnvelopeId::of(envelope), done);
        };
        for (&key, outcomes) in &self.deliveries {
            tell(key, !outcomes.is_empty());
        }
        let earlier = self.before.deliveries.iter();
        for (&key, &done) in earlier.filter(|(key, _)| !self.deliveries.contains_key(key)) {
            tell(key, done);
        }
    }

    /// Every local state that was looked at, and what its node could start by itself there.
    pub fn each_internal(&self, mut each: impl FnMut(LocalId, &[StimulusId])) {
        for (&local, internals) in &self.internals {
            let stimuli = internals.iter().map(|internal| internal.stimulus);
            let stimuli: Vec<StimulusId> = stimuli.collect();
            each(local, &stimuli);
        }
        let earlier = self.before.internals.iter();
        for (&local, stimuli) in earlier.filter(|(local, _)| !self.internals.contains_key(local)) {
            each(local, stimuli);
        }
    }

    /// Status and number of calls made of a local state.
    fn control(&self, local: LocalId) -> (i64, i64) {
        let row = self.locals[local.index()].row as usize;
        let control = &self.values.get(self.rows[row]).bytes;
        let [status, calls] = numbers(control).unwrap_or([-1, 0]);
        (status, calls)
    }
}

impl Shared {
    /// Note how many local states there are at the end of a level.
    pub fn level_done(&self) {
        let mut tables = self.tables.lock();
        let known = tables.locals.len() as u32;
        tables.levels.push(known);
    }

    /// Per property: whether it was asked, and whether anything that it read ever differed.
    pub fn reads(&self) -> Vec<(bool, bool)> {
        let before = self.tables.lock().before.reads.clone();
        let mut reads = Vec::new();
        for (at, property) in self.properties.iter().enumerate() {
            let (asked, varied) = property.claim.lock().reads();
            let (asked_before, varied_before) = before.get(at).copied().unwrap_or_default();
            reads.push((asked || asked_before, varied || varied_before));
        }
        reads
    }

    /// See `Kernel.coverage` in `_core.pyi`.
    pub fn coverage(&self, py: Python<'_>) -> KernelCoverage {
        let reads = self.reads();
        let tables = self.tables.lock();
        let own = own(
            &tables,
            self.layout.clocks.is_some() || !self.seals.is_empty(),
        );
        let classes: Vec<_> = tables.classes.iter().map(|class| class.of(py)).collect();
        let (deliveries, sent) = (deliveries(&tables), sent(&tables, &self.lost));
        let class = |at: u32| classes[at as usize].clone_ref(py);
        let deliveries = deliveries.into_iter();
        let sent = sent.into_iter();
        KernelCoverage {
            deliveries: deliveries
                .map(|(key, count)| (key.0, class(key.1), key.2, key.3, count))
                .collect(),
            sent: sent
                .map(|((to, at), count)| (to, class(at), count))
                .collect(),
            own,
            reads,
        }
    }

    /// Whether a timer called `name` may ever have been armed at `node`.
    pub fn armed(&self, node: u32, name: &str) -> bool {
        let tables = self.tables.lock();
        let mut controls: FxHashSet<u32> = FxHashSet::default();
        for local in tables.locals.iter().filter(|local| local.node == node) {
            controls.insert(tables.rows[local.row as usize]);
        }
        let mut controls = controls.into_iter();
        controls.any(|id| mentions(&tables.values.get(id).bytes, name))
    }

    /// See `Kernel.growth` in `_core.pyi`.
    pub fn growth(&self) -> (usize, Vec<Growth>) {
        let tables = self.tables.lock();
        let all = tables.locals.len();
        let parts = (1..=PARTS).map(|part| (all * part / PARTS) as u32);
        let levels: Vec<u32> = match tables.levels.is_empty() {
            true => parts.collect(),
            false => tables.levels.clone(),
        };
        let mut grown = Vec::new();
        for (node, ghosts) in self.ghosts.iter().enumerate() {
            for field in (1..ghosts.len()).filter(|&field| !ghosts[field]) {
                if let Some((most, grew)) = grew(&tables, &levels, (node as u32, field)) {
                    grown.push((node as u32, field as u32, most, grew));
                }
            }
        }
        (levels.len(), grown)
    }
}

/// The largest value or length of a field, and the levels in which it became larger.
fn grew(tables: &Tables, levels: &[u32], at: (u32, usize)) -> Option<(i64, Vec<usize>)> {
    let mut most: Option<i64> = None;
    let mut grew = Vec::new();
    let mut level = 0;
    for (id, local) in tables.locals.iter().enumerate() {
        while level < levels.len() && id >= levels[level] as usize {
            level += 1;
        }
        if local.node != at.0 {
            continue;
        }
        let value = tables.rows[local.row as usize + at.1];
        let Some(size) = magnitude(&tables.values.get(value).bytes) else {
            continue;
        };
        if most.is_none_or(|most| size > most) {
            if most.is_some() && grew.last() != Some(&level) {
                grew.push(level);
            }
            most = Some(size);
        }
    }
    Some((most?, grew))
}

/// Node, class of message, status, whether it could be delivered: how many distinct steps.
fn deliveries(tables: &Tables) -> FxHashMap<(u32, u32, i64, bool), u64> {
    let mut counts = FxHashMap::default();
    tables.each_delivery(|local, envelope, done| {
        let class = tables.envelopes[envelope.index()].class;
        let node = tables.locals[local.index()].node;
        let (status, _) = tables.control(local);
        *counts.entry((node, class, status, done)).or_default() += 1;
    });
    counts
}

/// Receiver and class of message: how many different messages.
fn sent(tables: &Tables, lost: &[EnvelopeId]) -> FxHashMap<(u32, u32), u64> {
    let mut counts = FxHashMap::default();
    for (id, envelope) in tables.envelopes.iter().enumerate() {
        if !lost.contains(&EnvelopeId::of(id as u32)) {
            *counts.entry((envelope.to, envelope.class)).or_default() += 1;
        }
    }
    counts
}

type Own = (u32, String, String, i64, u64, u64);

/// Of what nodes start by themselves: node, kind, name, number of the call, distinct steps, and
/// local states in which it could happen. The kind "" counts local states of nodes that are up.
fn own(tables: &Tables, is_noted: bool) -> Vec<Own> {
    let stimuli = tables.stimuli.items().iter();
    let names: Vec<Vec<String>> = stimuli.map(|item| texts(&item.bytes, 2)).collect();
    // Stimuli of one kind and name are one thing: numbered by the first of them.
    let mut numbers: FxHashMap<&[String], u32> = FxHashMap::default();
    let things: Vec<u32> = (0..names.len() as u32)
        .map(|id| *numbers.entry(thing(&names[id as usize])).or_insert(id))
        .collect();
    let mut counts: FxHashMap<(u32, u32, i64), (u64, u64)> = FxHashMap::default();
    let mut looked: FxHashMap<(u32, i64), u64> = FxHashMap::default();
    tables.each_internal(|local, stimuli| {
        let node = tables.locals[local.index()].node;
        let (status, calls) = tables.control(local);
        if status == UP as i64 {
            *looked.entry((node, calls)).or_default() += 1;
        }
        let mut here: Vec<u32> = Vec::new();
        for &stimulus in stimuli {
            if is_noted && !tables.happened.contains(&pair(node, stimulus.number())) {
                continue;
            }
            let thing = things[stimulus.index()];
            let is_call = names[thing as usize]
                .first()
                .is_some_and(|kind| kind == "call");
            let counted = counts.entry((node, thing, if is_call { calls } else { 0 }));
            let (steps, locals) = counted.or_default();
            *steps += 1;
            if !here.contains(&thing) {
                here.push(thing);
                *locals += 1;
            }
        }
    });
    let told = |((node, id, calls), (steps, locals))| -> Own {
        let word = |at| {
            thing(&names[id as usize])
                .get(at)
                .cloned()
                .unwrap_or_default()
        };
        (node, word(0), word(1), calls, steps, locals)
    };
    let looked = looked.into_iter();
    let looked = looked
        .map(|((node, calls), count)| (node, String::new(), String::new(), calls, count, count));
    counts.into_iter().map(told).chain(looked).collect()
}

/// What tells apart what a node starts by itself; arguments do not, whatever they are.
fn thing(words: &[String]) -> &[String] {
    let named = matches!(
        words.first().map(String::as_str),
        Some("timer" | "action" | "write")
    );
    &words[..words.len().min(1 + usize::from(named))]
}
