//! Streams and partitions in the hot loop: what can happen to connections, and what it makes of
//! them.
//!
//! As with the network, each rule is needed as a difference of fingerprints for every candidate and
//! as words for new states. Both come from `links_after`, on digests or on interned queues.

use pyo3::prelude::*;

use crate::python::tables::{CRASH, CUT, HEAL, IDLE, PARTITION, RESET, SILENT};
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, Effect, EventKind, Expander, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId, QueueId};
use crate::services::layout::Layout;
use crate::services::lines::Line;
use crate::services::streams::connection::Link;
use crate::services::tables::{Flow, Limit, NOT_A_FAULT, Outcome};
use crate::table::fingerprint::{SPLIT, mix};
use crate::table::rolling::Rolling;

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
            let link = self.mirror.links[state[position] as usize].link;
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
            let joined = self.shared.layout.joined(state, link.ends[0], link.ends[1]);
            if link.is_quiet() && joined && self.allows(state, IDLE) {
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
        if link.queues[end] != QueueId::EMPTY {
            let head = self.mirror.queues[link.queues[end].index()].head;
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
        let mut changed = std::mem::take(&mut self.rolled.links);
        self.links_begun(state, candidate, &mut changed);
        let applies = self.is_within(state, candidate, &changed);
        if applies {
            self.links_after(state, candidate, &mut changed);
        }
        let before = self.shared.layout.links(state);
        let delta = changed.iter().fold(0u64, |delta, (slot, link)| {
            let was = self.mirror.links[before[*slot] as usize].mix;
            delta.wrapping_add(link.share()).wrapping_sub(was)
        });
        self.rolled.links = changed;
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

    /// Whether a branch is for as many messages as were queued when its handler ran.
    fn is_within(
        &self,
        state: &[u32],
        candidate: &Candidate,
        begun: &[(usize, Link<Rolling>)],
    ) -> bool {
        let Some(&Effect { node, flowing, .. }) = self.effects.get(candidate.effect) else {
            return true;
        };
        let Some(flowing) = self.flowing.get(flowing as usize) else {
            return true;
        };
        flowing.limits.iter().all(|limit| {
            let slot = Layout::slot(node, limit.peer);
            let known = begun.iter().find(|(changed, _)| *changed == slot);
            let link = known.map_or_else(|| self.link_at(state, (node, limit.peer)), |it| it.1);
            let held = link.queues[usize::from(node > limit.peer)].len;
            (limit.least..=limit.most).contains(&held)
        })
    }

    /// The connection of two nodes in `state`.
    #[inline(always)]
    fn link_at<L: Line>(&self, state: &[u32], (one, other): (u32, u32)) -> Link<L> {
        match self.shared.layout.links(state)[Layout::slot(one, other)] {
            0 => Link::new(one, other),
            word => {
                let link = self.mirror.links[word as usize].link;
                link.with(link.queues.map(|queue| L::of(&self.mirror, queue)))
            }
        }
    }

    /// Where `changed` has the connection of two nodes; it is put there if need be.
    #[inline(always)]
    fn changing<L: Line>(
        &self,
        state: &[u32],
        ends: (u32, u32),
        changed: &mut Vec<(usize, Link<L>)>,
    ) -> usize {
        let slot = Layout::slot(ends.0, ends.1);
        let known = changed.iter().position(|(known, _)| *known == slot);
        known.unwrap_or_else(|| {
            changed.push((slot, self.link_at(state, ends)));
            changed.len() - 1
        })
    }

    /// Write the connections that the handler of `candidate` changes to those that are `changed`.
    fn links_after<L: Line>(
        &mut self,
        state: &[u32],
        candidate: &Candidate,
        changed: &mut Vec<(usize, Link<L>)>,
    ) {
        let Some(&Effect { node, flowing, .. }) = self.effects.get(candidate.effect) else {
            return;
        };
        if flowing == NOWHERE {
            return;
        }
        for index in 0..self.flowing[flowing as usize].flows.len() {
            let Flow { peer, envelope } = self.flowing[flowing as usize].flows[index];
            let end = usize::from(node > peer);
            let at = self.changing(state, (node, peer), changed);
            let link = &mut changed[at].1;
            match envelope {
                Some(envelope) => link.push(end, |queue| queue.pushed(self, envelope)),
                None => link.close(end),
            }
        }
    }

    /// Write the connections that an event changes before the handler runs to `changed`.
    fn links_begun<L: Line>(
        &mut self,
        state: &[u32],
        candidate: &Candidate,
        changed: &mut Vec<(usize, Link<L>)>,
    ) {
        changed.clear();
        let effect = self.effects.get(candidate.effect);
        let (node, fault) = effect.map_or((0, NOT_A_FAULT), |effect| (effect.node, effect.fault));
        if matches!(candidate.what, EventKind::Internal | EventKind::Deliver) {
            if ends_process(fault) {
                self.end_process(state, node, fault as usize == SILENT, changed);
            }
            return;
        }
        let interned = self.mirror.links[state[candidate.word as usize] as usize].link;
        let at = self.changing(state, (interned.ends[0], interned.ends[1]), changed);
        let link = &mut changed[at].1;
        match candidate.what {
            EventKind::Receive => {
                let from = if link.is_loop() {
                    0
                } else {
                    1 - link.end(node)
                };
                let head = self.mirror.queues[interned.queues[from].index()].head;
                link.take(from, |queue| queue.popped(self, head));
            }
            EventKind::Broken | EventKind::Refused | EventKind::KeepAlive => {
                link.hear(link.end(node));
            }
            EventKind::Cut | EventKind::Sever => link.cut(),
            EventKind::Idle => link.part(),
            _ => unreachable!("nothing else concerns a connection"),
        }
    }

    fn end_process<L: Line>(
        &self,
        state: &[u32],
        node: u32,
        silently: bool,
        changed: &mut Vec<(usize, Link<L>)>,
    ) {
        for peer in 0..self.shared.layout.nodes as u32 {
            if self.shared.layout.links(state)[Layout::slot(node, peer)] == 0 {
                continue; // there is nothing to give up
            }
            let (at, end) = (
                self.changing(state, (node, peer), changed),
                usize::from(node > peer),
            );
            match silently {
                true => changed[at].1.vanish(end),
                false => changed[at].1.close(end),
            }
        }
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
            let mut changed = std::mem::take(&mut self.built.links);
            self.links_begun(state, candidate, &mut changed);
            self.links_after(state, candidate, &mut changed);
            for (slot, link) in &changed {
                successor[first + slot] = self.link_word(*link);
            }
            self.built.links = changed;
        }
    }

    /// The word that stands for a connection; 0 for a blank one.
    fn link_word(&mut self, link: Link) -> u32 {
        if link.is_blank() {
            return 0;
        }
        if let Some(known) = self.linked.get(&link) {
            return known;
        }
        let word = self.learn(|tables| tables.link(link));
        self.linked.insert(link, word);
        word
    }
}

/// Whether a fault ends the process on its node, and with it the node's connections.
fn ends_process(fault: u8) -> bool {
    [CRASH, RESET, SILENT].contains(&(fault as usize))
}
