//! What happens when memory ends: the search stops, or goes on in files where it may.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::Search;
use crate::python::tables::StopReason;
use crate::table::scratch::{Scratch, resident_mib, trim};

/// How often in a row the memory may be found beyond its limit after everything that can has been
/// moved: threads need a moment to hand over what they hold.
const PATIENCE: u32 = 60;

#[derive(Default)]
pub struct Memory {
    /// The frontier goes to files from now on.
    spilling: AtomicBool,
    over: AtomicU32,
}

impl Search {
    /// The folder for waiting states, once memory has ended.
    pub fn spilling(&self) -> Option<&Scratch> {
        let spilling = self.memory.spilling.load(Relaxed);
        self.scratch.as_deref().filter(|_| spilling)
    }

    /// Called many times a second by the thread that watches.
    pub fn check_memory(&self) {
        if let Some(error) = self.seen.trouble() {
            self.cannot_spill(&error);
        }
        if !self.is_over() {
            return;
        }
        let Some(scratch) = &self.scratch else {
            self.stop(StopReason::Memory);
            return;
        };
        self.memory.spilling.store(true, Relaxed);
        match self.seen.relieve(scratch) {
            Ok(()) => trim(),
            Err(error) => self.cannot_spill(&error),
        }
        if !self.is_over() {
            self.memory.over.store(0, Relaxed);
        } else if self.memory.over.fetch_add(1, Relaxed) >= PATIENCE {
            let text = "values, local states and steps alone take as much memory as is allowed, \
                        and they cannot be kept in files";
            self.note(text.into());
            self.stop(StopReason::Memory);
        }
    }

    fn is_over(&self) -> bool {
        resident_mib().is_some_and(|used| used >= self.limits.memory_mib)
    }

    /// Stop, and say why: memory has ended and the disk does not help.
    pub fn cannot_spill(&self, error: &io::Error) {
        self.note(format!(
            "the search could not go on in files: {error}; usual cause: a full disk; way out: \
             name a folder with more room, or give more memory"
        ));
        self.stop(StopReason::Memory);
    }

    pub fn note(&self, text: String) {
        let mut notes = self.notes.lock();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }
}
