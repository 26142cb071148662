//! The execution at hand: its events, what happens before what, and where it races.
//!
//! Each event has a vector clock: per process, how many of its events happen before this one, or
//! are it. Of another process only the last dependent event matters: those before it come with it
//! by the order within their process.

use rustc_hash::FxHashMap;

use super::{Machine, Step};

struct Event<L> {
    label: L,
    /// Its process, by order of first appearance, and its place among that one's events, from 1.
    who: usize,
    place: u32,
    clock: Vec<u32>,
    /// Events that race with this one: dependent, and nothing is between. Where others can hinder
    /// it, all that are dependent: it may have been enabled before any of them, and not since.
    races: Vec<usize>,
}

pub struct Trace<L> {
    pub steps: Vec<Step>,
    /// Those beyond `steps` are spare, kept for the memory they hold.
    events: Vec<Event<L>>,
    known: FxHashMap<u32, usize>,
    /// Per process, its events.
    own: Vec<Vec<usize>>,
}

impl<L> Default for Trace<L> {
    fn default() -> Self {
        Trace {
            steps: Vec::new(),
            events: Vec::new(),
            known: FxHashMap::default(),
            own: Vec::new(),
        }
    }
}

impl<L: Clone> Trace<L> {
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn races(&self, event: usize) -> &[usize] {
        &self.events[event].races
    }

    pub fn label(&self, event: usize) -> &L {
        &self.events[event].label
    }

    /// Whether `first` happens before `later`, or is it.
    pub fn before(&self, first: usize, later: usize) -> bool {
        let event = &self.events[first];
        let clock = &self.events[later].clock;
        clock
            .get(event.who)
            .is_some_and(|&seen| seen >= event.place)
    }

    pub fn push<M: Machine<Label = L>>(&mut self, machine: &M, step: Step, label: L) {
        let fresh = self.own.len();
        let who = *self.known.entry(step.process).or_insert(fresh);
        if who == fresh {
            self.own.push(Vec::new());
        }
        let at = self.steps.len();
        if at == self.events.len() {
            let (clock, races, place) = (Vec::new(), Vec::new(), 0);
            let label = label.clone();
            self.events.push(Event {
                label,
                who,
                place,
                clock,
                races,
            });
        }
        let mut clock = std::mem::take(&mut self.events[at].clock);
        let mut races = std::mem::take(&mut self.events[at].races);
        self.order(machine, who, &label, &mut clock, &mut races);
        let place = self.own[who].len() as u32 + 1;
        clock[who] = place;
        self.events[at] = Event {
            label,
            who,
            place,
            clock,
            races,
        };
        self.own[who].push(at);
        self.steps.push(step);
    }

    /// Take back the last event.
    pub fn pop(&mut self) -> Option<(Step, &L)> {
        let step = self.steps.pop()?;
        let event = &self.events[self.steps.len()];
        self.own[event.who].pop();
        Some((step, &event.label))
    }

    /// The races of a step that `process` would take next with this label.
    pub fn races_of<M: Machine<Label = L>>(
        &self,
        machine: &M,
        process: u32,
        label: &L,
    ) -> Vec<usize> {
        let (mut clock, mut races) = (Vec::new(), Vec::new());
        let who = self.known.get(&process).copied();
        let who = who.unwrap_or(self.own.len());
        self.order(machine, who, label, &mut clock, &mut races);
        races
    }

    /// Of these events, in order, those that happen before a next step of `process`.
    pub fn past<M: Machine<Label = L>>(
        &self,
        machine: &M,
        events: impl DoubleEndedIterator<Item = usize>,
        process: u32,
        label: &L,
    ) -> Vec<usize> {
        let (mut past, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for event in events.rev() {
            let between = last.iter().any(|&later| self.before(event, later));
            let meets = || {
                self.steps[event].process == process
                    || machine.dependent(&self.events[event].label, label)
            };
            if !between && meets() {
                last.push(event);
            } else if !between {
                continue;
            }
            past.push(event);
        }
        past
    }

    /// The clock, save for its own entry, and the races of a next event of `who`.
    fn order<M: Machine<Label = L>>(
        &self,
        machine: &M,
        who: usize,
        label: &L,
        clock: &mut Vec<u32>,
        races: &mut Vec<usize>,
    ) {
        clock.clear();
        races.clear();
        if let Some(&last) = self.own.get(who).and_then(|own| own.last()) {
            clock.extend_from_slice(&self.events[last].clock);
        }
        clock.resize(self.own.len().max(who + 1), 0);
        if machine.can_be_disabled(label) {
            self.meet_all(machine, who, label, clock, races);
        } else {
            self.meet_last(machine, who, label, clock, races);
            self.leave_races(machine, label, races);
        }
    }

    /// Find all dependent events that are not in the clock, and join theirs.
    fn meet_all<M: Machine<Label = L>>(
        &self,
        machine: &M,
        who: usize,
        label: &L,
        clock: &mut [u32],
        found: &mut Vec<usize>,
    ) {
        let dependent = |&&event: &&usize| machine.dependent(&self.events[event].label, label);
        for (other, own) in self.own.iter().enumerate() {
            if other != who {
                let unseen = &own[clock[other] as usize..];
                found.extend(unseen.iter().rev().filter(dependent));
            }
        }
        found.iter().for_each(|&event| self.join(clock, event));
    }

    /// Find the last dependent event of each process that is not in the clock, and join its clock.
    /// The process that moved last comes first: what happens before its event is in the clock then.
    fn meet_last<M: Machine<Label = L>>(
        &self,
        machine: &M,
        who: usize,
        label: &L,
        clock: &mut [u32],
        found: &mut Vec<usize>,
    ) {
        let dependent = |&&event: &&usize| machine.dependent(&self.events[event].label, label);
        let latest = self.steps.len().checked_sub(1);
        let latest = latest.map_or(who, |last| self.events[last].who);
        let others = (0..self.own.len()).filter(|&other| other != latest);
        for other in std::iter::once(latest).chain(others) {
            if other == who {
                continue;
            }
            let unseen = &self.own[other][clock[other] as usize..];
            if let Some(&event) = unseen.iter().rev().find(dependent) {
                found.push(event);
                self.join(clock, event);
            }
        }
        found.sort_unstable_by_key(|&event| self.events[event].who);
    }

    fn join(&self, clock: &mut [u32], event: usize) {
        let joined = clock.iter_mut().zip(&self.events[event].clock);
        joined.for_each(|(mine, &its)| *mine = (*mine).max(its));
    }

    /// Leave those that are races: one that comes before another found is ordered by that one.
    fn leave_races<M: Machine<Label = L>>(&self, machine: &M, label: &L, races: &mut Vec<usize>) {
        let found = races.len();
        for at in 0..found {
            let one = races[at];
            let between = |&other: &usize| other != one && self.before(one, other);
            let enables = machine.enables(&self.events[one].label, label);
            if !enables && !races[..found].iter().any(between) {
                races.push(one);
            }
        }
        races.drain(..found);
    }
}
