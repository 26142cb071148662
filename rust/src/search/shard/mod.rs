//! One share of a breadth-first search whose states do not fit into one memory.
//!
//! Each shard owns the fingerprints that are `index` modulo the number of shards. It expands its
//! own states; a successor that another shard owns is sent there, and judged there if it is new. A
//! level ends when all that was sent has arrived; the driver of the shards sees to that.
//!
//! Nothing depends on who was first. Of the parents that a state has in the level before, the one
//! with the smallest fingerprint is kept, and of the states of a level that break a property the
//! smallest is reported. So any number of shards gives the same counts and the same trace.

mod dictionary;
mod found;
mod save;
pub mod wire;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHashMap;

use self::dictionary::{Known, Translation};
use self::found::{Met, Totals};
use self::wire::{Packer, Unpacker, damaged};
use super::worker::{HEADER, Worker, store, stored};
use super::{Limits, Search};
use crate::python::kernel::Kernel;
use crate::python::outcome::{Finding, Outcome};
use crate::services::expand::Candidate;
use crate::services::start::sum;
use crate::table::fingerprint::nonzero;

/// Words before each state that is sent: its parent, in two halves.
const PARENT: usize = 2;
/// Words of a chunk of waiting states.
const CHUNK: usize = 1 << 16;
const RECENT_BITS: u32 = 18;

/// What was sent lately, so that it is not sent again at once.
#[derive(Clone, Copy, Default)]
struct Sent {
    key: u64,
    parent: u64,
    depth: u32,
}

/// What goes to one other shard, and what has arrived from it.
#[derive(Default)]
struct Peer {
    known: Known,
    states: Vec<u32>,
    translation: Translation,
    batches_sent: u64,
    batches_read: u64,
}

#[pyclass(unsendable)]
pub struct Shard {
    search: Arc<Search>,
    index: u64,
    peers: Vec<Peer>,
    /// Python's side: makes names of classes known.
    host: Py<PyAny>,
    depth: u32,
    current: Vec<Vec<u32>>,
    next: Vec<Vec<u32>>,
    /// New in the next level, with the smallest parent so far.
    fresh: FxHashMap<u64, u64>,
    recent: Vec<Sent>,
    met: Met,
}

#[pymethods]
impl Shard {
    #[new]
    fn new(
        py: Python<'_>,
        kernel: &Kernel,
        limits: Limits,
        index: u64,
        shards: usize,
        host: Py<PyAny>,
    ) -> PyResult<Self> {
        let search = kernel.begin(py, limits, false)?;
        Ok(Shard {
            search: Arc::new(search),
            index,
            peers: (0..shards).map(|_| Peer::default()).collect(),
            host,
            depth: 0,
            current: Vec::new(),
            next: Vec::new(),
            fresh: FxHashMap::default(),
            recent: vec![Sent::default(); 1 << RECENT_BITS],
            met: Met::default(),
        })
    }

    /// The finding at the end of a chain of states; `step`: by a step from the last of them.
    #[staticmethod]
    fn retrace(
        py: Python<'_>,
        kernel: &Kernel,
        property: usize,
        chain: Vec<u64>,
        step: bool,
    ) -> PyResult<Finding> {
        found::retrace(py, kernel, property, (&chain, step))
    }

    /// The outcome of a search that shards have done.
    #[staticmethod]
    fn gathered(totals: Totals, found: Vec<Py<Finding>>) -> Outcome {
        totals.outcome(found)
    }

    /// Take the initial states that are this shard's own.
    fn begin(&mut self) -> PyResult<()> {
        let mut worker = Worker::new(&self.search);
        worker.sync();
        let mut own = Vec::new();
        for initial in &self.search.initial {
            let key = nonzero(initial.sum);
            if key % self.peers.len() as u64 != self.index {
                continue;
            }
            self.search.generated.fetch_add(1, Relaxed);
            self.met.broken(initial.broken, (0, key), false);
            if self.fresh.insert(key, 0).is_none() {
                store(&mut own, initial.sum, |out| {
                    out.extend_from_slice(&initial.words);
                });
                self.met.judge(&mut worker, &initial.words, (0, key))?;
            }
        }
        self.search.depth.fetch_max(1, Relaxed);
        self.next.push(own);
        Ok(())
    }

    /// Expand own states of this level, about `count`; gives the bytes for each shard.
    fn expand<'py>(&mut self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut done = 0;
        while done < count
            && let Some(chunk) = self.current.pop()
        {
            done += self.expand_chunk(&chunk)?;
        }
        let shared = self.search.shared.clone();
        let batches = self.peers.iter_mut().map(|peer| {
            let mut out = Packer::default();
            out.long(peer.batches_sent);
            peer.batches_sent += 1;
            peer.known.write(&mut out, &shared);
            out.words(&peer.states);
            peer.states.clear();
            PyBytes::new(py, &out.bytes)
        });
        Ok(batches.collect())
    }

    /// Take what `sender` has sent. Batches must come in the order they were made in.
    fn receive(&mut self, py: Python<'_>, sender: usize, batch: &[u8]) -> PyResult<()> {
        let mut from = Unpacker::new(batch);
        let peer = self.peers.get_mut(sender).ok_or_else(damaged)?;
        if from.long()? != peer.batches_read {
            return Err(damaged());
        }
        peer.batches_read += 1;
        let mut translation = std::mem::take(&mut peer.translation);
        let host = self.host.bind(py);
        translation.read(py, &mut from, &self.search.shared, host)?;
        let states = from.words()?;
        self.take_states(&states, &translation)?;
        self.peers[sender].translation = translation;
        Ok(())
    }

    /// Go on to the next level; gives how many states it has, and what this level decided: for
    /// each property the length, the fingerprint, and whether a step from there is meant.
    fn end_level(&mut self) -> (usize, Vec<found::Decided>) {
        self.search.seen.reserve(self.fresh.len());
        let slots = self.search.seen.read();
        for (&key, &parent) in &self.fresh {
            slots.insert(key, parent, 0);
        }
        drop(slots);
        self.search.seen.add(self.fresh.len());
        let count = self.fresh.len();
        self.fresh.clear();
        self.current = std::mem::take(&mut self.next);
        self.depth += 1;
        if count > 0 {
            self.search.depth.fetch_max(self.depth as usize, Relaxed);
        }
        (count, self.met.take())
    }

    /// Ask no more about these properties.
    fn settle(&self, properties: Vec<usize>) {
        for property in properties {
            let property = &self.search.shared.properties[property];
            property.decided.store(true, Relaxed);
        }
    }

    /// States that wait in this level.
    fn waiting(&self) -> usize {
        self.current.iter().map(Vec::len).sum()
    }

    /// The parent of a state; 0 if it is an initial one, none if it is not known here.
    fn parent(&self, key: u64) -> Option<u64> {
        let waiting = self.fresh.get(&key).copied();
        waiting.or_else(|| self.search.seen.read().parent(key))
    }

    /// What was counted: states, transitions, depth, runs of handlers and of properties, faults.
    fn counts(&self) -> found::Counts {
        let search = &self.search;
        let earlier = *search.earlier.lock();
        let faults = search.faults.iter().map(|count| count.load(Relaxed));
        (
            search.seen.len() as u64 + self.fresh.len() as u64,
            search.generated.load(Relaxed),
            search.depth.load(Relaxed),
            search.shared.handler_runs.load(Relaxed) + earlier.handler_runs,
            search.shared.property_runs.load(Relaxed) + earlier.property_runs,
            faults.collect(),
        )
    }

    /// This shard at the end of a level, as bytes that `restore` takes.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &save::write(self).bytes)
    }

    /// Take what is this shard's own of one that was saved; `counts`: and what it had counted.
    fn restore(&mut self, py: Python<'_>, saved: &[u8], counts: bool) -> PyResult<()> {
        save::read(self, py, saved, counts)
    }
}

impl Shard {
    fn owner(&self, key: u64) -> usize {
        (key % self.peers.len() as u64) as usize
    }

    fn expand_chunk(&mut self, chunk: &[u32]) -> PyResult<usize> {
        let search = self.search.clone();
        let mut worker = Worker::new(&search);
        worker.sync();
        let mut candidates = Vec::new();
        let (mut at, mut done) = (0, 0);
        while at < chunk.len() {
            let state = stored(chunk, at);
            at += HEADER + state.words.len();
            done += 1;
            let key = nonzero(state.sum);
            worker.expander.candidates.clear();
            if worker.expander.list(state.words, state.sum, 0)? {
                self.met
                    .rest(&mut worker, state.words, (self.depth - 1, key))?;
            }
            candidates.clear();
            candidates.extend_from_slice(&worker.expander.candidates);
            for candidate in &candidates {
                worker.count_fault(candidate);
                let broken = worker.expander.broken_by(candidate);
                self.met.broken(broken, (self.depth, key), true);
                if candidate.fingerprint != state.sum {
                    self.pass_on(&mut worker, state.words, candidate, key)?;
                }
            }
            worker.count(candidates.len() as u64);
        }
        Ok(done)
    }

    /// File a successor here, or leave it for its owner.
    fn pass_on(
        &mut self,
        worker: &mut Worker<'_>,
        words: &[u32],
        candidate: &Candidate,
        parent: u64,
    ) -> PyResult<()> {
        let key = nonzero(candidate.fingerprint);
        let owner = self.owner(key);
        if owner as u64 != self.index {
            if self.was_sent(key, parent) {
                return Ok(());
            }
            let out = &mut self.peers[owner].states;
            out.extend_from_slice(&[parent as u32, (parent >> 32) as u32]);
            store(out, candidate.fingerprint, |out| {
                worker.expander.build(words, candidate, out);
            });
            return Ok(());
        }
        if !self.is_new(key, parent) {
            return Ok(());
        }
        let mut next = self.room();
        let start = next.len();
        store(&mut next, candidate.fingerprint, |out| {
            worker.expander.build(words, candidate, out);
        });
        let judged = self
            .met
            .judge(worker, &next[start + HEADER..], (self.depth, key));
        self.next.push(next);
        judged
    }

    /// Whether the same, with a parent as small, went to its owner a moment ago.
    fn was_sent(&mut self, key: u64, parent: u64) -> bool {
        let place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - RECENT_BITS)) as usize;
        let sent = &mut self.recent[place];
        if sent.key == key && (sent.depth < self.depth || sent.parent <= parent) {
            return true;
        }
        *sent = Sent {
            key,
            parent,
            depth: self.depth,
        };
        false
    }

    /// Enter a state into the next level, or its parent if that is smaller; true if it is new.
    fn is_new(&mut self, key: u64, parent: u64) -> bool {
        if self.search.seen.read().parent(key).is_some() {
            return false;
        }
        let mut is_new = false;
        let known = self.fresh.entry(key).or_insert_with(|| {
            is_new = true;
            parent
        });
        *known = parent.min(*known);
        is_new
    }

    /// A chunk of the next level that has room.
    fn room(&mut self) -> Vec<u32> {
        let has_room = self.next.last().is_some_and(|chunk| chunk.len() < CHUNK);
        let last = has_room.then(|| self.next.pop()).flatten();
        last.unwrap_or_default()
    }

    /// File the states that another shard has sent, those that are new.
    fn take_states(&mut self, states: &[u32], translation: &Translation) -> PyResult<()> {
        let search = self.search.clone();
        let mut worker = Worker::new(&search);
        worker.sync();
        let mut at = 0;
        while at < states.len() {
            let header = states.get(at..at + PARENT + HEADER).ok_or_else(damaged)?;
            let parent = u64::from(header[0]) | (u64::from(header[1]) << 32);
            let end = at + PARENT + HEADER + header[PARENT] as usize;
            if end > states.len() {
                return Err(damaged());
            }
            let state = stored(states, at + PARENT);
            at = end;
            let key = nonzero(state.sum);
            if self.owner(key) as u64 != self.index {
                return Err(damaged());
            }
            if !self.is_new(key, parent) {
                continue;
            }
            let mut words = state.words.to_vec();
            translation.state(&self.search.shared, &mut words)?;
            if sum(&self.search.shared, &words) != state.sum {
                return Err(damaged());
            }
            let mut next = self.room();
            store(&mut next, state.sum, |out| out.extend_from_slice(&words));
            self.next.push(next);
            self.met.judge(&mut worker, &words, (self.depth, key))?;
        }
        Ok(())
    }
}
