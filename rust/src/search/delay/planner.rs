//! One thread's view of states as tasks in order: what can be followed, and what it costs.
//!
//! A state is listed and judged when it is first met; its tasks are then put in order. What is
//! followed later is found again by the addresses of its tasks. Who explores decides which state
//! comes next.

use pyo3::prelude::*;

use super::Plan;
use super::agenda::{Address, Task};
use super::custom::Custom;
use super::entry::Rest;
use super::machine::{Machine, State, Turn};
use super::order::{Place, Scheduler, Step};
use super::price::Prices;

/// A state that waits: its words and fingerprint, the addresses of its tasks, how far it is done.
#[derive(Clone, Copy)]
pub struct Waiting<'b> {
    pub state: State<'b>,
    pub addresses: &'b [u32],
    pub rest: Rest,
}

impl<'b> Waiting<'b> {
    /// One that was written by `Rest::write`.
    pub fn of(words: &'b [u32], sum: u64) -> Self {
        let (state, addresses, rest) = Rest::of(words);
        Waiting {
            state: (state, sum),
            addresses,
            rest,
        }
    }

    /// The places of its tasks, and none for its faults.
    pub fn places(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        (0..self.addresses.len()).map(Some).chain([None])
    }

    /// Of a state reached from it: by which task, none for a fault.
    pub fn origin(&self, ran: Option<usize>) -> Origin {
        Origin {
            parent: self.state.1,
            ran,
            scheduler: self.rest.scheduler,
        }
    }
}

/// How a state was reached: from which one, by which of its tasks (none: a fault), and the state
/// that a scheduler with one was in.
#[derive(Clone, Copy)]
pub struct Origin {
    pub parent: u64,
    pub ran: Option<usize>,
    pub scheduler: u32,
}

pub struct Planner<'a> {
    scheduler: Scheduler,
    pub prices: Prices,
    custom: Option<Custom<'a>>,
    tasks: Vec<Task>,
    places: Vec<(Place, Task)>,
    keys: Vec<u64>,
    sent: Vec<u64>,
}

impl<'a> Planner<'a> {
    pub fn new(plan: &'a Plan, seed: u64) -> PyResult<Self> {
        let scheduler = plan.scheduler(seed)?;
        let custom = plan.user.as_ref();
        let custom = custom.filter(|_| scheduler == Scheduler::Custom);
        Ok(Planner {
            scheduler,
            prices: Prices::new(plan)?,
            custom: custom.map(Custom::new),
            tasks: Vec::new(),
            places: Vec::new(),
            keys: Vec::new(),
            sent: Vec::new(),
        })
    }

    /// Visit a state, and write the addresses of its tasks in order; `origin` is none for an
    /// initial state. Gives nothing if the state is too deep.
    pub fn arrange(
        &mut self,
        machine: &mut impl Machine,
        state: State<'_>,
        depth: u32,
        origin: Option<Origin>,
        addresses: &mut Vec<u32>,
    ) -> PyResult<Option<Rest>> {
        addresses.clear();
        let parent = origin.map(|origin| origin.parent);
        let Some(faults) = machine.visit(state, depth, parent, &mut self.tasks)? else {
            return Ok(None);
        };
        if origin.is_none() {
            self.forget();
            self.sent.clear();
        }
        let step = Step {
            before: &self.keys,
            ran: origin.and_then(|origin| origin.ran),
            sent: &self.sent,
            state: origin.map(|origin| origin.scheduler),
        };
        let scheduler = match &mut self.custom {
            Some(custom) => custom.arrange(&step, &mut self.tasks)?,
            None => {
                self.scheduler
                    .arrange(&step, state.1, &mut self.places, &mut self.tasks);
                0
            }
        };
        addresses.extend(self.tasks.iter().map(|task| task.address.0));
        Ok(Some(Rest::new(depth, self.tasks.len(), faults, scheduler)))
    }

    /// The first offset, from `from` on, at which there is something to do.
    pub fn next_offset(&self, addresses: &[u32], rest: Rest, from: u32) -> Option<u32> {
        self.prices.next(addresses, rest.has_faults(), from)
    }

    /// Forget the state that was followed: another one is next.
    pub fn forget(&mut self) {
        self.keys.clear();
    }

    /// List what the task at a place, or the faults, can do; gives which branches of it are due at
    /// the offset of the state.
    pub fn list(
        &self,
        machine: &mut impl Machine,
        waiting: Waiting<'_>,
        at: Option<usize>,
    ) -> PyResult<Vec<usize>> {
        let Waiting { state, rest, .. } = waiting;
        let first = waiting.addresses.first().map(|&address| Address(address));
        let Some(at) = at else {
            let turn = self.prices.turn(self.prices.fault(), rest.offset);
            return Ok(match turn.filter(|_| rest.has_faults()) {
                Some(turn) => (0..machine.list_faults(state, first, turn)?).collect(),
                None => Vec::new(),
            });
        };
        let address = Address(waiting.addresses[at]);
        let turns = [self.prices.likely(at), self.prices.unlikely(at)]
            .map(|price| self.turn_of(at, price, rest.offset));
        if turns[0].is_none() && (turns[1].is_none() || !address.is_several()) {
            return Ok(Vec::new());
        }
        let mut due = Vec::new();
        for branch in 0..machine.list(state, address)? {
            let Some(turn) = turns[branch.min(1)] else {
                continue;
            };
            let first = first.filter(|_| turn != Turn::Any);
            let commutes = match first {
                Some(first) => machine.commutes(state, first, branch)?,
                None => false,
            };
            if turn == Turn::Any || commutes == (turn == Turn::Late) {
                due.push(branch);
            }
        }
        Ok(due)
    }

    /// Which turn of a branch of the task at a place comes at an offset. The first task has one.
    fn turn_of(&self, at: usize, price: u32, offset: u32) -> Option<Turn> {
        match at {
            0 => (price == offset).then_some(Turn::Any),
            _ => self.prices.turn(price, offset),
        }
    }

    /// Write out and judge what a branch listed leads to; gives its fingerprint.
    pub fn build(
        &mut self,
        machine: &mut impl Machine,
        waiting: Waiting<'_>,
        branch: usize,
        next: &mut Vec<u32>,
    ) -> PyResult<u64> {
        if self.keys.is_empty() {
            for &address in waiting.addresses {
                let key = machine.key(waiting.state.0, Address(address))?;
                self.keys.push(key);
            }
        }
        next.clear();
        self.sent.clear();
        let sent = &mut self.sent;
        machine.build(waiting.state, waiting.rest.depth, branch, next, sent)
    }
}
