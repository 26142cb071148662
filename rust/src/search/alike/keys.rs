//! What makes two faults alike: roles of nodes, and keys made of them.
//!
//! Python says once for each local state which role it is, as a small number; from then on a role
//! is a look-up.

use std::sync::Arc;

use pyo3::prelude::*;

use super::Plan;
use crate::python::tables::{CRASH, RESTART};
use crate::services::expand::{Candidate, Expander};
use crate::services::ids::LocalId;
use crate::table::fingerprint::combine_iter;

/// A fault that may happen to a node: where a search decides whether to let it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub fault: usize,
    pub node: u32,
}

impl Place {
    /// Of a crash or a restart; none for other events.
    pub fn of(expander: &Expander, candidate: &Candidate) -> Option<Self> {
        let fault = expander.fault_of(candidate)?;
        let effect = expander.effects.get(candidate.effect)?;
        let node = effect.node;
        matches!(fault, CRASH | RESTART).then_some(Place { fault, node })
    }
}

/// The nodes that are down, each with the roles of the others when it crashed.
pub type Crashed = Arc<[(u32, u64)]>;

/// What ends the roles in a key, and begins the types of messages.
const END: u32 = u32::MAX;

/// Views of a local state: what recovery depends on, the same for the recovery of others, and all
/// but names of nodes.
#[derive(Clone, Copy)]
struct Roles {
    recovery: u32,
    beside: u32,
    whole: u32,
}

pub struct Keys<'a> {
    plan: &'a Plan,
    /// By local state.
    roles: Vec<Option<Roles>>,
    key: Vec<u32>,
}

impl<'a> Keys<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Keys {
            plan,
            roles: Vec::new(),
            key: Vec::new(),
        }
    }

    #[inline(always)]
    fn roles(&mut self, expander: &Expander, local: u32) -> PyResult<Roles> {
        match self.roles.get(local as usize) {
            Some(Some(known)) => Ok(*known),
            _ => self.learn(expander, local),
        }
    }

    #[cold]
    fn learn(&mut self, expander: &Expander, local: u32) -> PyResult<Roles> {
        let shared = &expander.shared;
        let roles = Python::attach(|py| {
            let fresh = shared.fresh_callable(py, LocalId::of(local))?;
            let node = shared.row(LocalId::of(local)).0;
            let roles = self.plan.roles.call_method1(py, "roles", (node, fresh))?;
            let (recovery, beside, whole) = roles.extract(py)?;
            PyResult::Ok(Roles {
                recovery,
                beside,
                whole,
            })
        })?;
        if self.roles.len() <= local as usize {
            self.roles.resize(local as usize + 1, None);
        }
        self.roles[local as usize] = Some(roles);
        Ok(roles)
    }

    /// The key of a fault in a state.
    pub fn of(&mut self, expander: &Expander, state: &[u32], place: Place) -> PyResult<&[u32]> {
        self.write_others(expander, state, place.node)?;
        let own = self.roles(expander, state[place.node as usize])?.recovery;
        self.key.extend([END, place.fault as u32, own]);
        if self.plan.flight[place.node as usize] {
            let first = self.key.len();
            let flight = expander.mirror.flight();
            flight.visit(&expander.shared.layout, state, None, |envelope| {
                let info = flight.envelopes[envelope.index()];
                if info.to == place.node || info.source == place.node {
                    let arrives = u32::from(info.to == place.node);
                    self.key.push(info.class << 1 | arrives);
                }
            });
            self.key[first..].sort_unstable();
        }
        Ok(&self.key)
    }

    /// Write the roles of all nodes but one, sorted.
    fn write_others(&mut self, expander: &Expander, state: &[u32], node: u32) -> PyResult<()> {
        self.key.clear();
        for (other, &local) in state[..expander.shared.layout.nodes].iter().enumerate() {
            if other as u32 != node {
                let role = self.roles(expander, local)?.beside;
                self.key.push(role);
            }
        }
        self.key.sort_unstable();
        Ok(())
    }

    /// The roles of all nodes but one as one number.
    pub fn others(&mut self, expander: &Expander, state: &[u32], node: u32) -> PyResult<u64> {
        self.write_others(expander, state, node)?;
        Ok(combine_iter(self.key.iter().map(|&role| u64::from(role))))
    }

    /// All nodes, sorted, in the finer of the two views.
    pub fn whole(&mut self, expander: &Expander, state: &[u32]) -> PyResult<&[u32]> {
        self.key.clear();
        for &local in &state[..expander.shared.layout.nodes] {
            let role = self.roles(expander, local)?.whole;
            self.key.push(role);
        }
        self.key.sort_unstable();
        Ok(&self.key)
    }

    /// Which nodes are down behind an event of a state, and what the others were like when each
    /// crashed; `crashed` says so of the state itself.
    pub fn after(
        &mut self,
        expander: &Expander,
        state: &[u32],
        crashed: Option<&Crashed>,
        candidate: &Candidate,
    ) -> PyResult<Option<Crashed>> {
        let Some(Place { fault, node }) = Place::of(expander, candidate) else {
            return Ok(crashed.cloned());
        };
        let known = crashed.map_or(&[][..], |known| known);
        let mut down: Vec<(u32, u64)> = known.to_vec();
        down.retain(|&(other, _)| other != node);
        if fault == CRASH {
            down.push((node, self.others(expander, state, node)?));
        }
        Ok((!down.is_empty()).then(|| down.into()))
    }

    /// Whether a restart would find the others as they were when the node crashed.
    pub fn unchanged(
        &mut self,
        expander: &Expander,
        state: &[u32],
        crashed: Option<&Crashed>,
        place: Place,
    ) -> PyResult<bool> {
        if place.fault != RESTART {
            return Ok(false);
        }
        let known = crashed.map_or(&[][..], |known| known);
        match known.iter().find(|(node, _)| *node == place.node) {
            Some(&(node, then)) => Ok(self.others(expander, state, node)? == then),
            None => Ok(false),
        }
    }
}

/// Whether nothing but a fault leads out of a state whose candidates are listed.
pub fn is_at_rest(expander: &Expander, sum: u64) -> bool {
    let mut listed = expander.candidates.iter();
    !listed.any(|candidate| candidate.fingerprint != sum && !expander.is_fault(candidate))
}
