//! Breadth first, level by level: the first violation found is a shortest one.
//!
//! A level is a list of chunks; threads take chunks of this level and write chunks of the next.
//! When the last chunk of a level is done, the levels are swapped (`frontier.rs`).

use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use pyo3::prelude::*;

use super::Search;
use super::frontier::Frontier;
use super::worker::{BATCH, HEADER, Worker};
use crate::checkpoint;

/// A chunk is handed over when it has this many words: large enough to make the lock cheap,
/// small enough to keep all threads busy.
const CHUNK: usize = 1 << 14;

/// Waiting threads look up now and then: one that panicked will never wake them.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Search from the initial states, or from where a checkpoint says; gives the seconds.
pub fn run(py: Python<'_>, search: &Search, progress: Option<&Py<PyAny>>) -> PyResult<f64> {
    let frontier = checkpoint::resume(py, search)?;
    if frontier.finished() {
        return Ok(0.0);
    }
    let start = Start::default();
    let work = |thread| work(search, &frontier, thread, &start);
    let seconds = search.supervise(py, progress, work)?;
    checkpoint::conclude(py, search, &frontier);
    Ok(seconds)
}

/// The work of one thread. Thread 0 puts in the initial states.
fn work(search: &Search, frontier: &Frontier, thread: usize, started: &Start) -> PyResult<()> {
    let mut worker = Worker::new(search);
    worker.expander.bound_own_events(search.own_events);
    if thread > 0 && !frontier.resumed {
        started.arrive(search);
        frontier.wait_until_worth(search);
    }
    let mut out = frontier.enter(thread);
    let begun = match thread {
        0 if !frontier.resumed => worker.begin(&mut out),
        _ => Ok(()),
    };
    if thread == 0 || frontier.resumed {
        started.arrive(search);
    }
    if let Err(error) = begun {
        search.driver.fail(error); // and go on, to be counted out like the others
    }
    let (mut done, mut room) = (Vec::new(), Vec::new());
    let mut offsets = Vec::new();
    while let Some((chunk, depth)) = frontier.next(search, thread, done, &mut out)? {
        worker.sync();
        offsets.clear();
        let mut at = 0;
        while at < chunk.len() {
            offsets.push(at);
            at += HEADER + chunk[at] as usize;
        }
        for (index, batch) in offsets.chunks(BATCH).enumerate() {
            match worker.expand(&chunk, batch, depth, &mut out) {
                Ok(true) => (),
                Ok(false) => {
                    frontier.give_back(&chunk[offsets[index * BATCH]..]);
                    break;
                }
                Err(error) => {
                    search.driver.fail(error);
                    break;
                }
            }
            if out.len() >= CHUNK {
                frontier.pass_on(search, &mut out, &mut room);
            }
        }
        done = chunk;
        done.clear();
    }
    search.note_left_out(&worker);
    Ok(())
}

/// Where threads wait for each other, so that none looks for work before the initial states are in.
#[derive(Default)]
pub struct Start {
    arrived: Mutex<usize>,
    changed: Condvar,
}

impl Start {
    pub fn arrive(&self, search: &Search) {
        let mut arrived = self.arrived.lock();
        *arrived += 1;
        self.changed.notify_all();
        while *arrived < search.limits.threads && !search.stopping() {
            self.changed.wait_for(&mut arrived, PATIENCE);
        }
    }
}
