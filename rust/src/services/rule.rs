//! What a prediction leaves out of the events of a state, and what it puts in their place.
//!
//! Two rules, both given for one search. A filter refuses an event: a message is lost instead of
//! being delivered, the connection of a stream is reset, a timer or an action does not happen. On a
//! connection that is not open at both ends a reset would lose nothing: there the message waits.
//! The other is that of consequence prediction (CrystalBall), made adjustable: each event that a
//! node or the network starts by itself, that is each effect of it, is listed at most so many
//! times. So much for an effect, not for a local state: a fault whose budget was spent where the
//! local state was first met is still listed where it is not.
//!
//! Both work on what the hot loop has listed, which pays nothing for them.
//!
//! Invariant: whether a state is at rest is decided before anything is left out for its number.

use std::sync::Arc;

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use crate::services::context::Shared;
use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, Effect, EventKind, Expander};
use crate::services::ids::EnvelopeId;
use crate::value::texts;

/// What one filter refuses, read off an object of Python: see `presage.limits`.
#[derive(FromPyObject)]
pub struct KernelFilter {
    node: u32,
    /// deliver, receive, timer or action.
    kind: String,
    /// Of the message's class, of the timer or of the action.
    name: String,
    /// Who sent the message; none: anybody.
    source: Option<u32>,
}

#[derive(Default)]
pub struct Filters(Vec<KernelFilter>);

impl Filters {
    /// None where nothing is refused.
    pub fn of(filters: Vec<KernelFilter>) -> Option<Arc<Self>> {
        (!filters.is_empty()).then(|| Arc::new(Filters(filters)))
    }

    /// Whether a message is refused. A node's messages to itself never are.
    #[cold]
    fn refuse_message(&self, shared: &Shared, envelope: EnvelopeId, kind: &str) -> PyResult<bool> {
        Python::attach(|py| {
            let (info, class) = {
                let tables = shared.tables.lock();
                let info = tables.envelopes[envelope.index()];
                (info, tables.classes[info.class as usize].of(py))
            };
            let name: String = class.bind(py).getattr("__name__")?.extract()?;
            Ok(info.source != info.to
                && self.0.iter().any(|filter| {
                    filter.node == info.to
                        && filter.kind == kind
                        && filter.name == name
                        && filter.source.is_none_or(|source| source == info.source)
                }))
        })
    }

    /// Whether what a node does by itself is refused.
    #[cold]
    fn refuse_own(&self, shared: &Shared, effect: &Effect) -> bool {
        let bytes = shared
            .tables
            .lock()
            .stimuli
            .get(effect.origin)
            .bytes
            .clone();
        let kind_and_name = texts(&bytes, 2);
        let named = |filter: &&KernelFilter| {
            filter.node == effect.node && kind_and_name == [&filter.kind[..], &filter.name[..]]
        };
        self.0.iter().find(named).is_some()
    }
}

/// The rules of one thread, and what it remembers for them.
#[derive(Default)]
pub struct Rule {
    filters: Option<Arc<Filters>>,
    /// By the event and the effect: is it refused?
    refused: FxHashMap<(EventKind, EffectId), bool>,
    own: Option<OwnEvents>,
    /// What was listed, while it is gone through.
    listed: Vec<Candidate>,
}

/// How often each event that nobody caused was listed.
struct OwnEvents {
    most: u32,
    effects: Vec<u32>,
    /// Of what has no effect: by the word of the message or connection, or the partition.
    words: FxHashMap<(EventKind, u32), u32>,
    left_out: bool,
}

impl Rule {
    pub fn filtering(filters: Option<&Arc<Filters>>) -> Option<Box<Self>> {
        filters.map(|filters| {
            Box::new(Rule {
                filters: Some(filters.clone()),
                ..Rule::default()
            })
        })
    }

    /// Whether the event of `candidate` is refused.
    fn refuses(&mut self, expander: &Expander, candidate: &Candidate) -> PyResult<bool> {
        let Some(filters) = &self.filters else {
            return Ok(false);
        };
        let kind = match candidate.what {
            EventKind::Deliver => "deliver",
            EventKind::Receive => "receive",
            EventKind::Internal => "",
            _ => return Ok(false),
        };
        let key = (candidate.what, candidate.effect);
        if let Some(&known) = self.refused.get(&key) {
            return Ok(known);
        }
        let effect = &expander.effects[candidate.effect];
        let refused = match candidate.what {
            EventKind::Internal => filters.refuse_own(&expander.shared, effect),
            _ => {
                let envelope = EnvelopeId::of(effect.origin);
                filters.refuse_message(&expander.shared, envelope, kind)?
            }
        };
        self.refused.insert(key, refused);
        Ok(refused)
    }
}

impl OwnEvents {
    /// Whether `candidate`, of a state with these words, is not listed too often. Counts it.
    fn admits(&mut self, candidate: &Candidate, state: &[u32]) -> bool {
        let count = match candidate.what {
            EventKind::Internal => {
                let at = candidate.effect.index();
                if at >= self.effects.len() {
                    self.effects.resize(at + 1, 0);
                }
                &mut self.effects[at]
            }
            EventKind::Drop | EventKind::Duplicate | EventKind::Cut | EventKind::Idle => {
                let key = (candidate.what, state[candidate.word as usize]);
                self.words.entry(key).or_default()
            }
            EventKind::Split | EventKind::Heal => {
                let key = (candidate.what, candidate.word);
                self.words.entry(key).or_default()
            }
            EventKind::Deliver | EventKind::Shed => return true,
            EventKind::Receive | EventKind::Sever => return true,
            EventKind::Broken | EventKind::Refused | EventKind::KeepAlive => return true,
        };
        *count = count.saturating_add(1);
        let admitted = *count <= self.most;
        self.left_out |= !admitted;
        admitted
    }
}

impl Expander {
    /// List no event that nobody caused more than `most` times from now on; none: no limit.
    pub fn bound_own_events(&mut self, most: Option<u32>) {
        let Some(most) = most else { return };
        self.rule.get_or_insert_default().own = Some(OwnEvents {
            most,
            effects: Vec::new(),
            words: FxHashMap::default(),
            left_out: false,
        });
    }

    /// Whether an event was left out because it was listed often enough.
    pub fn has_left_out(&self) -> bool {
        let own = self.rule.as_ref().and_then(|rule| rule.own.as_ref());
        own.is_some_and(|own| own.left_out)
    }

    /// List the events of `state` that the rules admit; true if it is at rest without them.
    #[cold]
    #[inline(never)]
    pub fn list_by_rule(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<bool> {
        let first = self.candidates.len();
        let mut at_rest = match self.sealing.is_some() {
            true => self.list_sealed((state, fingerprint, from))?,
            false => self.list_all(state, fingerprint, from)?,
        };
        let mut rule = self.rule.take().expect("there is one");
        let mut outcome = Ok(());
        if rule.filters.is_some() {
            outcome = self.replace_refused(&mut rule, (state, fingerprint, from), first);
            at_rest = self.is_at_rest(fingerprint, first);
        }
        if let Some(own) = &mut rule.own {
            let mut kept = first;
            for at in first..self.candidates.len() {
                let candidate = self.candidates[at];
                if candidate.fingerprint == fingerprint || own.admits(&candidate, state) {
                    self.candidates[kept] = candidate;
                    kept += 1;
                }
            }
            self.candidates.truncate(kept);
        }
        self.rule = Some(rule);
        outcome.map(|()| at_rest)
    }

    /// Whether the connection at `word` is open at both ends: a reset loses what is under way.
    fn is_whole(&self, state: &[u32], word: u32) -> bool {
        let link = &self.mirror.links[state[word as usize] as usize].link;
        link.open == [true; 2]
    }

    /// Put what filters do in the place of the events that they refuse, from `first` on.
    fn replace_refused(
        &mut self,
        rule: &mut Rule,
        (state, fingerprint, from): (&[u32], u64, u32),
        first: usize,
    ) -> PyResult<()> {
        let mut listed = std::mem::take(&mut rule.listed);
        listed.clear();
        listed.extend(self.candidates.drain(first..));
        let mut replaced: Vec<u32> = Vec::new(); // words of messages and connections
        for candidate in &listed {
            if !rule.refuses(self, candidate)? {
                self.candidates.push(*candidate);
                continue;
            }
            let what = match candidate.what {
                EventKind::Deliver => EventKind::Shed,
                EventKind::Receive if self.is_whole(state, candidate.word) => EventKind::Sever,
                _ => continue,
            };
            if !replaced.contains(&candidate.word) {
                replaced.push(candidate.word);
                let event = (from, EffectId::NONE, candidate.word, what);
                self.push_candidate(state, fingerprint, event)?;
            }
        }
        // A loss or a cut at the same place is what the filter does anyway.
        let at_once = |candidate: &Candidate| {
            let lost = matches!(candidate.what, EventKind::Drop | EventKind::Cut);
            lost && replaced.contains(&candidate.word)
        };
        let mut kept = first;
        for at in first..self.candidates.len() {
            let candidate = self.candidates[at];
            if !at_once(&candidate) {
                self.candidates[kept] = candidate;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
        rule.listed = listed;
        Ok(())
    }
}
