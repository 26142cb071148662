//! Messages that can arrive at one node in one state, shown to Python, which asks rules about them.
//!
//! Each message is shown with each local state that it meets, and so are each two of them, once per
//! thread; Python leaves out what another thread has shown. Without rules there is none of this.

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::services::expand::Expander;
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::misses::Cause;

/// A local state, and two messages; the same one twice stands for it alone.
type Meeting = (LocalId, EnvelopeId, EnvelopeId);

#[derive(Default)]
pub struct Arrivals {
    /// Whether it takes the states of observers to tell what a rule asks.
    met: FxHashMap<Meeting, bool>,
    observed: FxHashSet<(Meeting, Box<[u32]>)>,
    /// Per message that can arrive in the state at hand: the node where.
    here: Vec<(u32, EnvelopeId)>,
}

impl Expander {
    /// Show Python what can arrive in `state`, as far as it has not seen it.
    #[cold]
    pub fn show_arrivals(&mut self, state: &[u32]) -> PyResult<()> {
        let Some(mut arrivals) = self.arrivals.take() else {
            return Ok(());
        };
        self.list_arrivals(state, &mut arrivals.here);
        let shown = self.show(state, &mut arrivals);
        self.arrivals = Some(arrivals);
        shown
    }

    fn list_arrivals(&self, state: &[u32], here: &mut Vec<(u32, EnvelopeId)>) {
        here.clear();
        for position in self.shared.layout.fixed..state.len() {
            let envelope = self.envelope_at(state, position as u32);
            let info = self.mirror.envelopes[envelope.index()];
            if self.shared.layout.joined(state, info.source, info.to) {
                here.push((info.to, envelope));
            }
        }
        here.sort_unstable();
        here.dedup();
    }

    fn show(&self, state: &[u32], arrivals: &mut Arrivals) -> PyResult<()> {
        for (at, &(node, one)) in arrivals.here.iter().enumerate() {
            let there = arrivals.here[at..].iter();
            for &(_, other) in there.take_while(|(other, _)| *other == node) {
                let meeting = (LocalId::of(state[node as usize]), one, other);
                let decide = match arrivals.met.get(&meeting) {
                    Some(&known) => known,
                    None => {
                        let decide = self.show_meeting(meeting, None)?;
                        arrivals.met.insert(meeting, decide);
                        decide
                    }
                };
                let layout = &self.shared.layout;
                let observers = &state[layout.nodes..layout.nodes + layout.observers];
                if decide && arrivals.observed.insert((meeting, observers.into())) {
                    self.show_meeting(meeting, Some(observers))?;
                }
            }
        }
        Ok(())
    }

    fn show_meeting(&self, meeting: Meeting, observers: Option<&[u32]>) -> PyResult<bool> {
        let (local, one, other) = meeting;
        let shared = &self.shared;
        Python::attach(|py| {
            let mut messages = Vec::new();
            let both = if one == other {
                &[one][..]
            } else {
                &[one, other]
            };
            for &envelope in both {
                let cause = shared.caused(py, Cause::Envelope(envelope))?;
                messages.push((cause.get_item(1)?, cause.get_item(2)?));
            }
            let states = |ids: &[u32]| {
                let states = ids.iter().map(|&id| shared.value(py, id));
                states.collect::<PyResult<Vec<_>>>()
            };
            let key = (local.number(), one.number(), other.number());
            let (node, fresh) = (shared.row(local).0, shared.fresh_callable(py, local)?);
            let shown = (
                key,
                node,
                fresh,
                messages,
                observers.map(states).transpose()?,
            );
            let bridge = shared.bridge.bind(py);
            bridge.call_method1("arrived", shown)?.extract()
        })
    }
}
