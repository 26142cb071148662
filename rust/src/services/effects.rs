//! Effects: what user code answered, looked up once per thread and made ready for use.
//!
//! Invariant: a range of effects, once handed out, never changes; what a step does depends on the
//! local state and the stimulus alone.

use std::ops::Index;

use pyo3::prelude::*;

use crate::services::expand::{Effect, Expander, NOWHERE};
pub use crate::services::ids::EffectId;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::Network;
use crate::services::rows::Arrival;
use crate::services::tables::{NOT_A_FAULT, Outcome, delivery_key};
use crate::table::flat::pair;

/// Effects in a row: the answers to one stimulus, or all that a node can start by itself.
#[derive(Clone, Copy)]
pub struct EffectRange {
    start: u32,
    count: u32,
}

impl EffectRange {
    #[inline(always)]
    pub fn of(start: u32, count: u32) -> Self {
        EffectRange { start, count }
    }

    pub fn start(self) -> u32 {
        self.start
    }

    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = EffectId> {
        (self.start..self.start + self.count).map(EffectId::of)
    }

    #[inline(always)]
    pub fn len(self) -> u32 {
        self.count
    }

    /// How far from its beginning `effect` stands.
    #[inline(always)]
    pub fn place(self, effect: EffectId) -> u32 {
        effect.number() - self.start
    }

    /// Those from `place` on.
    #[inline(always)]
    pub fn from(self, place: u32) -> Self {
        EffectRange {
            start: self.start + place,
            count: self.count - place,
        }
    }

    #[inline(always)]
    pub fn packed(range: u64) -> Self {
        let (start, count) = ((range >> 32) as u32, range as u32);
        EffectRange { start, count }
    }

    pub fn pack(self) -> u64 {
        pair(self.start, self.count)
    }
}

#[derive(Default)]
pub struct Effects {
    all: Vec<Effect>,
    /// Of each its difference: all that most steps need, side by side.
    deltas: Vec<u64>,
    /// One of them breaks a property, or is a fault.
    eventful: bool,
}

impl Effects {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    #[inline(always)]
    pub fn get(&self, id: EffectId) -> Option<&Effect> {
        self.all.get(id.index()) // no table is so long that `NONE` would be in it
    }

    /// Whether one of them breaks a property, or is a fault.
    pub fn are_eventful(&self) -> bool {
        self.eventful
    }

    fn push(&mut self, effect: Effect) {
        self.eventful |= effect.broken != 0 || effect.fault != NOT_A_FAULT;
        self.deltas.push(effect.delta);
        self.all.push(effect);
    }

    /// What each effect adds to the fingerprint by itself.
    pub fn deltas(&self) -> &[u64] {
        &self.deltas
    }

    /// Those from `start` on.
    fn since(&self, start: usize) -> EffectRange {
        EffectRange {
            start: start as u32,
            count: (self.len() - start) as u32,
        }
    }
}

impl Index<EffectId> for Effects {
    type Output = Effect;

    #[inline(always)]
    fn index(&self, id: EffectId) -> &Effect {
        &self.all[id.index()]
    }
}

impl Expander {
    /// The range of effects of what a node in `local` can start by itself.
    #[inline(always)]
    pub fn internal(&mut self, local: LocalId) -> PyResult<EffectRange> {
        match self.internals[local.index()] {
            u64::MAX => self.learn_internal(local),
            range => Ok(EffectRange::packed(range)),
        }
    }

    #[cold]
    fn learn_internal(&mut self, local: LocalId) -> PyResult<EffectRange> {
        let internals = self.shared.internals(local)?;
        if self.shared.symmetry.is_some() {
            self.shared.verify_internals(local)?;
        }
        self.sync();
        let start = self.effects.len();
        for internal in internals.iter() {
            let origin = (internal.stimulus.number(), internal.fault);
            self.compile(local, origin, &internal.outcomes, false);
        }
        let range = self.effects.since(start);
        self.internals[local.index()] = range.pack();
        Ok(range)
    }

    /// The range of effects of `envelope` on its receiver in `local`.
    #[inline(always)]
    pub fn delivery(&mut self, local: LocalId, envelope: EnvelopeId) -> PyResult<EffectRange> {
        match self.deliveries.effects(self.arrival(local, envelope)) {
            Some(range) => Ok(range),
            None => self.learn_delivery(local, envelope),
        }
    }

    #[inline(always)]
    pub fn arrival(&self, local: LocalId, envelope: EnvelopeId) -> Arrival {
        Arrival {
            local,
            envelope,
            place: self.mirror.envelopes[envelope.index()].place,
        }
    }

    #[cold]
    pub fn learn_delivery(
        &mut self,
        local: LocalId,
        envelope: EnvelopeId,
    ) -> PyResult<EffectRange> {
        // What does nothing is still taken from its lane: it would bar what is behind it.
        let network = self.shared.layout.network;
        let alone = self.mirror.envelopes[envelope.index()].alone;
        let barred = network == Network::Lanes && !alone;
        let skip_noops = self.shared.layout.skip_noops && !barred;
        let range = self.delivered(local, envelope, skip_noops)?;
        // In a set, what a message adds depends on what is in it.
        let adds_more = |effect: &Effect| {
            let sends = effect.sends.1 != 0 && network == Network::Duplicating;
            sends || effect.flowing != NOWHERE || effect.records != 0
        };
        let simple = range.len() <= 1 && !range.iter().any(|id| adds_more(&self.effects[id]));
        self.deliveries
            .insert(self.arrival(local, envelope), range, simple);
        Ok(range)
    }

    /// The range of effects of `envelope`, come by a stream, on its receiver in `local`.
    #[inline(always)]
    pub fn reception(&mut self, local: LocalId, envelope: EnvelopeId) -> PyResult<EffectRange> {
        let key = delivery_key(local, envelope);
        if let Some(range) = self.received.get(key) {
            return Ok(EffectRange::packed(range));
        }
        let range = self.delivered(local, envelope, false)?;
        self.received.insert(key, range.pack());
        Ok(range)
    }

    fn delivered(
        &mut self,
        local: LocalId,
        envelope: EnvelopeId,
        skip_noops: bool,
    ) -> PyResult<EffectRange> {
        let outcomes = self.shared.delivery(local, envelope)?;
        if self.shared.symmetry.is_some() {
            self.shared.verify_delivery(local, envelope)?;
        }
        self.sync();
        let (start, origin) = (self.effects.len(), (envelope.number(), NOT_A_FAULT));
        self.compile(local, origin, &outcomes, skip_noops);
        Ok(self.effects.since(start))
    }

    fn compile(
        &mut self,
        before: LocalId,
        origin: (u32, u8),
        outcomes: &[Outcome],
        skip_noops: bool,
    ) {
        for (branch, outcome) in outcomes.iter().enumerate() {
            let share = |local: LocalId| self.mirror.locals[local.index()].mix;
            let quiet = outcome.sends.is_empty() && outcome.flows.is_empty();
            // A message that arrives at a node which is not up is lost: that is no idle delivery.
            let lost = !self.mirror.ups[before.index()]
                && self.shared.layout.network != Network::Duplicating;
            let silent = quiet && outcome.records == 0 && !lost;
            if skip_noops && silent && outcome.local == before {
                continue; // no transition at all, so no step property is asked about it either
            }
            let mut delta = share(outcome.local).wrapping_sub(share(before));
            if self.shared.layout.network == Network::Unordered {
                for send in &outcome.sends {
                    delta = delta.wrapping_add(self.mirror.envelopes[send.index()].mix);
                }
            }
            let sends = (self.sends.len() as u32, outcome.sends.len() as u32);
            self.sends.extend_from_slice(&outcome.sends);
            let flowing = self.compile_flows(outcome);
            self.odds.push(outcome.odds);
            self.effects.push(Effect {
                node: self.mirror.locals[before.index()].node,
                local: outcome.local,
                delta,
                sends,
                records: outcome.records,
                fault: origin.1,
                repeats: (1..outcome.sends.len())
                    .any(|at| outcome.sends[..at].contains(&outcome.sends[at])),
                broken: outcome.broken,
                origin: origin.0,
                branch: branch as u32,
                flowing,
            });
        }
    }
}
