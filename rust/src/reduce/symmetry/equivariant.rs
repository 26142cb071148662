//! Do interchangeable nodes really behave alike? Each step is compared with all its images.
//!
//! A step that was run once is run again with the nodes in every other order, and must do the same
//! in that order. So a handler that prefers the smaller name, or a node that is wired in another
//! way, is found out by the first step in which it matters, and nothing is ever missed silently.
//! All of these steps are ones that the search without symmetry would run too.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;
use rustc_hash::FxHashSet;

use crate::reduce::symmetry::images::Thing;
use crate::search::Initial;
use crate::services::context::Shared;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::Network;
use crate::services::tables::Outcome;

/// Arrangements of one step or state that are compared; of more, only this many.
pub const ARRANGEMENTS_MAX: usize = 40_320;

const DELIVERY: u32 = u32::MAX;
const INTERNAL: u32 = u32::MAX - 1;

/// A step: its kind (or which observer), a state, and a stimulus (or records).
type Step = (u32, u32, u32);

/// What an outcome is, whatever the order of its branches and of sends that no one can tell.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Done {
    stimulus: u32,
    fault: u8,
    local: u32,
    sends: Vec<EnvelopeId>,
    records: u32,
    broken: u64,
}

impl Shared {
    pub fn verify_delivery(self: &Arc<Self>, local: LocalId, envelope: EnvelopeId) -> PyResult<()> {
        self.verify((DELIVERY, local.number(), envelope.number()))
    }

    pub fn verify_internals(self: &Arc<Self>, local: LocalId) -> PyResult<()> {
        self.verify((INTERNAL, local.number(), 0))
    }

    pub fn verify_observed(self: &Arc<Self>, slot: u32, state: u32, records: u32) -> PyResult<()> {
        self.verify((slot, state, records))
    }

    /// Go through all images of `step`, neighbour by neighbour, and compare.
    fn verify(self: &Arc<Self>, step: Step) -> PyResult<()> {
        let symmetry = self.symmetry();
        if !symmetry.verified.lock().insert(step) {
            return Ok(());
        }
        let mut waiting = vec![step];
        let mut met = 1;
        while let Some(step) = waiting.pop() {
            for &generator in &symmetry.generators {
                let image = self.step_image(step, generator)?;
                if !self.agree(step, image, generator)? {
                    return Err(self.asymmetric(step, image, generator));
                }
                if symmetry.verified.lock().insert(image) {
                    met += 1;
                    waiting.push(image);
                }
            }
            if met > ARRANGEMENTS_MAX {
                symmetry.sampled.store(true, Relaxed);
                break;
            }
        }
        Ok(())
    }

    fn step_image(&self, (kind, state, stimulus): Step, permutation: u32) -> PyResult<Step> {
        let (state_is, stimulus_is) = match kind {
            DELIVERY => (Thing::Local, Thing::Envelope),
            INTERNAL => return Ok((kind, self.image(Thing::Local, state, permutation)?, 0)),
            _ => (Thing::Value, Thing::Records),
        };
        let state = self.image(state_is, state, permutation)?;
        Ok((kind, state, self.image(stimulus_is, stimulus, permutation)?))
    }

    fn agree(self: &Arc<Self>, step: Step, image: Step, permutation: u32) -> PyResult<bool> {
        if step.0 == DELIVERY || step.0 == INTERNAL {
            return Ok(self.done(step, permutation)? == self.done(image, 0)?);
        }
        let after = self.observed(step.0, step.1, step.2)?;
        let expected = self.image(Thing::Value, after, permutation)?;
        Ok(expected == self.observed(image.0, image.1, image.2)?)
    }

    /// What a step does, as `permutation` makes it.
    fn done(self: &Arc<Self>, step: Step, permutation: u32) -> PyResult<Vec<Done>> {
        let mut done = Vec::new();
        if step.0 == DELIVERY {
            for outcome in self
                .delivery(LocalId::of(step.1), EnvelopeId::of(step.2))?
                .iter()
            {
                done.push(self.one_done(outcome, (0, 0), permutation)?);
            }
        } else {
            for internal in self.internals(LocalId::of(step.1))?.iter() {
                let stimulus =
                    self.image(Thing::Stimulus, internal.stimulus.number(), permutation)?;
                for outcome in internal.outcomes.iter() {
                    done.push(self.one_done(outcome, (stimulus, internal.fault), permutation)?);
                }
            }
        }
        done.sort_unstable();
        Ok(done)
    }

    fn one_done(
        &self,
        outcome: &Outcome,
        (stimulus, fault): (u32, u8),
        permutation: u32,
    ) -> PyResult<Done> {
        let sends = outcome.sends.iter();
        let image = |send: EnvelopeId| self.image(Thing::Envelope, send.number(), permutation);
        let sends = sends.map(|&send| image(send).map(EnvelopeId::of));
        let sends = sends.collect::<PyResult<Vec<_>>>()?;
        Ok(Done {
            stimulus,
            fault,
            local: self.image(Thing::Local, outcome.local.number(), permutation)?,
            sends: self.unordered(sends),
            records: self.image(Thing::Records, outcome.records, permutation)?,
            broken: outcome.broken,
        })
    }

    /// Sends in a form that is equal if what they do to the network is.
    fn unordered(&self, mut sends: Vec<EnvelopeId>) -> Vec<EnvelopeId> {
        let network = self.layout.network;
        self.tables.lock().flight().sort_sends(network, &mut sends);
        if network == Network::Duplicating {
            sends.dedup();
        }
        sends
    }

    /// The starts of the nodes, whose outcomes are `begun` in node order, must agree as well.
    pub fn verify_starts(&self, begun: &[Vec<Outcome>]) -> PyResult<()> {
        for &generator in &self.symmetry().generators {
            let nodes = self.symmetry().permutation(generator);
            for (node, outcomes) in begun.iter().enumerate() {
                let listed = |outcomes: &[Outcome], permutation| {
                    let done = outcomes
                        .iter()
                        .map(|outcome| self.one_done(outcome, (0, 0), permutation));
                    let mut done = done.collect::<PyResult<Vec<_>>>()?;
                    done.sort_unstable();
                    PyResult::Ok(done)
                };
                let image = nodes[node] as usize;
                if listed(outcomes, generator)? != listed(&begun[image], 0)? {
                    return Err(
                        self.refusal("asymmetric_start", |_| Ok((node, image, nodes.to_vec())))
                    );
                }
            }
        }
        Ok(())
    }

    /// The states a system begins in must be the same ones with the nodes in another order.
    pub fn verify_initial(&self, initial: &[Initial]) -> PyResult<()> {
        let arranged = |permutation: u32| {
            let states = initial
                .iter()
                .map(|initial| self.state_image(&initial.words, permutation));
            states.collect::<PyResult<FxHashSet<_>>>()
        };
        let begun = arranged(0)?;
        for &generator in &self.symmetry().generators {
            if arranged(generator)? != begun {
                let nodes = self.symmetry().permutation(generator).to_vec();
                return Err(self.refusal("asymmetric_begin", |_| Ok((nodes,))));
            }
        }
        Ok(())
    }

    fn state_image(&self, words: &[u32], permutation: u32) -> PyResult<Vec<u32>> {
        let nodes = self.symmetry().permutation(permutation);
        let layout = &self.layout;
        let network = match layout.network.is_queued() {
            true => Thing::Queue,
            false => Thing::Envelope,
        };
        let mut image = words.to_vec();
        for (node, &local) in words[..layout.nodes].iter().enumerate() {
            image[nodes[node] as usize] = self.image(Thing::Local, local, permutation)?;
        }
        for word in &mut image[layout.nodes..layout.nodes + layout.observers] {
            *word = self.image(Thing::Value, *word, permutation)?;
        }
        for word in &mut image[layout.fixed..] {
            *word = self.image(network, *word, permutation)?;
        }
        image[layout.fixed..].sort_unstable();
        Ok(image)
    }

    /// Python explains which step is not the same with the nodes in another order.
    #[cold]
    fn asymmetric(self: &Arc<Self>, step: Step, image: Step, permutation: u32) -> PyErr {
        let nodes = self.symmetry().permutation(permutation).to_vec();
        match step.0 {
            DELIVERY => self.refusal("asymmetric_delivery", |py| {
                let fresh = self.fresh_callable(py, LocalId::of(step.1))?;
                let other = self.fresh_callable(py, LocalId::of(image.1))?;
                let message = self.message(py, EnvelopeId::of(step.2))?.unbind();
                let renamed = self.message(py, EnvelopeId::of(image.2))?.unbind();
                Ok((nodes, fresh, other, message, renamed))
            }),
            INTERNAL => self.refusal("asymmetric_stimuli", |py| {
                let (node, _) = self.row(LocalId::of(step.1));
                let fresh = self.fresh_callable(py, LocalId::of(step.1))?;
                Ok((
                    nodes,
                    node,
                    fresh,
                    self.fresh_callable(py, LocalId::of(image.1))?,
                ))
            }),
            slot => self.refusal("asymmetric_observer", |py| {
                Ok((nodes, slot, self.value(py, step.1)?.unbind()))
            }),
        }
    }

    /// The error that a method of the bridge raises.
    pub fn refusal<A>(
        &self,
        method: &str,
        arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
    ) -> PyErr
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        Python::attach(|py| {
            let refusal = arguments(py).and_then(|arguments| {
                let bridge = self.bridge.bind(py);
                bridge.call_method1(method, arguments).map(Bound::unbind)
            });
            refusal.expect_err("it always raises")
        })
    }
}
