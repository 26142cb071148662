//! What is made of an execution.

use pyo3::prelude::*;

use super::execution::{Did, Runner, name, role_of};
use super::lanes::{Item, Lanes};
use crate::search::EventId;
use crate::services::expand::Candidate;
use crate::table::fingerprint::combine_iter;

fn env(name: &str, default: u32) -> u32 {
    std::env::var(name).ok().and_then(|t| t.parse().ok()).unwrap_or(default)
}

impl Runner<'_> {
    pub fn moves(&mut self, item: &Item, path: &[Did], lanes: &mut Lanes) -> PyResult<()> {
        let (f0, f1) = (env("SEM_F0", 1), env("SEM_F1", 2));
        let (d0, d1) = (env("SEM_D0", 1), env("SEM_D1", 2));
        let rev = env("SEM_REV", 1);
        let start = item.steps.len();
        for i in (start..path.len()).rev() {
            let did = &path[i];
            let others: Vec<(EventId, Candidate, bool, Option<Box<[u32]>>)> = did.others.iter()
                .map(|o| (o.event, o.candidate, o.fault, o.key.clone())).collect();
            for (event, candidate, fault, key) in others {
                if self.is_seen(candidate.fingerprint) { continue; }
                if !self.queued.insert((did.sum, name(&event))) && env("SEM_Q", 1) == 1 { continue; }
                if !fault && did.fault { continue; }
                let commutes = !did.fault && self.commute((&did.state, did.sum), &did.event, &event)?;
                let price = match (fault, commutes) { (true, false) => f0, (true, true) => f1, (false, false) => d0, (false, true) => d1 };
                if price == 0 { continue; }
                if let Some(key) = &key && env("SEM_CLAIM", 0) > 0 {
                    let lane = u32::from(item.order == super::lanes::Order::Newest) + if env("SEM_CLAIM", 0) > 1 && !item.pure { 2 } else { 0 };
                    let mut claimed: Vec<u32> = key.to_vec();
                    claimed.push(lane);
                    if !self.claimed.insert(claimed.into()) { continue; }
                }
                let known = env("SEM_OWN", 1) > 0 && key.as_ref().is_some_and(|key| !self.roles.insert(role_of(key)));
                let steps = path[..i].iter().map(|d| d.event).chain([event]).collect();
                lanes.push(Item {
                    steps, key, cost: item.cost + price, pure: item.pure && fault,
                    ends: Some(candidate.fingerprint), ..item.clone()
                }, known);
            }
        }
        if rev > 0 {
            for j in (start + 1..path.len()).rev() {
                self.reverse(item, path, j, lanes, rev)?;
            }
        }
        Ok(())
    }

    /// Move an event before the nearest earlier one of its node that it does not commute with.
    fn reverse(&mut self, item: &Item, path: &[Did], j: usize, lanes: &mut Lanes, price: u32) -> PyResult<()> {
        if path[j].fault { return Ok(()); }
        let node = path[j].event.node;
        for i in (0..j).rev() {
            if path[i].event.node != node { continue; }
            if path[i].fault { break; }
            let mut kept: Vec<EventId> = Vec::new();
            let mut skipped = vec![node];
            let (mut state, mut sum) = (path[i].state.clone(), path[i].sum);
            for between in &path[i + 1..j] {
                if skipped.contains(&between.event.node) { continue; }
                let stepped = if between.fault { None } else { self.step((&state, sum), &between.event)? };
                match stepped {
                    Some((next, after)) => { state = next; sum = after; kept.push(between.event); }
                    None => skipped.push(between.event.node),
                }
            }
            let Some((_, after)) = self.step((&state, sum), &path[j].event)? else { break };
            if self.commute((&state, sum), &path[i].event, &path[j].event)? { continue; }
            if self.is_seen(after) { break; }
            let steps: Box<[EventId]> = path[..i].iter().map(|d| d.event).chain(kept).chain([path[j].event]).collect();
            let digest = combine_iter(steps.iter().flat_map(|e| [e.what as u64, u64::from(e.node), u64::from(e.origin), u64::from(e.branch)]));
            if self.reversed.insert(digest) {
                lanes.push(Item { steps, key: None, cost: item.cost + price, pure: false, ends: Some(after), ..item.clone() }, false);
            }
            break;
        }
        Ok(())
    }

    /// What an event of a state leads to, if it is possible.
    fn step(&mut self, (state, sum): (&[u32], u64), event: &EventId) -> PyResult<Option<(Vec<u32>, u64)>> {
        let expander = &mut self.worker.expander;
        expander.candidates.clear();
        expander.list(state, sum, 0)?;
        let listed = self.worker.expander.candidates.iter();
        let found = listed.copied().find(|c| c.fingerprint != sum && self.worker.happened(c, state).same(event));
        let Some(candidate) = found else { return Ok(None) };
        let mut next = Vec::new();
        self.worker.expander.build(state, &candidate, &mut next);
        Ok(Some((next, candidate.fingerprint)))
    }

    /// Whether two events of a state lead to the same state in either order.
    fn commute(&mut self, from: (&[u32], u64), one: &EventId, other: &EventId) -> PyResult<bool> {
        let ends = self.after_both(from, one, other)?;
        Ok(ends.is_some() && ends == self.after_both(from, other, one)?)
    }

    fn after_both(&mut self, from: (&[u32], u64), one: &EventId, other: &EventId) -> PyResult<Option<u64>> {
        let Some((state, sum)) = self.step(from, one)? else { return Ok(None) };
        Ok(self.step((&state, sum), other)?.map(|(_, sum)| sum))
    }
}
