//! Deadlocks of sends that wait for want of room.
//!
//! A send that may wait is explored as one that does not: all that happens if it waits, and goes
//! on, happens then, too. What is left is that it waits for ever, with others. Let F be an
//! execution that ends so. Go on from its end with room for all: some execution E is explored that
//! is equivalent. F is E without those steps that got room, and without what happens after them.
//!
//! So for each E the steps are sought that need room, but get it in F. At first, none does. What is
//! left of E then is part of F. If nothing can happen there, a deadlock is found. If a guess is
//! wrong there (`World::is_wrong`), it comes true in F, as in E: the steps that it takes, and those
//! before them, are in F, and those of them that need room get it. Where several things may make a
//! guess right, each is tried.

use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::label::{Kind, Label};
use super::op::fits;
use super::state::{Post, State, Use};
use super::world::World;
use crate::reduce::por::{Machine, Step};

/// Ways to make a guess right: the events that each takes.
type Ways = Vec<Vec<usize>>;

/// An execution, seen again.
struct Execution<'a> {
    path: &'a [Step],
    labels: Vec<Label>,
    /// Whether each step returns a send that may wait.
    needy: Vec<bool>,
    /// Per post by channel, the events that it took to meet another.
    meetings: FxHashMap<u64, Vec<usize>>,
}

impl World {
    /// The part of an execution that lacks room for sends, if nobody can go on after it.
    pub fn blocked(&mut self, path: &[Step]) -> PyResult<Option<(Vec<Step>, State)>> {
        if !self.memo.may_wait {
            return Ok(None); // no step needs room
        }
        let execution = self.seen_again(path)?;
        if !execution.needy.contains(&true) {
            return Ok(None);
        }
        let (mut todo, mut tried) = (vec![Vec::new()], FxHashSet::default());
        while let Some(room) = todo.pop() {
            if !tried.insert(room.clone()) {
                continue;
            }
            let (taken, left, state) = self.without_room(&execution, &room)?;
            if left.is_empty() {
                continue;
            }
            let mut steps = Vec::new();
            self.enabled(&state, &mut steps)?;
            if self.is_blocked(&state, &steps) {
                return Ok(Some((taken, state)));
            }
            for way in self.ways(&execution, &left, &state, &steps) {
                let more = execution.needs(self, way, &room);
                if more.len() > room.len() {
                    todo.push(more);
                }
            }
        }
        Ok(None)
    }

    fn seen_again<'a>(&mut self, path: &'a [Step]) -> PyResult<Execution<'a>> {
        let mut execution = Execution {
            path,
            labels: Vec::new(),
            needy: Vec::new(),
            meetings: FxHashMap::default(),
        };
        let (mut state, mut posted) = (self.start()?, FxHashMap::default());
        let mut before: Vec<(u64, u32, u32)> = Vec::new();
        for (at, &step) in path.iter().enumerate() {
            let send = self.awaited_send(&state, step.process);
            execution.needy.push(send.is_some());
            before.clear();
            before.extend(state.posts.iter().filter_map(request));
            let label = self.run(&mut state, step)?;
            if label.kind == Kind::Post {
                posted.insert(label.link.0, at);
                let slots = state.slots_of(step.process).iter().enumerate();
                let own = slots.filter(|(_, slot)| slot.post == label.link.0);
                let own = own.filter(|(_, slot)| slot.usage == Use::Recv);
                before.extend(own.map(|(at, slot)| (slot.post, step.process, at as u32)));
            }
            execution.labels.push(label);
            for &(post, owner, slot) in &before {
                let held = state.slot(owner, slot).filter(|held| held.post == post);
                let Some(held) = held.filter(|held| held.partner != 0) else {
                    continue;
                };
                let needed = state.records.needed(post).chain([post, held.partner]);
                let events: Vec<usize> = needed.filter_map(|on| posted.get(&on).copied()).collect();
                execution.meetings.insert(held.partner, events.clone());
                execution.meetings.insert(post, events);
            }
        }
        Ok(execution)
    }

    /// Take what needs no room, or has it: the steps taken, the events left, the state reached.
    fn without_room(
        &mut self,
        execution: &Execution<'_>,
        room: &[usize],
    ) -> PyResult<(Vec<Step>, Vec<usize>, State)> {
        let mut state = self.start()?;
        let path = execution.path;
        let (mut taken, mut left) = (Vec::new(), (0..path.len()).collect::<Vec<_>>());
        loop {
            let mut skipped: Vec<usize> = Vec::new();
            for &at in &left {
                let lacks = !room.contains(&at) && self.needs_room(&state, path[at]);
                let after = skipped
                    .iter()
                    .any(|&before| execution.orders(self, before, at));
                if lacks || after || !self.is_enabled(&state, path[at])? {
                    skipped.push(at);
                } else {
                    self.run(&mut state, path[at])?;
                    taken.push(path[at]);
                }
            }
            if skipped.is_empty() || skipped.len() == left.len() {
                return Ok((taken, skipped, state));
            }
            left = skipped;
        }
    }

    fn is_enabled(&mut self, state: &State, step: Step) -> PyResult<bool> {
        let mut steps = Vec::new();
        self.choices(state, step.process, &mut steps)?;
        Ok(steps.contains(&step))
    }

    /// How what is wrong in a state comes right in the execution.
    fn ways(
        &self,
        execution: &Execution<'_>,
        left: &[usize],
        state: &State,
        steps: &[Step],
    ) -> Ways {
        let next = |process: u32| {
            let mut own = left.iter().copied();
            own.find(|&at| execution.path[at].process == process)
        };
        // Somebody can go on, or would have got another answer.
        for process in 0..state.members.len() as u32 {
            let mut own = steps.iter().filter(|step| step.process == process);
            let able = own.any(|&step| !self.needs_room(state, step));
            if able || self.waits_wrongly(state, process) {
                return next(process).map(|at| vec![at]).into_iter().collect();
            }
        }
        let requests = || state.posts.iter().filter(|post| request(post).is_some());
        for asked in requests() {
            let fitting = |post: &&Post| {
                post.send && post.mailbox == asked.mailbox && fits(asked.key, post.key)
            };
            if let Some(sent) = state.posts.iter().find(fitting) {
                let meetings = [asked.post, sent.post].map(|post| execution.meetings.get(&post));
                return meetings.into_iter().flatten().cloned().collect();
            }
        }
        Ways::new()
    }
}

/// A pending receive by channel: its name, its owner and slot.
fn request(post: &Post) -> Option<(u64, u32, u32)> {
    let channelled = !post.send && post.claim.is_some();
    channelled.then_some((post.post, post.owner, post.slot))
}

impl Execution<'_> {
    fn orders(&self, world: &World, before: usize, at: usize) -> bool {
        self.path[before].process == self.path[at].process
            || world.dependent(&self.labels[before], &self.labels[at])
    }

    /// The steps that get room, if these events happen too, and all before them.
    fn needs(&self, world: &World, events: Vec<usize>, room: &[usize]) -> Vec<usize> {
        let mut past = events;
        let mut all: FxHashSet<usize> = room.iter().copied().collect();
        let mut seen = FxHashSet::default();
        while let Some(at) = past.pop() {
            if !seen.insert(at) {
                continue;
            }
            if self.needy[at] {
                all.insert(at);
            }
            past.extend((0..at).filter(|&before| self.orders(world, before, at)));
        }
        let mut all: Vec<usize> = all.into_iter().collect();
        all.sort_unstable();
        all
    }
}
