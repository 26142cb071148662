//! Linearizability as a monitor: what a history needs to know of its past, one event at a time.
//!
//! A state of the monitor is the operations in flight and a set of *configurations*: the state of
//! the spec, and per operation in flight whether it is placed already, and with which result. An
//! order is in the set only if its last operation is answered, so an invocation changes nothing but
//! what is in flight. At an answer, an operation that is placed must have that result; one that is
//! not is placed now, behind any sequence of others in flight. By induction over the answers, the
//! set holds what all orders lead to that respect real time and explain the answers so far.
//!
//! Invariant: the set depends on the history alone, not on the interleaving that led to it. States
//! are interned, so an event is one look-up, wherever it happened before.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::spec::{Open, Specs};

/// Beyond so many configurations, kept or tried, an order is looked for depth first: that may find
/// one at once, and keeps nothing.
const KEPT_MAX: usize = 256;
const TRIED_MAX: usize = 4_096;

/// A state of the monitor, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MonitorId(u32);

/// What a client recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    Invoke { name: u32, op: u32 },
    Return { name: u32, value: u32 },
}

/// What a state of the monitor says of its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opinion {
    Ordered,
    Disordered,
    /// There are too many configurations.
    Open,
}

#[derive(PartialEq, Eq, Hash)]
struct State {
    spec: u32,
    /// (client, operation), sorted by client.
    flying: Box<[(u32, u32)]>,
    /// Sorted; of each the spec's state, then per operation in flight 0, or one more than its
    /// result.
    configurations: Box<[u32]>,
    /// There were too many.
    open: bool,
}

#[derive(Default)]
pub struct Monitors {
    states: Vec<Arc<State>>,
    ids: FxHashMap<Arc<State>, MonitorId>,
    first: FxHashMap<u32, MonitorId>,
    steps: FxHashMap<(MonitorId, Event), MonitorId>,
}

impl Monitors {
    /// The state before anything was recorded.
    pub fn first(&mut self, specs: &Specs, spec: u32) -> Result<MonitorId, Open> {
        if let Some(&known) = self.first.get(&spec) {
            return Ok(known);
        }
        let initial = specs.initial(spec)?;
        let id = self.intern(State {
            spec,
            flying: Box::default(),
            configurations: [initial].into(),
            open: false,
        });
        self.first.insert(spec, id);
        Ok(id)
    }

    pub fn opinion(&self, id: MonitorId) -> Opinion {
        let state = &self.states[id.0 as usize];
        match (state.open, state.configurations.is_empty()) {
            (true, _) => Opinion::Open,
            (false, true) => Opinion::Disordered,
            (false, false) => Opinion::Ordered,
        }
    }

    pub fn step(&mut self, specs: &Specs, id: MonitorId, event: Event) -> Result<MonitorId, Open> {
        if let Some(&known) = self.steps.get(&(id, event)) {
            return Ok(known);
        }
        let state = &self.states[id.0 as usize];
        let after = match event {
            Event::Invoke { name, op } => state.invoked(name, op),
            Event::Return { name, value } => state.returned(specs, name, value)?,
        };
        let after = self.intern(after);
        self.steps.insert((id, event), after);
        Ok(after)
    }

    fn intern(&mut self, state: State) -> MonitorId {
        if let Some(&known) = self.ids.get(&state) {
            return known;
        }
        let id = MonitorId(self.states.len() as u32);
        let state = Arc::new(state);
        self.states.push(state.clone());
        self.ids.insert(state, id);
        id
    }
}

/// Configurations on the way to an answer.
#[derive(Default)]
struct Placing {
    /// Those to go on from.
    open: Vec<Box<[u32]>>,
    met: FxHashSet<Box<[u32]>>,
    /// Those with the answer, without its operation.
    ends: FxHashSet<Box<[u32]>>,
}

impl Placing {
    fn push(&mut self, configuration: Box<[u32]>) {
        if self.met.insert(configuration.clone()) {
            self.open.push(configuration);
        }
    }

    fn is_too_large(&self) -> bool {
        self.ends.len() > KEPT_MAX || self.met.len() > TRIED_MAX
    }
}

impl State {
    fn configurations(&self) -> impl Iterator<Item = &[u32]> {
        self.configurations.chunks_exact(1 + self.flying.len())
    }

    fn invoked(&self, name: u32, op: u32) -> State {
        let at = self.flying.partition_point(|&(other, _)| other < name);
        let mut flying = self.flying.to_vec();
        flying.insert(at, (name, op));
        // A zero at one place in all of them keeps them sorted.
        let with_zero = |words: &[u32]| [&words[..1 + at], &[0], &words[1 + at..]].concat();
        State {
            spec: self.spec,
            flying: flying.into(),
            configurations: self.configurations().flat_map(with_zero).collect(),
            open: self.open,
        }
    }

    fn returned(&self, specs: &Specs, name: u32, value: u32) -> Result<State, Open> {
        // The table of histories sees to it that every answer has its question.
        let at = self.flying.iter().position(|&(other, _)| other == name);
        let at = at.ok_or(Open::Unclear)?;
        let mut placing = Placing::default();
        for configuration in self.configurations() {
            match configuration[1 + at] {
                0 => placing.push(configuration.into()),
                placed if specs.equal(value, placed - 1)? => {
                    placing.ends.insert(without(configuration, at));
                }
                _ => (),
            }
        }
        while let Some(configuration) = placing.open.pop() {
            self.place(specs, &configuration, (at, value), &mut placing)?;
            if placing.is_too_large() {
                break;
            }
        }
        let open = self.open || placing.is_too_large();
        let mut ends: Vec<_> = placing.ends.into_iter().filter(|_| !open).collect();
        ends.sort_unstable();
        let mut flying = self.flying.to_vec();
        flying.remove(at);
        Ok(State {
            spec: self.spec,
            flying: flying.into(),
            configurations: ends.into_iter().flatten().collect(),
            open,
        })
    }

    /// Place each operation in flight next: the one that is answered ends the sequence.
    fn place(
        &self,
        specs: &Specs,
        configuration: &[u32],
        (at, value): (usize, u32),
        placing: &mut Placing,
    ) -> Result<(), Open> {
        for (place, &(_, op)) in self.flying.iter().enumerate() {
            if configuration[1 + place] != 0 {
                continue;
            }
            let Some((after, result)) = specs.apply(self.spec, configuration[0], op)? else {
                continue;
            };
            let mut next: Box<[u32]> = configuration.into();
            next[0] = after;
            if place != at {
                next[1 + place] = result + 1;
                placing.push(next);
            } else if specs.equal(value, result)? {
                placing.ends.insert(without(&next, at));
            }
        }
        Ok(())
    }
}

/// A configuration without the operation at a place.
fn without(configuration: &[u32], at: usize) -> Box<[u32]> {
    [&configuration[..1 + at], &configuration[2 + at..]]
        .concat()
        .into()
}
