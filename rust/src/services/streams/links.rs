//! Streams and partitions in the hot loop: what can happen to connections, and what it makes of
//! them.
//!
//! As with the network, each rule is needed as a difference of fingerprints for every candidate and
//! as words for new states. Both come from `links_after`, which works out the connections
//! themselves: there are few, and each operation on one is a look-up.

use pyo3::prelude::*;

use crate::python::tables::{CRASH, CUT, HEAL, IDLE, PARTITION, RESET, SILENT};
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::Layout;
use crate::services::streams::connection::{Link, Op};
use crate::services::tables::{Flow, Limit, Outcome};
use crate::table::fingerprint::{SPLIT, mix};
use crate::table::flat::pair;

/// What one effect does to streams, ready for use.
pub struct Flowing {
    flows: Box<[Flow]>,
    limits: Box<[Limit]>,
}

impl Flowing {
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }
}

impl Expander {
    /// Keep what an outcome does to streams; gives where, or `NOWHERE` if it does nothing.
    pub fn compile_flows(&mut self, outcome: &Outcome) -> u32 {
        if outcome.flows.is_empty() && outcome.limits.is_empty() {
            return NOWHERE;
        }
        self.flowing.push(Flowing {
            flows: outcome.flows.clone(),
            limits: outcome.limits.clone(),
        });
        (self.flowing.len() - 1) as u32
    }

    /// List what can happen to the streams of `state`.
    pub fn list_streams(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<()> {
        let first = self.shared.layout.streams.expect("there are streams");
        for position in first..self.shared.layout.fixed {
            if state[position] == 0 {
                continue;
            }
            let link = self.mirror.links[state[position] as usize].link.clone();
            let word = position as u32;
            for end in 0..if link.is_loop() { 1 } else { 2 } {
                self.list_end(state, fingerprint, (from, word), (&link, end))?;
            }
            if link.open != [true; 2] {
                continue;
            }
            if self.allows(state, CUT) {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, word, EventKind::Cut),
                )?;
            }
            let idle = link.queues.iter().all(|queue| queue.is_empty());
            let joined = self.shared.layout.joined(state, link.ends[0], link.ends[1]);
            if idle && joined && self.allows(state, IDLE) {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, word, EventKind::Idle),
                )?;
            }
        }
        Ok(())
    }

    /// List what one end of the connection at `word` offers.
    pub fn list_end(
        &mut self,
        state: &[u32],
        fingerprint: u64,
        (from, word): (u32, u32),
        (link, end): (&Link, usize),
    ) -> PyResult<()> {
        if let Some((node, envelope, what)) = self.offered(state, link, end) {
            for effect in self
                .reception(LocalId::of(state[node as usize]), envelope)?
                .iter()
            {
                self.push_candidate(state, fingerprint, (from, effect, word, what))?;
            }
        }
        Ok(())
    }

    /// What one end of a connection offers: where it happens, what is delivered there, and why.
    pub fn offered(
        &self,
        state: &[u32],
        link: &Link,
        end: usize,
    ) -> Option<(u32, EnvelopeId, EventKind)> {
        let layout = &self.shared.layout;
        let (node, peer) = (link.ends[end], link.ends[1 - end]);
        let up = |node: u32| self.mirror.ups[state[node as usize] as usize];
        let lost = self.shared.lost[peer as usize * layout.nodes + node as usize];
        if link.error[end] {
            return up(node).then_some((node, lost, EventKind::Broken));
        }
        if let Some(&head) = link.queues[end].first() {
            if link.error[1 - end] || !layout.joined(state, node, peer) {
                return None;
            }
            if up(peer) {
                return Some((peer, head, EventKind::Receive));
            }
            return up(node).then_some((node, lost, EventKind::Refused));
        }
        let half = link.open[end] && !link.open[1 - end];
        (half && up(node)).then_some((node, lost, EventKind::KeepAlive))
    }

    /// List the ways in which the network of `state` may fall apart, or that it heals.
    pub fn list_partitions(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<()> {
        let layout = &self.shared.layout;
        let word = layout.partition.expect("there are partitions");
        if state[word] != 0 {
            if self.allows(state, HEAL) {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, NOWHERE, EventKind::Heal),
                )?;
            }
        } else if self.allows(state, PARTITION) {
            for number in 1..=layout.severed.len() as u32 {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, number, EventKind::Split),
                )?;
            }
        }
        Ok(())
    }

    /// What a change of the partition adds to the fingerprint.
    #[inline(always)]
    pub fn partition_delta(&self, state: &[u32], candidate: &Candidate) -> u64 {
        let share = |number: u32| mix(SPLIT, 0, u64::from(number));
        match (candidate.what, self.shared.layout.partition) {
            (EventKind::Split, _) => share(candidate.word),
            (EventKind::Heal, Some(word)) => share(state[word]).wrapping_neg(),
            _ => 0,
        }
    }

    /// What the change of the connections adds to the fingerprint; `None` if this branch of a step
    /// is for other queues than those of `state`.
    pub fn links_delta(&mut self, state: &[u32], candidate: &Candidate) -> Option<u64> {
        if !self.touches_links(candidate) {
            return Some(0);
        }
        let mut words = std::mem::take(&mut self.links);
        let applies = self.links_after(state, candidate, &mut words);
        let before = self.shared.layout.links(state);
        let share = |word: u32| self.mirror.links[word as usize].mix;
        let delta = before.iter().zip(&words).fold(0u64, |delta, (&was, &now)| {
            delta.wrapping_add(share(now)).wrapping_sub(share(was))
        });
        self.links = words;
        applies.then_some(delta)
    }

    /// Whether connections change, or decide if this branch happens at all.
    fn touches_links(&self, candidate: &Candidate) -> bool {
        match candidate.what {
            EventKind::Drop | EventKind::Duplicate | EventKind::Shed => false,
            EventKind::Split | EventKind::Heal => false,
            EventKind::Internal | EventKind::Deliver => {
                let effect = &self.effects[candidate.effect];
                effect.flowing != NOWHERE || ends_process(effect.fault)
            }
            _ => true,
        }
    }

    /// Write the connections after `candidate` to `words`; false if the branch does not apply.
    fn links_after(&mut self, state: &[u32], candidate: &Candidate, words: &mut Vec<u32>) -> bool {
        words.clear();
        words.extend_from_slice(self.shared.layout.links(state));
        self.begin(candidate, words);
        if candidate.effect == EffectId::NONE {
            return true;
        }
        let effect = self.effects[candidate.effect];
        if effect.flowing == NOWHERE {
            return true;
        }
        let flowing = effect.flowing as usize;
        for index in 0..self.flowing[flowing].limits.len() {
            let Limit { peer, least, most } = self.flowing[flowing].limits[index];
            let link = &self.mirror.links[words[Layout::slot(effect.node, peer)] as usize].link;
            let held = link.queues[usize::from(effect.node > peer)].len() as u32;
            if !(least..=most).contains(&held) {
                return false;
            }
        }
        for index in 0..self.flowing[flowing].flows.len() {
            let Flow { peer, envelope } = self.flowing[flowing].flows[index];
            let end = usize::from(effect.node > peer);
            let op = envelope.map_or(Op::Close(end), Op::Push);
            self.operate(words, Layout::slot(effect.node, peer), op);
        }
        true
    }

    /// What an event does to connections before the handler runs.
    fn begin(&mut self, candidate: &Candidate, words: &mut [u32]) {
        let effect = candidate.effect;
        let node = match effect {
            EffectId::NONE => 0,
            _ => self.effects[effect].node,
        };
        let slot = || candidate.word as usize - self.shared.layout.streams.unwrap_or(0);
        let op = match candidate.what {
            EventKind::Receive => {
                let link = &self.mirror.links[words[slot()] as usize].link;
                Op::Take(if link.is_loop() {
                    0
                } else {
                    1 - link.end(node)
                })
            }
            EventKind::Broken | EventKind::Refused | EventKind::KeepAlive => {
                Op::Hear(self.mirror.links[words[slot()] as usize].link.end(node))
            }
            EventKind::Cut | EventKind::Sever => Op::Cut,
            EventKind::Idle => Op::Part,
            _ => {
                let fault = match effect {
                    EffectId::NONE => return,
                    _ => self.effects[effect].fault,
                };
                if ends_process(fault) {
                    self.end_process(node, fault as usize == SILENT, words);
                }
                return;
            }
        };
        self.operate(words, slot(), op);
    }

    fn end_process(&mut self, node: u32, silently: bool, words: &mut [u32]) {
        for peer in 0..self.shared.layout.nodes as u32 {
            let end = usize::from(node > peer);
            let op = if silently {
                Op::Vanish(end)
            } else {
                Op::Close(end)
            };
            self.operate(words, Layout::slot(node, peer), op);
        }
    }

    fn operate(&mut self, words: &mut [u32], slot: usize, op: Op) {
        let link = words[slot];
        if link == 0 && !matches!(op, Op::Push(_)) {
            return;
        }
        let key = pair(link, op.code());
        words[slot] = match self.linked.get(key) {
            Some(known) => known as u32,
            None => {
                let after = self.shared.tables.lock().linked(link, op);
                self.sync();
                self.linked.insert(key, u64::from(after));
                after
            }
        };
    }

    /// Write the connections and the partition after `candidate` into its successor.
    pub fn build_links(&mut self, state: &[u32], candidate: &Candidate, successor: &mut [u32]) {
        if let Some(word) = self.shared.layout.partition {
            match candidate.what {
                EventKind::Split => successor[word] = candidate.word,
                EventKind::Heal => successor[word] = 0,
                _ => {}
            }
        }
        let Some(first) = self.shared.layout.streams else {
            return;
        };
        if self.touches_links(candidate) {
            let mut words = std::mem::take(&mut self.links);
            self.links_after(state, candidate, &mut words);
            successor[first..first + words.len()].copy_from_slice(&words);
            self.links = words;
        }
    }
}

/// Whether a fault ends the process on its node, and with it the node's connections.
fn ends_process(fault: u8) -> bool {
    [CRASH, RESET, SILENT].contains(&(fault as usize))
}
