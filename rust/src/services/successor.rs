//! What an event does to the network, and the successor state written out.
//!
//! Each kind of network has its rule twice (queues: `channels.rs`): as a difference of
//! fingerprints, needed for every candidate, and as words, needed for new states only. `build` is
//! the other half of `expand`.
//!
//! Invariant: the words written have exactly the fingerprint that the candidate promised.

use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander};
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
            (Network::Ordered | Network::Lanes, _) => self.channels_delta(state, candidate),
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

    /// Write the state that `candidate` leads to from `state` to the end of `out`.
    pub fn build(&mut self, state: &[u32], candidate: &Candidate, out: &mut Vec<u32>) {
        let (fixed, network) = (self.shared.layout.fixed, self.shared.layout.network);
        let start = out.len();
        out.extend_from_slice(state); // one copy: they are short, and a call costs as much
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
        if network.is_queued() {
            out.truncate(start + fixed);
            self.build_channels(&state[fixed..], candidate, out);
            out[start + fixed..].sort_unstable();
        } else {
            self.build_mail(start, candidate, out);
        }
    }

    /// Change the messages in flight of the state that begins at `start`; they stay in order.
    fn build_mail(&self, start: usize, candidate: &Candidate, out: &mut Vec<u32>) {
        let (first, network) = (start + self.shared.layout.fixed, self.shared.layout.network);
        let consumed = match candidate.what {
            EventKind::Deliver => network == Network::Unordered,
            EventKind::Drop | EventKind::Shed => true,
            _ => false,
        };
        if consumed {
            out.remove(start + candidate.word as usize);
        }
        if candidate.what == EventKind::Duplicate {
            put_in_order(out, first, out[start + candidate.word as usize]);
        }
        for &send in self.sends_of(candidate.effect) {
            if network == Network::Unordered || !out[first..].contains(&send.number()) {
                put_in_order(out, first, send.number());
            }
        }
    }
}

/// Add `word` to those from `first` on, which are in order.
fn put_in_order(out: &mut Vec<u32>, first: usize, word: u32) {
    out.push(word);
    let mut at = out.len() - 1;
    while at > first && out[at - 1] > word {
        out[at] = out[at - 1];
        at -= 1;
    }
    out[at] = word;
}
