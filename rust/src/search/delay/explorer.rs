//! One thread of a search by delays: takes a state that waits, does what costs as much as is now
//! allowed, and lets it wait for the rest.

use pyo3::prelude::*;

use super::Plan;
use super::bucket::Buckets;
use super::entry::Rest;
use super::machine::{Machine, State};
use super::planner::{Origin, Planner, Waiting};
use crate::search::dfs::Stack;
use crate::search::worker::{HEADER, Stored, store, stored};

/// Entries are handed over when they take this many words.
const CHUNK: usize = 1 << 14;

pub struct Explorer<'a> {
    planner: Planner<'a>,
    /// Stop when so many delays are explored.
    most: Option<u32>,
    buckets: &'a Buckets,
    /// What is to be done within the delays now allowed, and later, by how many delays.
    stack: Stack,
    later: Vec<Vec<u32>>,
    entry: Vec<u32>,
    addresses: Vec<u32>,
    next: Vec<u32>,
}

impl<'a> Explorer<'a> {
    pub fn new(plan: &'a Plan, seed: u64, buckets: &'a Buckets) -> PyResult<Self> {
        let planner = Planner::new(plan, seed)?;
        Ok(Explorer {
            later: vec![Vec::new(); planner.prices.widest() + 1],
            planner,
            most: plan.delays,
            buckets,
            stack: Stack::default(),
            entry: Vec::new(),
            addresses: Vec::new(),
            next: Vec::new(),
        })
    }

    /// Visit the states to begin with. One thread does this, before all else.
    pub fn begin(&mut self, machine: &mut impl Machine) -> PyResult<()> {
        let mut initial = Vec::new();
        machine.begin(&mut initial)?;
        let mut at = 0;
        while at < initial.len() {
            let Stored { words, sum } = stored(&initial, at);
            self.visit(machine, (words, sum), 1, None)?;
            machine.count_execution();
            at += HEADER + words.len();
        }
        Ok(())
    }

    /// Go on with one state that waits; false when none does, or the search stops.
    pub fn go_on(&mut self, machine: &mut impl Machine) -> PyResult<bool> {
        let mut entry = std::mem::take(&mut self.entry);
        let taken = self.stack.pop(&mut entry).is_some() && !machine.stopping();
        if taken {
            self.resume(machine, &entry)?;
            self.buckets.share(&mut self.stack);
        }
        self.entry = entry;
        if taken {
            return Ok(true);
        }
        machine.pause();
        let (later, stack) = (&mut self.later, &mut self.stack);
        let more = self.buckets.next(machine, self.most, later, stack)?;
        machine.sync();
        Ok(more)
    }

    /// Judge a state that was just entered, put its tasks in order, and let it wait.
    fn visit(
        &mut self,
        machine: &mut impl Machine,
        state: State<'_>,
        depth: u32,
        origin: Option<Origin>,
    ) -> PyResult<()> {
        let mut addresses = std::mem::take(&mut self.addresses);
        let rest = self
            .planner
            .arrange(machine, state, depth, origin, &mut addresses)?;
        let waits = rest.is_some_and(|rest| self.wait(machine, state, &addresses, rest, 0));
        if addresses.is_empty() {
            machine.end(state);
        }
        if !waits {
            machine.leave(state, rest.is_none());
        }
        self.addresses = addresses;
        Ok(())
    }

    /// Let a state wait for what is to be done in it when its offset is at least `from`; gives if
    /// anything is.
    fn wait(
        &mut self,
        machine: &mut impl Machine,
        (words, sum): State<'_>,
        addresses: &[u32],
        rest: Rest,
        from: u32,
    ) -> bool {
        let Some(offset) = self.planner.next_offset(addresses, rest, from) else {
            return false;
        };
        let delays = (offset - rest.offset) as usize;
        let top = self.stack.words.len();
        let out = match delays {
            0 => &mut self.stack.words,
            _ => &mut self.later[delays],
        };
        store(out, sum, |out| rest.write(words, addresses, offset, out));
        if delays == 0 {
            self.stack.index(top, rest.depth);
        } else if out.len() >= CHUNK {
            self.buckets.pass_on(machine, delays, out);
        }
        true
    }

    /// Go on with a state that waited.
    fn resume(&mut self, machine: &mut impl Machine, entry: &[u32]) -> PyResult<()> {
        let Stored { words, sum } = stored(entry, 0);
        let waiting = Waiting::of(words, sum);
        let Waiting {
            state,
            addresses,
            rest,
        } = waiting;
        // First what waits on: what is reached now is on top of it.
        let waits = self.wait(machine, state, addresses, rest, rest.offset + 1);
        // The execution that led here goes on with the first new state, if that costs nothing.
        let mut ends = rest.offset == 0;
        self.planner.forget();
        for at in waiting.places() {
            for branch in self.planner.list(machine, waiting, at)? {
                if machine.is_new(state, rest.depth, branch)? {
                    if !std::mem::take(&mut ends) {
                        machine.count_execution();
                    }
                    self.follow(machine, waiting, at, branch)?;
                }
            }
        }
        if ends {
            machine.end(state);
        }
        if !waits {
            machine.leave(state, false);
        }
        Ok(())
    }

    /// Visit what a branch leads to, which is new.
    fn follow(
        &mut self,
        machine: &mut impl Machine,
        waiting: Waiting<'_>,
        ran: Option<usize>,
        branch: usize,
    ) -> PyResult<()> {
        let depth = waiting.rest.depth;
        let mut next = std::mem::take(&mut self.next);
        let sum = self.planner.build(machine, waiting, branch, &mut next)?;
        self.visit(machine, (&next, sum), depth + 1, Some(waiting.origin(ran)))?;
        self.next = next;
        Ok(())
    }
}
