//! Breadth first, level by level: the first violation found is a shortest one.
//!
//! A level is a list of chunks; threads take chunks of this level and write chunks of the next.
//! When the last chunk of a level is done, the levels are swapped.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;

use super::Search;
use super::worker::{HEADER, Worker};

/// A chunk is handed over when it has this many words: large enough to make the lock cheap,
/// small enough to keep all threads busy.
const CHUNK: usize = 1 << 14;

/// Waiting threads look up now and then: one that panicked will never wake them.
pub const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Levels {
    current: Vec<Vec<u32>>,
    next: Vec<Vec<u32>>,
    /// Emptied chunks, to be filled again without asking the allocator.
    spare: Vec<Vec<u32>>,
    busy: usize,
    depth: u32,
    over: bool,
}

#[derive(Default)]
pub struct Frontier {
    levels: Mutex<Levels>,
    changed: Condvar,
}

impl Frontier {
    /// Give `done` back and take the next chunk with its depth; `None` when the search is over.
    ///
    /// A thread stays busy as long as it holds states of the next level in `out`: it hands them
    /// over and becomes idle in one go, or a level could end without them.
    fn next(&self, search: &Search, done: Vec<u32>, out: &mut Vec<u32>) -> Option<(Vec<u32>, u32)> {
        let mut levels = self.levels.lock();
        levels.spare.push(done);
        if let Some(chunk) = levels.current.pop().filter(|_| !search.stopping()) {
            return Some((chunk, levels.depth));
        }
        if !out.is_empty() {
            levels.pass_on(out);
        }
        levels.busy -= 1;
        loop {
            if levels.over || search.stopping() {
                levels.over = true;
                self.changed.notify_all();
                return None;
            }
            if let Some(chunk) = levels.current.pop() {
                levels.busy += 1;
                return Some((chunk, levels.depth));
            }
            if levels.busy == 0 {
                levels.descend(search);
                self.changed.notify_all();
            } else {
                self.changed.wait_for(&mut levels, PATIENCE);
            }
        }
    }
}

impl Levels {
    /// The next level becomes the current one, unless there is none or it lies beyond the limit.
    fn descend(&mut self, search: &Search) {
        std::mem::swap(&mut self.current, &mut self.next);
        self.depth += 1;
        let chunks = self.current.len();
        let cut = chunks > 0 && self.depth >= search.limits.depth;
        if cut {
            search.cut.store(true, Relaxed);
        }
        self.over = cut || chunks == 0;
    }

    fn pass_on(&mut self, out: &mut Vec<u32>) {
        let empty = self.spare.pop().unwrap_or_default();
        self.next.push(std::mem::replace(out, empty));
    }
}

/// The work of one thread. Thread 0 puts in the initial states.
pub fn work(search: &Search, frontier: &Frontier, thread: usize, started: &Start) -> PyResult<()> {
    let mut worker = Worker::new(search);
    let mut out = Vec::new();
    frontier.levels.lock().busy += 1;
    let begun = match thread {
        0 => worker.begin(&mut out),
        _ => Ok(()),
    };
    started.arrive(search.limits.threads);
    if let Err(error) = begun {
        search.shared.fail(error); // and go on, to be counted out like the others
    }
    let mut done = Vec::new();
    let mut offsets = Vec::new();
    while let Some((chunk, depth)) = frontier.next(search, done, &mut out) {
        worker.sync();
        offsets.clear();
        let mut at = 0;
        while at < chunk.len() {
            offsets.push(at);
            at += HEADER + chunk[at] as usize;
        }
        for group in offsets.chunks(64) {
            if let Err(error) = worker.expand(&chunk, group, depth, &mut out) {
                search.shared.fail(error);
                break;
            }
            if out.len() >= CHUNK {
                frontier.levels.lock().pass_on(&mut out);
            }
        }
        done = chunk;
        done.clear();
    }
    Ok(())
}

/// Where threads wait for each other, so that none looks for work before the initial states are in.
#[derive(Default)]
pub struct Start {
    arrived: Mutex<usize>,
    changed: Condvar,
}

impl Start {
    pub fn arrive(&self, threads: usize) {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.changed.notify_all();
        while *arrived < threads {
            self.changed.wait(&mut arrived);
        }
    }
}
