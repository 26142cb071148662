//! The hot loop for plain systems: messages in a bag or a set, and no faults that happen to them.
//!
//! Most searches are of such systems. What `expand.rs` asks for every candidate is asked here
//! once for a batch (`is_plain`). A step that changes nothing is counted, and no candidate is
//! made of it: it leads nowhere, and in a network that keeps its messages it is a third of all
//! steps.
//!
//! Invariant: what is listed is what `Expander::list` lists, in the same order, without the steps
//! that change nothing. As long as no known step breaks a property or is a fault, nobody has to
//! look at those.

use pyo3::prelude::*;

use crate::python::tables::{DROP, DUPLICATE};
use crate::services::effects::EffectRange;
use crate::services::expand::{Candidate, EventKind, Expander, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::{Budget, Layout, Network};
use crate::services::rows::{Arrival, Known};

/// The state that is listed, and what all its candidates have in common.
struct Source<'s> {
    fixed: usize,
    state: &'s [u32],
    fingerprint: u64,
    from: u32,
    network: Network,
    /// The messages in flight, a bit for each, modulo 64; where the network is a set.
    flying: u64,
}

impl<'s> Source<'s> {
    #[inline(always)]
    fn of(layout: &Layout, state: &'s [u32], fingerprint: u64, from: u32) -> Self {
        let bit = |mask: u64, word: &u32| mask | 1 << (word % 64);
        let flying = match layout.network {
            Network::Duplicating => state[layout.fixed..].iter().fold(0, bit),
            _ => 0,
        };
        Source {
            fixed: layout.fixed,
            state,
            fingerprint,
            from,
            network: layout.network,
            flying,
        }
    }
}

impl Expander {
    /// Whether `list_plain` may be asked.
    pub fn is_plain(&self) -> bool {
        let layout = &self.shared.layout;
        let off = |fault: usize| layout.budgets[fault] == Budget::Off;
        let unruled = self.arrivals.is_none() && self.rule.is_none() && self.sealing.is_none();
        let elsewhere = layout.streams.is_some() || layout.partition.is_some();
        unruled
            && !elsewhere
            && layout.clocks.is_none()
            && !layout.network.is_queued()
            && off(DROP)
            && off(DUPLICATE)
            && !self.effects.are_eventful()
    }

    /// List the enabled events of `state` that change anything; gives how many others there are.
    /// `None` if a step was met that breaks a property or is a fault: then nothing is listed.
    pub fn list_plain(
        &mut self,
        state: &[u32],
        fingerprint: u64,
        from: u32,
    ) -> PyResult<Option<u32>> {
        let (first, layout) = (self.candidates.len(), &self.shared.layout);
        let (nodes, fixed, network) = (layout.nodes, layout.fixed, layout.network);
        let source = Source::of(layout, state, fingerprint, from);
        let mut idle = 0;
        for &local in &state[..nodes] {
            let range = self.internal(LocalId::of(local))?;
            idle += self.push_range(&source, range, (NOWHERE, 0))?;
        }
        let mut previous = NOWHERE;
        for (position, &word) in state.iter().enumerate().skip(fixed) {
            if word == previous {
                continue; // equal copies: delivering either gives the same state
            }
            previous = word;
            let info = &self.mirror.envelopes[word as usize];
            let taken = if network == Network::Unordered {
                info.mix
            } else {
                0
            };
            let (local, envelope) = (LocalId::of(state[info.to as usize]), EnvelopeId::of(word));
            let place = info.place;
            let range = match self.deliveries.get(Arrival {
                local,
                envelope,
                place,
            }) {
                Known::Range(range) => range,
                Known::Nothing => self.learn_delivery(local, envelope)?,
                Known::Idle => {
                    idle += 1;
                    continue;
                }
            };
            idle += self.push_range(&source, range, (position as u32, taken))?;
        }
        if self.effects.are_eventful() {
            self.candidates.truncate(first);
            return Ok(None);
        }
        Ok(Some(idle))
    }

    /// Add candidates for effects of the message at `word`, which takes `taken` off the
    /// fingerprint; gives how many change nothing.
    #[inline(always)] // two callers, both in the hot loop
    fn push_range(
        &mut self,
        source: &Source<'_>,
        range: EffectRange,
        (word, taken): (u32, u64),
    ) -> PyResult<u32> {
        let mut idle = 0;
        let internal = word == NOWHERE;
        for id in range.iter() {
            let effect = &self.effects[id];
            let (records, sends) = (effect.records, effect.sends);
            let mut delta = effect.delta.wrapping_sub(taken);
            if sends.1 != 0 && source.network == Network::Duplicating {
                delta = delta.wrapping_add(self.sent_delta(source, sends));
            }
            if records != 0 {
                delta = delta.wrapping_add(self.observers_delta(source.state, records)?);
            }
            if delta == 0 {
                idle += 1;
                continue;
            }
            self.candidates.push(Candidate {
                fingerprint: source.fingerprint.wrapping_add(delta),
                from: source.from,
                effect: id,
                word,
                what: if internal {
                    EventKind::Internal
                } else {
                    EventKind::Deliver
                },
            });
        }
        Ok(idle)
    }

    /// What messages add to the fingerprint where the network is a set: those not yet in it do.
    #[inline(always)]
    fn sent_delta(&self, source: &Source<'_>, (start, count): (u32, u32)) -> u64 {
        let sends = &self.sends[start as usize..(start + count) as usize];
        let mut delta = 0u64;
        for (index, send) in sends.iter().enumerate() {
            let word = send.number();
            // With up to 64 messages in all, a bit is one message.
            let flying = source.flying >> (word % 64) & 1 != 0
                && (self.mirror.envelopes.len() <= 64
                    || source.state[source.fixed..].contains(&word));
            if !flying && !sends[..index].contains(send) {
                delta = delta.wrapping_add(self.mirror.envelopes[word as usize].mix);
            }
        }
        delta
    }
}
