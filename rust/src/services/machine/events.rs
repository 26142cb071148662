//! A system of services as a machine: which steps its processes can take, and what they do.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::label::{self, Cause, Footprint, Label};
use super::losses::{Loss, TooManyWays, affordable, all_losses};
use super::state::{State, Terrain, Wire};
use crate::reduce::por::{Machine, Step};
use crate::search::worker::Worker;
use crate::services::effects::EffectId;
use crate::services::expand::{Effect, EventKind, NOWHERE};
use crate::services::ids::{EnvelopeId, LocalId};
use crate::services::layout::{Layout, Network};
use crate::services::tables::NOT_A_FAULT;
use crate::table::fingerprint::combine_iter;

/// The low bits of a choice say which of the process's steps it is, the others what is lost.
const STEP_BITS: u32 = 16;

/// Which of its process's ways a step is, losses aside.
pub fn way_number(step: Step) -> u32 {
    step.choice as u32 & ((1 << STEP_BITS) - 1)
}

/// One way in which a process can step, losses aside.
#[derive(Clone, Copy)]
pub struct Way {
    pub number: u32,
    pub effect: EffectId,
    pub word: u32,
    pub what: EventKind,
}

/// What is known of where an exploration begins, and of what its properties read.
pub struct Brief {
    start: State,
    ordered: u64,
    watched: Vec<usize>,
    known: usize,
}

pub struct Events<'a> {
    pub worker: Worker<'a>,
    pub terrain: Terrain,
    pub start: State,
    /// Steps run, those of race analysis too.
    pub runs: u64,
    pub footprints: FxHashMap<(LocalId, Cause), Arc<Footprint>>,
    /// By node and class of message, and by node: see `touch.rs`.
    pub touched: FxHashMap<(u32, u32), u64>,
    pub kinds: FxHashMap<u32, Arc<[u64]>>,
    losses: FxHashMap<EffectId, Arc<Vec<Vec<Loss>>>>,
    list: Vec<Way>,
    /// Properties for which order is kept, as bits: executions have too many cuts for them.
    pub ordered: u64,
    /// Those of them that are open, and how much they had looked at at the beginning.
    pub watched: Vec<usize>,
    pub known: usize,
}

fn impossible(step: Step) -> PyErr {
    PyRuntimeError::new_err(format!("{step:?} was to be taken where it is not possible"))
}

impl Machine for Events<'_> {
    type State = State;
    type Label = Label;
    type Error = PyErr;
    type Brief = Brief;

    fn brief(&self) -> Brief {
        Brief {
            start: self.start.clone(),
            ordered: self.ordered,
            watched: self.watched.clone(),
            known: self.known,
        }
    }

    fn adopt(&mut self, brief: &Brief) -> PyResult<()> {
        self.worker.sync();
        if (self.ordered, &self.watched, self.known) != (brief.ordered, &brief.watched, brief.known)
        {
            self.footprints.clear();
            self.watched.clone_from(&brief.watched);
            (self.ordered, self.known) = (brief.ordered, brief.known);
        }
        self.start.clone_from(&brief.start);
        Ok(())
    }

    /// What properties have ever looked at, and what more is to be learnt of them.
    fn version(&self) -> u64 {
        let properties = self.worker.search.shared.properties.iter().enumerate();
        let known = properties.map(|(at, property)| {
            let asked = self.worker.judge.queries(at).len() as u64;
            asked << 1 | u64::from(property.decided.load(Relaxed))
        });
        combine_iter(known.chain([self.ordered, self.known as u64]))
    }

    fn work(&self) -> u64 {
        self.runs
    }

    fn add_work(&mut self, steps: u64) {
        self.runs += steps;
    }

    fn start(&mut self) -> PyResult<State> {
        Ok(self.start.clone())
    }

    fn enabled(&mut self, state: &State, into: &mut Vec<Step>) -> PyResult<()> {
        for node in 0..self.terrain.nodes {
            self.choices(state, node, into)?;
        }
        let mut previous = NOWHERE;
        for at in self.terrain.fixed..state.words.len() {
            let word = state.words[at];
            if word != previous {
                previous = word;
                let key = self.terrain.key_of(&self.worker.expander.mirror, word);
                self.choices(state, self.terrain.process_of(key), into)?;
            }
        }
        for process in self.wires(state) {
            self.choices(state, process, into)?;
        }
        for node in 0..self.terrain.nodes {
            self.choices(state, self.terrain.faults_of(node), into)?;
        }
        Ok(())
    }

    fn choices(&mut self, state: &State, process: u32, into: &mut Vec<Step>) -> PyResult<()> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        self.ways(state, process, &mut list)?;
        let here = (&state.words[..], state.sum);
        let expander = &mut self.worker.expander;
        expander.retain_possible(here, &mut list, |way| way.effect)?;
        for way in &list {
            let losses = self.losses(way.effect)?;
            for (at, lost) in losses.iter().enumerate() {
                if lost.is_empty() || affordable(self.layout(), &state.words, lost) {
                    let choice = (way.number | (at as u32) << STEP_BITS) as i32;
                    into.push(Step { process, choice });
                }
            }
        }
        self.list = list;
        Ok(())
    }

    fn run(&mut self, state: &mut State, step: Step) -> PyResult<Label> {
        self.runs += 1;
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        self.ways(state, step.process, &mut list)?;
        let number = way_number(step);
        let way = list.iter().find(|way| way.number == number).copied();
        self.list = list;
        let way = way.ok_or_else(|| impossible(step))?;
        let label = self.label(state, step.process, &way)?;
        (state.by, state.last) = (step.process, None);
        state.lost.clear();
        self.apply(state, (way.effect, way.word, way.what))?;
        if let Some(key) = self.terrain.key(step.process)
            && self.terrain.network != Network::Duplicating
        {
            state.take(key);
        }
        if let Some(Wire::Receive(source, to)) = self.terrain.wire(step.process) {
            state.take(self.terrain.key_of_queue(source, to));
        }
        let losses = self.losses(way.effect)?;
        for loss in &losses[(step.choice as u32 >> STEP_BITS) as usize] {
            self.lose(state, loss)?;
        }
        Ok(label)
    }

    fn dependent(&self, one: &Label, other: &Label) -> bool {
        label::dependent(one, other)
    }

    /// What a step is like depends on its node, and on nothing that is independent of it.
    fn stale(&self, _ran: &Label, _label: &Label) -> bool {
        false
    }

    fn labels_depend_on_order(&self) -> bool {
        true
    }

    fn is_urgent(&self, step: Step) -> bool {
        self.terrain.stricken(step.process).is_some()
    }

    fn may_disable(&mut self, before: &State, after: &State, last: &State) -> PyResult<bool> {
        Ok(self.may_close(before, after, last)?
            || self.may_spare(before, after)?
            || self.may_break(before, after))
    }

    fn may_hide(&mut self, first: [&State; 2], second: [&State; 2]) -> PyResult<bool> {
        Ok(self.obscures(first, second) || self.hides(first, second)?)
    }

    fn disabled_by(
        &mut self,
        step: (&State, &State),
        free: &State,
        into: &mut Vec<u32>,
    ) -> PyResult<()> {
        self.closed_by(step, free, into)?;
        self.broken_by(step, free, into)?;
        self.spared_by(step, free, into)
    }
}

impl<'a> Events<'a> {
    pub fn new(worker: Worker<'a>, start: State) -> Self {
        Events {
            terrain: Terrain::new(&worker.search.shared.layout),
            worker,
            start,
            runs: 0,
            footprints: FxHashMap::default(),
            touched: FxHashMap::default(),
            kinds: FxHashMap::default(),
            losses: FxHashMap::default(),
            list: Vec::new(),
            ordered: 0,
            watched: Vec::new(),
            known: 0,
        }
    }

    pub fn layout(&self) -> &Layout {
        &self.worker.search.shared.layout
    }

    pub fn effect(&self, effect: EffectId) -> Effect {
        self.worker.expander.effects[effect]
    }

    /// Whether an effect does nothing in `state`: such steps are left out. Only steps of its own
    /// node make any difference to that.
    pub fn idle(&self, state: &State, local: LocalId, effect: &Effect) -> bool {
        let mix = |local: LocalId| self.worker.expander.mirror.locals[local.index()].mix;
        let flying = &state.words[self.terrain.fixed..];
        let stays = self.terrain.network == Network::Duplicating;
        let mut sent = self.sent(effect).iter();
        effect.records == 0
            && effect.flowing == NOWHERE
            && mix(local) == mix(effect.local)
            && sent.all(|sent| stays && flying.contains(&sent.number()))
    }

    fn ways(&mut self, state: &State, process: u32, into: &mut Vec<Way>) -> PyResult<()> {
        if let Some(node) = self.terrain.stricken(process) {
            return self.faults(state, node, into);
        }
        if let Some(wire) = self.terrain.wire(process) {
            return self.wire_ways(state, wire, into);
        }
        let Some(key) = self.terrain.key(process) else {
            let local = state.local(process);
            let range = self.worker.expander.internal(local)?;
            for (number, effect) in range.iter().enumerate() {
                let known = self.effect(effect);
                if known.fault == NOT_A_FAULT && !self.idle(state, local, &known) {
                    into.push(Way::new(number, effect, NOWHERE, EventKind::Internal)?);
                }
            }
            return Ok(());
        };
        let mirror = &self.worker.expander.mirror;
        let Some(word) = self.terrain.find(mirror, &state.words, key) else {
            return Ok(());
        };
        let envelope = self.terrain.envelope(mirror, state.words[word]);
        let to = mirror.envelopes[envelope.index()].to;
        let local = state.local(to);
        let range = self.worker.expander.delivery(local, envelope)?;
        let stays = self.terrain.network == Network::Duplicating;
        for (number, effect) in range.iter().enumerate() {
            if !stays || !self.idle(state, local, &self.effect(effect)) {
                into.push(Way::new(number, effect, word as u32, EventKind::Deliver)?);
            }
        }
        Ok(())
    }

    /// The faults of a node that can happen now.
    fn faults(&mut self, state: &State, node: u32, into: &mut Vec<Way>) -> PyResult<()> {
        let local = state.local(node);
        for (number, effect) in self.worker.expander.internal(local)?.iter().enumerate() {
            let known = self.effect(effect);
            if self.strikes(state, local, &known) && self.is_left(&state.words, known.fault) {
                into.push(Way::new(number, effect, NOWHERE, EventKind::Internal)?);
            }
        }
        Ok(())
    }

    /// The ways in which what an effect sends can be lost or duplicated.
    fn losses(&mut self, effect: EffectId) -> PyResult<Arc<Vec<Vec<Loss>>>> {
        if let Some(known) = self.losses.get(&effect) {
            return Ok(known.clone());
        }
        let known = self.worker.expander.effects.get(effect);
        let mut sent = known.map_or(Vec::new(), |effect| self.sent(effect).to_vec());
        let mirror = &self.worker.expander.mirror;
        sent.retain(|envelope| !mirror.envelopes[envelope.index()].reliable);
        let found = Arc::new(all_losses(self.layout(), &sent)?);
        self.losses.insert(effect, found.clone());
        Ok(found)
    }

    pub fn sent(&self, effect: &Effect) -> &[EnvelopeId] {
        let (start, count) = effect.sends;
        &self.worker.expander.sends[start as usize..(start + count) as usize]
    }

    pub fn lose(&mut self, state: &mut State, loss: &Loss) -> PyResult<()> {
        let times = [
            (EventKind::Duplicate, loss.duplicates),
            (EventKind::Drop, loss.drops),
        ];
        for (what, times) in times {
            for _ in 0..times {
                let mirror = &self.worker.expander.mirror;
                let word = self
                    .terrain
                    .find(mirror, &state.words, loss.envelope.number());
                let gone = || PyRuntimeError::new_err("a message that was sent is not in flight");
                self.apply(state, (EffectId::NONE, word.ok_or_else(gone)? as u32, what))?;
            }
        }
        Ok(())
    }

    /// Write the state that an event leads to, and remember the event.
    fn apply(&mut self, state: &mut State, event: (EffectId, u32, EventKind)) -> PyResult<()> {
        let (effect, word, what) = event;
        let expander = &mut self.worker.expander;
        expander.candidates.clear();
        expander.push_candidate(&state.words, state.sum, (0, effect, word, what))?;
        let candidate = expander.candidates[0];
        state.spare.clear();
        let mut words = std::mem::take(&mut state.spare);
        expander.build(&state.words, &candidate, &mut words);
        let happened = self.worker.happened(&candidate, &state.words);
        match what {
            EventKind::Drop | EventKind::Duplicate => state.lost.push(happened),
            _ => state.last = Some(happened),
        }
        state.spare = std::mem::replace(&mut state.words, words);
        state.sum = candidate.fingerprint;
        Ok(())
    }
}

impl Way {
    pub fn new(number: usize, effect: EffectId, word: u32, what: EventKind) -> PyResult<Self> {
        if number >= 1 << STEP_BITS {
            return Err(TooManyWays::new_err(1 << STEP_BITS));
        }
        Ok(Way {
            number: number as u32,
            effect,
            word,
            what,
        })
    }
}
