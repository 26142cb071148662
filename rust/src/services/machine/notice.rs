//! What steps may do whatever their choice, worked out once, and which properties would notice.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::events::{Events, Way};
use super::label::{Cause, Footprint, Label, NOTHING};
use super::losses::most_duplicates;
use super::state::State;
use super::wires::Reach;
use crate::property::trie::Query;
use crate::services::expand::Effect;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::Network;

impl Events<'_> {
    /// Begin again: forget labels that were made when less was known of what properties read, and
    /// properties of which nothing more is to be learnt.
    pub fn forget_labels(&mut self) {
        self.footprints.clear();
        let properties = self.worker.search.shared.properties.iter().enumerate();
        let open = properties.filter(|(at, property)| {
            self.ordered >> at & 1 == 1 && !property.decided.load(Relaxed)
        });
        self.watched = open.map(|(at, _)| at).collect();
        self.known = self.asked();
    }

    /// How much the watched properties have ever looked at.
    fn asked(&self) -> usize {
        let asked = |property: &usize| self.worker.judge.queries(*property).len();
        self.watched.iter().map(asked).sum()
    }

    /// Whether to begin again: order must be kept for one more property, or one for which it is
    /// kept has looked at something new, or is decided.
    pub fn outdated(&self) -> bool {
        let properties = self.worker.search.shared.properties.iter().enumerate();
        let kept = |at: usize| self.ordered >> at & 1 == 1;
        let open = properties.filter(|(at, property)| kept(*at) && !property.decided.load(Relaxed));
        self.asked() != self.known || !open.map(|(at, _)| at).eq(self.watched.iter().copied())
    }

    pub fn label(&mut self, state: &State, process: u32, way: &Way) -> PyResult<Label> {
        if let Some(wire) = self.terrain.wire(process) {
            return self.wire_label(state, wire, way);
        }
        let effect = self.effect(way.effect);
        let local = state.local(effect.node);
        let taken = self.terrain.key(process);
        let fault = self.terrain.stricken(process).is_some();
        let cause = match taken {
            Some(_) => Cause::Message(EnvelopeId::of(effect.origin)),
            None if fault => Cause::Faults(self.left(&state.words)),
            None => Cause::Own,
        };
        // Of messages that stay nothing is ever taken, and each delivery needs the first copy.
        let takes = taken.map_or(NOTHING, |key| (key, state.taken(key) + 1));
        let footprint = self.footprint(local, cause)?;
        Ok(self.label_of(state, (effect.node, fault), takes, footprint))
    }

    pub fn label_of(
        &self,
        state: &State,
        (node, fault): (u32, bool),
        takes: (u32, u32),
        footprint: Arc<Footprint>,
    ) -> Label {
        let mirror = &self.worker.expander.mirror;
        let sends = footprint.sends.iter();
        let sent = sends.map(|&(key, _)| self.terrain.sent(mirror, state, key));
        Label {
            node,
            fault,
            takes,
            sent: sent.collect(),
            claims: self.claims(state, &footprint),
            footprint,
        }
    }

    /// What a node in `local` may do, whatever the choice.
    pub fn footprint(&mut self, local: LocalId, cause: Cause) -> PyResult<Arc<Footprint>> {
        let key = (local, cause);
        if let Some(known) = self.footprints.get(&key) {
            return Ok(known.clone());
        }
        let range = match cause {
            Cause::Message(envelope) => self.worker.expander.delivery(local, envelope)?,
            Cause::Received(envelope) | Cause::Heard(envelope) => {
                self.worker.expander.reception(local, envelope)?
            }
            _ => self.worker.expander.internal(local)?,
        };
        let mut footprint = Footprint::default();
        let mut reach = self.reach_of(cause);
        for at in range.iter() {
            let effect = self.effect(at);
            if !cause.includes(effect.fault) {
                continue;
            }
            footprint.records |= effect.records != 0;
            self.extend_reach(&mut reach, local, &effect);
            footprint.visible |= self.visible(local, (cause.message(), &reach), &effect);
            self.count_sends(&effect, &mut footprint.sends);
        }
        (footprint.uses, footprint.claims) = (reach.uses, reach.claims.into());
        if let Some(envelope) = cause.message().filter(|_| footprint.uses.is_empty()) {
            footprint.touch = self.touch(local, envelope)?;
        }
        let footprint = Arc::new(footprint);
        self.footprints.insert(key, footprint.clone());
        Ok(footprint)
    }

    /// Raise `most` to what an effect sends.
    fn count_sends(&self, effect: &Effect, most: &mut Vec<(u32, u32)>) {
        let mirror = &self.worker.expander.mirror;
        let more = |key: u32| {
            let loses = self.terrain.network != Network::Duplicating
                && self.terrain.queue(key).is_none()
                && self.terrain.is_message(mirror, key);
            if loses {
                most_duplicates(self.layout())
            } else {
                0
            }
        };
        let keys = self.sent(effect).iter();
        let mut keys: Vec<u32> = keys
            .map(|&sent| self.terrain.key_of_envelope(mirror, sent))
            .collect();
        keys.extend(self.queues_of(effect));
        keys.sort_unstable();
        for same in keys.chunk_by(|one, other| one == other) {
            let count = same.len() as u32 + more(same[0]);
            match most.iter_mut().find(|(key, _)| *key == same[0]) {
                Some((_, known)) => *known = (*known).max(count),
                None => most.push((same[0], count)),
            }
        }
    }

    /// The properties that may notice an effect: all whose verdict it could change.
    fn visible(
        &self,
        local: LocalId,
        (taken, reach): (Option<EnvelopeId>, &Reach),
        effect: &Effect,
    ) -> u64 {
        let mirror = &self.worker.expander.mirror;
        let row = |local: LocalId| &mirror.rows[mirror.locals[local.index()].row as usize..];
        let (old, new) = (row(local), row(effect.local));
        let notices = |query: &Query| match query {
            Query::Field { node, field } => {
                *node == effect.node && old[*field as usize] != new[*field as usize]
            }
            Query::Observer(_) => effect.records != 0,
            Query::Messages(types) | Query::Count(types) => {
                let mut moved = self.sent(effect).iter().copied().chain(taken);
                let of = |envelope| mirror.flight().is_of(envelope, types.as_deref());
                !reach.uses.is_empty() || moved.any(of)
            }
            Query::Connection(slot) => reach.uses.contains(slot),
            Query::Partition => true,
        };
        self.noticing(notices)
    }

    /// The properties that have asked something of which `notices` is true.
    pub fn noticing(&self, notices: impl Fn(&Query) -> bool) -> u64 {
        let asked = |property: usize| self.worker.judge.queries(property).iter();
        let noticed = self.watched.iter();
        let noticed = noticed.filter(|&&property| asked(property).any(&notices));
        noticed.fold(0, |bits, property| bits | 1 << property)
    }
}
