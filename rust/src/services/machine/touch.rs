//! What a delivery does to its node, value by value: deliveries that do not meet may change places.
//!
//! Which values a handler can read or set at all is read off its code, once per kind of message
//! (`search/kernel/field_reads.py`); which it changes, from the local states before and after.
//!
//! Invariant: a delivery that nobody can look into touches everything.

use std::sync::Arc;

use pyo3::prelude::*;

use super::events::Events;
use super::label::Touch;
use crate::services::expand::Effect;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::{Budget, Network};

/// The bit that stands for all values from there on.
const LAST: usize = 62;
/// Touches everything.
const ALL: u64 = u64::MAX;

impl Events<'_> {
    /// What delivering `envelope` to its node in `local` does there, whatever the choice.
    pub fn touch(&mut self, local: LocalId, envelope: EnvelopeId) -> PyResult<Option<Touch>> {
        // What stays in flight, or a fault that would do nothing, is looked for in whole states.
        let budgets = &self.layout().budgets;
        let endless = self.terrain.faults.iter();
        let endless = endless.filter(|&&fault| budgets[fault] == Budget::Unlimited);
        if self.terrain.network == Network::Duplicating || endless.count() > 0 {
            return Ok(None);
        }
        let info = self.worker.expander.mirror.envelopes[envelope.index()];
        let touches = self.touches(info.to, (info.class, envelope))?;
        let Some(kinds) = self.kinds(info.to)?.filter(|_| touches != ALL) else {
            return Ok(None);
        };
        let range = self.worker.expander.delivery(local, envelope)?;
        let writes = range.iter().fold(0, |bits, effect| {
            bits | self.writes(local, &self.effect(effect))
        });
        let kinds = kinds.iter().enumerate();
        let decides = kinds.filter(|(_, kind)| **kind & writes != 0);
        Ok(Some(Touch {
            touches,
            writes,
            decides: decides.fold(0, |bits, (at, _)| bits | 1 << at),
        }))
    }

    /// The values that an effect changes.
    fn writes(&self, local: LocalId, effect: &Effect) -> u64 {
        let mirror = &self.worker.expander.mirror;
        let row = |local: LocalId| mirror.locals[local.index()].row as usize;
        let (old, new) = (row(local), row(effect.local));
        let values = 0..self.worker.search.shared.ghosts[effect.node as usize].len();
        let differs = |at: &usize| mirror.rows[old + at] != mirror.rows[new + at];
        let differing = values.filter(differs);
        differing.fold(0, |bits, at| bits | 1 << at.min(LAST))
    }

    fn touches(&mut self, node: u32, (class, envelope): (u32, EnvelopeId)) -> PyResult<u64> {
        if let Some(&known) = self.touched.get(&(node, class)) {
            return Ok(known);
        }
        let shared = &self.worker.search.shared;
        let touched = Python::attach(|py| {
            let message = shared.message(py, envelope)?.get_item(2)?;
            let bridge = shared.bridge.bind(py);
            let bits = bridge.call_method1("touched_by_message", (node, message))?;
            bits.extract::<u64>()
        })?;
        self.touched.insert((node, class), touched);
        Ok(touched)
    }

    /// The values that each thing which may be possible or not depends on; `None`: too many things.
    fn kinds(&mut self, node: u32) -> PyResult<Option<Arc<[u64]>>> {
        if !self.kinds.contains_key(&node) {
            let shared = &self.worker.search.shared;
            let kinds: Vec<u64> = Python::attach(|py| {
                let bridge = shared.bridge.bind(py);
                bridge.call_method1("touched_together", (node,))?.extract()
            })?;
            self.kinds.insert(node, kinds.into());
        }
        let few = |kinds: &&Arc<[u64]>| kinds.len() <= u64::BITS as usize;
        Ok(self.kinds.get(&node).filter(few).cloned())
    }
}
