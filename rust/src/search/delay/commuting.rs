//! Which departures from an order only swap two steps.
//!
//! To run an event before the first task of a state, instead of after it, leads nowhere new at once
//! if both orders end in the same state. Both are taken and compared, so the answer is a fact of
//! this state. Such a departure may still matter: what it causes may come before the first task. So
//! it is put off, never left out.
//!
//! Invariant: the answer depends on the state alone, so each departure has one turn.

use pyo3::prelude::*;

use super::agenda::{Address, list_task};
use super::machine::{State, Turn};
use super::services::Services;
use crate::search::worker::Worker;
use crate::services::expand::Candidate;

impl Services<'_> {
    /// Keep of the faults listed those whose turn it is. All of the state stays listed.
    pub fn keep_due(
        &mut self,
        state: State<'_>,
        first: Option<Address>,
        turn: Turn,
    ) -> PyResult<()> {
        let mut kept = Vec::new();
        for &fault in &self.lister.branches {
            let commutes = match first {
                Some(first) => self.worker.commutes_with_task(state, first, &fault)?,
                None => false,
            };
            if commutes == (turn == Turn::Late) {
                kept.push(fault);
            }
        }
        self.lister.branches = kept;
        self.worker.expander.candidates.clear();
        self.worker.expander.list(state.0, state.1, 0)?;
        Ok(())
    }
}

impl Worker<'_> {
    /// Whether an event of a state and the likely branch of a task lead to the same state in either
    /// order.
    pub fn commutes_with_task(
        &mut self,
        state: State<'_>,
        task: Address,
        event: &Candidate,
    ) -> PyResult<bool> {
        list_task(&mut self.expander, state, task)?;
        let Some(&first) = self.expander.candidates.first() else {
            return Ok(false);
        };
        let ends = self.after_both(state, &first, event)?;
        Ok(ends.is_some() && ends == self.after_both(state, event, &first)?)
    }

    /// The fingerprint after two events of a state, if the second is possible after the first.
    fn after_both(
        &mut self,
        state: State<'_>,
        one: &Candidate,
        other: &Candidate,
    ) -> PyResult<Option<u64>> {
        let wanted = self.happened(other, state.0);
        let mut between = Vec::new();
        self.expander.build(state.0, one, &mut between);
        self.expander.candidates.clear();
        self.expander.list(&between, one.fingerprint, 0)?;
        let mut listed = self.expander.candidates.iter();
        let second = listed.find(|second| self.happened(second, &between).same(&wanted));
        Ok(second.map(|second| second.fingerprint))
    }
}
