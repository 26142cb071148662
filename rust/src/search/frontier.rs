//! The states that wait, level by level, and the threads that take them.
//!
//! Invariant: a level ends only when no thread holds states of the next one. While a checkpoint is
//! written no thread works: each has left what it holds here.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use parking_lot::{Condvar, Mutex, MutexGuard};
use pyo3::prelude::*;

use super::Search;
use super::bfs::PATIENCE;
use super::level::{Chunk, Level};
use super::packed::Packed;

/// Chunks of a level from which on further ones are packed: small levels take little memory, and
/// stay in a cache.
const PACKED_FROM: usize = 64;

#[derive(Default)]
pub struct Levels {
    pub current: Level,
    pub next: Level,
    /// What paused and stopped threads hold of the next level: thread and states.
    pub kept: Vec<(usize, Vec<u32>)>,
    pub depth: u32,
    pub over: bool,
    /// What the level before the current one took.
    bytes_before: usize,
    /// Emptied chunks, to be filled again without asking the allocator.
    spare: Vec<Vec<u32>>,
    busy: usize,
}

#[derive(Default)]
pub struct Frontier {
    pub levels: Mutex<Levels>,
    /// It was read from a checkpoint.
    pub resumed: bool,
    /// The next level has become long.
    packing: AtomicBool,
    changed: Condvar,
}

impl Frontier {
    pub fn resumed(levels: Levels) -> Self {
        Frontier {
            levels: Mutex::new(levels),
            resumed: true,
            packing: AtomicBool::new(false),
            changed: Condvar::new(),
        }
    }

    /// There is nothing left to do.
    pub fn finished(&self) -> bool {
        self.levels.lock().over
    }

    /// Wait until there is enough to do for another thread, or nothing any more.
    pub fn wait_until_worth(&self, search: &Search) {
        let mut levels = self.levels.lock();
        let alone = || search.seen.len() < search.limits.alone_until;
        while !levels.over && !search.stopping() && alone() {
            self.changed.wait_for(&mut levels, PATIENCE);
        }
    }

    /// Count a thread in; gives what it held of the next level when the checkpoint was written.
    pub fn enter(&self, thread: usize) -> Vec<u32> {
        let mut levels = self.levels.lock();
        levels.busy += 1;
        levels.reclaim(thread)
    }

    /// Give `done` back and take the next chunk with its depth; `None` when the search is over.
    ///
    /// A thread stays busy as long as it holds states of the next level in `out`: it hands them
    /// over and becomes idle in one go, or a level could end without them.
    pub fn next(
        &self,
        search: &Search,
        thread: usize,
        mut done: Vec<u32>,
        out: &mut Vec<u32>,
    ) -> PyResult<Option<(Vec<u32>, u32)>> {
        let next = self.next_chunk(search, thread, &mut done, out)?;
        Ok(next.map(|(chunk, depth)| (chunk.into_words(|| done), depth))) // without the lock
    }

    fn next_chunk(
        &self,
        search: &Search,
        thread: usize,
        done: &mut Vec<u32>,
        out: &mut Vec<u32>,
    ) -> PyResult<Option<(Chunk, u32)>> {
        let mut levels = self.levels.lock();
        if search.checkpoint_due() {
            self.pause(&mut levels, search, thread, out);
        }
        if search.stopping() {
            levels.kept.push((thread, std::mem::take(out)));
        } else if levels.over {
            // A thread that joins late: what waits lies beyond the limit of depth.
        } else if let Some(chunk) = self.pop(&mut levels, done)? {
            return Ok(Some((chunk, levels.depth)));
        } else if !out.is_empty() {
            let states = std::mem::take(out);
            levels.pass_on(search, Chunk::Plain(states));
        }
        levels.busy -= 1;
        loop {
            if levels.over || search.stopping() {
                levels.over = true;
                self.changed.notify_all();
                return Ok(None);
            }
            if let Some(chunk) = self.pop(&mut levels, done)? {
                levels.busy += 1;
                return Ok(Some((chunk, levels.depth)));
            }
            if levels.busy > 0 {
                self.changed.wait_for(&mut levels, PATIENCE);
            } else if levels.kept.is_empty() {
                levels.descend(search);
                self.changed.notify_all();
            } else {
                self.changed.notify_all(); // for the paused: nobody else works any more
                self.changed.wait_for(&mut levels, PATIENCE);
            }
        }
    }

    /// The newest chunk; `done` is given back if nothing is unpacked to it. If a chunk cannot be
    /// read back nobody may go on.
    fn pop(&self, levels: &mut Levels, done: &mut Vec<u32>) -> PyResult<Option<Chunk>> {
        let popped = levels.current.pop_chunk();
        if let Ok(Some(Chunk::Plain(_))) = popped {
            levels.spare.push(std::mem::take(done));
        }
        if popped.is_err() {
            levels.over = true;
            self.changed.notify_all();
        }
        Ok(popped?)
    }

    /// Wait until every thread is here or idle, and a checkpoint is written.
    #[cold]
    fn pause(
        &self,
        levels: &mut MutexGuard<'_, Levels>,
        search: &Search,
        thread: usize,
        out: &mut Vec<u32>,
    ) {
        levels.kept.push((thread, std::mem::take(out)));
        levels.busy -= 1;
        while search.checkpoint_due() {
            if levels.busy == 0 || search.stopping() {
                search.write_checkpoint(levels);
                self.changed.notify_all();
            } else {
                self.changed.wait_for(levels, PATIENCE);
            }
        }
        levels.busy += 1;
        *out = levels.reclaim(thread);
    }

    /// Hand over states of the next level; `out` is empty then. `room` is used to pack them.
    pub fn pass_on(&self, search: &Search, out: &mut Vec<u32>, room: &mut Vec<u8>) {
        let packed = self.packing.load(Relaxed).then(|| {
            let packed = Packed::of(out, room);
            out.clear();
            Chunk::Packed(packed)
        });
        let mut levels = self.levels.lock();
        let chunk = packed.unwrap_or_else(|| {
            let empty = levels.spare.pop().unwrap_or_default();
            Chunk::Plain(std::mem::replace(out, empty))
        });
        levels.pass_on(search, chunk);
        let many = levels.next.len() >= PACKED_FROM;
        self.packing.store(many, Relaxed);
    }

    /// Put back what a stopped thread did not get to.
    pub fn give_back(&self, rest: &[u32]) {
        self.levels.lock().current.push(rest.to_vec());
    }
}

impl Levels {
    /// The next level becomes the current one, unless there is none or it lies beyond the limit.
    fn descend(&mut self, search: &Search) {
        std::mem::swap(&mut self.current, &mut self.next);
        self.depth += 1;
        let bytes = self.current.bytes();
        search.waiting.fetch_max(self.bytes_before + bytes, Relaxed);
        self.bytes_before = bytes;
        search.shared.level_done();
        self.check_depth(search);
        self.over |= self.current.is_empty();
    }

    /// Is what waits beyond the limit?
    pub fn check_depth(&mut self, search: &Search) {
        if !self.current.is_empty() && self.depth >= search.limits.depth {
            search.cut.store(true, Relaxed);
            self.over = true;
        }
    }

    fn reclaim(&mut self, thread: usize) -> Vec<u32> {
        let own = self.kept.iter().position(|(owner, _)| *owner == thread);
        own.map(|index| self.kept.remove(index).1)
            .unwrap_or_default()
    }

    fn pass_on(&mut self, search: &Search, chunk: Chunk) {
        self.next.push_chunk(chunk);
        if let Some(scratch) = search.spilling() {
            self.spare.truncate(search.limits.threads);
            let filed = self.current.file(scratch);
            if let Err(error) = filed.and_then(|()| self.next.file(scratch)) {
                search.cannot_spill(&error);
            }
        }
    }
}
