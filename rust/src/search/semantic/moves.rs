//! What is made of an execution: others, in which one thing comes earlier.
//!
//! From the end on, as in SAMC's artefact. A fault is moved to each place where it could have
//! happened; where that only swaps it with the event there, it costs more. An event is moved before
//! the nearest earlier one of its node that it could have come before and does not commute with:
//! what happens after that one is left out, the rest stays. All else that could have happened
//! instead is tried at last, and so are other places for faults once events were moved.
//!
//! A crash takes away what its node has sent. So it also comes before the nearest delivery of such
//! mail, and after all else that does not need that delivery: no other place is like it, where the
//! natural order delivers the mail before something at the node itself.

use std::rc::Rc;

use pyo3::prelude::*;

use super::execution::{Did, Next, Possible, Runner, name, role_of};
use super::lanes::{Item, Lanes};
use crate::search::EventId;
use crate::search::alike::Place;
use crate::services::expand::EventKind;
use crate::table::fingerprint::combine_iter;

/// What moves cost.
const FAULT: u32 = 1;
const FAULT_SWAPPED: u32 = 2;
const REVERSAL: u32 = 1;
const REVERSAL_MET: u32 = 2; // it leads to a state met, from which it may go on otherwise
const OTHER: u32 = 8;
const OTHER_SWAPPED: u32 = 10;
const PASSED: u32 = 1_000; // in a state that a prescribed beginning passes, and no execution was in

/// What kinds of moves begin with.
const IN_ROLE: u64 = 1;
const INSTEAD: u64 = 2;
const EARLIER: u64 = 3;

/// Steps that are remembered; then all are forgotten.
const STEPS_MAX: usize = 500_000;

/// A beginning whose last event overtakes a step.
struct Overtaken {
    /// Before that event.
    state: Rc<[u32]>,
    sum: u64,
    steps: Box<[EventId]>,
    /// After it.
    ends: u64,
}

impl Runner<'_> {
    /// Queue what an execution gives.
    pub fn make_moves(&mut self, item: &Item, path: &[Did], lanes: &mut Lanes) -> PyResult<()> {
        let start = item.steps.len();
        for at in (0..path.len()).rev() {
            for other in &path[at].others {
                self.depart(item, (path, at), other, lanes)?;
                if other.fault && at >= start {
                    self.overtake(item, (path, at), other, lanes)?;
                }
            }
        }
        for later in (start + 1..path.len()).rev() {
            self.reverse(item, path, later, lanes)?;
        }
        Ok(())
    }

    /// Queue the execution in which something else happens at a place.
    fn depart(
        &mut self,
        item: &Item,
        (path, at): (&[Did], usize),
        other: &Possible,
        lanes: &mut Lanes,
    ) -> PyResult<()> {
        let (did, ends) = (&path[at], other.candidate.fingerprint);
        if (other.key.is_none() && self.is_seen(ends)) || (did.fault && !other.fault) {
            return Ok(());
        }
        if !self.queued.insert((did.sum, name(&other.event))) {
            return Ok(());
        }
        let swaps = !did.fault && self.commute((&did.state, did.sum), &did.event, &other.event)?;
        // A fault of an execution in which events were moved is the second thing to try.
        let price = match (other.fault && item.pure, swaps) {
            _ if at < item.steps.len() => PASSED,
            (true, false) => FAULT,
            (true, true) => FAULT_SWAPPED,
            (false, false) => OTHER,
            (false, true) => OTHER_SWAPPED,
        };
        let key = other.key.clone();
        let role = key.as_deref().map(role_of);
        let known = role.is_some_and(|role| !self.roles.insert(role));
        let kind = role.map_or_else(|| self.kind(INSTEAD, &did.event, &other.event), in_role);
        let before = path[..at].iter().map(|did| did.event);
        let moved = Item {
            steps: before.chain([other.event]).collect(),
            pure: item.pure && other.fault,
            cost: item.cost + price,
            kind,
            key,
            ends: Some(ends),
            ..*item
        };
        lanes.push(moved, known);
        Ok(())
    }

    /// Queue the execution in which an event comes before the nearest earlier one of its node that
    /// it does not commute with.
    fn reverse(
        &mut self,
        item: &Item,
        path: &[Did],
        later: usize,
        lanes: &mut Lanes,
    ) -> PyResult<()> {
        let event = path[later].event;
        if path[later].fault {
            return Ok(());
        }
        for first in (0..later).rev() {
            if path[first].event.node != event.node {
                continue;
            }
            if path[first].fault {
                return Ok(());
            }
            let Some(overtaken) = self.before(&path[..later], first, event)? else {
                return Ok(()); // it happens after that one
            };
            let from = (&overtaken.state[..], overtaken.sum);
            if self.commute(from, &path[first].event, &event)? {
                continue;
            }
            if self.reversed.insert(digest(&overtaken.steps)) {
                let is_seen = self.is_seen(overtaken.ends);
                let moved = Item {
                    steps: overtaken.steps,
                    pure: false,
                    cost: item.cost + if is_seen { REVERSAL_MET } else { REVERSAL },
                    kind: self.kind(EARLIER, &path[first].event, &event),
                    key: None,
                    ends: None,
                    ..*item
                };
                lanes.push(moved, false);
            }
            return Ok(());
        }
        Ok(())
    }

    /// Queue the execution in which a fault comes before the nearest delivery of what its node has
    /// sent that it does not commute with, and after all else.
    fn overtake(
        &mut self,
        item: &Item,
        (path, at): (&[Did], usize),
        other: &Possible,
        lanes: &mut Lanes,
    ) -> PyResult<()> {
        let fault = other.event;
        for first in (0..at).rev() {
            let did = &path[first];
            let from = (&did.state[..], did.sum);
            if did.fault || self.step(from, &fault)?.is_none() {
                return Ok(());
            }
            let sent = self.source(&did.event) == Some(fault.node) && did.event.node != fault.node;
            if !sent || self.commute(from, &did.event, &fault)? {
                continue;
            }
            let Some(overtaken) = self.before(&path[..at], first, fault)? else {
                continue;
            };
            if !self.queued.insert((overtaken.sum, name(&fault))) {
                continue;
            }
            let key = match &other.key {
                Some(key) => self.key_in(&overtaken.state, role_of(key), fault.node)?,
                None => None,
            };
            if key.is_none() && (other.key.is_some() || self.is_seen(overtaken.ends)) {
                continue;
            }
            let role = key.as_deref().map(role_of);
            let known = role.is_some_and(|role| !self.roles.insert(role));
            let moved = Item {
                steps: overtaken.steps,
                cost: item.cost + FAULT,
                kind: role.map_or_else(|| self.kind(INSTEAD, &did.event, &fault), in_role),
                key,
                ends: Some(overtaken.ends),
                ..*item
            };
            lanes.push(moved, known);
            return Ok(());
        }
        Ok(())
    }

    /// The key of a fault in another state; none if it was tried.
    fn key_in(
        &mut self,
        state: &[u32],
        (fault, _): (u32, u32),
        node: u32,
    ) -> PyResult<Option<Box<[u32]>>> {
        let Some(keys) = &mut self.keys else {
            return Ok(None);
        };
        let fault = fault as usize;
        let key = keys.of(&self.worker.expander, state, Place { fault, node })?;
        self.worker.search.skipped.place();
        if self.tried.contains(key) {
            self.worker.search.skipped.skip();
            return Ok(None);
        }
        Ok(Some(key.into()))
    }

    /// Who sent what an event delivers.
    fn source(&self, event: &EventId) -> Option<u32> {
        let envelopes = &self.worker.expander.mirror.envelopes;
        is_delivery(event).then(|| envelopes[event.origin as usize].source)
    }

    /// What a move is, whatever the state: what comes before what.
    fn kind(&self, how: u64, passed: &EventId, moved: &EventId) -> u64 {
        let envelopes = &self.worker.expander.mirror.envelopes;
        let class = |event: &EventId| {
            let origin = event.origin as usize;
            let class = is_delivery(event).then(|| envelopes[origin].class);
            [event.what as u64, u64::from(class.unwrap_or(event.origin))]
        };
        let words = [how].into_iter().chain(class(passed)).chain(class(moved));
        combine_iter(words)
    }

    /// The beginning in which an event comes before a step, and after all later ones that need
    /// neither that step nor its node; none if it needs one of those that are left out.
    fn before(
        &mut self,
        path: &[Did],
        first: usize,
        event: EventId,
    ) -> PyResult<Option<Overtaken>> {
        let (state, sum, kept) = self.without(&path[first..])?;
        let Some((_, ends)) = self.step((&state, sum), &event)? else {
            return Ok(None);
        };
        let before = path[..first].iter().map(|did| did.event);
        let steps = before.chain(kept).chain([event]).collect();
        Ok(Some(Overtaken {
            state,
            sum,
            steps,
            ends,
        }))
    }

    /// Take steps but the first, what happens at its node, and what is not possible without them;
    /// gives the state, and the steps taken.
    fn without(&mut self, path: &[Did]) -> PyResult<(Rc<[u32]>, u64, Vec<EventId>)> {
        let (mut state, mut sum) = (path[0].state.clone(), path[0].sum);
        let mut kept = Vec::new();
        for did in &path[1..] {
            if did.fault || did.event.node == path[0].event.node {
                continue;
            }
            if let Some(next) = self.step((&state, sum), &did.event)? {
                (state, sum) = next;
                kept.push(did.event);
            }
        }
        Ok((state, sum, kept))
    }

    /// What an event of a state leads to, if it is possible.
    fn step(&mut self, (state, sum): (&[u32], u64), event: &EventId) -> PyResult<Next> {
        if let Some(known) = self.steps.get(&(sum, name(event))) {
            return Ok(known.clone());
        }
        self.worker.expander.candidates.clear();
        self.worker.expander.list(state, sum, 0)?;
        let mut listed = self.worker.expander.candidates.iter().copied();
        let found = listed.find(|candidate| {
            candidate.fingerprint != sum && self.worker.happened(candidate, state).same(event)
        });
        let next = found.map(|candidate| {
            let mut next = Vec::new();
            self.worker.expander.build(state, &candidate, &mut next);
            (next.into(), candidate.fingerprint)
        });
        if self.steps.len() >= STEPS_MAX {
            self.steps.clear();
        }
        self.steps.insert((sum, name(event)), next.clone());
        Ok(next)
    }

    /// Whether two events of a state lead to the same state in either order.
    fn commute(&mut self, from: (&[u32], u64), one: &EventId, other: &EventId) -> PyResult<bool> {
        let ends = self.after_both(from, one, other)?;
        Ok(ends.is_some() && ends == self.after_both(from, other, one)?)
    }

    fn after_both(
        &mut self,
        from: (&[u32], u64),
        one: &EventId,
        other: &EventId,
    ) -> PyResult<Option<u64>> {
        let Some((state, sum)) = self.step(from, one)? else {
            return Ok(None);
        };
        Ok(self.step((&state, sum), other)?.map(|(_, sum)| sum))
    }
}

fn is_delivery(event: &EventId) -> bool {
    matches!(event.what, EventKind::Deliver | EventKind::Receive)
}

/// The kind of a move of a fault.
fn in_role((fault, own): (u32, u32)) -> u64 {
    combine_iter([IN_ROLE, u64::from(fault), u64::from(own)])
}

fn digest(steps: &[EventId]) -> u64 {
    combine_iter(steps.iter().flat_map(|event| {
        let EventId {
            what,
            node,
            origin,
            branch,
        } = *event;
        [
            what as u64,
            u64::from(node),
            u64::from(origin),
            u64::from(branch),
        ]
    }))
}
