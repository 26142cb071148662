//! Properties in every state that some order of a class passes: its consistent cuts.
//!
//! A cut is a set of events that holds, with each, all that happens before it. A property tells two
//! cuts apart only by events that change something it has ever read. So of all cuts with the same
//! such events the largest is judged, and no other. Where these events are in one order, the
//! execution itself has passed all that the property can tell apart.
//!
//! Invariant: what a property reads in a cut that was judged is known when the execution is left.
//! A cut that was not judged agrees on all of it with one that was, and has its verdict. So what
//! the property reads later on makes no difference to executions left before.

use std::sync::atomic::Ordering::Relaxed;

use pyo3::prelude::*;

use super::events::Events;
use super::order::{EventSet, Ordered};
use super::recorder::Recorder;
use super::state::State;
use crate::reduce::por::{End, Machine, Step};
use crate::services::context::Kind;

/// Cuts of an execution that is too long to be followed to its end: it covers nothing anyway.
const UNFINISHED_MAX: u32 = 1_000;
/// Steps of an execution whose order is worked out as a whole.
const STEPS_MAX: usize = 5_000;

/// The cuts of one execution, for one property.
struct Cuts<'o> {
    order: &'o Ordered,
    property: usize,
    /// The verdict that decides the property.
    telling: bool,
    /// Events that the property can notice.
    noticed: Vec<bool>,
    /// Those of them that the cut at hand lacks.
    lacking: EventSet,
    /// How many these are. None is after another, so there are cuts with each subset of them.
    lacked: u32,
    judged: u32,
    most: u32,
}

impl Cuts<'_> {
    /// Whether one more event to lack makes more cuts than may be judged.
    fn are_too_many(&self) -> bool {
        self.lacked >= self.most.max(1).ilog2()
    }
}

impl Recorder<'_> {
    /// Judge the properties that no order is kept for in all that the class of `path` passes.
    pub fn judge_cuts(
        &mut self,
        machine: &mut Events<'_>,
        path: &[Step],
        how: End,
    ) -> PyResult<()> {
        let open: Vec<(usize, bool)> = machine.on_cuts().collect();
        if open.is_empty() || (path.len() > STEPS_MAX && how == End::Cut) {
            return Ok(());
        }
        if path.len() > STEPS_MAX {
            open.iter().for_each(|(at, _)| machine.keep_order(*at));
            return Ok(());
        }
        let order = Ordered::new(machine, path)?;
        let most = match how {
            End::Cut => self.cuts.min(UNFINISHED_MAX),
            _ => self.cuts,
        };
        for (property, telling) in open {
            let done = self.judge_all(machine, &order, (property, telling), most)?;
            if !done && how == End::Over {
                machine.keep_order(property);
            }
        }
        Ok(())
    }

    /// Judge one property, again while it reads what it has never read; false if there are more
    /// cuts than `most`.
    fn judge_all(
        &mut self,
        machine: &mut Events<'_>,
        order: &Ordered,
        (property, telling): (usize, bool),
        most: u32,
    ) -> PyResult<bool> {
        loop {
            let asked = machine.worker.judge.queries(property).len();
            let noticed = machine.noticed(order, property);
            if is_chain(order, &noticed) {
                return Ok(true);
            }
            let mut cuts = Cuts {
                order,
                property,
                telling,
                noticed,
                lacking: EventSet::empty(order.steps.len()),
                lacked: 0,
                judged: 0,
                most,
            };
            let own = std::mem::take(&mut self.trail);
            let start = machine.start()?;
            let done = self.judge_from(machine, &mut cuts, 0, start);
            self.trail = own;
            if !done? {
                return Ok(cuts.judged <= most);
            }
            if machine.worker.judge.queries(property).len() == asked {
                return Ok(true);
            }
        }
    }

    /// Judge all cuts that go on from `state` with events from `at` on. False: that is enough.
    fn judge_from(
        &mut self,
        machine: &mut Events<'_>,
        cuts: &mut Cuts<'_>,
        at: usize,
        mut state: State,
    ) -> PyResult<bool> {
        let length = self.trail.len();
        for event in at..cuts.order.steps.len() {
            if cuts.order.past[event].meets(&cuts.lacking) {
                continue;
            }
            if cuts.noticed[event] && cuts.are_too_many() {
                if cuts.most == self.cuts {
                    cuts.judged = cuts.most + 1;
                    return Ok(false);
                } // else the execution is unfinished, and some cuts are better than none
            } else if cuts.noticed[event] {
                cuts.lacking.insert(event);
                cuts.lacked += 1;
                let more = self.judge_from(machine, cuts, event + 1, state.clone())?;
                cuts.lacked -= 1;
                cuts.lacking.remove(event);
                if !more {
                    return Ok(false);
                }
            }
            machine.run(&mut state, cuts.order.steps[event])?;
            self.trail.push((state.last, state.lost.clone()));
        }
        cuts.judged += 1;
        let (worker, steps) = (&mut machine.worker, self.trail.len() as u32);
        let verdict = worker.judge(cuts.property, &state.words)?;
        if verdict == Some(cuts.telling) {
            worker.found(cuts.property, steps, self.route());
        }
        self.trail.truncate(length);
        let open = verdict.is_some() && !self.search.stopping();
        Ok(open && cuts.judged <= cuts.most)
    }
}

/// Whether these events happen one after the other.
fn is_chain(order: &Ordered, noticed: &[bool]) -> bool {
    let events: Vec<usize> = (0..noticed.len()).filter(|&at| noticed[at]).collect();
    let mut pairs = events.windows(2);
    pairs.all(|pair| order.before(pair[0], pair[1]))
}

impl Events<'_> {
    /// The properties to be judged on all cuts, each with the verdict that decides it.
    fn on_cuts(&self) -> impl Iterator<Item = (usize, bool)> {
        let properties = self.worker.search.shared.properties.iter().enumerate();
        let open = properties.filter(|(at, property)| {
            self.ordered >> at & 1 == 0 && !property.decided.load(Relaxed)
        });
        open.filter_map(|(at, property)| match property.kind {
            Kind::Always => Some((at, false)),
            Kind::Sometimes => Some((at, true)),
            _ => None,
        })
    }

    /// Which events change anything that a property has ever read.
    fn noticed(&self, order: &Ordered, property: usize) -> Vec<bool> {
        let mirror = &self.worker.expander.mirror;
        let pairs = order.states.windows(2);
        let notices = |pair: &[State]| {
            let (before, after) = (&pair[0].words, &pair[1].words);
            self.worker.judge.notices(property, before, after, mirror)
        };
        pairs.map(notices).collect()
    }

    /// What a report says of properties that were not judged on cuts.
    pub fn note(&self) -> Option<String> {
        let which = match self.ordered.count_ones() {
            0 => return None,
            1 => "1 property".to_string(),
            more => format!("{more} properties"),
        };
        let why = "an execution has too many consistent cuts to judge all";
        Some(format!(
            "order was kept of all that {which} can notice: {why}"
        ))
    }

    /// From now on, steps that a property notices depend on each other.
    fn keep_order(&mut self, property: usize) {
        self.ordered |= 1 << property;
    }
}
