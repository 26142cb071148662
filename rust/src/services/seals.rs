//! Seals: states in which only some events are let happen, and what is listed there.
//!
//! A condition is judged as a property is: down its decision trie, Python only where that ends. It
//! depends on the state alone, so what is listed still does, and nothing else need be remembered.
//! Of several seals the first whose condition holds is in force.
//!
//! Invariant: live worlds let the same happen; the first event is the first in canonical order,
//! which is the same in every thread and process.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::property::judge::Judge;
use crate::python::tables::{BROKEN, DELIVER, KEEPALIVE, ORDINARY, RECEIVE, REFUSED, TIMER, WAKE};
use crate::services::context::{Shared, addresses};
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::mirror::Mirror;
use crate::services::tables::NOT_A_FAULT;
use crate::table::flat::{FlatMap, pair};
use crate::value::texts;

/// What a seal lets happen, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct KernelSeal<'py> {
    kinds: Vec<String>,
    nodes: Vec<u32>,
    types: Bound<'py, PyAny>,
    first: bool,
}

#[derive(Clone)]
pub struct Seal {
    /// The property that is its condition.
    pub property: usize,
    /// Kinds of events, as bits in the order of `ORDINARY`.
    kinds: u32,
    nodes: Box<[u32]>,
    /// Classes of messages, by their addresses; the system of Python keeps them alive.
    types: Box<[usize]>,
    first: bool,
}

impl Seal {
    /// The seals of a system, whose conditions are the last of its properties.
    pub fn all(properties: usize, given: &[KernelSeal<'_>]) -> PyResult<Vec<Self>> {
        let conditions = properties - given.len()..properties;
        let seals = conditions.zip(given);
        seals.map(|(at, seal)| Seal::new(at, seal)).collect()
    }

    fn new(property: usize, given: &KernelSeal<'_>) -> PyResult<Self> {
        let named = |text: &&str| given.kinds.iter().any(|kind| kind == text);
        let kinds = ORDINARY.iter().enumerate();
        let kinds = kinds.filter(|(_, (_, text))| named(text));
        Ok(Seal {
            property,
            kinds: kinds.map(|(at, _)| 1 << at).sum(),
            nodes: given.nodes.clone().into(),
            types: addresses(&given.types)?.into(),
            first: given.first,
        })
    }

    fn lets(&self, kind: usize, node: u32) -> bool {
        self.kinds >> kind & 1 == 1 || self.nodes.contains(&node)
    }

    /// Whether what is delivered to a node may be.
    fn lets_mail(&self, mirror: &Mirror, what: EventKind, node: u32, envelope: EnvelopeId) -> bool {
        let kind = mail_kind(what);
        let is_message = kind == DELIVER || kind == RECEIVE;
        let of_type = || is_message && mirror.flight().is_of(envelope, Some(&self.types));
        self.lets(kind, node) || of_type()
    }
}

/// The kind of what arrives at a node.
fn mail_kind(what: EventKind) -> usize {
    match what {
        EventKind::Deliver => DELIVER,
        EventKind::Receive => RECEIVE,
        EventKind::Broken => BROKEN,
        EventKind::Refused => REFUSED,
        _ => KEEPALIVE,
    }
}

/// One thread's judge of seals, and what it has learnt of events.
pub struct Sealing {
    seals: Vec<Seal>,
    judge: Judge,
    /// By stimulus: its kind.
    kinds: FlatMap,
    /// By node and stimulus: it has happened.
    happened: FlatMap,
    /// The canonical bytes of messages (true) and stimuli.
    forms: FxHashMap<(bool, u32), Arc<[u8]>>,
}

/// A state to be listed: its words, its fingerprint, its number in the batch.
type Listed<'s> = (&'s [u32], u64, u32);

impl Sealing {
    /// None where the system has no seals.
    pub fn of(shared: &Arc<Shared>) -> Option<Box<Self>> {
        let sealing = || Sealing {
            seals: shared.seals.clone(),
            judge: Judge::new(shared.clone()),
            kinds: FlatMap::default(),
            happened: FlatMap::default(),
            forms: FxHashMap::default(),
        };
        (!shared.seals.is_empty()).then(|| Box::new(sealing()))
    }

    /// The number of the seal in force.
    fn over(&mut self, state: &[u32], mirror: &Mirror) -> PyResult<Option<usize>> {
        for at in 0..self.seals.len() {
            let condition = self.seals[at].property;
            if self.judge.holds(condition, state, mirror)? == Some(true) {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// List what may happen; true if nothing but a fault leads on.
    fn list(&mut self, expander: &mut Expander, state: Listed<'_>) -> PyResult<bool> {
        let start = expander.candidates.len();
        let at_rest = match self.over(state.0, &expander.mirror)? {
            None => expander.list_all(state.0, state.1, state.2)?,
            Some(at) => {
                self.list_named(at, expander, state)?;
                if self.seals[at].first {
                    self.keep_first(expander, start, state.1);
                }
                let mut listed = expander.candidates[start..].iter();
                listed.all(|candidate| candidate.fingerprint == state.1)
            }
        };
        self.note(expander, start);
        Ok(at_rest)
    }

    /// List all that a seal names.
    fn list_named(
        &mut self,
        at: usize,
        expander: &mut Expander,
        (state, sum, from): Listed<'_>,
    ) -> PyResult<()> {
        let (nodes, fixed) = (expander.shared.layout.nodes, expander.shared.layout.fixed);
        for &local in &state[..nodes] {
            for effect in expander.internal(LocalId::of(local))?.iter() {
                let known = expander.effects[effect];
                if known.fault == NOT_A_FAULT {
                    let kind = self.kind(expander, known.origin);
                    if self.seals[at].lets(kind, known.node) && expander.is_due(state, effect)? {
                        let own = (from, effect, NOWHERE, EventKind::Internal);
                        expander.push_candidate(state, sum, own)?;
                    }
                }
            }
        }
        let seal = &self.seals[at];
        for position in fixed..state.len() {
            if position > fixed && state[position] == state[position - 1] {
                continue; // equal copies: delivering either gives the same state
            }
            let envelope = expander.envelope_at(state, position as u32);
            let to = expander.mirror.envelopes[envelope.index()].to;
            if seal.lets_mail(&expander.mirror, EventKind::Deliver, to, envelope) {
                expander.list_arrival(state, sum, (from, position as u32))?;
            }
        }
        for position in expander.shared.layout.streams.unwrap_or(fixed)..fixed {
            if state[position] == 0 {
                continue;
            }
            let link = expander.mirror.links[state[position] as usize].link;
            for end in 0..if link.is_loop() { 1 } else { 2 } {
                let offered = expander.offered(state, &link, end);
                let lets =
                    |(node, envelope, what)| seal.lets_mail(&expander.mirror, what, node, envelope);
                if offered.is_some_and(lets) {
                    expander.list_end(state, sum, (from, position as u32), (&link, end))?;
                }
            }
        }
        Ok(())
    }

    /// Of what is listed from `start` on, keep the first event that leads to another state.
    fn keep_first(&mut self, expander: &mut Expander, start: usize, sum: u64) {
        let mut first: Option<Candidate> = None;
        for at in start..expander.candidates.len() {
            let candidate = expander.candidates[at];
            if candidate.fingerprint != sum
                && first.is_none_or(|first| self.is_before(expander, &candidate, &first))
            {
                first = Some(candidate);
            }
        }
        let Some(first) = first else { return };
        let mut kept = start;
        for at in start..expander.candidates.len() {
            let candidate = expander.candidates[at];
            if self.event(expander, &candidate) == self.event(expander, &first) {
                expander.candidates[kept] = candidate;
                kept += 1;
            }
        }
        expander.candidates.truncate(kept);
    }

    /// What tells events apart: kind, node, and the stimulus or envelope.
    fn event(&mut self, expander: &Expander, candidate: &Candidate) -> (usize, u32, u32) {
        let effect = expander.effects[candidate.effect];
        let kind = match candidate.what {
            EventKind::Internal => self.kind(expander, effect.origin),
            what => mail_kind(what),
        };
        (kind, effect.node, effect.origin)
    }

    fn is_before(&mut self, expander: &Expander, one: &Candidate, other: &Candidate) -> bool {
        let (kind, node, origin) = self.event(expander, one);
        let (other_kind, other_node, other_origin) = self.event(expander, other);
        if (kind, node) != (other_kind, other_node) {
            return (kind, node) < (other_kind, other_node);
        }
        let is_mail = kind < TIMER;
        self.form(expander, is_mail, origin) < self.form(expander, is_mail, other_origin)
    }

    fn form(&mut self, expander: &Expander, is_mail: bool, origin: u32) -> Arc<[u8]> {
        let known = self.forms.entry((is_mail, origin));
        let known = known.or_insert_with(|| {
            let tables = expander.shared.tables.lock();
            let interner = if is_mail {
                &tables.messages
            } else {
                &tables.stimuli
            };
            interner.get(origin).bytes.clone()
        });
        known.clone()
    }

    /// The kind of what a node starts by itself; one past all kinds for a fault.
    fn kind(&mut self, expander: &Expander, stimulus: u32) -> usize {
        if let Some(known) = self.kinds.get(u64::from(stimulus)) {
            return known as usize;
        }
        let bytes = self.form(expander, false, stimulus);
        let name = texts(&bytes, 1);
        let own = TIMER..=WAKE;
        let mut own = own.filter(|&kind| name.first().is_some_and(|name| name == ORDINARY[kind].1));
        let kind = own.next().unwrap_or(ORDINARY.len());
        self.kinds.insert(u64::from(stimulus), kind as u64);
        kind
    }

    /// Remember for the report which events of nodes have ever been possible.
    fn note(&mut self, expander: &Expander, start: usize) {
        for candidate in &expander.candidates[start..] {
            if candidate.what == EventKind::Internal {
                let effect = expander.effects[candidate.effect];
                let event = pair(effect.node, effect.origin);
                if self.happened.get(event).is_none() {
                    self.happened.insert(event, 1);
                    expander.shared.tables.lock().happened.insert(event);
                }
            }
        }
    }
}

impl Expander {
    /// The seal in force in `state`, by the property that is its condition.
    pub fn seal(&mut self, state: &[u32]) -> PyResult<Option<usize>> {
        let Some(sealing) = &mut self.sealing else {
            return Ok(None);
        };
        let at = sealing.over(state, &self.mirror)?;
        Ok(at.map(|at| sealing.seals[at].property))
    }

    /// List a state, alone; true if it is sealed for ever.
    pub fn list_or_stuck(&mut self, state: &[u32], sum: u64) -> PyResult<bool> {
        Ok(self.list(state, sum, 0)? && self.seal(state)?.is_some())
    }

    /// Keep of `steps` those whose effects are let happen in a state.
    pub fn retain_possible<T>(
        &mut self,
        (state, sum): (&[u32], u64),
        steps: &mut Vec<T>,
        effect: impl Fn(&T) -> EffectId,
    ) -> PyResult<()> {
        if self.seal(state)?.is_some() {
            self.candidates.clear();
            self.list(state, sum, 0)?;
            let listed = |step: &T| self.candidates.iter().any(|one| one.effect == effect(step));
            steps.retain(listed);
        }
        Ok(())
    }

    /// List a state of a system that has seals.
    pub fn list_sealed(&mut self, state: Listed<'_>) -> PyResult<bool> {
        let mut sealing = self.sealing.take().expect("there are seals");
        let at_rest = sealing.list(self, state);
        self.sealing = Some(sealing);
        at_rest
    }
}
