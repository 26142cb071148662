//! Which step disables which process: a guard closes, a handler fails, a budget is spent.
//!
//! A fault of a node depends on two chains of events: those of its node, which may leave nothing to
//! strike, and all other faults, which may spend its budget.

use std::borrow::Cow;

use pyo3::prelude::*;

use super::events::Events;
use super::label::NO_NODE;
use super::state::{State, Wire};
use crate::services::effects::EffectId;
use crate::services::expand::Effect;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::{Budget, Network};
use crate::services::tables::NOT_A_FAULT;

impl Events<'_> {
    /// Whether a node in `local` can start something by itself.
    fn starts(&mut self, state: &State, local: LocalId) -> PyResult<bool> {
        let range = self.worker.expander.internal(local)?;
        let own = |effect: Effect| effect.fault == NOT_A_FAULT && !self.idle(state, local, &effect);
        Ok(range.iter().any(|effect| own(self.effect(effect))))
    }

    /// Whether a node in `local` can take a message that is in flight.
    fn accepts(&mut self, state: &State, local: LocalId, envelope: EnvelopeId) -> PyResult<bool> {
        let range = self.worker.expander.delivery(local, envelope)?;
        let stays = self.terrain.network == Network::Duplicating;
        let moves = |effect: EffectId| !stays || !self.idle(state, local, &self.effect(effect));
        Ok(range.iter().any(moves))
    }

    /// The node that a step happened at.
    fn acting(&self, after: &State) -> u32 {
        let terrain = &self.terrain;
        match terrain.wire(after.by) {
            Some(Wire::Receive(_, node) | Wire::News(node, _)) => return node,
            Some(Wire::Fault(_)) => return NO_NODE,
            None => {}
        }
        let Some(key) = terrain.key(after.by) else {
            return terrain.stricken(after.by).unwrap_or(after.by);
        };
        terrain.receiver(&self.worker.expander.mirror, key)
    }

    /// Whether a step may have made a difference to what a node can do. Where messages stay, what
    /// it has sent does: to send it once more is nothing.
    fn changes(&self, before: &State, after: &State, node: u32) -> bool {
        let sends = self.terrain.network == Network::Duplicating
            && before.words.len() != after.words.len()
            && self.acting(after) == node;
        sends || before.local(node) != after.local(node)
    }

    /// `free`, where messages stay with those that a step has sent.
    fn with_sent<'s>(&self, free: &'s State, before: &State, after: &State) -> Cow<'s, State> {
        if self.terrain.network != Network::Duplicating {
            return Cow::Borrowed(free);
        }
        let fixed = self.terrain.fixed;
        let mut then = free.clone();
        let sent = after.words[fixed..].iter();
        let sent = sent.filter(|word| !before.words[fixed..].contains(word));
        then.words.extend(sent);
        then.words[fixed..].sort_unstable();
        Cow::Owned(then)
    }

    /// Whether a step may have closed a node to what it can do, or to what is sent to it.
    pub fn may_close(&mut self, before: &State, after: &State, last: &State) -> PyResult<bool> {
        for node in 0..self.terrain.nodes {
            let (old, new) = (before.local(node), after.local(node));
            if !self.changes(before, after, node) {
                continue;
            }
            if after.by != node && self.starts(before, old)? && !self.starts(after, new)? {
                return Ok(true);
            }
            let expander = &self.worker.expander;
            let open = |key: u32| {
                let plain = self.terrain.network != Network::Duplicating
                    && self.terrain.is_message(&expander.mirror, key);
                let known = || {
                    let arrival = expander.arrival(new, EnvelopeId::of(key));
                    expander.deliveries.effects(arrival)
                };
                let sure = plain && known().is_some_and(|range| range.len() > 0);
                after.by != self.terrain.process_of(key) && !sure
            };
            let mut here = self.terrain.due(&expander.mirror, before, last, node);
            if here.any(open) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The nodes and messages that a step would disable in `free`.
    pub fn closed_by(
        &mut self,
        (before, after): (&State, &State),
        free: &State,
        into: &mut Vec<u32>,
    ) -> PyResult<()> {
        let then = self.with_sent(free, before, after);
        for node in 0..self.terrain.nodes {
            let (old, new) = (before.local(node), after.local(node));
            if !self.changes(before, after, node) {
                continue;
            }
            if after.by != node && self.starts(free, old)? && !self.starts(&then, new)? {
                into.push(node);
            }
            for at in self.terrain.fixed..free.words.len() {
                let mirror = &self.worker.expander.mirror;
                let envelope = self.terrain.envelope(mirror, free.words[at]);
                let key = self.terrain.key_of(mirror, free.words[at]);
                let process = self.terrain.process_of(key);
                if mirror.envelopes[envelope.index()].to != node
                    || process == after.by
                    || into.contains(&process)
                {
                    continue;
                }
                if self.accepts(free, old, envelope)? && !self.accepts(&then, new, envelope)? {
                    into.push(process);
                }
            }
        }
        Ok(())
    }

    /// Whether an effect is a fault that can strike a node in `local`, budgets aside. One that may
    /// happen any number of times and does nothing is left out.
    pub fn strikes(&self, state: &State, local: LocalId, effect: &Effect) -> bool {
        let free = |fault: u8| self.layout().budgets[fault as usize] == Budget::Unlimited;
        effect.fault != NOT_A_FAULT && !(free(effect.fault) && self.idle(state, local, effect))
    }

    /// Whether the budget of a fault is not spent.
    pub fn is_left(&self, words: &[u32], fault: u8) -> bool {
        self.layout().allows(words, fault as usize)
    }

    /// The faults that can strike a node in `local`, budgets aside, as bits.
    pub fn exposure(&mut self, state: &State, local: LocalId) -> PyResult<u32> {
        let mut bits = 0;
        for effect in self.worker.expander.internal(local)?.iter() {
            let effect = self.effect(effect);
            if self.strikes(state, local, &effect) {
                bits |= 1 << effect.fault;
            }
        }
        Ok(bits)
    }

    /// The faults whose budgets are not spent, as bits.
    pub fn left(&self, words: &[u32]) -> u32 {
        let faults = self.terrain.faults.iter();
        let left = faults.filter(|&&fault| self.layout().allows(words, fault));
        left.fold(0, |bits, fault| bits | 1 << fault)
    }

    /// Whether a step spends the last of a budget.
    fn spends(&self, before: &State, after: &State) -> bool {
        self.left(&before.words) & !self.left(&after.words) != 0
    }

    /// Whether a step leaves fewer faults of its node, or of connections, possible than it found,
    /// those of its own process aside.
    fn covers(&mut self, before: &State, after: &State) -> PyResult<bool> {
        for node in 0..self.terrain.nodes {
            let (old, new) = (before.local(node), after.local(node));
            let other = after.by != self.terrain.faults_of(node);
            if other && self.changes(before, after, node) {
                let lost = self.exposure(before, old)? & !self.exposure(after, new)?;
                if lost != 0 {
                    return Ok(true);
                }
            }
        }
        Ok(self.shields(before, after))
    }

    /// Whether a step may have disabled faults.
    pub fn may_spare(&mut self, before: &State, after: &State) -> PyResult<bool> {
        if self.terrain.faults.is_empty() {
            return Ok(false);
        }
        Ok(self.spends(before, after) || self.covers(before, after)?)
    }

    /// Whether one of two steps spends a budget and the other leaves fewer faults possible: each
    /// alone keeps a fault from happening, so undoing one of them does not show it.
    pub fn hides(&mut self, first: [&State; 2], second: [&State; 2]) -> PyResult<bool> {
        if self.terrain.faults.is_empty() {
            return Ok(false);
        }
        Ok(match self.spends(first[0], first[1]) {
            true => self.covers(second[0], second[1])?,
            false => self.spends(second[0], second[1]) && self.covers(first[0], first[1])?,
        })
    }

    /// The faults of nodes that a step would disable in `free`.
    pub fn spared_by(
        &mut self,
        (before, after): (&State, &State),
        free: &State,
        into: &mut Vec<u32>,
    ) -> PyResult<()> {
        if self.terrain.faults.is_empty() {
            return Ok(());
        }
        // All faults depend on each other, so `free` has those that `before` has, if this is one.
        let left = self.left(&free.words);
        let kept = match self.terrain.is_fault(after.by) {
            true => self.left(&after.words),
            false => left,
        };
        self.shielded_by((before, after), (free, left, kept), into);
        let then = self.with_sent(free, before, after);
        for node in 0..self.terrain.nodes {
            let process = self.terrain.faults_of(node);
            if process == after.by {
                continue;
            }
            let old = free.local(node);
            let new = match before.local(node) == after.local(node) {
                true => old,
                false => after.local(node),
            };
            let was = self.exposure(free, old)? & left;
            if was != 0 && self.exposure(&then, new)? & kept == 0 {
                into.push(process);
            }
        }
        Ok(())
    }
}
