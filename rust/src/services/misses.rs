//! Questions that only user code can answer: what a step does, what an observer makes of it.
//!
//! Each is asked once. A thread looks the answer up, else waits for the interpreter, looks again
//! (another thread may have been faster), and only then runs the code.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::python::turn;
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId, StimulusId};
use crate::services::layout::Budget;
use crate::services::tables::{Flow, Internal, Limit, NOT_A_FAULT, Odds, Outcome, delivery_key};
use crate::table::flat::pair;
use crate::value::OrderGuard;

/// The first steps, and a share of all later ones, are run twice to catch impure handlers. Where
/// a second order may be seen, every step is: the second run is in that order.
const TWICE_FIRST: u64 = 256;
const TWICE_EVERY: u64 = 16;

/// Whether the run number `count`, of a handler or of a predicate, is one of those.
pub fn is_run_twice(count: u64) -> bool {
    count < TWICE_FIRST || count.is_multiple_of(TWICE_EVERY)
}

/// What makes a node take a step: a message, or something of its own.
#[derive(Clone, Copy)]
pub enum Cause {
    Envelope(EnvelopeId),
    Stimulus(StimulusId),
}

impl Shared {
    /// What `envelope` does to its receiver in `local`; empty while it cannot be delivered.
    pub fn delivery(
        self: &Arc<Self>,
        local: LocalId,
        envelope: EnvelopeId,
    ) -> PyResult<Arc<[Outcome]>> {
        if let Some(known) = self.tables.lock().delivery(local, envelope) {
            return Ok(known);
        }
        turn::wait()?;
        Python::attach(|py| {
            // Another thread may have run it while this one waited for the interpreter.
            if let Some(known) = self.tables.lock().delivery(local, envelope) {
                return Ok(known);
            }
            let outcomes = self.run(py, local, Cause::Envelope(envelope))?;
            let mut tables = self.tables.lock();
            let key = delivery_key(local, envelope);
            tables.deliveries.insert(key, outcomes.clone());
            Ok(outcomes)
        })
    }

    /// The events that a node can start by itself in `local`, with what they do.
    pub fn internals(self: &Arc<Self>, local: LocalId) -> PyResult<Arc<[Internal]>> {
        if let Some(known) = self.tables.lock().internals.get(&local) {
            return Ok(known.clone());
        }
        turn::wait()?;
        Python::attach(|py| {
            if let Some(known) = self.tables.lock().internals.get(&local) {
                return Ok(known.clone());
            }
            let mut internals = Vec::new();
            for (stimulus, fault) in self.listed(py, local)? {
                internals.push(Internal {
                    stimulus,
                    fault,
                    outcomes: self.run(py, local, Cause::Stimulus(stimulus))?,
                });
            }
            if self.lists_unordered(py, local)? {
                self.list_reordered(py, local, &internals)?;
            }
            let internals: Arc<[Internal]> = internals.into();
            self.tables
                .lock()
                .internals
                .insert(local, internals.clone());
            Ok(internals)
        })
    }

    /// The stimuli of a node in `local`, each with the fault it is, as far as faults are on.
    pub fn listed(&self, py: Python<'_>, local: LocalId) -> PyResult<Vec<(StimulusId, u8)>> {
        let (node, _) = self.row(local);
        let values = self.fresh(py, local)?;
        let bridge = self.bridge.bind(py);
        let mut stimuli = Vec::new();
        for item in bridge.call_method1("stimuli", (node, values))?.try_iter()? {
            let (stimulus, fault): (Bound<'_, PyAny>, Option<u8>) = item?.extract()?;
            let fault = fault.unwrap_or(NOT_A_FAULT);
            if fault == NOT_A_FAULT || self.layout.budgets[fault as usize] != Budget::Off {
                stimuli.push((self.intern_stimulus(py, &stimulus)?, fault));
            }
        }
        Ok(stimuli)
    }

    /// Run every branch of a step in Python.
    pub fn run(
        self: &Arc<Self>,
        py: Python<'_>,
        local: LocalId,
        cause: Cause,
    ) -> PyResult<Arc<[Outcome]>> {
        let count = self.handler_runs.fetch_add(1, Relaxed);
        let (node, _) = self.row(local);
        let outcomes = self.run_once(py, node, local, cause)?;
        if self.is_unordered(py, local, cause)? {
            self.run_reordered(py, local, cause, &outcomes)?;
        } else if is_run_twice(count) {
            let again = self.run_once(py, node, local, cause)?;
            if again != outcomes {
                return Err(self.impure(py, node, local, cause));
            }
        }
        Ok(outcomes.into())
    }

    /// Python explains what differed; it sees the same step run twice more.
    pub fn impure(
        self: &Arc<Self>,
        py: Python<'_>,
        node: usize,
        local: LocalId,
        cause: Cause,
    ) -> PyErr {
        let explained = self.fresh_callable(py, local).and_then(|fresh| {
            let bridge = self.bridge.bind(py);
            bridge.call_method1("impure", (node, fresh, self.caused(py, cause)?))
        });
        explained.err().unwrap_or_else(|| {
            PyRuntimeError::new_err("a step gave two outcomes and no explanation")
        })
    }

    /// The stimulus that a handler sees, as new objects.
    pub fn caused<'py>(&self, py: Python<'py>, cause: Cause) -> PyResult<Bound<'py, PyAny>> {
        match cause {
            Cause::Stimulus(id) => self.stimulus(py, id),
            Cause::Envelope(id) => {
                let message = self.message(py, id)?;
                let stimulus = ("deliver", message.get_item(0)?, message.get_item(2)?);
                Ok(stimulus.into_pyobject(py)?.into_any())
            }
        }
    }

    pub fn run_once(
        self: &Arc<Self>,
        py: Python<'_>,
        node: usize,
        local: LocalId,
        cause: Cause,
    ) -> PyResult<Vec<Outcome>> {
        let fresh = self.fresh_callable(py, local)?;
        let stimulus = self.caused(py, cause)?;
        let listed = self
            .bridge
            .bind(py)
            .call_method1("step", (node, &fresh, &stimulus))?;
        if listed.is_none() {
            return Ok(Vec::new());
        }
        let listed = listed.cast_into::<PyList>()?;
        listed
            .iter()
            .map(|item| self.outcome(py, node, &item))
            .collect::<PyResult<_>>()
            .map_err(|error| {
                let value = error.clone_ref(py).into_value(py);
                let bridge = self.bridge.bind(py);
                let told = bridge.call_method1("explained", (node, fresh, stimulus, value));
                told.err().unwrap_or(error)
            })
    }

    /// Intern what Python says of one branch: (choices, values, sends, records, broken, its odds in
    /// a walk with faults, those in a calm one), and where there are streams (flows, limits).
    fn outcome(&self, py: Python<'_>, node: usize, item: &Bound<'_, PyAny>) -> PyResult<Outcome> {
        let item = item.cast::<PyTuple>()?;
        let choices: Vec<u32> = item.get_item(0)?.extract()?;
        let local = self.local(py, node, &item.get_item(1)?)?;
        let sends = item.get_item(2)?.cast_into::<PyList>()?;
        let sends = sends
            .iter()
            .map(|send| self.envelope(py, node, &send))
            .collect::<PyResult<Box<[EnvelopeId]>>>()?;
        let records = self.records(py, node, &item.get_item(3)?)?;
        Ok(Outcome {
            local,
            sends,
            records,
            broken: item.get_item(4)?.extract()?,
            choices: choices.into(),
            odds: Odds {
                plain: item.get_item(5)?.extract()?,
                calm: item.get_item(6)?.extract()?,
            },
            flows: match item.len() {
                7 => Box::default(),
                _ => self.flows(py, node, &item.get_item(7)?)?,
            },
            limits: match item.len() {
                7 => Box::default(),
                _ => limits(&item.get_item(8)?)?,
            },
        })
    }

    /// Intern what a step did to streams: (peer, closes, message) each.
    fn flows(
        &self,
        py: Python<'_>,
        node: usize,
        listed: &Bound<'_, PyAny>,
    ) -> PyResult<Box<[Flow]>> {
        let mut flows = Vec::new();
        for item in listed.try_iter()? {
            let (peer, closes, message): (u32, bool, Bound<'_, PyAny>) = item?.extract()?;
            let send = (peer, message).into_pyobject(py)?;
            let envelope = match closes {
                true => None,
                false => Some(self.envelope(py, node, send.as_any())?),
            };
            flows.push(Flow { peer, envelope });
        }
        Ok(flows.into())
    }

    /// Whether the clocks of a timed system let a node do what `stimulus` says.
    pub fn due(&self, clocks: u32, node: u32, stimulus: StimulusId) -> PyResult<bool> {
        Python::attach(|py| {
            let asked = (self.value(py, clocks)?, node, self.stimulus(py, stimulus)?);
            let due = self.bridge.bind(py).call_method1("due", asked)?.extract()?;
            if due && self.seals.is_empty() {
                self.tables
                    .lock()
                    .happened
                    .insert(pair(node, stimulus.number()));
            }
            Ok(due)
        })
    }

    /// The state of observer `slot` after it has been fed `records` in `state`.
    pub fn observed(&self, slot: u32, state: u32, records: u32) -> PyResult<u32> {
        let key = (slot, state, records);
        if let Some(&known) = self.tables.lock().observed.get(&key) {
            return Ok(known);
        }
        turn::wait()?;
        if let Some(id) = self.observed_history(slot, state, records)? {
            self.tables.lock().observed.insert(key, id);
            return Ok(id);
        }
        Python::attach(|py| {
            let id = self.observe(py, key)?;
            if self.is_observed_unordered(state, records) {
                let reordered = {
                    let _guard = OrderGuard::new(true);
                    self.observe(py, key)?
                };
                if reordered != id {
                    let bridge = self.bridge.bind(py);
                    bridge.call_method1("order_matters_to_observer", (slot,))?;
                }
            }
            self.tables.lock().observed.insert(key, id);
            Ok(id)
        })
    }

    pub fn observe(
        &self,
        py: Python<'_>,
        (slot, state, records): (u32, u32, u32),
    ) -> PyResult<u32> {
        let sequence = self.tables.lock().records[records as usize].clone();
        let mut fed = Vec::with_capacity(sequence.len());
        for &(node, value) in sequence.iter() {
            fed.push((node, self.value(py, value)?));
        }
        let before = self.value(py, state)?;
        let bridge = self.bridge.bind(py);
        let after = bridge.call_method1("observe", (slot, before, fed))?;
        self.intern_value(py, &after)
    }
}

fn limits(listed: &Bound<'_, PyAny>) -> PyResult<Box<[Limit]>> {
    let mut limits = Vec::new();
    for item in listed.try_iter()? {
        let (peer, least, most): (u32, u32, u32) = item?.extract()?;
        limits.push(Limit { peer, least, most });
    }
    Ok(limits.into())
}
