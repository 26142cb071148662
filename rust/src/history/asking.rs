//! The way between histories, the tables and Python: what is missing is asked without a lock held.
//!
//! Locks are taken in this order: the interpreter, the histories, the tables.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::spec::{Applied, Open};
use super::table::{Done, HistoryTable, Part, Record};
use super::{Claimed, Histories, Need};
use crate::history::shape::{Written, WrittenPart};
use crate::property::claim::Reads;
use crate::property::trie::{Ask, Query, Said};
use crate::python::turn;
use crate::services::context::Shared;
use crate::services::tables::Tables;
use crate::value::{IMMUTABLE, MUTABLE, OrderGuard};

/// So many verdicts are given by Python, too, and later every one whose number is a power of two:
/// a difference ends the search.
const COMPARED_FIRST: u64 = 32;

/// What a record is, as `bridge.record` says.
const INVOKE: u8 = 1;
const RETURN: u8 = 2;

impl Shared {
    /// The state of an observer that keeps a history after `records`; none if Python shall say.
    pub fn observed_history(&self, slot: u32, history: u32, records: u32) -> PyResult<Option<u32>> {
        let Some(histories) = &self.histories else {
            return Ok(None);
        };
        if !histories.kept[slot as usize] {
            return Ok(None);
        }
        self.answered(histories, |table, tables| {
            table.observe(&histories.shapes, tables, (history, records))
        })
    }

    /// Whether there is an order, as `property` claims in `state`; none if Python shall say, or
    /// the property is of another kind.
    pub fn is_ordered(&self, property: usize, state: &[u32]) -> PyResult<Option<bool>> {
        let Some((histories, claimed)) = self.claimed(property) else {
            return Ok(None);
        };
        let history = state[self.layout.nodes + claimed.slot as usize];
        self.is_history_ordered(histories, history, claimed)
    }

    fn is_history_ordered(
        &self,
        histories: &Histories,
        history: u32,
        claimed: Claimed,
    ) -> PyResult<Option<bool>> {
        self.answered(histories, |table, tables| {
            table.is_ordered(tables, history, claimed)
        })
    }

    /// The same of a history that is given as an object.
    pub fn is_value_ordered(
        &self,
        history: &Bound<'_, PyAny>,
        real_time: bool,
    ) -> PyResult<Option<bool>> {
        let Some(histories) = &self.histories else {
            return Ok(None);
        };
        let id = self.intern_value(history.py(), history)?;
        let slot = 0;
        self.is_history_ordered(histories, id, Claimed { slot, real_time })
    }

    /// File that `property` holds in `state`, if that is known without Python; false if it is not.
    pub fn file_ordered(&self, property: usize, state: &[u32]) -> PyResult<bool> {
        let Some((histories, claimed)) = self.claimed(property) else {
            return Ok(false);
        };
        turn::wait()?;
        let count = histories.judged.fetch_add(1, Relaxed);
        let compared = count < COMPARED_FIRST || count.is_power_of_two();
        if compared || self.is_ordered(property, state)? != Some(true) {
            return Ok(false);
        }
        let history = state[self.layout.nodes + claimed.slot as usize];
        let ask = Ask::State(Query::Observer(claimed.slot));
        let reads = Reads {
            own: vec![(ask, u64::from(history))],
            parts: Vec::new(),
        };
        let mut claim = self.properties[property].claim.lock();
        Ok(claim.learn(&reads, Said::Holds).is_ok())
    }

    fn claimed(&self, property: usize) -> Option<(&Histories, Claimed)> {
        let histories = self.histories.as_ref()?;
        let claimed = (*histories.claims.get(property)?)?;
        Some((histories, claimed))
    }

    /// Try until nothing is missing; none if Python shall say.
    fn answered<T>(
        &self,
        histories: &Histories,
        mut attempt: impl FnMut(&mut HistoryTable, &mut Tables) -> Result<T, Open>,
    ) -> PyResult<Option<T>> {
        loop {
            let answer = {
                let mut table = histories.table.lock();
                attempt(&mut table, &mut self.tables.lock())
            };
            match answer {
                Ok(answer) => return Ok(Some(answer)),
                Err(Open::Unclear) => return Ok(None),
                Err(Open::Needs(need)) => Python::attach(|py| self.supply(py, histories, need))?,
            }
        }
    }

    /// Find out what is missing.
    #[cold]
    fn supply(&self, py: Python<'_>, histories: &Histories, need: Need) -> PyResult<()> {
        match need {
            Need::Parts(history) => self.take_apart(py, histories, history),
            Need::Record(id) => {
                let record = self.record_kind(py, id)?;
                histories.table.lock().learn_record(id, record);
                Ok(())
            }
            Need::Initial { spec } => {
                let said = self.ask(py, "spec_initial", (self.value(py, spec)?,))?;
                let state = match said {
                    Some(state) => self.state(py, &state)?,
                    None => None,
                };
                histories.table.lock().specs.learn_initial(spec, state);
                Ok(())
            }
            Need::Apply { spec, state, op } => {
                let key = (spec, state, op);
                let applied = self.applied_twice(py, key)?;
                histories.table.lock().specs.learn_applied(key, applied);
                Ok(())
            }
            Need::Equal { answer, result } => {
                let equal = self.equal(py, answer, result)?;
                let specs = &mut histories.table.lock().specs;
                specs.learn_equal(answer, result, equal);
                Ok(())
            }
        }
    }

    /// What the bridge says; none where user code raised.
    fn ask<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let said = self.bridge.bind(py).call_method1(method, arguments)?;
        let (answered, answer): (bool, Bound<'py, PyAny>) = said.extract()?;
        Ok(answered.then_some(answer))
    }

    /// The id of what a spec gave; none if it is no state.
    fn state(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        match self.intern_value(py, value) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn record_kind(&self, py: Python<'_>, id: u32) -> PyResult<Record> {
        let bridge = self.bridge.bind(py);
        let said = bridge.call_method1("record", (self.value(py, id)?,))?;
        let (kind, value): (u8, Bound<'_, PyAny>) = said.extract()?;
        Ok(match kind {
            INVOKE => Record::Invoke(self.intern_value(py, &value)?),
            RETURN => Record::Return(self.intern_value(py, &value)?),
            _ => Record::Other,
        })
    }

    /// What an operation does. Where it is not the same again, in the second order of sets and
    /// dicts if there is one, Python sees to the verdicts.
    fn applied_twice(&self, py: Python<'_>, key: (u32, u32, u32)) -> PyResult<Applied> {
        let applied = self.applied(py, key)?;
        let again = {
            let _guard = OrderGuard::new(true);
            self.applied(py, key)?
        };
        Ok(if applied == again {
            applied
        } else {
            Applied::Unclear
        })
    }

    fn applied(&self, py: Python<'_>, (spec, state, op): (u32, u32, u32)) -> PyResult<Applied> {
        let value = |id| self.value(py, id);
        let arguments = (value(spec)?, value(state)?, value(op)?);
        let Some(outcome) = self.ask(py, "spec_apply", arguments)? else {
            return Ok(Applied::Unclear);
        };
        if outcome.is_none() {
            return Ok(Applied::Impossible);
        }
        let (state, result): (Bound<'_, PyAny>, Bound<'_, PyAny>) = outcome.extract()?;
        let ids = self.state(py, &state)?.zip(self.state(py, &result)?);
        Ok(ids.map_or(Applied::Unclear, |(state, result)| Applied::To {
            state,
            result,
        }))
    }

    /// Whether Python finds two values equal: of objects that are not the same ones.
    fn equal(&self, py: Python<'_>, answer: u32, result: u32) -> PyResult<Option<bool>> {
        let fresh = |id| {
            let bytes = self.tables.lock().values.get(id).bytes.clone();
            self.codec.get().decode(py, &bytes)
        };
        let said = self.ask(py, "answers_equal", (fresh(answer)?, fresh(result)?))?;
        said.map(|equal| equal.extract()).transpose()
    }

    /// Learn the parts of a history that nobody here has made.
    fn take_apart(&self, py: Python<'_>, histories: &Histories, history: u32) -> PyResult<()> {
        let bytes = self.tables.lock().values.get(history).bytes.clone();
        let parts = self.parts(py, histories, &bytes)?;
        histories.table.lock().add(history, parts);
        Ok(())
    }

    fn parts(
        &self,
        py: Python<'_>,
        histories: &Histories,
        bytes: &[u8],
    ) -> PyResult<Option<(u32, bool, Vec<u32>)>> {
        let codec = self.codec.get();
        let Some(written) = histories.shapes.read_history(codec, bytes) else {
            return Ok(None);
        };
        let immutable = bytes[0] == IMMUTABLE;
        let spec = self.inner(py, written.spec, immutable)?;
        let mut parts = Vec::with_capacity(written.clients.len());
        for client in written.clients {
            let known = histories.table.lock().find_part(client);
            if let Some(known) = known {
                parts.push(known);
                continue;
            }
            let Some(part) = histories.shapes.read_part(codec, client) else {
                return Ok(None);
            };
            let part = self.part(py, histories, &part, immutable)?;
            let mut table = histories.table.lock();
            parts.push(table.part(&histories.shapes, &self.tables.lock().values, part));
        }
        Ok(Some((spec, written.real_time, parts)))
    }

    fn part(
        &self,
        py: Python<'_>,
        histories: &Histories,
        part: &WrittenPart<'_>,
        immutable: bool,
    ) -> PyResult<Part> {
        let name = |name: &[u8]| histories.table.lock().name(name);
        let seen = |written: &Written<'_>| {
            let seen = written.seen.iter();
            seen.map(|(client, last)| (name(client), *last)).collect()
        };
        let mut done = Vec::with_capacity(part.done.len());
        for written in &part.done {
            done.push(Done {
                op: self.inner(py, written.op, immutable)?,
                result: self.inner(py, written.result.unwrap_or_default(), immutable)?,
                seen: seen(written),
            });
        }
        let pending = match &part.pending {
            Some(written) => Some((self.inner(py, written.op, immutable)?, seen(written))),
            None => None,
        };
        Ok(Part {
            name: name(part.name),
            done,
            pending,
        })
    }

    /// The id of a value inside another one. Of one inside a mutable value, the codec must say
    /// whether it can be changed itself.
    fn inner(&self, py: Python<'_>, bytes: &[u8], immutable: bool) -> PyResult<u32> {
        let first = if immutable { IMMUTABLE } else { MUTABLE };
        let whole = [&[first], bytes].concat();
        if immutable {
            return self.intern_value_bytes(&whole);
        }
        let value = self.codec.get().decode(py, &whole)?;
        self.intern_value(py, value.bind(py))
    }
}
