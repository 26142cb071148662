//! What observers make of the records of a step, looked up once per thread.

use pyo3::prelude::*;

use crate::services::expand::Expander;
use crate::table::fingerprint::{OBSERVER, mix};
use crate::table::flat::pair;

impl Expander {
    /// What feeding `records` to the observers of `state` adds to the fingerprint.
    pub fn observers_delta(&mut self, state: &[u32], records: u32) -> PyResult<u64> {
        let mut delta = 0u64;
        for slot in 0..self.shared.layout.observers {
            let before = state[self.shared.layout.nodes + slot];
            let after = self.after_records(slot, before, records)?;
            let gained = self.observer_mix(slot, after);
            let lost = self.observer_mix(slot, before);
            delta = delta.wrapping_add(gained).wrapping_sub(lost);
        }
        Ok(delta)
    }

    pub fn observer_mix(&mut self, slot: usize, state: u32) -> u64 {
        let key = pair(slot as u32, state);
        if let Some(known) = self.observed_mix.get(key) {
            return known;
        }
        let digest = self.shared.tables.lock().values.get(state).digest;
        let share = mix(OBSERVER, slot as u64, digest);
        self.observed_mix.insert(key, share);
        share
    }

    pub fn after_records(&mut self, slot: usize, state: u32, records: u32) -> PyResult<u32> {
        let key = pair(state, records);
        if let Some(known) = self.observed[slot].get(key) {
            return Ok(known as u32);
        }
        let after = self.shared.observed(slot as u32, state, records)?;
        if self.shared.symmetry.is_some() {
            self.shared.verify_observed(slot as u32, state, records)?;
        }
        self.observed[slot].insert(key, u64::from(after));
        Ok(after)
    }
}
