//! The states that wait, by the delays they have cost, and the threads that take them.
//!
//! Each bucket is a stack of entries, in memory or in a file. Invariant: a bucket ends only when no
//! thread holds entries of it or of later ones, so buckets are emptied in ascending order.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;

use super::entry::Rest;
use super::machine::Machine;
use crate::python::tables::StopReason;
use crate::search::bfs::PATIENCE;
use crate::search::dfs::Stack;
use crate::search::level::Level;
use crate::search::worker::{HEADER, stored};

#[derive(Default)]
struct Waiting {
    /// The first holds what costs as many delays as are now allowed.
    buckets: VecDeque<Level>,
    given: Vec<Stack>,
    idle: usize,
    over: bool,
    /// The deepest states of a bucket are taken first, not the newest.
    deepest_first: bool,
    /// How many states were known when each bound was done.
    states: Vec<u64>,
}

#[derive(Default)]
pub struct Buckets {
    waiting: Mutex<Waiting>,
    idle: AtomicUsize,
    changed: Condvar,
}

impl Buckets {
    /// Buckets whose deepest states are taken first: a depth-first search would come to what they
    /// lead to before it comes to the rest.
    pub fn deepest_first() -> Self {
        let buckets = Buckets::default();
        buckets.waiting.lock().deepest_first = true;
        buckets
    }

    /// How many states were known when each bound was done.
    pub fn states(&self) -> Vec<u64> {
        self.waiting.lock().states.clone()
    }

    /// Hand over entries that cost so many delays more than are now allowed.
    pub fn pass_on(&self, machine: &impl Machine, delays: usize, entries: &mut Vec<u32>) {
        self.waiting.lock().push(machine, delays, entries);
    }

    /// Share what a busy thread has, if another waits for it.
    #[inline(always)]
    pub fn share(&self, stack: &mut Stack) {
        if self.idle.load(Relaxed) > 0 && stack.len() > 1 {
            self.waiting.lock().given.push(stack.halve());
            self.changed.notify_one();
        }
    }

    /// Hand over everything that is to be done later, and take what is to be done now; none when
    /// all is done, `most` delays are, or the search stops.
    pub fn next(
        &self,
        machine: &impl Machine,
        most: Option<u32>,
        later: &mut [Vec<u32>],
        stack: &mut Stack,
    ) -> PyResult<bool> {
        let mut waiting = self.waiting.lock();
        for (delays, entries) in later.iter_mut().enumerate() {
            waiting.push(machine, delays, entries);
        }
        waiting.idle += 1;
        loop {
            if waiting.over || machine.stopping() {
                break;
            }
            let taken = waiting.take(stack);
            if matches!(taken, Ok(true)) {
                waiting.idle -= 1;
                self.idle.store(waiting.idle, Relaxed);
                return taken;
            }
            if taken.is_err() {
                waiting.over = true;
                self.changed.notify_all();
                return taken;
            }
            if waiting.idle == machine.threads() {
                let advanced = waiting.advance(machine, most);
                waiting.over |= advanced.is_err();
                self.changed.notify_all();
                advanced?;
            } else {
                self.idle.store(waiting.idle, Relaxed);
                self.changed.wait_for(&mut waiting, PATIENCE);
            }
        }
        waiting.over = true;
        self.changed.notify_all();
        Ok(false)
    }
}

impl Waiting {
    fn push(&mut self, machine: &impl Machine, delays: usize, entries: &mut Vec<u32>) {
        if entries.is_empty() {
            return;
        }
        while self.buckets.len() <= delays {
            self.buckets.push_back(Level::default());
        }
        let mut chunk = std::mem::take(entries);
        chunk.shrink_to_fit(); // it may wait for long, and grew by doubling
        self.buckets[delays].push(chunk);
        let buckets = self.buckets.iter_mut();
        buckets.for_each(|bucket| machine.relieve(bucket));
    }

    /// Move the newest entries to a stack, if there are any.
    fn take(&mut self, stack: &mut Stack) -> PyResult<bool> {
        if let Some(given) = self.given.pop() {
            *stack = given;
            return Ok(true);
        }
        let Some(bucket) = self.buckets.front_mut() else {
            return Ok(false);
        };
        let Some(mut chunk) = bucket.pop(Vec::new)? else {
            return Ok(false);
        };
        if self.deepest_first {
            while let Some(older) = bucket.pop(Vec::new)? {
                chunk.extend_from_slice(&older);
            }
            chunk = by_depth(&chunk);
        }
        *stack = Stack::of(chunk);
        Ok(true)
    }

    /// Allow one delay more.
    fn advance(&mut self, machine: &impl Machine, most: Option<u32>) -> PyResult<()> {
        let done = self.states.len() as u32;
        self.states.push(machine.known() as u64);
        self.buckets.pop_front();
        let empty = self.buckets.iter().all(Level::is_empty);
        let last = most == Some(done);
        machine.bound_done(empty || last)?;
        if empty {
            self.over = true;
        } else if last {
            machine.stop(StopReason::Delays);
        } else if !machine.stopping() {
            machine.allow(done + 1);
        }
        Ok(())
    }
}

/// The same entries, the deepest last.
fn by_depth(chunk: &[u32]) -> Vec<u32> {
    let (mut entries, mut at) = (Vec::new(), 0);
    while at < chunk.len() {
        let words = stored(chunk, at).words;
        entries.push((Rest::of(words).2.depth, at, HEADER + words.len()));
        at += HEADER + words.len();
    }
    entries.sort_by_key(|(depth, ..)| *depth);
    let mut sorted = Vec::with_capacity(chunk.len());
    for (_, at, length) in entries {
        sorted.extend_from_slice(&chunk[at..at + length]);
    }
    sorted
}
