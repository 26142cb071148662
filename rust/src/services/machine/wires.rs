//! Connections as processes: what arrives at their ends, what breaks them, and which steps meet.
//!
//! A queue of a stream is like a channel: the how manieth message a step pushes or takes says what
//! it depends on. That holds while a connection only carries messages: a push to a queue and a take
//! from it commute unless the one pushes what the other takes, and neither shows in the other
//! direction. Whatever else a step does to a connection *claims* it, and depends on all that use
//! it: it closes it, hears that it is gone, breaks it, pushes from an end that is half open, or
//! changes whether one of its nodes is up. An idle close looks at the lengths of queues, so where
//! there may be any, all that uses a connection claims it.
//!
//! What an end offers is possible if the connection is in a state for it, and its node takes it:
//! guards of handlers may close.
//!
//! Invariant: whatever changes the connection so that an offer is gone either claims it, or happens
//! at the node of that offer and takes from it. All that does is in one order.

use std::sync::Arc;

use pyo3::prelude::*;

use super::events::{Events, Way};
use super::label::{Cause, Footprint, Label, NO_NODE, NOTHING};
use super::state::{State, Wire};
use crate::property::trie::Query;
use crate::python::tables::{CUT, IDLE};
use crate::services::effects::EffectId;
use crate::services::expand::{Effect, EventKind, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::{Budget, Layout};
use crate::services::tables::{Flow, NOT_A_FAULT};

/// Which connections a step uses, and which of them it claims.
#[derive(Default)]
pub struct Reach {
    pub uses: Vec<u32>,
    pub claims: Vec<u32>,
}

impl Reach {
    fn add(&mut self, slot: usize, claims: bool) {
        let slot = slot as u32;
        if !self.uses.contains(&slot) {
            self.uses.push(slot);
        }
        if claims && !self.claims.contains(&slot) {
            self.claims.push(slot);
        }
    }
}

impl Events<'_> {
    /// The processes of connections that are in use.
    pub fn wires(&self, state: &State) -> Vec<u32> {
        let mirror = &self.worker.expander.mirror;
        let mut wires = Vec::new();
        let links = self.layout().links(&state.words).iter().enumerate();
        for (slot, &word) in links.filter(|(_, word)| **word != 0) {
            let link = &mirror.links[word as usize].link;
            let ends = if link.is_loop() { 1 } else { 2 };
            for end in 0..ends {
                let (node, peer) = (link.ends[end], link.ends[1 - end]);
                let both = [Wire::Receive(node, peer), Wire::News(node, peer)];
                wires.extend(both.map(|wire| self.terrain.process_of_wire(wire)));
            }
            wires.push(self.terrain.process_of_wire(Wire::Fault(slot as u32)));
        }
        wires
    }

    /// What a process of an end offers now.
    fn offer(&self, state: &State, wire: Wire) -> Option<(u32, EnvelopeId, EventKind)> {
        let (Wire::Receive(node, peer) | Wire::News(node, peer)) = wire else {
            return None;
        };
        let expander = &self.worker.expander;
        let link = self
            .terrain
            .link(&expander.mirror, &state.words, (node, peer))?;
        let offered = expander.offered(&state.words, link, link.end(node));
        let receives = matches!(wire, Wire::Receive(..));
        offered.filter(|(_, _, what)| (*what == EventKind::Receive) == receives)
    }

    /// The ways in which a process of a connection can step.
    pub fn wire_ways(&mut self, state: &State, wire: Wire, into: &mut Vec<Way>) -> PyResult<()> {
        let first = self.terrain.streams.unwrap_or(0);
        if let Wire::Fault(slot) = wire {
            let bits = self.weakness(state, slot as usize) & self.left(&state.words);
            let faults = [(CUT, EventKind::Cut), (IDLE, EventKind::Idle)];
            for (number, (fault, what)) in faults.into_iter().enumerate() {
                if bits >> fault & 1 == 1 {
                    into.push(Way::new(number, EffectId::NONE, first as u32 + slot, what)?);
                }
            }
            return Ok(());
        }
        let Some((node, envelope, what)) = self.offer(state, wire) else {
            return Ok(());
        };
        let (Wire::Receive(one, other) | Wire::News(one, other)) = wire else {
            return Ok(());
        };
        let word = (first + Layout::slot(one, other)) as u32;
        let range = self
            .worker
            .expander
            .reception(state.local(node), envelope)?;
        for (number, effect) in range.iter().enumerate() {
            into.push(Way::new(number, effect, word, what)?);
        }
        Ok(())
    }

    pub fn wire_label(&mut self, state: &State, wire: Wire, way: &Way) -> PyResult<Label> {
        if let Wire::Fault(slot) = wire {
            let moves = |query: &Query| match query {
                Query::Connection(asked) => *asked == slot,
                Query::Messages(_) | Query::Count(_) => true,
                _ => false,
            };
            let footprint = Arc::new(Footprint {
                uses: vec![slot],
                claims: [slot].into(),
                visible: self.noticing(moves),
                ..Footprint::default()
            });
            return Ok(self.label_of(state, (NO_NODE, true), NOTHING, footprint));
        }
        let effect = self.effect(way.effect);
        let envelope = EnvelopeId::of(effect.origin);
        let (cause, takes) = match wire {
            Wire::Receive(source, to) => {
                let key = self.terrain.key_of_queue(source, to);
                (Cause::Received(envelope), (key, state.taken(key) + 1))
            }
            _ => (Cause::Heard(envelope), NOTHING),
        };
        let footprint = self.footprint(state.local(effect.node), cause)?;
        Ok(self.label_of(state, (effect.node, false), takes, footprint))
    }

    /// Whether all that uses a connection claims it.
    fn claims_all(&self) -> bool {
        self.layout().budgets[IDLE] != Budget::Off
    }

    /// The connection that a step comes by, if any.
    pub fn reach_of(&self, cause: Cause) -> Reach {
        let mut reach = Reach::default();
        if let Cause::Received(envelope) | Cause::Heard(envelope) = cause {
            let info = self.worker.expander.mirror.envelopes[envelope.index()];
            let claims = matches!(cause, Cause::Heard(_)) || self.claims_all();
            reach.add(Layout::slot(info.source, info.to), claims);
        }
        reach
    }

    /// Add the connections that an effect on a node in `local` uses.
    pub fn extend_reach(&self, reach: &mut Reach, local: LocalId, effect: &Effect) {
        if self.terrain.streams.is_none() {
            return;
        }
        let up = |local: LocalId| self.worker.expander.mirror.ups[local.index()];
        if effect.fault != NOT_A_FAULT || up(local) != up(effect.local) {
            let peers = 0..self.terrain.nodes;
            peers.for_each(|peer| reach.add(Layout::slot(effect.node, peer), true));
        }
        for flow in self.flows(effect) {
            let claims = flow.envelope.is_none() || self.claims_all();
            reach.add(Layout::slot(effect.node, flow.peer), claims);
        }
    }

    fn flows(&self, effect: &Effect) -> &[Flow] {
        match effect.flowing {
            NOWHERE => &[],
            at => self.worker.expander.flowing[at as usize].flows(),
        }
    }

    /// The queues that an effect pushes to, once for each message.
    pub fn queues_of(&self, effect: &Effect) -> impl Iterator<Item = u32> {
        let pushes = self.flows(effect).iter();
        let pushes = pushes.filter(|flow| flow.envelope.is_some());
        pushes.map(|flow| self.terrain.key_of_queue(effect.node, flow.peer))
    }

    /// The connections that a step claims in `state`: where it pushes from an end that is half
    /// open, that is the connection, too.
    pub fn claims(&self, state: &State, footprint: &Footprint) -> Arc<[u32]> {
        let mirror = &self.worker.expander.mirror;
        let queues = footprint.sends.iter();
        let queues = queues.filter_map(|(key, _)| self.terrain.queue(*key));
        let half = queues.filter(|&(source, to)| {
            let link = self.terrain.link(mirror, &state.words, (source, to));
            link.is_some_and(|link| {
                let end = link.end(source);
                link.open[end] && !link.open[1 - end]
            })
        });
        let half: Vec<u32> = half
            .map(|(one, other)| Layout::slot(one, other) as u32)
            .collect();
        match half.is_empty() {
            true => footprint.claims.clone(),
            false => footprint.claims.iter().copied().chain(half).collect(),
        }
    }

    /// Whether a process of an end can step: it is offered something that its node takes.
    fn takes(&mut self, state: &State, process: u32) -> PyResult<bool> {
        let wire = self.terrain.wire(process);
        let Some((node, envelope, _)) = wire.and_then(|wire| self.offer(state, wire)) else {
            return Ok(false);
        };
        let range = self
            .worker
            .expander
            .reception(state.local(node), envelope)?;
        Ok(range.len() > 0)
    }

    /// Whether a step may have disabled what an end offers, or would have offered.
    pub fn may_break(&self, before: &State, after: &State) -> bool {
        let links = |state: &State| self.layout().links(&state.words).to_vec();
        self.terrain.streams.is_some()
            && (links(before) != links(after) || self.moved(before, after).is_some())
    }

    /// The processes of ends that a step would disable in `free`.
    pub fn broken_by(
        &mut self,
        (before, after): (&State, &State),
        free: &State,
        into: &mut Vec<u32>,
    ) -> PyResult<()> {
        let Some(first) = self.terrain.streams else {
            return Ok(());
        };
        // What it has pushed or taken may be missing, or more: no matter, as that disables nothing.
        let mut then = free.clone();
        for at in (0..self.terrain.nodes as usize).chain(first..self.terrain.fixed) {
            if before.words[at] != after.words[at] {
                then.words[at] = after.words[at];
            }
        }
        for process in self.wires(free) {
            let other = process != after.by && !into.contains(&process);
            if other && self.takes(free, process)? && !self.takes(&then, process)? {
                into.push(process);
            }
        }
        Ok(())
    }

    /// The node whose local state a step changes.
    fn moved(&self, before: &State, after: &State) -> Option<u32> {
        let mut nodes = 0..self.terrain.nodes;
        nodes.find(|&node| before.local(node) != after.local(node))
    }

    /// Whether one of two steps may close a node to what a connection brings, and the other change
    /// the connection.
    pub fn obscures(&self, first: [&State; 2], second: [&State; 2]) -> bool {
        let closes = |one: [&State; 2], other: [&State; 2]| {
            let slots = |state: &State, node: u32| {
                let links = self.layout().links(&state.words);
                let peers = 0..self.terrain.nodes;
                let slots = peers.map(|peer| links[Layout::slot(node, peer)]);
                slots.collect::<Vec<u32>>()
            };
            let node = self.moved(one[0], one[1]);
            node.is_some_and(|node| slots(other[0], node) != slots(other[1], node))
        };
        self.terrain.streams.is_some() && (closes(first, second) || closes(second, first))
    }

    /// The faults that can strike the connection in a place, budgets aside, as bits.
    fn weakness(&self, state: &State, slot: usize) -> u32 {
        let word = self.layout().links(&state.words)[slot];
        if word == 0 {
            return 0;
        }
        let link = &self.worker.expander.mirror.links[word as usize].link;
        match link.open == [true; 2] {
            true => 1 << CUT | u32::from(link.is_quiet()) << IDLE,
            false => 0,
        }
    }

    /// Whether a step leaves fewer faults of connections possible, those of its process aside.
    pub fn shields(&self, before: &State, after: &State) -> bool {
        let slots = 0..self.layout().links(&before.words).len();
        let own = |slot: usize| after.by == self.terrain.process_of_wire(Wire::Fault(slot as u32));
        let mut others = slots.filter(|&slot| !own(slot));
        others.any(|slot| self.weakness(before, slot) & !self.weakness(after, slot) != 0)
    }

    /// The faults of connections that a step would disable in `free`, where the budgets of `left`
    /// are not spent, and those of `kept` would not be.
    pub fn shielded_by(
        &self,
        (before, after): (&State, &State),
        (free, left, kept): (&State, u32, u32),
        into: &mut Vec<u32>,
    ) {
        let links = |state: &State, slot: usize| self.layout().links(&state.words)[slot];
        for slot in 0..self.layout().links(&free.words).len() {
            let process = self.terrain.process_of_wire(Wire::Fault(slot as u32));
            let then = match links(before, slot) == links(after, slot) {
                true => free,
                false => after,
            };
            let was = self.weakness(free, slot) & left;
            if process != after.by && was != 0 && self.weakness(then, slot) & kept == 0 {
                into.push(process);
            }
        }
    }
}
