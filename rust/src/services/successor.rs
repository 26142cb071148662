//! What an event does to the network, and the successor state written out.
//!
//! Each kind of network has its rule twice: as a difference of fingerprints, needed for every
//! candidate, and as words, needed for new states only. `build` is the other half of `expand`.
//!
//! Invariant: the words written have exactly the fingerprint that the candidate promised.

use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, Effect, EventKind, Expander};
use crate::services::ids::EnvelopeId;
use crate::services::layout::{Budget, Network};
use crate::table::flat::pair;

impl Expander {
    /// What the change of the network adds to the fingerprint.
    #[inline(always)]
    pub fn network_delta(&mut self, state: &[u32], candidate: &Candidate) -> u64 {
        let fixed = self.shared.layout.fixed;
        let taken = |word: u32| self.mirror.envelopes[word as usize].mix;
        let (network, what) = (self.shared.layout.network, candidate.what);
        let what = if what.is_mail() {
            what
        } else {
            EventKind::Internal
        };
        match (network, what) {
            (Network::Ordered, _) => {
                let mut words = std::mem::take(&mut self.scratch);
                words.clear();
                let delta = self.ordered(&state[fixed..], candidate, &mut words);
                self.scratch = words;
                delta
            }
            // The sends are part of the effect's own delta.
            (Network::Unordered, EventKind::Internal) => 0,
            (Network::Unordered, EventKind::Duplicate) => taken(state[candidate.word as usize]),
            (Network::Unordered, _) | (Network::Duplicating, EventKind::Drop | EventKind::Shed) => {
                taken(state[candidate.word as usize]).wrapping_neg()
            }
            (Network::Duplicating, _) => {
                let mut delta = 0u64;
                let sends = self.sends_of(candidate.effect);
                for (index, send) in sends.iter().enumerate() {
                    let word = send.number();
                    if !state[fixed..].contains(&word) && !sends[..index].contains(send) {
                        delta = delta.wrapping_add(taken(word));
                    }
                }
                delta
            }
        }
    }

    /// The messages that an effect sends.
    pub fn sends_of(&self, effect: EffectId) -> &[EnvelopeId] {
        let (start, count) = self
            .effects
            .get(effect)
            .map_or((0, 0), |effect| effect.sends);
        &self.sends[start as usize..(start + count) as usize]
    }

    /// Write the channels after `candidate` to `words`; gives what they add to the fingerprint.
    fn ordered(&mut self, before: &[u32], candidate: &Candidate, words: &mut Vec<u32>) -> u64 {
        words.extend_from_slice(before);
        let mut delta = 0u64;
        if candidate.what.is_mail() {
            let position = candidate.word as usize - self.shared.layout.fixed;
            let queue = words[position];
            let after = match candidate.what {
                EventKind::Duplicate => self.doubled(queue),
                _ => self.mirror.queues[queue as usize].rest,
            };
            delta = self.replace(words, position, after);
        }
        let Some(&Effect { sends, .. }) = self.effects.get(candidate.effect) else {
            return delta;
        };
        let (start, count) = sends;
        for index in start..start + count {
            let send = self.sends[index as usize];
            let channel = |queue: u32| {
                let head = self.mirror.queues[queue as usize].head.index();
                (
                    self.mirror.envelopes[head].source,
                    self.mirror.envelopes[head].to,
                )
            };
            let info = self.mirror.envelopes[send.index()];
            let ends = (info.source, info.to);
            let position = words.iter().position(|&queue| channel(queue) == ends);
            let position = position.unwrap_or_else(|| {
                words.push(0);
                words.len() - 1
            });
            let after = self.pushed(words[position], send);
            delta = delta.wrapping_add(self.replace(words, position, after));
        }
        delta
    }

    /// Put channel `after` in place of the one at `position`; 0 stands for an empty channel.
    fn replace(&self, words: &mut Vec<u32>, position: usize, after: u32) -> u64 {
        let share = |queue: u32| self.mirror.queues[queue as usize].mix;
        let delta = share(after).wrapping_sub(share(words[position]));
        if after == 0 {
            words.remove(position);
        } else {
            words[position] = after;
        }
        delta
    }

    fn pushed(&mut self, queue: u32, envelope: EnvelopeId) -> u32 {
        let key = pair(queue, envelope.number());
        if let Some(known) = self.pushes.get(key) {
            return known as u32;
        }
        let after = self.shared.tables.lock().pushed(queue, envelope);
        self.sync();
        self.pushes.insert(key, u64::from(after));
        after
    }

    fn doubled(&mut self, queue: u32) -> u32 {
        if let Some(known) = self.doubles.get(u64::from(queue)) {
            return known as u32;
        }
        let after = self.shared.tables.lock().doubled(queue);
        self.sync();
        self.doubles.insert(u64::from(queue), u64::from(after));
        after
    }

    /// Write the state that `candidate` leads to from `state` to the end of `out`.
    pub fn build(&mut self, state: &[u32], candidate: &Candidate, out: &mut Vec<u32>) {
        let fixed = self.shared.layout.fixed;
        let start = out.len();
        out.extend_from_slice(&state[..fixed]);
        if let Some(&effect) = self.effects.get(candidate.effect) {
            out[start + effect.node as usize] = effect.local.number();
            if effect.records != 0 {
                for slot in 0..self.shared.layout.observers {
                    let word = start + self.shared.layout.nodes + slot;
                    let after = self.observed[slot].get(pair(out[word], effect.records));
                    out[word] = after.expect("looked up when the candidate was listed") as u32;
                }
            }
        }
        if let Some(fault) = self.fault_of(candidate)
            && let Budget::Word(word) = self.shared.layout.budgets[fault]
        {
            out[start + word] -= 1;
        }
        self.build_links(state, candidate, &mut out[start..]);
        self.build_network(&state[fixed..], candidate, out);
        out[start + fixed..].sort_unstable();
    }

    fn build_network(&mut self, before: &[u32], candidate: &Candidate, out: &mut Vec<u32>) {
        let network = self.shared.layout.network;
        if network == Network::Ordered {
            let mut words = std::mem::take(&mut self.scratch);
            words.clear();
            self.ordered(before, candidate, &mut words);
            out.extend_from_slice(&words);
            self.scratch = words;
            return;
        }
        let start = out.len();
        let position = (candidate.word as usize).wrapping_sub(self.shared.layout.fixed);
        let consumed = match candidate.what {
            EventKind::Deliver => network == Network::Unordered,
            EventKind::Drop | EventKind::Shed => true,
            _ => false,
        };
        if consumed {
            out.extend_from_slice(&before[..position]);
            out.extend_from_slice(&before[position + 1..]);
        } else {
            out.extend_from_slice(before);
        }
        if candidate.what == EventKind::Duplicate {
            out.push(before[position]);
        }
        for &send in self.sends_of(candidate.effect) {
            if network == Network::Unordered || !out[start..].contains(&send.number()) {
                out.push(send.number());
            }
        }
    }
}
