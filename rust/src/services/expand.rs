//! All that can happen next in a state: the hot loop.
//!
//! `Expander` belongs to one thread. For a state it lists every enabled event with the fingerprint
//! it leads to, without building the successor; only a successor that turns out to be new is
//! written out. Handlers never run here: a step is a look-up, and a miss goes to `Shared`.
//!
//! Invariant: after the first visit of a (local state, event) pair nothing here allocates or locks.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::python::tables::{CUT, DROP, DUPLICATE, HEAL, IDLE, PARTITION};
use crate::services::arrivals::Arrivals;
use crate::services::context::Shared;
use crate::services::effects::{EffectId, Effects};
use crate::services::ids::{EnvelopeId, LocalId, QueueId, StimulusId};
use crate::services::layout::{Budget, Network};
use crate::services::lines::Changes;
use crate::services::mirror::Mirror;
use crate::services::plain::Staged;
use crate::services::rows::Rows;
use crate::services::rule::Rule;
use crate::services::seals::Sealing;
use crate::services::streams::connection::Link;
use crate::services::streams::links::Flowing;
use crate::services::tables::{NOT_A_FAULT, Odds, Tables};
use crate::table::fingerprint::{BUDGET, mix};
use crate::table::flat::{FlatMap, pair};
use crate::table::lately::Lately;
use crate::table::rolling::Rolling;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// A timer, action, call, write or wake of one node, or a fault of its own.
    Internal,
    Deliver,
    Drop,
    Duplicate,
    /// A message of a stream is delivered.
    Receive,
    /// A node hears that a connection broke, was refused, or is only half open.
    Broken,
    Refused,
    KeepAlive,
    /// A connection breaks, or is closed because it is idle.
    Cut,
    Idle,
    /// The network falls apart, or is whole again.
    Split,
    Heal,
    /// In place of a delivery that a filter refuses: the message is lost, the connection reset.
    Shed,
    Sever,
}

impl EventKind {
    /// Whether it concerns a message outside streams.
    #[inline(always)]
    pub fn is_mail(self) -> bool {
        matches!(
            self,
            EventKind::Deliver | EventKind::Drop | EventKind::Duplicate | EventKind::Shed
        )
    }
}

pub const NOWHERE: u32 = u32::MAX;

/// One enabled event of a state and where it leads.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub fingerprint: u64,
    /// Which state of the batch it starts from.
    pub from: u32,
    pub effect: EffectId,
    /// Position of the word it concerns, a message or a connection; for `Split` the number of the
    /// partition; `NOWHERE` for internal events.
    pub word: u32,
    pub what: EventKind,
}

/// An outcome made ready for use: ids resolved, fingerprint differences summed.
#[derive(Clone, Copy)]
pub struct Effect {
    pub node: u32,
    pub local: LocalId,
    /// What the new local state (and, on an unordered net, the sends) add to the fingerprint.
    pub delta: u64,
    pub sends: (u32, u32),
    pub records: u32,
    pub fault: u8,
    /// Some message is sent more than once.
    pub repeats: bool,
    pub broken: u64,
    /// Stimulus or envelope it answers, and which of its branches it is.
    pub origin: u32,
    pub branch: u32,
    /// Index into `Expander::flowing`; `NOWHERE` where no stream is used.
    pub flowing: u32,
}

pub struct Expander {
    pub shared: Arc<Shared>,
    pub mirror: Mirror,
    pub effects: Effects,
    pub sends: Vec<EnvelopeId>,
    /// Per effect. Apart, because only walks look at it.
    pub odds: Vec<Odds>,
    /// Per local state: its range of internal effects, start and length packed; MAX if not known.
    pub internals: Vec<u64>,
    pub deliveries: Rows,
    /// As `deliveries`, for messages of streams: those are transitions whatever they do.
    pub received: FlatMap,
    pub observed: Vec<FlatMap>,
    pub observed_mix: FlatMap,
    dues: FlatMap,
    /// (queue, message or what else happens to it) to queue.
    pub changes: Lately<u64, QueueId>,
    /// Room for what an event changes: as digests, and interned.
    pub rolled: Changes<Rolling>,
    pub built: Changes<QueueId>,
    pub candidates: Vec<Candidate>,
    /// Room for candidates of one state, in the plain loop.
    pub staged: Vec<Staged>,
    /// Faults that are not to be listed, as bits.
    pub muted: u32,
    pub flowing: Vec<Flowing>,
    /// Where the system has seals: which states are sealed, and what may happen there.
    pub sealing: Option<Box<Sealing>>,
    /// Where the system has rules: what of the messages that can arrive was shown to them.
    pub arrivals: Option<Box<Arrivals>>,
    /// In a prediction: what is left out of what is listed, or put in its place.
    pub rule: Option<Box<Rule>>,
    /// The words of connections.
    pub linked: Lately<Link, u32>,
}

impl Expander {
    pub fn new(shared: Arc<Shared>) -> Self {
        let observers = shared.layout.observers;
        let sealing = Sealing::of(&shared);
        let arrivals = shared.ruled.then(Box::default);
        let mut expander = Expander {
            shared,
            mirror: Mirror::default(),
            effects: Effects::default(),
            sends: Vec::new(),
            odds: Vec::new(),
            internals: Vec::new(),
            deliveries: Rows::default(),
            received: FlatMap::default(),
            observed: (0..observers).map(|_| FlatMap::default()).collect(),
            observed_mix: FlatMap::default(),
            dues: FlatMap::default(),
            changes: Lately::default(),
            rolled: Changes::default(),
            built: Changes::default(),
            candidates: Vec::new(),
            staged: Vec::new(),
            muted: 0,
            flowing: Vec::new(),
            sealing,
            arrivals,
            rule: None,
            linked: Lately::default(),
        };
        expander.sync();
        expander
    }

    /// Learn the ids that other threads have handed out. Cheap when there are none.
    pub fn sync(&mut self) {
        self.learn(|_| ());
    }

    /// Ask the tables, and learn the ids that there are then.
    pub fn learn<T>(&mut self, ask: impl FnOnce(&mut Tables) -> T) -> T {
        let mut tables = self.shared.tables.lock();
        let answer = ask(&mut tables);
        self.mirror.sync(&tables);
        self.internals.resize(self.mirror.locals.len(), u64::MAX);
        answer
    }

    /// List the enabled events of `state`; true if the system is at rest there, or sealed for ever.
    pub fn list(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<bool> {
        if self.arrivals.is_some() {
            self.show_arrivals(state)?;
        }
        if self.rule.is_some() {
            return self.list_by_rule(state, fingerprint, from);
        }
        if self.sealing.is_some() {
            return self.list_sealed((state, fingerprint, from));
        }
        self.list_all(state, fingerprint, from)
    }

    /// List what could happen if nothing were sealed.
    #[inline(always)] // two callers, one of them the hot loop
    pub fn list_all(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<bool> {
        let first = self.candidates.len();
        for &local in &state[..self.shared.layout.nodes] {
            for effect in self.internal(LocalId::of(local))?.iter() {
                let fault = self.effects[effect].fault;
                let allowed = fault == NOT_A_FAULT || self.allows(state, fault as usize);
                if allowed && self.is_due(state, effect)? {
                    self.push_candidate(
                        state,
                        fingerprint,
                        (from, effect, NOWHERE, EventKind::Internal),
                    )?;
                }
            }
        }
        self.list_network(state, fingerprint, from)?;
        if self.shared.layout.streams.is_some() {
            self.list_streams(state, fingerprint, from)?;
        }
        if self.shared.layout.partition.is_some() {
            self.list_partitions(state, fingerprint, from)?;
        }
        Ok(self.is_at_rest(fingerprint, first))
    }

    /// Whether nothing but a fault, of what is listed from `first` on, leads elsewhere.
    #[inline(always)]
    pub fn is_at_rest(&self, fingerprint: u64, first: usize) -> bool {
        let mut listed = self.candidates[first..].iter();
        !listed.any(|candidate| candidate.fingerprint != fingerprint && !self.is_fault(candidate))
    }

    fn list_network(&mut self, state: &[u32], fingerprint: u64, from: u32) -> PyResult<()> {
        let fixed = self.shared.layout.fixed;
        let drops = self.allows(state, DROP);
        let duplicates = self.allows(state, DUPLICATE);
        let mut previous = NOWHERE;
        for (position, &word) in state.iter().enumerate().skip(fixed) {
            if word == previous {
                continue; // equal copies: delivering either gives the same state
            }
            previous = word;
            let position = position as u32;
            self.list_arrival(state, fingerprint, (from, position))?;
            let next = || self.envelope_at(state, position).index();
            if !(drops || duplicates) || self.mirror.envelopes[next()].reliable {
                continue;
            }
            if drops {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, position, EventKind::Drop),
                )?;
            }
            if duplicates {
                self.push_candidate(
                    state,
                    fingerprint,
                    (from, EffectId::NONE, position, EventKind::Duplicate),
                )?;
            }
        }
        Ok(())
    }

    /// List what the message at `position`, or the head of the channel there, does on arrival.
    #[inline(always)]
    pub fn list_arrival(
        &mut self,
        state: &[u32],
        fingerprint: u64,
        (from, position): (u32, u32),
    ) -> PyResult<()> {
        let envelope = self.envelope_at(state, position);
        let info = self.mirror.envelopes[envelope.index()];
        if self.shared.layout.joined(state, info.source, info.to) {
            for effect in self
                .delivery(LocalId::of(state[info.to as usize]), envelope)?
                .iter()
            {
                let arrival = (from, effect, position, EventKind::Deliver);
                self.push_candidate(state, fingerprint, arrival)?;
            }
        }
        Ok(())
    }

    /// The message at `position`, or the head of the channel there.
    #[inline(always)]
    pub fn envelope_at(&self, state: &[u32], position: u32) -> EnvelopeId {
        let word = state[position as usize];
        match self.shared.layout.network {
            Network::Ordered | Network::Lanes => self.mirror.queues[word as usize].head,
            Network::Unordered | Network::Duplicating => EnvelopeId::of(word),
        }
    }

    /// Whether this fault may happen in `state`.
    #[inline(always)]
    pub fn allows(&self, state: &[u32], fault: usize) -> bool {
        self.muted >> fault & 1 == 0 && self.shared.layout.allows(state, fault)
    }

    pub fn is_fault(&self, candidate: &Candidate) -> bool {
        self.fault_of(candidate).is_some()
    }

    pub fn fault_of(&self, candidate: &Candidate) -> Option<usize> {
        match candidate.what {
            EventKind::Drop => Some(DROP),
            EventKind::Duplicate => Some(DUPLICATE),
            EventKind::Cut => Some(CUT),
            EventKind::Idle => Some(IDLE),
            EventKind::Split => Some(PARTITION),
            EventKind::Heal => Some(HEAL),
            EventKind::Deliver | EventKind::Receive | EventKind::Shed | EventKind::Sever => None,
            EventKind::Broken | EventKind::Refused | EventKind::KeepAlive => None,
            EventKind::Internal => match self.effects[candidate.effect].fault {
                NOT_A_FAULT => None,
                fault => Some(fault as usize),
            },
        }
    }

    /// Bits of the properties that this very step breaks.
    #[inline(always)]
    pub fn broken_by(&self, candidate: &Candidate) -> u64 {
        let effect = self.effects.get(candidate.effect);
        effect.map_or(0, |effect| effect.broken)
    }

    /// Add the candidate, working out the fingerprint it leads to.
    #[inline(always)]
    pub fn push_candidate(
        &mut self,
        state: &[u32],
        fingerprint: u64,
        (from, effect, word, what): (u32, EffectId, u32, EventKind),
    ) -> PyResult<()> {
        let mut candidate = Candidate {
            fingerprint,
            from,
            effect,
            word,
            what,
        };
        let mut sum = fingerprint;
        if let Some(&effect) = self.effects.get(effect) {
            sum = sum.wrapping_add(effect.delta);
            if effect.records != 0 {
                sum = sum.wrapping_add(self.observers_delta(state, effect.records)?);
            }
        }
        if let Some(fault) = self.fault_of(&candidate) {
            sum = sum.wrapping_add(self.spend_delta(state, fault));
        }
        if self.shared.layout.streams.is_some() {
            let Some(delta) = self.links_delta(state, &candidate) else {
                return Ok(()); // this branch is for other queues than these
            };
            sum = sum.wrapping_add(delta);
        }
        sum = sum.wrapping_add(self.partition_delta(state, &candidate));
        let network = self.network_delta(state, &candidate);
        candidate.fingerprint = sum.wrapping_add(network);
        self.candidates.push(candidate);
        Ok(())
    }

    /// Whether the clocks, if there are any, let an effect happen.
    #[inline(always)]
    pub fn is_due(&mut self, state: &[u32], effect: EffectId) -> PyResult<bool> {
        Ok(self.shared.layout.clocks.is_none() || self.due(state, effect)?)
    }

    #[cold]
    fn due(&mut self, state: &[u32], effect: EffectId) -> PyResult<bool> {
        let clocks = self.shared.layout.clocks.map_or(0, |word| state[word]);
        let key = pair(clocks, effect.number());
        if let Some(known) = self.dues.get(key) {
            return Ok(known == 1);
        }
        let Effect { node, origin, .. } = self.effects[effect];
        let due = self.shared.due(clocks, node, StimulusId::of(origin))?;
        self.dues.insert(key, u64::from(due));
        Ok(due)
    }

    fn spend_delta(&self, state: &[u32], fault: usize) -> u64 {
        let Budget::Word(word) = self.shared.layout.budgets[fault] else {
            return 0;
        };
        let share = |left: u32| mix(BUDGET, fault as u64, u64::from(left));
        share(state[word] - 1).wrapping_sub(share(state[word]))
    }
}
