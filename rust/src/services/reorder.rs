//! Steps run once more on sets and dicts in a second order: whatever differs depends on an order
//! that is no part of the state. Code that cannot read them is left out
//! (`search/kernel/field_reads.py`).
//!
//! Effects count as the world sees them. In which order messages leave for different nodes, or for
//! one node where the network keeps no order, makes no difference; nor does the order of branches.
//!
//! Invariant: the search goes on with what the canonical order gave, whatever the second one gives.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::services::context::Shared;
use crate::services::ids::LocalId;
use crate::services::misses::Cause;
use crate::services::tables::{Internal, Outcome, Step};
use crate::value::OrderGuard;

/// The bit that stands for all values from there on.
const LAST: usize = 62;
/// What a node begins with, and the arguments of its calls.
const BEGINS: u64 = 1 << 63;

impl Shared {
    /// May a step of `local` by `cause` read a set or dict with two or more entries?
    pub fn is_unordered(&self, py: Python<'_>, local: LocalId, cause: Cause) -> PyResult<bool> {
        let (node, mut unordered) = self.unordered_values(local);
        let (given, step) = {
            let tables = self.tables.lock();
            match cause {
                Cause::Envelope(id) => {
                    let class = tables.envelopes[id.index()].class;
                    let given = tables.messages.get(id.number()).marks.unordered;
                    (given, Step::Message { node, class })
                }
                Cause::Stimulus(id) => {
                    if self.begins_unordered[node as usize] {
                        unordered |= BEGINS;
                    }
                    let given = tables.stimuli.get(id.number()).marks.unordered;
                    (given, Step::Stimulus { node, id })
                }
            }
        };
        if given || unordered == 0 {
            return Ok(given);
        }
        let reads = self.can_read(py, step, |bridge| {
            let stimulus = self.caused(py, cause)?;
            bridge.call_method1("read_by_step", (node, stimulus))
        })?;
        Ok(reads & unordered != 0)
    }

    /// May what a node can start by itself in `local` depend on the order of a set or dict?
    pub fn lists_unordered(&self, py: Python<'_>, local: LocalId) -> PyResult<bool> {
        let (node, unordered) = self.unordered_values(local);
        if unordered == 0 {
            return Ok(false);
        }
        let reads = self.can_read(py, Step::Guards { node }, |bridge| {
            bridge.call_method1("read_by_guards", (node,))
        })?;
        Ok(reads & unordered != 0)
    }

    /// The node in `local`, and a bit for each of its values that has a second order.
    fn unordered_values(&self, local: LocalId) -> (u32, u64) {
        let tables = self.tables.lock();
        let info = tables.locals[local.index()];
        let start = info.row as usize;
        let row = &tables.rows[start..start + self.ghosts[info.node as usize].len()];
        let mut bits = 0;
        for (position, &id) in row.iter().enumerate() {
            if tables.values.get(id).marks.unordered {
                bits |= 1 << position.min(LAST);
            }
        }
        (info.node, bits)
    }

    /// Which values `step` can read; `ask` is asked once.
    fn can_read<'py>(
        &self,
        py: Python<'py>,
        step: Step,
        ask: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<u64> {
        if let Some(&known) = self.tables.lock().reads.get(&step) {
            return Ok(known);
        }
        let bits = ask(self.bridge.bind(py))?.extract()?;
        self.tables.lock().reads.insert(step, bits);
        Ok(bits)
    }

    /// Is there a second order of an observer's state, or of what it is fed?
    pub fn is_observed_unordered(&self, state: u32, records: u32) -> bool {
        let tables = self.tables.lock();
        let mut fed = tables.records[records as usize].iter();
        let unordered = |id: u32| tables.values.get(id).marks.unordered;
        unordered(state) || fed.any(|&(_, value)| unordered(value))
    }

    /// Run a step in the second order, and collect it if that makes a difference.
    pub fn run_reordered(
        self: &Arc<Self>,
        py: Python<'_>,
        local: LocalId,
        cause: Cause,
        outcomes: &[Outcome],
    ) -> PyResult<()> {
        let (node, _) = self.row(local);
        let reordered = {
            let _guard = OrderGuard::new(true);
            self.run_once(py, node, local, cause)?
        };
        if self.same_effects(outcomes, &reordered) {
            return Ok(());
        }
        // Perhaps it is not the order: then there is no telling what the step does.
        if self.run_once(py, node, local, cause)? != outcomes {
            return Err(self.impure(py, node, local, cause));
        }
        let fresh = self.fresh_callable(py, local)?;
        let stimulus = self.caused(py, cause)?;
        let bridge = self.bridge.bind(py);
        bridge
            .call_method1("order_matters", (node, fresh, stimulus))
            .map(drop)
    }

    /// Whether the node can start other events by itself where its sets and dicts are reordered.
    pub fn list_reordered(
        self: &Arc<Self>,
        py: Python<'_>,
        local: LocalId,
        listed: &[Internal],
    ) -> PyResult<()> {
        let again = {
            let _guard = OrderGuard::new(true);
            self.listed(py, local)?
        };
        let known = listed
            .iter()
            .map(|internal| (internal.stimulus, internal.fault));
        if again.into_iter().eq(known) {
            return Ok(());
        }
        let (node, _) = self.row(local);
        let fresh = self.fresh_callable(py, local)?;
        let bridge = self.bridge.bind(py);
        bridge
            .call_method1("order_matters_to_guards", (node, fresh))
            .map(drop)
    }

    fn same_effects(&self, one: &[Outcome], other: &[Outcome]) -> bool {
        if one == other {
            return true;
        }
        let effects = |outcomes: &[Outcome]| {
            let mut effects: Vec<_> = outcomes.iter().map(|each| self.effects(each)).collect();
            effects.sort_unstable();
            effects
        };
        one.len() == other.len() && effects(one) == effects(other)
    }

    /// What a branch does, in one form for all orders that make no difference to the world.
    fn effects(&self, outcome: &Outcome) -> Vec<u64> {
        let tables = self.tables.lock();
        let mut sends = outcome.sends.to_vec();
        tables.flight().sort_sends(self.layout.network, &mut sends);
        let (flows, limits) = outcome.streams_sorted();
        let odds = outcome.odds;
        let mut effects = vec![
            u64::from(outcome.local),
            u64::from(outcome.records),
            outcome.broken,
            odds.plain,
            odds.calm,
            sends.len() as u64,
            flows.len() as u64,
        ];
        effects.extend(sends.into_iter().map(u64::from));
        for flow in flows {
            let sent = flow.envelope.map_or(u64::MAX, u64::from);
            effects.extend([u64::from(flow.peer), sent]);
        }
        for limit in limits {
            effects.extend([limit.peer, limit.least, limit.most].map(u64::from));
        }
        effects
    }
}
