//! Depth first: little memory for the frontier, and long paths early.
//!
//! Each thread has its own stack; a thread that runs dry is given the older half of another's. With
//! a depth limit a state reached again by a shorter path is expanded again, since more of what lies
//! behind it is now within the limit.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;

use super::Search;
use super::bfs::{PATIENCE, Start};
use super::worker::{HEADER, Worker};

/// States back to back, and where each starts and how deep it is.
#[derive(Default)]
pub struct Stack {
    pub words: Vec<u32>,
    entries: Vec<(usize, u32)>,
}

impl Stack {
    /// One of states that were written back to back, the last on top.
    pub fn of(words: Vec<u32>) -> Self {
        let mut stack = Stack {
            words,
            entries: Vec::new(),
        };
        stack.index(0, 0);
        stack
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Enter the states that were written after `from`.
    pub fn index(&mut self, from: usize, depth: u32) {
        let mut at = from;
        while at < self.words.len() {
            self.entries.push((at, depth));
            at += HEADER + self.words[at] as usize;
        }
    }

    /// Move the top state to `into`.
    pub fn pop(&mut self, into: &mut Vec<u32>) -> Option<u32> {
        let (at, depth) = self.entries.pop()?;
        into.clear();
        into.extend_from_slice(&self.words[at..]);
        self.words.truncate(at);
        Some(depth)
    }

    /// Split off the older half.
    pub fn halve(&mut self) -> Stack {
        let middle = self.entries.len() / 2;
        let cut = self.entries[middle].0;
        let older = Stack {
            words: self.words[..cut].to_vec(),
            entries: self.entries[..middle].to_vec(),
        };
        self.words.drain(..cut);
        self.entries.drain(..middle);
        self.entries.iter_mut().for_each(|entry| entry.0 -= cut);
        older
    }
}

#[derive(Default)]
struct Waiting<S> {
    given: Vec<S>,
    idle: usize,
    over: bool,
}

/// Where threads that ran dry wait for what others share.
#[derive(Default)]
pub struct Pool<S> {
    waiting: Mutex<Waiting<S>>,
    idle: AtomicUsize,
    changed: Condvar,
}

impl<S> Pool<S> {
    /// Wait for a stack; `None` when every one of so many threads waits, or is to stop.
    pub fn take(&self, threads: usize, stopping: impl Fn() -> bool) -> Option<S> {
        let mut waiting = self.waiting.lock();
        waiting.idle += 1;
        self.idle.store(waiting.idle, Relaxed);
        loop {
            if let Some(stack) = waiting.given.pop() {
                waiting.idle -= 1;
                self.idle.store(waiting.idle, Relaxed);
                return Some(stack);
            }
            if waiting.over || stopping() || waiting.idle == threads {
                waiting.over = true;
                self.changed.notify_all();
                return None;
            }
            self.changed.wait_for(&mut waiting, PATIENCE);
        }
    }

    pub fn give(&self, stack: S) {
        self.waiting.lock().given.push(stack);
        self.changed.notify_one();
    }

    /// Whether a thread waits.
    #[inline(always)]
    pub fn is_wanted(&self) -> bool {
        self.idle.load(Relaxed) > 0
    }
}

pub fn work(search: &Search, pool: &Pool<Stack>, thread: usize, started: &Start) -> PyResult<()> {
    let mut worker = Worker::new(search);
    let mut stack = Stack::default();
    let begun = match thread {
        0 => worker.begin(&mut stack.words),
        _ => Ok(()),
    };
    stack.index(0, 1);
    started.arrive(search);
    if let Err(error) = begun {
        search.driver.fail(error);
    }
    let mut state = Vec::new();
    loop {
        while let Some(depth) = stack.pop(&mut state) {
            if search.stopping() {
                break;
            }
            if depth >= search.limits.depth {
                search.cut.store(true, Relaxed);
                continue;
            }
            let top = stack.words.len();
            if let Err(error) = worker.expand(&state, &[0], depth, &mut stack.words) {
                search.driver.fail(error);
                break;
            }
            stack.index(top, depth + 1);
            if pool.is_wanted() && stack.len() > 1 {
                pool.give(stack.halve());
            }
        }
        match pool.take(search.limits.threads, || search.stopping()) {
            Some(given) => stack = given,
            None => return Ok(()),
        }
        worker.sync();
    }
}
