//! Which unit of fairness an event belongs to. Python says it in words, once per event.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::space::{CALL, FAULT};
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander};
use crate::services::ids::{EnvelopeId, StimulusId};

const UNASKED: u32 = FAULT - 1;

/// Where what a handler is given comes from. All ways to hear that a stream is gone are one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Node,
    Network,
    Stream,
}

/// The numbers of units by what Python calls them, the same for every thread.
pub type UnitNames = Arc<Mutex<FxHashMap<String, u32>>>;

#[derive(Default)]
pub struct Units {
    names: UnitNames,
    /// By (what kind of event, node, envelope or stimulus).
    known: FxHashMap<(Source, u32, u32), u32>,
    /// By index of the effect, as one expander counts them.
    effects: Vec<u32>,
}

impl Units {
    /// The units of one thread among several.
    pub fn sharing(names: UnitNames) -> Self {
        Units {
            names,
            ..Units::default()
        }
    }

    pub fn len(&self) -> usize {
        self.names.lock().len()
    }

    /// The unit of `candidate`, as `expander` listed it. One expander per `Units`.
    #[inline(always)]
    pub fn of(&mut self, expander: &Expander, candidate: &Candidate) -> PyResult<u32> {
        if candidate.effect == EffectId::NONE {
            return Ok(FAULT);
        }
        match self.effects.get(candidate.effect.index()) {
            Some(&unit) if unit != UNASKED => Ok(unit),
            _ => self.learn(expander, candidate),
        }
    }

    #[cold]
    fn learn(&mut self, expander: &Expander, candidate: &Candidate) -> PyResult<u32> {
        let unit = self.ask(expander, candidate)?;
        self.effects.resize(expander.effects.len(), UNASKED);
        self.effects[candidate.effect.index()] = unit;
        Ok(unit)
    }

    fn ask(&mut self, expander: &Expander, candidate: &Candidate) -> PyResult<u32> {
        if expander.is_fault(candidate) {
            return Ok(FAULT);
        }
        let effect = &expander.effects[candidate.effect];
        let source = match candidate.what {
            EventKind::Deliver => Source::Network,
            EventKind::Receive | EventKind::Broken | EventKind::Refused | EventKind::KeepAlive => {
                Source::Stream
            }
            _ => Source::Node,
        };
        let key = (source, effect.node, effect.origin);
        if let Some(&unit) = self.known.get(&key) {
            return Ok(unit);
        }
        let shared = &expander.shared;
        let name: Option<String> = Python::attach(|py| {
            let kind = match source {
                Source::Node => None,
                Source::Network => Some("deliver"),
                Source::Stream => Some("receive"),
            };
            let stimulus = if let Some(kind) = kind {
                let whole = shared.message(py, EnvelopeId::of(effect.origin))?;
                let told = (kind, whole.get_item(0)?, whole.get_item(2)?);
                told.into_pyobject(py)?.into_any()
            } else {
                shared.stimulus(py, StimulusId::of(effect.origin))?
            };
            let bridge = shared.bridge.bind(py);
            bridge
                .call_method1("unit", (effect.node, stimulus))?
                .extract()
        })?;
        let mut names = self.names.lock();
        let count = names.len() as u32;
        let unit = name.map_or(CALL, |name| *names.entry(name).or_insert(count));
        drop(names);
        self.known.insert(key, unit);
        Ok(unit)
    }

    /// Forget what belongs to one expander, to go on with another.
    pub fn change_expander(&mut self) {
        self.effects.clear();
    }
}
