//! Effects: what user code answered, looked up once per thread and made ready for use.
//!
//! Invariant: a range of effects, once handed out, never changes; what a step does depends on the
//! local state and the stimulus alone.

use pyo3::prelude::*;

use crate::services::expand::{Effect, Expander};
use crate::services::layout::Network;
use crate::services::tables::{NOT_A_FAULT, Outcome};
use crate::table::flat::pair;

impl Expander {
    /// The range of effects of what a node in `local` can start by itself.
    #[inline(always)]
    pub fn internal(&mut self, local: u32) -> PyResult<(u32, u32)> {
        match self.internals[local as usize] {
            u64::MAX => self.learn_internal(local),
            range => Ok(((range >> 32) as u32, range as u32)),
        }
    }

    #[cold]
    fn learn_internal(&mut self, local: u32) -> PyResult<(u32, u32)> {
        let internals = self.shared.internals(local)?;
        if self.shared.symmetry.is_some() {
            self.shared.verify_internals(local)?;
        }
        self.sync();
        let start = self.effects.len() as u32;
        for internal in internals.iter() {
            let origin = (internal.stimulus, internal.fault);
            self.compile(local, origin, &internal.outcomes, false);
        }
        let count = self.effects.len() as u32 - start;
        self.internals[local as usize] = pair(start, count);
        Ok((start, count))
    }

    /// The range of effects of `envelope` on its receiver in `local`.
    #[inline(always)]
    pub fn delivery(&mut self, local: u32, envelope: u32) -> PyResult<(u32, u32)> {
        match self.deliveries.get(pair(local, envelope)) {
            Some(range) => Ok(((range >> 32) as u32, range as u32)),
            None => self.learn_delivery(local, envelope),
        }
    }

    #[cold]
    fn learn_delivery(&mut self, local: u32, envelope: u32) -> PyResult<(u32, u32)> {
        let outcomes = self.shared.delivery(local, envelope)?;
        if self.shared.symmetry.is_some() {
            self.shared.verify_delivery(local, envelope)?;
        }
        self.sync();
        let start = self.effects.len() as u32;
        let skip_noops = self.shared.layout.skip_noops;
        self.compile(local, (envelope, NOT_A_FAULT), &outcomes, skip_noops);
        let count = self.effects.len() as u32 - start;
        self.deliveries
            .insert(pair(local, envelope), pair(start, count));
        Ok((start, count))
    }

    /// The range of effects of `envelope`, come by a stream, on its receiver in `local`.
    #[inline(always)]
    pub fn reception(&mut self, local: u32, envelope: u32) -> PyResult<(u32, u32)> {
        if let Some(range) = self.received.get(pair(local, envelope)) {
            return Ok(((range >> 32) as u32, range as u32));
        }
        let outcomes = self.shared.delivery(local, envelope)?;
        self.sync();
        let start = self.effects.len() as u32;
        self.compile(local, (envelope, NOT_A_FAULT), &outcomes, false);
        let count = self.effects.len() as u32 - start;
        let range = pair(start, count);
        self.received.insert(pair(local, envelope), range);
        Ok((start, count))
    }

    fn compile(&mut self, before: u32, origin: (u32, u8), outcomes: &[Outcome], skip_noops: bool) {
        for (branch, outcome) in outcomes.iter().enumerate() {
            let share = |local: u32| self.mirror.locals[local as usize].mix;
            let quiet = outcome.sends.is_empty() && outcome.flows.is_empty();
            // A message that arrives at a node which is not up is lost: that is no idle delivery.
            let lost = !self.mirror.ups[before as usize]
                && self.shared.layout.network != Network::Duplicating;
            let silent = quiet && outcome.records == 0 && !lost;
            if skip_noops && silent && outcome.local == before {
                continue; // no transition at all, so no step property is asked about it either
            }
            let mut delta = share(outcome.local).wrapping_sub(share(before));
            if self.shared.layout.network == Network::Unordered {
                for &send in &outcome.sends {
                    delta = delta.wrapping_add(self.mirror.envelopes[send as usize].mix);
                }
            }
            let sends = (self.sends.len() as u32, outcome.sends.len() as u32);
            self.sends.extend_from_slice(&outcome.sends);
            let flowing = self.compile_flows(outcome);
            self.odds.push(outcome.odds);
            self.effects.push(Effect {
                node: self.mirror.locals[before as usize].node,
                local: outcome.local,
                delta,
                sends,
                records: outcome.records,
                fault: origin.1,
                broken: outcome.broken,
                origin: origin.0,
                branch: branch as u32,
                flowing,
            });
        }
    }
}
