//! Which two events of a state may swap places: derived from the steps themselves, never declared.
//!
//! Two events are independent in a state if each is possible after the other and both orders end in
//! the same state. Events at different nodes touch different local states, so only what they share
//! can tell their orders apart: a message, a limited budget, an observer. For two events at one
//! node the four steps are looked up and compared, once per pair of effects. Where there are
//! clocks, whatever they are told may let a timer of any node fire or wait: it depends on all.
//!
//! Invariant: an answer of `true` is a fact about this very state; every kind of event that is not
//! known here is dependent on everything.

use pyo3::prelude::*;

use crate::services::effects::EffectId;
use crate::services::expand::{Candidate, EventKind, Expander, NOWHERE};
use crate::services::ids::EnvelopeId;
use crate::services::layout::{Budget, Network};
use crate::services::tables::NOT_A_FAULT;
use crate::table::flat::{FlatMap, pair};

const DEPENDENT: u64 = 0;
const INDEPENDENT: u64 = 1;
/// What a memo holds beyond this are the records of the two second steps.
const RECORDS: u64 = 2;

/// What one thread has worked out about pairs of effects at one node.
#[derive(Default)]
pub struct Commuting {
    pairs: FlatMap,
    /// The records of the second steps: (of the later effect, of the earlier one).
    records: Vec<(u32, u32)>,
}

fn known(what: EventKind) -> bool {
    matches!(
        what,
        EventKind::Internal | EventKind::Deliver | EventKind::Drop | EventKind::Duplicate
    )
}

impl Expander {
    /// Whether `a` and `b`, both enabled in `state`, may swap places there.
    pub fn independent(
        &mut self,
        commuting: &mut Commuting,
        state: &[u32],
        a: &Candidate,
        b: &Candidate,
    ) -> PyResult<bool> {
        if !known(a.what) || !known(b.what) || (a.word == b.word && a.word != NOWHERE) {
            return Ok(false); // one message: either event takes it from the other
        }
        if let (Some(fault), Some(other)) = (self.fault_of(a), self.fault_of(b))
            && fault == other
            && matches!(self.shared.layout.budgets[fault], Budget::Word(_))
        {
            return Ok(false);
        }
        match (a.effect, b.effect) {
            (EffectId::NONE, EffectId::NONE) => Ok(true),
            (EffectId::NONE, effect) => {
                Ok(!self.restores(state, a, effect) && !self.may_flow(effect))
            }
            (effect, EffectId::NONE) => {
                Ok(!self.restores(state, b, effect) && !self.may_flow(effect))
            }
            (one, other) if self.may_flow(one) || self.may_flow(other) => Ok(false),
            (one, other) if self.may_tick(one) || self.may_tick(other) => Ok(false),
            _ => self.steps_commute(commuting, state, a, b),
        }
    }

    /// Whether an effect uses streams, or as a fault of a node may break some.
    fn may_flow(&self, effect: EffectId) -> bool {
        let effect = &self.effects[effect];
        let streams = self.shared.layout.streams.is_some();
        effect.flowing != NOWHERE || (streams && effect.fault != NOT_A_FAULT)
    }

    /// Whether the clocks of a timed system hear of an effect. Firing always tells them.
    fn may_tick(&self, effect: EffectId) -> bool {
        self.shared.layout.clocks.is_some() && self.effects[effect].records != 0
    }

    /// Whether `effect` sends the very message that `lost` takes out of a set of messages.
    fn restores(&self, state: &[u32], lost: &Candidate, effect: EffectId) -> bool {
        self.shared.layout.network == Network::Duplicating
            && lost.what == EventKind::Drop
            && self
                .sends_of(effect)
                .contains(&EnvelopeId::of(state[lost.word as usize]))
    }

    fn steps_commute(
        &mut self,
        commuting: &mut Commuting,
        state: &[u32],
        a: &Candidate,
        b: &Candidate,
    ) -> PyResult<bool> {
        let (first, second) = match a.effect <= b.effect {
            true => (a, b),
            false => (b, a),
        };
        let (one, two) = (self.effects[first.effect], self.effects[second.effect]);
        let (one_later, two_later) = if one.node != two.node {
            (one.records, two.records)
        } else {
            let key = pair(first.effect.number(), second.effect.number());
            let memo = match commuting.pairs.get(key) {
                Some(known) => known,
                None => {
                    let found = self.compare_orders(commuting, first, second)?;
                    commuting.pairs.insert(key, found);
                    found
                }
            };
            match memo {
                DEPENDENT => return Ok(false),
                INDEPENDENT => return Ok(true),
                index => commuting.records[(index - RECORDS) as usize],
            }
        };
        let orders = [(one.records, two_later), (two.records, one_later)];
        self.observers_agree(state, orders)
    }

    /// Whether every observer ends alike when it is fed either pair of records.
    fn observers_agree(&mut self, state: &[u32], orders: [(u32, u32); 2]) -> PyResult<bool> {
        let layout = &self.shared.layout;
        let (nodes, observers) = (layout.nodes, layout.observers);
        let quiet = |(early, late): (u32, u32)| early == 0 || late == 0;
        if orders[0].0 == orders[1].1 && orders[0].1 == orders[1].0 && quiet(orders[0]) {
            return Ok(true); // at most one of the two says anything, and the same in both orders
        }
        for slot in 0..observers {
            let mut ends = [state[nodes + slot]; 2];
            for (end, (early, late)) in ends.iter_mut().zip(orders) {
                for records in [early, late] {
                    if records != 0 {
                        *end = self.after_records(slot, *end, records)?;
                    }
                }
            }
            if ends[0] != ends[1] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Look up both orders of two events at one node.
    fn compare_orders(
        &mut self,
        commuting: &mut Commuting,
        first: &Candidate,
        second: &Candidate,
    ) -> PyResult<u64> {
        let Some(second_later) = self.later(first.effect, second)? else {
            return Ok(DEPENDENT);
        };
        let Some(first_later) = self.later(second.effect, first)? else {
            return Ok(DEPENDENT);
        };
        if self.may_flow(first_later) || self.may_flow(second_later) {
            return Ok(DEPENDENT);
        }
        let local = |effect: EffectId| self.effects[effect].local;
        let one = self.sent_by(first.effect, second_later);
        let other = self.sent_by(second.effect, first_later);
        if local(second_later) != local(first_later) || one != other {
            return Ok(DEPENDENT);
        }
        let records = |effect: EffectId| self.effects[effect].records;
        let later = (records(first_later), records(second_later));
        if [
            records(first.effect),
            records(second.effect),
            later.0,
            later.1,
        ] == [0; 4]
        {
            return Ok(INDEPENDENT);
        }
        commuting.records.push(later);
        Ok(RECORDS + commuting.records.len() as u64 - 1)
    }

    /// The effect of `event` once `earlier` has happened at its node; none if it is not possible.
    fn later(&mut self, earlier: EffectId, event: &Candidate) -> PyResult<Option<EffectId>> {
        let local = self.effects[earlier].local;
        let wanted = self.effects[event.effect];
        let range = match event.what {
            EventKind::Deliver => self.delivery(local, EnvelopeId::of(wanted.origin))?,
            _ => self.internal(local)?,
        };
        Ok(range.iter().find(|&effect| {
            let effect = &self.effects[effect];
            (effect.origin, effect.branch, effect.fault)
                == (wanted.origin, wanted.branch, wanted.fault)
        }))
    }

    /// What two effects in a row put into flight, in a form that is equal if the network is.
    fn sent_by(&self, early: EffectId, late: EffectId) -> Vec<EnvelopeId> {
        let mut sent = [self.sends_of(early), self.sends_of(late)].concat();
        let network = self.shared.layout.network;
        self.mirror.flight().sort_sends(network, &mut sent);
        if network == Network::Duplicating {
            sent.dedup();
        }
        sent
    }
}
