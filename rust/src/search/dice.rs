//! Dice for random walks, and what each event weighs when they are thrown.
//!
//! Invariant: nothing is picked by the position of an event in a list: positions follow interned
//! ids, which depend on what other threads met first. So a seed means the same with any threads.

use pyo3::prelude::*;

use crate::python::tables::FAULTS;
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander};
use crate::table::fingerprint::scramble;

/// Weights are counted in parts of this, as in `presage.model.weights`.
const UNIT: u64 = 1 << 20;

/// Where a candidate leads, what it weighs, and its position among the candidates.
pub type Target = (u64, u64, usize);

/// SplitMix64: small, seedable anywhere, and good enough to pick events.
pub struct Dice(u64);

impl Dice {
    /// The dice of the walk with this number.
    pub fn new(seed: u64, number: u64) -> Self {
        Dice(scramble(seed) ^ scramble(number))
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number from 0 to `count` - 1.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.roll()) * u128::from(count)) >> 64) as u64
    }

    /// The position of the fingerprint that this roll favours.
    pub fn pick(&mut self, fingerprints: impl Iterator<Item = u64>) -> Option<usize> {
        let roll = self.roll();
        let favour = |&(_, fingerprint): &(usize, u64)| scramble(fingerprint ^ roll);
        fingerprints
            .enumerate()
            .min_by_key(favour)
            .map(|(position, _)| position)
    }

    /// The position of one of `targets`, by weight. Equal fingerprints end up side by side, and
    /// weights are whole numbers, so the order in which they come does not matter.
    pub fn pick_weighted(&mut self, targets: &mut [Target]) -> Option<usize> {
        let roll = self.roll();
        if targets.len() > 1 {
            targets.sort_unstable();
        }
        let total: u128 = targets
            .iter()
            .map(|&(_, weight, _)| u128::from(weight))
            .sum();
        let mut left = (u128::from(roll) * total) >> 64;
        for &(_, weight, position) in targets.iter() {
            if left < u128::from(weight) {
                return Some(position);
            }
            left -= u128::from(weight);
        }
        None
    }
}

/// A part of a weight; what is above zero stays so. A handler that is told of a lost connection
/// cannot know how it was lost, so what its branches weigh is only their part of the whole.
fn scaled(part: u64, whole: u64) -> u64 {
    match (part, whole) {
        (0, _) | (_, 0) => 0,
        _ => ((u128::from(part) * u128::from(whole)) >> UNIT.trailing_zeros()).max(1) as u64,
    }
}

/// How events are weighed.
#[derive(Clone, Copy, FromPyObject)]
pub struct Weighing {
    /// What each fault weighs.
    pub faults: [u64; FAULTS.len()],
    /// What it weighs to hear that a connection broke, was refused, or is half open.
    pub lost: [u64; 3],
    /// Follow the weights of choices, too.
    pub calm: bool,
}

impl Weighing {
    pub fn of(&self, expander: &Expander, candidate: &Candidate) -> u64 {
        let fault = expander.fault_of(candidate);
        if fault.is_some_and(|fault| self.faults[fault] == 0) {
            return 0;
        }
        if candidate.effect == EffectId::NONE {
            return fault.map_or(UNIT, |fault| self.faults[fault]);
        }
        let odds = expander.odds[candidate.effect.index()];
        let own = if self.calm { odds.calm } else { odds.plain };
        match candidate.what {
            EventKind::Broken => scaled(own, self.lost[0]),
            EventKind::Refused => scaled(own, self.lost[1]),
            EventKind::KeepAlive => scaled(own, self.lost[2]),
            _ => own,
        }
    }

    /// The faults that never happen, as bits.
    pub fn muted(&self) -> u32 {
        let silent = self.faults.iter().enumerate();
        silent.fold(0, |bits, (fault, &weight)| {
            bits | u32::from(weight == 0) << fault
        })
    }
}
