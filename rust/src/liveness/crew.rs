//! Threads that share one pass over a graph, and none of which enters Python.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::bounded::ASK_EVERY;
use super::patience::{Cut, Patience};
use crate::python::threads::{Gate, start_all};

pub struct Crew<'a> {
    pub threads: usize,
    /// States below which one thread does it all.
    pub alone_below: usize,
    pub stopping: &'a (dyn Fn() -> bool + Sync),
}

/// Which thread of how many.
#[derive(Clone, Copy)]
pub struct Member {
    pub index: usize,
    pub of: usize,
}

impl Crew<'_> {
    /// Run `work` for so many states on every thread; on this one alone, where they are few or no
    /// other thread can be started.
    pub fn run(
        &self,
        states: usize,
        work: impl Fn(Member, &Patience<'_>) -> Result<(), Cut> + Sync,
    ) -> Result<(), Cut> {
        let stopping = || (self.stopping)();
        let alone = Member { index: 0, of: 1 };
        if self.threads == 1 || states < self.alone_below {
            return work(alone, &Patience::new(ASK_EVERY, &stopping));
        }
        let (cut, gate) = (AtomicBool::new(false), Gate::default());
        let member = |index| {
            let of = self.threads;
            let done = work(Member { index, of }, &Patience::new(ASK_EVERY, &stopping));
            cut.fetch_or(done.is_err(), Relaxed);
        };
        let started = std::thread::scope(|scope| start_all(scope, &gate, self.threads, &member));
        if started.is_err() {
            return work(alone, &Patience::new(ASK_EVERY, &stopping));
        }
        if cut.into_inner() { Err(Cut) } else { Ok(()) }
    }
}
