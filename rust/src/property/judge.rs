//! Properties, judged on state vectors: a walk down the decision trie, Python only where it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use crate::property::claim::{self, Reads};
use crate::property::reader::Reader;
use crate::property::trie::{Query, Said};
use crate::property::verdicts::Verdicts;
use crate::python::turn;
use crate::services::context::Shared;
use crate::services::mirror::Mirror;
use crate::services::misses::is_run_twice;
use crate::value::OrderGuard;

/// A verdict, unless the predicate raised, and what was read for it.
type Run = (Option<Said>, Reads);

pub struct Judge {
    shared: Arc<Shared>,
    claims: Vec<claim::Mirror>,
    lately: Vec<Verdicts>,
}

impl Judge {
    pub fn new(shared: Arc<Shared>) -> Self {
        let claims = shared.properties.iter().map(|_| claim::Mirror::default());
        Judge {
            claims: claims.collect(),
            lately: shared
                .properties
                .iter()
                .map(|_| Verdicts::default())
                .collect(),
            shared,
        }
    }

    /// Whether `property` holds in `state`; `None` if its predicate raised, or cannot say.
    #[inline]
    pub fn holds(
        &mut self,
        property: usize,
        state: &[u32],
        mirror: &Mirror,
    ) -> PyResult<Option<bool>> {
        let said = self.verdict(property, state, mirror)?;
        Ok(said.and_then(Said::holds))
    }

    /// What `property` says of `state`; `None` if its predicate raised.
    #[inline]
    pub fn verdict(
        &mut self,
        property: usize,
        state: &[u32],
        mirror: &Mirror,
    ) -> PyResult<Option<Said>> {
        loop {
            if let Some(verdict) = self.known(property, state, mirror) {
                return Ok(Some(verdict));
            }
            let shared = self.shared.properties[property].claim.lock();
            if self.claims[property].catch_up(&shared) {
                continue;
            }
            drop(shared);
            if self.shared.file_ordered(property, state)? {
                continue;
            }
            if !self.ask(property, state)? {
                return Ok(None);
            }
        }
    }

    /// Take over what other threads have learnt. Needed before `same` may be asked about states
    /// that they have judged.
    pub fn sync(&mut self) {
        for (mirror, property) in self.claims.iter_mut().zip(&self.shared.properties) {
            mirror.catch_up(&property.claim.lock());
        }
    }

    /// Whether all that `property` could have read in `before` is the same in `after`: then so is
    /// its verdict, and most steps change nothing that a given property looks at.
    #[inline]
    pub fn same(&self, property: usize, before: &[u32], after: &[u32], mirror: &Mirror) -> bool {
        let interest = &self.claims[property].interest;
        let nodes = self.shared.layout.nodes;
        let same_node = |(node, fields): &(u32, Vec<u32>)| {
            let (old, new) = (before[*node as usize], after[*node as usize]);
            old == new || {
                let row = |local: u32| &mirror.rows[mirror.locals[local as usize].row as usize..];
                let (old, new) = (row(old), row(new));
                fields
                    .iter()
                    .all(|&field| old[field as usize] == new[field as usize])
            }
        };
        let same_observer = |&slot: &u32| {
            let word = nodes + slot as usize;
            before[word] == after[word]
        };
        !interest.between
            && interest.fields.iter().all(same_node)
            && interest.observers.iter().all(same_observer)
    }

    /// What `property` has ever looked at, as far as is known here.
    pub fn queries(&self, property: usize) -> &[Query] {
        self.claims[property].queries()
    }

    /// Whether verdicts are looked up by one word, which takes no longer than `same`.
    #[inline(always)]
    pub fn is_quick(&self, property: usize) -> bool {
        self.lately[property].has_keys()
    }

    #[inline]
    fn known(&mut self, property: usize, state: &[u32], mirror: &Mirror) -> Option<Said> {
        let claim = &self.claims[property];
        let looked_at = (&claim.interest, claim.queries().len());
        let nodes = self.shared.layout.nodes;
        let Some(key) = self.lately[property].key(looked_at, state, (nodes, mirror)) else {
            return self.follow(property, state, mirror);
        };
        if let Some(said) = self.lately[property].get(key) {
            return Some(said);
        }
        let said = self.follow(property, state, mirror)?;
        self.lately[property].insert(key, said);
        Some(said)
    }

    /// Follow the trie.
    #[inline]
    fn follow(&self, property: usize, state: &[u32], mirror: &Mirror) -> Option<Said> {
        self.claims[property].decide(|query| self.answer(query, state, mirror))
    }

    /// Whether anything that `property` has ever looked at differs between two states.
    pub fn notices(&self, property: usize, one: &[u32], other: &[u32], mirror: &Mirror) -> bool {
        let answer = |query, state| self.answer(query, state, mirror);
        let mut queries = self.queries(property).iter();
        queries.any(|query| answer(query, one) != answer(query, other))
    }

    #[inline(always)] // a call for each field read is a third of what reading it costs
    fn answer(&self, query: &Query, state: &[u32], mirror: &Mirror) -> u64 {
        if let Query::Field { node, field } = query {
            let row = mirror.locals[state[*node as usize] as usize].row;
            return u64::from(mirror.rows[(row + field) as usize]);
        }
        self.answer_between(query, state, mirror)
    }

    /// What is not in a node.
    #[inline(never)]
    fn answer_between(&self, query: &Query, state: &[u32], mirror: &Mirror) -> u64 {
        let layout = &self.shared.layout;
        match query {
            Query::Field { .. } => unreachable!("answered before"),
            Query::Observer(slot) => u64::from(state[layout.nodes + *slot as usize]),
            Query::Messages(types) => mirror.flight().answer(layout, state, types.as_deref()),
            Query::Count(types) => mirror.flight().count(layout, state, types.as_deref()),
            Query::Connection(slot) => u64::from(layout.links(state)[*slot as usize]),
            Query::Partition => u64::from(layout.split(state)),
        }
    }

    /// Run the predicate and file its verdict; false if it raised.
    #[cold]
    fn ask(&self, property: usize, state: &[u32]) -> PyResult<bool> {
        turn::wait()?;
        Python::attach(|py| {
            let count = self.shared.property_runs.fetch_add(1, Relaxed);
            let bridge = self.shared.bridge.bind(py);
            let (verdict, reads) = self.run(bridge, "judge", property, state)?;
            let Some(verdict) = verdict else {
                return Ok(false);
            };
            let ordered = self.shared.is_ordered(property, state)?;
            if ordered.is_some_and(|ordered| Said::from(ordered) != verdict) {
                bridge.call_method1("fickle", (property,))?;
            }
            let again = is_run_twice(count)
                .then(|| self.run(bridge, "judge_again", property, state))
                .transpose()?;
            if again.is_some_and(|again| again != (Some(verdict), reads.clone())) {
                bridge.call_method1("fickle", (property,))?;
            }
            if is_run_twice(count) && self.may_depend_on_order(&reads) {
                self.judge_reordered(bridge, property, state, verdict, &reads)?;
            }
            let mut claim = self.shared.properties[property].claim.lock();
            if claim.learn(&reads, verdict).is_err() {
                drop(claim);
                bridge.call_method1("fickle", (property,))?;
            }
            Ok(true)
        })
    }

    /// Run the predicate in the second order of sets and dicts: its verdict must be the same.
    fn judge_reordered(
        &self,
        bridge: &Bound<'_, PyAny>,
        property: usize,
        state: &[u32],
        verdict: Said,
        reads: &Reads,
    ) -> PyResult<()> {
        let reordered = {
            let _guard = OrderGuard::new(true);
            self.run(bridge, "judge_again", property, state)?.0
        };
        if reordered == Some(verdict) {
            return Ok(());
        }
        let parts = self.unordered(reads);
        bridge
            .call_method1("order_matters_to_property", (property, parts))
            .map(drop)
    }

    /// Whether anything that was read may have a second order.
    fn may_depend_on_order(&self, reads: &Reads) -> bool {
        let is_field = |(query, _): (&Query, u64)| matches!(query, Query::Field { .. });
        !reads.all().all(is_field) || !self.unordered(reads).is_empty()
    }

    /// The fields that were read and have a second order.
    fn unordered(&self, reads: &Reads) -> Vec<(u32, u32)> {
        let tables = self.shared.tables.lock();
        let field = |(query, value): (&Query, u64)| match query {
            Query::Field { node, field } => {
                let marks = tables.values.get(value as u32).marks;
                marks.unordered.then_some((*node, *field))
            }
            _ => None,
        };
        reads.all().filter_map(field).collect()
    }

    /// What the predicate says of `state`, and what it read.
    fn run(
        &self,
        bridge: &Bound<'_, PyAny>,
        method: &str,
        property: usize,
        state: &[u32],
    ) -> PyResult<Run> {
        let reader = Py::new(bridge.py(), Reader::new(self.shared.clone(), state))?;
        let arguments = (property, reader.clone_ref(bridge.py()));
        let said: Option<u8> = bridge.call_method1(method, arguments)?.extract()?;
        let verdict = said.map(|said| match said {
            0 => Said::Fails,
            1 => Said::Holds,
            _ => Said::More,
        });
        Ok((verdict, reader.get().reads()))
    }
}
